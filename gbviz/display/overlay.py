"""What lies over the map and changes with the pointer: selection, hover, rubber band, cables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.display import theme as hues
from gbviz.display.draw import DrawList, Lines, Rects, Text, boxes, text_width
from gbviz.display.places import boxes_of
from gbviz.errors import InputError
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from gbviz.display.draw import Item
    from gbviz.display.grid import View
    from gbviz.display.layout import Layout
    from gbviz.display.map_labels import Picture
    from gbviz.display.theme import Theme
    from gbviz.topology.fabric import Floats

# More frames than this are a colour of their own; the rest are counted in the inspector.
_MOST_FRAMES = 300
_MOST_LINES = 50


@dataclass(frozen=True, slots=True)
class Pointed:
    """What people point at.

    `band` is a rubber band in device pixels (x0, y0, x1, y1); `note` a line of text beside the
    pointer at `at`, such as what a fault would cost.
    """

    selected: tuple[str, ...] = ()
    hover: str = ""
    band: tuple[float, float, float, float] | None = None
    note: str = ""
    at: tuple[float, float] = (0.0, 0.0)


def overlay(picture: Picture, pointed: Pointed) -> DrawList:
    """The layer over the map."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    items: list[Item] = []
    if len(pointed.selected) == 1:
        items += _nic_cables(layout, view, theme, pointed.selected[0])
    if picture.style != "matrix":
        items += _lines(picture, pointed)
    chosen = [boxes_of(layout, name, picture.style) for name in pointed.selected[:_MOST_FRAMES]]
    if chosen:
        items += frames(view, np.concatenate(chosen), theme, 2.0)
    if pointed.hover and pointed.hover not in pointed.selected:
        items += frames(view, boxes_of(layout, pointed.hover, picture.style), theme, 1.0)
    if pointed.band is not None:
        x0, y0, x1, y1 = pointed.band
        band = boxes((min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)))
        items.append(Rects(band, None, theme.accent, view.scale))
    if pointed.note:
        items += beside(view, theme, pointed.note, pointed.at)
    return DrawList(view.width, view.height, None, tuple(items))


def _lines(picture: Picture, pointed: Pointed) -> list[Item]:
    """The lines of selected and hovered pairs, where links are drawn as lines."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    ends = []
    for name in (*pointed.selected[-_MOST_LINES:], pointed.hover):
        if "leaf-" in name and "spine-" in name:
            both = boxes_of(layout, name, picture.style)
            if len(both) == 2:
                (x0, y0, w0, _), (x1, y1, w1, h1) = view.boxes(both).tolist()
                ends.append((x0 + w0 / 2, y0, x1 + w1 / 2, y1 + h1))
    if not ends:
        return []
    lines = np.array(ends)
    return [Lines(lines, theme.ground, 5 * view.scale), Lines(lines, theme.focus, 2 * view.scale)]


def frames(view: View, corners: Floats, theme: Theme, width: float) -> list[Item]:
    """Frames just outside of what they surround, light on dark and dark on light."""
    if not len(corners):
        return []
    pad = (width + 0.5) * view.scale
    found = view.boxes(corners) + np.array([-pad, -pad, 2 * pad, 2 * pad])
    halo = found + view.scale * np.array([-1.0, -1.0, 2.0, 2.0])
    return [
        Rects(halo, None, theme.ground, view.scale),
        Rects(found, None, theme.focus, width * view.scale),
    ]


def _nic_cables(layout: Layout, view: View, theme: Theme, name: str) -> list[Item]:
    """The NIC cables of the one rack or leaf that is selected, in the hues of their rails."""
    fabric, shape = layout.fabric, layout.shape
    try:
        part = select(fabric, name)[0]
    except InputError:
        return []
    tier = fabric.tiers[0]
    nic = tier.lower - fabric.nodes("nic").start
    leaf = tier.upper - fabric.nodes("leaf").start
    if part.kind == "leaf":
        own = tier.upper == part.nodes[0]
    elif part.kind in ("rack", "tray", "gpu", "nic"):
        each = fabric.count("nic") // fabric.count(part.kind)
        own = nic // each == part.nodes[0] - fabric.nodes(part.kind).start
    elif part.links and tier.first <= part.links[0] < tier.end:
        own = np.isin(np.arange(tier.n), (np.array(part.links) - tier.first) % tier.n)
    else:
        return []
    cells = view.boxes(layout.gpus.corners(nic[own]))
    tops = view.boxes(layout.leaves[leaf[own]])
    x1, y1 = cells[:, 0] + cells[:, 2] / 2, cells[:, 1] + cells[:, 3] / 2
    ends = np.stack([x1, y1, tops[:, 0] + tops[:, 2] / 2, tops[:, 1] + tops[:, 3]], axis=1)
    rail = leaf[own] % shape.rails
    return [
        Lines(ends[rail == number], hues.rail_colour(theme, number), view.scale, opacity=0.6)
        for number in range(shape.rails)
    ]


def beside(view: View, theme: Theme, note: str, at: tuple[float, float]) -> list[Item]:
    """Text beside a device pixel, in as many lines as it takes, moved so that all is in sight."""
    size = 11.0 * view.type
    lines = _broken(note, size, view.width - 40 * view.scale)
    width = max(text_width(line, size) for line in lines)
    high = 1.5 * size
    x = max(min(at[0] + 14 * view.scale, view.width - width - 12 * view.scale), 8 * view.scale)
    above = at[1] - high * len(lines) - 4 * view.scale
    y = above + high / 2 if above > 20 * view.scale else at[1] + 26 * view.scale
    return [
        Text(x, y + number * high, line, theme.text, size, chip=theme.raised)
        for number, line in enumerate(lines)
    ]


def _broken(note: str, size: float, room: float) -> list[str]:
    """A list in words as lines that fit."""
    lines, parts = [""], note.split(", ")
    for number, part in enumerate(parts):
        word = part if number == len(parts) - 1 else f"{part}, "
        if lines[-1] and text_width(lines[-1] + word, size) > room:
            lines.append("")
        lines[-1] += word
    return lines
