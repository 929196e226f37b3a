from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.app.answer import answer
from gbviz.display.draw import DrawList, Text
from gbviz.display.layout import layout
from gbviz.display.sheet import LARGEST, Sheet, draw_sheet, matrix_box
from gbviz.display.theme import DARK, LIGHT
from gbviz.errors import InputError
from gbviz.scenario import preset
from tests.display.cases import broken, where
from tests.display.test_draw import check

if TYPE_CHECKING:
    from gbviz.topology.fabric import Ints


def drawn(sheet: Sheet, case: str = "su") -> DrawList:
    found = broken(case)
    return draw_sheet(sheet, found.snapshot, found.loads, found.base)


def texts(draw: DrawList) -> set[str]:
    return {item.text for item in draw.items if isinstance(item, Text)}


@pytest.mark.parametrize("view", ["fabric", "matrix", "rack-0", "rack-7", "pod-0"])
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_every_view_is_drawn_in_its_size(view: str, theme: str) -> None:
    draw = drawn(Sheet(view=view, theme=theme, width=640, height=480, scale=1.5))
    assert (draw.width, draw.height) == (960, 720)
    assert draw.ground == {"dark": DARK, "light": LIGHT}[theme].ground
    check(draw)


@pytest.mark.parametrize("links", ["matrix", "bundles", "cables"])
@pytest.mark.parametrize("case", ["27k", "last pod of 13", "1 rack"])
def test_every_style_on_odd_clusters(links: str, case: str) -> None:
    check(drawn(Sheet(links=links), case))


def test_a_rack_says_which() -> None:
    assert any(text.startswith("rack-7") for text in texts(drawn(Sheet(view="rack-7"))))


def test_a_pod_shows_its_spines_and_racks() -> None:
    draw = drawn(Sheet(view="pod-12"), "last pod of 13")
    inside = [
        item.text
        for item in draw.items
        if isinstance(item, Text) and 0 < item.x < draw.width and 0 < item.y < draw.height
    ]
    spines = [text for text in inside if text.startswith("spine-")]
    assert len(spines) >= 8
    assert set(spines) <= {f"spine-{n}" for n in range(288, 312)}
    assert {f"rack-{n}" for n in range(288, 301)} <= set(inside)


def test_of_very_many_pods_the_last_has_its_names_too() -> None:
    found = answer(preset("gb300-100k"))
    draw = draw_sheet(Sheet(view="pod-19"), found.snapshot, found.loads, found.base)
    shape = layout(found.snapshot.fabric).shape
    last = {f"spine-{n}" for n in range(19 * shape.spines_per_pod, 20 * shape.spines_per_pod)}
    assert len(texts(draw) & last) > 10


def test_the_box_of_a_matrix_holds_its_pod_and_no_racks() -> None:
    found = where("last pod of 13")
    assert matrix_box(layout(found.fabric), 99) == matrix_box(found, 12)
    for pod in range(13):
        x0, y0, x1, y1 = matrix_box(found, pod)
        shape = found.shape
        first = pod * shape.leaves_per_pod
        last = min(first + shape.leaves_per_pod, shape.leaves)
        for box in found.leaves[first:last].tolist():
            assert x0 <= box[0] < box[2] <= x1
            assert y0 <= box[1] < box[3] <= y1
        for box in found.pairs.corners(pod_pairs(first, last, shape.spines_per_pod)).tolist():
            assert x0 <= box[0] < box[2] <= x1
            assert y0 <= box[1] < box[3] <= y1
        assert not any(
            box[0] < x1 and box[2] > x0 and box[1] < y1 and box[3] > y0
            for box in found.racks.tolist()
        )


def pod_pairs(first: int, last: int, each: int) -> Ints:
    return np.arange(first * each, last * each)


@pytest.mark.parametrize(
    ("sheet", "words"),
    [
        (Sheet(view="fabrik"), ["view", "'fabrik'", "'fabric'"]),
        (Sheet(view="matrx"), ["'matrix'"]),
        (Sheet(view="rack-8"), ["'rack-8'", "rack-0 to rack-7"]),
        (Sheet(view="rack-²"), ["rack-0 to rack-7"]),
        (Sheet(view="rack-"), ["rack-0 to rack-7"]),
        (Sheet(view="pod-1"), ["'pod-1'", "pod-0 to pod-0"]),
        (Sheet(view="pod-²"), ["pod-0"]),
        (Sheet(view="pod--1"), ["pod-0"]),
        (Sheet(theme="drak"), ["theme", "'drak'", "'dark'"]),
        (Sheet(theme="x"), ["dark, light"]),
        (Sheet(colour_by="temprature"), ["colour-by", "'temperature'"]),
        (Sheet(links="bundle"), ["links", "'bundles'"]),
        (Sheet(links="zzz"), ["matrix, bundles, cables"]),
        (Sheet(width=199), ["200 x 150"]),
        (Sheet(height=149), ["200 x 150"]),
        (Sheet(width=LARGEST + 1), [str(LARGEST)]),
        (Sheet(scale=12), [str(LARGEST)]),
        (Sheet(scale=0), ["scale"]),
        (Sheet(scale=-1), ["scale"]),
        (Sheet(scale=nan), ["scale"]),
        (Sheet(scale=inf), ["scale"]),
        (Sheet(scale=1e-9), ["scale"]),
    ],
)
def test_what_cannot_be_drawn_is_said(sheet: Sheet, words: list[str]) -> None:
    with pytest.raises(InputError) as raised:
        drawn(sheet)
    for word in words:
        assert word in str(raised.value)


def test_the_sheets_default_is_the_dark_map() -> None:
    draw = drawn(Sheet())
    assert (draw.width, draw.height) == (1600, 1000)
    assert drawn(replace(Sheet(), theme="light")).ground != draw.ground
