"""One rack as a draw list: elevation and NVLink matrix, and which part lies where on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.display import theme as hues
from gbviz.display.draw import DrawList, Lines, Rects, Text, text_width
from gbviz.display.fabric_map import crosses, grid_image
from gbviz.display.legend import legend
from gbviz.display.map_labels import fitting, job_labels
from gbviz.display.rack_layout import rack_layout
from gbviz.display.theme import packed

if TYPE_CHECKING:
    from gbviz.display.draw import Item
    from gbviz.display.grid import View
    from gbviz.display.rack_layout import RackLayout
    from gbviz.display.shades import Look, Shades
    from gbviz.engine import Loads, Snapshot
    from gbviz.topology.fabric import Bools, Floats

_FONT = 10.5


@dataclass(frozen=True, slots=True, eq=False)
class RackPicture:
    """What is drawn of which rack, and how."""

    rack: int
    view: View
    look: Look
    snapshot: Snapshot
    loads: Loads
    shades: Shades


def rack_map(picture: RackPicture) -> DrawList:
    """The rack under one answer, without selection and hover."""
    layout = rack_layout(picture.snapshot.fabric)
    items: list[Item] = []
    items += _compute(picture, layout)
    items += _switches(picture, layout)
    items += _power(picture, layout)
    items += _coolers(picture, layout)
    items += _links(picture, layout)
    items += _labels(picture, layout)
    items += legend(picture.look, picture.view, picture.snapshot)
    view = picture.view
    return DrawList(view.width, view.height, picture.look.theme.ground, tuple(items))


def own(picture: RackPicture, kind: str) -> slice:
    """Where a rack's parts of a kind are among all of that kind."""
    fabric = picture.snapshot.fabric
    each = fabric.count(kind) // fabric.count("rack")
    return slice(picture.rack * each, (picture.rack + 1) * each)


def _up(picture: RackPicture, kind: str) -> Floats:
    return picture.snapshot.health.factor(picture.snapshot.fabric, kind)[own(picture, kind)]


def _dead(picture: RackPicture, kind: str) -> Bools:
    """Which parts get a cross; in a dead rack only those with a fault of their own."""
    down: Bools = _up(picture, kind) == 0
    if not picture.shades.rack_down[picture.rack]:
        return down
    fabric = picture.snapshot.fabric
    nodes = [node for fault in picture.snapshot.faults for node in fault.nodes]
    first = fabric.nodes(kind).start + own(picture, kind).start
    return down & np.isin(first + np.arange(len(down)), nodes)


def _compute(picture: RackPicture, layout: RackLayout) -> list[Item]:
    """GPUs in their colours, NICs in the hue of their rail, crosses on what is dead."""
    view, theme = picture.view, picture.look.theme
    gpus = picture.shades.gpus[own(picture, "gpu")]
    items = grid_image(layout.gpus, view, gpus, theme.ground)
    dead = np.flatnonzero(_dead(picture, "gpu"))
    rack_down = bool(picture.shades.rack_down[picture.rack])
    cells = view.boxes(layout.gpus.corners(dead))
    items += crosses(cells, view, theme.failed if rack_down else theme.ground, most=14)
    rails = picture.snapshot.fabric.count("gpu") // picture.snapshot.fabric.count("tray")
    hue = [packed(hues.rail_colour(theme, rail)) for rail in range(rails)]
    colours = np.tile(np.array(hue, dtype=np.uint32), len(gpus) // rails)
    nic = own(picture, "nic")
    room = picture.loads.capacity[0].min(axis=0)[nic]
    whole = picture.snapshot.fabric.tiers[0].capacity[nic]
    colours[room == 0] = packed(theme.off)
    items += grid_image(layout.nics, view, colours, theme.ground)
    boxes = view.boxes(layout.nics.corners(np.arange(len(colours))))
    mute = (room == 0) if not rack_down else _dead(picture, "nic")
    items += crosses(boxes[mute], view, theme.failed, most=12)
    items += _slashes(boxes[(room > 0) & (room < whole * (1 - 1e-9))], view, theme.warm)
    return items


def _slashes(boxes: Floats, view: View, colour: str) -> list[Item]:
    if not len(boxes):
        return []
    ends = np.concatenate(
        [boxes[:, :2] + boxes[:, 2:] * [0.2, 0.8], boxes[:, :2] + boxes[:, 2:] * [0.8, 0.2]], axis=1
    )
    return [Lines(ends, colour, 2 * view.scale)]


def _switches(picture: RackPicture, layout: RackLayout) -> list[Item]:
    """ASICs coloured by the mean of what the GPUs' NVLink carries."""
    view, theme, look = picture.view, picture.look.theme, picture.look
    up = _up(picture, "nvswitch")
    busy = float(picture.loads.nvlink[own(picture, "gpu")].mean())
    shade = hues.table(theme, look.ramp)[hues.steps(np.full(len(up), busy))]
    if look.colour_by != "utilisation":
        shade[:] = packed(theme.high if look.colour_by == "health" else theme.idle)
    shade[up == 0] = packed(theme.off)
    items = grid_image(layout.asics, view, shade, theme.ground)
    dead = np.flatnonzero(_dead(picture, "nvswitch"))
    return items + crosses(view.boxes(layout.asics.corners(dead)), view, theme.failed, most=14)


def _power(picture: RackPicture, layout: RackLayout) -> list[Item]:
    """Shelves, feeds and management switches as outlines; crosses on what is dead."""
    view, theme, fabric = picture.view, picture.look.theme, picture.snapshot.fabric
    size = _FONT * view.type
    items: list[Item] = []
    up = _up(picture, "shelf")
    shelves = view.boxes(layout.shelves.corners(np.arange(len(up))))
    feeds = view.boxes(layout.feeds)
    for boxes in (shelves, feeds, view.boxes(layout.management)):
        fill = np.full(len(boxes), packed(theme.panel), dtype=np.uint32)
        items.append(Rects(boxes, fill, theme.line, view.scale))
    named = [
        *zip((f"shelf-{n}" for n in range(len(up))), shelves, strict=True),
        *zip(("feed-a", "feed-b"), feeds, strict=True),
        *(("management", box) for box in view.boxes(layout.management)),
    ]
    for text, (x, y, wide, high) in named:
        if high > size and wide > text_width(text, size):
            items.append(Text(x + wide / 2, y + high / 2, text, theme.dim, size * 0.9, "centre"))
    items += crosses(_right_end(shelves)[_dead(picture, "shelf")], view, theme.failed, most=14)
    if fabric.count("feed"):
        dead = _dead(picture, "feed")
        items += crosses(_right_end(feeds, 0.3)[dead], view, theme.failed, most=14)
    return items


def _right_end(boxes: Floats, part: float = 0.12) -> Floats:
    """The right end of boxes, where a sign does not hide their names."""
    found: Floats = boxes.copy()
    found[:, 0] += boxes[:, 2] * (1 - part)
    found[:, 2] *= part
    return found


def _coolers(picture: RackPicture, layout: RackLayout) -> list[Item]:
    """The cooling units of the rack's loop."""
    view, theme = picture.view, picture.look.theme
    names = cooler_names(picture)
    if not names:
        return []
    fabric, health = picture.snapshot.fabric, picture.snapshot.health
    factor = np.array([health.node_factor[fabric.index_of(name)] for name in names])
    boxes = view.boxes(layout.coolers)
    fill = np.full(len(boxes), packed(hues.mixed(theme.panel, theme.accent, 0.25)), np.uint32)
    items: list[Item] = [Rects(boxes, fill, theme.line, view.scale, radius=3 * view.scale)]
    size = _FONT * view.type
    for name, (x, y, wide, high) in zip(names, boxes.tolist(), strict=True):
        if wide > 1.2 * text_width(name, size):
            at = x + 0.45 * wide
            items.append(Text(at, y + high / 2, name, theme.text, size * 0.9, "centre"))
    items += crosses(_right_end(boxes, 0.18)[factor == 0], view, theme.failed, most=16)
    return items + _slashes(boxes[(factor > 0) & (factor < 1)], view, theme.warm)


def cooler_names(picture: RackPicture) -> list[str]:
    """The cooling units of the loop of the picture's rack."""
    fabric = picture.snapshot.fabric
    kind = next((kind for kind in ("hxu", "cdu") if fabric.count(kind)), "")
    if not kind:
        return []
    racks, loops = fabric.count("rack"), fabric.count("loop")
    spec = fabric.spec
    per_loop = spec.cooling.racks_in_loop if spec is not None else -(-racks // loops)
    each, loop = fabric.count(kind) // loops, picture.rack // per_loop
    return [f"{kind}-{n}" for n in range(loop * each, (loop + 1) * each)]


def _links(picture: RackPicture, layout: RackLayout) -> list[Item]:
    """The NVLink matrix: a sick ASIC is a dark column, a hot GPU a bright row."""
    view, theme, snapshot = picture.view, picture.look.theme, picture.snapshot
    nvlink = snapshot.fabric.nvlink
    if nvlink is None:
        return []
    live = snapshot.health.nvlink_capacity(snapshot.fabric, picture.rack).min(axis=0)
    shade = np.repeat(picture.shades.nvlink[own(picture, "gpu")], nvlink.asics)
    flat = live.reshape(-1)
    shade[flat == 0] = packed(theme.off)
    items = grid_image(layout.links, view, shade, theme.ground)
    ends_up = (_up(picture, "gpu") > 0)[:, None] & (_up(picture, "nvswitch") > 0)[None, :]
    alone = np.flatnonzero((flat == 0) & ends_up.reshape(-1))
    items += crosses(view.boxes(layout.links.corners(alone)), view, theme.failed)
    slow = np.flatnonzero((flat > 0) & (flat < nvlink.link_GBps * (1 - 1e-9)))
    return items + _slashes(view.boxes(layout.links.corners(slow)), view, theme.warm)


def _labels(picture: RackPicture, layout: RackLayout) -> list[Item]:
    view, theme, fabric = picture.view, picture.look.theme, picture.snapshot.fabric
    size = _FONT * view.type
    items: list[Item] = []
    for word, corners in (("tray", layout.trays), ("nvtray", layout.nvtrays)):
        x, _, _, high = view.boxes(layout.gpus.corners(np.array([0])))[0]
        if high < 0.75 * size:
            continue
        for number, (_, y, _, tall) in enumerate(view.boxes(corners).tolist()):
            text = f"{word}-{number}"
            items.append(
                Text(x - 6 * view.scale, y + 0.43 * tall, text, theme.dim, size * 0.9, "right")
            )
    items += _matrix_labels(picture, layout)
    x, y = view.to_device(layout.gpus.box[0], 0.0)
    room = (layout.links.box[0] - layout.gpus.box[0]) * view.sx - size
    name = fabric.name(fabric.nodes("rack").start + picture.rack)
    state = _state(picture)
    titles = [f"{name}{job}{state}" for job in (*_job(picture), "")]
    title = fitting([*titles, name], 1.25 * size, room)
    items.append(Text(x, y + 0.9 * size, title, theme.text, size * 1.15, bold=True))
    return items


def _matrix_labels(picture: RackPicture, layout: RackLayout) -> list[Item]:
    view, theme, nvlink = picture.view, picture.look.theme, picture.snapshot.fabric.nvlink
    if nvlink is None:
        return []
    size = _FONT * view.type
    x0, y0, _, _ = layout.links.box
    x, y = view.to_device(x0, 0.0)
    count = f"{nvlink.gpus} GPUs x {nvlink.asics} ASICs"
    texts = [f"NVLink: {count}, {nvlink.link_GBps:g} GB/s a link", f"NVLink: {count}", "NVLink"]
    text = fitting(texts, 1.25 * size, view.width - x)
    items: list[Item] = [Text(x, y + 0.9 * size, text, theme.text, size * 1.15, bold=True)]
    left = (layout.links.left - view.x0) * view.sx
    wide = (layout.links.right[0] - layout.links.left[0]) * view.sx
    head = (y0 - view.y0) * view.sy - 0.75 * size
    step = 1 if wide > text_width("00", size) * 1.2 else 2
    items += [
        Text(left[asic] + wide / 2, head, str(asic), theme.dim, size * 0.85, "centre")
        for asic in range(0, nvlink.asics, step)
    ]
    each = picture.snapshot.fabric.count("gpu") // picture.snapshot.fabric.count("tray")
    tops = (layout.links.top[::each] - view.y0) * view.sy
    pitch = tops[1] - tops[0] if len(tops) > 1 else size
    if pitch > size:
        first = layout.links.ids[::each, 0] // nvlink.asics // each
        for y_at, tray in zip(tops.tolist(), first.tolist(), strict=True):
            at = y_at + 0.43 * pitch
            items.append(
                Text(x - 5 * view.scale, at, f"tray-{tray}", theme.dim, size * 0.85, "right")
            )
    return items


def _job(picture: RackPicture) -> list[str]:
    """What a rack runs, in full and short; empty for nothing."""
    job = int(picture.shades.rack_job[picture.rack])
    return [f" · {text}" for text in job_labels(picture.snapshot)[job]] if job >= 0 else []


def _state(picture: RackPicture) -> str:
    """How a rack is: its power and hottest die."""
    thermal, rack = picture.snapshot.thermal, picture.rack
    if picture.shades.rack_down[rack]:
        return " · down"
    if thermal.absent:
        return ""
    hottest = thermal.die_c[own(picture, "gpu")].max()
    return f" · {thermal.rack_power_kw[rack]:.1f} kW · hottest die {hottest:.1f} °C"
