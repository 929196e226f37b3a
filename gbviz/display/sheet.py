"""One picture of one state: the map, its matrix alone, or a rack, of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.display.camera import Camera, view_of
from gbviz.display.fabric_map import fabric_map
from gbviz.display.layout import layout
from gbviz.display.links import LINK_STYLES
from gbviz.display.map_labels import Picture
from gbviz.display.rack_layout import rack_layout
from gbviz.display.rack_map import RackPicture, rack_map
from gbviz.display.rack_places import rack_of
from gbviz.display.shades import COLOUR_BY, Look, shades
from gbviz.display.theme import THEMES
from gbviz.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from gbviz.display.draw import DrawList
    from gbviz.display.grid import Box
    from gbviz.display.layout import Layout
    from gbviz.display.shades import ColourBy
    from gbviz.engine import Loads, Snapshot

LARGEST = 16384
_SCALES = (0.25, 16.0)
_MATRIX_ROOM = 6.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is wanted on a picture.

    Parameters
    ----------
    view
        `fabric`, `matrix` (of the first pod), a rack such as `rack-3`, or a pod such as `pod-0`.
    theme, colour_by, links
        As in the app.
    width, height
        Logical pixels.
    scale
        Pixels of the file a logical one.
    """

    view: str = "fabric"
    theme: str = "dark"
    colour_by: str = "utilisation"
    links: str = "matrix"
    width: int = 1600
    height: int = 1000
    scale: float = 1.0


def draw_sheet(sheet: Sheet, snapshot: Snapshot, loads: Loads, base: Loads) -> DrawList:
    """The picture of an evaluated scenario.

    Raises
    ------
    InputError
        An unknown view, theme, meaning of colours or link style, or an impossible size.
    """
    look = _look(sheet)
    width, height = _size(sheet)
    colours = shades(snapshot, loads, base, look)
    fabric = snapshot.fabric
    rack = rack_of(fabric, sheet.view) if sheet.view.startswith("rack-") else -1
    if rack >= 0:
        view = view_of(Camera(), rack_layout(fabric).box, width, height, sheet.scale)
        return rack_map(RackPicture(rack, view, look, snapshot, loads, colours))
    where = layout(fabric)
    style = sheet.links
    world = where.box
    if sheet.view == "matrix":
        world, style = matrix_box(where, 0), "matrix"
    elif sheet.view.startswith("pod-"):
        x0, y0, x1, y1 = where.pods[_pod(where, sheet.view)].tolist()
        world = x0, y0, x1, y1
    elif sheet.view != "fabric":
        names = ["fabric", "matrix", "rack-0"]
        last = f"there are rack-0 to rack-{fabric.count('rack') - 1}"
        hint = (
            last if rack < 0 and sheet.view.startswith("rack-") else did_you_mean(sheet.view, names)
        )
        raise InputError(f"there is no view {sheet.view!r}", where="view", hint=hint)
    view = view_of(Camera(), world, width, height, sheet.scale)
    return fabric_map(Picture(where, view, look, style), snapshot, colours)


def matrix_box(where: Layout, pod: int) -> Box:
    """World corners of one pod's matrix and its leaves."""
    pod = min(pod, len(where.pods) - 1)
    x0, y0, x1, _ = where.pods[pod].tolist()
    below = where.leaves[pod * where.shape.leaves_per_pod, 3]
    return x0, y0, x1, float(below) + _MATRIX_ROOM


def _pod(where: Layout, view: str) -> int:
    if not view.startswith("pod-"):
        return 0
    number = view.removeprefix("pod-")
    if not (number.isascii() and number.isdecimal()) or int(number) >= len(where.pods):
        hint = f"there are pod-0 to pod-{len(where.pods) - 1}"
        raise InputError(f"there is no view {view!r}", where="view", hint=hint)
    return int(number)


def _look(sheet: Sheet) -> Look:
    for word, value, known in (
        ("theme", sheet.theme, tuple(THEMES)),
        ("colour-by", sheet.colour_by, COLOUR_BY),
        ("links", sheet.links, LINK_STYLES),
    ):
        if value not in known:
            hint = did_you_mean(value, known) or "choose one of: " + ", ".join(known)
            raise InputError(f"there is no {word} {value!r}", where=word, hint=hint)
    colour_by: ColourBy = next(by for by in COLOUR_BY if by == sheet.colour_by)
    return Look(THEMES[sheet.theme], colour_by=colour_by)


def _size(sheet: Sheet) -> tuple[int, int]:
    low, high = _SCALES
    if not low <= sheet.scale <= high:  # also no number at all
        raise InputError(f"a scale is {low:g} to {high:g} (got {sheet.scale:g})", where="scale")
    width, height = round(sheet.width * sheet.scale), round(sheet.height * sheet.scale)
    if not (sheet.width >= 200 and sheet.height >= 150 and max(width, height) <= LARGEST):
        raise InputError(
            f"a picture has 200 x 150 to {LARGEST} x {LARGEST} pixels (got {width} x {height})",
            where="size",
        )
    return width, height
