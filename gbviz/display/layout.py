"""Where everything of a fabric lies on the map, from its wiring.

The world's unit is one column of GPUs across and one row of trays down. Racks of a leaf group
stand below each other in one column with their leaves above, leaf k over rail k, so that the cables
of NICs need no lines. Pods are blocks of such columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.display.grid import Box, Grid

if TYPE_CHECKING:
    from gbviz.topology.fabric import Fabric, Floats
    from gbviz.topology.sizing import FatTree

_COLUMN_GAP = 0.7
_POD_GAP = 5.0
_HEAD = 7.0
_PLANES = 40.0
_PLANES_HEAD = 8.0
_MATRIX = 54.0
_LEAF_HEIGHT = 4.0
_STUBS = 13.0
_RACK_GAP = 5.0
_TALLEST_ROW = 5.0
_ASPECT = 1.45
_SCALE_RATIO = 3.2


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """World positions of a fabric's parts.

    Parameters
    ----------
    fabric
        What it is of.
    width, height
        Of the world.
    gpus, pairs, planes
        Grids: GPUs; leaf-spine pairs, number ``leaf * spines a pod + position``; and, with three
        tiers, spines (pods across, positions down), the other end of whose cables is the core.
    racks, leaves, spines
        (n, 4) corners: rack tiles, leaves, and spines where links are drawn as lines.
    rows
        (pods, spines a pod, 2) left end and middle of each row of the pairs, for its label.
    pods
        (pods, 4) corners of the blocks.
    loops
        For each cooling loop of several racks the corners of the blocks that it cools.
    """

    fabric: Fabric
    width: float
    height: float
    gpus: Grid
    pairs: Grid
    planes: Grid | None
    racks: Floats
    leaves: Floats
    spines: Floats
    rows: Floats
    pods: Floats
    loops: tuple[Floats, ...]

    @property
    def box(self) -> Box:
        """All of the world."""
        return 0.0, 0.0, self.width, self.height

    @property
    def shape(self) -> FatTree:
        """The fat tree that it is of."""
        assert self.fabric.shape is not None
        return self.fabric.shape


@lru_cache(maxsize=4)
def layout(fabric: Fabric) -> Layout:
    """The map of a built fabric.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> found = layout(build(cluster_spec("azure-gb300")))
    >>> found.gpus.ids.shape, found.pairs.ids.shape  # 4 x 18 trays, 16 x 4 rails; 36 spines
    ((72, 64), (36, 64))
    >>> corners = found.racks[[0, 1, 4]]  # rack-1 below rack-0, rack-4 beside it
    >>> bool(corners[0, 0] == corners[1, 0] < corners[2, 0]), bool(corners[0, 1] < corners[1, 1])
    (True, True)
    """
    shape = fabric.shape
    assert shape is not None
    groups = shape.leaves_per_pod // shape.rails
    block = _Block(shape, groups, fabric.count("tray") // fabric.count("rack"))
    across, head = _arrangement(shape, block)
    pods = np.array([block.corner(pod, across, head) for pod in range(shape.pods)])
    corners = np.column_stack([pods, pods + np.array([block.width, block.height])])
    gpus = _gpu_grid(fabric, block, across, corners)
    pairs = _pair_grid(shape, block, across, corners)
    racks = _rack_boxes(fabric, block, corners)
    leaves = _leaf_boxes(shape, block, corners)
    width = float(corners[:, 2].max())
    planes = _plane_grid(shape, width) if shape.cores else None
    return Layout(
        fabric,
        width,
        float(corners[:, 3].max()),
        gpus,
        pairs,
        planes,
        racks,
        leaves,
        _spine_boxes(shape, block, corners),
        _row_ends(shape, block, corners),
        corners,
        _loop_blocks(fabric, racks),
    )


class _Block:
    """Measures of one pod: its matrix, its leaves, its racks."""

    def __init__(self, shape: FatTree, groups: int, trays: int) -> None:
        self.rails, self.groups, self.trays = shape.rails, groups, trays
        self.high = shape.racks_per_group
        # The more pods, the smaller they are seen, and the name above each stays as large.
        self.head = _HEAD + 2.2 * math.sqrt(shape.pods) if shape.pods > 1 else 1.0
        self.row = min(_TALLEST_ROW, _MATRIX / shape.spines_per_pod)
        self.matrix = self.row * shape.spines_per_pod
        self.pitch = shape.rails + _COLUMN_GAP
        self.leaf_top = self.head + self.matrix + 3.0
        self.rack_top = self.leaf_top + _LEAF_HEIGHT + _STUBS
        self.rack_pitch = trays + _RACK_GAP
        self.width = groups * self.pitch - _COLUMN_GAP
        self.height = self.rack_top + self.high * self.rack_pitch

    def corner(self, pod: int, across: int, head: float) -> tuple[float, float]:
        """Upper left corner of a pod's block."""
        row, column = divmod(pod, across)
        return column * (self.width + _POD_GAP), head + row * (self.height + _POD_GAP)

    def columns(self) -> Floats:
        """Left ends (groups x rails,) of the columns of GPUs and leaves."""
        group, rail = np.divmod(np.arange(self.groups * self.rails), self.rails)
        left: Floats = group * self.pitch + rail
        return left


def _arrangement(shape: FatTree, block: _Block) -> tuple[int, float]:
    """Pods side by side so that the whole is about as wide as a screen; room for planes above."""
    head = _PLANES + _PLANES_HEAD if shape.cores else 0.0
    if shape.pods == 1:
        return 1, head

    def off(across: int) -> float:
        width = across * (block.width + _POD_GAP) * _SCALE_RATIO
        height = head + math.ceil(shape.pods / across) * (block.height + _POD_GAP)
        return abs(math.log(width / height / _ASPECT))

    return min(range(1, shape.pods + 1), key=off), head


def _tiled(starts: Floats, inner: Floats) -> Floats:
    found: Floats = (starts[:, None] + inner[None, :]).reshape(-1)
    return found


def _counting(count: int, step: float = 1.0) -> Floats:
    """0, step, 2 step ..., as world lengths."""
    return np.arange(count, dtype=np.float64) * step


def _gpu_grid(fabric: Fabric, block: _Block, across: int, corners: Floats) -> Grid:
    down = -(-len(corners) // across)
    left = _tiled(np.unique(corners[:, 0]), block.columns())
    rack_tops = block.rack_top + _counting(block.high, block.rack_pitch)
    top = _tiled(np.unique(corners[:, 1]), _tiled(rack_tops, _counting(block.trays)))
    pod_row, rack_row, tray = np.unravel_index(np.arange(len(top)), (down, block.high, block.trays))
    pod_column, group, rail = np.unravel_index(
        np.arange(len(left)), (across, block.groups, block.rails)
    )
    pod = pod_row[:, None] * across + pod_column[None, :]
    rack = (pod * block.groups + group) * block.high + rack_row[:, None]
    ids = (rack * block.trays + tray[:, None]) * block.rails + rail
    ids = np.where((pod < len(corners)) & (rack < fabric.count("rack")), ids, -1)
    return Grid(left, left + 1.0, top, top + 1.0, ids)


def _pair_grid(shape: FatTree, block: _Block, across: int, corners: Floats) -> Grid:
    down = -(-len(corners) // across)
    left = _tiled(np.unique(corners[:, 0]), block.columns())
    inner = block.head + _counting(shape.spines_per_pod, block.row)
    top = _tiled(np.unique(corners[:, 1]), inner)
    pod_row, spine = np.divmod(np.arange(len(top)), shape.spines_per_pod)
    pod_column, leaf = np.divmod(np.arange(len(left)), shape.leaves_per_pod)
    pod = pod_row[:, None] * across + pod_column[None, :]
    number = pod * shape.leaves_per_pod + leaf
    ids = np.where(
        (pod < len(corners)) & (pod_row[:, None] < down) & (number < shape.leaves),
        number * shape.spines_per_pod + spine[:, None],
        -1,
    )
    return Grid(left, left + 1.0, top, top + block.row, ids)


def _plane_grid(shape: FatTree, width: float) -> Grid:
    """Spines by pod and position: each stands for its cables to the cores."""
    step = width / shape.pods
    left = _counting(shape.pods, step)
    row = _PLANES / shape.spines_per_pod
    top = _PLANES_HEAD / 2 + _counting(shape.spines_per_pod, row)
    position, pod = np.indices((shape.spines_per_pod, shape.pods))
    gap = 0.08 * step
    return Grid(left, left + step - gap, top, top + row, pod * shape.spines_per_pod + position)


def _rack_boxes(fabric: Fabric, block: _Block, corners: Floats) -> Floats:
    rack = np.arange(fabric.count("rack"))
    column, row = np.divmod(rack, block.high)
    pod, group = np.divmod(column, block.groups)
    x = corners[pod, 0] + group * block.pitch
    y = corners[pod, 1] + block.rack_top + row * block.rack_pitch
    return np.stack([x, y, x + block.rails, y + block.trays], axis=1)


def _leaf_boxes(shape: FatTree, block: _Block, corners: Floats) -> Floats:
    pod, inside = np.divmod(np.arange(shape.leaves), shape.leaves_per_pod)
    x = corners[pod, 0] + block.columns()[inside]
    y = corners[pod, 1] + block.leaf_top
    return np.stack([x + 0.08, y, x + 0.92, y + _LEAF_HEIGHT], axis=1)


def _spine_boxes(shape: FatTree, block: _Block, corners: Floats) -> Floats:
    """Spines in a row above each pod, for links drawn as lines."""
    pod, position = np.divmod(np.arange(shape.spines), shape.spines_per_pod)
    step = block.width / shape.spines_per_pod
    x = corners[pod, 0] + position * step
    y = corners[pod, 1] + block.head + 2.0
    gap = min(0.2 * step, 0.8)
    return np.stack([x + gap, y, x + step - gap, y + _LEAF_HEIGHT], axis=1)


def _row_ends(shape: FatTree, block: _Block, corners: Floats) -> Floats:
    middle = block.head + (np.arange(shape.spines_per_pod) + 0.5) * block.row
    ends = np.empty((len(corners), shape.spines_per_pod, 2))
    ends[:, :, 0] = corners[:, :1]
    ends[:, :, 1] = corners[:, 1:2] + middle
    return ends


def _loop_blocks(fabric: Fabric, racks: Floats) -> tuple[Floats, ...]:
    """Frames round the racks of each loop that several racks share."""
    spec = fabric.spec
    if spec is None or spec.cooling.kind == "hxu" or not fabric.count("loop"):
        return ()
    each = spec.cooling.racks_in_loop
    return tuple(_frames(racks[start : start + each]) for start in range(0, len(racks), each))


def _frames(boxes: Floats) -> Floats:
    """Frames round racks in their order: one for columns side by side of the same height."""
    height = float(boxes[0, 3] - boxes[0, 1])
    apart = np.diff(boxes[:, 1]) > height + _RACK_GAP + 1.0
    breaks = np.flatnonzero((np.diff(boxes[:, 0]) != 0) | apart) + 1
    found: list[list[float]] = []
    for column in np.split(boxes, breaks):
        box = [*column[0, :3].tolist(), float(column[-1, 3])]
        last = found[-1] if found else None
        if last is not None and last[1::2] == box[1::2] and last[0] < box[0]:
            last[2] = box[2]
        else:
            found.append(box)
    return np.array(found)
