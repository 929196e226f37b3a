"""From a scenario to its snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling import Thermal, steady
from gbviz.engine.jobs import JobsState, impacts, jobs_state
from gbviz.engine.metrics import Metrics, metrics
from gbviz.engine.snapshot import FixedPoint, Snapshot, TrafficImpact
from gbviz.faults import Fault, apply, resolve
from gbviz.faults.partition import partition
from gbviz.jobs.inference import check_pools
from gbviz.jobs.placement import Placed, place
from gbviz.jobs.run import check_collective
from gbviz.jobs.spec import InferenceJob, TrafficSpec, TrainingJob
from gbviz.jobs.survivors import replace_failed
from gbviz.jobs.traffic import TrafficJob, traffic_of
from gbviz.jobs.training import check_shape
from gbviz.topology import build

if TYPE_CHECKING:
    from gbviz.jobs.impact import JobImpact
    from gbviz.jobs.run import SteppingJob
    from gbviz.scenario import Scenario
    from gbviz.topology.fabric import Fabric, Floats, Ints
    from gbviz.topology.health import Health


Poll = Callable[[str], None]


def evaluate(
    scenario: Scenario, at_s: float | None = None, *, poll: Poll | None = None
) -> Snapshot:
    """The steady state of a scenario, and that of its healthy cluster for comparison.

    Parameters
    ----------
    scenario
        Read from a file, or made by `preset` and its `with_...` methods.
    at_s
        Time of the faults that hold, seconds from the start; None = the end.
    poll
        Called with what comes next, before each part of the work; what it raises stops it.

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
    say = poll or _silent
    say("building the fabric")
    fabric = build(scenario.cluster)
    causes = resolve(fabric, scenario.actions_at(at_s))
    healthy = replace(
        scenario,
        name="",
        actions=(),
        events=(),
        description="",
        expect=(),
        duration_s=None,
        path=None,
        text=None,
    )
    say("the healthy cluster")
    base = _healthy(healthy)
    work = base.work
    say("what the faults leave")
    now = _state(fabric, causes, scenario, work, say) if causes else base
    problems = {*base.metrics.problems, *now.metrics.problems}
    for result in (*base.jobs.traffic, *now.jobs.traffic):
        problems |= set(result.problems)
    return Snapshot(
        scenario,
        fabric,
        (*causes, *now.consequences),
        now.health,
        now.thermal,
        base.metrics,
        now.metrics,
        _in_order(scenario, work, base, now),
        FixedPoint(now.jobs.shared.converged, now.jobs.shared.rounds) if now.jobs.running else None,
        tuple(sorted(problems)),
        (base.jobs, now.jobs),
        tuple(gpus for _, gpus in work.traffic),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """One cluster with its faults and what followed from them."""

    health: Health
    thermal: Thermal
    consequences: tuple[Fault, ...]
    metrics: Metrics
    jobs: JobsState
    work: _Work


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """Jobs that step, with their placements, and traffic jobs with their GPUs."""

    stepping: list[tuple[SteppingJob, Placed]]
    traffic: list[tuple[TrafficJob, Ints | None]]


def _work(fabric: Fabric, scenario: Scenario) -> _Work:
    """The scenario's jobs on their GPUs, checked."""
    stated = [job for job in scenario.jobs if not isinstance(job, TrafficJob)]
    placed = place(fabric, [(job.name, job) for job in stated])
    stepping: list[tuple[SteppingJob, Placed]] = []
    traffic: list[tuple[TrafficJob, Ints | None]] = []
    where = dict(zip([job.name for job in stated], placed, strict=True))
    for job in scenario.jobs:
        if isinstance(job, TrafficJob):
            traffic.append((job, None))
        elif isinstance(job, TrafficSpec):
            traffic.append((traffic_of(job), where[job.name].gpus))
        else:
            at = where[job.name]
            if isinstance(job, TrainingJob):
                check_shape(job, len(at.gpus))
            elif isinstance(job, InferenceJob):
                check_pools(job, len(at.gpus))
            else:
                check_collective(job, at.gpus, fabric.count("gpu") // fabric.count("rack"))
            stepping.append((job, at))
    return _Work(stepping, traffic)


def _silent(_what: str) -> None:
    """Nobody wants to hear."""


def _state(
    fabric: Fabric,
    causes: tuple[Fault, ...],
    scenario: Scenario,
    work: _Work,
    say: Poll = _silent,
) -> _State:
    """The health once NVLink, power and cooling have had their say, its metrics and its jobs.

    A rack that power or cooling shuts down has failed, because of the fault that did it.
    """
    policy = scenario.nvlink_policy
    health = partition(fabric, apply(fabric, causes), policy)
    thermal = steady(fabric, health, _activity(fabric, health, work))
    down = np.flatnonzero(thermal.rack_down)
    first = fabric.nodes("rack").start
    consequences = tuple(
        Fault(fabric.name(first + rack), "rack", 0.0, (first + rack,), (), _because(causes, cause))
        for rack, cause in zip(down.tolist(), thermal.rack_cause[down].tolist(), strict=True)
    )
    if consequences:
        health = partition(fabric, apply(fabric, (*causes, *consequences)), policy)
    mode, seed = scenario.routing, scenario.seed
    say("what the fabric can do")
    found = metrics(fabric, health, thermal, mode, seed)
    say("jobs")
    jobs = jobs_state(fabric, health, thermal.clock, work.stepping, work.traffic, (mode, seed))
    return _State(health, thermal, consequences, found, jobs, work)


def _activity(fabric: Fabric, health: Health, work: _Work) -> Floats | None:
    """(G,) 1 for GPUs that a job uses, 0 for others; None (all are busy) without any job."""
    if not work.stepping and all(gpus is None for _, gpus in work.traffic):
        return None
    busy = np.zeros(fabric.count("gpu"))
    live = health.up(fabric, "gpu")
    for _, placed in work.stepping:
        busy[replace_failed(placed, live).gpus] = 1.0
    for _, gpus in work.traffic:
        busy[slice(None) if gpus is None else gpus] = 1.0
    return busy


def _because(causes: tuple[Fault, ...], number: int) -> str:
    """Racks may also go down with every part whole: then the design itself is too weak."""
    return causes[number].component if number >= 0 else "cooling or power too small by design"


@lru_cache(maxsize=32)
def _healthy(scenario: Scenario) -> _State:
    """The state of a scenario without faults; found once for all questions about it."""
    fabric = build(scenario.cluster)
    return _state(fabric, (), scenario, _work(fabric, scenario))


def _in_order(
    scenario: Scenario, work: _Work, base: _State, now: _State
) -> tuple[JobImpact | TrafficImpact, ...]:
    """Impacts of all jobs in the order in which the scenario states them."""
    steps = iter(impacts(work.stepping, base.jobs, now.jobs))
    flows = iter(
        TrafficImpact(job, before, after)
        for (job, _), before, after in zip(
            work.traffic, base.jobs.traffic, now.jobs.traffic, strict=True
        )
    )
    return tuple(
        next(flows) if isinstance(job, TrafficJob | TrafficSpec) else next(steps)
        for job in scenario.jobs
    )
