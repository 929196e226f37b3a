"""Rates of flows between GPUs: by hand, and against exact max-min on single cables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.flows.graph_rates import graph_rates
from gbviz.flows.rates import Rates, flow_rates
from gbviz.routing.modes import MODES, Mode
from gbviz.topology import build, cluster_spec
from tests import slow_reference as slow
from tests.routing import CABLES, EVERYTHING, FABRICS, SWITCHES, broken, damage

if TYPE_CHECKING:
    from gbviz.topology import Fabric, Health
    from gbviz.topology.fabric import Ints

AZURE = build(cluster_spec("azure-gb300"))
RACK = build(cluster_spec(racks=1))
EIGHT = build(cluster_spec(racks=8))
LEAF_0 = np.arange(0, 288, 4)  # rail 0 of racks 0 to 3


def rates(
    fabric: Fabric, health: Health, mode: Mode, source: Ints, target: Ints, seed: int = 3
) -> Rates:
    found = flow_rates(fabric, health, mode, seed, (source, target))
    assert found.problems == ()
    return found


def all_pairs(gpus: Ints) -> tuple[Ints, Ints]:
    source, target = np.divmod(np.arange(len(gpus) ** 2), len(gpus))
    return gpus[source[source != target]], gpus[target[source != target]]


@pytest.mark.parametrize(
    ("did", "mode", "each"),
    [
        ((), "adaptive", 100.0),
        (("leaf-0~spine-3#0",), "adaptive", 7_100 / 72),
        (("spine-3",), "adaptive", 7_000 / 72),
        (("spine-3",), "spray", 7_000 / 72),
        (("spine-[3-5]", "leaf-4~spine-9"), "adaptive", 6_400 / 72),
        # One cable at half: by capacity 71.5 of 72 cables are left, evenly all go at half speed.
        ((("leaf-0~spine-3#0", 0.5),), "adaptive", 7_150 / 72),
        ((("leaf-0~spine-3#0", 0.5),), "spray", 50.0),
        ((("leaf-0~spine-3#0", 0.25),), "spray", 25.0),
    ],
)
def test_a_leaf_sending_out(
    did: tuple[str | tuple[str, float], ...], mode: Mode, each: float
) -> None:
    """All 72 GPUs of leaf 0 send to leaf 4 (performance.md, analytic checks)."""
    found = rates(AZURE, broken(AZURE, *did), mode, LEAF_0, LEAF_0 + 288)
    assert found.rate == pytest.approx([each] * 72, rel=1e-12)
    assert not found.cut.any()
    assert not found.gone.any()


@pytest.mark.parametrize("mode", MODES)
def test_all_to_all_in_a_rack(mode: Mode) -> None:
    pairs = all_pairs(np.arange(72))
    found = rates(RACK, broken(RACK), mode, *pairs)
    assert found.rate == pytest.approx(np.full(72 * 71, 900 / 71), rel=1e-12)
    found = rates(RACK, broken(RACK, "rack-0/tray-0/gpu-2~rack-0/nvswitch-4"), mode, *pairs)
    hurt = (pairs[0] == 2) | (pairs[1] == 2)
    assert found.rate[hurt] == pytest.approx(np.full(142, 850 / 71), rel=1e-12)
    assert found.rate[~hurt] == pytest.approx(np.full(72 * 71 - 142, 900 / 71), rel=1e-12)


def test_an_nvswitch_tray_less_in_a_rack() -> None:
    found = rates(RACK, broken(RACK, "rack-0/nvtray-3"), "adaptive", *all_pairs(np.arange(72)))
    assert found.rate == pytest.approx(np.full(72 * 71, 800 / 71), rel=1e-12)


def test_all_to_all_over_eight_racks() -> None:
    """100/504 a pair of different racks: 576 - 72 destinations on each NIC, PXN included."""
    source, target = all_pairs(np.arange(576))
    found = rates(EIGHT, broken(EIGHT), "adaptive", source, target)
    apart = source // 72 != target // 72
    assert found.rate[apart] == pytest.approx(np.full(apart.sum(), 100 / 504), rel=1e-12)
    # NVLink: 3/4 of what goes out is relayed to another rail's GPU first, the rest is its own.
    out = 900 - 75
    assert found.rate[~apart] == pytest.approx(np.full((~apart).sum(), out / 71), rel=1e-12)
    # Every NIC both ways is full.
    start = found.flows.links.starts
    assert found.load[: start[2]] == pytest.approx(np.full(2 * 576, 100.0), rel=1e-12)


def test_a_gpu_without_its_nic_shares_those_of_its_tray() -> None:
    """Four GPUs of a tray on three NICs, each sending out of the rack on its own rail.

    GPU 0 has a third on each NIC: x/3 + y = 100, and max-min makes x = y = 75.
    """
    health, tray = broken(AZURE, "rack-0/tray-0/nic-0"), np.arange(4)
    assert rates(AZURE, health, "adaptive", tray, tray + 288).rate == pytest.approx([75.0] * 4)
    # Alone it gets all three.
    assert rates(AZURE, health, "adaptive", tray[:1], tray[:1] + 288).rate == pytest.approx([300.0])


def test_relay_over_little_nvlink_is_a_limit() -> None:
    # PXN from GPU 0 to rail 1 over the only ASIC that is left, 50 GB/s.
    health = broken(AZURE, "rack-0/nvswitch-[0-16]")
    found = rates(AZURE, health, "adaptive", np.array([0, 5]), np.array([289, 289 + 4]))
    assert found.rate == pytest.approx([50.0, 100.0])
    assert found.flows.links.name(int(found.bottleneck[0])) in (
        "rack-0/tray-0/gpu-0>NVLink",
        "NVLink>rack-0/tray-0/gpu-1",
    )


def test_incast_shares_one_nic() -> None:
    source = np.arange(288, 4_608)
    found = rates(AZURE, broken(AZURE), "adaptive", source, np.zeros_like(source))
    assert found.rate == pytest.approx(np.full(4_320, 100 / 4_320), rel=1e-9)
    assert {int(link) for link in found.bottleneck} == {int(found.flows.links.starts[1])}


def test_demand_is_a_cap_and_leaves_the_rest_to_others() -> None:
    # Three to one NIC: 10 wanted, so 45 each for the others.
    pairs = np.array([288, 576, 864]), np.array([0, 0, 0])
    found = flow_rates(
        AZURE, broken(AZURE), "adaptive", 0, pairs, demand=np.array([np.inf, 10.0, 99.0])
    )
    assert found.rate == pytest.approx([45, 10, 45])
    assert found.bottleneck[1] == -1
    assert found.problems == ()


def test_without_a_way_or_an_end_the_rate_is_zero_and_listed() -> None:
    health = broken(AZURE, "rack-0/tray-0/nic-*", "rack-1/tray-0/gpu-0")
    ends = np.array([0, 72, 4, 288]), np.array([288, 288, 289, 0])
    found = rates(AZURE, health, "adaptive", *ends)
    assert found.rate.tolist() == [0, 0, 100, 0]
    assert found.cut.tolist() == [True, False, False, True]
    assert found.gone.tolist() == [False, True, False, False]
    assert found.bottleneck[[0, 1, 3]].tolist() == [-1, -1, -1]


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("mode", MODES)
def test_as_exact_max_min_on_single_cables(name: str, mode: Mode) -> None:
    """Random damage of every kind, random pairs, some within a rack."""
    fabric, rng = FABRICS[name], np.random.default_rng(10)
    G = fabric.count("gpu")
    for trial in range(3):
        health = broken(fabric, *damage(fabric, rng, 8 * trial, EVERYTHING))
        source = rng.integers(0, G, 16)
        target = (source + rng.integers(1, G, 16)) % G
        found = rates(fabric, health, mode, source, target)
        pairs = list(zip(source.tolist(), target.tolist(), strict=True))
        expected, cut, gone = slow.flow_rates(slow.Net(fabric, health), pairs, mode, 3)
        assert found.rate == pytest.approx([float(rate) for rate in expected], rel=1e-9)
        assert found.cut.tolist() == cut
        assert found.gone.tolist() == gone
        assert (found.rate[found.cut | found.gone] == 0).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(4))
def test_cores_that_all_flows_cross(mode: Mode, seed: int) -> None:
    """Every GPU sends to the next pod, as much as its spines' cables to the cores could take."""
    fabric, rng = FABRICS["three tiers, three pods"], np.random.default_rng(seed)
    did = damage(fabric, rng, 2 + 3 * seed, ("core", "spine", *CABLES, *CABLES))
    health = broken(fabric, *did)
    source = np.arange(20)
    target = (source + 8) % 20
    found = rates(fabric, health, mode, source, target)
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    expected, _, _ = slow.flow_rates(slow.Net(fabric, health), pairs, mode, 3)
    assert found.rate == pytest.approx([float(rate) for rate in expected], rel=1e-9)


def test_nics_faster_than_nvlink() -> None:
    """Four NICs of 1,000 GB/s a tray: PXN is limited by the 900 GB/s of a GPU, whole as it is."""
    fabric = build(
        cluster_spec(racks=2, trays_per_rack=2, gpus_per_tray=4, radix=8, port_GBps=1_000.0)
    )
    health = broken(fabric)
    pairs = [(0, 9), (0, 10), (0, 11), (0, 8), (4, 13), (5, 13)]
    source, target = np.array(pairs).T
    found = rates(fabric, health, "adaptive", source, target)
    expected, _, _ = slow.flow_rates(slow.Net(fabric, health), pairs, "adaptive", 3)
    assert found.rate == pytest.approx([float(rate) for rate in expected], rel=1e-9)
    assert found.rate.tolist() == pytest.approx([300, 300, 300, 1_000, 500, 500])


@pytest.mark.parametrize("mode", MODES)
def test_order_of_flows_does_not_matter(mode: Mode) -> None:
    rng = np.random.default_rng(11)
    health = broken(EIGHT, *damage(EIGHT, rng, 15, EVERYTHING))
    source = rng.integers(0, 576, 300)
    target = (source + rng.integers(1, 576, 300)) % 576
    order = rng.permutation(300)
    one = rates(EIGHT, health, mode, source, target)
    two = rates(EIGHT, health, mode, source[order], target[order])
    assert two.rate == pytest.approx(one.rate[order], rel=1e-12)
    assert two.load == pytest.approx(one.load, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_twice_the_port_rate_is_twice_the_rate(mode: Mode) -> None:
    """Between racks, far from what NVLink carries."""
    rng, found = np.random.default_rng(12), []
    source = rng.integers(0, 32, 40)
    target = (source + 4 * rng.integers(1, 7, 40)) % 32
    for GBps in (40.0, 80.0):
        fabric = build(
            cluster_spec(racks=8, trays_per_rack=2, gpus_per_tray=2, radix=8, port_GBps=GBps)
        )
        did = damage(fabric, np.random.default_rng(13), 10, (*CABLES, *SWITCHES, "half nic"))
        found.append(rates(fabric, broken(fabric, *did), mode, source, target).rate)
    assert found[1] == pytest.approx(2 * found[0], rel=1e-12)


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("mode", MODES)
def test_the_general_solver_gives_the_same(name: str, mode: Mode) -> None:
    """Flows on one rail need no NVLink, so NIC to NIC on the switch graph they get the same."""
    fabric, rng = FABRICS[name], np.random.default_rng(14)
    nvlink, spec = fabric.nvlink, fabric.spec
    assert nvlink is not None
    assert spec is not None
    health = broken(fabric, *damage(fabric, rng, 8, (*CABLES, *SWITCHES)))
    live = [leaf for leaf in range(fabric.count("leaf")) if health.up(fabric, "leaf")[leaf]]
    leaf = fabric.tiers[0].upper - fabric.nodes("leaf").start
    gpus = np.flatnonzero(np.isin(leaf, live))
    pairs = [
        (s, t)
        for s in gpus.tolist()
        for t in gpus.tolist()
        if s // nvlink.gpus != t // nvlink.gpus and (s - t) % spec.gpus_per_tray == 0
    ]
    net = slow.Net(fabric, health)
    pairs = [p for p in pairs if net.joined(net.nic_link[p[0]][2], net.nic_link[p[1]][2])]
    source, target = (np.array(side) for side in zip(*pairs, strict=True))
    one = rates(fabric, health, mode, source, target)
    two = graph_rates(fabric, health, mode, 3, (source, target))
    assert two.problems == ()
    assert not two.cut.any()
    assert two.rate == pytest.approx(one.rate, rel=1e-9)
    first = fabric.tiers[0].first
    cables = [load.reshape(-1) for load in one.flows.links.cable_loads(one.load)]
    assert two.load[first:] == pytest.approx(np.concatenate(cables), rel=1e-9, abs=1e-9)
