"""What a picture is made of: finite numbers, few lines, a legend that fits."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.display.camera import Camera, view_of
from gbviz.display.draw import DrawList, Image, Lines, Marks, Rects, Text, text_width
from gbviz.display.fabric_map import fabric_map
from gbviz.display.legend import HEIGHT, legend
from gbviz.display.links import LINK_STYLES, LOUD, MOST_LINES, link_items
from gbviz.display.map_labels import Picture, every, fitting
from gbviz.display.overlay import Pointed, overlay
from gbviz.display.shades import COLOUR_BY, ColourBy, Look, shades
from gbviz.display.theme import DARK, LIGHT
from gbviz.jobs.spec import TrafficSpec
from gbviz.scenario import preset
from tests.display.cases import EVERY, broken, overview, where

if TYPE_CHECKING:
    from gbviz.app.answer import Answer
    from gbviz.display.draw import Item
    from gbviz.display.grid import View
    from gbviz.display.shades import Shades

STYLES = LINK_STYLES


def tinted(found: Answer, look: Look) -> Shades:
    return shades(found.snapshot, found.loads, found.base, look)


def views(case: str) -> list[View]:
    world = where(case).box
    x, y = world[2] / 3, world[3] / 2
    cameras = [Camera(), Camera(4, x, y), Camera(60, x, y), Camera(200, 0, world[3])]
    return [view_of(camera, world, 900, 600) for camera in cameras]


def check(draw: DrawList) -> None:
    """Every number of a draw list is finite, every shape is what its painter takes."""
    for item in draw.items:
        if isinstance(item, Image):
            high, wide = item.pixels.shape
            assert item.pixels.dtype == np.uint32
            assert item.x >= 0
            assert item.y >= 0
            assert item.x + wide <= draw.width
            assert item.y + high <= draw.height
        elif isinstance(item, Rects):
            assert np.isfinite(item.boxes).all()
            assert item.boxes.shape[1] == 4
            assert (item.boxes[:, 2:] >= 0).all()
            assert item.fill is None or item.fill.shape == (len(item.boxes),)
        elif isinstance(item, Lines):
            assert np.isfinite(item.ends).all()
            assert item.ends.shape[1] == 4
            assert item.width > 0
        elif isinstance(item, Marks):
            assert np.isfinite(item.at).all()
            assert item.at.shape[1] == 2
            assert np.isfinite(item.size)
            assert item.size > 0
        else:
            assert np.isfinite([item.x, item.y, item.size]).all()


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("style", STYLES)
def test_every_picture_is_finite(case: str, style: str) -> None:
    found = broken(case)
    for by in COLOUR_BY:
        look = Look(DARK, colour_by=by)
        colours = tinted(found, look)
        for view in views(case):
            check(fabric_map(Picture(where(case), view, look, style), found.snapshot, colours))


@pytest.mark.parametrize("size", [(1, 1), (30, 900), (900, 30)])
@pytest.mark.parametrize("style", STYLES)
def test_a_window_of_any_size_has_a_picture(size: tuple[int, int], style: str) -> None:
    found, look = broken("27k"), Look(LIGHT)
    view = view_of(Camera(), where("27k").box, *size)
    draw = fabric_map(Picture(where("27k"), view, look, style), found.snapshot, tinted(found, look))
    for item in draw.items:
        assert (
            not isinstance(item, Lines | Rects)
            or np.isfinite(item.ends if isinstance(item, Lines) else item.boxes).all()
        )


SELECTED = (
    "rack-0", "rack-0/tray-1", "rack-0/tray-1/gpu-2", "rack-0/tray-1/nic-2", "leaf-1", "spine-1",
    "leaf-1~spine-1", "leaf-1~spine-1#1", "rack-0/tray-1/nic-2~leaf-2#0", "leaf-1:3", "loop-0",
    "rack-0/tray-1/cpu-0", "rack-0/feed-a", "leaf-1>spine-1#0", "rack-0/tray-1/nic-2:1",
    "rack-0/tray-1/gpu-2~rack-0/nvswitch-3", "gone-3", "rack-9999", "leaf-9999",
    "rack-0/nvswitch-3", "rack-0/tray-99", "rack-0/tray-1/nic-2/cage-1",
)  # fmt: skip


@pytest.mark.parametrize("case", ["azure", "last pod of 13"])
@pytest.mark.parametrize("style", STYLES)
def test_an_overlay_of_anything_is_finite(case: str, style: str) -> None:
    for view in views(case):
        picture = Picture(where(case), view, Look(DARK), style)
        for name in SELECTED:
            check(overlay(picture, Pointed((name,), name, (5, 9, 2, 1), "a, b, c", (3, 4))))
        check(overlay(picture, Pointed(SELECTED, "leaf-0")))


def test_the_overlay_frames_what_is_selected() -> None:
    view = overview(where("azure"))
    draw = overlay(Picture(where("azure"), view, Look(DARK)), Pointed(("rack-7", "rack-9"), ""))
    frames = [item for item in draw.items if isinstance(item, Rects) and item.outline == "#ffffff"]
    boxes = view.boxes(where("azure").racks[[7, 9]])
    outer = frames[0].boxes
    assert (outer[:, 0] < boxes[:, 0]).all()
    assert (outer[:, 1] < boxes[:, 1]).all()
    assert (outer[:, 0] + outer[:, 2] > boxes[:, 0] + boxes[:, 2]).all()
    assert (outer[:, :2] > boxes[:, :2] - 6).all()


def test_a_note_stays_in_sight_wherever_the_pointer_is() -> None:
    view = overview(where("su"), 500, 300)
    note = ", ".join(f"part {n} of what it costs" for n in range(7))
    for at in [(0.0, 0.0), (499.0, 0.0), (0.0, 299.0), (499.0, 299.0), (250.0, 150.0)]:
        draw = overlay(Picture(where("su"), view, Look(DARK)), Pointed(note=note, at=at))
        lines = [item for item in draw.items if isinstance(item, Text)]
        assert " ".join(line.text.strip() for line in lines) == note
        for line in lines:
            assert line.x >= 0
            assert line.x + text_width(line.text, line.size) <= 500
            assert 0 <= line.y <= 300


def lines_of(items: list[Item]) -> int:
    return sum(len(item.ends) for item in items if isinstance(item, Lines))


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("style", ["bundles", "cables"])
def test_there_are_never_too_many_lines(case: str, style: str) -> None:
    colours = tinted(broken(case), Look(DARK))
    for view in views(case):
        assert lines_of(link_items(where(case), view, Look(DARK), colours, style)) <= MOST_LINES


def test_a_very_large_cluster_with_very_much_dead_has_few_lines() -> None:
    from gbviz.app.answer import answer
    from gbviz.display.layout import layout

    found = answer(preset("gb300-100k").with_faults("leaf-[0-499]~spine-*"))
    map_of, colours = layout(found.snapshot.fabric), tinted(found, Look(DARK))
    assert colours.pair_down.sum() > MOST_LINES
    for style in ("bundles", "cables"):
        for zoom in (1.0, 2.0, 5.0):
            x, y = map_of.width / 4, map_of.height / 4
            camera = Camera(zoom, x, y) if zoom > 1 else Camera()
            view = view_of(camera, map_of.box, 1000, 700)
            items = link_items(map_of, view, Look(DARK), colours, style)
            assert MOST_LINES / 20 < lines_of(items) <= MOST_LINES


def test_cables_are_one_line_a_pair_and_the_dead_ones_dashed() -> None:
    found = broken("su")
    colours = tinted(found, Look(DARK))
    dead = int(colours.pair_down.sum())
    items = link_items(where("su"), overview(where("su")), Look(DARK), colours, "cables")
    hurt = int(colours.pair_hurt.sum())
    assert hurt > 0
    assert lines_of(items) == 32 + hurt
    dashed = [item for item in items if isinstance(item, Lines) and item.dashed]
    assert lines_of(list(dashed)) == dead + hurt


def test_bundles_have_a_fan_a_leaf_and_the_full_ones_last() -> None:
    from gbviz.app.answer import answer

    job = TrafficSpec(kind="traffic", name="all", pattern="shift", argument=288)
    found = answer(preset("azure-gb300").with_jobs(job).with_faults("leaf-9~spine-2"))
    colours = tinted(found, Look(DARK))
    assert (colours.pair_value > LOUD).any()
    items = link_items(where("azure"), overview(where("azure")), Look(DARK), colours, "bundles")
    # 64 fans, 16 columns x 36 spines, one dead pair on top.
    assert lines_of(items) == 64 + 16 * 36 + 1
    last, second = items[-1], items[-2]
    assert isinstance(last, Lines)
    assert isinstance(second, Lines)
    assert last.dashed
    assert last.colour == DARK.failed
    assert second.opacity == 1


def extents(items: list[Item]) -> list[tuple[float, float]]:
    """From where to where each piece of a legend reaches across."""
    found = []
    for item in items:
        if isinstance(item, Text):
            found.append((item.x, item.x + text_width(item.text, item.size)))
        elif isinstance(item, Image):
            found.append((item.x, item.x + item.pixels.shape[1]))
        elif isinstance(item, Rects):
            found.append((item.boxes[0, 0], item.boxes[0, 0] + item.boxes[0, 2]))
        elif isinstance(item, Marks):
            found.append((item.at[0, 0] - item.size / 2, item.at[0, 0] + item.size / 2))
        else:
            found.append((item.ends[0, 0::2].min(), item.ends[0, 0::2].max()))
    return sorted(found)


@pytest.mark.parametrize("by", COLOUR_BY)
@given(width=st.integers(150, 2500), scale=st.sampled_from([1.0, 1.5, 2.0]))
def test_a_legend_fits_its_window(by: ColourBy, width: int, scale: float) -> None:
    view = overview(where("su"), width, 400, scale)
    items = legend(Look(DARK, colour_by=by), view, broken("su").snapshot)
    reach = extents(items[1:])  # The first is the ground below all of it.
    assert all(low >= 0 and high <= width for low, high in reach)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(reach))
    for item in items:
        at = item.y if isinstance(item, Text) else 0
        assert at <= HEIGHT * scale


@pytest.mark.parametrize("by", COLOUR_BY)
def test_a_legend_names_its_scale(by: ColourBy) -> None:
    items = legend(Look(DARK, colour_by=by), overview(where("su"), 1600), broken("su").snapshot)
    texts = {item.text for item in items if isinstance(item, Text)}
    wanted = {
        "utilisation": {"utilisation 0", "100 %", "rails 0 to 3"},
        "health": {"dead", "slow", "whole"},
        "job": {"all"},
        "temperature": {"40"},
        "delta": {"-50", "+50 % of capacity"},
        "rail": {"rails 0 to 3"},
    }[by]
    assert wanted | {"failed", "slow or partly dead"} <= texts


@given(
    st.lists(st.text("abW·. 0", min_size=1, max_size=30), min_size=1, max_size=3),
    st.floats(4, 30),
    st.floats(0, 400),
)
def test_what_fits_fits(texts: list[str], size: float, room: float) -> None:
    found = fitting(texts, size, room)
    fitting_ones = [text for text in texts if text_width(text, size) <= room]
    if fitting_ones:
        assert found == fitting_ones[0]
    else:
        assert found == "" or text_width(found, size) <= room
        begin, _, end = found.partition("…")
        assert texts[-1].startswith(begin)
        assert texts[-1].endswith(end)


@given(st.floats(0.05, 100), st.floats(1, 200))
def test_labels_thin_out_by_round_steps(pitch: float, room: float) -> None:
    step = every(pitch, room)
    assert step == 200 or pitch * step >= room
    smaller = [one for one in (1, 2, 5, 10, 20, 50, 100) if one < step]
    assert all(pitch * one < room for one in smaller)


def test_labels_do_not_lie_on_each_other() -> None:
    found = broken("azure")
    for width, height in ((500, 350), (1000, 700), (1900, 1200)):
        view = view_of(Camera(), where("azure").box, width, height)
        look = Look(DARK)
        draw = fabric_map(Picture(where("azure"), view, look), found.snapshot, tinted(found, look))
        texts = [item for item in draw.items if isinstance(item, Text)]
        boxes = []
        for item in texts:
            wide = text_width(item.text, item.size)
            left = {"left": 0.0, "centre": wide / 2, "right": wide}[item.align]
            x, high = item.x - left, 0.7 * item.size
            boxes.append((x, item.y - high / 2, x + wide, item.y + high / 2, item.text))
        for number, (a, b, c, d, text) in enumerate(boxes):
            for e, f, g, h, other in boxes[number + 1 :]:
                assert not (a + 1 < g and e + 1 < c and b < h and f < d), (text, other, width)
