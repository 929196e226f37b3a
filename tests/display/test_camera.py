from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gbviz.display.camera import CLOSEST, Camera, held, onto, panned, view_of, zoomed

WORLD = (-20.0, 10.0, 300.0, 140.0)
WIDTHS, HEIGHTS = st.integers(250, 3000), st.integers(200, 2000)
SCALES = st.sampled_from([1.0, 1.25, 2.0])
CAMERAS = st.one_of(
    st.just(Camera()),
    st.builds(Camera, st.floats(1.01, CLOSEST), st.floats(-20, 300), st.floats(10, 140)),
)
PARTS = st.tuples(st.floats(0, 1), st.floats(0, 1))


@given(WIDTHS, HEIGHTS, SCALES)
def test_everything_is_in_sight_at_first(width: int, height: int, scale: float) -> None:
    assume(width >= 250 * scale)
    assume(height >= 200 * scale)
    view = view_of(Camera(), WORLD, width, height, scale)
    x0, y0 = view.to_device(*WORLD[:2])
    x1, y1 = view.to_device(*WORLD[2:])
    assert x0 >= 69 * scale
    assert y0 >= 19 * scale
    assert x1 <= width - 13 * scale
    assert y1 <= height - 11 * scale
    # One of the two directions is filled.
    assert min(abs(x0 - 70 * scale), abs(y0 - 20 * scale)) < 1e-6


@given(CAMERAS, WIDTHS, HEIGHTS, SCALES, st.floats(0.05, 20), PARTS)
def test_zooming_holds_the_point_under_the_pointer(
    camera: Camera, width: int, height: int, scale: float, factor: float, part: tuple[float, float]
) -> None:
    view = view_of(camera, WORLD, width, height, scale)
    at = part[0] * width, part[1] * height
    fresh = zoomed(camera, view, factor, *at)
    assert fresh.zoom == pytest.approx(min(max(camera.zoom * factor, 1), CLOSEST))
    if fresh.zoom == 1:
        assert fresh == Camera()
    else:
        again = view_of(fresh, WORLD, width, height, scale)
        assert again.to_device(*view.to_world(*at)) == pytest.approx(at, abs=1e-5 * width)


@given(CAMERAS, WIDTHS, HEIGHTS, st.floats(-500, 500), st.floats(-500, 500))
def test_panning_moves_the_world_by_pixels(
    camera: Camera, width: int, height: int, dx: float, dy: float
) -> None:
    view = view_of(camera, WORLD, width, height)
    again = view_of(panned(camera, view, dx, dy), WORLD, width, height)
    x, y = view.to_device(100, 50)
    assert again.to_device(100, 50) == pytest.approx((x + dx, y + dy), abs=1e-4)


@given(st.floats(1.01, CLOSEST), st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
def test_the_middle_is_held_within_the_world(zoom: float, x: float, y: float) -> None:
    kept = held(Camera(zoom, x, y), WORLD)
    assert (kept.x, kept.y) == (min(max(x, -20), 300), min(max(y, 10), 140))
    assert kept.zoom == zoom
    assert held(Camera(), WORLD) == Camera()


@given(WIDTHS, HEIGHTS, PARTS, st.floats(0.1, 60), st.floats(0.1, 60), st.floats(0.2, 0.9))
def test_onto_fills_a_part_of_the_window(
    width: int, height: int, at: tuple[float, float], wide: float, high: float, part: float
) -> None:
    x, y = -20 + at[0] * 320, 10 + at[1] * 130
    camera = onto((x, y, x + wide, y + high), WORLD, width, height, part)
    if camera.zoom in (1, CLOSEST):
        return
    view = view_of(camera, WORLD, width, height)
    size = max(wide * view.sx / width, high * view.sy / height)
    assert size == pytest.approx(part)
    middle = view.to_device(x + wide / 2, y + high / 2)
    # In the middle of what the margins leave.
    assert middle == pytest.approx(((70 + width - 14) / 2, (20 + height - 12) / 2), abs=1e-4)


def test_a_tiny_box_is_not_zoomed_beyond_the_closest() -> None:
    assert onto((5, 50, 5, 50), WORLD, 800, 600).zoom == CLOSEST
    assert onto(WORLD, WORLD, 800, 600, 0.9) == Camera()


def test_a_window_of_no_size_has_a_view() -> None:
    view = view_of(Camera(), WORLD, 1, 1)
    assert view.sx > 0
    assert view.sy > 0
