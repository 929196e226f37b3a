"""Where the parts of one rack lie: its elevation as built, beside its NVLink matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.display.grid import Box, Grid
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from gbviz.topology.fabric import Fabric, Floats, Ints

# The world's unit is one rack unit down; across it is about a character.
_HEAD = 3.2
_LABEL = 9.0
_GPUS = 32.0
_NICS = 10.0
_GAP = 14.0
_LINKS = 76.0
_MANAGEMENT = 2


@dataclass(frozen=True, slots=True, eq=False)
class RackLayout:
    """World positions of the parts of a rack; numbers count within the rack.

    Parameters
    ----------
    gpus, nics, asics, shelves, links
        Grids of its GPUs, NICs, NVSwitch ASICs, power shelves, and NVLink cables, number
        ``GPU * ASICs + ASIC``.
    trays, nvtrays
        (n, 4) corners of whole trays, labels included.
    management
        (n, 4) corners of the management switches, which the model knows nothing of.
    feeds
        (2, 4) corners of the power feeds.
    coolers
        (n, 4) corners of the cooling units of its loop, in the order of their numbers.
    """

    width: float
    height: float
    gpus: Grid
    nics: Grid
    asics: Grid
    shelves: Grid
    links: Grid
    trays: Floats
    nvtrays: Floats
    management: Floats
    feeds: Floats
    coolers: Floats

    @property
    def box(self) -> Box:
        """All of the world."""
        return 0.0, 0.0, self.width, self.height


@lru_cache(maxsize=4)
def rack_layout(fabric: Fabric) -> RackLayout:
    """The elevation of the racks of a built fabric, trays counted from the bottom.

    From the top: management, power shelves, compute trays, NVSwitch trays, compute trays, power
    shelves. The catalogue says how many stand above and below the NVSwitch trays.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> found = rack_layout(build(cluster_spec("azure-gb300")))
    >>> found.links.ids.shape, found.trays.shape, found.nvtrays.shape
    ((72, 18), (18, 4), (9, 4))
    >>> bool(found.trays[17, 1] < found.nvtrays[8, 1] < found.trays[7, 1])  # 10 trays are above
    True
    """
    racks = fabric.count("rack")
    trays, nvtrays = fabric.count("tray") // racks, fabric.count("nvtray") // racks
    shelves, each = fabric.count("shelf") // racks, fabric.count("gpu") // fabric.count("tray")
    asics = fabric.count("nvswitch") // max(fabric.count("nvtray"), 1)
    facts = catalogue()
    above = int(facts.value("rack.trays_above_nvswitches"))
    below = int(facts.value("rack.trays_below_nvswitches"))
    lower = trays * below // (above + below)
    upper_shelves = shelves // 2
    order = (_MANAGEMENT, upper_shelves, trays - lower, nvtrays, lower, shelves - upper_shelves)
    start = _HEAD + np.cumsum([0, *order]).astype(np.float64)
    tray_y = _from_bottom((start[4], lower), (start[2], trays - lower))
    nvtray_y = _from_bottom((start[3], nvtrays))
    shelf_y = _from_bottom((start[5], shelves - upper_shelves), (start[1], upper_shelves))
    left = _LABEL
    gpus = _rows(tray_y, left, _GPUS, each)
    height = float(start[-1]) + 3.0
    x = left + _GPUS + 2.0 + _NICS + _GAP
    links = _link_grid(tray_y, x, each, nvtrays * asics, height)
    wide = left + _GPUS
    return RackLayout(
        width=x + _LINKS,
        height=height,
        gpus=gpus,
        nics=_rows(tray_y, left + _GPUS + 2.0, _NICS, each),
        asics=_rows(nvtray_y, left, _GPUS, asics),
        shelves=_rows(shelf_y, left, _GPUS, 1),
        links=links,
        trays=np.stack([0 * tray_y, tray_y, wide + 0 * tray_y, tray_y + 1], axis=1),
        nvtrays=np.stack([0 * nvtray_y, nvtray_y, wide + 0 * nvtray_y, nvtray_y + 1], axis=1),
        management=np.array(
            [(left, start[0] + n, wide, start[0] + n + 0.86) for n in range(_MANAGEMENT)]
        ),
        feeds=np.array([_feed(shelf_y[:upper_shelves]), _feed(shelf_y[upper_shelves:])]),
        coolers=_coolers(fabric, height, wide),
    )


def _from_bottom(*blocks: tuple[float, int]) -> Floats:
    """Upper edges of parts counted from the bottom, of blocks given from the bottom up."""
    parts = [first + np.arange(count, dtype=np.float64)[::-1] for first, count in blocks]
    found: Floats = np.concatenate(parts)
    return found


def _rows(tops: Floats, left: float, width: float, each: int) -> Grid:
    """Parts in rows of `each`, numbered along the trays from the bottom."""
    order = np.argsort(tops, kind="stable")
    step = width / each
    x = left + np.arange(each, dtype=np.float64) * step
    ids: Ints = order[:, None] * each + np.arange(each)[None, :]
    top = tops[order]
    return Grid(x, x + 0.94 * step, top, top + 0.86, ids)


def _link_grid(tray_y: Floats, left: float, each: int, asics: int, height: float) -> Grid:
    """Rows are GPUs in the order of their trays from the top, columns ASICs in pairs by tray."""
    order = np.argsort(tray_y, kind="stable")
    space = height - _HEAD - 4.0
    pitch = space / len(order)
    row = pitch * 0.86 / each
    top = (_HEAD + np.arange(len(order)) * pitch)[:, None] + np.arange(each)[None, :] * row
    gpu = order[:, None] * each + np.arange(each)[None, :]
    step = _LINKS / asics
    # ASICs of one tray touch, trays stand apart.
    x = left + np.arange(asics) * step + np.where(np.arange(asics) % 2, -0.03, 0.03) * step
    ids = gpu.reshape(-1)[:, None] * asics + np.arange(asics)[None, :]
    tops = top.reshape(-1)
    return Grid(x, x + 0.94 * step, tops, tops + row, ids)


def _feed(tops: Floats) -> tuple[float, float, float, float]:
    left = _LABEL + _GPUS + 2.0
    if not len(tops):
        return left, 0.0, left, 0.0
    return left, float(tops.min()), left + _NICS, float(tops.max()) + 0.86


def _coolers(fabric: Fabric, height: float, wide: float) -> Floats:
    """Units of a rack's loop side by side at the bottom."""
    kind = next((kind for kind in ("hxu", "cdu") if fabric.count(kind)), "")
    if not kind:
        return np.zeros((0, 4))
    count = fabric.count(kind) // fabric.count("loop")
    step = (wide - _LABEL) / count
    x = _LABEL + np.arange(count) * step
    y = np.full(count, height - 2.2)
    found: Floats = np.stack([x, y, x + 0.94 * step, y + 1.7], axis=1)
    return found
