"""Collectives by hand: what a phase takes on NVLink and on the fabric, whole and damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.flows.router import Router, router
from gbviz.jobs.phases import Phase, collective, flow_phase
from gbviz.topology import build, cluster_spec
from tests.routing import FABRICS, broken, damage

if TYPE_CHECKING:
    from gbviz.jobs.collectives import Op
    from gbviz.topology.fabric import Ints

EIGHT = build(cluster_spec(racks=8))
GIB16 = float(16 * 2**30)
RING, NVLS, NIC, ETA = 680e9, 840e9, 95e9, 0.95


def on(*did: str | tuple[str, float], by_rack: bool = False) -> Router:
    return router(EIGHT, broken(EIGHT, *did), "adaptive", 0, by_rack=by_rack)


HEALTHY = on()


def racks(*numbers: int) -> Ints:
    """One group of all GPUs of some racks."""
    return np.concatenate([np.arange(72 * n, 72 * n + 72) for n in numbers])[None]


def took(by: Router, groups: Ints, op: Op, size: float = GIB16) -> float:
    return collective("x", by, groups, op, size).seconds()


def test_one_rack() -> None:
    sent = 71 / 72 * GIB16
    assert took(HEALTHY, racks(0), "all_reduce") == pytest.approx(2 * sent / NVLS)
    for op in ("all_gather", "reduce_scatter", "all_to_all"):
        assert took(HEALTHY, racks(0), op) == pytest.approx(sent / RING)
    assert took(HEALTHY, racks(0), "broadcast") == pytest.approx(GIB16 / RING)
    assert took(HEALTHY, racks(0), "send_recv") == pytest.approx(GIB16 / RING)
    rings = collective("x", HEALTHY, racks(0), "all_reduce", GIB16, algorithm="ring")
    assert rings.seconds() == pytest.approx(2 * sent / RING)


def test_small_groups_reduce_without_the_switches() -> None:
    seven, eight = np.arange(7)[None], np.arange(8)[None]
    assert took(HEALTHY, seven, "all_reduce") == pytest.approx(2 * 6 / 7 * GIB16 / RING)
    assert took(HEALTHY, eight, "all_reduce") == pytest.approx(2 * 7 / 8 * GIB16 / NVLS)


def test_two_racks_are_hierarchical() -> None:
    phase = collective("x", HEALTHY, racks(0, 1), "all_reduce", GIB16)
    inside, across = 2 * 71 / 72 * GIB16 / RING, 2 * (1 / 2) * GIB16 / 72 / NIC
    assert phase.nvlink_s == pytest.approx(inside)
    assert phase.fabric_s()[0] == pytest.approx(across)
    assert phase.seconds() == pytest.approx(max(inside, across) / ETA)
    gather = collective("x", HEALTHY, racks(0, 1), "all_gather", GIB16)
    assert gather.seconds() == pytest.approx(phase.seconds() / 2)


def test_one_gpu_a_rack_is_a_ring_of_nics() -> None:
    group = (np.arange(4) * 72)[None]
    assert took(HEALTHY, group, "all_reduce") == pytest.approx(2 * 3 / 4 * GIB16 / NIC)


def test_flat_rings_over_racks() -> None:
    """All 143 / 144 pass each NVLink; what crosses is shared by 72 rings."""
    phase = collective("x", HEALTHY, racks(0, 1), "all_reduce", GIB16, algorithm="ring")
    sent = 2 * 143 / 144 * GIB16
    assert phase.nvlink_s == pytest.approx(sent / RING)
    assert phase.fabric_s()[0] == pytest.approx(sent / 72 / NIC)


def test_uneven_groups_are_one_flat_ring() -> None:
    """Three GPUs in rack 0 and two in rack 1: two rings cross, each with half the bytes."""
    group = np.array([[0, 1, 2, 72, 73]])
    phase = collective("x", HEALTHY, group, "all_gather", GIB16)
    sent = 4 / 5 * GIB16
    assert phase.nvlink_s == pytest.approx(sent / RING)
    assert phase.fabric_s()[0] == pytest.approx(sent / 2 / NIC)
    assert phase.seconds() == pytest.approx(sent / 2 / NIC / ETA)


def test_broadcast_over_racks_is_a_chain() -> None:
    group = np.array([[5, 80, 3, 76]])  # 3, 5 on NVLink, 5 to 76 by the fabric, 76, 80
    phase = collective("x", HEALTHY, group, "broadcast", GIB16)
    assert phase.nvlink_s == pytest.approx(GIB16 / RING)
    assert phase.fabric_s()[0] == pytest.approx(GIB16 / NIC)
    assert phase.seconds() == pytest.approx(GIB16 / NIC / ETA)


def test_nobody_to_talk_to() -> None:
    ops: tuple[Op, ...] = ("all_reduce", "all_to_all", "broadcast")
    for op in ops:
        for phase in (
            collective("x", HEALTHY, np.array([[3], [80]]), op, GIB16),
            collective("x", HEALTHY, racks(0, 1), op, 0.0),
        ):
            assert (phase.seconds(), phase.fabric_s()) == (0.0, (0.0, -1))


def test_exchange_of_eight_racks_is_bound_by_the_nics() -> None:
    phase = collective("x", HEALTHY, racks(*range(8)), "all_to_all", GIB16)
    assert phase.fabric_s()[0] == pytest.approx(7 / 8 * GIB16 / NIC)
    assert phase.nvlink_s == pytest.approx(71 / 576 * GIB16 / RING)
    assert phase.seconds() == pytest.approx(7 / 8 * GIB16 / NIC / ETA)
    assert phase.nvlink_s == pytest.approx(flow_phase("x", HEALTHY, *pairs(0), 1).nvlink_s * PART)


PART = GIB16 / 576


def pairs(rack: int) -> tuple[Ints, Ints]:
    one, two = np.nonzero(~np.eye(72, dtype=bool))
    return 72 * rack + one, 72 * rack + two


@pytest.mark.parametrize(
    ("fault", "factor"),
    [("rack-0/tray-0/nic-0", 4 / 3), ("leaf-0", 4 / 3), ("rack-0/tray-0/nic-0~leaf-0", 4 / 3)],
)
def test_what_a_lost_rail_costs_the_exchange(fault: str, factor: float) -> None:
    """The three NICs that are left on a tray carry what four did."""
    group = racks(*range(8))
    assert took(on(fault), group, "all_to_all") == pytest.approx(
        factor * took(HEALTHY, group, "all_to_all"), rel=1e-9
    )


def test_a_nic_lost_spreads_over_the_rack_where_the_job_says_so() -> None:
    """Its own 504 transfers out, and what mates sent by its rail, over 71 NICs."""
    by = on("rack-0/tray-0/nic-0", by_rack=True)
    factor = took(by, racks(*range(8)), "all_to_all") / took(
        HEALTHY, racks(*range(8)), "all_to_all"
    )
    assert 1 + 1 / 72 < factor < 1.05


@pytest.mark.parametrize(
    ("fault", "factor"),
    [
        ("rack-0/nvswitch-0", 18 / 17),
        ("rack-0/nvtray-0", 9 / 8),
        ("rack-0/tray-0/gpu-0~rack-0/nvswitch-0", 18 / 17),
    ],
)
@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "all_to_all"])
def test_what_lost_nvlink_costs_a_rack(fault: str, factor: float, op: Op) -> None:
    by = on(fault)
    assert took(by, racks(0), op) == pytest.approx(factor * took(HEALTHY, racks(0), op))
    assert took(by, racks(1), op) == pytest.approx(took(HEALTHY, racks(1), op))


def test_nvlink_lost_in_a_job_over_racks() -> None:
    slow = took(on("rack-0/nvtray-0"), racks(0, 1), "all_reduce")
    assert slow == pytest.approx(9 / 8 * took(HEALTHY, racks(0, 1), "all_reduce"))


def test_a_gpu_without_nvlink_reaches_its_rack_by_the_fabric() -> None:
    """GPU 0 has lost all its links: rings through it go out and in by its NIC, whoever is beside.

    In the ring of the rack it sends 2 x 71/72 of the bytes to GPU 1 and gets as many from GPU 71,
    beside its own rail's ring to rack 1.
    """
    by = on("rack-0/tray-0/gpu-0~*")
    sent = 2 * 71 / 72 * GIB16
    alone = collective("x", by, racks(0), "all_reduce", GIB16)
    assert alone.fabric_s()[0] == pytest.approx(sent / NIC)
    both = collective("x", by, racks(0, 1), "all_reduce", GIB16)
    assert both.fabric_s()[0] == pytest.approx((sent + GIB16 / 72) / NIC)
    uneven = np.concatenate([racks(0), racks(1)[:, :3]], axis=1)
    amount = 2 * 74 / 75 * GIB16
    found = collective("x", by, uneven, "all_reduce", GIB16)
    assert found.fabric_s()[0] == pytest.approx((amount + amount / 3) / NIC)


def test_a_job_cut_in_two_never_ends() -> None:
    by = on("rack-0/tray-0/nic-[0-3]")
    for op in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
        phase = collective("x", by, racks(0, 1), op, GIB16)
        assert (phase.cut, phase.seconds(), phase.fabric_s()) == (True, np.inf, (np.inf, -1))
    assert took(by, racks(0), "all_reduce") == took(HEALTHY, racks(0), "all_reduce")


def test_slow_nic_and_slow_link() -> None:
    group = racks(*range(8))
    slow = on(("rack-0/tray-0/nic-0", 0.5))
    assert took(slow, group, "all_to_all") == pytest.approx(2 * took(HEALTHY, group, "all_to_all"))


def nic_loads(by: Router, phase: Phase) -> dict[int, float]:
    first = int(by.space.starts[2])
    return {
        link: load
        for link, load in zip(phase.link.tolist(), phase.load.tolist(), strict=True)
        if link < first
    }


@pytest.mark.parametrize("seed", range(20))
def test_bytes_on_nics_are_those_of_the_flows(seed: int) -> None:
    """PXN: the NIC of the source's tray on the rail of the target, and the target's own."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, 576, (2, 300))
    amount = rng.uniform(1e6, 1e9, 300)
    phase = flow_phase("x", HEALTHY, source, target, amount)
    want: dict[int, float] = {}
    for s, t, bytes_ in zip(source.tolist(), target.tolist(), amount.tolist(), strict=True):
        if s // 72 != t // 72:
            for link in (s - s % 4 + t % 4, 576 + t):
                want[link] = want.get(link, 0.0) + bytes_
    found = nic_loads(HEALTHY, phase)
    assert found.keys() == want.keys()
    assert list(found.values()) == pytest.approx([want[link] for link in found])
    assert phase.fabric_s()[0] >= max(want.values()) / NIC * (1 - 1e-12)


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "all_to_all", "broadcast"])
def test_time_grows_with_the_bytes(name: str, op: Op) -> None:
    fabric = FABRICS[name]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        by = router(fabric, broken(fabric, *damage(fabric, rng, 3)), "adaptive", 0)
        live = np.flatnonzero(by.nics.live)
        group = rng.permutation(live)[: max(2, len(live) // 2)][None]
        one, three = (collective("x", by, group, op, size) for size in (1e9, 3e9))
        assert three.seconds() == pytest.approx(3 * one.seconds(), rel=1e-12)
        assert three.load == pytest.approx(3 * one.load, rel=1e-12)


def test_a_tree_sends_the_buffer_twice() -> None:
    phase = collective("x", HEALTHY, racks(0), "all_reduce", GIB16, algorithm="tree")
    assert phase.seconds() == pytest.approx(2 * GIB16 / 680e9, rel=1e-12)


def test_hierarchical_within_a_rack_is_a_ring() -> None:
    one, ring = (
        collective("x", HEALTHY, racks(0), "all_reduce", GIB16, algorithm=how).seconds()
        for how in ("hierarchical", "ring")
    )
    assert one == ring
