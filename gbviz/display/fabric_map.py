"""The map of a fabric as a draw list: matrix or lines, leaves, racks, marks and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbviz.display import theme as hues
from gbviz.display.draw import DrawList, Image, Lines, Marks, Rects, Text, text_width
from gbviz.display.legend import legend
from gbviz.display.links import link_items
from gbviz.display.map_labels import (
    FONT,
    Picture,
    every,
    fitting,
    job_names,
    leaf_labels,
    numbered,
    pod_labels,
    rack_labels,
    row_labels,
)
from gbviz.display.theme import packed

if TYPE_CHECKING:
    from gbviz.display.draw import Item
    from gbviz.display.grid import Grid, View
    from gbviz.display.layout import Layout
    from gbviz.display.shades import Shades
    from gbviz.engine import Snapshot
    from gbviz.topology.fabric import Bools, Floats, Ints

_MOST_MARKS = 1500


def fabric_map(picture: Picture, snapshot: Snapshot, shades: Shades) -> DrawList:
    """The map under one answer, without what the pointer or a selection adds."""
    view = picture.view
    items: list[Item] = []
    if picture.style == "matrix":
        items += _matrix(picture, shades)
    else:
        items += link_items(picture.layout, view, picture.look, shades, picture.style)
        items += _spine_row(picture, shades)
    items += _planes(picture, snapshot, shades)
    items += _leaves(picture, shades)
    items += leaf_labels(picture)
    items += _floor(picture, shades)
    items += _cooling(picture, snapshot, shades)
    items += _job_bars(picture, snapshot, shades)
    items += rack_labels(picture, shades)
    items += pod_labels(picture)
    items += legend(picture.look, view, snapshot)
    return DrawList(view.width, view.height, picture.look.theme.ground, tuple(items))


def grid_image(grid: Grid, view: View, colours: hues.Colours, ground: str) -> list[Item]:
    """A grid's part in sight as an image."""
    return [Image(*band) for band in grid.paint(view, colours, packed(ground))]


def crosses(
    boxes: Floats, view: View, colour: str, smallest: float = 5.0, most: float = 16.0
) -> list[Item]:
    """A cross on each device box in sight; boxes that are small get one of the smallest size."""
    inside = (
        (boxes[:, 0] + boxes[:, 2] > 0)
        & (boxes[:, 0] < view.width)
        & (boxes[:, 1] + boxes[:, 3] > 0)
        & (boxes[:, 1] < view.height)
    )
    boxes = boxes[inside][:_MOST_MARKS]
    if not len(boxes):
        return []
    at = boxes[:, :2] + boxes[:, 2:] / 2
    side = float(np.clip(boxes[:, 2:].min() * 0.8, smallest * view.scale, most * view.scale))
    return [Marks(at, "cross", side, colour)]


def _matrix(picture: Picture, shades: Shades) -> list[Item]:
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    grid = layout.pairs
    items = grid_image(grid, view, shades.pairs, theme.ground)
    dead = np.flatnonzero(shades.pair_down)
    if len(dead):
        items += crosses(view.boxes(grid.corners(dead)), view, theme.failed)
    hurt = np.flatnonzero(shades.pair_hurt)[:_MOST_MARKS]
    if len(hurt):
        boxes = view.boxes(grid.corners(hurt))
        # A slash: some of the pair's cables are dead or slow.
        size = np.maximum(boxes[:, 2:], 5.0 * view.scale)
        middle = boxes[:, :2] + boxes[:, 2:] / 2
        ends = np.concatenate([middle + size * [-0.4, 0.4], middle + size * [0.4, -0.4]], axis=1)
        items.append(Lines(ends, theme.warm, 2.0 * view.scale))
    items += _struck_rows(picture, shades)
    items += _struck_columns(picture, shades)
    items += row_labels(picture, shades)
    return items


def _struck_rows(picture: Picture, shades: Shades) -> list[Item]:
    """A line through the row of each dead spine."""
    layout, view = picture.layout, picture.view
    dead = np.flatnonzero(shades.spine_down)
    if not len(dead):
        return []
    pod, position = np.divmod(dead, layout.shape.spines_per_pod)
    y = (layout.rows[pod, position, 1] - view.y0) * view.sy
    x0 = (layout.pods[pod, 0] - view.x0) * view.sx
    x1 = (layout.pods[pod, 2] - view.x0) * view.sx
    ends = np.stack([x0, y, x1, y], axis=1)
    return [Lines(ends, picture.look.theme.failed, 2.0 * view.scale)]


def _struck_columns(picture: Picture, shades: Shades) -> list[Item]:
    """A line through the column of each dead leaf."""
    layout, view = picture.layout, picture.view
    dead = np.flatnonzero(shades.leaf_down)
    if not len(dead):
        return []
    each = layout.shape.spines_per_pod
    top = view.boxes(layout.pairs.corners(dead * each))
    bottom = view.boxes(layout.pairs.corners(dead * each + each - 1))
    x = top[:, 0] + top[:, 2] / 2
    ends = np.stack([x, top[:, 1], x, bottom[:, 1] + bottom[:, 3]], axis=1)
    return [Lines(ends, picture.look.theme.failed, 2.0 * view.scale)]


def _spine_row(picture: Picture, shades: Shades) -> list[Item]:
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    boxes = view.boxes(layout.spines)
    each = layout.shape.spines_per_pod
    pairs = shades.pair_value.reshape(-1, each)
    # The last pod may have fewer leaves than the others.
    first = np.arange(layout.shape.pods) * layout.shape.leaves_per_pod
    value = np.maximum.reduceat(pairs, first, axis=0).reshape(-1)
    fill = hues.table(theme, picture.look.ramp)[hues.steps(value)]
    fill = np.where(shades.spine_down, packed(theme.ground), fill)
    items: list[Item] = [Rects(boxes, fill, theme.line)]
    if shades.spine_down.any():
        dead = boxes[shades.spine_down]
        items.append(Rects(dead, None, theme.failed, 1.5 * view.scale))
        items += crosses(dead, view, theme.failed)
    size = FONT * view.type
    step = every(float(boxes[0, 2]) * 1.15, text_width("s000", size))
    # The pod's own name stands in the same place.
    room = len(layout.pods) == 1 or (layout.spines[0, 1] - layout.pods[0, 1]) * view.sy > 2.4 * size
    for spine, (x, y, width, _) in enumerate(boxes.tolist()):
        struck = bool(shades.spine_down[spine])
        if ((spine % each) % step == 0 and room) or struck:
            hue, at = theme.failed if struck else theme.dim, y - 0.75 * size
            items.append(Text(x + width / 2, at, f"s{spine}", hue, size, "centre", bold=struck))
    return items


def _dead_cores(picture: Picture, snapshot: Snapshot) -> list[Item]:
    """Names of dead cores at the left of the rows of their planes."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    grid, size = layout.planes, FONT * view.type
    if grid is None:
        return []
    dead = np.flatnonzero(~snapshot.health.up(layout.fabric, "core"))
    planes, first = np.unique(dead // layout.shape.cores_per_group, return_index=True)
    items: list[Item] = []
    last = -1e9
    for plane, core in zip(planes.tolist(), dead[first].tolist(), strict=True):
        y = ((grid.top[plane] + grid.bottom[plane]) / 2 - view.y0) * view.sy
        x0 = (grid.left[0] - view.x0) * view.sx
        x1 = (grid.right[-1] - view.x0) * view.sx
        items.append(Lines(np.array([[x0, y, x1, y]]), theme.failed, view.scale, dashed=True))
        if y - last >= size:
            last = y
            items.append(Text(x0 - 5, y, f"core-{core}", theme.failed, size, "right", bold=True))
    return items


def _planes(picture: Picture, snapshot: Snapshot, shades: Shades) -> list[Item]:
    """Pods x planes: what each spine sends to the cores of its plane."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    grid = layout.planes
    if grid is None:
        return []
    items = grid_image(grid, view, shades.planes, theme.ground)
    dead = np.flatnonzero(shades.spine_down)
    if len(dead):
        items += crosses(view.boxes(grid.corners(dead)), view, theme.failed)
    hurt = np.flatnonzero(shades.plane_down)[:_MOST_MARKS]
    if len(hurt):
        at = view.boxes(grid.corners(hurt))
        items.append(Marks(at[:, :2] + at[:, 2:] / 2, "dot", 5 * view.scale, theme.warm))
    size = FONT * view.type
    items += _dead_cores(picture, snapshot)
    x, y = view.to_device(grid.box[0], grid.box[1])
    texts = ["spines x cores: a column a pod, a row a plane", "spines x cores"]
    text = fitting(texts, size, 0.3 * view.width)
    items.append(Text(max(x, 4.0), y - 0.9 * size, text, theme.dim, size))
    return items


def _leaves(picture: Picture, shades: Shades) -> list[Item]:
    """Leaves in the hue of their rail, with stubs to the column of GPUs that they serve."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    boxes = view.boxes(layout.leaves)
    rail = np.arange(len(boxes)) % layout.shape.rails
    fill = np.array(
        [packed(hues.rail_colour(theme, n)) for n in range(layout.shape.rails)], dtype=np.uint32
    )[rail]
    fill = np.where(shades.leaf_down, packed(theme.ground), fill)
    seen = view.sees(layout.leaves)
    items: list[Item] = []
    if boxes[0, 2] >= 4 * view.scale:
        items += _stubs(picture, boxes, rail, seen & ~shades.leaf_down)
    items.append(Rects(boxes[seen], fill[seen], None, radius=2.0 * view.scale))
    if (shades.leaf_down & seen).any():
        dead = boxes[shades.leaf_down & seen]
        items.append(Rects(dead, None, theme.failed, 1.5 * view.scale))
        items += crosses(dead, view, theme.failed)
    size = FONT * view.type
    if boxes[0, 2] > text_width("leaf-000", size):
        items += [
            Text(x + w / 2, y + h / 2, f"leaf-{n}", theme.ground, size * 0.95, "centre", bold=True)
            for n, (x, y, w, h) in numbered(boxes, seen & ~shades.leaf_down)
        ]
    return items


def _stubs(picture: Picture, boxes: Floats, rail: Ints, seen: Bools) -> list[Item]:
    layout, view = picture.layout, picture.view
    top = (layout.racks[:, 1].reshape(-1)[0] - layout.leaves[0, 3]) * view.sy
    x = boxes[:, 0] + boxes[:, 2] / 2
    y = boxes[:, 1] + boxes[:, 3]
    ends = np.stack([x, y, x, y + 0.34 * top], axis=1)
    return [
        Lines(
            ends[(rail == number) & seen],
            hues.rail_colour(picture.look.theme, number),
            view.scale,
            opacity=0.7,
        )
        for number in range(layout.shape.rails)
    ]


def _floor(picture: Picture, shades: Shades) -> list[Item]:
    """GPUs as cells, racks with a hairline, a cross on what has failed."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    items = grid_image(layout.gpus, view, shades.gpus, theme.ground)
    seen = view.sees(layout.racks)
    boxes = view.boxes(layout.racks)
    if boxes[0, 2] > 6 * view.scale:
        items.append(Rects(boxes[seen], None, theme.line, view.scale))
    down = shades.rack_down & seen
    if down.any():
        items += crosses(boxes[down], view, theme.failed, most=40.0)
    cut = np.flatnonzero(shades.nic_down)
    if len(cut):
        cells = view.boxes(layout.gpus.corners(cut))
        if cells[0, 3] >= 3 * view.scale:
            items += crosses(cells, view, theme.failed, smallest=4.0, most=10.0)
        else:
            hit = np.unique(cut // _per_rack(layout))
            items.append(Marks(boxes[hit, :2] + boxes[hit, 2:] / 2, "dot", 3.0, theme.failed))
    alone = np.flatnonzero(shades.gpu_down & ~np.repeat(shades.rack_down, _per_rack(layout)))
    if len(alone):
        cells = view.boxes(layout.gpus.corners(alone))
        if cells[0, 3] >= 4 * view.scale:
            items += crosses(cells, view, theme.ground, smallest=3.0)
        else:  # too small for crosses of their own: one for the rack
            racks = np.unique(alone // _per_rack(layout))
            items += crosses(boxes[racks], view, theme.failed, most=9.0)
    return items


def _per_rack(layout: Layout) -> int:
    return layout.fabric.count("gpu") // layout.fabric.count("rack")


def _cooling(picture: Picture, snapshot: Snapshot, shades: Shades) -> list[Item]:
    """Frames round the racks of shared loops; a triangle on racks that heat or power holds back."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    items: list[Item] = []
    size = FONT * view.type
    for number, blocks in enumerate(layout.loops):
        frames = view.boxes(blocks + np.array([-0.5, -4.6, 0.5, 4.2]))
        name = layout.fabric.name(layout.fabric.nodes("loop").start + number)
        x, y, width, height = frames[0]
        units = snapshot.health.up(layout.fabric, "cdu").reshape(len(layout.loops), -1)[number]
        dead = not units.all()
        hue = theme.failed if dead else theme.line
        items.append(Rects(frames, None, hue, view.scale, radius=4 * view.scale))
        text = f"{name} · {int(units.sum())} of {len(units)} units live"
        # Below the names of the lowest racks, where there is room for both.
        if width > text_width(text, size) and 4.2 * view.sy > 1.9 * size:
            items.append(
                Text(
                    x + width / 2,
                    y + height,
                    text,
                    theme.failed if dead else theme.dim,
                    size,
                    "centre",
                    bold=dead,
                    chip=theme.ground,
                )
            )
    hot = shades.rack_hot & ~shades.rack_down & view.sees(layout.racks)
    if hot.any():
        boxes = view.boxes(layout.racks[hot])
        items.append(Rects(boxes, None, theme.warm, 2 * view.scale))
        small = float(np.clip(boxes[0, 2] * 0.4, 6 * view.scale, 13 * view.scale))
        at = boxes[:, :2] + boxes[:, 2:] - 0.75 * small
        items.append(Marks(at, "triangle", 1.5 * small, theme.ground))
        items.append(Marks(at, "triangle", small, theme.warm))
    return items


def _job_bars(picture: Picture, snapshot: Snapshot, shades: Shades) -> list[Item]:
    """A bar over each rack in its job's hue, and the job's name over the first of a run."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    owner = shades.rack_job
    if not (owner >= 0).any():
        return []
    hue = np.array(
        [packed(hues.job_colour(theme, n)) for n in range(len(snapshot.scenario.jobs))],
        dtype=np.uint32,
    )
    own = (owner >= 0) & view.sees(layout.racks)
    boxes = view.boxes(layout.racks)
    high = 3.0 * view.scale
    bars = np.stack(
        [boxes[:, 0], boxes[:, 1] - high - view.scale, boxes[:, 2], np.full(len(boxes), high)],
        axis=1,
    )
    items: list[Item] = [Rects(bars[own], hue[owner[own]], None)]
    items += job_names(picture, snapshot, owner, boxes)
    return items
