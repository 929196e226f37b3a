"""A bank of coolant distribution units: what supply they keep, and how far their valves open."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.cooling.heat import checked

if TYPE_CHECKING:
    from collections.abc import Callable

_COLDEST_C = -273.15


@dataclass(frozen=True, slots=True)
class CduBank:
    """Live units that share the flow and the heat of one loop alike.

    Parameters
    ----------
    units
        Live ones, at least 1.
    ua_w_per_k
        Conductance of the heat exchanger of each.
    primary_kg_per_s
        Facility water through each with its valve wide open.
    secondary_cap_kg_per_s
        The most coolant that one can pump.
    secondary_kg_per_s
        Coolant that the whole loop wants.
    primary_j_per_kg_k, secondary_j_per_kg_k
        Heat capacities of facility water and coolant.
    """

    units: int
    ua_w_per_k: float
    primary_kg_per_s: float
    secondary_cap_kg_per_s: float
    secondary_kg_per_s: float
    primary_j_per_kg_k: float
    secondary_j_per_kg_k: float

    def __post_init__(self) -> None:
        checked("units", self.units, least=1)
        for name in self.__slots__[1:]:
            checked(name, getattr(self, name), above=True)


@dataclass(frozen=True, slots=True)
class BankState:
    """What a bank does with its heat.

    Parameters
    ----------
    effectiveness
        Of each heat exchanger with its valve wide open, in (0, 1).
    supply_c, return_c
        Coolant to the racks and back from them, °C.
    supply_open_c
        The supply that wide open valves would give, °C: below the set point there is room left.
    flow_fraction
        Coolant flow over what the loop wants, in (0, 1].
    valve
        Share of the facility water that holds the set point; 1 where not even all of it does.
    """

    effectiveness: float
    supply_c: float
    return_c: float
    supply_open_c: float
    flow_fraction: float
    valve: float


def effectiveness(ua_w_per_k: float, hot_w_per_k: float, cold_w_per_k: float) -> float:
    """Share of the greatest possible heat that a counterflow heat exchanger moves.

    Parameters
    ----------
    ua_w_per_k
        Its conductance.
    hot_w_per_k, cold_w_per_k
        What the two flows carry for each kelvin.

    References
    ----------
    Kays and London, Compact Heat Exchangers, effectiveness-NTU method, counterflow.

    Examples
    --------
    Equal flows: NTU / (1 + NTU).

    >>> effectiveness(300.0, 100.0, 100.0)
    0.75
    """
    checked("ua_w_per_k", ua_w_per_k)
    less, more = sorted(
        (checked("hot_w_per_k", hot_w_per_k, above=True),
         checked("cold_w_per_k", cold_w_per_k, above=True))
    )  # fmt: skip
    ntu, unlike = ua_w_per_k / less, 1 - less / more
    if unlike * ntu < 1e-12:
        return ntu / (1 + ntu)
    moved = -math.expm1(-ntu * unlike)
    return moved / (moved + unlike * math.exp(-ntu * unlike))


def settle(bank: CduBank, heat_w: float, facility_c: float, set_point_c: float) -> BankState:
    """The steady state of a bank under so much heat.

    Parameters
    ----------
    bank
        Its live units.
    heat_w
        Heat that the racks give to the loop, W.
    facility_c
        Facility water to the units, °C.
    set_point_c
        Supply that the valves hold, °C, for as long as they are not wide open.

    Notes
    -----
    In steady state heat is given, so the coolant's rise follows from its flow, and the supply
    from ``Q = n e C_min (return - facility)``. The valve is found by bisection: more facility
    water never means a warmer supply.

    Examples
    --------
    2 MW on three units of 200 kW/K: a quarter of the facility water holds 40 °C.

    >>> bank = CduBank(3, 200e3, 40, 25, 60, 4180, 3930)
    >>> state = settle(bank, 2e6, 32, 40)
    >>> state.supply_c, round(state.supply_open_c, 1), round(state.valve, 2), state.flow_fraction
    (40, 33.6, 0.26, 1.0)
    """
    checked("heat_w", heat_w)
    checked("facility_c", facility_c, least=_COLDEST_C)
    checked("set_point_c", set_point_c, least=_COLDEST_C)
    flow = min(bank.secondary_kg_per_s, bank.units * bank.secondary_cap_kg_per_s)
    rise = heat_w / (flow * bank.secondary_j_per_kg_k)
    wide = bank.primary_kg_per_s * bank.primary_j_per_kg_k
    each = flow / bank.units * bank.secondary_j_per_kg_k

    def supply_c(valve: float) -> float:
        """Supply with the valves so far open."""
        cold = wide * valve
        moved = bank.units * effectiveness(bank.ua_w_per_k, each, cold) * min(each, cold)
        return facility_c + heat_w / moved - rise

    opened = supply_c(1.0)
    supply, valve = opened, 1.0
    if opened <= set_point_c:
        supply, valve = set_point_c, _valve(supply_c, set_point_c)
    return BankState(
        effectiveness(bank.ua_w_per_k, each, wide),
        supply,
        supply + rise,
        opened,
        flow / bank.secondary_kg_per_s,
        valve,
    )


def _valve(supply_c: Callable[[float], float], set_point_c: float) -> float:
    """The smallest opening that holds the set point; bisection to the last bit."""
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high) or middle < 1e-12:
            return high
        low, high = (low, middle) if supply_c(middle) <= set_point_c else (middle, high)
