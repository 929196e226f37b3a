"""The course of one loop: how it moves until something happens, its clocks and its energies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from gbviz.cooling.crossing import Case, Event, Limits, changed, first, moved, ready, rest
from gbviz.cooling.machine import machine
from gbviz.cooling.motion import Motion, motion
from gbviz.cooling.state import HOLDS, clocks, drawn_power, holding_power
from gbviz.errors import GbvizError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.topology.fabric import Floats

# Changes at one moment that lead to one another; more would be a mistake of ours.
_MOST_AT_ONCE: Final = 1000
# Energies are those of rest once temperatures are so near to it, K.
_STILL_K: Final = 1e-11
_ENDS: Final = ("shuts down", "gives up")


@dataclass(frozen=True, slots=True)
class Energy:
    """Where energy went over a while, J.

    Parameters
    ----------
    electric
        Drawn by GPUs and the rest of their racks.
    stored_gpus, stored_loops
        Into dies and plates, and into the liquid; below 0 where they cooled.
    to_loops, to_air
        From racks into the liquid, and into the air.
    rejected
        From the liquid through the cooling units.
    """

    electric: float = 0.0
    stored_gpus: float = 0.0
    stored_loops: float = 0.0
    to_loops: float = 0.0
    to_air: float = 0.0
    rejected: float = 0.0

    def __add__(self, other: Energy) -> Energy:
        return Energy(*(getattr(self, n) + getattr(other, n) for n in self.__slots__))

    def times(self, count: float) -> Energy:
        """That of so many loops alike."""
        return Energy(*(getattr(self, n) * count for n in self.__slots__))

    @property
    def imbalance(self) -> float:
        """What the balance of racks or that of loops fails to close by, J: rounding."""
        racks = self.electric - self.stored_gpus - self.to_loops - self.to_air
        return max(abs(racks), abs(self.to_loops - self.stored_loops - self.rejected))


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """A case that moves in the same modes from some time on."""

    start_s: float
    case: Case
    way: Motion


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Legs one after the other, until the last ends in events; none where the horizon came first.

    Parameters
    ----------
    legs
        At least one.
    stop_s
        When the last one ends.
    events
        What ends it.
    notes
        What happened before, with its time: changes that no clock feels, and those at time 0.
    """

    legs: tuple[Leg, ...]
    stop_s: float
    events: tuple[Event, ...]
    notes: tuple[tuple[float, Event], ...] = field(default=())

    @property
    def ends(self) -> bool:
        """True where something shuts down at the end."""
        return any(event.what in _ENDS for event in self.events)

    def reaches(self, time_s: float) -> bool:
        """True where its events come with others at a time, but for rounding."""
        return bool(self.events) and self.stop_s <= with_ties(time_s)

    def case_at(self, time_s: float) -> Case:
        """The case at a time before the last leg ends."""
        leg = next(leg for leg in reversed(self.legs) if leg.start_s <= time_s)
        return moved(leg.case, leg.way, time_s - leg.start_s)

    @property
    def holds(self) -> bool:
        """True where clocks move between events."""
        return any(bool((leg.case.mode == HOLDS).any()) for leg in self.legs)

    def energy(self, until_s: float) -> Energy:
        """What went where from time 0 on, but for what GPUs stored."""
        total = Energy()
        ends = [leg.start_s for leg in self.legs[1:]] + [until_s]
        for leg, end in zip(self.legs, ends, strict=True):
            if leg.start_s < until_s:
                total += _energy(leg, min(end, until_s) - leg.start_s)
        return total

    def clocks(self, own: Floats, active: Floats, asked_w: Floats) -> Callable[[Floats], Floats]:
        """(T, K) clocks of its classes at (T,) times: what to ask for them, time after time."""
        parts = [_clocks(leg, own, active, asked_w) for leg in self.legs]
        if len(parts) == 1:
            return parts[0]
        starts = np.array([leg.start_s for leg in self.legs])

        def at(times_s: Floats) -> Floats:
            found = np.empty((len(times_s), len(own)))
            which = np.maximum(np.searchsorted(starts, times_s, side="right") - 1, 0)
            for number, part in enumerate(parts):
                here = np.flatnonzero(which == number)
                found[here] = part(times_s[here])
            return found

        return at


def _clocks(leg: Leg, own: Floats, active: Floats, asked_w: Floats) -> Callable[[Floats], Floats]:
    """`Course.clocks` of one leg: only GPUs that hold their die change theirs."""
    case, across = leg.case, leg.case.loop.masses.across_w_per_k
    plate, mode = case.loop.plate_c, case.mode
    still = clocks(mode, own, active, asked_w, drawn_power(mode, case.most_w, plate, across))
    held = np.flatnonzero(mode == HOLDS)
    if not len(held):
        return lambda times_s: np.broadcast_to(still, (len(times_s), len(still)))
    law, plate = machine(), plate[held, None]
    most, own, active, asked_w = (a[held, None] for a in (case.most_w, own, active, asked_w))
    # Of few modes anything reaches plates whose dies are held.
    reach = leg.way.plate[held]
    some = np.flatnonzero(reach.any(axis=0))
    reach, way = reach[:, some], leg.way.of(some)

    def at(times_s: Floats) -> Floats:
        found = np.empty((len(still), len(times_s)))
        found[:] = still[:, None]
        if len(times_s):
            power = holding_power(most, plate + reach @ way.shape(times_s - leg.start_s), across)
            found[held] = law.live_clock(own, active, asked_w, power)
        return found.T

    return at


def with_ties(time_s: float) -> float:
    """The last time that counts as the same one."""
    return time_s * (1 + 1e-12) + 1e-12


def course(case: Case, limits: Limits, horizon_s: float) -> Course:
    """Follow a case until something changes a clock, or to the horizon."""
    case, now = ready(case), 0.0
    legs: list[Leg] = []
    notes: list[tuple[float, Event]] = []
    if case.loop.moves and case.loop.supply_c <= case.set_point_c:
        notes.append((0.0, Event(0.0, "warms", -1)))
    for _ in range(_MOST_AT_ONCE):
        way = motion(case.loop)
        events = first(case, way, limits, horizon_s - now)
        legs.append(Leg(now, case, way))
        if not events:
            return Course(tuple(legs), horizon_s, (), tuple(notes))
        at = now + events[0].time_s
        quiet = at == 0 or all(event.what == "warms" for event in events)
        if not quiet or any(event.what in _ENDS for event in events):
            return Course(tuple(legs), at, tuple(events), tuple(notes))
        case = changed(moved(case, way, events[0].time_s), events, limits)
        notes += [(at, event) for event in events]
        if at == now:
            legs.pop()
        now = at
    raise GbvizError("a cooling loop does not come to rest between two moments")


def _energy(leg: Leg, dt: float) -> Energy:
    """What goes where in the first `dt` seconds of a leg: while it moves, and after that."""
    still_s = rest(leg.way, _STILL_K)
    if dt <= still_s:
        return _moving(leg, dt)
    end = moved(leg.case, leg.way, still_s)
    loop = end.loop
    drawn = (dt - still_s) * float(loop.count @ loop.power_w)
    fixed = (dt - still_s) * end.fixed_w / loop.liquid_share
    if not loop.flows:
        return _moving(leg, still_s) + Energy(electric=drawn + fixed, to_air=fixed)
    taken = loop.liquid_share * (drawn + fixed)
    air = drawn + fixed - taken
    return _moving(leg, still_s) + Energy(drawn + fixed, 0.0, 0.0, taken, air, taken)


def _moving(leg: Leg, dt: float) -> Energy:
    loop, case, area = leg.case.loop, leg.case, leg.way.area(dt)
    plates = loop.plate_c * dt + leg.way.plate @ area
    supply = loop.supply_c * dt + float(leg.way.supply @ area)
    drawn = np.where(
        loop.holds, loop.masses.across_w_per_k * (loop.die_c * dt - plates), loop.power_w * dt
    )
    fixed = case.fixed_w * dt
    electric = float(loop.count @ drawn) + fixed / loop.liquid_share
    if not loop.flows:
        return Energy(electric=electric, to_air=fixed / loop.liquid_share)
    out = loop.out_w_per_k * float(loop.count @ (plates - supply))
    taken = loop.liquid_share * out + fixed
    grown = leg.way.supply @ leg.way.shape(np.array([dt]))[:, 0]
    return Energy(
        electric=electric,
        stored_loops=loop.liquid_j_per_k * float(grown),
        to_loops=taken,
        to_air=taken * (1 / loop.liquid_share - 1),
        rejected=case.capacity_w * dt if loop.moves else taken,
    )
