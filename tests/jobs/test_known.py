"""Edges of phases found before: the same to the bit as found afresh, and none but where due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gbviz.flows.router import Router, router
from gbviz.jobs import phases
from gbviz.jobs.edge import Edge, near_edge
from gbviz.jobs.known import KnownEdges
from gbviz.jobs.phases import Phase, collective, flow_phase
from gbviz.topology import build, cluster_spec
from tests.routing import EVERYTHING, FABRICS, broken, damage

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.jobs.collectives import Op
    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Ints

EIGHT = build(cluster_spec(racks=8))
TP: Ints = np.arange(8 * 72).reshape(-1, 4)
DP = np.ascontiguousarray(TP.T)
OPS: tuple[Op, ...] = ("all_reduce", "all_gather", "all_to_all", "broadcast")


def same(one: Phase, two: Phase) -> bool:
    arrays = ((one.link, two.link), (one.load, two.load), (one.room, two.room))
    return all(np.array_equal(a, b) for a, b in arrays) and (
        (one.nvlink_s, one.eta, one.cut, one.relay) == (two.nvlink_s, two.eta, two.cut, two.relay)
    )


def every_phase(by: Router, groups: Ints) -> list[Phase]:
    found = [collective("x", by, groups, op, size) for op in OPS for size in (1e9, 2e9)]
    found.append(collective("x", by, groups, "all_reduce", 1e9, algorithm="ring"))
    found.append(flow_phase("x", by, groups[:, 0], groups[:, 1], 1e9))
    found.append(flow_phase("x", by, groups[:, 0], groups[:, 1], np.arange(1.0, len(groups) + 1)))
    return found


@pytest.mark.parametrize("mode", ["adaptive", "spray", "ecmp"])
def test_known_or_found_afresh_is_the_same_to_the_bit(
    mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All fabrics, healths and policies in turn, with one memory and with none."""
    rng = np.random.default_rng(3)
    shared = KnownEdges()
    for number in range(60):
        fabric = list(FABRICS.values())[number % len(FABRICS)]
        did = damage(fabric, rng, int(rng.integers(0, 4)), EVERYTHING)
        by = router(fabric, broken(fabric, *did), mode, number % 2, by_rack=number % 3 == 0)
        live = np.flatnonzero(by.nics.live)
        if len(live) < 4:
            continue
        groups = live[: len(live) // 2 * 2].reshape(2, -1)
        monkeypatch.setattr(phases, "KNOWN", shared)
        with_memory = every_phase(by, groups)
        monkeypatch.setattr(phases, "KNOWN", KnownEdges())
        assert all(same(*both) for both in zip(with_memory, every_phase(by, groups), strict=True))


ALL = np.arange(8 * 72).reshape(8, 72).T
# GPU 0 keeps 9 of its 18 links: ample for NICs at half their rate, but not for whole ones.
FEW_LINKS = " ".join(f"rack-0/tray-0/gpu-0~rack-0/nvswitch-{n}" for n in range(9))
ALL_BUT_FIRST = " ".join(f"leaf-0~spine-{n}" for n in (1, 2, 3))


@pytest.mark.parametrize(
    "turns",
    [
        ("rack-0/nvswitch-1", "rack-0/nvswitch-2 rack-0/nvswitch-1", "rack-0/tray-0/gpu-1>*", ""),
        (FEW_LINKS, FEW_LINKS + " half", FEW_LINKS),
        (ALL_BUT_FIRST, ALL_BUT_FIRST + " leaf-4~spine-0", "leaf-4~spine-0", ALL_BUT_FIRST),
    ],
)
@pytest.mark.parametrize("groups", [TP, DP, ALL, np.arange(288).reshape(2, 144)])
def test_states_that_differ_in_one_thing(
    turns: tuple[str, ...], groups: Ints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NVLink of one rack; the rate of all NICs; leaves that no longer reach each other."""
    shared = KnownEdges()
    for turn in turns:
        dead = [name for name in turn.split() if name != "half"]
        slow = [("rack-*/tray-*/nic-*", 0.5)] if "half" in turn else []
        by = router(EIGHT, broken(EIGHT, *dead, *slow), "adaptive", 0)
        monkeypatch.setattr(phases, "KNOWN", shared)
        with_memory = every_phase(by, groups)
        monkeypatch.setattr(phases, "KNOWN", KnownEdges())
        assert all(same(*both) for both in zip(with_memory, every_phase(by, groups), strict=True))


def test_fabrics_with_as_many_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    shared, groups = KnownEdges(), np.arange(24).reshape(2, 12)
    shapes: tuple[dict[str, Any], ...] = (
        {"racks": 6, "trays_per_rack": 2, "gpus_per_tray": 2, "radix": 8},
        {"racks": 3, "trays_per_rack": 4, "gpus_per_tray": 2, "radix": 8},
        {"racks": 6, "trays_per_rack": 1, "gpus_per_tray": 4, "radix": 16},
        {"racks": 6, "trays_per_rack": 2, "gpus_per_tray": 2, "radix": 8, "leaves_per_pod": 2},
    )
    for parts in shapes:
        fabric = build(cluster_spec(**parts))
        by = router(fabric, broken(fabric), "adaptive", 0)
        monkeypatch.setattr(phases, "KNOWN", shared)
        with_memory = every_phase(by, groups)
        monkeypatch.setattr(phases, "KNOWN", KnownEdges())
        assert all(same(*both) for both in zip(with_memory, every_phase(by, groups), strict=True))


def finds(first: str, then: str, groups: Ints) -> bool:
    """Whether a phase is found again under another health."""
    known, found = KnownEdges(), []

    def ask(did: str) -> None:
        by = router(EIGHT, broken(EIGHT, *did.split()), "adaptive", 0)

        def find() -> Edge:
            found.append(did)
            return phases._collective(by, groups, "all_reduce", 1e9, "auto")

        known.edge(by, (groups,), ("all_reduce",), find)

    ask(first)
    ask(then)
    return len(found) == 2


@pytest.mark.parametrize(
    ("did", "groups", "again"),
    [
        ("leaf-0~spine-3#0", DP, False),
        ("spine-3 leaf-2>spine-0", DP, False),
        ("rack-1/tray-0/nic-2", TP, False),
        ("rack-1/tray-0/nic-2", DP, True),
        ("rack-2/tray-0/nic-2", DP[:, :36], False),
        ("rack-1/tray-4/nic-2", DP[:, :36], True),
        ("rack-1/nvswitch-2", TP, True),
        ("rack-1/nvswitch-2", TP[:18], False),
        ("leaf-1", DP, True),
    ],
)
def test_what_a_fault_makes_be_found_again(did: str, groups: Ints, again: bool) -> None:
    assert finds("", did, groups) is again
    assert finds(did, "", groups) is again
    assert not finds(did, did, groups)


def test_the_oldest_are_forgotten() -> None:
    by, known = router(EIGHT, broken(EIGHT), "adaptive", 0), KnownEdges(10_000)
    calls: list[int] = []

    def finding(number: int) -> Callable[[], Edge]:
        def find() -> Edge:
            calls.append(number)
            return near_edge(float(number))

        return find

    few = np.arange(100)  # 800 bytes
    for number in (*range(100), 99, 98):
        assert known.edge(by, (few,), (number,), finding(number)).nvlink_s == number
        assert len(known) <= 12
    assert calls == list(range(100))
    known.edge(by, (few,), (0,), finding(0))
    assert calls[-1] == 0
