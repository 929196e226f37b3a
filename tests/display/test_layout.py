from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.display.layout import Layout, layout
from gbviz.topology import build, cluster_spec
from gbviz.topology.spec import CoolingSpec
from tests.display.cases import EVERY, fabric, where

if TYPE_CHECKING:
    from gbviz.topology.fabric import Floats

Corners = list[float]


@pytest.fixture(params=EVERY)
def found(request: pytest.FixtureRequest) -> Layout:
    return where(request.param)


def overlaps(boxes: Floats) -> list[tuple[int, int]]:
    """Pairs of boxes with a common inside, touching ones are none."""
    a, b = boxes[:, None, :], boxes[None, :, :]
    slack = 1e-9
    wide = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0]) > slack
    high = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1]) > slack
    return [(i, j) for i, j in np.argwhere(wide & high).tolist() if i < j]


def test_everything_has_one_place(found: Layout) -> None:
    shape, parts = found.shape, found.fabric
    assert sorted(found.gpus.ids[found.gpus.ids >= 0].tolist()) == list(range(parts.count("gpu")))
    pairs = shape.leaves * shape.spines_per_pod
    assert sorted(found.pairs.ids[found.pairs.ids >= 0].tolist()) == list(range(pairs))
    for kind, boxes in (("rack", found.racks), ("leaf", found.leaves), ("spine", found.spines)):
        assert len(boxes) == parts.count(kind)
    assert len(found.pods) == shape.pods
    if found.planes is None:
        assert parts.count("core") == 0
    else:
        assert sorted(found.planes.ids.reshape(-1).tolist()) == list(range(shape.spines))


def test_nothing_lies_on_anything_else(found: Layout) -> None:
    assert overlaps(found.pods) == []
    planes = [] if found.planes is None else [found.planes.box]
    pairs = [_around(found, pod) for pod in range(found.shape.pods)]
    # Matrix, leaves and racks; then the same with the row of spines in the matrix's place.
    for upper in (np.array(pairs), found.spines):
        boxes = [upper, found.leaves, found.racks, *(np.array([box]) for box in planes)]
        assert overlaps(np.concatenate(boxes)) == []


def _around(found: Layout, pod: int) -> Corners:
    """World corners of a pod's matrix."""
    shape = found.shape
    first = pod * shape.leaves_per_pod
    last = min(first + shape.leaves_per_pod, shape.leaves) - 1
    each = shape.spines_per_pod
    low = found.pairs.corners(np.array([first * each]))[0]
    high = found.pairs.corners(np.array([last * each + each - 1]))[0]
    return [*low[:2].tolist(), *high[2:].tolist()]


def test_all_is_inside_the_world(found: Layout) -> None:
    x0, y0, x1, y1 = found.box
    grids = [found.gpus, found.pairs, *([found.planes] if found.planes is not None else [])]
    all_boxes = [
        found.racks,
        found.leaves,
        found.spines,
        found.pods,
        np.array([g.box for g in grids]),
    ]
    boxes = np.concatenate(all_boxes)
    assert boxes[:, :2].min() >= min(x0, y0)
    assert boxes[:, 2].max() <= x1 + 1e-9
    assert boxes[:, 3].max() <= y1 + 1e-9
    assert (boxes[:, 2:] > boxes[:, :2]).all()


def test_a_gpu_lies_in_its_rack_by_tray_and_rail(found: Layout) -> None:
    parts = found.fabric
    cells = found.gpus.corners(np.arange(parts.count("gpu"))).tolist()
    racks = found.racks.tolist()
    for number, cell in enumerate(cells):
        rack, tray, rail = number // 72, number // 4 % 18, number % 4
        x, y = racks[rack][0] + rail, racks[rack][1] + tray
        expected = (x, y, x + 1, y + 1)
        assert all(abs(a - b) < 1e-9 for a, b in zip(cell, expected, strict=True)), number


def test_a_leaf_stands_over_the_gpus_that_it_is_wired_to(found: Layout) -> None:
    parts = found.fabric
    nics = parts.tiers[0].lower - parts.nodes("nic").start
    leaves = parts.tiers[0].upper - parts.nodes("leaf").start
    cells, above = found.gpus.corners(nics), found.leaves[leaves]
    assert cells[:, [0, 2]].mean(axis=1) == pytest.approx(above[:, [0, 2]].mean(axis=1))
    assert (above[:, 3] < cells[:, 1]).all()


def test_a_pair_lies_in_its_leafs_column_and_its_spines_row(found: Layout) -> None:
    parts, shape = found.fabric, found.shape
    each = shape.spines_per_pod
    leaf = parts.tiers[1].lower - parts.nodes("leaf").start
    spine = parts.tiers[1].upper - parts.nodes("spine").start
    cells = found.pairs.corners(leaf * each + spine % each)
    assert cells[:, [0, 2]].mean(axis=1) == pytest.approx(
        found.leaves[leaf][:, [0, 2]].mean(axis=1)
    )
    rows = found.rows[spine // each, spine % each, 1]
    assert cells[:, [1, 3]].mean(axis=1) == pytest.approx(rows)
    assert (cells[:, 3] < found.leaves[leaf][:, 1]).all()


def test_a_plane_is_a_row_and_a_pod_a_column(found: Layout) -> None:
    if found.planes is None:
        return
    each, pods = found.shape.spines_per_pod, found.shape.pods
    for row in range(each):
        assert found.planes.ids[row].tolist() == [pod * each + row for pod in range(pods)]


def inside(box: Corners, frame: Corners) -> bool:
    return (
        frame[0] <= box[0] + 1e-9
        and frame[1] <= box[1] + 1e-9
        and box[2] <= frame[2] + 1e-9
        and box[3] <= frame[3] + 1e-9
    )


@pytest.mark.parametrize("preset", ["gb300-cdu", "gb300-27k"])
@pytest.mark.parametrize(
    ("racks", "each"), [(64, 32), (45, 32), (17, 6), (301, 40), (301, 30), (384, 24)]
)
def test_a_frame_holds_the_racks_of_its_loop_and_no_others(
    preset: str, racks: int, each: int
) -> None:
    cooling = CoolingSpec(kind="cdu", units=2, racks_per_loop=each)
    found = layout(build(cluster_spec(preset, racks=racks, cooling=cooling)))
    assert len(found.loops) == -(-racks // each)
    for loop, frames in enumerate(found.loops):
        own = set(range(loop * each, min((loop + 1) * each, racks)))
        held = [
            {n for n, rack in enumerate(found.racks.tolist()) if inside(rack, frame)}
            for frame in frames.tolist()
        ]
        assert set().union(*held) == own
        assert sum(map(len, held)) == len(own)


def test_a_loop_of_one_rack_has_no_frame() -> None:
    assert where("su").loops == ()


def test_the_map_of_a_fabric_is_made_once() -> None:
    assert where("su") is layout(fabric("su"))
