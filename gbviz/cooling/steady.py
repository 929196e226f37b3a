"""The steady state of cooling and power: what every GPU draws, its clock, its temperature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling.limits import by_loop, draw, limit, units_of
from gbviz.cooling.machine import machine

if TYPE_CHECKING:
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health


@dataclass(frozen=True, slots=True, eq=False)
class Thermal:
    """Power, heat and clocks of a cluster: G GPUs, R racks and O loops.

    Of a fabric that has no loops all but `clock`, `rack_down` and `rack_cause` are empty: not
    known, rather than 0.

    Parameters
    ----------
    clock
        (G,) clock of each GPU as a share of the maximum, its own degradation included; 0 for one
        that has failed or has no power.
    gpu_power_w
        (G,) W; 0 for a GPU that has failed or has no power.
    die_c
        (G,) °C of the dies; that of the supply for a GPU that draws nothing.
    rack_power_kw
        (R,) kW, GPUs included; 0 for a rack that is off.
    rack_down
        (R,) True for a rack that cooling or power shut down; False for one that has failed itself.
    rack_cause
        (R,) number of the fault that shut the rack down: the first with which, after those before
        it, too little was left. -1 for none.
    heat_kw
        (O,) kW that the racks of a loop give to it.
    capacity_kw
        (O,) kW that its live units can take away.
    supply_c
        (O,) °C of the water to the racks; the set point where the racks are off.
    """

    clock: Floats
    gpu_power_w: Floats
    die_c: Floats
    rack_power_kw: Floats
    rack_down: Bools
    rack_cause: Ints
    heat_kw: Floats
    capacity_kw: Floats
    supply_c: Floats

    @property
    def absent(self) -> bool:
        """True where the fabric does not say how it is cooled and powered."""
        return len(self.heat_kw) == 0


@dataclass(frozen=True, slots=True)
class LoopState:
    """One loop of a `Thermal`, for tables and results; None where a value does not exist.

    Parameters
    ----------
    loop
        Its name.
    heat_kw, capacity_kw
        Heat that the loop takes up and heat that it could, kW.
    supply_c
        Water to the racks, °C; None without a live cooling unit.
    hottest_die_c, clock
        The hottest die and the slowest clock among its GPUs with power; None without any.
    reason
        Why a value is None; None where all exist.
    """

    loop: str
    heat_kw: float
    capacity_kw: float
    supply_c: float | None
    hottest_die_c: float | None
    clock: float | None
    reason: str | None = None


def steady(fabric: Fabric, health: Health, activity: Floats | None = None) -> Thermal:
    """Clocks, power and temperatures after everything has settled.

    Parameters
    ----------
    fabric, health
        Racks, loops, and what is left of their shelves, cooling units and GPUs.
    activity
        (G,) in [0, 1] of each GPU: 0 idle, 1 at full load. None = all at full load.

    Returns
    -------
    Thermal
        See there for a fabric without loops.

    Notes
    -----
    A GPU draws ``idle + (max - idle) activity clock^g``. A rack whose shelves give less than it
    asks for caps its GPUs at one power, and so do all racks of a loop whose units take less heat
    than they give: the water warms to ``87 °C - cap R_eff``, at which the capped dies sit at
    their limit. GPUs that draw less than the cap feel nothing. Racks shut down when even idle
    GPUs are too much. Both caps are upper bounds on the same powers, so solving racks first and
    loops on what is left is exact. Cost: a dozen passes over the GPUs; a sort for racks and loops
    that are short.

    Left out: the heat that goes into air, InfiniBand switches, and the time it takes to settle.

    Examples
    --------
    Two of four CDUs keep 2,736 kW from 32 racks: 95 kW each, 830.6 W for each GPU.

    >>> from gbviz.faults import Action, apply, resolve
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("gb300-cdu"))
    >>> health = apply(fabric, resolve(fabric, [Action("fail", "cdu-[0-1]")]))
    >>> thermal = steady(fabric, health)
    >>> float(thermal.gpu_power_w[0].round(1)), float(thermal.clock[0].round(3))
    (830.6, 0.725)
    """
    if not fabric.count("loop"):
        return _unknown(fabric, health)
    assert fabric.spec is not None
    law, cooling = machine(), fabric.spec.cooling
    at_set_point = law.cap_w(cooling.set_point_c)
    racks = draw(fabric, health, activity, at_set_point)
    drawn, on = racks.drawn_w, racks.on

    per_loop = min(cooling.racks_in_loop, len(on))
    loop = np.arange(len(on)) // per_loop
    starts = np.arange(0, len(on), per_loop)
    units = units_of(fabric, health)
    fixed_kw = np.add.reduceat(np.where(on, law.fixed_kw, 0.0), starts)
    water = limit(by_loop(drawn, per_loop), fixed_kw, units, at_set_point)
    hot = on & (water.cap_w == 0)[loop]
    drawn = np.minimum(drawn, water.cap_w[loop, None])
    on = on & ~hot

    warm = (water.cap_w > 0) & (water.cap_w < at_set_point)
    supply_c = np.where(warm, law.supply_c(water.cap_w), cooling.set_point_c)
    rack_power_kw = law.fixed_kw * on + drawn.sum(axis=1) / 1000
    return Thermal(
        clock=law.clock(racks.own, racks.active, racks.asked_w, drawn).reshape(-1),
        gpu_power_w=drawn.reshape(-1),
        die_c=(supply_c[loop, None] + law.r_eff_k_per_w * drawn).reshape(-1),
        rack_power_kw=rack_power_kw,
        rack_down=hot | (racks.limit.cap_w == 0),
        rack_cause=np.where(hot, water.cause[loop], racks.limit.cause),
        heat_kw=law.liquid_share * np.add.reduceat(rack_power_kw, starts),
        capacity_kw=cooling.unit_kw * units.factor.sum(axis=1),
        supply_c=supply_c,
    )


def loops(fabric: Fabric, thermal: Thermal) -> list[LoopState]:
    """List the loops of a steady state, in the order of their numbers.

    Examples
    --------
    >>> from gbviz.faults import Action, apply, resolve
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> health = apply(fabric, resolve(fabric, [Action("fail", "hxu-9")]))
    >>> state = loops(fabric, steady(fabric, health))[9]
    >>> state.heat_kw, state.capacity_kw, state.supply_c, state.clock, state.reason
    (0.0, 0.0, None, None, 'no cooling unit is live')
    """
    if thermal.absent:
        return []
    assert fabric.spec is not None
    each = fabric.spec.cooling.racks_in_loop * fabric.spec.gpus_per_rack
    starts = np.arange(0, len(thermal.clock), each)
    live = thermal.gpu_power_w > 0
    some = np.logical_or.reduceat(live, starts)
    hottest = np.maximum.reduceat(np.where(live, thermal.die_c, -np.inf), starts)
    slowest = np.minimum.reduceat(np.where(live, thermal.clock, np.inf), starts)
    states = []
    for number, has_gpu in enumerate(some.tolist()):
        cooled = bool(thermal.capacity_kw[number] > 0)
        off = "no GPU of its racks runs" if cooled else "no cooling unit is live"
        states.append(
            LoopState(
                loop=fabric.name(fabric.nodes("loop").start + number),
                heat_kw=float(thermal.heat_kw[number]),
                capacity_kw=float(thermal.capacity_kw[number]),
                supply_c=float(thermal.supply_c[number]) if cooled else None,
                hottest_die_c=float(hottest[number]) if has_gpu else None,
                clock=float(slowest[number]) if has_gpu else None,
                reason=None if has_gpu else off,
            )
        )
    return states


def _unknown(fabric: Fabric, health: Health) -> Thermal:
    none, racks = np.zeros(0), fabric.count("rack")
    return Thermal(
        clock=health.factor(fabric, "gpu").copy(),
        gpu_power_w=none,
        die_c=none,
        rack_power_kw=none,
        rack_down=np.zeros(racks, dtype=bool),
        rack_cause=np.full(racks, -1, dtype=np.int32),
        heat_kw=none,
        capacity_kw=none,
        supply_c=none,
    )
