"""Durations as people say them."""

from __future__ import annotations

_MINUTE_S = 60.0
# Seconds from here on are said whole.
_ROUND_S = 10.0
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


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
    place = next(place for place, (size, _) in enumerate(_UNITS) if whole >= size)
    parts = []
    for size, unit in _UNITS[place : place + 2]:
        count, whole = divmod(whole, size)
        parts += [f"{count:,} {unit}"] if count else []
    return " ".join(parts)
