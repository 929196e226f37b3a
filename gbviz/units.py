"""Quantities as people write them: `30min`, `1GB`, `800Gb/s`, `40C`, or a plain number."""

from __future__ import annotations

import math
import re
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

_NUMBER = re.compile(r"\s*([+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z/]*)\s*")
_LONGEST = 40
_MINUTE_S = 60.0
# Seconds from here on are said whole.
_ROUND_S = 10.0
_TIMES = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
# What shares may be off by for the rounding of sums alone, and decimals of a per cent at most.
_NOISE, _MOST_DECIMALS = 1e-9, 6

DURATIONS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SIZES = {
    **{unit: 1000.0**power for power, unit in enumerate(("B", "kB", "MB", "GB", "TB", "PB"))},
    **{unit: 1024.0**power for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB"), start=1)},
}
# GB/s in one direction; a lower-case b is a bit.
RATES = {"MB/s": 1e-3, "GB/s": 1.0, "TB/s": 1e3, "Gb/s": 1 / 8, "Tb/s": 1e3 / 8}
TEMPERATURES = {"C": 1.0}
POWERS = {"W": 1e-3, "kW": 1.0, "MW": 1e3}


def quantity(value: object, units: dict[str, float], base: str) -> float:
    """A number with or without a unit, in the base unit.

    Parameters
    ----------
    value
        A number in the base unit, or text: a number and one of the units.
    units
        Unit to its size in base units.
    base
        The base unit's name, for messages.

    Raises
    ------
    ValueError
        Neither, or not finite: the message lists the units.

    Examples
    --------
    >>> quantity("30min", DURATIONS, "s"), quantity("800Gb/s", RATES, "GB/s")
    (1800.0, 100.0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"must be a number of {base}, or a number with one of: {_listed(units)}")
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value) if len(value) <= _LONGEST else None
        if match is None or (match[2] and match[2] not in units):
            raise ValueError(f"must be a number with one of: {_listed(units)} (got {value[:40]!r})")
        number = float(match[1]) * (units[match[2]] if match[2] else 1.0)
    else:
        number = float(value) if abs(value) < 1e300 else math.inf
    if not math.isfinite(number):
        raise ValueError("must be finite")
    return number + 0.0  # minus zero is zero


def lasting(seconds: float) -> str:
    """A duration in two units at most; days are the longest, as in scenario files.

    Examples
    --------
    >>> lasting(0.25), lasting(30.06), lasting(600.0), lasting(5415.0), lasting(86400.0)
    ('0.25 s', '30 s', '10 min', '1 h 30 min', '1 d')
    >>> lasting(300 * 365 * 86400.0)
    '109,500 d'
    """
    if round(seconds) < _MINUTE_S:
        return f"{seconds:.0f} s" if seconds >= _ROUND_S else f"{seconds:.2g} s"
    whole = round(seconds)
    place = next(place for place, (size, _) in enumerate(_TIMES) if whole >= size)
    parts = []
    for size, unit in _TIMES[place : place + 2]:
        count, whole = divmod(whole, size)
        parts += [f"{count:,} {unit}"] if count else []
    return " ".join(parts)


def percent(part: float, decimals: int = 2) -> str:
    """A share of 1 in per cent, never rounded to 0 or 100 where it is neither.

    Parameters
    ----------
    part
        The share; within 1e-9 of 0 or 1 it is none or all, as sums are no more exact.
    decimals
        As many at most, unless it takes more to tell it from 0 and 100.

    Examples
    --------
    >>> percent(1.0), percent(0.75), percent(0.97222), percent(0.0), percent(0.97222, 1)
    ('100 %', '75 %', '97.22 %', '0 %', '97.2 %')
    >>> percent(0.99999), percent(0.999999), percent(1 - 2e-9), percent(1e-6), percent(2e-9)
    ('99.999 %', '99.9999 %', 'just under 100 %', '0.0001 %', 'just over 0 %')
    """
    for whole in (0, 1):
        if abs(part - whole) <= _NOISE:
            return f"{100 * whole} %"
    for digits in range(decimals, _MOST_DECIMALS + 1):
        text = f"{100 * part:,.{digits}f}"
        text = text.rstrip("0").rstrip(".") if digits else text
        if text not in ("0", "-0", "100"):
            return f"{text} %"
    whole = round(part)
    return f"just {'over' if part > whole else 'under'} {100 * whole} %"


def stated(factor: float) -> str:
    """What a fault leaves of a part, in per cent: less than all, however little is lost.

    Examples
    --------
    >>> stated(0.5), stated(0.999999), stated(1 - 1e-12), stated(1.0)
    ('50 %', '99.9999 %', 'just under 100 %', '100 %')
    """
    text = percent(factor)
    return f"just under {text}" if text == "100 %" and factor < 1 else text


def _listed(units: dict[str, float]) -> str:
    return ", ".join(units)


def _of(units: dict[str, float], base: str) -> BeforeValidator:
    return BeforeValidator(lambda value: quantity(value, units, base))


Seconds: TypeAlias = Annotated[float, _of(DURATIONS, "s")]
Bytes: TypeAlias = Annotated[float, _of(SIZES, "B")]
GBps: TypeAlias = Annotated[float, _of(RATES, "GB/s")]
Celsius: TypeAlias = Annotated[float, _of(TEMPERATURES, "C")]
Kilowatts: TypeAlias = Annotated[float, _of(POWERS, "kW")]
