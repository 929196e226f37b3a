"""The heat of a cluster at one moment: temperatures, and what GPUs do about them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from gbviz.cooling.limits import Draw, draw
from gbviz.cooling.machine import machine
from gbviz.cooling.motion import masses
from gbviz.cooling.steady import steady
from gbviz.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health

    Modes = NDArray[np.int8]

# What a GPU does: draws what it asks for, holds its die at the limit, idles above it, is off.
ASKS: Final = 0
HOLDS: Final = 1
IDLES: Final = 2
OFF: Final = 3

# Temperatures that differ by less are the same, K.
SAME_K: Final = 1e-9
_COLDEST_C = -100.0


@dataclass(frozen=True, slots=True, eq=False)
class HeatState:
    """Temperatures of G GPUs and O loops, and who is shut down; nobody may change it.

    Of a fabric that has no loops the arrays are empty.

    Parameters
    ----------
    time_s
        When, seconds.
    die_c, plate_c
        (G,) °C.
    supply_c
        (O,) °C of the water to the racks.
    mode
        (G,) `ASKS`, `HOLDS`, `IDLES` or `OFF`. A GPU that heat shut down stays off until
        `switched_on`.
    rack_off
        (R,) True for racks that heat shut down, until `switched_on`.
    """

    time_s: float
    die_c: Floats
    plate_c: Floats
    supply_c: Floats
    mode: Modes
    rack_off: Bools

    def __post_init__(self) -> None:
        for array in (self.die_c, self.plate_c, self.supply_c, self.mode, self.rack_off):
            array.flags.writeable = False

    @property
    def off(self) -> tuple[bytes, bytes]:
        """Which racks and which GPUs heat has shut down, to tell whether others are."""
        return self.rack_off.tobytes(), (self.mode == OFF).tobytes()

    @property
    def absent(self) -> bool:
        """True where the fabric does not say how it is cooled."""
        return len(self.supply_c) == 0


def start(
    fabric: Fabric, health: Health, activity: Floats | None = None, time_s: float = 0.0
) -> HeatState:
    """The state in which everything has settled.

    Parameters
    ----------
    fabric, health, activity
        As for `steady`.
    time_s
        The time that it gets.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> from gbviz.topology.health import healthy
    >>> fabric = build(cluster_spec("gb300-cdu"))
    >>> state = start(fabric, healthy(fabric))
    >>> float(state.die_c[0].round(2)), float(state.plate_c[0].round(2)), state.supply_c.tolist()
    (77.38, 66.18, [40.0, 40.0])
    """
    check_activity(fabric, activity)
    thermal = steady(fabric, health, activity)
    racks = fabric.count("rack")
    if thermal.absent:
        none = np.zeros(0)
        return HeatState(
            time_s, none, none, none, np.zeros(0, dtype=np.int8), np.zeros(racks, dtype=bool)
        )
    law = machine()
    drawn = draw(fabric, health, activity)
    rack_off = thermal.rack_down & drawn.on
    mode = np.zeros(len(thermal.die_c), dtype=np.int8)
    held = (thermal.die_c >= law.limit_c - SAME_K) & (
        thermal.gpu_power_w < drawn.drawn_w.reshape(-1)
    )
    mode[held] = HOLDS
    mode[np.repeat(rack_off, len(mode) // racks)] = OFF
    die = np.where(held, law.limit_c, thermal.die_c)
    plate = die - thermal.gpu_power_w / masses(law).across_w_per_k
    return HeatState(time_s, die, plate, thermal.supply_c.copy(), mode, rack_off)


def switched_on(state: HeatState, racks: Ints | None = None) -> HeatState:
    """The state with what heat shut down switched on again: of some racks, or of all.

    A GPU that is still too hot idles until it is not.
    """
    chosen = np.zeros(len(state.rack_off), dtype=bool)
    chosen[slice(None) if racks is None else racks] = True
    mode = state.mode.copy()
    if len(mode):
        on = np.repeat(chosen, len(mode) // len(chosen)) & (mode == OFF)
        hot = state.die_c > machine().limit_c + SAME_K
        mode[on] = np.where(hot[on], IDLES, ASKS)
    return replace(state, mode=mode, rack_off=state.rack_off & ~chosen)


def without_latched(fabric: Fabric, health: Health, state: HeatState) -> Health:
    """The health in which what heat shut down has failed."""
    if not (state.rack_off.any() or (state.mode == OFF).any()):
        return health
    factor = health.node_factor.copy()
    factor[fabric.nodes("rack")][state.rack_off] = 0
    gpus = factor[fabric.nodes("gpu")]
    gpus[state.mode == OFF] = 0
    gpus[np.repeat(state.rack_off, len(gpus) // len(state.rack_off))] = 0
    return replace(health, node_factor=factor)


def power_w(state: HeatState, drawn: Draw) -> Floats:
    """(G,) W that each GPU draws now."""
    law, most = machine(), drawn.drawn_w.reshape(-1)
    return drawn_power(state.mode, most, state.plate_c, masses(law).across_w_per_k)


def drawn_power(mode: Modes, most_w: Floats, plate_c: Floats, across_w_per_k: float) -> Floats:
    """W of GPUs of each mode that may draw so much at most."""
    if not np.count_nonzero(mode):
        return most_w.copy()  # All ask, as they nearly always do.
    found = np.where(mode == ASKS, most_w, np.minimum(machine().idle_w, most_w))
    found[mode == OFF] = 0.0
    held = mode == HOLDS
    if held.any():
        found[held] = holding_power(most_w[held], plate_c[held], across_w_per_k)
    return found


def holding_power(most_w: Floats, plate_c: Floats, across_w_per_k: float) -> Floats:
    """W of GPUs that hold their die at the limit."""
    law = machine()
    power: Floats = (law.limit_c - plate_c) * across_w_per_k
    return np.minimum(np.maximum(power, np.minimum(law.idle_w, most_w)), most_w)


def clocks(mode: Modes, own: Floats, active: Floats, asked_w: Floats, drawn_w: Floats) -> Floats:
    """Clocks of GPUs of each mode; 0 for one that idles because it is too hot."""
    clock = machine().clock(own, active, asked_w, drawn_w)
    if np.count_nonzero(mode):
        clock[mode == IDLES] = 0
    return clock


def loop_starts(fabric: Fabric) -> Ints:
    """(O,) the first rack of each loop."""
    assert fabric.spec is not None
    racks = fabric.count("rack")
    return np.arange(0, racks, min(fabric.spec.cooling.racks_in_loop, racks))


def check_activity(fabric: Fabric, activity: Floats | None) -> None:
    """Refuse activities that are not one number in [0, 1] for each GPU."""
    if activity is None:
        return
    if activity.shape != (fabric.count("gpu"),):
        raise InputError(f"must be one for each GPU (got {activity.shape})", where="activity")
    if not bool(((activity >= 0) & (activity <= 1)).all()):
        raise InputError("must be in 0 to 1 for every GPU", where="activity")


def check_state(fabric: Fabric, state: HeatState) -> None:
    """Refuse a state that is not of this fabric, or that no cluster can be in."""
    if not math.isfinite(state.time_s):
        raise InputError(f"must be finite (got {state.time_s})", where="time_s")
    loops = fabric.count("loop")
    gpus = fabric.count("gpu") if loops else 0
    wanted = {"die_c": gpus, "plate_c": gpus, "supply_c": loops, "mode": gpus}
    for name, count in wanted.items():
        array = getattr(state, name)
        if array.shape != (count,):
            raise InputError(f"must hold {count:,} numbers (got {array.shape})", where=name)
        if name != "mode" and not bool((np.isfinite(array) & (array >= _COLDEST_C)).all()):
            raise InputError(f"must be finite and at least {_COLDEST_C:g} °C", where=name)
    if state.rack_off.shape != (fabric.count("rack"),):
        raise InputError("must hold one for each rack", where="rack_off")
    if not bool(np.isin(state.mode, (ASKS, HOLDS, IDLES, OFF)).all()):
        raise InputError("must be 0 to 3", where="mode")
    held = state.die_c[state.mode == HOLDS]
    if not bool((np.abs(held - machine().limit_c) <= SAME_K).all()):
        raise InputError("must be at the limit where the GPU holds it", where="die_c")
