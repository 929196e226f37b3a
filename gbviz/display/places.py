"""Where components lie on the map, which one lies under a point, and which is next to another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from gbviz.display.grid import Box, View
    from gbviz.display.layout import Layout
    from gbviz.topology.fabric import Fabric, Floats
    from gbviz.topology.selectors import Part

# Device-independent pixels of a tray's row from which trays, then GPUs, are picked by themselves.
TRAY_FROM, GPU_FROM = 5.0, 9.0
# Of a pair's cell from which its single cables are.
_CABLE_FROM = 16.0


def pick(layout: Layout, view: View, x: float, y: float, style: str = "matrix") -> str:
    """The component at a device pixel, "" for none: what is large enough to be meant.

    Examples
    --------
    >>> from gbviz.display.camera import Camera, view_of
    >>> from gbviz.display.layout import layout
    >>> from gbviz.topology import build, cluster_spec
    >>> found = layout(build(cluster_spec("azure-gb300")))
    >>> view = view_of(Camera(), found.box, 1044, 718)
    >>> x, y = view.to_device(float(found.leaves[5, 0]) + 0.5, float(found.leaves[5, 1]) + 1)
    >>> pick(found, view, x, y)
    'leaf-5'
    """
    at = view.to_world(x, y)
    fabric = layout.fabric
    if (gpu := layout.gpus.hit(*at)) >= 0:
        return _gpu_or_larger(layout, view, gpu)
    if (number := _box_at(layout.leaves, *at)) >= 0:
        return f"leaf-{number}"
    if layout.planes is not None and (spine := layout.planes.hit(*at)) >= 0:
        return f"spine-{spine}"
    if style == "matrix":
        return _in_matrix(layout, view, at)
    if (number := _box_at(layout.spines, *at)) >= 0:
        return f"spine-{number}"
    if (number := _box_at(layout.racks + np.array([0, -4.0, 0, 4.0]), *at)) >= 0:
        return f"rack-{number}"
    return _line_at(layout, view, x, y) if fabric.count("leaf") else ""


def _gpu_or_larger(layout: Layout, view: View, gpu: int) -> str:
    fabric = layout.fabric
    high = layout.gpus.cell_size(view)[1] / view.scale
    name = fabric.name(fabric.nodes("gpu").start + gpu)
    rack, tray, _ = name.split("/")
    if high >= GPU_FROM:
        return name
    return f"{rack}/{tray}" if high >= TRAY_FROM else rack


def _in_matrix(layout: Layout, view: View, at: tuple[float, float]) -> str:
    shape, grid = layout.shape, layout.pairs
    pair = grid.hit(*at)
    if pair >= 0:
        leaf, position = divmod(pair, shape.spines_per_pod)
        name = f"leaf-{leaf}~spine-{_spine(layout, leaf, position)}"
        wide = grid.cell_size(view)[0] / view.scale
        if shape.m > 1 and wide >= _CABLE_FROM * shape.m / 2:
            x0, _, x1, _ = grid.corners(np.array([pair]))[0]
            return f"{name}#{min(int((at[0] - x0) / (x1 - x0) * shape.m), shape.m - 1)}"
        return name
    # Left of a row and between its columns stands the spine itself.
    for pod, (x0, _, x1, _) in enumerate(layout.pods.tolist()):
        left = x0 - (70.0 * view.scale / view.sx if pod == 0 else 4.0)
        if left <= at[0] <= x1:
            row = np.abs(layout.rows[pod, :, 1] - at[1])
            position = int(row.argmin())
            if row[position] <= (grid.bottom[0] - grid.top[0]) / 2:
                return f"spine-{pod * shape.spines_per_pod + position}"
    number = _box_at(layout.racks + np.array([0, -4.0, 0, 4.0]), *at)
    return f"rack-{number}" if number >= 0 else ""


def _spine(layout: Layout, leaf: int, position: int) -> int:
    shape = layout.shape
    return leaf // shape.leaves_per_pod * shape.spines_per_pod + position


def _box_at(boxes: Floats, x: float, y: float) -> int:
    """The first of some world boxes that holds a point, -1 for none."""
    inside = (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
    found = np.flatnonzero(inside)
    return int(found[0]) if len(found) else -1


def _line_at(layout: Layout, view: View, x: float, y: float, reach: float = 6.0) -> str:
    """The pair whose line passes nearest to a device pixel, within reach."""
    shape = layout.shape
    leaf, position = np.divmod(np.arange(shape.leaves * shape.spines_per_pod), shape.spines_per_pod)
    spine = leaf // shape.leaves_per_pod * shape.spines_per_pod + position
    low, high = layout.leaves[leaf], layout.spines[spine]
    x1 = ((low[:, 0] + low[:, 2]) / 2 - view.x0) * view.sx
    y1 = (low[:, 1] - view.y0) * view.sy
    x2 = ((high[:, 0] + high[:, 2]) / 2 - view.x0) * view.sx
    y2 = (high[:, 3] - view.y0) * view.sy
    dx, dy = x2 - x1, y2 - y1
    along = np.clip(((x - x1) * dx + (y - y1) * dy) / np.maximum(dx * dx + dy * dy, 1e-9), 0, 1)
    away = np.hypot(x1 + along * dx - x, y1 + along * dy - y)
    best = int(away.argmin())
    if away[best] > reach * view.scale:
        return ""
    return f"leaf-{leaf[best]}~spine-{spine[best]}"


def boxes_of(layout: Layout, name: str, style: str = "matrix") -> Floats:
    """World corners (n, 4) of what a component covers on the map; none for one that has no place.

    Parts inside a rack that the map does not show are shown by what holds them.
    """
    try:
        part = select(layout.fabric, name)[0]
    except InputError:
        return np.zeros((0, 4))
    if part.kind in ("cable", "direction"):
        return _cable_boxes(layout, part, style)
    if part.kind in ("port", "cage"):
        return boxes_of(layout, name.rpartition(":")[0] or name.rpartition("/")[0], style)
    return _node_boxes(layout, part.kind, part.nodes[0], style)


def _node_boxes(layout: Layout, kind: str, node: int, style: str) -> Floats:
    fabric, shape = layout.fabric, layout.shape
    number = node - fabric.nodes(kind).start
    racks, trays = fabric.count("rack"), fabric.count("tray")
    if kind in ("gpu", "nic"):
        return layout.gpus.corners(np.array([number]))
    if kind in ("tray", "cpu"):
        tray = number if kind == "tray" else number // (fabric.count("cpu") // trays)
        each = fabric.count("gpu") // trays
        own = layout.gpus.corners(np.arange(tray * each, (tray + 1) * each))
        return _around(own)
    if kind == "leaf":
        if style != "matrix":
            return layout.leaves[number : number + 1]
        each = shape.spines_per_pod
        own = layout.pairs.corners(np.array([number * each, number * each + each - 1]))
        return np.concatenate([layout.leaves[number : number + 1], _around(own)])
    if kind == "spine":
        return _spine_boxes(layout, number, style)
    if kind == "core" and layout.planes is not None:
        position = number // shape.cores_per_group
        across = np.arange(shape.pods) * shape.spines_per_pod + position
        return _around(layout.planes.corners(across))
    if kind in ("cdu", "loop"):
        loop = number if kind == "loop" else number // (fabric.count("cdu") // fabric.count("loop"))
        each = -(-racks // fabric.count("loop"))
        return layout.loops[loop] if layout.loops else layout.racks[loop * each : (loop + 1) * each]
    # Racks, and what a rack holds or is cooled by alone.
    rack = number // (fabric.count(kind) // racks)
    return layout.racks[rack : rack + 1]


def _spine_boxes(layout: Layout, number: int, style: str) -> Floats:
    shape = layout.shape
    if style != "matrix":
        return layout.spines[number : number + 1]
    pod, position = divmod(number, shape.spines_per_pod)
    first = pod * shape.leaves_per_pod
    last = min(first + shape.leaves_per_pod, shape.leaves) - 1
    own = np.array([first, last]) * shape.spines_per_pod + position
    found = _around(layout.pairs.corners(own))
    if layout.planes is None:
        return found
    return np.concatenate([found, layout.planes.corners(np.array([number]))])


def _cable_boxes(layout: Layout, part: Part, style: str) -> Floats:
    fabric, shape = layout.fabric, layout.shape
    source, target = fabric.ends(np.array(part.links[:1]))
    low, high = sorted((int(source[0]), int(target[0])), key=lambda n: _height(fabric, n))
    kinds = fabric.kind_of(low).name, fabric.kind_of(high).name
    if kinds == ("leaf", "spine"):
        leaf = low - fabric.nodes("leaf").start
        spine = high - fabric.nodes("spine").start
        if style != "matrix":
            return np.stack([layout.leaves[leaf], layout.spines[spine]])
        return layout.pairs.corners(
            np.array([leaf * shape.spines_per_pod + spine % shape.spines_per_pod])
        )
    if kinds == ("spine", "core") and layout.planes is not None:
        return layout.planes.corners(np.array([low - fabric.nodes("spine").start]))
    return _node_boxes(layout, kinds[0], low, style)


def _height(fabric: Fabric, node: int) -> int:
    order = ("gpu", "nic", "nvswitch", "leaf", "spine", "core")
    return order.index(fabric.kind_of(node).name)


def _around(boxes: Floats) -> Floats:
    return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])[None, :]


def within(layout: Layout, view: View, box: Box, style: str = "matrix") -> list[str]:
    """Components in a box of the world: racks, leaves, pairs or GPUs, whichever it was drawn over.

    Of several kinds the one that the box covers most of is taken, so that a band over racks does
    not take leaves along.
    """
    fabric, shape = layout.fabric, layout.shape
    gpus = layout.gpus.within(box)
    leaves = np.flatnonzero(_meets(layout.leaves, box))
    pairs = layout.pairs.within(box) if style == "matrix" else np.zeros(0, dtype=np.int64)
    if len(gpus) and not len(leaves):
        high = layout.gpus.cell_size(view)[1] / view.scale
        if high >= GPU_FROM:
            return fabric.names_of(fabric.nodes("gpu").start + gpus)
        per_rack = fabric.count("gpu") // fabric.count("rack")
        return [f"rack-{rack}" for rack in np.unique(gpus // per_rack).tolist()]
    if len(leaves):
        return [f"leaf-{number}" for number in leaves.tolist()]
    each = shape.spines_per_pod
    found = (divmod(pair, each) for pair in pairs.tolist())
    return [f"leaf-{leaf}~spine-{_spine(layout, leaf, position)}" for leaf, position in found]


def _meets(boxes: Floats, box: Box) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    x0, y0, x1, y1 = box
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = (
        (boxes[:, 0] < x1) & (boxes[:, 2] > x0) & (boxes[:, 1] < y1) & (boxes[:, 3] > y0)
    )
    return found


def pod_of(layout: Layout, name: str) -> int:
    """The pod that a rack, leaf, spine or part of one belongs to, -1 for none.

    Examples
    --------
    >>> from gbviz.display.layout import layout
    >>> from gbviz.topology import build, cluster_spec
    >>> found = layout(build(cluster_spec("gb300-27k")))
    >>> pod_of(found, "rack-24/tray-0"), pod_of(found, "spine-23"), pod_of(found, "core-0")
    (1, 0, -1)
    """
    shape = layout.shape
    head, _, number = re.split("[/~>:]", name)[0].partition("-")
    if not (number.isascii() and number.isdecimal()):
        return -1
    racks = shape.leaves_per_pod // shape.rails * shape.racks_per_group
    per = {"rack": racks, "leaf": shape.leaves_per_pod, "spine": shape.spines_per_pod}
    return int(number) // per[head] if head in per else -1
