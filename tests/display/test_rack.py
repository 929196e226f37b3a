from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.display.camera import Camera, view_of
from gbviz.display.draw import Lines, Marks
from gbviz.display.rack_layout import RackLayout, rack_layout
from gbviz.display.rack_map import RackPicture, cooler_names, rack_map
from gbviz.display.rack_places import (
    boxes_in_rack,
    next_in_rack,
    pick_in_rack,
    rack_of,
    rack_parts,
)
from gbviz.display.shades import COLOUR_BY, Look, shades
from gbviz.display.theme import DARK
from gbviz.display.walk import Way
from gbviz.topology import build, cluster_spec
from gbviz.topology.selectors import select
from tests.display.cases import CLUSTERS, broken, fabric
from tests.display.test_draw import check

WAYS: tuple[Way, ...] = get_args(Way)
COOLERS = {"azure": ["hxu-3"], "cdu": ["cdu-0", "cdu-1", "cdu-2", "cdu-3"]}
RACK = 3


def middle_of(box: list[float]) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def corners(case: str, name: str) -> list[list[float]]:
    found: list[list[float]] = boxes_in_rack(fabric(case), RACK, COOLERS[case], name).tolist()
    return found


@pytest.mark.parametrize("case", COOLERS)
def test_every_part_is_picked_at_its_own_place(case: str) -> None:
    parts = rack_parts(fabric(case), RACK, COOLERS[case])
    assert len(parts) == 18 + 9 + 2 + len(COOLERS[case]) + 72 + 72 + 18 + 8
    for name, box in parts.items():
        x, y = middle_of(box.tolist())
        if name.split("/")[-1].startswith(("tray", "nvtray")):
            x = 1.0  # its name at the left; in its middle lie its GPUs or ASICs
        assert pick_in_rack(fabric(case), RACK, COOLERS[case], (x, y)) == name
        assert corners(case, name)[0] == box.tolist()


@pytest.mark.parametrize("case", COOLERS)
def test_every_nvlink_is_picked_at_its_cell(case: str) -> None:
    names = set()
    for gpu in range(72):
        for asic in range(18):
            name = f"rack-3/tray-{gpu // 4}/gpu-{gpu % 4}~rack-3/nvswitch-{asic}"
            at = middle_of(corners(case, name)[0])
            assert pick_in_rack(fabric(case), RACK, COOLERS[case], at) == name
            names.add(at)
    assert len(names) == 72 * 18


def test_a_gpu_has_its_row_and_an_asic_its_column() -> None:
    own, row = corners("azure", "rack-3/tray-7/gpu-2")
    ends = [
        corners("azure", f"rack-3/tray-7/gpu-2~rack-3/nvswitch-{asic}")[0] for asic in range(18)
    ]
    assert row == [ends[0][0], ends[0][1], ends[-1][2], ends[0][3]]
    assert own == rack_parts(fabric("azure"), RACK, [])["rack-3/tray-7/gpu-2"].tolist()
    _, column = corners("azure", "rack-3/nvswitch-5")
    cells = [
        corners("azure", f"rack-3/tray-{gpu // 4}/gpu-{gpu % 4}~rack-3/nvswitch-5")[0]
        for gpu in range(72)
    ]
    assert column == [cells[0][0], min(c[1] for c in cells), cells[0][2], max(c[3] for c in cells)]


def test_a_nic_cable_is_at_its_nic_and_the_rack_is_all_of_it() -> None:
    nic = corners("azure", "rack-3/tray-2/nic-1")
    assert corners("azure", "rack-3/tray-2/nic-1~leaf-1#0") == nic
    (whole,) = corners("azure", "rack-3")
    for name, box in rack_parts(fabric("azure"), RACK, []).items():
        if any(kind in name for kind in ("gpu", "nic", "shelf", "nvswitch")):
            x, y = middle_of(box.tolist())
            assert whole[0] <= x <= whole[2]
            assert whole[1] <= y <= whole[3]


@pytest.mark.parametrize("name", ["", "rack-4", "rack-4/tray-0/gpu-1", "leaf-0", "cdu-9", "x"])
def test_what_is_not_in_the_rack_has_no_place(name: str) -> None:
    assert corners("azure", name) == []


def in_order(*edges: float) -> bool:
    return list(edges) == sorted(edges)


def test_the_elevation_from_the_top() -> None:
    found = rack_layout(fabric("azure"))
    tray, nvtray = found.trays[:, 1].tolist(), found.nvtrays[:, 1].tolist()
    shelf = [found.shelves.corners(np.array([n]))[0, 1] for n in range(8)]
    # Trays and shelves count from the bottom; ten trays stand above the NVSwitches.
    assert tray == sorted(tray, reverse=True)
    assert nvtray == sorted(nvtray, reverse=True)
    assert shelf == sorted(shelf, reverse=True)
    assert in_order(
        float(found.management[-1, 1]), shelf[4], tray[17], tray[8], nvtray[8], nvtray[0],
        tray[7], tray[0], shelf[3], shelf[0], float(found.coolers[0, 1]),
    )  # fmt: skip


@pytest.mark.parametrize("parts", [{}, {"trays_per_rack": 9}, {"trays_per_rack": 1}])
@pytest.mark.parametrize("preset", ["gb300-su", "gb300-cdu"])
def test_nothing_in_a_rack_lies_on_anything_else(preset: str, parts: dict[str, int]) -> None:
    found = rack_layout(build(cluster_spec(preset, **parts)))
    grids = [found.gpus, found.nics, found.asics, found.shelves, found.links]
    boxes = np.concatenate(
        [*(grid.corners(np.arange(grid.ids.size)) for grid in grids),
         found.management, found.feeds, found.coolers]
    )  # fmt: skip
    a, b = boxes[:, None], boxes[None]
    wide = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0])
    high = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1])
    meet = (wide > 1e-9) & (high > 1e-9)
    assert np.argwhere(np.triu(meet, 1)).tolist() == []
    x0, y0, x1, y1 = found.box
    assert boxes[:, 0].min() >= x0
    assert boxes[:, 1].min() >= y0
    assert boxes[:, 2].max() <= x1 + 1e-9
    assert boxes[:, 3].max() <= y1 + 1e-9


@pytest.mark.parametrize("case", COOLERS)
@settings(max_examples=12, deadline=None)
@given(start=st.data(), ways=st.lists(st.sampled_from(WAYS), min_size=40, max_size=40))
def test_arrows_always_find_a_part(case: str, start: st.DataObject, ways: list[Way]) -> None:
    parts = rack_parts(fabric(case), RACK, COOLERS[case])
    others = ["", "leaf-3", "rack-3", "rack-3/tray-2/nic-1~leaf-1#0", "rack-3/tray-2/cpu-0",
              "rack-3/tray-2/nic-1:1", "rack-3/tray-1/gpu-1~rack-3/nvswitch-0"]  # fmt: skip
    name = start.draw(st.sampled_from([*parts, *others]))
    for way in ways:
        name = next_in_rack(fabric(case), RACK, COOLERS[case], name, way)
        assert len(boxes_in_rack(fabric(case), RACK, COOLERS[case], name)) > 0
        assert len(select(fabric(case), name)) == 1


@pytest.mark.parametrize(
    ("name", "way", "expected"),
    [
        ("rack-3/tray-2/gpu-1", "right", "rack-3/tray-2/gpu-2"),
        ("rack-3/tray-2/gpu-1", "up", "rack-3/tray-3/gpu-1"),
        ("rack-3/tray-2/gpu-1", "down", "rack-3/tray-1/gpu-1"),
        ("rack-3/tray-2/gpu-3", "right", "rack-3/tray-2/nic-0"),
        ("rack-3/tray-2/nic-3", "right", "rack-3/tray-2/gpu-0~rack-3/nvswitch-1"),
        ("rack-3/tray-2/gpu-0~rack-3/nvswitch-1", "left", "rack-3/tray-2/gpu-0~rack-3/nvswitch-0"),
        ("rack-3/tray-2/gpu-0~rack-3/nvswitch-0", "left", "rack-3/tray-2/gpu-0"),
        ("rack-3/tray-2/gpu-0~rack-3/nvswitch-0", "down", "rack-3/tray-2/gpu-1~rack-3/nvswitch-0"),
        ("rack-3/tray-2/gpu-3~rack-3/nvswitch-0", "down", "rack-3/tray-1/gpu-0~rack-3/nvswitch-0"),
        ("rack-3/tray-2/gpu-0", "left", "rack-3/tray-2/gpu-0"),
        ("hxu-3", "down", "hxu-3"),
        ("", "up", "rack-3/tray-17/gpu-0"),
    ],
)
def test_single_steps(name: str, way: Way, expected: str) -> None:
    got = next_in_rack(fabric("azure"), RACK, ["hxu-3"], name, way)
    if "nic-3" in name:  # the matrix has its own scale: some link of the nearest row
        assert got.startswith("rack-3/tray-")
        assert "~rack-3/nvswitch-" in got
    else:
        assert got == expected


@pytest.mark.parametrize(
    ("case", "name", "rack"),
    [
        ("azure", "rack-12/tray-1", 12), ("azure", "rack-63", 63), ("azure", "rack-64", -1),
        ("azure", "hxu-9", 9), ("azure", "loop-9", 9), ("cdu", "loop-1", -1), ("cdu", "cdu-1", -1),
        ("azure", "rack-2/tray-0/nic-1~leaf-1#0", 2), ("azure", "leaf-1>rack-2/tray-0/nic-1", -1),
        ("azure", "spine-1", -1), ("azure", "", -1), ("azure", "rack-", -1),
        ("azure", "rack-²", -1),
        ("azure", "rack-2/tray-0/gpu-1~rack-2/nvswitch-4", 2),
    ],
)  # fmt: skip
def test_the_rack_of_a_name(case: str, name: str, rack: int) -> None:
    assert rack_of(fabric(case), name) == rack


@pytest.mark.parametrize("case", CLUSTERS)
def test_every_picture_of_a_rack_is_finite(case: str) -> None:
    found = broken(case)
    world = rack_layout(fabric(case)).box
    sights = ((Camera(), (1200, 800)), (Camera(9, 40, 20), (900, 600)), (Camera(), (60, 40)))
    for by in COLOUR_BY:
        look = Look(DARK, colour_by=by)
        colours = shades(found.snapshot, found.loads, found.base, look)
        for rack in {0, fabric(case).count("rack") - 1}:
            for camera, size in sights:
                view = view_of(camera, world, *size)
                picture = RackPicture(rack, view, look, found.snapshot, found.loads, colours)
                check(rack_map(picture))


def picture_of(case: str, rack: int) -> RackPicture:
    found, look = broken(case), Look(DARK)
    colours = shades(found.snapshot, found.loads, found.base, look)
    view = view_of(Camera(), rack_layout(fabric(case)).box, 1200, 800)
    return RackPicture(rack, view, look, found.snapshot, found.loads, colours)


@pytest.mark.parametrize(
    ("case", "rack", "names"),
    [
        ("azure", 0, ["hxu-0"]),
        ("azure", 63, ["hxu-63"]),
        ("cdu", 31, ["cdu-0", "cdu-1", "cdu-2", "cdu-3"]),
        ("cdu", 32, ["cdu-4", "cdu-5", "cdu-6", "cdu-7"]),
        ("last group of 1", 44, ["cdu-4", "cdu-5", "cdu-6", "cdu-7"]),
    ],
)
def test_the_coolers_of_a_racks_loop(case: str, rack: int, names: list[str]) -> None:
    assert cooler_names(picture_of(case, rack)) == names


def test_a_dead_gpu_has_a_cross_and_a_dead_link_a_dark_cell() -> None:
    from gbviz.app.answer import answer
    from gbviz.scenario import preset

    dead = "rack-0/tray-4/gpu-1~rack-0/nvswitch-7"
    scenario = preset("gb300-su").with_faults("rack-0/tray-0/gpu-1", dead, "rack-0/shelf-2")
    found, look = answer(scenario), Look(DARK)
    colours = shades(found.snapshot, found.loads, found.base, look)
    built = found.snapshot.fabric
    view = view_of(Camera(), rack_layout(built).box, 1200, 800)
    draw = rack_map(RackPicture(0, view, look, found.snapshot, found.loads, colours))
    marks = [at for item in draw.items if isinstance(item, Marks) for at in item.at.tolist()]
    (cell,) = boxes_in_rack(built, 0, [], dead).tolist()
    (gpu, _) = boxes_in_rack(built, 0, [], "rack-0/tray-0/gpu-1").tolist()
    for box in (cell, gpu):
        assert any(at == pytest.approx(view.to_device(*middle_of(box))) for at in marks)
    (shelf,) = boxes_in_rack(built, 0, [], "rack-0/shelf-2").tolist()
    x0, y0 = view.to_device(shelf[0], shelf[1])
    x1, y1 = view.to_device(shelf[2], shelf[3])
    # Two in the legend, one on each of the three.
    assert any(x0 < x < x1 and y0 < y < y1 for x, y in marks)
    assert len(marks) == 5
    assert not any(isinstance(item, Lines) and len(item.ends) > 1 for item in draw.items)


def test_the_layout_of_a_rack_is_made_once() -> None:
    found: RackLayout = rack_layout(fabric("su"))
    assert found is rack_layout(fabric("su"))
