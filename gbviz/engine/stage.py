"""The cluster at a moment of its timeline; what was found once is remembered."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from gbviz.cooling import steady, world_of
from gbviz.engine.evaluate import snapshot_of, undamaged
from gbviz.engine.jobs import (
    Prepared,
    figures_of,
    jobs_state,
    lasting_impact,
    routers,
    without,
)
from gbviz.engine.metrics import metrics
from gbviz.engine.snapshot import TrafficImpact
from gbviz.engine.state import State, healthy_state
from gbviz.faults import apply
from gbviz.faults.partition import partition
from gbviz.flows.router import router
from gbviz.jobs.run import begin, outline, plan, slowest
from gbviz.topology import build

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gbviz.cooling import HeatState, Thermal, World
    from gbviz.engine.jobs import JobsState
    from gbviz.engine.metrics import Metrics
    from gbviz.engine.snapshot import Snapshot
    from gbviz.engine.timeline import JobSpan, Moment, Timeline
    from gbviz.faults import Fault
    from gbviz.flows.router import Router
    from gbviz.jobs.impact import JobImpact
    from gbviz.jobs.impact import State as JobState
    from gbviz.jobs.run import Running
    from gbviz.scenario import Scenario
    from gbviz.topology.fabric import Bools, Floats, Ints
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
        self._was = figures_of(self.work.stepping, self.base.jobs)
        # Nodes that traffic depends on: all but those of power and cooling.
        self._routes = np.ones(self.fabric.n_nodes, dtype=bool)
        for kind in ("feed", "shelf", "hxu", "cdu", "loop"):
            self._routes[self.fabric.nodes(kind)] = False
        per_rack = self.fabric.count("gpu") // self.fabric.count("rack")
        each = [np.concatenate([at.gpus, at.spares]) for _, at in self.work.stepping]
        # All GPUs of each job's placement, and the racks that they are in.
        self._reach = [(gpus, frozenset((gpus // per_rack).tolist())) for gpus in each]
        self._last_router: Router | None = None
        self._found: defaultdict[str, OrderedDict[Any, Any]] = defaultdict(OrderedDict)

    def health(self, faults: tuple[Fault, ...]) -> Health:
        """The health under some faults, racks that these have shut down among them."""

        def find() -> Health:
            return partition(self.fabric, apply(self.fabric, faults), self.scenario.nvlink_policy)

        # The same faults are nearly always the same objects, which is quicker to see.
        same = tuple(map(id, faults))
        return self._once("faults", same, lambda: self._once("health", faults, find), faults)

    def activity(self, moment: Moment) -> Floats | None:
        """(G,) how busy GPUs are at a moment, whatever their clocks; see `busy`."""
        key = (moment.vacant, *map(id, moment.given_up))
        return self._once(
            "activity", key, lambda: busy(self, occupied(self, moment)), moment.given_up
        )

    def felt(self, health: Health) -> tuple[bytes, bytes]:
        """What of a health power and heat depend on, and which faults did it.

        Cables and switches are no part of it.
        """

        def find() -> tuple[bytes, bytes]:
            kinds = ("rack", "gpu", "shelf", "hxu", "cdu")
            factors = b"".join(health.factor(self.fabric, kind).tobytes() for kind in kinds)
            parts = (health.node_cause[self.fabric.nodes(kind)] for kind in kinds[2:])
            return factors, b"".join(each.tobytes() for each in parts)

        return self._once("felt", id(health), find, health)

    def steady(self, health: Health, activity: Floats | None) -> Thermal:
        """Power and temperatures once they have settled."""
        felt = self.felt(health)
        same, exact = (felt[0], id(activity)), (felt, id(activity))

        def find() -> Thermal:
            # Which faults did it matters only where a rack is down.
            known: Thermal | None = self._known("steady", same)
            found = known or steady(self.fabric, health, activity)
            return found if found.rack_down.any() else keep(found)

        def keep(found: Thermal) -> Thermal:
            return self._once("steady", same, lambda: found, activity)

        return self._once("steady by cause", exact, find, activity)

    def world(self, health: Health, activity: Floats | None, state: HeatState) -> World:
        """The cluster as heat sees it; of a health all but the numbers of its faults counts."""
        key = (self.felt(health)[0], id(activity), state.off)

        def find() -> World:
            whole = self.steady(health, activity)
            return world_of(self.fabric, health, activity, state, whole)

        found = self._once("world", key, find, activity)
        return replace(found, state=state)

    def router(self, health: Health) -> Router:
        """The fabric ready to route; the same one where only power or cooling differs."""
        routing = (self.scenario.routing, self.scenario.seed)

        def find() -> Router:
            links = [None if own is None else own.tobytes() for own in health.link_factor]
            nvlink = [(rack, own.tobytes()) for rack, own in sorted(health.nvlink_factor.items())]
            key = health.node_factor[self._routes].tobytes(), tuple(links), tuple(nvlink)
            return self._once("routes", key, afresh)

        def afresh() -> Router:
            known = self._last_router
            self._last_router = router(self.fabric, health, *routing, known=known)
            return self._last_router

        return self._once("router", id(health), find, health)

    def metrics(self, health: Health, thermal: Thermal) -> Metrics:
        """What the fabric can do; of clocks only their mean counts."""
        by = self.router(health)
        found = self._once("metrics", id(by), lambda: metrics(by, thermal), by)
        fraction = float(thermal.clock.mean())
        if found.compute_fraction == fraction:
            return found
        return replace(found, compute_fraction=fraction)

    def prepared(
        self,
        health: Health,
        clock: Floats,
        given_up: Mapping[int, Ints],
        waiting: frozenset[int] = frozenset(),
    ) -> Prepared:
        """Every job by itself on what is left of its placement, some of them in outline only.

        A clock that none of its GPUs has changes nothing for a job, and one that no job has nothing
        at all.
        """
        by = self.router(health)
        own = tuple(given_up.values())
        # The same clocks are nearly always the same array, which is quicker to see.
        key = (id(by), id(clock), waiting, *map(id, own))

        def find() -> Prepared:
            return self._prepared(by, clock, given_up, waiting)

        return self._once("seen", key, find, by, clock, own)

    def _prepared(
        self, by: Router, clock: Floats, given_up: Mapping[int, Ints], waiting: frozenset[int]
    ) -> Prepared:
        jobs = self.work.stepping
        each = self._once("routers", id(by), lambda: routers(by, jobs), by)
        running = tuple(
            self._running(
                number, each[number], without(clock, given_up[number]), number not in waiting
            )
            for number in range(len(jobs))
        )
        key = (id(by), *map(id, running))
        return self._once("prepared", key, lambda: Prepared(each, running, by), by, running)

    def _running(self, number: int, by: Router, clock: Floats, at_work: bool) -> Running:
        """A job by itself; of the clocks only the slowest of its GPUs counts, and which are 0."""
        job, placed = self.work.stepping[number]
        live = by.nics.live & (clock > 0)
        key = self._near(number, by, live)
        if not at_work:
            found = self._once(f"outline {number}", key, lambda: outline(by, job, placed, live), by)
            if found is not None:
                return found
        planned = self._once(f"plan {number}", key, lambda: plan(by, job, placed, live), by)
        slow = slowest(planned, clock)
        state = (id(by), id(planned), slow)
        return self._once(f"job {number}", state, lambda: begin(by, planned, slow), by, planned)

    def _near(self, number: int, by: Router, live: Bools) -> tuple[object, ...]:
        """What a plan depends on: its racks, where traffic spreads and all leaves are joined."""
        every, racks = self._reach[number]
        own = live.take(every).tobytes()
        if by.single_path or not by.reaches_all:
            return id(by), own
        hurt = tuple((rack, state) for rack, state in by.hurt.items() if rack in racks)
        return own, hurt, by.fastest_GBps

    def jobs(self, alone: Prepared, idle: frozenset[int]) -> JobsState:
        """All jobs together, without those that wait."""
        return self._once(
            "jobs", (id(alone), idle), lambda: jobs_state(alone, self.work.traffic, idle), alone
        )

    def impacts(self, jobs: JobsState) -> list[JobImpact]:
        """The jobs that step against the healthy cluster, without what faults cost once."""

        def find() -> list[JobImpact]:
            return [self._impact(number, jobs) for number in range(len(self.work.stepping))]

        return self._once("impacts", id(jobs), find, jobs)

    def _impact(self, number: int, jobs: JobsState) -> JobImpact:
        """A job against the healthy cluster; how the others go on is nothing to it."""
        by, running, at = jobs.by[number], jobs.running[number], jobs.place[number]
        shared = None if at < 0 else (jobs.shared.phase_s[at], jobs.shared.limit[at])
        (job, _), healthy = self.work.stepping[number], (self.base.jobs, self._was[number])
        return self._once(
            f"impact {number}",
            (id(by), id(running), shared),
            lambda: lasting_impact(number, job, healthy, jobs),
            by,
            running,
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

    def _known(self, kind: str, key: Any) -> Any:
        """What `_once` would give without finding it, None for nothing."""
        entry = self._found[kind].get(key)
        return None if entry is None else entry[0]

    def _once(self, kind: str, key: Any, find: Callable[[], Found], *hold: object) -> Found:
        """What `find` gives, found once while its key is among those asked last.

        Keys hold ids of objects: `hold` keeps these alive as long as the entry.
        """
        kept = self._found[kind]
        entry = kept.get(key)
        if entry is not None:
            kept.move_to_end(key)
            known: Found = entry[0]
            return known
        found = find()
        kept[key] = (found, hold)
        if len(kept) > _KEPT:
            kept.popitem(last=False)
        return found


def look(
    stage: Stage, moment: Moment, waiting: frozenset[int] = frozenset()
) -> tuple[Health, Thermal, Prepared]:
    """The cluster at a moment, and each job on it by itself, some of them in outline only."""
    health = stage.health((*moment.causes, *moment.consequences))
    thermal = moment.thermal
    if thermal is None:
        thermal = stage.steady(health, stage.activity(moment))
    given_up = dict(enumerate(moment.given_up))
    return health, thermal, stage.prepared(health, thermal.clock, given_up, waiting)


def snapshot_at(timeline: Timeline, time_s: float) -> Snapshot:
    """A moment of a timeline in the form of a single question: what jobs that wait do not load.

    Notes
    -----
    Some 20 ms at 4,608 GPUs; the stages of the last two scenarios are remembered.
    """
    stage = _stage(timeline.scenario)
    moment = timeline.moments[timeline.number_at(time_s)]
    health, thermal, alone = look(stage, moment)
    jobs = stage.jobs(alone, moment.waiting)
    now = stage.state(health, thermal, moment.consequences, jobs)
    found = snapshot_of(timeline.scenario, moment.causes, stage.base, now)
    spans = timeline.at(time_s).jobs
    told = [_told(impact, span) for impact, span in zip(found.jobs, spans, strict=True)]
    return replace(found, jobs=tuple(told), at_s=time_s)


def _told(impact: JobImpact | TrafficImpact, span: JobSpan) -> JobImpact | TrafficImpact:
    """A job as its timeline knows it: that it waits, and for what."""
    if isinstance(impact, TrafficImpact) or span.state == impact.state:
        return impact
    reason = impact.reason | dict.fromkeys(("post", "slowdown"), span.words)
    return replace(impact, state=cast("JobState", span.state), reason=reason)


@lru_cache(maxsize=2)
def _stage(scenario: Scenario) -> Stage:
    return Stage(scenario)


def occupied(stage: Stage, moment: Moment) -> dict[int, Ints]:
    """GPUs that each job keeps busy: its ranks', with spares in the place of those given up."""
    found = {}
    for number, (_, placed) in enumerate(stage.work.stepping):
        if number not in moment.vacant:
            lost, gpus = moment.given_up[number], placed.gpus
            if len(lost):
                there = np.ones(stage.fabric.count("gpu"), dtype=bool)
                there[lost] = False
                every = np.concatenate([placed.gpus, placed.spares])
                gpus = every[there[every]][: len(placed.gpus)]
            found[number] = gpus
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
