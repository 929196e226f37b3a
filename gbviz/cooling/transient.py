"""Heat over time: what a cluster's temperatures, clocks and energies do until something changes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling.course import Course, Energy, course, with_ties
from gbviz.cooling.crossing import changed
from gbviz.cooling.glide import glide, glides
from gbviz.cooling.machine import machine
from gbviz.cooling.motion import masses
from gbviz.cooling.samples import clock_samples, rest_classes, still_clocks
from gbviz.cooling.state import (
    OFF,
    HeatState,
    check_activity,
    check_state,
)
from gbviz.cooling.told import Happening, happenings
from gbviz.cooling.world import Party, World, at_rest, limits_of, parties_of, world_of
from gbviz.errors import InputError

if TYPE_CHECKING:
    from gbviz.cooling.state import Modes
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health

    # (G,) classes, (T,) times and (T, K) clocks of the classes; see `Advance`.
    Samples = tuple[Ints, Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Advance:
    """A while during which no clock changed but smoothly.

    Parameters
    ----------
    state
        At its end.
    happenings
        In the order of their time; those that end it last.
    energy
        Over the while.
    class_of
        (G,) class of each GPU.
    times_s, clocks
        (T,) times from start to end and (T, K) the clocks of the classes then. Straight lines
        between them are within 1e-6 of the truth. At the end they are those from just before.
    settled
        True where nothing moves any more, within 1e-9 K.
    """

    state: HeatState
    happenings: tuple[Happening, ...]
    energy: Energy
    class_of: Ints
    times_s: Floats
    clocks: Floats
    settled: bool


def advance(
    fabric: Fabric, health: Health, activity: Floats | None, state: HeatState, until_s: float
) -> Advance:
    """Follow the heat of a cluster until a time, or until a clock changes its course.

    Parameters
    ----------
    fabric, health, activity
        As for `steady`; they hold for the whole while.
    state
        From `start` or an earlier advance.
    until_s
        Finite, no earlier than the state.

    Returns
    -------
    Advance
        Up to `until_s`, or to the first moment at which GPUs begin or cease to throttle, reach
        the slowdown temperature or shut down, or a supply is back at its set point.

    Raises
    ------
    InputError
        A state, an activity or a time that cannot be.

    Notes
    -----
    A GPU is a die and a plate, ``C_d T_d' = P - (T_d - T_c) / R_d`` and ``C_c T_c' = (T_d - T_c) /
    R_d - (T_c - T_s) / (R_eff - R_d)``. At 87 °C it draws ``(87 - T_c) / R_d``, which keeps it
    there; where that is less than idle power it idles at clock 0, warms on, and shuts down at
    92 °C until it is switched on again. A supply stays at its set point while the loop's heat is
    no more than its units take; else ``C_loop T_s' = heat - capacity``, down to the set point
    again. Without any live unit nothing flows, and plates keep their heat.

    Between two events all this is linear and solved exactly (`motion`), so there is no step whose
    size could matter; events are found to the last bit. From rest its limit is `steady`. Two rules
    make it so where the equations alone do not. In a loop whose units cannot take even idle heat
    all racks shut down with the first die at 92 °C (or when it comes to rest below); racks without
    a live GPU go with the first that shuts down. Slower clocks at 89 °C are implied: above 87 °C a
    GPU idles.

    Cost: nothing but a steady state for loops at rest; else a few ms for each loop unlike others.

    Examples
    --------
    Two of four CDUs are lost: the loop takes up more than it can give away, and warms.

    >>> from gbviz.cooling.state import start
    >>> from gbviz.faults import Action, apply, resolve
    >>> from gbviz.topology import build, cluster_spec
    >>> from gbviz.topology.health import healthy
    >>> fabric = build(cluster_spec("gb300-cdu"))
    >>> state = start(fabric, healthy(fabric))
    >>> health = apply(fabric, resolve(fabric, [Action("fail", "cdu-[0-1]")]))
    >>> found = advance(fabric, health, None, state, 3600.0)
    >>> for each in found.happenings:
    ...     print(f"{each.time_s:.1f} s: {each.text}")
    0.0 s: loop-0: the supply begins to warm
    54.9 s: loop-0: 2,304 GPUs reach the throttle limit
    """
    check_activity(fabric, activity)
    check_state(fabric, state)
    if not (math.isfinite(until_s) and until_s >= state.time_s):
        raise InputError(f"must be finite and at least {state.time_s:g} s", where="until_s")
    if state.absent:
        return _nothing(fabric, health, state, until_s)
    return ahead(world_of(fabric, health, activity, state), until_s).advance()


@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """All that heat does from a state on until clocks change their course, to be cut anywhere.

    Parameters
    ----------
    world
        With the state.
    until_s
        The time that was asked for.
    stop_s
        Seconds from the state to there, or to the first change of course.
    still, gliding
        (O,) loops at rest, and those in which nothing can happen.
    parties, courses, class_of
        The other loops, how these move, and (G,) their classes, -1 for GPUs of no party.
    classes
        From `rest_classes`, found once for all cuts; None where there are no parties.
    """

    world: World
    until_s: float
    stop_s: float
    still: Bools
    gliding: Bools
    parties: list[Party]
    courses: list[Course]
    class_of: Ints
    classes: tuple[Ints, Floats] | None

    @property
    def end_s(self) -> float:
        """The time at its end."""
        return self._time_s(self.stop_s)

    def _time_s(self, stop_s: float) -> float:
        """The time some seconds later: the one asked for to the last bit, where it is that."""
        first = self.world.state.time_s
        return self.until_s if stop_s == self.until_s - first else first + stop_s

    @property
    def quiet(self) -> bool:
        """True where no clock changes at all, and nothing happens."""
        return not self.parties

    def clocks(self) -> Floats:
        """(G,) clocks now of loops at rest or gliding."""
        return still_clocks(self.world, self.gliding)

    def state(self, stop_s: float | None = None) -> HeatState:
        """The state some seconds later (None: at the end), what happens there included."""
        stop = self.stop_s if stop_s is None else stop_s
        after = _after(self.world, self.parties, self.class_of, self.courses, self.gliding, stop)
        return replace(after, time_s=self._time_s(stop))

    def samples(self, until_s: float | None = None) -> Samples:
        """The clocks in the first part of it (None: all), and nothing else."""
        first, stop, end = self.world.state.time_s, self.stop_s, self.end_s
        if until_s is not None:
            stop, end = until_s - first, until_s
        classes, values = self.classes or rest_classes(self.world, self.class_of, self.gliding)
        times, found = clock_samples(self.parties, self.courses, values, stop)
        absolute = np.minimum(first + times, end)
        kept = np.concatenate([[True], np.diff(absolute) > 0])
        return classes, absolute[kept], found[kept]

    def advance(
        self,
        until_s: float | None = None,
        *,
        energies: bool = True,
        sampled: Samples | None = None,
    ) -> Advance:
        """The first part of it (None: all), with or without where the energy went.

        `sampled` are its clocks where somebody has asked for them before.
        """
        world, parties, courses = self.world, self.parties, self.courses
        stop = self.stop_s if until_s is None else until_s - world.state.time_s
        done = self.state(stop)
        if until_s is not None:
            done = replace(done, time_s=until_s)
        ended = any(path.ends and path.reaches(stop) for path in courses)
        return Advance(
            done,
            happenings(world, parties, courses, stop, done),
            _energy(world, parties, courses, self.gliding, stop, done) if energies else Energy(),
            *(sampled or self.samples(until_s)),
            not ended and bool(at_rest(replace(world, state=done)).all()),
        )


def ahead(world: World, until_s: float) -> Ahead:
    """What a world does until a time no earlier than its state, or until its first change."""
    still = at_rest(world)
    gliding = still if still.all() else glides(world)
    gliding = gliding & ~still
    parties, class_of = parties_of(world, ~still & ~gliding)
    horizon = stop = until_s - world.state.time_s
    courses: list[Course] = []
    for party in parties:
        courses.append(course(party.case, limits_of(), min(horizon, with_ties(stop))))
        stop = min(stop, courses[-1].stop_s)
    classes = rest_classes(world, class_of, gliding) if parties else None
    return Ahead(world, until_s, stop, still, gliding, parties, courses, class_of, classes)


def _after(
    world: World,
    parties: list[Party],
    class_of: Ints,
    courses: list[Course],
    gliding: Bools,
    stop_s: float,
) -> HeatState:
    """The state at the end, what happens there included."""
    state = world.state
    die, plate = glide(world, gliding, stop_s)
    mode = state.mode.copy()
    supply, rack_off = state.supply_c.copy(), state.rack_off.copy()
    moving = np.flatnonzero(class_of >= 0)
    found = []
    for party, path in zip(parties, courses, strict=True):
        case = path.case_at(min(stop_s, path.stop_s))
        if path.reaches(stop_s):
            case = changed(
                case,
                [e for e in path.events if e.what not in ("shuts down", "gives up")],
                limits_of(),
            )
        supply[party.loops] = case.loop.supply_c
        found.append(case)
    if found:
        which = class_of[moving]
        die[moving] = np.concatenate([case.loop.die_c for case in found])[which]
        plate[moving] = np.concatenate([case.loop.plate_c for case in found])[which]
        mode[moving] = np.concatenate([case.mode for case in found])[which]
    for party, path in zip(parties, courses, strict=True):
        if path.ends and path.reaches(stop_s):
            _shut_down(world, party, class_of, path, mode, rack_off)
    return HeatState(state.time_s, die, plate, supply, mode, rack_off)


def _shut_down(
    world: World, party: Party, class_of: Ints, path: Course, mode: Modes, rack_off: Bools
) -> None:
    """Mark the GPUs and racks that an end takes down."""
    racks, on = len(world.drawn.on), world.drawn.on
    each = len(mode) // racks
    alive = (world.drawn.drawn_w > 0).any(axis=1)
    loop = np.repeat(np.arange(len(world.starts)), np.diff([*world.starts, racks]))
    inside = np.isin(loop, party.loops)
    whole = party.case.loop.flows or any(event.what == "gives up" for event in path.events)
    if party.case.doomed and whole:
        down = inside & on
    else:
        classes = [party.first + e.number for e in path.events if e.what == "shuts down"]
        mode[np.isin(class_of, classes)] = OFF
        gone = (mode.reshape(racks, each) == OFF) | (world.drawn.own <= 0)
        down = inside & on & gone.all(axis=1) & (alive | party.case.doomed)
    rack_off |= down
    mode[np.repeat(down, each)] = OFF


def _energy(
    world: World,
    parties: list[Party],
    courses: list[Course],
    gliding: Bools,
    stop_s: float,
    done: HeatState,
) -> Energy:
    """Of all loops: those at rest give away what they draw, those that glide what is not kept."""
    mass, share = masses(machine()), machine().liquid_share
    total = Energy()
    for party, path in zip(parties, courses, strict=True):
        total += path.energy(stop_s).times(len(party.loops))
    rest = ~gliding
    rest[[loop for party in parties for loop in party.loops]] = False
    stored = mass.die * (done.die_c - world.state.die_c)
    stored += mass.plate * (done.plate_c - world.state.plate_c)
    drawn = np.where(gliding[world.loop_of], world.drawn.drawn_w.reshape(-1), 0.0)
    drawn = stop_s * np.where(rest[world.loop_of], world.target.gpu_power_w, drawn)
    fixed = stop_s * world.fixed_w / share
    dry = gliding & (world.capacity_w == 0)
    wet = (rest | gliding) & ~dry
    free = (gliding & ~dry)[world.loop_of]
    given = float((drawn[wet[world.loop_of]]).sum() - stored[free].sum() + fixed[wet].sum())
    lost = float(fixed[dry].sum())
    return total + Energy(
        float(drawn.sum() + fixed[rest | gliding].sum()),
        float(stored.sum()),
        0.0,
        share * given,
        (1 - share) * given + lost,
        share * given,
    )


def _nothing(fabric: Fabric, health: Health, state: HeatState, until_s: float) -> Advance:
    """An advance of a fabric that does not say how it is cooled: clocks are the GPUs' own."""
    values, inverse = np.unique(health.factor(fabric, "gpu"), return_inverse=True)
    times = np.unique([state.time_s, until_s])
    return Advance(
        replace(state, time_s=until_s),
        (),
        Energy(),
        inverse.reshape(-1),
        times,
        np.broadcast_to(values, (len(times), len(values))),
        True,
    )
