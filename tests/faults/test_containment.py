"""What is inside what, both ways."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.faults.containment import CONTAINS, containers, contents
from gbviz.topology import Fabric, build, cluster_spec
from gbviz.topology.graph import from_graph

AZURE = build(cluster_spec("azure-gb300"))
CDU = build(cluster_spec("gb300-cdu"))
GRAPH = from_graph(["a"], ["s"], [("a", "s", 1.0)])


def inside(fabric: Fabric, name: str) -> list[str]:
    nodes = [
        node
        for part in contents(fabric, fabric.index_of(name))
        for node in range(part.start, part.stop)
    ]
    return [fabric.name(node) for node in nodes]


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (
            "rack-3",
            {"rack": 1, "tray": 18, "gpu": 72, "nic": 72, "cpu": 36, "nvtray": 9, "nvswitch": 18},
        ),
        ("rack-3/tray-17", {"tray": 1, "gpu": 4, "nic": 4, "cpu": 2}),
        ("rack-3/nvtray-8", {"nvtray": 1, "nvswitch": 2}),
        ("rack-3/feed-b", {"feed": 1, "shelf": 4}),
        ("loop-9", {"loop": 1, "hxu": 1}),
        *((name, {name.rpartition("/")[2].partition("-")[0]: 1}) for name in ("leaf-3", "spine-3")),
        ("rack-3/tray-17/gpu-2", {"gpu": 1}),
        ("rack-3/tray-17/nic-2", {"nic": 1}),
        ("rack-3/nvswitch-17", {"nvswitch": 1}),
        ("rack-3/shelf-7", {"shelf": 1}),
        ("hxu-3", {"hxu": 1}),
    ],
)
def test_counts(name: str, counts: dict[str, int]) -> None:
    names = inside(AZURE, name)
    assert names[0] == name
    assert len(set(names)) == len(names)
    assert Counter(one.rpartition("/")[2].partition("-")[0] for one in names) == counts


def test_parts_of_a_rack_carry_its_name() -> None:
    assert all(name == "rack-3" or name.startswith("rack-3/") for name in inside(AZURE, "rack-3"))
    # Feeds and shelves stand in the rack, and live on when its trays do not.
    assert not any("feed" in name or "shelf" in name for name in inside(AZURE, "rack-3"))


def test_which_parts_those_are() -> None:
    assert inside(AZURE, "rack-5/nvtray-4") == [
        "rack-5/nvtray-4",
        "rack-5/nvswitch-8",
        "rack-5/nvswitch-9",
    ]
    assert inside(AZURE, "rack-5/feed-a") == [
        "rack-5/feed-a",
        *(f"rack-5/shelf-{n}" for n in range(4)),
    ]
    assert inside(AZURE, "rack-5/feed-b")[1:] == [f"rack-5/shelf-{n}" for n in range(4, 8)]
    assert inside(AZURE, "loop-63") == ["loop-63", "hxu-63"]
    assert inside(CDU, "loop-1") == ["loop-1", "cdu-4", "cdu-5", "cdu-6", "cdu-7"]
    assert inside(GRAPH, "s") == ["s"]


@pytest.mark.parametrize(
    ("fabric", "name", "outer"),
    [
        (AZURE, "rack-1/tray-0/gpu-3", ["rack-1/tray-0", "rack-1"]),
        (AZURE, "rack-63/tray-17/cpu-1", ["rack-63/tray-17", "rack-63"]),
        (AZURE, "rack-2/nvswitch-17", ["rack-2/nvtray-8", "rack-2"]),
        (AZURE, "rack-2/shelf-3", ["rack-2/feed-a"]),
        (AZURE, "rack-2/shelf-4", ["rack-2/feed-b"]),
        (AZURE, "hxu-7", ["loop-7"]),
        (CDU, "cdu-7", ["loop-1"]),
        (AZURE, "leaf-3", []),
        (AZURE, "rack-0", []),
        (GRAPH, "a", []),
    ],
)
def test_containers(fabric: Fabric, name: str, outer: list[str]) -> None:
    assert [fabric.name(node) for node in containers(fabric, fabric.index_of(name))] == outer


@given(st.sampled_from([AZURE, CDU, GRAPH]), st.data())
def test_both_ways_agree(fabric: Fabric, data: st.DataObject) -> None:
    node = data.draw(st.integers(0, fabric.n_nodes - 1))
    for outer in containers(fabric, node):
        assert any(part.start <= node < part.stop for part in contents(fabric, outer))
    for part in contents(fabric, node):
        for inner in {part.start, part.stop - 1} - {node}:
            assert node in containers(fabric, inner)


def test_every_kind_is_inside_one_other_at_most() -> None:
    inner = [kind for kinds in CONTAINS.values() for kind in kinds]
    assert len(set(inner)) == len(inner)
