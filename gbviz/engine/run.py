"""Run a scenario through its time: events, timeouts, restarts, and the work in between."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling.state import IDLES, OFF
from gbviz.engine.downs import Downs
from gbviz.engine.garbage import rare_garbage_searches
from gbviz.engine.heat import Heat
from gbviz.engine.job_clock import JobClock
from gbviz.engine.stage import Stage, busy, look, occupied
from gbviz.engine.state import silent
from gbviz.engine.timeline import Interval, Moment, Timeline
from gbviz.engine.totals import Tally
from gbviz.faults.actions import follow
from gbviz.faults.standing import Standing
from gbviz.jobs.impact import what_struck
from gbviz.jobs.spec import TrainingJob
from gbviz.scenario.event import changes
from gbviz.units import stated

if TYPE_CHECKING:
    from gbviz.cooling import HeatState, Thermal
    from gbviz.engine.heat import Glance
    from gbviz.engine.jobs import JobsState, Prepared
    from gbviz.engine.state import Poll
    from gbviz.faults import Fault
    from gbviz.faults.actions import Action
    from gbviz.scenario import Scenario
    from gbviz.topology.fabric import Bools, Floats, Ints
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
    with rare_garbage_searches():
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
        self.standing = Standing()
        follow(self.stage.fabric, self.standing, scenario.actions)
        self.causes = self.standing.faults
        self.given_up: dict[int, Ints] = {}
        whole = dict(enumerate(at.gpus for _, at in self.stage.work.stepping))
        self.all_at_work = busy(self.stage, whole)
        self.clocks = [JobClock(job) for job, _ in self.stage.work.stepping]
        self.everyone = frozenset(range(len(self.clocks)))
        self.before: list[Prepared | None] = [None] * len(self.clocks)
        every = self.stage.fabric.count("gpu")
        sending = [every if own is None else len(own) for _, own in self.stage.work.traffic]
        self.tally = Tally(scenario, self.stage.base.jobs, self.clocks, sending)
        self.intervals: list[Interval] = []
        self.moments: list[Moment] = []
        self.downs = Downs(self.stage, self.all_at_work)
        self.heat: Heat | None = None
        self.thermal: Thermal | None = None
        self.asked = True
        self.struck = False
        self.finished: frozenset[int] = frozenset()
        self.problems: set[str] = set()

    def timeline(self) -> Timeline:
        """Move from change to change until the end."""
        words = self._start()
        while True:
            glance = self._warm(self._horizon())
            health, thermal, alone = self._look(self._idle())
            jobs = self.stage.jobs(alone, self._idle())
            if not self.intervals:
                self.tally.aim(self.stage.impacts(jobs))
            rates = self.tally.rates(self.stage.impacts(jobs), self.clocks)
            until = self._finish(rates, self._horizon() if glance is None else glance.until_s)
            if glance is not None and until < glance.until_s:
                glance = self._warm(until)
            heat = None if glance is None else glance.state
            words = self._record(until, words, (health, thermal, jobs), rates, heat)
            if glance is not None:
                words += self._move(glance)
            self.now_s = until
            words += self._happens(alone)
            if until >= self.end_s:
                break
        if words:
            self._close(words)
        self.problems |= {problem for one in self.intervals for problem in one.metrics.problems}
        return Timeline(
            self.scenario,
            tuple(self.intervals),
            tuple(self.moments),
            self.tally.totals(self.end_s),
            tuple(sorted(self.problems)),
        )

    def _close(self, words: tuple[str, ...]) -> None:
        """What happens at the very end still holds there, though no time passes any more."""
        health, thermal, alone = self._look(self._idle())
        jobs = self.stage.jobs(alone, self._idle())
        rates = self.tally.rates(self.stage.impacts(jobs), self.clocks)
        heat = None if self.heat is None else self.heat.state
        self._record(self.end_s, words, (health, thermal, jobs), rates, heat)

    def _start(self) -> tuple[str, ...]:
        """What holds at time 0 is there before the jobs are."""
        words: tuple[str, ...] = ()
        if self.changes and self.changes[0][0] <= 0.0:
            words = self._change(self.changes.pop(0)[1])
        if self.stage.fabric.count("loop"):
            self.heat = Heat(self.stage, self.causes, self.all_at_work)
        self._cool()
        _, _, alone = self._look(self.everyone)
        for number, clock in enumerate(self.clocks):
            self._give_up(number)
            if not alone.running[number].able:
                clock.phase = "aborted"
        return words

    def _look(self, waiting: frozenset[int]) -> tuple[Health, Thermal, Prepared]:
        """The cluster as it is now, and each job on it by itself, in outline those that wait."""
        return look(self.stage, self._moment(), waiting)

    def _idle(self) -> frozenset[int]:
        return frozenset(n for n, clock in enumerate(self.clocks) if not clock.steps)

    def _horizon(self) -> float:
        """When something changes next, heat and finished jobs aside."""
        times = [self.end_s, *(clock.until_s for clock in self.clocks)]
        if self.changes:
            times.append(self.changes[0][0])
        return max(min(times), self.now_s)

    def _finish(self, rates: list[float], until: float) -> float:
        """A time, or when a job is finished before it."""
        left = {
            number: self.now_s + clock.until_finished_s(rate)
            for number, (clock, rate) in enumerate(zip(self.clocks, rates, strict=True))
            if clock.steps
        }
        until = max(min([until, *left.values()]), self.now_s)
        # Late in time the work that is left may take less than the clock can tell apart.
        self.finished = frozenset(number for number, at in left.items() if at <= until)
        return until

    def _warm(self, until: float) -> Glance | None:
        """What heat does until a time; None where the fabric does not say how it is cooled."""
        if self.heat is None:
            return None
        activity, settled = self._settled()
        own = occupied(self.stage, self._there())
        watched = [gpus for number, gpus in own.items() if self.clocks[number].steps]
        glance = self.heat.look(self.causes, activity, settled, watched, until)
        self.thermal, self.asked = glance.thermal, True
        return glance

    def _settled(self) -> tuple[Floats | None, Floats]:
        """(G,) how busy GPUs are now, and their clocks once everything has settled so."""
        activity = self.stage.activity(self._there())
        return activity, self.stage.steady(self.stage.health(self._faults()), activity).clock

    def _move(self, glance: Glance) -> tuple[str, ...]:
        """Let heat go on; racks that it shuts down are down from now on."""
        assert self.heat is not None
        self.heat.move(glance)
        if glance.words:
            self._cool(switch_on=False)
        else:
            self._present()
        self.struck = bool(glance.words)
        return glance.words  # the racks that it shuts down among them

    def _faults(self) -> tuple[Fault, ...]:
        return (*self.causes, *self.downs.consequences)

    def _record(
        self,
        until: float,
        words: tuple[str, ...],
        found: tuple[Health, Thermal, JobsState],
        rates: list[float],
        heat: HeatState | None,
    ) -> tuple[str, ...]:
        """Let time pass, and note what it was like; words for which no time passes are returned."""
        health, thermal, jobs = found
        impacts = self.stage.impacts(jobs)
        seconds = until - self.now_s
        if seconds == 0 and until < self.end_s:
            return words
        self.tally.pass_time(seconds, rates, jobs)
        live = (thermal.gpu_power_w > 0) & (thermal.clock > 0)
        known = not thermal.absent and bool(live.any())
        die = thermal.die_c if heat is None else heat.die_c
        spans = self.tally.spans(jobs, impacts, rates)
        self.intervals.append(
            Interval(
                self.now_s,
                until,
                words,
                self.stage.metrics(health, thermal),
                spans,
                float(die[live].max()) if known else None,
                float(thermal.clock[live].min()) if known else None,
                thermal.supply_c if heat is None else heat.supply_c,
                _nic_load(jobs),
            )
        )
        self.moments.append(self._moment())
        return ()

    def _there(self, thermal: Thermal | None = None) -> Moment:
        """The present moment, but for its clocks where these are not given."""
        return Moment(
            self.causes,
            self.downs.consequences,
            tuple(self.given_up.get(number, _NONE) for number in range(len(self.clocks))),
            self._idle(),
            frozenset(n for n, clock in enumerate(self.clocks) if not clock.occupies),
            thermal,
        )

    def _moment(self) -> Moment:
        return self._there(self._clocks())

    def _happens(self, before: Prepared) -> tuple[str, ...]:
        """Everything that happens at this moment, in words."""
        self.poll(f"{self.now_s:,.0f} s")
        words: tuple[str, ...] = ()
        if self.changes and self.changes[0][0] <= self.now_s:
            words = self._change(self.changes.pop(0)[1])
            self._cool()
            self.struck = True
        if self.struck:
            words += self._strike(before)
            self.struck = False
        self.downs.next_moment()
        for number, clock in enumerate(self.clocks):
            if number in self.finished and clock.steps:
                words += (f"{clock.job.name} {clock.finish()}",)
            elif clock.until_s <= self.now_s:
                # What a job can do is judged by the clocks before it does anything.
                self._clocks()
                # A job that waits for routes goes on as it was.
                if clock.phase in ("stalled", "running") and clock.waits_for != "reroute":
                    self._give_up(number)
                said = clock.due(able=self._able(number))
                words += (f"{clock.job.name} {said}",)
                # GPUs that came back while it waited or began again.
                self._grow(number, clock)
        return words

    def _able(self, number: int) -> bool:
        """Whether a job could run on what is left now."""
        _, _, alone = self._look(self.everyone)
        return alone.running[number].able

    def _give_up(self, number: int) -> None:
        """A job that starts goes on without the GPUs of its placement that are dead now."""
        _, placed = self.stage.work.stepping[number]
        every = np.concatenate([placed.gpus, placed.spares])
        self.given_up[number] = every[~self._live()[every]]

    def _live(self) -> Bools:
        """(G,) GPUs that live, and that heat has neither shut down nor stopped."""
        live: Bools = self.stage.health(self._faults()).up(self.stage.fabric, "gpu")
        if self.heat is None:
            return live
        mode = self.heat.state.mode
        # GPUs that are powered again stand still until their dies have cooled.
        on: Bools = live & (mode != OFF) & (mode != IDLES)
        return on

    def _change(self, actions: list[Action]) -> tuple[str, ...]:
        """Do what events do; a repair stands behind a failure that makes it possible."""
        follow(self.stage.fabric, self.standing, actions)
        self.causes = self.standing.faults
        said = []
        for number, action in enumerate(actions):
            follows = actions[number + 1] if number + 1 < len(actions) else None
            before_repair = (
                follows is not None
                and follows.verb == "repair"
                and (action.verb, action.selector) == ("fail", follows.selector)
            )
            if not before_repair:
                part = f" to {stated(action.factor)}" if action.verb == "degrade" else ""
                said.append(f"{action.verb} {action.selector or 'all'}{part}")
        return tuple(said)

    def _cool(self, *, switch_on: bool = True) -> None:
        """Let racks go down for lack of cooling or power, and come back."""
        activity = self.stage.activity(self._there())
        self.downs.find(self.causes, self.heat, activity, switch_on=switch_on)
        self._present()

    def _present(self) -> None:
        """Take the clocks of this moment where heat has not settled, once somebody looks."""
        self.thermal, self.asked = None, False

    def _clocks(self) -> Thermal | None:
        """Power, temperatures and clocks now, None where they are those that have settled."""
        if not self.asked and self.heat is not None:
            self.asked = True
            activity, settled = self._settled()
            self.thermal = self.heat.unsettled(self.causes, activity, settled)
        return self.thermal

    def _strike(self, before: Prepared) -> tuple[str, ...]:
        """What the change of the cluster does to the jobs that were at work."""
        _, _, now = self._look(self.everyone)
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
            way = struck
            if clock.waits_for_way and struck == "gpu":
                way = what_struck(was, (now.by[number], now.running[number]), gpus=False)
            if clock.waits_for_way and way in ("", "reroute"):
                words += (f"{clock.job.name} {clock.healed(self.now_s)}",)
            elif struck:
                if not stalled:
                    self.before[number] = before
                clock.strike(self.now_s, struck)
                if clock.phase == "stalled" and not stalled:
                    words += (f"{clock.job.name} stalls: {_STRUCK[struck]}",)
                if clock.phase == "restarting" and struck == "gpu":
                    self._give_up(number)  # it begins anew, with the GPUs that are there now
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
        back = self._live()[lost]
        _, placed = self.stage.work.stepping[number]
        if not back.any() or len(lost) <= len(placed.spares):
            clock.stay()
        elif isinstance(clock.job, TrainingJob):
            clock.grow_back(self.now_s)
        else:
            self.given_up[number] = lost[~back]


def _nic_load(jobs: JobsState) -> float:
    """Mean load of the NICs that send, over what the live ones could."""
    space = jobs.by_default.space
    first = int(space.starts[1])
    room = float(space.capacity[:first].sum()) * 1e9
    return float(jobs.shared.load[:first].sum()) / room if room else 0.0


_NONE: Ints = np.zeros(0, dtype=np.int64)
_STRUCK = {
    "gpu": "it has lost a GPU",
    "cut": "it has no way left",
    "path": "it has lost a NIC, cable or leaf",
    "reroute": "its routes change",
}
