from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.display.grid import Grid, View

if TYPE_CHECKING:
    from gbviz.topology.fabric import Floats

GROUND, UNTOUCHED = 0xFF000001, 0
SIZES = st.lists(st.tuples(st.floats(0.1, 12), st.sampled_from([0.0, 0.0, 0.4, 3.0])), min_size=1)
PLACES = st.floats(-30, 30)


@st.composite
def edges(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    """Cells of one axis: from where to where."""
    at = draw(PLACES)
    low, high = [], []
    for size, gap in draw(SIZES.map(lambda sizes: sizes[:6])):
        low.append(at)
        at += size
        high.append(at)
        at += gap
    return low, high


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    (left, right), (top, bottom) = draw(edges()), draw(edges())
    cells = len(left) * len(top)
    order = draw(st.permutations(range(cells)))
    absent = draw(st.sets(st.integers(0, cells - 1), max_size=cells // 2))
    ids = [-1 if n in absent else item for n, item in enumerate(order)]
    shape = (len(top), len(left))
    axes = np.array(left), np.array(right), np.array(top), np.array(bottom)
    return Grid(*axes, np.array(ids).reshape(shape))


@st.composite
def views(draw: st.DrawFn, grid: Grid | None = None) -> View:
    """Any view, or one that sees a part of a grid."""
    size = st.integers(1, 40)
    if grid is None:
        scales = st.floats(0.1, 9)
        places = PLACES, PLACES
    else:
        scales = st.floats(0.3, 5)
        x0, y0, x1, y1 = grid.box
        places = st.floats(x0 - 4, x1), st.floats(y0 - 4, y1)
    corner = draw(places[0]), draw(places[1])
    return View(*corner, draw(scales), draw(scales), draw(size), draw(size), 1.0)


@st.composite
def points(draw: st.DrawFn, grid: Grid) -> tuple[float, float]:
    """Points in and near a grid, its lines among them."""
    x0, y0, x1, y1 = grid.box
    lines = st.sampled_from([*grid.left.tolist(), *grid.right.tolist()])
    rows = st.sampled_from([*grid.top.tolist(), *grid.bottom.tolist()])
    return draw(lines | st.floats(x0 - 2, x1 + 2)), draw(rows | st.floats(y0 - 2, y1 + 2))


def owner(low: list[float], high: list[float], start: float, scale: float, pixel: int) -> int:
    """The cell that begins at or before a pixel and ends after it, on whole pixels; -1 for none."""
    gap = 1 if (high[0] - low[0]) * scale >= 5 else 0
    found = -1
    for cell, (a, b) in enumerate(zip(low, high, strict=True)):
        if round((a - start) * scale) <= pixel < round((b - start) * scale) - gap:
            found = cell
    return found


def _sides(grid: Grid) -> tuple[Floats, Floats, Floats, Floats]:
    return grid.left, grid.right, grid.top, grid.bottom


@settings(max_examples=60, deadline=None)
@given(grids().flatmap(lambda grid: st.tuples(st.just(grid), views(grid))))
def test_every_pixel_shows_its_cell(sight: tuple[Grid, View]) -> None:
    grid, view = sight
    colours = np.arange(100, 100 + grid.ids.size, dtype=np.uint32)
    canvas = np.full((view.height, view.width), UNTOUCHED, dtype=np.uint32)
    for x, y, pixels in grid.paint(view, colours, GROUND):
        high, wide = pixels.shape
        assert 0 <= x <= x + wide <= view.width
        assert 0 <= y <= y + high <= view.height
        canvas[y : y + high, x : x + wide] = pixels
    left, right, top, bottom = (side.tolist() for side in _sides(grid))
    across = [owner(left, right, view.x0, view.sx, x) for x in range(view.width)]
    down = [owner(top, bottom, view.y0, view.sy, y) for y in range(view.height)]
    for y, row in enumerate(down):
        for x, column in enumerate(across):
            item = int(grid.ids[row, column]) if row >= 0 and column >= 0 else -1
            if item >= 0:
                assert canvas[y, x] == 100 + item, (x, y)
            else:
                assert canvas[y, x] in (UNTOUCHED, GROUND), (x, y)


@settings(max_examples=40, deadline=None)
@given(grids().flatmap(lambda grid: st.tuples(st.just(grid), points(grid))))
def test_hit_is_the_cell_around_a_point(aimed: tuple[Grid, tuple[float, float]]) -> None:
    grid, (x, y) = aimed
    expected = -1
    for row, (top, bottom) in enumerate(zip(grid.top, grid.bottom, strict=True)):
        for column, (left, right) in enumerate(zip(grid.left, grid.right, strict=True)):
            if left <= x < right and top <= y < bottom:
                expected = int(grid.ids[row, column])
    assert grid.hit(x, y) == expected


@settings(max_examples=40, deadline=None)
@given(grids())
def test_the_middle_of_an_items_corners_hits_it(grid: Grid) -> None:
    for item in sorted(grid.ids[grid.ids >= 0].tolist()):
        x0, y0, x1, y1 = grid.corners(np.array([item]))[0]
        assert grid.hit((x0 + x1) / 2, (y0 + y1) / 2) == item
        assert item in grid.within((x0, y0, x1, y1))


@settings(max_examples=40, deadline=None)
@given(grids(), PLACES, PLACES, st.floats(0.01, 40), st.floats(0.01, 40))
def test_within_is_all_that_a_box_meets(
    grid: Grid, x0: float, y0: float, wide: float, high: float
) -> None:
    x1, y1 = x0 + wide, y0 + high
    expected = []
    for item in sorted(grid.ids[grid.ids >= 0].tolist()):
        a, b, c, d = grid.corners(np.array([item]))[0]
        if a < x1 and c > x0 and b < y1 and d > y0:
            expected.append(item)
    assert grid.within((x0, y0, x1, y1)).tolist() == expected


def test_rows_far_apart_are_painted_in_bands() -> None:
    left, top = np.array([0.0, 2.0]), np.array([0.0, 2.0, 12.0])
    grid = Grid(left, left + 2, top, top + 2, np.arange(6).reshape(3, 2))
    bands = grid.paint(View(-1, -1, 1, 1, 30, 30), np.arange(6, dtype=np.uint32), GROUND)
    assert [(x, y, pixels.shape) for x, y, pixels in bands] == [(1, 1, (4, 4)), (1, 13, (2, 4))]
    assert bands[1][2][0].tolist() == [4, 4, 5, 5]


def test_a_grid_out_of_sight_or_without_cells_paints_nothing() -> None:
    edge = np.array([0.0, 1.0])
    grid = Grid(edge, edge + 1, edge, edge + 1, np.arange(4).reshape(2, 2))
    colours = np.zeros(4, dtype=np.uint32)
    for x0, y0 in ((5.0, 0.0), (-50.0, 0.0), (0.0, 5.0), (0.0, -50.0)):
        assert grid.paint(View(x0, y0, 1.0, 1.0, 10, 10), colours, GROUND) == []
    none = np.zeros(0)
    empty = Grid(none, none, none, none, np.zeros((0, 0), dtype=np.int64))
    assert empty.paint(View(0, 0, 1, 1, 10, 10), colours, GROUND) == []
    assert set(empty.box) == {0.0}
    assert set(empty.cell_size(View(0, 0, 1, 1, 10, 10))) == {0.0}
    assert len(empty.within((0, 0, 9, 9))) == 0


@given(views(), PLACES, PLACES)
def test_to_world_takes_to_device_back(view: View, x: float, y: float) -> None:
    assert view.to_world(*view.to_device(x, y)) == pytest.approx((x, y), abs=1e-6)


@given(views(), PLACES, PLACES, st.floats(0, 9), st.floats(0, 9))
def test_boxes_and_sees_agree_with_to_device(
    view: View, x0: float, y0: float, wide: float, high: float
) -> None:
    corners = np.array([[x0, y0, x0 + wide, y0 + high]])
    x, y, w, h = view.boxes(corners)[0]
    assert (x, y) == pytest.approx(view.to_device(x0, y0))
    assert (x + w, y + h) == pytest.approx(view.to_device(x0 + wide, y0 + high))
    margin = 1e-6
    inside = x + w > margin and y + h > margin
    if inside and x < view.width - margin and y < view.height - margin:
        assert view.sees(corners)[0]
    if x + w < -margin or y + h < -margin or x > view.width + margin or y > view.height + margin:
        assert not view.sees(corners)[0]
