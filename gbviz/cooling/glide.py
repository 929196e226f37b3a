"""Loops in which nothing can happen: all GPUs warm or cool at constant power, and alike.

That is nearly always so. Then every die and plate follows the same two rates, so that all of them
are found at once, without looking for what comes first.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling.machine import machine
from gbviz.cooling.motion import masses
from gbviz.cooling.state import ASKS, HOLDS, OFF, SAME_K

if TYPE_CHECKING:
    from gbviz.cooling.world import World
    from gbviz.topology.fabric import Bools, Floats


@dataclass(frozen=True, slots=True)
class _Pair:
    """Die and plate over a supply that stays: ``x' = -A x`` for their distance from the end.

    Parameters
    ----------
    die, plate, out
        1/s: die to plate, plate to die, plate to supply, each by the capacity of what it cools.
    slow, fast
        Rates of A.
    """

    die: float
    plate: float
    out: float
    slow: float
    fast: float

    def after(self, die: Floats, plate: Floats, time_s: float) -> tuple[Floats, Floats]:
        """Distances some time later."""
        slow, fast = math.exp(-self.slow * time_s), math.exp(-self.fast * time_s)
        apart = self.fast - self.slow
        keeps, mixes = (self.fast * slow - self.slow * fast) / apart, (slow - fast) / apart
        passing = die - plate
        return (
            keeps * die - mixes * (self.die * passing),
            keeps * plate - mixes * (self.out * plate - self.plate * passing),
        )

    def highest_plate(self, die: Floats, plate: Floats) -> Floats:
        """The greatest distance that each plate will have, now and at the end included."""
        rate = self.plate * (die - plate) - self.out * plate
        fast = (rate + self.slow * plate) / (self.slow - self.fast)
        slow = plate - fast
        # Between them it turns at most once, where its two parts change at opposite rates.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = -(fast * self.fast) / (slow * self.slow)
            turn = np.log(ratio) / (self.fast - self.slow)
            there = slow * np.exp(-self.slow * turn) + fast * np.exp(-self.fast * turn)
        turns = np.isfinite(there) & (ratio > 1)
        highest: Floats = np.maximum(np.maximum(plate, 0.0), np.where(turns, there, 0.0))
        return highest


@functools.cache
def _pair() -> _Pair:
    mass = masses(machine())
    die, plate = mass.across_w_per_k / mass.die, mass.across_w_per_k / mass.plate
    out = mass.out_w_per_k / mass.plate
    half = (die + plate + out) / 2
    fast = half + math.sqrt(half**2 - die * out)
    return _Pair(die, plate, out, die * out / fast, fast)


def glides(world: World) -> Bools:
    """(O,) True for loops of which it is certain that no GPU and no supply changes its course.

    Notes
    -----
    Sufficient, not necessary: the supply is at its set point, and the units can always take what
    the plates give, which is found from the sums of their temperatures; and no live GPU can come
    to its limit, as a die never gets further above its end than the hotter of die and plate is
    now. Without flow nothing may be live.
    """
    state, law = world.state, machine()
    live = world.drawn.drawn_w.reshape(-1) > 0
    die, plate = _ends(world)
    far_die, far_plate = state.die_c - die, state.plate_c - plate
    peak = die + np.maximum(np.maximum(far_die, far_plate), 0.0)
    calm = (state.mode == ASKS) & (peak < law.limit_c - SAME_K)
    calm |= (state.mode == OFF) | (~live & (state.mode != HOLDS))
    first = world.starts * (len(live) // len(world.drawn.on))
    highest = _pair().highest_plate(*(np.add.reduceat(far, first) for far in (far_die, far_plate)))
    drawn = np.add.reduceat(world.drawn.drawn_w.reshape(-1), first)
    most = world.fixed_w + law.liquid_share * (drawn + masses(law).out_w_per_k * highest)
    cool = (state.supply_c == _set_point_c(world)) & (most <= world.capacity_w)
    dry = (world.capacity_w == 0) & ~np.logical_or.reduceat(live, first)
    cool = np.where(world.capacity_w > 0, cool, dry)
    found: Bools = np.logical_and.reduceat(calm, first) & ~world.doomed & cool
    return found


def glide(world: World, loops: Bools, time_s: float) -> tuple[Floats, Floats]:
    """(G,) dies and plates some time later, in some loops (O,) that glide; others stay."""
    state, pair = world.state, _pair()
    if not loops.any():
        return state.die_c.copy(), state.plate_c.copy()
    die, plate = _ends(world)
    far = pair.after(state.die_c - die, state.plate_c - plate, time_s)
    die, plate = die + far[0], plate + far[1]
    if not loops.all():
        gpus = loops[world.loop_of]
        die, plate = np.where(gpus, die, state.die_c), np.where(gpus, plate, state.plate_c)
    dry = loops & (world.capacity_w == 0)
    if dry.any():
        # Die and plate share their heat, and none of it leaves.
        gpus = dry[world.loop_of]
        part = pair.plate / (pair.die + pair.plate)
        passing = state.die_c[gpus] - state.plate_c[gpus]
        even = state.plate_c[gpus] + part * passing
        left = passing * math.exp(-(pair.die + pair.plate) * time_s)
        die[gpus], plate[gpus] = even + (1 - part) * left, even - part * left
    return die, plate


def _ends(world: World) -> tuple[Floats, Floats]:
    """(G,) dies and plates in the end, with the supply at its set point."""
    law, power = machine(), world.drawn.drawn_w.reshape(-1)
    die = _set_point_c(world) + law.r_eff_k_per_w * power
    return die, die - power / masses(law).across_w_per_k


def _set_point_c(world: World) -> float:
    assert world.fabric.spec is not None
    return world.fabric.spec.cooling.set_point_c
