from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.display.places import boxes_of
from gbviz.display.walk import Way, neighbour, parent
from gbviz.topology.selectors import select
from tests.display.cases import where

if TYPE_CHECKING:
    from gbviz.display.layout import Layout

WAYS: tuple[Way, ...] = get_args(Way)
CASES = ("azure", "su", "cdu", "27k", "1 rack", "3 racks", "last group of 1", "last pod of 13")
# Whatever can be selected, by a click, by the search, in a table or by a typed name.
STARTS = (
    "",
    "rack-0",
    "rack-0/tray-3",
    "rack-0/tray-3/gpu-2",
    "rack-0/tray-3/nic-2",
    "rack-0/tray-3/cpu-1",
    "rack-0/nvswitch-4",
    "rack-0/nvtray-2",
    "rack-0/shelf-1",
    "rack-0/feed-a",
    "rack-0/tray-3/nic-2:1",
    "rack-0/tray-3/nic-2~leaf-2",
    "rack-0/tray-3/nic-2~leaf-2#0",
    "rack-0/tray-3/nic-2>leaf-2#0",
    "leaf-2>rack-0/tray-3/nic-2#0",
    "rack-0/tray-3/gpu-2~rack-0/nvswitch-4",
    "leaf-1",
    "leaf-1:73",
    "leaf-1/cage-3",
    "leaf-1~spine-1",
    "leaf-1~spine-1#1",
    "leaf-1>spine-1#1",
    "spine-1>leaf-1#1",
    "spine-1",
    "spine-1:2",
    "loop-0",
)


def exists(found: Layout, name: str) -> bool:
    return len(select(found.fabric, name)) >= 1


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=5, deadline=None)
@given(
    start=st.sampled_from(STARTS),
    ways=st.lists(st.sampled_from(WAYS), min_size=200, max_size=200),
)
def test_arrows_always_find_a_component(case: str, start: str, ways: list[Way]) -> None:
    found, name = where(case), start
    for way in ways:
        name = neighbour(found, name, way)
        assert exists(found, name), (start, name)


@pytest.mark.parametrize("case", ["azure", "last pod of 13"])
def test_a_first_step_from_anything(case: str) -> None:
    found = where(case)
    for start in STARTS:
        for way in WAYS:
            assert len(boxes_of(found, neighbour(found, start, way))) > 0, (start, way)


def test_the_way_out_ends_at_nothing() -> None:
    found = where("azure")
    for start in STARTS:
        name, steps = start, 0
        while name:
            assert exists(found, name), (start, name)
            shorter = parent(name)
            assert len(shorter) < len(name), (start, name)
            name, steps = shorter, steps + 1
        assert steps <= 6


def test_racks_lie_in_columns() -> None:
    found = where("azure")
    assert neighbour(found, "rack-5", "left") == "rack-1"
    assert neighbour(found, "rack-5", "right") == "rack-9"
    assert neighbour(found, "rack-5", "up") == "rack-4"
    assert neighbour(found, "rack-5", "down") == "rack-6"
    assert neighbour(found, "rack-3", "down") == "rack-3"
    assert neighbour(found, "rack-63", "right") == "rack-63"
    assert neighbour(found, "rack-8", "up") == "leaf-8"


def test_from_a_leaf_into_the_matrix_and_out_at_its_edges() -> None:
    found = where("azure")
    assert neighbour(found, "leaf-3", "down") == "rack-0"
    assert neighbour(found, "leaf-63", "right") == "leaf-63"
    assert neighbour(found, "leaf-3", "up") == "leaf-3~spine-35"
    assert neighbour(found, "leaf-3~spine-35", "up") == "leaf-3~spine-34"
    assert neighbour(found, "leaf-3~spine-35", "down") == "leaf-3"
    assert neighbour(found, "leaf-0~spine-9#1", "left") == "spine-9"
    assert neighbour(found, "spine-9", "right") == "leaf-0~spine-9"
    assert neighbour(found, "spine-9", "up") == "spine-8"


def test_a_step_across_pods_goes_to_the_other_pods_spine() -> None:
    found = where("27k")
    assert neighbour(found, "leaf-23~spine-5", "right") == "leaf-24~spine-29"
    assert neighbour(found, "leaf-24~spine-29", "left") == "spine-29"


def test_gpus_step_over_gaps_between_racks() -> None:
    found = where("azure")
    assert neighbour(found, "rack-0/tray-17/gpu-1", "down") == "rack-1/tray-0/gpu-1"
    assert neighbour(found, "rack-0/tray-2/gpu-3", "right") == "rack-4/tray-2/gpu-0"
    assert neighbour(found, "rack-0/tray-0/gpu-0", "up") == "rack-0/tray-0/gpu-0"
    assert neighbour(found, "rack-0/tray-2/nic-3", "right") == "rack-4/tray-2/nic-0"


def test_trays_stay_in_their_row() -> None:
    found = where("azure")
    assert neighbour(found, "rack-0/tray-2", "right") == "rack-4/tray-2"
    assert neighbour(found, "rack-0/tray-2", "up") == "rack-0/tray-1"
    assert neighbour(found, "rack-0/tray-17", "down") == "rack-0/tray-17"
