"""Draw lists: what is to be painted, in device pixels, without saying by whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from unicodedata import east_asian_width

import numpy as np

if TYPE_CHECKING:
    from gbviz.display.theme import Colours
    from gbviz.topology.fabric import Floats

Align = Literal["left", "centre", "right"]
MarkKind = Literal["cross", "triangle", "dot"]


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """Pixels (h, w) 0xffRRGGBB, one a device pixel, with their upper left corner at (x, y)."""

    x: int
    y: int
    pixels: Colours


@dataclass(frozen=True, slots=True, eq=False)
class Rects:
    """Rectangles (n, 4) x, y, width, height with one outline; `fill` (n,) packed, None for none."""

    boxes: Floats
    fill: Colours | None = None
    outline: str | None = None
    width: float = 1.0
    radius: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines (n, 4) x1, y1, x2, y2 of one pen."""

    ends: Floats
    colour: str
    width: float = 1.0
    dashed: bool = False
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Signs of one kind centred at (n, 2) points, `size` across."""

    at: Floats
    kind: MarkKind
    size: float
    colour: str


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text at the middle of its height; `chip` is a ground behind it, None for none."""

    x: float
    y: float
    text: str
    colour: str
    size: float
    align: Align = "left"
    bold: bool = False
    chip: str | None = None
    upright: bool = False


Item = Image | Rects | Lines | Marks | Text


@dataclass(frozen=True, slots=True, eq=False)
class DrawList:
    """Everything on a picture of width x height device pixels, from back to front."""

    width: int
    height: int
    ground: str | None
    items: tuple[Item, ...]


# Widths of letters in parts of the size of the font: enough to tell whether a label fits.
_WIDE, _NARROW = frozenset("mwM%"), frozenset("ijlI.,:;'|!()[]-·ft ")
# As wide as the font is high, when bold: these, and signs that Unicode calls wide.
_WIDEST, _FULL = frozenset("W@…"), ("W", "F")


def text_width(text: str, size: float) -> float:
    """About how wide a text is, in the units of its size.

    Examples
    --------
    >>> text_width("rack-12", 10.0) < text_width("rack-128", 10.0) < 60
    True
    """
    return size * sum(map(_part, text))


def _part(sign: str) -> float:
    if sign in _NARROW:
        return 0.4
    if sign in _WIDEST or east_asian_width(sign) in _FULL:
        return 1.1
    return 0.92 if sign in _WIDE else 0.64


def boxes(*each: tuple[float, float, float, float]) -> Floats:
    """Boxes x, y, width, height as the array that `Rects` takes."""
    return np.array(each, dtype=np.float64).reshape(-1, 4)
