"""What the colours of a map mean, drawn in its upper right corner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbviz.display import theme as hues
from gbviz.display.draw import Image, Lines, Marks, Rects, Text, boxes, text_width
from gbviz.display.names import short_names
from gbviz.display.shades import COOL_C, FULL_DELTA, heat_colours, hottest_c
from gbviz.display.theme import packed

if TYPE_CHECKING:
    from gbviz.display.draw import Item, MarkKind
    from gbviz.display.grid import View
    from gbviz.display.shades import Look
    from gbviz.engine import Snapshot

HEIGHT = 20.0
_SIZE = 10.0
_BAR = 110.0
# Room for the name of a job.
_NAME = 120.0
# Left of this part of the width stands the title of what is above the pods.
_TITLE_PART = 0.32


def legend(look: Look, view: View, snapshot: Snapshot) -> list[Item]:
    """The scale or the hues in force, and the sign of what has failed, from right to left."""
    shape, theme = snapshot.fabric.shape, look.theme
    build = _Builder(look, view, shape.tiers if shape is not None else 2)
    build.sign("failed", "cross", theme.failed)
    build.sign("slow or partly dead", "slash", theme.warm)
    build.sign("held back", "triangle", theme.warm)
    if look.colour_by == "job":
        shown = [job.name for job in snapshot.scenario.jobs[: len(theme.jobs)]]
        for number, name in reversed(list(enumerate(short_names(shown, _SIZE, _NAME)))):
            build.swatch(name, hues.job_colour(theme, number))
    elif look.colour_by == "health":
        for text, colour in (("dead", theme.failed), ("slow", theme.warm), ("whole", theme.high)):
            build.swatch(text, colour)
    elif look.colour_by == "temperature":
        build.scale(f"{COOL_C:.0f}", f"{hottest_c():.0f} °C, dies", heat_colours(theme))
    elif look.colour_by == "delta":
        ends = f"-{100 * FULL_DELTA:.0f}", f"+{100 * FULL_DELTA:.0f} % of capacity"
        build.scale(ends[0], ends[1], hues.change_table(theme))
    elif look.colour_by == "utilisation":
        build.scale("utilisation 0", "100 %", hues.table(theme, look.ramp))
    if shape is not None and look.colour_by != "job":
        rails = min(shape.rails, len(theme.rails))
        build.squares(
            f"rails 0 to {rails - 1}", [hues.rail_colour(theme, rail) for rail in range(rails)]
        )
    return build.items


class _Builder:
    """Puts pieces side by side, from the right edge."""

    def __init__(self, look: Look, view: View, tiers: int) -> None:
        # A ground of its own: zoomed in, the map lies below it.
        strip = boxes((0.0, 0.0, float(view.width), HEIGHT * view.type))
        ground = np.array([packed(look.theme.ground)], dtype=np.uint32)
        self.items: list[Item] = [Rects(strip, ground)]
        self._theme, self._scale = look.theme, view.type
        self._x = view.width - 10 * view.scale
        self._y = HEIGHT / 2 * view.type
        self._size = _SIZE * view.type
        self._least = (_TITLE_PART if tiers > 2 else 0.0) * view.width

    def _room(self, width: float) -> bool:
        return self._x - width > self._least + 10 * self._scale

    def _text(self, text: str) -> None:
        at = self._x - text_width(text, self._size)
        self.items.append(Text(at, self._y, text, self._theme.dim, self._size))
        self._x = at - 5 * self._scale

    def swatch(self, text: str, colour: str) -> None:
        """A square of a hue and its meaning."""
        side = 9 * self._scale
        if not self._room(text_width(text, self._size) + 3 * side):
            return
        self._text(text)
        at = self._x - side
        fill = np.array([packed(colour)], dtype=np.uint32)
        self.items.append(Rects(boxes((at, self._y - side / 2, side, side)), fill))
        self._x = at - 10 * self._scale

    def squares(self, text: str, colours: list[str]) -> None:
        """Squares of several hues side by side, and what they are."""
        side = 9 * self._scale
        if not self._room(text_width(text, self._size) + (len(colours) + 2) * side):
            return
        self._text(text)
        at = self._x - side * len(colours)
        each = [(at + n * side, self._y - side / 2, 0.85 * side, side) for n in range(len(colours))]
        fill = np.array([packed(colour) for colour in colours], dtype=np.uint32)
        self.items.append(Rects(boxes(*each), fill))
        self._x = at - 10 * self._scale

    def sign(self, text: str, kind: str, colour: str) -> None:
        """A mark and its meaning."""
        side = 9 * self._scale
        if not self._room(text_width(text, self._size) + 3 * side):
            return
        self._text(text)
        x = self._x - side / 2
        if kind in ("cross", "triangle"):
            mark: MarkKind = "cross" if kind == "cross" else "triangle"
            self.items.append(Marks(np.array([[x, self._y]]), mark, side * 0.8, colour))
        else:
            half = side * 0.4
            ends = np.array([[x - half, self._y + half, x + half, self._y - half]])
            self.items.append(Lines(ends, colour, 2 * self._scale))
        self._x -= side + 12 * self._scale

    def scale(self, low: str, high: str, lut: hues.Colours) -> None:
        """A ramp between its two ends."""
        width, height = round(_BAR * self._scale), round(9 * self._scale)
        if not self._room(text_width(low + high, self._size) + width + 20 * self._scale):
            return
        self._text(high)
        step = np.linspace(0, hues.STEPS - 1, width).astype(np.int64)
        pixels = np.repeat(lut[step][None, :], height, axis=0)
        at = round(self._x - width)
        self.items.append(Image(at, round(self._y - height / 2), pixels))
        self._x = at - 5 * self._scale
        self._text(low)
        self._x -= 10 * self._scale
