"""Flows as columns: the share of every flow on every cable, against one put together by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.flows.columns import flow_columns
from gbviz.flows.conservation import link_load
from gbviz.flows.rates import fill
from gbviz.flows.router import router
from gbviz.routing.modes import MODES
from gbviz.topology import build, cluster_spec
from tests.routing import EVERYTHING, FABRICS, NVLINK, broken, damage
from tests.slow_reference import Net

if TYPE_CHECKING:
    from gbviz.flows.columns import FlowColumns
    from gbviz.routing.modes import Mode
    from gbviz.topology import Fabric, Health
    from gbviz.topology.fabric import Floats, Ints

AZURE = build(cluster_spec("azure-gb300"))
SMALL = FABRICS["two tiers, two cables a pair"]


def route(
    fabric: Fabric, health: Health, mode: Mode, source: Ints, target: Ints, seed: int = 3
) -> FlowColumns:
    return flow_columns(router(fabric, health, mode, seed), source, target)


def on_cables(flows: FlowColumns, flow: int) -> Floats:
    """(links,) share of one flow on every cable of the fabric."""
    one = (flows.flow == flow).astype(float)
    tiers = flows.links.cable_loads(flows.load(one))
    first = flows.links.fabric.tiers[0].first
    return np.concatenate([np.zeros(first), *(load.reshape(-1) for load in tiers)])


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("mode", MODES)
def test_shares_on_every_cable(name: str, mode: Mode) -> None:
    """One flow at 1 GB/s: what it puts on each cable of each tier, links with slack included."""
    fabric, rng = FABRICS[name], np.random.default_rng(9)
    G, first = fabric.count("gpu"), fabric.tiers[0].first
    for _ in range(4):
        health = broken(fabric, *damage(fabric, rng, int(rng.integers(0, 20)), EVERYTHING))
        net = Net(fabric, health)
        source = rng.integers(0, G, 12)
        target = (source + rng.integers(1, G, 12)) % G
        flows = route(fabric, health, mode, source, target)
        assert sorted(flows.flow.tolist()) == np.flatnonzero(~(flows.cut | flows.gone)).tolist()
        for f, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
            dead = not (net.alive("gpu", s) and net.alive("gpu", t))
            assert flows.gone[f] == dead
            share = {} if dead else net.flow(s, t, mode, 3)
            assert flows.cut[f] == (not share and not dead)
            expected = np.zeros(fabric.n_links)
            for link, weight in share.items():
                expected[link] = float(weight) if link >= first else 0.0
            assert on_cables(flows, f) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_shares_on_nvlink(seed: int) -> None:
    """Flows within a rack, and relays where a rack is damaged, out of and into every GPU."""
    rng = np.random.default_rng(seed)
    kinds = (*NVLINK, "nic", "gpu")
    health = broken(SMALL, *damage(SMALL, rng, 8, kinds), "rack-*/tray-*/gpu-0~rack-*/nvswitch-0")
    net, tier, G = Net(SMALL, health), SMALL.nvlink, SMALL.count("gpu")
    assert tier is not None
    source = rng.integers(0, G, 25)
    target = (source + rng.integers(1, G, 25)) % G
    flows = route(SMALL, health, "adaptive", source, target)
    start, stage = int(flows.links.starts[-2]), flows.links.nvlink
    assert (stage.slot >= 0).all()
    for f, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        if flows.cut[f] or flows.gone[f]:
            continue
        load = flows.load((flows.flow == f).astype(float))[start + 2 * G :]
        found = load.reshape(-1, 2, tier.gpus, stage.n_classes).sum(axis=3)
        expected = np.zeros(found.shape)
        for link, weight in net.flow(s, t, "adaptive", 3).items():
            if link < tier.end:
                way, gpu = divmod(link // tier.asics, G)
                expected[gpu // tier.gpus, way, gpu % tier.gpus] += float(weight)
        assert found == pytest.approx(expected, abs=1e-12)


def test_inside_a_rack_is_nvlink_alone() -> None:
    flows = route(AZURE, broken(AZURE), "adaptive", np.array([0, 71]), np.array([71, 5]))
    start = int(flows.links.starts[-2])
    columns = [[start, start + 71], [start + 4_608 + 71, start + 4_608 + 5]]
    assert [block.tolist() for block in flows.columns] == [columns]
    assert flows.weights == [None]
    assert not flows.by_fabric.any()


def test_links_of_leaves_become_limits_only_where_they_overload() -> None:
    """All NICs of a leaf fill its uplinks exactly, so only NICs are a limit: two entries."""
    source = np.arange(288)
    flows, _, load = fill(route(AZURE, broken(AZURE), "adaptive", source, source + 288))
    assert [block.shape for block in flows.columns] == [(2, 288)]
    start = flows.links.starts
    assert load[start[2] : start[3]].tolist() == [7_200.0] * 4 + [0.0] * 60
    # With one cable less they are: leaf 0 is asked for 7,200 and has 7,100, of which 7,000 are
    # on the 35 whole spines, in proportion; they would also bring leaf 4 more than its 7,000
    # from there. Only these 72 flows get entries more.
    health = broken(AZURE, "leaf-0~spine-3#0")
    flows, found, load = fill(route(AZURE, health, "adaptive", source, source + 288))
    assert [block.shape for block in flows.columns] == [(2, 216), (5, 72)]
    assert load[start[2] : start[2] + 2] == pytest.approx([7_000.0, 100.0], abs=1e-9)
    rate = np.empty(288)
    rate[flows.flow] = found.rates
    assert rate[::4] == pytest.approx(7_100 / 72, rel=1e-12)
    assert rate[1::4].tolist() == [100.0] * 72


@pytest.mark.parametrize("mode", ["adaptive", "spray"])
@pytest.mark.parametrize("name", FABRICS)
def test_entries_above_leaves_are_what_they_carry(name: str, mode: Mode) -> None:
    """Loads of all links, from the entries of flows and from sums by class of leaf."""
    fabric, rng = FABRICS[name], np.random.default_rng(11)
    G = fabric.count("gpu")
    for _ in range(4):
        health = broken(fabric, *damage(fabric, rng, int(rng.integers(0, 20)), EVERYTHING))
        source, target = rng.integers(0, G, (2, 60))
        flows = route(fabric, health, mode, source, target)
        n = len(flows.links.capacity)
        rate = rng.random(60)
        start = flows.links.starts
        whole = flows.with_limits(np.ones(start[6] - start[2], dtype=bool))
        load = link_load(n, whole.columns, whole.weights, rate[whole.flow])
        assert flows.load(rate[flows.flow]) == pytest.approx(load, rel=1e-12, abs=1e-12)
        assert whole.load(rate[whole.flow]) == pytest.approx(load, rel=1e-12, abs=1e-12)


def test_without_nvlink_a_rack_talks_over_the_fabric() -> None:
    health = broken(AZURE, "rack-0/nvswitch-*")
    flows = route(AZURE, health, "adaptive", np.array([0, 0, 72]), np.array([4, 1, 76]))
    assert flows.by_fabric.tolist() == [True, True, False]
    # GPU 0 to GPU 1 of its tray: no relay to rail 1 without NVLink, so from rail 0 to rail 1.
    names = {AZURE.link_name(int(link)) for link in np.flatnonzero(on_cables(flows, 1))}
    assert {"rack-0/tray-0/nic-0>leaf-0#0", "leaf-1>rack-0/tray-0/nic-1#0"} <= names
    assert len(names) == 2 + 2 * 72


def test_nobody_sends() -> None:
    flows = route(AZURE, broken(AZURE), "spray", np.zeros(0, dtype=int), np.zeros(0, dtype=int))
    assert sum(block.shape[1] for block in flows.columns) == len(flows.flow) == 0


@pytest.mark.parametrize("mode", MODES)
def test_everything_cut_or_gone(mode: Mode) -> None:
    health = broken(SMALL, "leaf-*", "rack-0", "rack-1/nvswitch-*")
    flows = route(SMALL, health, mode, np.array([0, 4, 4]), np.array([4, 5, 8]))
    assert flows.gone.tolist() == [True, False, False]
    assert flows.cut.tolist() == [False, True, True]
    assert len(flows.flow) == 0
    assert not flows.load(np.zeros(0)).any()
