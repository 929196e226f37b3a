"""One cluster with its faults, and what runs on it: what both a question and a timeline ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling import Thermal, steady
from gbviz.engine.jobs import JobsState, jobs_state, prepared
from gbviz.engine.metrics import Metrics, metrics
from gbviz.faults import Fault, apply
from gbviz.faults.partition import partition
from gbviz.flows.router import router
from gbviz.jobs.inference import check_pools
from gbviz.jobs.placement import Placed, place
from gbviz.jobs.run import check_collective
from gbviz.jobs.spec import InferenceJob, TrafficSpec, TrainingJob
from gbviz.jobs.survivors import replace_failed
from gbviz.jobs.traffic import TrafficJob, traffic_of
from gbviz.jobs.training import check_shape
from gbviz.topology import build

if TYPE_CHECKING:
    from gbviz.jobs.run import SteppingJob
    from gbviz.scenario import Scenario
    from gbviz.topology.fabric import Fabric, Floats, Ints
    from gbviz.topology.health import Health

Poll = Callable[[str], None]


def silent(_what: str) -> None:
    """Nobody wants to hear."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """One cluster with its faults and what followed from them."""

    health: Health
    thermal: Thermal
    consequences: tuple[Fault, ...]
    metrics: Metrics
    jobs: JobsState
    work: Work


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Jobs that step, with their placements, and traffic jobs with their GPUs."""

    stepping: list[tuple[SteppingJob, Placed]]
    traffic: list[tuple[TrafficJob, Ints | None]]


def work_of(fabric: Fabric, scenario: Scenario) -> Work:
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
    return Work(stepping, traffic)


def state_of(
    fabric: Fabric,
    causes: tuple[Fault, ...],
    scenario: Scenario,
    work: Work,
    say: Poll = silent,
) -> State:
    """The steady state once NVLink, power and cooling have had their say, its metrics, its jobs."""
    health = partition(fabric, apply(fabric, causes), scenario.nvlink_policy)
    thermal = steady(fabric, health, activity(fabric, health, work))
    health, consequences = shut_down(fabric, causes, thermal, health, scenario)
    by = router(fabric, health, scenario.routing, scenario.seed)
    say("what the fabric can do")
    found = metrics(by, thermal)
    say("jobs")
    alone = prepared(by, thermal.clock, work.stepping)
    return State(health, thermal, consequences, found, jobs_state(alone, work.traffic), work)


def shut_down(
    fabric: Fabric,
    causes: tuple[Fault, ...],
    thermal: Thermal,
    health: Health,
    scenario: Scenario,
) -> tuple[Health, tuple[Fault, ...]]:
    """The health with the racks that power or cooling shuts down, and these as consequences."""
    consequences = consequences_of(fabric, causes, thermal)
    if not consequences:
        return health, ()
    policy = scenario.nvlink_policy
    return partition(fabric, apply(fabric, (*causes, *consequences)), policy), consequences


def consequences_of(
    fabric: Fabric, causes: tuple[Fault, ...], thermal: Thermal
) -> tuple[Fault, ...]:
    """The racks that power or cooling shuts down: failed, because of the fault that did it."""
    down = np.flatnonzero(thermal.rack_down)
    first = fabric.nodes("rack").start
    return tuple(
        Fault(fabric.name(first + rack), "rack", 0.0, (first + rack,), (), _because(causes, cause))
        for rack, cause in zip(down.tolist(), thermal.rack_cause[down].tolist(), strict=True)
    )


def activity(fabric: Fabric, health: Health, work: Work) -> Floats | None:
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
def healthy_state(scenario: Scenario) -> State:
    """The state of a scenario without faults; found once for all questions about it."""
    fabric = build(scenario.cluster)
    return state_of(fabric, (), scenario, work_of(fabric, scenario))
