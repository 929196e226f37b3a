"""The routing modes and what each means."""

from __future__ import annotations

from typing import Literal

from gbviz.errors import InputError, did_you_mean

Mode = Literal["adaptive", "spray", "ecmp", "static"]

MODES: dict[Mode, str] = {
    "adaptive": "over all live shortest paths, in proportion to what each can carry",
    "spray": "evenly over the live next-hop cables that still lead there, whatever their capacity",
    "ecmp": "each flow on one live path, chosen by a seeded hash of its two ends",
    "static": "D-mod-k: each destination port has its own uplink among the live ones",
}


def mode_named(name: str) -> Mode:
    """A routing mode by name.

    Raises
    ------
    InputError
        There is no such mode; the nearest is suggested.

    Examples
    --------
    >>> mode_named("adaptive")
    'adaptive'
    """
    if name not in MODES:
        raise InputError(
            f"there is no routing mode {name!r}", where="routing", hint=did_you_mean(name, MODES)
        )
    return name
