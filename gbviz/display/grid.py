"""Cells in rows and columns: painted, found and framed by arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gbviz.display.theme import Colours
    from gbviz.topology.fabric import Floats, Ints

Box = tuple[float, float, float, float]

# Cells at least this many pixels wide get a pixel between them.
_GAP_FROM = 5.0


@dataclass(frozen=True, slots=True)
class View:
    """Which part of the world is seen: device x = (world x - x0) sx, likewise y.

    `width` and `height` are device pixels; `scale` is device pixels a logical one, `font` how much
    larger than usual people want their text.
    """

    x0: float
    y0: float
    sx: float
    sy: float
    width: int
    height: int
    scale: float = 1.0
    font: float = 1.0

    @property
    def type(self) -> float:
        """Device pixels of one logical pixel of text."""
        return self.scale * self.font

    def to_device(self, x: float, y: float) -> tuple[float, float]:
        """Device pixels of a point of the world."""
        return (x - self.x0) * self.sx, (y - self.y0) * self.sy

    def to_world(self, x: float, y: float) -> tuple[float, float]:
        """The point of the world at a device pixel."""
        return self.x0 + x / self.sx, self.y0 + y / self.sy

    def boxes(self, corners: Floats) -> Floats:
        """Device x, y, width, height (n, 4) of world corners x0, y0, x1, y1 (n, 4)."""
        out: Floats = np.empty_like(corners)
        out[:, 0] = (corners[:, 0] - self.x0) * self.sx
        out[:, 1] = (corners[:, 1] - self.y0) * self.sy
        out[:, 2] = (corners[:, 2] - corners[:, 0]) * self.sx
        out[:, 3] = (corners[:, 3] - corners[:, 1]) * self.sy
        return out

    def sees(self, corners: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """(n,) which world boxes are at least partly in sight."""
        x1, y1 = self.to_world(self.width, self.height)
        seen: np.ndarray[tuple[int], np.dtype[np.bool_]] = (
            (corners[:, 2] >= self.x0)
            & (corners[:, 0] <= x1)
            & (corners[:, 3] >= self.y0)
            & (corners[:, 1] <= y1)
        )
        return seen


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Cells (R, C) between the world lines of their rows and columns.

    Parameters
    ----------
    left, right
        (C,) ascending, columns apart from each other or touching.
    top, bottom
        (R,) likewise.
    ids
        (R, C) number of the item in each cell, -1 for none; every item has at most one cell.
    """

    left: Floats
    right: Floats
    top: Floats
    bottom: Floats
    ids: Ints
    _place: Ints = field(init=False)

    def __post_init__(self) -> None:
        count = int(self.ids.max(initial=-1)) + 1
        place: Ints = np.full(count, -1, dtype=np.int64)
        flat = self.ids.reshape(-1)
        filled = np.flatnonzero(flat >= 0)
        place[flat[filled]] = filled
        object.__setattr__(self, "_place", place)

    @property
    def box(self) -> Box:
        """World corners of all of it."""
        if not self.ids.size:
            return 0.0, 0.0, 0.0, 0.0
        return (
            float(self.left[0]),
            float(self.top[0]),
            float(self.right[-1]),
            float(self.bottom[-1]),
        )

    def hit(self, x: float, y: float) -> int:
        """The item at a point of the world, -1 for none.

        Examples
        --------
        >>> edges = np.array([0.0, 2.0])
        >>> grid = Grid(edges, edges + 1, edges, edges + 1, np.arange(4).reshape(2, 2))
        >>> grid.hit(0.5, 2.5), grid.hit(1.5, 0.5)  # the second lies between two columns
        (2, -1)
        """
        column = _at(self.left, self.right, x)
        row = _at(self.top, self.bottom, y)
        return int(self.ids[row, column]) if row >= 0 and column >= 0 else -1

    def corners(self, items: Ints) -> Floats:
        """World corners (n, 4) of the cells of items that have one."""
        place = self._place[np.asarray(items, dtype=np.int64)]
        row, column = np.divmod(place, self.ids.shape[1])
        found: Floats = np.stack(
            [self.left[column], self.top[row], self.right[column], self.bottom[row]], axis=1
        )
        return found

    def within(self, box: Box) -> Ints:
        """Items whose cells meet a box of the world, ascending."""
        x0, y0, x1, y1 = box
        columns = np.flatnonzero((self.right > x0) & (self.left < x1))
        rows = np.flatnonzero((self.bottom > y0) & (self.top < y1))
        found = self.ids[np.ix_(rows, columns)].reshape(-1)
        return np.sort(found[found >= 0])

    def cell_size(self, view: View) -> tuple[float, float]:
        """Device pixels of a cell: width and height of the first."""
        if not self.ids.size:
            return 0.0, 0.0
        return (
            float(self.right[0] - self.left[0]) * view.sx,
            float(self.bottom[0] - self.top[0]) * view.sy,
        )

    def paint(self, view: View, colours: Colours, ground: int) -> list[tuple[int, int, Colours]]:
        """The part of it that is in sight, as pixels.

        Parameters
        ----------
        view
            What is seen.
        colours
            (items,) packed colour of each.
        ground
            Packed colour between the cells.

        Returns
        -------
        list
            Device x and y of the upper left corner and (h, w) colours of each band of rows; what
            lies between bands is not painted over.

        Notes
        -----
        Where cells are smaller than a pixel, one of those that meet it is seen. Cost: two gathers
        of the pixels in sight, about 1 ms for 1100 x 700.
        """
        if not self.ids.size:
            return []
        first_x, columns = _pixels(self.left, self.right, view.x0, view.sx, view.width)
        first_y, rows = _pixels(self.top, self.bottom, view.y0, view.sy, view.height)
        if not len(columns) or not len(rows):
            return []
        # Only cells in sight, so that a deep zoom into a large floor stays cheap.
        c0, c1 = _span(columns)
        r0, r1 = _span(rows)
        if c1 <= c0 or r1 <= r0:
            return []
        ids = self.ids[r0:r1, c0:c1]
        cells = np.full((r1 - r0 + 1, c1 - c0 + 1), ground, dtype=np.uint32)
        padded = np.append(colours, np.uint32(ground))  # -1 is the last
        cells[:-1, :-1] = padded[ids]
        across = np.where(columns < 0, c1 - c0, columns - c0)
        down = np.where(rows < 0, r1 - r0, rows - r0)
        return [
            (first_x, first_y + start, cells.take(down[start:stop], axis=0).take(across, axis=1))
            for start, stop in _bands(rows)
        ]


def _at(low: Floats, high: Floats, value: float) -> int:
    at = int(np.searchsorted(low, value, side="right")) - 1
    return at if at >= 0 and value < high[at] else -1


def _span(cells: Ints) -> tuple[int, int]:
    inside = cells[cells >= 0]
    return (int(inside.min()), int(inside.max()) + 1) if len(inside) else (0, 0)


def _bands(rows: Ints) -> list[tuple[int, int]]:
    """Runs of pixel rows with cells; gaps of up to two pixels belong to a run."""
    filled = np.flatnonzero(rows >= 0)
    breaks = np.flatnonzero(np.diff(filled) > 3)
    starts = np.concatenate([filled[:1], filled[breaks + 1]])
    stops = np.concatenate([filled[breaks], filled[-1:]]) + 1
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def _pixels(low: Floats, high: Floats, start: float, scale: float, size: int) -> tuple[int, Ints]:
    """First device pixel in sight, and the cell (n,) of each from there on, -1 between cells."""
    first = max(0, int(np.floor((low[0] - start) * scale)))
    last = min(size, int(np.ceil((high[-1] - start) * scale)))
    if last <= first:
        return 0, np.zeros(0, dtype=np.int64)
    pixel = np.arange(first, last)
    # Whole pixels: a cell begins at the rounded line of its left edge.
    begins = np.rint((low - start) * scale)
    ends = np.rint((high - start) * scale)
    ends = ends - bool((high[0] - low[0]) * scale >= _GAP_FROM)
    cell = np.searchsorted(begins, pixel, side="right") - 1
    cell = np.where((cell >= 0) & (pixel < ends[cell]), cell, -1)
    return first, cell
