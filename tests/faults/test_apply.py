"""Faults as health, what each takes down, and why a part is down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.faults import Action, Fault, apply, resolve
from gbviz.faults.apply import Toll, takes_down, why_down
from gbviz.faults.fault import DEGRADABLE
from gbviz.topology import Fabric, Health, build, cluster_spec
from gbviz.topology.graph import from_graph
from gbviz.topology.health import healthy

if TYPE_CHECKING:
    from random import Random

AZURE = build(cluster_spec("azure-gb300"))
CDU = build(cluster_spec("gb300-cdu"))
PODS = build(cluster_spec(racks=192))
SMALL = build(cluster_spec(racks=8))
GRAPH = from_graph(
    ["a", "b"],
    ["s", "t"],
    [("a", "s", 100.0), ("a", "t", 100.0), ("b", "t", 100.0), ("s", "t", 50.0), ("s", "t", 50.0)],
)


def faults_of(fabric: Fabric, *did: str | tuple[str, float]) -> tuple[Fault, ...]:
    actions = [
        Action("fail", it) if isinstance(it, str) else Action("degrade", it[0], it[1]) for it in did
    ]
    return resolve(fabric, actions)


def toll(fabric: Fabric, name: str) -> tuple[int, int, int]:
    (fault,) = faults_of(fabric, name)
    found = takes_down(fabric, fault)
    return found.links, found.gpus, found.nics


# --------------------------------------------------------------------------- apply


def test_a_rack_takes_its_parts_and_no_others_down() -> None:
    faults = faults_of(AZURE, "rack-3")
    health = apply(AZURE, faults)
    down = {kind: int((~health.up(AZURE, kind)).sum()) for kind in AZURE.kinds}
    expected = {"rack": 1, "tray": 18, "gpu": 72, "nic": 72, "cpu": 36, "nvtray": 9, "nvswitch": 18}
    assert down == dict.fromkeys(AZURE.kinds, 0) | expected
    for node in np.flatnonzero(health.node_factor == 0).tolist():
        assert AZURE.name(node).startswith("rack-3")
        assert health.node_cause[node] == 0
    assert (health.node_cause[health.node_factor == 1] == -1).all()


def test_the_fabric_stays_as_it_is() -> None:
    start = [tier.capacity.copy() for tier in AZURE.tiers]
    apply(AZURE, faults_of(AZURE, "leaf-*", ("rack-0/tray-0/nic-*", 0.5), "leaf-0~*"))
    assert all(
        np.array_equal(now.capacity, then) for now, then in zip(AZURE.tiers, start, strict=True)
    )
    assert (healthy(AZURE).node_factor == 1).all()


def test_where_faults_meet_the_worst_counts_and_the_first_of_those_is_the_cause() -> None:
    gpu = AZURE.index_of("rack-0/tray-0/gpu-0")
    slow, tray, rack = ("rack-0/tray-0/gpu-0", 0.5), "rack-0/tray-0", "rack-0"
    for order, cause in (((slow, tray, rack), 1), ((rack, slow, tray), 0), ((slow,), 0)):
        health = apply(AZURE, faults_of(AZURE, *order))
        assert health.node_factor[gpu] == (0.5 if order == (slow,) else 0)
        assert health.node_cause[gpu] == cause
    # The tray's own fault keeps it down when the rack is whole again.
    health = apply(AZURE, faults_of(AZURE, tray))
    assert health.node_factor[AZURE.index_of("rack-0/tray-1")] == 1


def test_degraded_parts_say_which_fault_it_was() -> None:
    health = apply(CDU, faults_of(CDU, "spine-0", ("cdu-5", 0.25)))
    unit = CDU.index_of("cdu-5")
    assert (health.node_factor[unit], health.node_cause[unit]) == (0.25, 1)
    health = apply(CDU, faults_of(CDU, ("cdu-5", 0.25), "loop-1"))
    assert (health.node_factor[unit], health.node_cause[unit]) == (0, 1)


def test_bundles_ports_and_cages_hit_their_links_both_ways() -> None:
    tier = AZURE.tier("leaf-spine")
    for name, cables in (
        ("leaf-0~spine-3", [6, 7]),
        ("leaf-0~spine-3#1", [7]),
        ("leaf-0:80", [7]),
        ("spine-3:2", [7]),
        ("leaf-0/cage-40", [6, 7]),
        ("spine-3/cage-1", [6, 7]),
    ):
        own = apply(AZURE, faults_of(AZURE, name)).link_factor[1]
        assert own is not None
        assert np.argwhere(own == 0).tolist() == [[way, c] for way in (0, 1) for c in cables]
        assert own.shape == (2, tier.n)
    own = apply(AZURE, faults_of(AZURE, "spine-3>leaf-0")).link_factor[1]
    assert own is not None
    assert np.argwhere(own == 0).tolist() == [[1, 6], [1, 7]]


def test_faults_on_one_link_multiply_nothing() -> None:
    did = (("leaf-0~spine-3", 0.5), ("leaf-0~spine-3#1", 0.75), ("leaf-0:80", 0.25))
    own = apply(AZURE, faults_of(AZURE, *did)).link_factor[1]
    assert own is not None
    assert own[0, 6:8].tolist() == [0.5, 0.25]


def test_nvlink_faults_are_kept_by_rack() -> None:
    gpu = "rack-5/tray-17/gpu-3"
    did = (f"{gpu}>rack-5/nvswitch-17", ("rack-6/tray-0/gpu-0~*", 0.5))
    health = apply(AZURE, faults_of(AZURE, *did))
    assert sorted(health.nvlink_factor) == [5, 6]
    assert np.argwhere(health.nvlink_factor[5] != 1).tolist() == [[0, 71, 17]]
    assert np.argwhere(health.nvlink_factor[6] == 0.5)[:, 1].tolist() == [0] * 36
    assert health.link_factor == (None, None)


# --------------------------------------------------------------------------- relations

PARTS = st.sampled_from(
    [
        *("rack-0", "rack-1/tray-3", "rack-1/nvtray-0", "rack-1/nvswitch-3", "rack-2/feed-a"),
        *("rack-1/tray-3/gpu-0", "rack-1/tray-3/nic-0", "rack-7/tray-17/nic-3", "leaf-0"),
        *("leaf-5", "spine-0", "spine-3", "hxu-1", "loop-1", "leaf-0~spine-0", "leaf-0>spine-0#3"),
        *("spine-1>leaf-4", "leaf-0~*", "leaf-0:1", "leaf-0/cage-1", "spine-0/cage-7"),
        *("rack-1/tray-3/gpu-0~*", "*>rack-1/nvswitch-3", "rack-1/tray-3/nic-0~leaf-0"),
    ]
)
FACTORS = st.sampled_from([0.0, 0.1, 0.5, 1.0])


@st.composite
def some_faults(draw: st.DrawFn, most: int = 6) -> tuple[Fault, ...]:
    found: list[Fault] = []
    for name, factor in draw(st.lists(st.tuples(PARTS, FACTORS), max_size=most)):
        try:
            found += resolve(SMALL, [Action("degrade", name, factor)])
        except InputError:
            found += resolve(SMALL, [Action("fail", name)])
    return tuple(found)


def capacities(health: Health) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    tiers = [health.capacity(SMALL, number) for number in range(len(SMALL.tiers))]
    return [*tiers, *(health.nvlink_capacity(SMALL, rack) for rack in range(8))]


@given(some_faults(), some_faults(most=2))
@settings(deadline=None)
def test_a_fault_never_raises_any_capacity(
    some: tuple[Fault, ...], more: tuple[Fault, ...]
) -> None:
    before, after = apply(SMALL, some), apply(SMALL, some + more)
    assert (after.node_factor <= before.node_factor).all()
    for now, then in zip(capacities(after), capacities(before), strict=True):
        assert (now <= then).all()
        assert (now >= 0).all()
    assert set(before.damaged_nvlink(SMALL)) <= set(after.damaged_nvlink(SMALL))


@given(some_faults(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_faults_changes_no_factor(some: tuple[Fault, ...], random: Random) -> None:
    order = list(some)
    random.shuffle(order)
    one, other = apply(SMALL, some), apply(SMALL, order)
    assert np.array_equal(one.node_factor, other.node_factor)
    for now, then in zip(capacities(one), capacities(other), strict=True):
        assert np.array_equal(now, then)
    assert one.nvlink_factor.keys() == other.nvlink_factor.keys()


@given(some_faults())
@settings(deadline=None)
def test_twice_the_same_fault_is_once(some: tuple[Fault, ...]) -> None:
    one, other = apply(SMALL, some), apply(SMALL, some + some)
    assert np.array_equal(one.node_factor, other.node_factor)
    assert np.array_equal(one.node_cause, other.node_cause)
    for now, then in zip(capacities(one), capacities(other), strict=True):
        assert np.array_equal(now, then)


@given(some_faults())
@settings(deadline=None)
def test_every_part_that_is_down_has_a_cause_that_is_as_bad(some: tuple[Fault, ...]) -> None:
    health = apply(SMALL, some)
    worse = np.flatnonzero(health.node_factor < 1)
    assert (health.node_cause[worse] >= 0).all()
    for node in worse.tolist():
        assert some[health.node_cause[node]].factor == health.node_factor[node]


# --------------------------------------------------------------------------- takes_down


@pytest.mark.parametrize(
    ("name", "links", "gpus", "nics"),
    [
        # 64 leaves x 2 cables x 2 ways
        ("spine-3", 256, 0, 0),
        # (72 + 72) cables x 2 ways
        ("leaf-0", 288, 0, 72),
        # 1,296 NVLink and 72 NIC cables x 2 ways
        ("rack-3", 2_736, 72, 72),
        # 4 x 18 NVLink and 4 NIC cables x 2 ways
        ("rack-3/tray-0", 152, 4, 4),
        ("rack-3/nvtray-8", 288, 0, 0),
        ("rack-3/nvswitch-17", 144, 0, 0),
        ("rack-3/tray-0/gpu-0", 36, 1, 0),
        ("rack-3/tray-0/nic-0", 2, 0, 1),
        ("rack-3/tray-0/cpu-0", 0, 0, 0),
        ("rack-3/feed-a", 0, 0, 0),
        ("hxu-3", 0, 0, 0),
        ("loop-3", 0, 0, 0),
        ("leaf-0~spine-3", 4, 0, 0),
        ("leaf-0~spine-3#1", 2, 0, 0),
        ("leaf-0>spine-3", 2, 0, 0),
        ("leaf-0>spine-3#1", 1, 0, 0),
        ("leaf-0:73", 2, 0, 0),
        ("leaf-0:1", 2, 0, 1),
        ("leaf-0/cage-1", 4, 0, 2),
        ("leaf-0/cage-37", 4, 0, 0),
        ("rack-3/tray-0/nic-0~leaf-0", 2, 0, 1),
        # Who can only send or only receive is lost as well.
        ("rack-3/tray-0/nic-0>leaf-0", 1, 0, 1),
        ("leaf-0>rack-3/tray-0/nic-0", 1, 0, 1),
        ("rack-3/tray-0/gpu-0~rack-3/nvswitch-0", 2, 0, 0),
        ("rack-3/tray-0/gpu-0>rack-3/nvswitch-0", 1, 0, 0),
    ],
)
def test_what_a_fault_takes_down(name: str, links: int, gpus: int, nics: int) -> None:
    assert toll(AZURE, name) == (links, gpus, nics)


def test_what_a_fault_takes_down_in_three_tiers() -> None:
    assert toll(PODS, "core-0") == (2 * 8 * 18, 0, 0)
    assert toll(PODS, "spine-0") == (2 * (24 * 3 + 4 * 18), 0, 0)
    assert toll(PODS, "leaf-0") == (288, 0, 72)


def test_what_a_fault_takes_down_in_a_general_graph() -> None:
    # Host a has a second cable, so that neither switch s nor one cable cuts it off.
    assert toll(GRAPH, "s") == (6, 0, 0)
    assert toll(GRAPH, "t") == (8, 0, 1)
    assert toll(GRAPH, "a") == (4, 0, 1)
    assert toll(GRAPH, "a~s") == (2, 0, 0)
    assert toll(GRAPH, "b>t") == (1, 0, 1)
    assert toll(GRAPH, "s~t") == (4, 0, 0)
    assert sum(takes_down(GRAPH, fault).nics for fault in faults_of(GRAPH, "a~*")) == 0
    lone = from_graph(["a"], ["s"], [])
    assert toll(lone, "s") == (0, 0, 0)
    assert toll(lone, "a") == (0, 0, 1)


def test_a_degraded_part_takes_nothing_down() -> None:
    for name in ("leaf-0~spine-3", "rack-0/tray-0/nic-0", "rack-0/tray-0/gpu-0", "hxu-3"):
        (fault,) = faults_of(AZURE, (name, 0.5))
        assert takes_down(AZURE, fault) == Toll()


@given(some_faults(most=1))
@settings(deadline=None)
def test_what_is_taken_down_is_what_health_shows(some: tuple[Fault, ...]) -> None:
    for fault in some[:2]:
        health = apply(SMALL, [fault])
        links = sum(int((capacity == 0).sum()) for capacity in capacities(health))
        gpus = int((~health.up(SMALL, "gpu")).sum())
        nics = int((health.capacity(SMALL, 0) == 0).any(axis=0).sum())
        assert takes_down(SMALL, fault) == Toll(links, gpus, nics)


# --------------------------------------------------------------------------- why_down


@pytest.mark.parametrize(
    ("did", "because"),
    [
        (("spine-3",), [None]),
        (("spine-3", "leaf-0~spine-3"), [None, "spine-3"]),
        (("leaf-0~spine-3", "spine-3"), ["spine-3", None]),
        (("spine-3", "leaf-0>spine-3"), [None, "spine-3"]),
        (("spine-3", "spine-3>leaf-0"), [None, "spine-3"]),
        (("spine-3", "spine-4", "leaf-0:73"), [None, None, None]),
        (("leaf-0", "leaf-0:73", "leaf-0/cage-1"), [None, "leaf-0", "leaf-0"]),
        (("rack-0", "rack-0/tray-0", "rack-0/tray-0/gpu-0"), [None, "rack-0", "rack-0"]),
        (("rack-0/tray-0", "rack-0/tray-0/gpu-0"), [None, "rack-0/tray-0"]),
        (("rack-0", "rack-0/tray-0/nic-0~leaf-0"), [None, "rack-0"]),
        (
            ("rack-0/nvtray-0", "rack-0/tray-0/gpu-0>rack-0/nvswitch-1"),
            [None, "rack-0/nvtray-0"],
        ),
        (("rack-0/feed-a", "rack-0/shelf-3", "rack-0/shelf-4"), [None, "rack-0/feed-a", None]),
        (("loop-3", "hxu-3"), [None, "loop-3"]),
        # A cable is part of a bundle, of a transceiver, of a port.
        (("leaf-0~spine-3", "leaf-0~spine-3#1"), [None, "leaf-0~spine-3"]),
        (("leaf-0/cage-1", "leaf-0:2"), [None, "leaf-0/cage-1"]),
        (("leaf-0:73", "leaf-0>spine-0#0"), [None, "leaf-0:73"]),
        (("leaf-0:73", "leaf-0~spine-0#0"), [None, None]),
        # A degraded part takes nothing down, and is down itself with what fails.
        ((("rack-0/tray-0/nic-0", 0.5), "rack-0/tray-0/nic-0~leaf-0"), [None, None]),
        (("rack-0", ("rack-0/tray-0/nic-0", 0.5)), [None, "rack-0"]),
        ((("leaf-0~spine-3", 0.5), "leaf-0~spine-3#1"), [None, None]),
    ],
)
def test_why_a_part_is_down(
    did: tuple[str | tuple[str, float], ...], because: list[str | None]
) -> None:
    assert why_down(AZURE, faults_of(AZURE, *did)) == because


def test_a_stated_cause_stays() -> None:
    fault = Fault("hxu-3", "hxu", 0.0, (AZURE.index_of("hxu-3"),), (), because="rack-3")
    assert why_down(AZURE, [fault, *faults_of(AZURE, "loop-3")]) == ["rack-3", None]


def test_which_parts_may_be_degraded() -> None:
    assert set(DEGRADABLE) <= {*AZURE.kinds, *CDU.kinds, "cable", "direction", "port", "cage"}
    assert not set(DEGRADABLE) & {"rack", "tray", "nvtray", "leaf", "spine", "core", "switch"}
