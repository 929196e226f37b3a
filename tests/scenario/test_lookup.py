"""The short cut from plain names to parts finds what the search finds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from gbviz.errors import GbvizError
from gbviz.scenario.lookup import Lookup
from gbviz.topology import build, cluster_spec
from gbviz.topology.selectors import Part, select
from tests.scenario.samples import COMPONENTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.topology import Fabric


@pytest.fixture(scope="module", params=["gb300-su", "gb300-27k"])
def fabric(request: pytest.FixtureRequest) -> Fabric:
    return build(cluster_spec(request.param))


NAMES = (
    *COMPONENTS,
    "rack-1/tray-2/gpu-3",
    "rack-7/nvtray-1",
    "rack-7/nvswitch-17~rack-7/tray-17/gpu-3",
    "rack-0/tray-0/gpu-0>rack-0/nvswitch-3#0",
    "rack-0/nvswitch-3>rack-0/tray-0/gpu-0",
    "spine-2~leaf-1#0",
    "leaf-2~rack-0/tray-0/nic-2",
    "rack-0/tray-0/nic-2>leaf-2#0",
    "feed-a",
    "rack-3/feed-b",
    "loop-2",
    "spine-0~core-0",
)
WRONG = (
    "spine-9999",
    "leaf-0~leaf-1",
    "leaf-0~spine-1#9",
    "rack-0/tray-0/gpu-0~rack-1/nvswitch-3",
    "leaf-00",
    "leaf-0~spine-1#01",
    "gpu-3",
    "~",
    "rack-0/tray-0/gpu-0~rack-0/nvswitch-3#1",
)


@pytest.mark.parametrize("name", NAMES + WRONG)
def test_the_short_cut_finds_what_the_search_finds(fabric: Fabric, name: str) -> None:
    quick, slow = Lookup(fabric, ["x"] * 1000), Lookup(fabric, [])
    found = _found(partial(select, fabric, name))
    assert _found(partial(quick.parts, name)) == found
    assert _found(partial(slow.parts, name)) == found


def _found(find: Callable[[], list[Part]]) -> list[Part] | str:
    try:
        return find()
    except GbvizError as error:
        return str(error)
