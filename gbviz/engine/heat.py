"""The heat of a cluster along its timeline: what it is now, and until when clocks hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling import HeatState, ahead, clocks_in, start, switched_on, thermal_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.cooling import Ahead, Thermal
    from gbviz.engine.stage import Stage
    from gbviz.faults import Fault
    from gbviz.topology.fabric import Floats, Ints

# While a clock changes, the work of a job is that of its mean over a panel. As a job's speed is
# no straight line of the clock, the error is a part of seconds x change^2 / 24: a panel ends where
# that is 0.2 ms, or at this change of the clock.
PANEL_S, MOST_PANEL = 5e-3, 0.25
_SAME = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Glance:
    """What heat does from now on.

    Parameters
    ----------
    until_s
        Until then clocks are what `thermal` says, or the settled ones where that is None.
    state
        The heat then.
    words
        What happens then.
    thermal
        Power, temperatures and clocks meanwhile; None where they are those that have settled.
    """

    until_s: float
    state: HeatState
    words: tuple[str, ...]
    thermal: Thermal | None


class Heat:
    """Follows die, plate and supply temperatures of a stage's cluster from moment to moment."""

    def __init__(self, stage: Stage, causes: tuple[Fault, ...], activity: Floats | None) -> None:
        self._stage = stage
        self.state = start(stage.fabric, stage.health(causes), activity)
        # At rest: under this health and activity nothing has moved.
        self._rest: tuple[bytes, Floats | None] | None = None

    @property
    def at_rest(self) -> bool:
        """Whether nothing moved when it was looked at last."""
        return self._rest is not None

    def thermal(self, causes: tuple[Fault, ...], activity: Floats | None) -> Thermal:
        """Power, temperatures and clocks at this moment."""
        health = self._stage.health(causes)
        world = self._stage.world(health, activity, self.state)
        found = thermal_in(world, self._stage.steady(health, activity))
        # A rack that has failed itself is no consequence.
        return replace(found, rack_down=found.rack_down & health.up(self._stage.fabric, "rack"))

    def unsettled(
        self, causes: tuple[Fault, ...], activity: Floats | None, settled: Floats
    ) -> Thermal | None:
        """The same, or None where its clocks are the settled ones."""
        if self.at_rest:
            return None
        clock = clocks_in(self._stage.world(self._stage.health(causes), activity, self.state))
        far = np.abs(clock - settled).max(initial=0.0)
        return self.thermal(causes, activity) if far > _SAME else None

    def switch_on(self, thermal: Thermal) -> None:
        """Switch on what heat had shut down and what a settled state with all at work keeps on."""
        self.state = switched_on(self.state, np.flatnonzero(~thermal.rack_down))
        self._rest = None

    def look(
        self,
        causes: tuple[Fault, ...],
        activity: Floats | None,
        settled: Floats,
        watched: Sequence[Ints],
        until_s: float,
    ) -> Glance:
        """What heat does until a time, or until clocks are others.

        Parameters
        ----------
        causes, activity
            What holds meanwhile.
        settled
            (G,) clocks once all has settled.
        watched
            GPUs of each job that steps: it goes as fast as its slowest.
        until_s
            No earlier than now.
        """
        stage, health = self._stage, self._stage.health(causes)
        felt = stage.felt(health)[0]
        if self._rest is not None and self._rest[0] == felt and self._rest[1] is activity:
            return Glance(until_s, replace(self.state, time_s=until_s), (), None)
        world = stage.world(health, activity, self.state)
        way = ahead(world, until_s)
        words: tuple[str, ...] = ()
        if way.quiet:
            own, state, still = way.clocks(), way.state(), bool(way.still.all())
        else:
            own, state, words, still = _cut(way, watched)
        thermal = None
        if np.abs(own - settled).max(initial=0.0) > _SAME:
            thermal = replace(thermal_in(world, stage.steady(health, activity)), clock=own)
        # Only what has settled, and at those clocks, need not be looked at again.
        resting = thermal is None and still and not words
        self._rest = (felt, activity) if resting else None
        return Glance(state.time_s, state, words, thermal)

    def move(self, glance: Glance) -> None:
        """Let the time pass that was looked at."""
        self.state = glance.state


def _cut(way: Ahead, watched: Sequence[Ints]) -> tuple[Floats, HeatState, tuple[str, ...], bool]:
    """Mean clocks (G,), the end, what happens and whether all has settled, for one panel."""
    class_of, times_s, clocks = sampled = way.samples()
    panel = way.end_s
    if len(times_s) > 2:
        slowest = [clocks[:, _there(class_of[own])].min(axis=1) for own in watched if len(own)]
        panel = min(panel, _panel(times_s, slowest))
    if panel < way.end_s:
        found = way.advance(panel, energies=False)
    else:
        found = way.advance(energies=False, sampled=sampled)
    own = _mean(found.times_s, found.clocks)[found.class_of]
    words = tuple(each.text for each in found.happenings)
    return own, found.state, words, found.settled


def _there(class_of: Ints) -> Ints:
    """The classes that some GPUs are of."""
    return np.flatnonzero(np.bincount(class_of))


def _panel(times_s: Floats, clocks: Sequence[Floats]) -> float:
    """When the first of some clocks (T,) has changed too much; the last time if none has."""
    far = np.zeros(len(times_s))
    for each in clocks:
        far = np.maximum(far, np.abs(each - each[0]))
    costly = (times_s - times_s[0]) * far**2 > PANEL_S
    late = np.flatnonzero((far > MOST_PANEL) | costly)
    # The sample before the first that is too late; samples are far closer than panels.
    return float(times_s[max(int(late[0]) - 1, 1)]) if len(late) else float(times_s[-1])


def _mean(times_s: Floats, clocks: Floats) -> Floats:
    """(K,) mean clocks over the time."""
    whole = times_s[-1] - times_s[0]
    first: Floats = clocks[0]
    if whole <= 0:
        return first
    found: Floats = np.trapezoid(clocks, times_s, axis=0) / whole
    # Of what does not change the mean is the value to the last bit, so that it is known again.
    same: Floats = np.where((clocks == first).all(axis=0), first, found)
    return same
