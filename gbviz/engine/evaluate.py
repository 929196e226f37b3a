"""From a scenario to its snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling import Thermal, steady
from gbviz.engine.metrics import Metrics, metrics
from gbviz.engine.snapshot import JobImpact, Snapshot
from gbviz.faults import Fault, apply, resolve
from gbviz.faults.partition import partition
from gbviz.jobs import TrafficJob, TrafficResult, traffic_result
from gbviz.scenario import Scenario
from gbviz.topology import build

if TYPE_CHECKING:
    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Fabric
    from gbviz.topology.health import Health
    from gbviz.topology.spec import ClusterSpec


def evaluate(scenario: Scenario) -> Snapshot:
    """The steady state of a scenario, and that of its healthy cluster for comparison.

    Parameters
    ----------
    scenario
        Read, or made by `preset` and its `with_...` methods.

    Raises
    ------
    InputError
        A selector, size or argument that cannot be used.

    Examples
    --------
    >>> import gbviz
    >>> found = evaluate(gbviz.preset("azure-gb300").with_faults("spine-3"))
    >>> found.base.bisection_GBps, found.post.bisection_GBps  # 35 of 36 spines
    (230400.0, 224000.0)
    """
    fabric = build(scenario.cluster)
    causes = resolve(fabric, scenario.actions)
    base = _healthy(scenario.cluster, scenario.routing, scenario.seed)
    now = _state(fabric, causes, scenario) if causes else base
    jobs = tuple(_impact(scenario, job, base.health, now.health) for job in scenario.jobs)
    problems = {*base.metrics.problems, *now.metrics.problems}
    for job in jobs:
        problems |= {*job.base.problems, *job.post.problems}
    return Snapshot(
        scenario,
        fabric,
        (*causes, *now.consequences),
        now.health,
        now.thermal,
        base.metrics,
        now.metrics,
        jobs,
        tuple(sorted(problems)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """One cluster with its faults and what followed from them."""

    health: Health
    thermal: Thermal
    consequences: tuple[Fault, ...]
    metrics: Metrics


def _state(fabric: Fabric, causes: tuple[Fault, ...], scenario: Scenario) -> _State:
    """The health once NVLink, power and cooling have had their say, and its metrics.

    A rack that power or cooling shuts down has failed, because of the fault that did it.
    """
    policy = scenario.nvlink_policy
    health = partition(fabric, apply(fabric, causes), policy)
    thermal = steady(fabric, health)
    down = np.flatnonzero(thermal.rack_down)
    first = fabric.nodes("rack").start
    consequences = tuple(
        Fault(fabric.name(first + rack), "rack", 0.0, (first + rack,), (), _because(causes, cause))
        for rack, cause in zip(down.tolist(), thermal.rack_cause[down].tolist(), strict=True)
    )
    if consequences:
        health = partition(fabric, apply(fabric, (*causes, *consequences)), policy)
    found = metrics(fabric, health, thermal, scenario.routing, scenario.seed)
    return _State(health, thermal, consequences, found)


def _because(causes: tuple[Fault, ...], number: int) -> str:
    """Racks may also go down with every part whole: then the design itself is too weak."""
    return causes[number].component if number >= 0 else "cooling or power too small by design"


@lru_cache(maxsize=32)
def _healthy(spec: ClusterSpec, mode: Mode, seed: int) -> _State:
    return _state(build(spec), (), Scenario("", spec, mode, seed))


@lru_cache(maxsize=64)
def _healthy_result(spec: ClusterSpec, mode: Mode, seed: int, job: TrafficJob) -> TrafficResult:
    health = _healthy(spec, mode, seed).health
    return traffic_result(build(spec), health, mode, seed, job)


def _impact(scenario: Scenario, job: TrafficJob, before: Health, now: Health) -> JobImpact:
    cluster, mode, seed = scenario.cluster, scenario.routing, scenario.seed
    base = post = _healthy_result(cluster, mode, seed, job)
    if now is not before:
        post = traffic_result(build(cluster), now, mode, seed, job)
    return JobImpact(job, base, post)
