"""Heat balances and temperatures at rest, in closed form."""

from __future__ import annotations

import math

from gbviz.errors import InputError
from gbviz.topology.catalogue import catalogue


def checked(name: str, value: float, *, least: float = 0.0, above: bool = False) -> float:
    """The value, if it is a finite number of at least (or above) a least one.

    Raises
    ------
    InputError
        It is not.

    Examples
    --------
    >>> checked("power_w", 1400)
    1400.0
    """
    if not math.isfinite(value) or value < least or (above and value == least):
        bound = f"finite and {'more than' if above else 'at least'} {least:g}"
        raise InputError(f"must be {bound} (got {value:g})", where=name)
    return float(value)


def heat_flow_w_per_k(
    flow_l_per_min: float,
    *,
    density_kg_per_m3: float | None = None,
    heat_capacity_j_per_kg_k: float | None = None,
) -> float:
    """Heat that a flow of coolant carries for each kelvin of its rise, W/K.

    Parameters
    ----------
    flow_l_per_min
        At least 0.
    density_kg_per_m3, heat_capacity_j_per_kg_k
        Of the coolant; None = the catalogue's.

    Examples
    --------
    A litre a second of the catalogue's PG25: 1.015 kg/s x 3,930 J/(kg K).

    >>> round(heat_flow_w_per_k(60.0), 2)
    3988.95
    """
    flow = checked("flow_l_per_min", flow_l_per_min) / 60_000
    return flow * _volume_heat(density_kg_per_m3, heat_capacity_j_per_kg_k)


def rise_k(
    heat_w: float,
    flow_l_per_min: float,
    *,
    density_kg_per_m3: float | None = None,
    heat_capacity_j_per_kg_k: float | None = None,
) -> float:
    """How much warmer coolant leaves than it came, ``Q / (m cp)``, K.

    Raises
    ------
    InputError
        Heat below 0, no flow, or a number that is not finite.

    Examples
    --------
    A compute tray: 6.9 kW into 8 L/min.

    >>> round(rise_k(6900, 8), 2)
    12.97
    """
    checked("flow_l_per_min", flow_l_per_min, above=True)
    per_k = heat_flow_w_per_k(
        flow_l_per_min,
        density_kg_per_m3=density_kg_per_m3,
        heat_capacity_j_per_kg_k=heat_capacity_j_per_kg_k,
    )
    return checked("heat_w", heat_w) / per_k


def ramp_k_per_s(
    heat_w: float,
    volume_l: float,
    *,
    density_kg_per_m3: float | None = None,
    heat_capacity_j_per_kg_k: float | None = None,
) -> float:
    """How fast a loop warms that still flows but gives its heat to nothing, K/s.

    Examples
    --------
    128 kW in the 33.6 L of one rack.

    >>> round(ramp_k_per_s(128e3, 33.6), 3)
    0.955
    """
    volume = checked("volume_l", volume_l, above=True) / 1000
    per_k = volume * _volume_heat(density_kg_per_m3, heat_capacity_j_per_kg_k)
    return checked("heat_w", heat_w) / per_k


def r_eff_k_per_w(r_die_plate: float, r_plate_coolant: float, coolant_w_per_k: float) -> float:
    """Resistance from supply to die, K/W: of the two walls, and half the coolant's rise.

    Parameters
    ----------
    r_die_plate, r_plate_coolant
        K/W.
    coolant_w_per_k
        What the flow carries, `heat_flow_w_per_k`; inf leaves its rise out.

    Examples
    --------
    0.008 + 0.014 + 1 / (2 x 1.6 L/min of PG25).

    >>> round(r_eff_k_per_w(0.008, 0.014, heat_flow_w_per_k(1.6)), 4)
    0.0267
    """
    walls = checked("r_die_plate", r_die_plate) + checked("r_plate_coolant", r_plate_coolant)
    if coolant_w_per_k == math.inf:
        return walls
    return walls + 1 / (2 * checked("coolant_w_per_k", coolant_w_per_k, above=True))


def die_c(supply_c: float, power_w: float, r_eff: float) -> float:
    """Temperature at which a die settles, °C.

    Examples
    --------
    >>> round(die_c(40, 1400, 0.0267), 2)
    77.38
    """
    return _temperature("supply_c", supply_c) + checked("power_w", power_w) * r_eff


def throttle_onset_c(power_w: float, r_eff: float, limit_c: float | None = None) -> float:
    """The warmest supply at which a GPU of so much power need not throttle, °C.

    Examples
    --------
    >>> round(throttle_onset_c(1400, 0.0267), 2)
    49.62
    """
    return _limit(limit_c) - checked("power_w", power_w) * checked("r_eff", r_eff)


def cap_w(supply_c: float, r_eff: float, limit_c: float | None = None) -> float:
    """Power at which the die sits at the throttle limit, W; 0 where the supply is as warm.

    Examples
    --------
    >>> round(cap_w(60, 0.0267), 1)
    1011.2
    """
    room = _limit(limit_c) - _temperature("supply_c", supply_c)
    return max(0.0, room / checked("r_eff", r_eff, above=True))


def clock(power_w: float, full_w: float, static_w: float, exponent: float) -> float:
    """Clock of a GPU that may draw so much, as a share of that at full power.

    Parameters
    ----------
    power_w, full_w, static_w
        What it draws, what it draws at clock 1, and what it draws whatever the clock.
    exponent
        By which the rest of its power grows with the clock; 1 to 3.

    Returns
    -------
    float
        In [0, 1]; 0 at the static power and below.

    Examples
    --------
    ``((830.6 - 200) / 1200)^(1/2)``

    >>> round(clock(830.6, 1400, 200, 2.0), 3)
    0.725
    """
    span = checked("full_w", full_w, least=checked("static_w", static_w), above=True) - static_w
    share = (checked("power_w", power_w) - static_w) / span
    return float(min(1.0, max(0.0, share)) ** (1 / checked("exponent", exponent, above=True)))


def time_constant_s(capacity_j_per_k: float, r_k_per_w: float) -> float:
    """Seconds in which one mass comes within 1/e of its temperature at rest.

    Examples
    --------
    >>> round(time_constant_s(600, 0.0267), 2)
    16.02
    """
    return checked("capacity_j_per_k", capacity_j_per_k) * checked("r_k_per_w", r_k_per_w)


def _volume_heat(density: float | None, heat_capacity: float | None) -> float:
    """J/(m³ K)."""
    value = catalogue().value
    if density is None:
        density = value("cooling.coolant_density_kg_per_m3")
    if heat_capacity is None:
        heat_capacity = value("cooling.coolant_heat_capacity_j_per_kg_k")
    return checked("density_kg_per_m3", density, above=True) * checked(
        "heat_capacity_j_per_kg_k", heat_capacity, above=True
    )


def _limit(limit_c: float | None) -> float:
    if limit_c is None:
        return catalogue().value("gpu.die_throttle_c")
    return _temperature("limit_c", limit_c)


def _temperature(name: str, value: float) -> float:
    """Absolute zero is the only temperature that is surely wrong."""
    return checked(name, value, least=-273.15)
