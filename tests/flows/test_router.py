"""What a router prepares once for one health."""

from __future__ import annotations

import numpy as np
import pytest

from gbviz.flows.router import router
from gbviz.routing.modes import MODES, Mode
from gbviz.topology import build, cluster_spec
from tests.routing import FABRICS, broken, damage
from tests.slow_reference import Net

EIGHT = build(cluster_spec(racks=8))


@pytest.mark.parametrize("mode", MODES)
def test_links_are_cables_where_a_flow_takes_one_path(mode: Mode) -> None:
    by = router(EIGHT, broken(EIGHT), mode, 3)
    assert (by.mode, by.seed) == (mode, 3)
    assert by.single_path == (mode in ("ecmp", "static"))
    assert (by.space.stages is None) == by.single_path
    cables = 2 * sum(tier.n for tier in EIGHT.tiers)
    assert (int(by.space.starts[-2]) == cables) == by.single_path
    # NICs up, NICs down: the first two parts of either numbering, as impact and sharing rely on.
    assert by.space.starts[:3].tolist() == [0, 576, 1152]
    assert len(by.space.capacity) == by.space.starts[-1]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(4))
def test_nics_have_their_effective_capacity(mode: Mode, seed: int) -> None:
    for fabric in FABRICS.values():
        rng = np.random.default_rng(seed)
        kinds = ("nic", "half nic", "leaf", "nic cable", "half nic cable")
        health = broken(fabric, *damage(fabric, rng, 3, kinds))
        by, net = router(fabric, health, mode, 0), Net(fabric, health)
        n = fabric.count("nic")
        for nic, (up, down, _, _) in net.nic_link.items():
            assert by.space.capacity[nic] == float(net.rate.get(up, 0))
            assert by.space.capacity[n + nic] == float(net.rate.get(down, 0))


def test_who_relays_without_a_nic() -> None:
    health = broken(EIGHT, "rack-0/tray-0/nic-0")
    assert router(EIGHT, health, "adaptive", 0).nics.relay == 4
    assert router(EIGHT, health, "adaptive", 0, by_rack=True).nics.relay == 72


@pytest.mark.parametrize("name", FABRICS)
def test_joined_leaves(name: str) -> None:
    fabric = FABRICS[name]
    for seed in range(6):
        rng = np.random.default_rng(seed)
        health = broken(fabric, *damage(fabric, rng, 5, ("spine", "core", "half bundle", "cable")))
        by, net = router(fabric, health, "adaptive", 0), Net(fabric, health)
        first, leaves = fabric.nodes("leaf").start, fabric.count("leaf")
        one, two = (grid.reshape(-1) for grid in np.indices((leaves, leaves)))
        want = [net.joined(first + a, first + b) for a, b in zip(one, two, strict=True)]
        assert by.table.joined(one, two).tolist() == want
