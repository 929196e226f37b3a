"""Which part of a rack lies under a point of its picture, where a part lies, which is next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gbviz.display.rack_layout import rack_layout

if TYPE_CHECKING:
    from gbviz.display.grid import Box, Grid
    from gbviz.display.rack_layout import RackLayout
    from gbviz.display.walk import Way
    from gbviz.topology.fabric import Fabric, Floats

_SIDEWAYS = 4.0


def rack_of(fabric: Fabric, name: str) -> int:
    """The rack that a component is in, or that a NIC cable or cooling unit of one rack goes to.

    -1 for what belongs to no single rack.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> rack_of(fabric, "rack-3/tray-1/gpu-0"), rack_of(fabric, "hxu-7"), rack_of(fabric, "leaf-2")
    (3, 7, -1)
    """
    head, _, number = re.split("[/~>:]", name)[0].partition("-")
    if head == "rack" or (head in ("hxu", "loop") and fabric.count(head) == fabric.count("rack")):
        plain = number.isascii() and number.isdecimal()
        return int(number) if plain and int(number) < fabric.count("rack") else -1
    return -1


def rack_parts(fabric: Fabric, rack: int, coolers: list[str]) -> dict[str, Floats]:
    """Names of all parts of a rack's picture and their world corners (4,), outermost first."""
    layout, here = rack_layout(fabric), f"rack-{rack}"
    found: dict[str, Floats] = {}
    found |= {f"{here}/tray-{n}": box for n, box in enumerate(layout.trays)}
    found |= {f"{here}/nvtray-{n}": box for n, box in enumerate(layout.nvtrays)}
    found |= {f"{here}/feed-{'ab'[n]}": box for n, box in enumerate(layout.feeds)}
    found |= dict(zip(coolers, layout.coolers, strict=False))
    each = fabric.count("gpu") // fabric.count("tray")
    for kind, grid in (("gpu", layout.gpus), ("nic", layout.nics)):
        corners = grid.corners(np.arange(grid.ids.size))
        found |= {
            f"{here}/tray-{n // each}/{kind}-{n % each}": box for n, box in enumerate(corners)
        }
    for kind, grid in (("nvswitch", layout.asics), ("shelf", layout.shelves)):
        corners = grid.corners(np.arange(grid.ids.size))
        found |= {f"{here}/{kind}-{n}": box for n, box in enumerate(corners)}
    return found


def pick_in_rack(fabric: Fabric, rack: int, coolers: list[str], at: tuple[float, float]) -> str:
    """The part of a rack's picture at a point of its world, "" for none."""
    layout, here = rack_layout(fabric), f"rack-{rack}"
    link = layout.links.hit(*at)
    if link >= 0:
        return _link_name(fabric, rack, link)
    each = fabric.count("gpu") // fabric.count("tray")
    for kind, grid in (("gpu", layout.gpus), ("nic", layout.nics)):
        if (n := grid.hit(*at)) >= 0:
            return f"{here}/tray-{n // each}/{kind}-{n % each}"
    for kind, grid in (("nvswitch", layout.asics), ("shelf", layout.shelves)):
        if (n := grid.hit(*at)) >= 0:
            return f"{here}/{kind}-{n}"
    for name, (x0, y0, x1, y1) in _outer(layout, rack, coolers).items():
        if x0 <= at[0] < x1 and y0 <= at[1] < y1:
            return name
    return ""


def _outer(layout: RackLayout, rack: int, coolers: list[str]) -> dict[str, list[float]]:
    here = f"rack-{rack}"
    found = {f"{here}/tray-{n}": box for n, box in enumerate(layout.trays.tolist())}
    found |= {f"{here}/nvtray-{n}": box for n, box in enumerate(layout.nvtrays.tolist())}
    found |= {f"{here}/feed-{'ab'[n]}": box for n, box in enumerate(layout.feeds.tolist())}
    return found | dict(zip(coolers, layout.coolers.tolist(), strict=False))


def _link_name(fabric: Fabric, rack: int, link: int) -> str:
    nvlink = fabric.nvlink
    assert nvlink is not None
    gpu, asic = divmod(link, nvlink.asics)
    name = fabric.name(fabric.nodes("gpu").start + rack * nvlink.gpus + gpu)
    return f"{name}~rack-{rack}/nvswitch-{asic}"


def boxes_in_rack(fabric: Fabric, rack: int, coolers: list[str], name: str) -> Floats:
    """World corners (n, 4) of a component on its rack's picture; none where it is not on it."""
    layout = rack_layout(fabric)
    plain = name.partition("#")[0]
    low, sign, high = plain.partition("~")
    if sign and "/nvswitch-" in high:
        gpus, nvlink = fabric.nodes("gpu"), fabric.nvlink
        assert nvlink is not None
        gpu = (fabric.index_of(low) - gpus.start) % nvlink.gpus
        link = gpu * nvlink.asics + int(high.rpartition("-")[2])
        return layout.links.corners(np.array([link]))
    parts = rack_parts(fabric, rack, coolers)
    if low in parts:
        own = parts[low][None, :]
        return np.concatenate([own, *_row_or_column(fabric, layout, low)])
    if plain == f"rack-{rack}":
        x0, y0, _, _ = layout.shelves.box
        return np.array([[x0, y0, layout.nics.box[2], layout.shelves.box[3]]])
    return np.zeros((0, 4))


def _row_or_column(fabric: Fabric, layout: RackLayout, name: str) -> list[Floats]:
    """The row of a GPU, or the column of an ASIC, in the NVLink matrix."""
    kind, _, number = name.split("/")[-1].partition("-")
    nvlink = fabric.nvlink
    if nvlink is None or kind not in ("gpu", "nvswitch"):
        return []
    if kind == "nvswitch":
        ends = np.array([int(layout.links.ids[0, 0]), int(layout.links.ids[-1, 0])])
        return [_around(layout.links, ends + int(number))]
    gpu = (fabric.index_of(name) - fabric.nodes("gpu").start) % nvlink.gpus
    return [_around(layout.links, np.array([0, nvlink.asics - 1]) + gpu * nvlink.asics)]


def _around(grid: Grid, ids: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    boxes = grid.corners(ids)
    return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])[None, :]


def next_in_rack(fabric: Fabric, rack: int, coolers: list[str], name: str, way: Way) -> str:
    """The part next to one on a rack's picture: the nearest in that direction."""
    layout = rack_layout(fabric)
    low, sign, high = name.partition("#")[0].partition("~")
    if sign and "/nvswitch-" in high:
        return _next_link(fabric, layout, rack, boxes_in_rack(fabric, rack, coolers, name)[0], way)
    parts = rack_parts(fabric, rack, coolers)
    if low not in parts:
        return f"rack-{rack}/tray-{len(layout.trays) - 1}/gpu-0"
    names = [one for one in parts if not one.split("/")[-1].startswith(("tray", "nvtray"))]
    boxes = np.array([parts[one] for one in names])
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    here = (parts[low][:2] + parts[low][2:]) / 2
    axis, sense = {"left": (0, -1), "right": (0, 1), "up": (1, -1), "down": (1, 1)}[way]
    ahead = (middle[:, axis] - here[axis]) * sense
    aside = np.abs(middle[:, 1 - axis] - here[1 - axis])
    away = np.where(ahead > 0.3, ahead + _SIDEWAYS * aside, np.inf)
    best = int(away.argmin())
    if np.isinf(away[best]):
        if way == "right":
            box: Box = (layout.links.left[0], here[1], layout.links.right[0], here[1])
            return _next_link(fabric, layout, rack, np.array(box), way)
        return name
    return names[best]


def _next_link(fabric: Fabric, layout: RackLayout, rack: int, box: Floats, way: Way) -> str:
    grid = layout.links
    row = int(np.abs(grid.top - box[1]).argmin())
    column = int(np.abs(grid.left - box[0]).argmin())
    down, across = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}[way]
    if way == "left" and column == 0:
        gpu = int(grid.ids[row, 0]) // grid.ids.shape[1]
        each = fabric.count("gpu") // fabric.count("tray")
        return f"rack-{rack}/tray-{gpu // each}/gpu-{gpu % each}"
    row = min(max(row + down, 0), grid.ids.shape[0] - 1)
    column = min(max(column + across, 0), grid.ids.shape[1] - 1)
    return _link_name(fabric, rack, int(grid.ids[row, column]))
