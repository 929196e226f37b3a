"""Fabric metrics: numbers by hand, relations that must hold, and clusters at the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gbviz.cooling import steady
from gbviz.engine.metrics import Metrics, metrics
from gbviz.flows.router import router
from gbviz.routing.modes import MODES
from gbviz.topology import build, cluster_spec
from tests.routing import CABLES, EVERYTHING, FABRICS, NVLINK, SWITCHES, broken, damage

if TYPE_CHECKING:
    from gbviz.routing.modes import Mode
    from gbviz.topology import Fabric

AZURE = build(cluster_spec("azure-gb300"))
LARGE = build(cluster_spec("gb300-27k"))
RACK = build(cluster_spec(racks=1))
GROUP = build(cluster_spec(racks=4))
NVL = 4_147_200.0

Faults = tuple[str | tuple[str, float], ...]


def of(fabric: Fabric, *did: str | tuple[str, float], mode: Mode = "adaptive") -> Metrics:
    health = broken(fabric, *did)
    found = metrics(router(fabric, health, mode, 0), steady(fabric, health))
    assert found.problems == ()
    return found


# A degraded NIC on a degraded cable.
QUARTER: Faults = (("rack-0/tray-0/nic-0", 0.5), ("rack-0/tray-0/nic-0~leaf-0", 0.5))
# injection, bisection, all-to-all a GPU, NVLink, worst uplinks
AZURE_BY_HAND: list[tuple[Faults, float, float, float, float, float]] = [
    ((), 460_800, 230_400, 100.0, NVL, 1.0),
    (("spine-3",), 460_800, 224_000, 100.0, NVL, 70 / 72),
    (("leaf-0",), 453_600, 223_200, 75.0, NVL, 0.0),
    (("leaf-0~spine-3#0",), 460_800, 230_300, 100.0, NVL, 71 / 72),
    (("spine-[0-2]",), 460_800, 211_200, 4_536 * 6_600 / 72 / 4_320, NVL, 66 / 72),
    (("rack-0/nvtray-3",), 460_800, 230_400, 100.0, NVL - 7_200, 1.0),
    (("rack-0/nvswitch-3",), 460_800, 230_400, 100.0, NVL - 3_600, 1.0),
    (("rack-0/tray-0/gpu-0>rack-0/nvswitch-3",), 460_800, 230_400, 100.0, NVL - 50, 1.0),
    (("leaf-0>spine-3",), 460_800, 230_200, 100.0, NVL, 70 / 72),
    (("spine-3>leaf-0",), 460_800, 230_400, 100.0, NVL, 70 / 72),
    (("rack-0/tray-0/nic-0",), 460_700, 230_300, 75.0, NVL, 1.0),
    ((("rack-0/tray-0/nic-0", 0.5),), 460_750, 230_350, 50.0, NVL, 1.0),
    (QUARTER, 460_725, 230_325, 25.0, NVL, 1.0),
    (("rack-0/tray-0/nic-0>leaf-0",), 460_700, 230_300, 75.0, NVL, 1.0),
    (("leaf-0>rack-0/tray-0/nic-0",), 460_800, 230_400, 75.0, NVL, 1.0),
    (("rack-0",), 453_600, 223_200, 100.0, NVL - 64_800, 1.0),
    # A dead GPU relays nothing, so its three mates share their own NICs: just enough.
    (("rack-0/tray-0/gpu-0",), 460_800, 230_400, 100.0, NVL - 900, 1.0),
    # Leaf 0 sends at 36 of 72 cables, in proportion: 72 x 4,320 bytes.
    (("leaf-0~spine-[0-17]",), 460_800, 226_800, 4_536 * 3_600 / 72 / 4_320, NVL, 0.5),
]


@pytest.mark.parametrize(("did", "injection", "bisect", "a2a", "nvlink", "uplinks"), AZURE_BY_HAND)
def test_azure_by_hand(
    did: Faults, injection: float, bisect: float, a2a: float, nvlink: float, uplinks: float
) -> None:
    found = of(AZURE, *did)
    assert found.injection_GBps == injection
    assert found.bisection_GBps == pytest.approx(bisect, rel=1e-12)
    assert found.all_to_all_GBps_per_gpu == pytest.approx(a2a, rel=1e-12)
    assert found.nvlink_GBps == nvlink
    assert found.worst_leaf_uplink_fraction == uplinks
    assert found.disconnected_gpus == ()
    assert found.reason == {}


@pytest.mark.parametrize(
    ("mode", "a2a", "pair"), [("adaptive", 100.0, 100.0), ("spray", 52.5, 100.0)]
)
def test_a_degraded_cable(mode: Mode, a2a: float, pair: float) -> None:
    """Evenly every uplink of the leaf is asked for 4,320 bytes, at 50 GB/s the slow one."""
    found = of(AZURE, ("leaf-0~spine-3#1", 0.5), mode=mode)
    assert found.all_to_all_GBps_per_gpu == pytest.approx(a2a, rel=1e-12)
    assert found.worst_pair_GBps == pair
    assert found.bisection_GBps == 230_350  # the most that any routing could carry
    words = {"adaptive": "rack-0/tray-0/nic-0 (sending)", "spray": "leaf-0>spine-3"}
    assert found.bottleneck == words[mode]


@pytest.mark.parametrize(
    ("fabric", "slow", "name"),
    [
        (AZURE, "leaf-6>spine-9", "leaf-6>spine-9"),
        (AZURE, "spine-9>leaf-6", "spine-9>leaf-6"),
        (AZURE, "leaf-6>spine-*", "leaf-6>each of 36 spines"),
        (FABRICS["three tiers, three pods"], "leaf-3>spine-2", "leaf-3>spine-2"),
        (FABRICS["three tiers, three pods"], "spine-3>core-*", "pod 1: spines to cores, up"),
    ],
)
def test_the_bottleneck_by_name(fabric: Fabric, slow: str, name: str) -> None:
    assert of(fabric, (slow, 0.25), mode="spray").bottleneck == name


def test_little_nvlink() -> None:
    """One of 18 ASICs is left: PXN of a pair gets 50 GB/s, and of an exchange 3/4 of all bytes."""
    found = of(AZURE, "rack-0/nvswitch-[0-16]")
    assert found.worst_pair_GBps == 50
    assert found.all_to_all_GBps_per_gpu == pytest.approx(50 / 0.75)
    assert found.bisection_GBps == 230_400


def test_three_tiers_by_hand() -> None:
    found = of(LARGE)
    assert found.live_gpus == 27_648
    assert found.injection_GBps == 2_764_800
    assert found.bisection_GBps == 1_382_400
    assert found.all_to_all_GBps_per_gpu == pytest.approx(100.0)
    assert found.nonblocking
    less = of(LARGE, "core-0")
    assert less.bisection_GBps == pytest.approx(1_382_400 * 191 / 192)
    # A leaf pair's 300 GB/s fit through the 63 live cables up of spine 0, so it still gets 1/24 of
    # what each of the pod's 1,728 GPUs sends to 25,920 in other pods.
    load = 1_728 * 25_920 / 24
    assert less.all_to_all_GBps_per_gpu == pytest.approx(27_576 * 6_300 / load, rel=1e-9)
    assert less.nonblocking is False


def test_modes_on_a_healthy_tree() -> None:
    for mode in ("adaptive", "spray", "static"):
        assert of(GROUP, mode=mode).all_to_all_GBps_per_gpu == pytest.approx(100.0)
    tree = FABRICS["two tiers, two cables a pair"]
    spread, hashed = of(tree, mode="static"), of(tree, mode="ecmp")
    assert spread.all_to_all_GBps_per_gpu is not None
    assert hashed.all_to_all_GBps_per_gpu is not None
    assert hashed.all_to_all_GBps_per_gpu <= spread.all_to_all_GBps_per_gpu


def test_too_many_flows_for_single_paths_is_none_with_a_reason() -> None:
    found = of(LARGE, mode="ecmp")
    assert found.all_to_all_GBps_per_gpu is None
    assert found.worst_pair_GBps is None
    assert "25,000,000" in found.reason["all_to_all_GBps_per_gpu"]


def test_cut_off_is_zero_and_said() -> None:
    found = of(AZURE, "spine-*")
    assert found.all_to_all_GBps_per_gpu == found.worst_pair_GBps == found.bisection_GBps == 0
    assert found.cut_off_pairs == 4_608 * (4_608 - 288)
    assert len(found.disconnected_gpus) == 4_608 - 288
    assert "cut off" in found.reason["all_to_all_GBps_per_gpu"]
    assert found.nonblocking is False
    assert found.bottleneck is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("fabric", "did", "live", "injection", "a2a"),
    [
        (RACK, (), 72, 7_200, None),
        (RACK, ("rack-0",), 0, 0, None),
        (RACK, ("rack-0/nvswitch-*",), 72, 7_200, None),
        (RACK, ("leaf-*",), 72, 0, None),
        (GROUP, ("rack-*",), 0, 0, None),
        (GROUP, ("rack-[1-3]",), 72, 7_200, None),
        (GROUP, ("spine-*",), 288, 28_800, 100.0),  # one leaf group needs no spine
        (GROUP, ("leaf-*",), 288, 0, 0.0),
        (GROUP, ("rack-*/tray-*/nic-*",), 288, 0, 0.0),
        # Without NVLink every GPU sends from its own NIC, and rails cross at the spines.
        (GROUP, ("rack-*/nvswitch-*",), 288, 28_800, 100.0),
        (GROUP, ("rack-*", "spine-*", "leaf-*"), 0, 0, None),
    ],
)
def test_at_the_edge(
    fabric: Fabric, did: Faults, live: int, injection: float, a2a: float | None, mode: Mode
) -> None:
    found = of(fabric, *did, mode=mode)
    assert found.live_gpus == live
    assert found.injection_GBps == injection
    if a2a is None:
        assert found.all_to_all_GBps_per_gpu is None
        assert found.worst_pair_GBps is None
        assert found.reason["all_to_all_GBps_per_gpu"]
        assert found.cut_off_pairs == 0
    elif "nvswitch" not in str(did) or mode in ("adaptive", "spray"):
        assert found.all_to_all_GBps_per_gpu == pytest.approx(a2a)
    assert (found.nonblocking is None) == (injection == 0)


@pytest.mark.parametrize("racks", [1, 2, 3])
def test_one_gpu_a_tray(racks: int) -> None:
    """No mates: a GPU without its NIC is cut off."""
    fabric = build(cluster_spec(racks=racks, trays_per_rack=4, gpus_per_tray=1, radix=8))
    assert of(fabric).all_to_all_GBps_per_gpu == (None if racks == 1 else pytest.approx(100.0))
    found = of(fabric, "rack-0/tray-0/nic-0")
    # In a rack alone NVLink is enough.
    assert found.disconnected_gpus == (("rack-0/tray-0/gpu-0",) if racks > 1 else ())
    assert found.cut_off_pairs == 2 * 4 * (racks - 1)


def test_disjoint_nvlink_in_a_tray() -> None:
    """What GPU 0 has for rail 1 goes over NICs 0, 2 and 3, and likewise GPU 1 for rail 0."""
    found = of(
        AZURE,
        "rack-0/tray-0/gpu-0~rack-0/nvswitch-[0-8]",
        "rack-0/tray-0/gpu-1~rack-0/nvswitch-[9-17]",
    )
    assert found.cut_off_pairs == 0
    # NIC 2 sends four quarters of 4,536 bytes and two thirds of another.
    assert found.all_to_all_GBps_per_gpu == pytest.approx(100 * 4_536 / (4_536 + 2 * 378))


RAISED_BY_NOTHING = (
    "live_gpus",
    "injection_GBps",
    "bisection_GBps",
    "nvlink_GBps",
    "compute_fraction",
    "worst_leaf_uplink_fraction",
)


def distinct(did: list[str | tuple[str, float]]) -> list[str | tuple[str, float]]:
    """One fault a component: a later one replaces an earlier one."""
    return list({fault if isinstance(fault, str) else fault[0]: fault for fault in did}.values())


@pytest.mark.parametrize("name", FABRICS)
def test_a_fault_raises_nothing(name: str) -> None:
    """Fault after fault. All-to-all is compared with the healthy one.

    A fault on top of another can raise it: an adaptive split is not the best one, and a dead
    component no longer keeps the exchange waiting as a degraded one did.
    """
    fabric, rng = FABRICS[name], np.random.default_rng(23)
    for kinds in (EVERYTHING, (*CABLES, *SWITCHES, *NVLINK, "nic", "half nic")):
        base = before = of(fabric)
        did = distinct(damage(fabric, rng, 10, kinds))
        for count in range(1, len(did) + 1):
            after = of(fabric, *did[:count])
            for field in RAISED_BY_NOTHING:
                assert getattr(after, field) <= getattr(before, field) * (1 + 1e-12), (field, did)
            if kinds is not EVERYTHING:
                assert after.all_to_all_GBps_per_gpu is not None
                assert base.all_to_all_GBps_per_gpu is not None
                assert after.all_to_all_GBps_per_gpu <= base.all_to_all_GBps_per_gpu * (1 + 1e-12)
            before = after


def numbers(found: Metrics) -> dict[str, Any]:
    fields = [name for name in Metrics.__slots__ if name not in ("bottleneck", "nonblocking_why")]
    return {name: getattr(found, name) for name in fields}


def same(one: Metrics, two: Metrics) -> None:
    for name, value in numbers(one).items():
        other = getattr(two, name)
        assert other == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value)


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("mode", MODES)
def test_order_of_faults_does_not_matter(name: str, mode: Mode) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(24)
    did = distinct(damage(fabric, rng, 12, EVERYTHING))
    same(of(fabric, *did, mode=mode), of(fabric, *did[::-1], mode=mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pods", [None, 2])
def test_twice_the_port_rate_is_twice_everything(mode: Mode, pods: int | None) -> None:
    found = []
    for GBps in (30.0, 60.0):
        fabric = build(
            cluster_spec(
                racks=6,
                trays_per_rack=2,
                gpus_per_tray=2,
                radix=8,
                leaves_per_pod=pods,
                port_GBps=GBps,
            )
        )
        did = damage(fabric, np.random.default_rng(25), 8, (*CABLES, "spine", "half nic"))
        found.append(of(fabric, *did, mode=mode))
    one, two = found
    assert two.injection_GBps == 2 * one.injection_GBps
    assert two.bisection_GBps == pytest.approx(2 * one.bisection_GBps)
    assert one.all_to_all_GBps_per_gpu
    assert one.worst_pair_GBps
    assert two.all_to_all_GBps_per_gpu == pytest.approx(2 * one.all_to_all_GBps_per_gpu)
    assert two.worst_pair_GBps == pytest.approx(2 * one.worst_pair_GBps)
    assert (two.nvlink_GBps, two.nonblocking) == (one.nvlink_GBps, one.nonblocking)
