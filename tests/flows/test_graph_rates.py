"""Rates on a switch graph, against single links of a built fat tree in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gbviz.flows.graph_rates import GraphRates, graph_rates
from gbviz.flows.rates import flow_rates
from gbviz.routing.modes import MODES, Mode
from gbviz.topology import build, cluster_spec
from tests.routing import CABLES, FABRICS, broken, damage
from tests.slow_reference import Net, maxmin

AZURE = build(cluster_spec("azure-gb300"))
Pairs = list[tuple[int, int]]


def rates(fabric: str, did: list[str | tuple[str, float]], mode: Mode, pairs: Pairs) -> GraphRates:
    source, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    built = FABRICS[fabric]
    return graph_rates(built, broken(built, *did), mode, 7, (source, target))


def reference(net: Net, mode: Mode, pairs: Pairs) -> list[float]:
    """By NIC, leaf and leaf only: exact fractions, link by link."""
    flows = []
    for s, t in pairs:
        near, far = net.nic_link[s], net.nic_link[t]
        share = {near[0]: Fraction(1), far[1]: Fraction(1)}
        if mode in ("ecmp", "static"):
            path = net.path(s, t, 7 if mode == "ecmp" else None)
            share |= dict.fromkeys(path, Fraction(1))
        else:
            share |= net.shares(near[2], far[2], mode)
        flows.append(share)
    used = {link: net.rate[link] for share in flows for link in share}
    return [float(rate) for rate in maxmin(used, flows)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FABRICS)
def test_rates_of_nics_under_damage_between_switches(name: str, mode: Mode) -> None:
    fabric = FABRICS[name]
    rails = fabric.spec.gpus_per_tray if fabric.spec is not None else 0
    tested = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        kinds = CABLES if seed % 2 else (*CABLES, "spine", "half nic", "core")
        did = damage(fabric, rng, 4, kinds)
        net = Net(fabric, broken(fabric, *did))
        drawn = rng.integers(0, fabric.count("nic"), (30, 2)).tolist()
        pairs = [
            (s, t)
            for s, t in drawn
            if s != t
            and s % rails == t % rails
            and net.nic_link[s][0] in net.rate
            and net.nic_link[t][1] in net.rate
            and net.joined(net.nic_link[s][2], net.nic_link[t][2])
        ]
        if not pairs:
            continue
        found = rates(name, did, mode, pairs)
        assert found.problems == ()
        assert not found.cut.any()
        assert found.rate == pytest.approx(reference(net, mode, pairs), rel=1e-9)
        tested += len(pairs)
    assert tested > 10


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FABRICS)
def test_they_are_the_rates_of_gpus_on_one_rail(name: str, mode: Mode) -> None:
    """GPUs of different racks on one rail use their own NICs: no NVLink, no relay."""
    fabric = FABRICS[name]
    assert fabric.spec is not None
    assert fabric.nvlink is not None
    rails, per_rack = fabric.spec.gpus_per_tray, fabric.nvlink.gpus
    for seed in range(4):
        rng = np.random.default_rng(seed)
        health = broken(fabric, *damage(fabric, rng, 3, ("half cable", "half direction", "cable")))
        drawn = rng.integers(0, fabric.count("nic"), (40, 2))
        net = Net(fabric, health)
        keep = [
            s // per_rack != t // per_rack
            and s % rails == t % rails
            and net.joined(net.nic_link[s][2], net.nic_link[t][2])
            for s, t in drawn.tolist()
        ]
        source, target = drawn[np.array(keep)].T
        one = graph_rates(fabric, health, mode, seed, (source, target))
        two = flow_rates(fabric, health, mode, seed, (source, target))
        assert one.rate == pytest.approx(two.rate, rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_loads_are_what_the_flows_add_up_to(mode: Mode) -> None:
    name = "two tiers, two cables a pair"
    fabric = FABRICS[name]
    found = rates(name, ["spine-1"], mode, [(0, 4), (4, 8), (1, 9)])
    up, down = fabric.tiers[0].first, fabric.tiers[0].first + fabric.tiers[0].n
    for nic, sent in ((0, 0), (4, 1), (1, 2)):
        assert found.load[up + nic] == pytest.approx(found.rate[sent])
    for nic, got in ((4, 0), (8, 1), (9, 2)):
        assert found.load[down + nic] == pytest.approx(found.rate[got])
    spines = fabric.tiers[1]
    crossing = found.load[spines.first : spines.first + spines.n].sum()
    ends = [(0, 4), (4, 8), (1, 9)]
    leaf = fabric.tiers[0].upper
    apart = sum(
        r for (s, t), r in zip(ends, found.rate.tolist(), strict=True) if leaf[s] != leaf[t]
    )
    assert crossing == pytest.approx(apart)


def test_demand_and_bottleneck() -> None:
    source, target = np.array([0, 4]), np.array([8, 8])
    fabric = FABRICS["two tiers, two cables a pair"]
    found = graph_rates(
        fabric, broken(fabric), "adaptive", 0, (source, target), np.array([30.0, 200.0])
    )
    assert found.rate == pytest.approx([30, 70])
    into = fabric.tiers[0].first + fabric.tiers[0].n + 8
    assert found.bottleneck.tolist() == [-1, into]


def test_without_a_way() -> None:
    fabric = FABRICS["two tiers, two cables a pair"]
    health = broken(fabric, "rack-0/tray-0/nic-0")
    pairs = np.array([0, 4, 1]), np.array([4, 0, 5])
    found = graph_rates(fabric, health, "adaptive", 0, pairs)
    assert found.cut.tolist() == [True, True, False]
    assert found.rate.tolist() == [0, 0, 100]
    assert found.bottleneck[0] == -1
    none = graph_rates(fabric, health, "adaptive", 0, (pairs[0][:0], pairs[1][:0]))
    assert len(none.rate) == 0


def test_a_lost_spine_by_hand() -> None:
    """72 NICs of leaf 0 send to leaf 4 over 35 of 36 spines: 7,000 GB/s for 72."""
    rail_0 = np.arange(72) * 4
    found = graph_rates(AZURE, broken(AZURE, "spine-3"), "adaptive", 0, (rail_0, rail_0 + 4 * 288))
    assert found.rate == pytest.approx(np.full(72, 7000 / 72))
