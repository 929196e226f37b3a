"""The cluster at a moment of its timeline; what was found once is remembered."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gbviz.cooling import steady
from gbviz.engine.evaluate import undamaged
from gbviz.engine.jobs import impacts, jobs_state, prepared
from gbviz.engine.metrics import metrics
from gbviz.engine.state import State, healthy_state, rack_faults
from gbviz.faults import apply
from gbviz.faults.partition import partition
from gbviz.flows.router import router
from gbviz.topology import build

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gbviz.cooling import Thermal
    from gbviz.engine.jobs import JobsState, Prepared
    from gbviz.engine.metrics import Metrics
    from gbviz.faults import Fault
    from gbviz.flows.router import Router
    from gbviz.jobs.impact import JobImpact
    from gbviz.scenario import Scenario
    from gbviz.topology.fabric import Floats, Ints
    from gbviz.topology.health import Health

Found = TypeVar("Found")

# Routers of this many states are kept; repairs lead back to states that were there before.
_KEPT = 48


class Stage:
    """Evaluates moments of one scenario.

    Parameters
    ----------
    scenario
        Its cluster, jobs, routing and policies; its events are for the caller.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.fabric = build(scenario.cluster)
        self.base = healthy_state(undamaged(scenario))
        self.work = self.base.work
        self._found: dict[str, OrderedDict[Any, Any]] = {}

    def health(self, causes: tuple[Fault, ...], down: frozenset[int]) -> Health:
        """The health under some faults with some racks shut down besides."""

        def find() -> Health:
            faults = (*causes, *rack_faults(self.fabric, down))
            return partition(self.fabric, apply(self.fabric, faults), self.scenario.nvlink_policy)

        return self._once("health", (causes, down), find)

    def steady(self, health: Health, activity: Floats | None) -> Thermal:
        """Power and temperatures once they have settled."""
        key = (id(health), None if activity is None else activity.tobytes())
        return self._once("steady", key, lambda: steady(self.fabric, health, activity), health)

    def router(self, health: Health) -> Router:
        """The fabric ready to route."""
        routing = (self.scenario.routing, self.scenario.seed)
        return self._once(
            "router", id(health), lambda: router(self.fabric, health, *routing), health
        )

    def metrics(self, health: Health, thermal: Thermal) -> Metrics:
        """What the fabric can do; of clocks only their mean counts."""

        def find() -> Metrics:
            return metrics(self.router(health), thermal)

        found = self._once("metrics", id(health), find, health)
        return replace(found, compute_fraction=float(thermal.clock.mean()))

    def prepared(self, health: Health, clock: Floats, given_up: Mapping[int, Ints]) -> Prepared:
        """Every job by itself on what is left of its placement."""
        lost = tuple((job, gpus.tobytes()) for job, gpus in sorted(given_up.items()) if len(gpus))

        def find() -> Prepared:
            return prepared(self.router(health), clock, self.work.stepping, given_up)

        return self._once("prepared", (id(health), clock.tobytes(), lost), find, health)

    def jobs(self, alone: Prepared, idle: frozenset[int]) -> JobsState:
        """All jobs together, without those that wait."""
        return self._once(
            "jobs", (id(alone), idle), lambda: jobs_state(alone, self.work.traffic, idle), alone
        )

    def impacts(self, jobs: JobsState) -> list[JobImpact]:
        """The jobs that step against the healthy cluster."""
        return self._once(
            "impacts", id(jobs), lambda: impacts(self.work.stepping, self.base.jobs, jobs), jobs
        )

    def state(
        self,
        health: Health,
        thermal: Thermal,
        consequences: tuple[Fault, ...],
        jobs: JobsState,
    ) -> State:
        """A moment in the form that a single question has."""
        found = self.metrics(health, thermal)
        return State(health, thermal, consequences, found, jobs, self.work)

    def _once(self, kind: str, key: Any, find: Callable[[], Found], *hold: object) -> Found:
        """What `find` gives, found once while its key is among those asked last.

        Keys hold ids of objects: `hold` keeps these alive as long as the entry.
        """
        kept = self._found.setdefault(kind, OrderedDict())
        if key in kept:
            kept.move_to_end(key)
            known: Found = kept[key][0]
            return known
        found = find()
        kept[key] = (found, hold)
        if len(kept) > _KEPT:
            kept.popitem(last=False)
        return found


def busy(stage: Stage, occupied: Mapping[int, Ints]) -> Floats | None:
    """(G,) 1 for GPUs that jobs keep busy, None (all are) for a scenario without jobs.

    `occupied` are the GPUs of the jobs that step, by their number.
    """
    work = stage.work
    if not work.stepping and all(gpus is None for _, gpus in work.traffic):
        return None
    found = np.zeros(stage.fabric.count("gpu"))
    for gpus in occupied.values():
        found[gpus] = 1.0
    for _, own in work.traffic:
        found[slice(None) if own is None else own] = 1.0
    return found
