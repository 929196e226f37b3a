"""Run a scenario through its time: events, timeouts, restarts, and the work in between."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from gbviz.engine.job_clock import JobClock
from gbviz.engine.stage import Stage, busy
from gbviz.engine.state import silent
from gbviz.engine.timeline import Interval, Timeline
from gbviz.engine.totals import Tally
from gbviz.faults import resolve
from gbviz.jobs.impact import what_struck
from gbviz.jobs.spec import TrafficSpec, TrainingJob
from gbviz.jobs.traffic import TrafficJob
from gbviz.scenario.event import changes

if TYPE_CHECKING:
    from gbviz.cooling import Thermal
    from gbviz.engine.jobs import JobsState, Prepared
    from gbviz.engine.state import Poll
    from gbviz.faults.actions import Action
    from gbviz.scenario import Scenario
    from gbviz.topology.fabric import Ints
    from gbviz.topology.health import Health


def run(scenario: Scenario, *, poll: Poll | None = None) -> Timeline:
    """A scenario from its start to its end.

    What its events do at time 0 holds from the start: jobs begin on what there is. Later faults
    strike jobs as `job_clock` says.

    Parameters
    ----------
    scenario
        With events and a duration; without either the timeline is one empty interval.
    poll
        Called with what comes next; what it raises stops the run.

    Raises
    ------
    InputError
        An event names nothing, or a size or argument that cannot be used.

    Examples
    --------
    >>> import gbviz
    >>> from gbviz.faults.actions import Action
    >>> from gbviz.scenario.event import Event
    >>> from dataclasses import replace
    >>> hour = Event(600.0, Action("fail", "spine-3"), for_s=1800.0)
    >>> made = run(replace(gbviz.preset("gb300-su"), events=(hour,), duration_s=3600.0))
    >>> [(one.start_s, one.end_s, one.metrics.bisection_GBps) for one in made.intervals]
    [(0.0, 600.0, 28800.0), (600.0, 2400.0, 21600.0), (2400.0, 3600.0, 28800.0)]
    """
    return _Run(scenario, poll or silent).timeline()


class _Run:
    """One pass through time."""

    def __init__(self, scenario: Scenario, poll: Poll) -> None:
        self.stage = Stage(scenario)
        self.scenario, self.poll = scenario, poll
        self.end_s = scenario.end_s
        self.now_s = 0.0
        self.changes = [
            (at, [action for _, action in own])
            for at, own in groupby(changes(scenario.events), key=lambda change: change[0])
            if at <= self.end_s
        ]
        self.causes = resolve(self.stage.fabric, scenario.actions)
        self.down: frozenset[int] = frozenset()
        self.given_up: dict[int, Ints] = {}
        self.clocks = [JobClock(job) for job, _ in self.stage.work.stepping]
        self.before: list[Prepared | None] = [None] * len(self.clocks)
        self.tally = Tally(scenario, self.stage.base.jobs, self.clocks)
        self.intervals: list[Interval] = []
        self.problems: set[str] = set()

    def timeline(self) -> Timeline:
        """Move from change to change until the end."""
        words = self._start()
        while True:
            health, thermal, alone = self._look()
            jobs = self.stage.jobs(alone, self._idle())
            if not self.intervals:
                self.tally.aim(self.stage.impacts(jobs))
            rates = self.tally.rates(self.stage.impacts(jobs), self.clocks)
            until = self._next(rates)
            self._record(until, words, (health, thermal, jobs), rates)
            if until >= self.end_s:
                break
            self.now_s = until
            words = self._happens(alone)
        self.problems |= {problem for one in self.intervals for problem in one.metrics.problems}
        totals = self.tally.totals(self.end_s)
        return Timeline(self.scenario, tuple(self.intervals), totals, tuple(sorted(self.problems)))

    def _start(self) -> tuple[str, ...]:
        """What holds at time 0 is there before the jobs are."""
        words: tuple[str, ...] = ()
        if self.changes and self.changes[0][0] <= 0.0:
            words = self._change(self.changes.pop(0)[1])
        self._cool()
        _, _, alone = self._look()
        for number, clock in enumerate(self.clocks):
            self._give_up(number)
            if alone.running[number].run is None:
                clock.phase = "aborted"
        return words

    def _look(self) -> tuple[Health, Thermal, Prepared]:
        """The cluster as it is now, and each job on it by itself."""
        health = self.stage.health(self.causes, self.down)
        thermal = self.stage.steady(health, busy(self.stage, self._occupied()))
        return health, thermal, self.stage.prepared(health, thermal.clock, self.given_up)

    def _occupied(self) -> dict[int, Ints]:
        """GPUs that each job keeps busy."""
        found = {}
        for number, (clock, (_, placed)) in enumerate(
            zip(self.clocks, self.stage.work.stepping, strict=True)
        ):
            if clock.occupies:
                lost = self.given_up.get(number)
                gpus = placed.gpus
                if lost is not None and len(lost):
                    there = np.ones(self.stage.fabric.count("gpu"), dtype=bool)
                    there[lost] = False
                    gpus = np.concatenate([placed.gpus, placed.spares])
                    gpus = gpus[there[gpus]][: len(placed.gpus)]
                found[number] = gpus
        return found

    def _idle(self) -> frozenset[int]:
        return frozenset(n for n, clock in enumerate(self.clocks) if not clock.steps)

    def _next(self, rates: list[float]) -> float:
        """When something changes next."""
        times = [self.end_s]
        if self.changes:
            times.append(self.changes[0][0])
        for number, clock in enumerate(self.clocks):
            times.append(clock.until_s)
            if clock.steps:
                times.append(self.now_s + clock.until_finished_s(rates[number]))
        return max(min(times), self.now_s)

    def _record(
        self,
        until: float,
        words: tuple[str, ...],
        found: tuple[Health, Thermal, JobsState],
        rates: list[float],
    ) -> None:
        """Let time pass, and note what it was like."""
        health, thermal, jobs = found
        impacts = self.stage.impacts(jobs)
        seconds = until - self.now_s
        self.tally.pass_time(seconds, rates, jobs)
        live = thermal.gpu_power_w > 0
        known = not thermal.absent and bool(live.any())
        spans = self.tally.spans(jobs, impacts, rates)
        if seconds > 0 or not self.intervals or until >= self.end_s:
            self.intervals.append(
                Interval(
                    self.now_s,
                    until,
                    words,
                    self.stage.metrics(health, thermal),
                    spans,
                    float(thermal.die_c[live].max()) if known else None,
                    float(thermal.clock[live].min()) if known else None,
                    thermal.supply_c,
                )
            )

    def _happens(self, before: Prepared) -> tuple[str, ...]:
        """Everything that happens at this moment, in words."""
        self.poll(f"{self.now_s:,.0f} s")
        words: tuple[str, ...] = ()
        if self.changes and self.changes[0][0] <= self.now_s:
            words = self._change(self.changes.pop(0)[1])
            self._cool()
            words += self._strike(before)
        _, _, alone = self._look()
        for number, clock in enumerate(self.clocks):
            if clock.until_s <= self.now_s or self._reached(clock):
                if clock.phase in ("stalled", "running"):
                    self._give_up(number)
                said = clock.due(able=self._able(number))
                words += (f"{clock.job.name} {said}",)
        del alone
        return words

    def _reached(self, clock: JobClock) -> bool:
        return clock.steps and clock.account.useful_s >= clock.target_s * (1 - 1e-12)

    def _able(self, number: int) -> bool:
        """Whether a job could run on what is left now."""
        _, _, alone = self._look()
        return alone.running[number].run is not None

    def _give_up(self, number: int) -> None:
        """A job that starts goes on without the GPUs of its placement that are dead now."""
        _, placed = self.stage.work.stepping[number]
        every = np.concatenate([placed.gpus, placed.spares])
        health = self.stage.health(self.causes, self.down)
        self.given_up[number] = every[~health.up(self.stage.fabric, "gpu")[every]]

    def _change(self, actions: list[Action]) -> tuple[str, ...]:
        """Do what events do; a repair stands behind a failure that makes it possible."""
        self.causes = resolve(self.stage.fabric, actions, self.causes)
        said = []
        for number, action in enumerate(actions):
            follows = actions[number + 1] if number + 1 < len(actions) else None
            before_repair = (
                follows is not None
                and follows.verb == "repair"
                and (action.verb, action.selector) == ("fail", follows.selector)
            )
            if not before_repair:
                part = f" to {100 * action.factor:.4g} %" if action.verb == "degrade" else ""
                said.append(f"{action.verb} {action.selector or 'all'}{part}")
        return tuple(said)

    def _cool(self) -> None:
        """Shut down the racks that the faults leave without cooling or power, and no others.

        Judged with every job at work: a rack that only idleness keeps alive stays down.
        """
        bare = self.stage.health(self.causes, frozenset())
        every = {n: at.gpus for n, (_, at) in enumerate(self.stage.work.stepping)}
        thermal = self.stage.steady(bare, busy(self.stage, every))
        self.down = frozenset(np.flatnonzero(thermal.rack_down).tolist())

    def _strike(self, before: Prepared) -> tuple[str, ...]:
        """What the change of the cluster does to the jobs that were at work."""
        _, _, now = self._look()
        words: tuple[str, ...] = ()
        for number, clock in enumerate(self.clocks):
            if clock.phase == "aborted":
                words += self._revive(number, clock)
                continue
            stalled = clock.phase == "stalled"
            reference = self.before[number] if stalled else before
            if reference is None:
                reference = before
            was = (reference.by[number], reference.running[number])
            struck = what_struck(was, (now.by[number], now.running[number]))
            if stalled and clock.waits_for in ("path", "cut") and struck in ("", "reroute"):
                clock.healed()
                words += (f"{clock.job.name} goes on: its way is back",)
            elif struck:
                if not stalled:
                    self.before[number] = before
                clock.strike(self.now_s, struck)
                if clock.phase == "stalled" and not stalled:
                    words += (f"{clock.job.name} stalls: {_STRUCK[struck]}",)
            self._grow(number, clock)
        return words

    def _revive(self, number: int, clock: JobClock) -> tuple[str, ...]:
        """A job that had stopped begins again once it can."""
        old = self.given_up.get(number)
        self._give_up(number)
        if self._able(number):
            clock.revive(self.now_s)
            return (f"{clock.job.name} restarts",)
        if old is not None:
            self.given_up[number] = old
        return ()

    def _grow(self, number: int, clock: JobClock) -> None:
        """GPUs that came back are used again: after the next checkpoint, or at once without one."""
        lost = self.given_up.get(number)
        if clock.phase != "running" or lost is None or not len(lost):
            return
        health = self.stage.health(self.causes, self.down)
        back = health.up(self.stage.fabric, "gpu")[lost]
        _, placed = self.stage.work.stepping[number]
        if not back.any() or len(lost) <= len(placed.spares):
            return
        if isinstance(clock.job, TrainingJob):
            clock.regrow = True
            clock.until_s = self.now_s + clock.until_checkpoint_s()
        else:
            self.given_up[number] = lost[~back]


_STRUCK = {
    "gpu": "a GPU of its is gone",
    "cut": "it has no way left",
    "path": "a NIC, cable or leaf of its is gone",
    "reroute": "its routes change",
}


def is_traffic(job: object) -> bool:
    """Whether a job is a pattern of flows, which has no state of its own."""
    return isinstance(job, TrafficJob | TrafficSpec)
