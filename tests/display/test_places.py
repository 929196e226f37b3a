from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.display.links import LINK_STYLES
from gbviz.display.places import boxes_of, pick, pod_of, within
from gbviz.display.walk import parent
from tests.display.cases import EVERY, close_up, overview, where

if TYPE_CHECKING:
    from gbviz.display.layout import Layout

LINES = ("bundles", "cables")


@pytest.fixture(params=EVERY)
def found(request: pytest.FixtureRequest) -> Layout:
    return where(request.param)


def first_and_last(found: Layout, kind: str) -> list[str]:
    nodes = found.fabric.nodes(kind)
    if nodes.start == nodes.stop:
        return []
    middle = (nodes.start + nodes.stop) // 2
    return [found.fabric.name(n) for n in sorted({nodes.start, middle, nodes.stop - 1})]


def middle_of(box: list[float]) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def picked(found: Layout, name: str, style: str, near: bool, which: int = 0) -> str:
    """What is picked at the middle of a component's box, from afar or from close up."""
    box = boxes_of(found, name, style)[which].tolist()
    view = close_up(found, box) if near else overview(found)
    return pick(found, view, *view.to_device(*middle_of(box)), style)


def holders(name: str) -> list[str]:
    chain = [name]
    while chain[-1]:
        chain.append(parent(chain[-1]))
    return chain[:-1]


def test_a_gpu_is_itself_close_up_and_what_holds_it_from_afar(found: Layout) -> None:
    for name, style in itertools.product(first_and_last(found, "gpu"), LINK_STYLES):
        assert picked(found, name, style, near=True) == name
        assert picked(found, name, style, near=False) in holders(name)


def test_what_a_map_does_not_show_is_its_rack(found: Layout) -> None:
    own = ["rack", "hxu", "nvtray", "nvswitch", "shelf", "feed"]
    kinds = own if found.loops else [*own, "loop"]
    racks, view = found.fabric.count("rack"), overview(found)
    for kind, style in itertools.product(kinds, LINK_STYLES):
        for name in first_and_last(found, kind):
            number = found.fabric.index_of(name) - found.fabric.nodes(kind).start
            rack = number * racks // found.fabric.count(kind)
            x, y = middle_of(boxes_of(found, name, style)[0].tolist())
            # A quarter of a column off the middle, which may lie between two columns of cells.
            at = view.to_device(x + 0.25, y + 0.25)
            assert f"rack-{rack}" in holders(pick(found, view, *at, style))


def test_parts_of_a_tray_are_picked_in_it(found: Layout) -> None:
    for name in (name for kind in ("nic", "tray", "cpu") for name in first_and_last(found, kind)):
        tray = "/".join(name.split("/")[:2])
        box = boxes_of(found, name)[0].tolist()
        view = close_up(found, box)
        at = view.to_device(box[0] + 0.25, (box[1] + box[3]) / 2)
        assert tray in holders(pick(found, view, *at))


def test_a_leaf_is_itself_and_so_is_a_spine_over_lines(found: Layout) -> None:
    for kind, styles in (("leaf", LINK_STYLES), ("spine", LINES)):
        for name, style in itertools.product(first_and_last(found, kind), styles):
            for near in (True, False):
                assert picked(found, name, style, near) == name


def test_a_spine_in_a_matrix_is_its_row_and_its_plane(found: Layout) -> None:
    for name in first_and_last(found, "spine"):
        boxes = boxes_of(found, name)
        assert len(boxes) == (1 if found.planes is None else 2)
        x0, y0, _, y1 = boxes[0]
        view = overview(found)
        in_row = pick(found, view, *view.to_device(x0 + 0.5, (y0 + y1) / 2))
        assert in_row.split("#")[0].endswith(f"~{name}")
        left = pick(found, view, *view.to_device(x0 - 0.2, (y0 + y1) / 2))
        assert left == name
        if found.planes is not None:
            assert picked(found, name, "matrix", near=False, which=1) == name
            assert picked(found, name, "matrix", near=True, which=1) == name


def test_a_core_is_the_row_of_its_plane(found: Layout) -> None:
    for name in first_and_last(found, "core"):
        number, shape = int(name[5:]), found.shape
        x0, y0, x1, y1 = boxes_of(found, name)[0].tolist()
        view = overview(found)
        for pod in range(shape.pods):
            x = x0 + (pod + 0.4) * (x1 - x0) / shape.pods
            spine = pod * shape.spines_per_pod + number // shape.cores_per_group
            assert pick(found, view, *view.to_device(x, (y0 + y1) / 2)) == f"spine-{spine}"


def pairs_of(found: Layout) -> list[tuple[int, int]]:
    shape = found.shape
    ends = sorted({0, shape.spines_per_pod - 1})
    return [
        (leaf, leaf // shape.leaves_per_pod * shape.spines_per_pod + position)
        for leaf in sorted({0, shape.leaves // 2, shape.leaves - 1})
        for position in ends
    ]


def test_a_pair_and_its_cables_in_a_matrix(found: Layout) -> None:
    for leaf, spine in pairs_of(found):
        pair = f"leaf-{leaf}~spine-{spine}"
        assert picked(found, pair, "matrix", near=False).split("#")[0] == pair
        box = boxes_of(found, pair)[0].tolist()
        view = close_up(found, box)
        wide = (box[2] - box[0]) * view.sx
        m = found.shape.m
        for cable in range(m):
            x = box[0] + (cable + 0.5) * (box[2] - box[0]) / m
            got = pick(found, view, *view.to_device(x, (box[1] + box[3]) / 2))
            assert got == (f"{pair}#{cable}" if m > 1 and wide >= 8 * m else pair)
            assert boxes_of(found, f"{pair}#{cable}").tolist() == [box]
            assert boxes_of(found, f"leaf-{leaf}>spine-{spine}#{cable}").tolist() == [box]


def test_a_pair_over_lines_has_two_ends(found: Layout) -> None:
    for (leaf, spine), style in itertools.product(pairs_of(found), LINES):
        low, high = boxes_of(found, f"leaf-{leaf}~spine-{spine}", style).tolist()
        assert low == boxes_of(found, f"leaf-{leaf}", style)[0].tolist()
        assert high == boxes_of(found, f"spine-{spine}", style)[0].tolist()


@pytest.mark.parametrize("case", ["azure", "su", "27k", "last pod of 13"])
def test_near_a_line_the_nearest_pair_is_picked(case: str) -> None:
    found = where(case)
    shape, view = found.shape, overview(where(case))
    lines = []
    for leaf in range(shape.leaves):
        for position in range(shape.spines_per_pod):
            spine = leaf // shape.leaves_per_pod * shape.spines_per_pod + position
            low, high = found.leaves[leaf].tolist(), found.spines[spine].tolist()
            a = view.to_device((low[0] + low[2]) / 2, low[1])
            b = view.to_device((high[0] + high[2]) / 2, high[3])
            lines.append((a, b, f"leaf-{leaf}~spine-{spine}"))
    for number in range(0, len(lines), max(1, len(lines) // 7)):
        (x1, y1), (x2, y2), _ = lines[number]
        at = x1 + 0.45 * (x2 - x1) + 2.0, y1 + 0.45 * (y2 - y1)
        got = pick(found, view, *at, "cables")
        away = {name: distance(at, a, b) for a, b, name in lines}
        assert away[got] == pytest.approx(min(away.values()))


def distance(at: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    dx, dy = b[0] - a[0], b[1] - a[1]
    along = ((at[0] - a[0]) * dx + (at[1] - a[1]) * dy) / max(dx * dx + dy * dy, 1e-9)
    along = min(max(along, 0.0), 1.0)
    return math.hypot(a[0] + along * dx - at[0], a[1] + along * dy - at[1])


def test_a_port_and_a_cage_are_what_has_them() -> None:
    found = where("azure")
    for name in ("leaf-5", "spine-7", "rack-3/tray-2/nic-1"):
        for suffix in (":1", "/cage-1"):
            assert boxes_of(found, name + suffix).tolist() == boxes_of(found, name).tolist()


def test_a_nic_cable_is_its_nic_and_a_core_cable_its_spine() -> None:
    found = where("27k")
    nic = boxes_of(found, "rack-30/tray-2/nic-1").tolist()
    assert boxes_of(found, "rack-30/tray-2/nic-1~leaf-29#0").tolist() == nic
    assert boxes_of(found, "spine-25~core-8#2").tolist() == boxes_of(found, "spine-25")[1:].tolist()
    nvlink = boxes_of(found, "rack-3/tray-1/gpu-2~rack-3/nvswitch-4")
    assert nvlink.tolist() == boxes_of(found, "rack-3/tray-1/gpu-2").tolist()


def test_a_cooling_loop_is_the_racks_that_it_cools() -> None:
    found = where("cdu")
    first, second = (boxes_of(found, name)[0].tolist() for name in ("loop-0", "loop-1"))
    assert first == [*found.racks[0, :2].tolist(), *found.racks[31, 2:].tolist()]
    assert second == [*found.racks[32, :2].tolist(), *found.racks[63, 2:].tolist()]
    assert boxes_of(found, "cdu-3")[0].tolist() == first
    assert boxes_of(found, "cdu-4")[0].tolist() == second


@pytest.mark.parametrize(
    "name",
    [
        "", "x", "~", "#", ">", ":", "/", "rack-64", "rack--1", "rack-0/tray-18", "spine-36",
        "leaf-0~spine-36", "leaf-0~spine-0#2", "leaf-0:999", "core-0", "cdu-0", "rack-0/gpu-0",
        "rack-²", "rack-0/tray-0/gpu-0~rack-1/nvswitch-0",
    ],
)  # fmt: skip
def test_what_does_not_exist_has_no_boxes(name: str) -> None:
    for style in LINK_STYLES:
        assert boxes_of(where("azure"), name, style).shape == (0, 4)


@given(st.text(alphabet="lraeckfspin-0123456789~#>:/[]*?.² ", max_size=20))
def test_no_text_breaks_boxes_of(text: str) -> None:
    found = boxes_of(where("azure"), text)
    assert found.shape[1] == 4
    assert np.isfinite(found).all()


def test_nothing_is_picked_beside_the_map(found: Layout) -> None:
    view = overview(found)
    for style in LINK_STYLES:
        assert pick(found, view, view.width - 1.0, view.height - 1.0, style) == ""
        assert pick(found, view, view.width - 1.0, 1.0, style) == ""


@pytest.mark.parametrize("style", LINK_STYLES)
@given(x=st.floats(-50, 1050), y=st.floats(-50, 750))
def test_what_is_picked_exists(style: str, x: float, y: float) -> None:
    for case in ("azure", "last pod of 13"):
        found = where(case)
        name = pick(found, overview(found), x, y, style)
        assert name == "" or len(boxes_of(found, name, style)) > 0


def test_within_takes_gpus_racks_leaves_or_pairs() -> None:
    found = where("azure")
    view = overview(found)
    rack = found.racks[5].tolist()
    assert within(found, view, (rack[0], rack[1], rack[2], rack[3])) == ["rack-5"]
    near = close_up(found, (rack[0], rack[1], rack[0] + 4, rack[1] + 4))
    box = (rack[0] + 0.1, rack[1] + 0.1, rack[0] + 1.9, rack[1] + 2.9)
    expected = [f"rack-5/tray-{tray}/gpu-{gpu}" for tray in range(3) for gpu in range(2)]
    assert within(found, near, box) == expected
    leaf = found.leaves[3].tolist()
    assert within(found, view, (leaf[0], leaf[1], leaf[2], leaf[3])) == ["leaf-3"]
    cell = boxes_of(found, "leaf-3~spine-7")[0].tolist()
    assert within(found, view, (cell[0], cell[1], cell[2], cell[3])) == ["leaf-3~spine-7"]
    assert within(found, view, (cell[0], cell[1], cell[2], cell[3]), "bundles") == []


def test_the_pairs_of_a_later_pod_have_its_spines() -> None:
    found = where("last pod of 13")
    cell = boxes_of(found, "leaf-303~spine-311")[0].tolist()
    assert within(found, overview(found), (cell[0], cell[1], cell[2], cell[3])) == [
        "leaf-303~spine-311"
    ]


def test_the_pod_of_a_part(found: Layout) -> None:
    shape = found.shape
    per_pod = shape.leaves_per_pod // shape.rails * shape.racks_per_group
    for rack in range(found.fabric.count("rack")):
        assert pod_of(found, f"rack-{rack}/tray-0/gpu-1") == rack // per_pod
    for leaf, spine in pairs_of(found):
        assert pod_of(found, f"leaf-{leaf}~spine-{spine}#0") == leaf // shape.leaves_per_pod
        assert pod_of(found, f"leaf-{leaf}:3") == leaf // shape.leaves_per_pod
    for name in ("core-0", "cdu-1", "", "rack", "rack-²"):
        assert pod_of(found, name) == -1
