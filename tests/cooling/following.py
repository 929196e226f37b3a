"""Following heat to its end, and a plain integrator to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import solve_ivp

from gbviz.cooling import Energy, Happening, HeatState, advance
from gbviz.faults import Action, apply, resolve
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from gbviz.topology import Fabric, Health
    from gbviz.topology.fabric import Floats

FACT = catalogue().value
R_DIE = FACT("cooling.r_die_plate_k_per_w")
R_OUT = FACT("gpu.r_eff_k_per_w") - R_DIE
C_DIE, C_PLATE = FACT("cooling.c_die_j_per_k"), FACT("cooling.c_plate_j_per_k")
LITRES = FACT("cooling.rack_liquid_l")
PER_RACK = LITRES / 1000 * FACT("cooling.coolant_density_kg_per_m3")
PER_RACK *= FACT("cooling.coolant_heat_capacity_j_per_kg_k")


@dataclass(frozen=True)
class Followed:
    state: HeatState
    happenings: list[Happening]
    energy: Energy
    settled: bool
    advances: int


def broken(fabric: Fabric, *actions: str | tuple[str, float]) -> Health:
    """The health after some fail, and others are degraded to a factor."""
    stated = [
        Action("fail", each) if isinstance(each, str) else Action("degrade", *each)
        for each in actions
    ]
    return apply(fabric, resolve(fabric, stated))


def follow(
    fabric: Fabric,
    health: Health,
    activity: Floats | None,
    state: HeatState,
    until_s: float | None = None,
    step_s: float | None = None,
) -> Followed:
    """Advance again and again until a time or until all has settled, in steps if so wished."""
    happenings: list[Happening] = []
    until_s = state.time_s + 1e9 if until_s is None else until_s
    energy, advances = Energy(), 0
    while True:
        end = until_s if step_s is None else min(until_s, state.time_s + step_s)
        found = advance(fabric, health, activity, state, end)
        assert found.state.time_s >= state.time_s
        assert (np.diff(found.times_s) > 0).all()
        assert found.clocks.shape == (len(found.times_s), found.class_of.max() + 1)
        assert ((found.clocks >= 0) & (found.clocks <= 1)).all()
        state, energy, advances = found.state, energy + found.energy, advances + 1
        happenings += found.happenings
        if found.settled or state.time_s >= until_s:
            return Followed(state, happenings, energy, found.settled, advances)
        assert advances < 3000


def integrate(
    most_w: Floats,
    racks: int,
    capacity_w: float,
    set_c: float,
    start: tuple[Floats, Floats, float],
    until_s: float,
) -> tuple[Floats, Floats, float]:
    """Dies, plates and supply of one loop by a general integrator, with soft edges.

    The throttle is a steep slope of 2e-3 K instead of a sliding mode, and the valve one of 1e-3 K,
    so that there is nothing to switch: good to a few mK.
    """
    n = len(most_w)
    floor = np.minimum(200.0, most_w)

    def slopes(_t: float, x: Floats) -> Floats:
        die, plate, supply = x[:n], x[n : 2 * n], x[-1]
        closed = np.clip((die - 87) / 2e-3, 0, 1)
        power = most_w - (most_w - floor) * closed
        across, out = (die - plate) / R_DIE, (plate - supply) / R_OUT
        if capacity_w == 0:
            out, change = np.zeros(n), 0.0
        else:
            heat = 0.9 * (out.sum() + 35_200 * racks)
            opened = float(np.clip((supply - set_c) / 1e-3, 0, 1))
            taken = heat * (1 - opened) + capacity_w * opened
            change = (heat - (capacity_w if heat > capacity_w else taken)) / (PER_RACK * racks)
        return np.concatenate([(power - across) / C_DIE, (across - out) / C_PLATE, [change]])

    begin = np.concatenate([start[0], start[1], [start[2]]])
    options: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9, "method": "LSODA", "max_step": 5.0}
    end = solve_ivp(slopes, (0, until_s), begin, **options).y[:, -1]
    return end[:n], end[n : 2 * n], float(end[-1])
