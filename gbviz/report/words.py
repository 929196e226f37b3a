"""Numbers and lists as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

# Told with all other words, though layers below say it as well.
from gbviz.units import percent as percent
from gbviz.units import stated as stated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.topology.fabric import Fabric

# No model is so exact that decimals of more than this say anything.
_WHOLE = 1e5
_PLURALS = {"leaf": "leaves", "power shelf": "power shelves"}


def number(value: float) -> str:
    """A rate or a count: whole where it is, else with two decimals, or three figures if small.

    Examples
    --------
    >>> number(224000.0), number(91.164), number(0.00123456), number(2605685.77)
    ('224,000', '91.16', '0.00123', '2,605,686')
    """
    if value == round(value) or abs(value - round(value)) < 1e-9 < abs(value):
        return f"{value:,.0f}"
    if abs(value) >= _WHOLE:
        return f"{value:,.0f}"
    return f"{value:,.2f}" if abs(value) >= 0.01 else f"{value:.3g}"


def fine(value: float) -> str:
    """A figure to compare with another: four decimals where two would hide what differs.

    Examples
    --------
    >>> fine(0.6386), fine(7.2441), fine(1.0), fine(2605685.7)
    ('0.6386', '7.2441', '1', '2,605,686')
    """
    return f"{value:,.4f}" if 0.01 < abs(value) < 100 and value != round(value) else number(value)


def counted(count: int, word: str) -> str:
    """A count with its word, in the plural where it is not one.

    Examples
    --------
    >>> counted(1, "GPU"), counted(4608, "GPU"), counted(64, "leaf")
    ('1 GPU', '4,608 GPUs', '64 leaves')
    """
    return f"{count:,} {word if count == 1 else _PLURALS.get(word, f'{word}s')}"


def listed(words: Sequence[str]) -> str:
    """Words with commas and an "and" before the last.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def sized(fabric: Fabric) -> str:
    """What a cluster consists of: racks, GPUs and switches.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> sized(build(cluster_spec("azure-gb300")))
    '64 racks, 4,608 GPUs, 64 leaves, 36 spines'
    """
    kinds = (("rack", "rack"), ("gpu", "GPU"), ("leaf", "leaf"), ("spine", "spine"))
    parts = [(fabric.count(kind), word) for kind, word in (*kinds, ("core", "core"))]
    return ", ".join(counted(count, word) for count, word in parts if count)
