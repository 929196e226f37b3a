"""A cluster as cooling loops see it: what each draws and gives, who moves, and who is alike."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from gbviz.cooling.crossing import Case, Limits
from gbviz.cooling.limits import Draw, draw, units_of
from gbviz.cooling.machine import machine
from gbviz.cooling.motion import Loop, masses
from gbviz.cooling.state import (
    SAME_K,
    HeatState,
    clocks,
    loop_starts,
    power_w,
    without_latched,
)
from gbviz.cooling.steady import Thermal, steady
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health

# Power at rest, W.
_SAME_W: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What holds during one advance; all but the state also holds while nothing is shut down.

    Parameters
    ----------
    fabric, state
        As given.
    drawn
        What feeds and shelves leave to GPUs that heat has not shut down.
    target, plate_c
        The steady state that this leads to, and (G,) its plates.
    starts, loop_of
        (O,) first rack of each loop, and (G,) loop of each GPU.
    fixed_w, capacity_w, liquid_j_per_k
        (O,) heat from racks besides their GPUs into the liquid, what live units take away, and
        the liquid's heat capacity.
    doomed
        (O,) True where even idle GPUs are too much.
    powerless
        (R,) True for racks that would have no power even if heat had shut nothing down.
    """

    fabric: Fabric
    state: HeatState
    drawn: Draw
    target: Thermal
    plate_c: Floats
    starts: Ints
    loop_of: Ints
    fixed_w: Floats
    capacity_w: Floats
    liquid_j_per_k: Floats
    doomed: Bools
    powerless: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Party:
    """Loops that are alike in everything, as one case, and the number of its first class."""

    loops: list[int]
    case: Case
    own: Floats
    active: Floats
    asked_w: Floats
    first: int


@functools.cache
def limits_of() -> Limits:
    """The catalogue's."""
    value = catalogue().value
    law = machine()
    return Limits(law.limit_c, value("gpu.die_slowdown_c"), value("gpu.die_shutdown_c"), law.idle_w)


def world_of(
    fabric: Fabric,
    health: Health,
    activity: Floats | None,
    state: HeatState,
    whole: Thermal | None = None,
) -> World:
    """A cluster in a state, with what is latched taken out.

    `whole` is the steady state before that, where it is known.
    """
    assert fabric.spec is not None
    left = without_latched(fabric, health, state)
    law, value = machine(), catalogue().value
    drawn = draw(fabric, left, activity)
    known = whole if left is health else None
    target = known or steady(fabric, left, activity)
    bare = drawn if left is health else draw(fabric, health, activity)
    starts, racks = loop_starts(fabric), fabric.count("rack")
    sizes = np.diff([*starts, racks])
    units = units_of(fabric, health)
    per_rack = value("cooling.rack_liquid_l") / 1000
    per_rack *= value("cooling.coolant_density_kg_per_m3")
    per_rack *= value("cooling.coolant_heat_capacity_j_per_kg_k")
    fixed = 1000 * law.liquid_share * law.fixed_kw
    return World(
        fabric,
        state,
        drawn,
        target,
        target.die_c - target.gpu_power_w / masses(law).across_w_per_k,
        starts,
        np.repeat(np.arange(len(starts)), sizes * fabric.spec.gpus_per_rack),
        fixed * np.add.reduceat(drawn.on.astype(np.float64), starts),
        1000 * fabric.spec.cooling.unit_kw * units.factor.sum(axis=1),
        per_rack * sizes,
        np.logical_or.reduceat(target.rack_down & drawn.on, starts),
        bare.limit.cap_w == 0,
    )


def thermal_of(
    fabric: Fabric, health: Health, activity: Floats | None, state: HeatState
) -> Thermal:
    """A state in the form of the steady one, for all that reads clocks and temperatures.

    Notes
    -----
    `rack_down` holds racks that heat shut down, and those without power now. `rack_cause` is the
    fault that would shut the rack down in the steady state, -1 where that has been repaired.
    `heat_kw` is what the loop takes up now, which may be more than it can give away.
    """
    whole = steady(fabric, health, activity)
    if state.absent:
        return whole
    return thermal_in(world_of(fabric, health, activity, state, whole), whole)


def thermal_in(world: World, settled: Thermal) -> Thermal:
    """`thermal_of` the state of a world, with what is settled once heat has shut nothing down."""
    law, state, drawn = machine(), world.state, world.drawn
    power = power_w(state, drawn)
    racks = len(drawn.on)
    loop = np.repeat(np.arange(len(world.starts)), np.diff([*world.starts, racks]))
    leaving = state.plate_c.reshape(racks, -1) - state.supply_c[loop, None]
    given = masses(law).out_w_per_k / 1000 * leaving.sum(axis=1) + law.fixed_kw * drawn.on
    down = state.rack_off | world.powerless
    taken = np.add.reduceat(given, world.starts) * (world.capacity_w > 0)
    return Thermal(
        clock=_clocks(world, power),
        gpu_power_w=power,
        die_c=state.die_c,
        rack_power_kw=law.fixed_kw * drawn.on + power.reshape(racks, -1).sum(axis=1) / 1000,
        rack_down=down,
        rack_cause=np.where(down, settled.rack_cause, -1),
        heat_kw=law.liquid_share * taken,
        capacity_kw=world.capacity_w / 1000,
        supply_c=state.supply_c,
    )


def clocks_in(world: World) -> Floats:
    """(G,) clocks of the state of a world."""
    return _clocks(world, power_w(world.state, world.drawn))


def _clocks(world: World, power_w: Floats) -> Floats:
    """`clocks_in` of GPUs that draw so much."""
    drawn = world.drawn
    own, active, asked = (a.reshape(-1) for a in (drawn.own, drawn.active, drawn.asked_w))
    return clocks(world.state.mode, own, active, asked, power_w)


def at_rest(world: World) -> Bools:
    """(O,) True for loops in which nothing moves and nothing is about to."""
    state, target = world.state, world.target
    power = power_w(state, world.drawn)
    flows = world.capacity_w > 0
    gpus = (np.abs(state.die_c - target.die_c) <= SAME_K) & (
        np.abs(state.plate_c - world.plate_c) <= SAME_K
    )
    gpus &= np.abs(power - target.gpu_power_w) <= _SAME_W
    if not flows.all():
        still = (np.abs(state.die_c - state.plate_c) <= SAME_K) & (power == 0)
        gpus = np.where(flows[world.loop_of], gpus, still)
    first_gpu = world.starts * (len(gpus) // len(world.drawn.on))
    loops = np.logical_and.reduceat(gpus, first_gpu)
    loops &= ~flows | (np.abs(state.supply_c - target.supply_c) <= SAME_K)
    rest: Bools = loops & ~world.doomed
    return rest


def parties_of(world: World, moving: Bools) -> tuple[list[Party], Ints]:
    """Some loops (O,), alike ones together; and (G,) classes, -1 for GPUs of the others."""
    class_of = np.full(len(world.loop_of), -1, dtype=np.int64)
    state, drawn = world.state, world.drawn
    gpus = np.flatnonzero(moving[world.loop_of])
    most, own, active, asked = (
        a.reshape(-1) for a in (drawn.drawn_w, drawn.own, drawn.active, drawn.asked_w)
    )
    parties: list[Party] = []
    classes = 0
    if len(gpus):
        columns = (world.loop_of, most, own, active, asked, state.die_c, state.plate_c, state.mode)
        rows, inverse, counts = _alike(np.stack([column[gpus] for column in columns], axis=1))
        seen: dict[tuple[object, ...], Party] = {}
        number = np.empty(len(rows), dtype=np.int64)
        for loop in np.flatnonzero(moving).tolist():
            own_rows = np.flatnonzero(rows[:, 0] == loop)
            table, count = rows[own_rows], counts[own_rows].astype(np.float64)
            case = _case(world, loop, table, count)
            key = (
                table[:, 1:].tobytes(),
                count.tobytes(),
                case.loop.supply_c,
                case.capacity_w,
                case.fixed_w,
                case.loop.liquid_j_per_k,
                case.doomed,
            )
            if key in seen:
                seen[key].loops.append(loop)
            else:
                seen[key] = Party([loop], case, table[:, 2], table[:, 3], table[:, 4], classes)
                parties.append(seen[key])
                classes += len(own_rows)
            number[own_rows] = seen[key].first + np.arange(len(own_rows))
        class_of[gpus] = number[inverse]
    return parties, class_of


def _alike(table: Floats) -> tuple[Floats, Ints, Ints]:
    """The different rows of a table in order, (n,) which of them each row is, and how many are.

    What `numpy.unique` finds along an axis in several times as long: here bytes come first.
    """
    table = np.ascontiguousarray(table)
    packed = table.view(f"V{table.itemsize * table.shape[1]}").reshape(-1)
    _, first, of, times = np.unique(
        packed, return_index=True, return_inverse=True, return_counts=True
    )
    rows, place = np.unique(table[first], axis=0, return_inverse=True)
    place = place.reshape(-1)
    counts = np.bincount(place, times).astype(np.int64)
    return rows, place[of.reshape(-1)], counts


def _case(world: World, loop: int, table: Floats, count: Floats) -> Case:
    flows = bool(world.capacity_w[loop] > 0)
    assert world.fabric.spec is not None
    mode = table[:, 7].astype(np.int8)
    return Case(
        Loop(
            count,
            table[:, 1],
            np.zeros(len(table), dtype=bool),
            table[:, 5],
            table[:, 6],
            float(world.state.supply_c[loop]),
            flows,
            None,
            float(world.liquid_j_per_k[loop]),
            machine().liquid_share,
            masses(machine()),
        ),
        mode,
        table[:, 1],
        float(world.fixed_w[loop]),
        float(world.capacity_w[loop]),
        world.fabric.spec.cooling.set_point_c,
        bool(world.doomed[loop]),
    )
