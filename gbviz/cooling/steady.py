"""The steady state of cooling and power: what every GPU draws, its clock, its temperature."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health

# Demand above supply by less than this share is rounding, not a shortage.
_ROUNDING = 1e-9


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
    machine, cooling = _machine(), fabric.spec.cooling
    racks = fabric.count("rack")
    own = health.factor(fabric, "gpu").reshape(racks, -1)
    active = np.broadcast_to(
        np.float64(1.0) if activity is None else activity.reshape(own.shape), own.shape
    )
    asked = machine.power_w(own, active)
    at_set_point = machine.cap_w(cooling.set_point_c)

    on = health.up(fabric, "rack")
    shelves = _parts(fabric, health, "shelf", racks, machine.shelf_kw)
    drawn = np.minimum(asked, at_set_point)
    power = _limit(drawn, np.where(on, machine.fixed_kw, 0.0), shelves)
    drawn = np.minimum(drawn, power.cap_w[:, None])
    on = on & (power.cap_w > 0)

    per_loop = min(cooling.racks_in_loop, racks)
    loop = np.arange(racks) // per_loop
    starts = np.arange(0, racks, per_loop)
    unit_kw = cooling.unit_kw / machine.liquid_share
    units = _parts(fabric, health, cooling.kind, fabric.count("loop"), unit_kw)
    fixed_kw = np.add.reduceat(np.where(on, machine.fixed_kw, 0.0), starts)
    water = _limit(_by_loop(drawn, per_loop), fixed_kw, units, at_set_point)
    hot = on & (water.cap_w == 0)[loop]
    drawn = np.minimum(drawn, water.cap_w[loop, None])
    on = on & ~hot

    warm = (water.cap_w > 0) & (water.cap_w < at_set_point)
    supply_c = np.where(warm, machine.supply_c(water.cap_w), cooling.set_point_c)
    rack_power_kw = machine.fixed_kw * on + drawn.sum(axis=1) / 1000
    return Thermal(
        clock=machine.clock(own, active, asked, drawn).reshape(-1),
        gpu_power_w=drawn.reshape(-1),
        die_c=(supply_c[loop, None] + machine.r_eff_k_per_w * drawn).reshape(-1),
        rack_power_kw=rack_power_kw,
        rack_down=hot | (power.cap_w == 0),
        rack_cause=np.where(hot, water.cause[loop], power.cause),
        heat_kw=machine.liquid_share * np.add.reduceat(rack_power_kw, starts),
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
        reason = None if has_gpu else "no GPU has power" if cooled else "no cooling unit is live"
        states.append(
            LoopState(
                loop=fabric.name(fabric.nodes("loop").start + number),
                heat_kw=float(thermal.heat_kw[number]),
                capacity_kw=float(thermal.capacity_kw[number]),
                supply_c=float(thermal.supply_c[number]) if cooled else None,
                hottest_die_c=float(hottest[number]) if has_gpu else None,
                clock=float(slowest[number]) if has_gpu else None,
                reason=reason,
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


@dataclass(frozen=True, slots=True)
class _Machine:
    """The catalogue's figures of power and heat, and the laws they belong to."""

    idle_w: float
    span_w: float
    exponent: float
    limit_c: float
    r_eff_k_per_w: float
    fixed_kw: float
    shelf_kw: float
    liquid_share: float

    def power_w(self, clock: Floats, active: Floats) -> Floats:
        """W of GPUs at a clock; 0 at clock 0."""
        power: Floats = self.idle_w + self.span_w * active * clock**self.exponent
        return np.where(clock > 0, power, 0.0)

    def clock(self, own: Floats, active: Floats, asked_w: Floats, drawn_w: Floats) -> Floats:
        """Clocks of GPUs that draw less than they ask for; their own where they do not."""
        clock: Floats = own * (drawn_w > 0)
        capped = (drawn_w < asked_w) & (drawn_w > 0)
        share = (drawn_w[capped] - self.idle_w) / (self.span_w * active[capped])
        clock[capped] = np.minimum(own[capped], share ** (1 / self.exponent))
        return clock

    def cap_w(self, supply_c: float) -> float:
        """W at which a die sits at the throttle limit."""
        return (self.limit_c - supply_c) / self.r_eff_k_per_w

    def supply_c(self, cap_w: Floats) -> Floats:
        """Supply at which a die that draws so much sits at the throttle limit, °C."""
        return self.limit_c - cap_w * self.r_eff_k_per_w


@functools.cache
def _machine() -> _Machine:
    value = catalogue().value
    return _Machine(
        idle_w=value("gpu.power_idle_w"),
        span_w=value("gpu.power_max_w") - value("gpu.power_idle_w"),
        exponent=value("gpu.clock_power_exponent"),
        limit_c=value("gpu.die_throttle_c"),
        r_eff_k_per_w=value("gpu.r_eff_k_per_w"),
        fixed_kw=value("rack.power_without_gpus_kw"),
        shelf_kw=value("rack.shelf_kw"),
        liquid_share=value("cooling.liquid_share"),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """The U shelves or cooling units of each of n racks or loops: (n, U), and kW of a whole one."""

    factor: Floats
    cause: Ints
    unit_kw: float


def _parts(fabric: Fabric, health: Health, kind: str, owners: int, unit_kw: float) -> _Parts:
    nodes = fabric.nodes(kind)
    return _Parts(
        health.node_factor[nodes].reshape(owners, -1),
        health.node_cause[nodes].reshape(owners, -1),
        unit_kw,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Limit:
    """What n racks or loops allow: W for each of their GPUs, 0 to shut all down, and the cause."""

    cap_w: Floats
    cause: Ints


def _limit(drawn_w: Floats, fixed_kw: Floats, parts: _Parts, ceiling_w: float = np.inf) -> _Limit:
    """Limit GPUs (n, k) so that with the fixed power (n,) they fit what the parts give."""
    idle_w = _machine().idle_w
    available_kw = parts.unit_kw * parts.factor.sum(axis=1)
    asked_kw = fixed_kw + drawn_w.sum(axis=1) / 1000
    short = np.flatnonzero(asked_kw > available_kw * (1 + _ROUNDING))
    cap_w = np.full(len(fixed_kw), ceiling_w)
    cause = np.full(len(fixed_kw), -1, dtype=np.int32)
    if len(short):
        budget_w = 1000 * (available_kw[short] - fixed_kw[short])
        cap_w[short] = _water_level(drawn_w[short], budget_w)
        low = short[cap_w[short] <= idle_w]
        idle_kw = fixed_kw[low] + idle_w * np.count_nonzero(drawn_w[low], axis=1) / 1000
        cause[low] = _last_straw(parts.factor[low], parts.cause[low], idle_kw / parts.unit_kw)
    cap_w[cap_w <= idle_w] = 0
    return _Limit(cap_w, cause)


def _water_level(drawn_w: Floats, budget_w: Floats) -> Floats:
    """Cap of each row (n, k) that brings its sum down to the budget (n,).

    With the i lowest in full, the others share what is left; the first i at which that share is
    no more than the next one asks for is the answer. GPUs that draw 0 come first and cost nothing.
    """
    rows = np.sort(drawn_w, axis=1)
    lower = np.cumsum(rows, axis=1) - rows
    share = (budget_w[:, None] - lower) / np.arange(rows.shape[1], 0, -1)
    first = np.argmax(share <= rows, axis=1)
    level: Floats = share[np.arange(len(rows)), first]
    return level


def _last_straw(factor: Floats, cause: Ints, need: Floats) -> Ints:
    """Oldest fault (n,) that, with all before it, leaves no more than `need` parts.

    -1 where the parts would not do if whole.
    """
    order = np.argsort(cause, axis=1, kind="stable")
    lost = np.cumsum(np.take_along_axis(1 - factor, order, axis=1), axis=1)
    short = factor.shape[1] - lost <= need[:, None]
    first = np.argmax(short, axis=1)[:, None]
    number = np.take_along_axis(np.take_along_axis(cause, order, axis=1), first, axis=1)[:, 0]
    return np.where(short[:, -1] & (need < factor.shape[1]), number, -1)


def _by_loop(drawn_w: Floats, per_loop: int) -> Floats:
    """GPUs of racks (R, k) as GPUs of loops; a last loop that is smaller is filled with 0."""
    racks, gpus = drawn_w.shape
    missing = -racks % per_loop
    if missing:
        drawn_w = np.concatenate([drawn_w, np.zeros((missing, gpus))])
    return drawn_w.reshape(-1, per_loop * gpus)
