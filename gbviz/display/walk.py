"""From one component to the next by arrow keys, and out to what holds it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from gbviz.display.layout import Layout

Way = Literal["left", "right", "up", "down"]
_STEPS: dict[str, tuple[int, int]] = {
    "left": (0, -1),
    "right": (0, 1),
    "up": (-1, 0),
    "down": (1, 0),
}


def parent(name: str) -> str:
    """What holds a component, "" for what nothing holds.

    Examples
    --------
    >>> parent("rack-3/tray-1/gpu-0"), parent("leaf-0~spine-3#1"), parent("leaf-0~spine-3")
    ('rack-3/tray-1', 'leaf-0~spine-3', 'leaf-0')
    """
    for sign in ("#", "~", ">", ":", "/"):
        if sign in name:
            return name.rpartition(sign)[0]
    return ""


def neighbour(layout: Layout, name: str, way: Way) -> str:
    """The component next to one on the map, the same one at an edge.

    Rack to rack, up to the leaves above them, from there into the rows of the spines.

    Examples
    --------
    >>> from gbviz.display.layout import layout
    >>> from gbviz.topology import build, cluster_spec
    >>> found = layout(build(cluster_spec("azure-gb300")))
    >>> neighbour(found, "rack-0", "right"), neighbour(found, "rack-0", "up")
    ('rack-4', 'leaf-0')
    >>> neighbour(found, "leaf-0", "up"), neighbour(found, "leaf-0~spine-35", "left")
    ('leaf-0~spine-35', 'spine-35')
    """
    if not name:
        return "rack-0"
    if "~" in name and name.startswith("leaf-") and "~spine-" in name:
        return _from_pair(layout, name, way)
    # Any other cable is left at its first end, a port at what has it.
    name = re.split("[~>:]", name)[0]
    kind = name.split("/")[-1].partition("-")[0]
    if kind in ("gpu", "nic"):
        return _from_gpu(layout, name, way)
    if kind == "tray":
        return _from_tray(layout, name, way)
    moves = {"rack": _from_rack, "leaf": _from_leaf, "spine": _from_spine}
    if "/" not in name and kind in moves:
        return moves[kind](layout, _number(name), way)
    return name.split("/")[0]


def _number(name: str) -> int:
    return int(name.rpartition("-")[2])


def _from_rack(layout: Layout, rack: int, way: Way) -> str:
    high, last = layout.shape.racks_per_group, layout.fabric.count("rack") - 1
    group, row = divmod(rack, high)
    if way == "up" and row == 0:
        return f"leaf-{group * layout.shape.rails}"
    step = {"left": -high, "right": high, "up": -1, "down": 1 if row < high - 1 else 0}[way]
    moved = rack + step
    return f"rack-{moved if 0 <= moved <= last else rack}"


def _from_leaf(layout: Layout, leaf: int, way: Way) -> str:
    shape = layout.shape
    if way == "down":
        return f"rack-{leaf // shape.rails * shape.racks_per_group}"
    if way == "up":
        spine = leaf // shape.leaves_per_pod * shape.spines_per_pod + shape.spines_per_pod - 1
        return f"leaf-{leaf}~spine-{spine}"
    moved = leaf + (1 if way == "right" else -1)
    return f"leaf-{moved if 0 <= moved < shape.leaves else leaf}"


def _from_spine(layout: Layout, spine: int, way: Way) -> str:
    shape = layout.shape
    pod = spine // shape.spines_per_pod
    if way == "right":
        return f"leaf-{pod * shape.leaves_per_pod}~spine-{spine}"
    moved = spine + {"up": -1, "down": 1, "left": 0}[way]
    return f"spine-{moved if 0 <= moved < shape.spines else spine}"


def _from_pair(layout: Layout, name: str, way: Way) -> str:
    shape = layout.shape
    low, _, high = name.partition("#")[0].partition("~")
    leaf, spine = _number(low), _number(high)
    pod, position = divmod(spine, shape.spines_per_pod)
    down, across = _STEPS[way]
    if way == "down" and position == shape.spines_per_pod - 1:
        return low
    if way == "left" and leaf == pod * shape.leaves_per_pod:
        return high
    leaf = min(max(leaf + across, 0), shape.leaves - 1)
    position = min(max(position + down, 0), shape.spines_per_pod - 1)
    return f"leaf-{leaf}~spine-{leaf // shape.leaves_per_pod * shape.spines_per_pod + position}"


def _from_tray(layout: Layout, name: str, way: Way) -> str:
    rack, _, tray = name.partition("/")
    count = layout.fabric.count("tray") // layout.fabric.count("rack")
    if way in ("left", "right"):
        return f"{_from_rack(layout, _number(rack), way)}/{tray}"
    moved = _number(tray) + _STEPS[way][0]
    return f"{rack}/tray-{moved}" if 0 <= moved < count else name


def _from_gpu(layout: Layout, name: str, way: Way) -> str:
    fabric = layout.fabric
    kind = name.split("/")[-1].partition("-")[0]
    number = fabric.index_of(name) - fabric.nodes(kind).start
    ids = layout.gpus.ids
    row, column = (int(found[0]) for found in np.nonzero(ids == number))
    down, across = _STEPS[way]
    row, column = row + down, column + across
    while 0 <= row < ids.shape[0] and 0 <= column < ids.shape[1]:
        if ids[row, column] >= 0:
            return fabric.name(fabric.nodes(kind).start + int(ids[row, column]))
        row, column = row + down, column + across
    return name
