"""Names where there is little room: cut in the middle, and still told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.display.draw import text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

_CUT = "…"
# Fewer letters than these name nothing.
_LEAST = 3


def shortened(text: str, size: float, room: float) -> str:
    """A text that fits, its middle left out if need be; "" where not even three letters fit.

    Names that belong together begin alike: both ends stay.

    Parameters
    ----------
    text
        Any line.
    size, room
        Of the font, and the width that there is, in the same unit.

    Examples
    --------
    >>> shortened("llama", 10.0, 100.0), shortened("llama-70b-run-2024-a", 10.0, 70.0)
    ('llama', 'llama…24-a')
    """
    if text_width(text, size) <= room:
        return text
    for left in range(len(text) - 1, _LEAST - 1, -1):
        end = left // 2
        found = f"{text[: left - end]}{_CUT}{text[len(text) - end :]}"
        if text_width(found, size) <= room:
            return found
    return ""


def short_names(names: Sequence[str], size: float, room: float) -> list[str]:
    """Each of some names so that it fits; those that would be alike then have a number behind.

    Parameters
    ----------
    names
        Different ones.
    size, room
        Of the font, and the width for each, the number left aside, in the same unit.

    Returns
    -------
    list of str
        As many, all different.

    Examples
    --------
    >>> short_names(["run-a-" + 20 * "x", "b", "run-a-" + 30 * "x"], 10.0, 70.0)
    ['run-a…xxxx', 'b', 'run-a…xxxx (2)']
    """
    # A name that is short keeps it, whatever others are cut to.
    taken = {name for name in names if text_width(name, size) <= room}
    found = []
    for name in names:
        said = name
        if name not in taken:
            short = said = shortened(name, size, room)
            number = 1
            while said in taken:
                number += 1
                said = f"{short} ({number})"
            taken.add(said)
        found.append(said)
    return found
