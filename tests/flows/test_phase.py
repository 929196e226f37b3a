"""The all-to-all phase against the sum over all pairs of GPUs on every cable."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.cooling import steady
from gbviz.engine.metrics import metrics
from gbviz.flows.phase import Phase, conserved, exchange_phase, worst_link
from gbviz.flows.router import router
from gbviz.routing.rails import rails
from gbviz.routing.stages import stages
from gbviz.topology import Fabric, Health, build, cluster_spec
from tests import slow_reference as slow
from tests.routing import CABLES, EVERYTHING, FABRICS, HOSTS, SWITCHES, broken, damage

if TYPE_CHECKING:
    from gbviz.routing.modes import Mode
    from gbviz.routing.stages import Stages

AZURE = build(cluster_spec("azure-gb300"))


def phase_of(fabric: Fabric, health: Health, mode: Mode) -> Phase:
    live = stages(fabric, health, mode)
    return exchange_phase(fabric, live, rails(fabric, health, live.nic_up, live.nic_down))


@pytest.mark.parametrize(
    ("did", "mode", "time", "stage"),
    [
        # 4,536 GPUs of other racks on a NIC of 100 GB/s.
        ((), "adaptive", 45.36, "nic up"),
        ((), "spray", 45.36, "nic up"),
        # 72 GPUs keep 216 of 4,536 on their leaf: 72 x 4,320 bytes over 35 spines of 200 GB/s.
        (("spine-3",), "adaptive", 45.36, "nic up"),
        (("spine-[3-5]",), "adaptive", 72 * 4_320 / 6_600, "leaf up"),
        # A leaf lost: three NICs do for four GPUs.
        (("leaf-0",), "adaptive", 45.36 * 4 / 3, "nic up"),
        # One cable at half: evenly it is asked for 4,320 bytes at 50 GB/s.
        ((("leaf-0~spine-3#0", 0.5),), "spray", 4_320 / 50, "leaf up"),
        ((("leaf-0~spine-3#0", 0.5),), "adaptive", 45.36, "nic up"),
        ((("rack-0/tray-0/nic-0", 0.5),), "adaptive", 90.72, "nic up"),
        (("rack-0",), "adaptive", (4_608 - 144) / 100, "nic up"),
        (("rack-0/tray-0/nic-0>leaf-0",), "adaptive", 45.36 * 4 / 3, "nic up"),
    ],
)
def test_azure(
    did: tuple[str | tuple[str, float], ...], mode: Mode, time: float, stage: str
) -> None:
    found = phase_of(AZURE, broken(AZURE, *did), mode)
    assert found.time_s == pytest.approx(time, rel=1e-12)
    assert found.bottleneck is not None
    # Healthy NICs are as full sending as receiving.
    assert found.bottleneck[0] in {stage, stage.replace("up", "down")}
    assert found.cut_pairs == 0
    assert conserved(found) == ()


def test_pairs_that_no_way_joins_are_counted_and_it_never_ends() -> None:
    found = phase_of(AZURE, broken(AZURE, "rack-0/tray-0/nic-*"), "adaptive")
    assert found.cut_pairs == 2 * 4 * (4_608 - 72)
    assert found.time_s == np.inf
    assert found.bottleneck is not None  # the rest has a worst link all the same


def test_one_rack_has_nothing_to_exchange() -> None:
    fabric = build(cluster_spec(racks=1))
    found = phase_of(fabric, broken(fabric), "adaptive")
    assert found.time_s == 0
    assert found.bottleneck is None


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("mode", ["adaptive", "spray"])
def test_time_is_that_of_the_worst_cable(name: str, mode: Mode) -> None:
    """Random faults of all kinds."""
    fabric, rng = FABRICS[name], np.random.default_rng(16)
    first = fabric.tiers[0].first
    for trial in range(6):
        kinds = EVERYTHING if trial % 2 else (*CABLES, *SWITCHES, *HOSTS)
        health = broken(fabric, *damage(fabric, rng, int(rng.integers(1, 6 + 3 * trial)), kinds))
        net, found = slow.Net(fabric, health), phase_of(fabric, health, mode)
        load, cut = slow.all_to_all(net, mode, 0)
        took = [load[link] / float(net.rate[link]) for link in load if link >= first]
        assert found.cut_pairs == cut
        assert worst_of(found) == pytest.approx(max(took, default=0), rel=1e-9)
        assert found.time_s == (np.inf if cut else pytest.approx(worst_of(found), rel=1e-12))
        assert conserved(found) == ()
        stages_as(net, found, load, stages(fabric, health, mode))


def stages_as(net: slow.Net, found: Phase, load: dict[int, float], live: Stages) -> None:
    """Loads of every NIC, of the bundles of each class of leaves, and of those of every pod."""
    fabric, shape = net.fabric, live.shape
    spine0, core0 = fabric.nodes("spine").start, fabric.nodes("core").start

    def carried(ends: tuple[int, int]) -> float:
        links = net.out.get(ends[0], {}).get(ends[1], [])
        return sum(load.get(link, 0.0) for link in links)

    for way, up in enumerate((True, False)):
        turn = 1 if up else -1
        nics = [load.get(net.nic_link[nic][way], 0.0) for nic in range(fabric.count("nic"))]
        assert found.loads[("nic down", "nic up")[up]][0] == pytest.approx(nics)
        for c, r, k in np.ndindex(found.loads["leaf up"][0].shape):
            leaf = int(found.leaf_at[c]) + r
            spine = int(np.flatnonzero(live.position_class == k)[0])
            spine += leaf // shape.leaves_per_pod * shape.spines_per_pod
            ends = (fabric.nodes("leaf").start + leaf, spine0 + spine)[::turn]
            expected = carried((ends[0], ends[1]))
            assert found.loads[("leaf down", "leaf up")[up]][0][c, r, k] == pytest.approx(expected)
        for pod, e in np.ndindex(*(found.loads["core up"][0].shape if shape.cores else (0, 0))):
            k = live.core_owner[e]
            s = int(np.flatnonzero(live.position_class == k)[0])
            core = int(np.flatnonzero(live.core_class[k] == e)[0]) + s * shape.cores_per_group
            ends = (spine0 + pod * shape.spines_per_pod + s, core0 + core)[::turn]
            expected = carried((ends[0], ends[1]))
            assert found.loads[("core down", "core up")[up]][0][pod, e] == pytest.approx(expected)


def worst_of(phase: Phase) -> float:
    took = [load[load > 0] / capacity[load > 0] for load, capacity in phase.loads.values()]
    return max((float(one.max()) for one in took if len(one)), default=0.0)


@pytest.mark.parametrize(
    "did",
    [
        ("rack-0/nvswitch-[0-16]",),
        ("rack-0/tray-0/gpu-0~rack-0/nvswitch-[0-16]", "rack-1/nvswitch-[1-17]"),
        ("rack-0/tray-0/gpu-1>rack-0/nvswitch-[0-16]", "rack-0/tray-0/nic-1"),
        ("rack-0/nvswitch-[0-16]>rack-0/tray-0/gpu-1", "rack-0/tray-0/nic-1"),
        ("rack-0/nvswitch-[0-15]", ("rack-0/*/gpu-0~rack-0/nvswitch-16", 0.25)),
    ],
)
@pytest.mark.parametrize("mode", ["adaptive", "static"])
def test_little_nvlink_is_a_limit_of_the_exchange(
    did: tuple[str | tuple[str, float], ...], mode: Mode
) -> None:
    """PXN and relays cross NVLink, which a phase may find to be its worst link."""
    fabric = build(cluster_spec(racks=3, trays_per_rack=2, gpus_per_tray=4, radix=8))
    health = broken(fabric, *did)
    net = slow.Net(fabric, health)
    load, cut = slow.all_to_all(net, mode, 0)
    assert cut == 0
    took = {link: amount / float(net.rate[link]) for link, amount in load.items()}
    worst = max(took, key=lambda link: took[link])
    assert worst < fabric.tiers[0].first, "this case is about NVLink"
    found = metrics(router(fabric, health, mode, 0), steady(fabric, health))
    assert found.all_to_all_GBps_per_gpu == pytest.approx(16 / took[worst], rel=1e-9)
    assert found.bottleneck == "NVLink of a GPU with few links left"


def test_the_check_finds_what_does_not_add_up() -> None:
    fabric = FABRICS["three tiers, three pods"]
    found = phase_of(fabric, broken(fabric), "adaptive")
    assert conserved(found) == ()
    assert set(found.balance) == {"NICs", "spines", "cores"}
    late = replace(found, time_s=found.time_s * 0.999)
    assert any("more than its capacity" in text for text in conserved(late))
    for name, (taken, given) in found.balance.items():
        lost = replace(found, balance=found.balance | {name: (taken * 1.001, given)})
        assert conserved(lost) == (f"{name}: bytes in and out differ",)


def test_the_worst_link_is_the_first_of_equal_ones() -> None:
    loads = {
        "one": (np.array([2.0, 0.0]), np.array([4.0, 0.0])),
        "two": (np.array([[1.0, 3.0]]), np.array([[9.0, 6.0]])),
    }
    found = worst_link(loads, 0, np.zeros(1, dtype=int), {})
    assert (found.time_s, found.bottleneck) == (0.5, ("one", (0,)))
    loads["two"][0][0, 1] = 4.0
    found = worst_link(loads, 0, np.zeros(1, dtype=int), {})
    assert (found.time_s, found.bottleneck) == (4 / 6, ("two", (0, 1)))
    # A load on a dead link never ends; none at all takes no time.
    loads["one"][0][1] = 1.0
    assert worst_link(loads, 0, np.zeros(1, dtype=int), {}).time_s == np.inf
    assert worst_link({}, 0, np.zeros(1, dtype=int), {}).time_s == 0
