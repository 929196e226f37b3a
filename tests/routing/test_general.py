"""The general path: on fat trees the same as the dense one, on other graphs by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.routing.general import SwitchGraph
from gbviz.routing.paths import paths
from gbviz.routing.shares import split
from gbviz.routing.stages import stages
from gbviz.topology import build, cluster_spec
from gbviz.topology.graph import from_graph
from gbviz.topology.health import healthy
from tests.routing import CABLES, FABRICS, SWITCHES, broken, damage
from tests.slow_reference import Net

if TYPE_CHECKING:
    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Fabric, Floats
    from gbviz.topology.health import Health

TREES = {
    "two tiers": build(cluster_spec(racks=8)),
    "three tiers": build(cluster_spec(racks=16, leaves_per_pod=12)),
    "three tiers, part full": build(
        cluster_spec(racks=7, trays_per_rack=4, gpus_per_tray=2, radix=16, leaves_per_pod=4)
    ),
    **FABRICS,
}


def dense(fabric: Fabric, health: Health, mode: Mode, source: int, target: int) -> Floats | None:
    """(links,) share of a leaf pair on every cable, from the stages; None where it is cut off."""
    live = stages(fabric, health, mode)
    found = split(live, np.array([source]), np.array([target]))
    if not found.connected[0]:
        return None
    shape, share = live.shape, np.zeros(fabric.n_links)
    pods = [leaf // shape.leaves_per_pod for leaf in (source, target)]

    def spread(tier: int, way: int, cables: slice, part: float) -> None:
        rates = health.capacity(fabric, tier)[way, cables]
        weight = (rates > 0).astype(float) if mode == "spray" else rates
        first = fabric.tiers[tier].first + way * fabric.tiers[tier].n
        share[first + cables.start : first + cables.stop] += part * weight / weight.sum()

    for s, k in enumerate(live.position_class.tolist()):
        part = float(found.spine[k, 0] / live.spines[k])
        for way, leaf in enumerate((source, target)):
            at = leaf * shape.uplinks + s * shape.m
            if part > 0:
                spread(1, way, slice(at, at + shape.m), part)
        for c, e in enumerate(live.core_class[k].tolist()):
            part = float(found.core[e, 0] / live.spines[k] / live.cores[e])
            for way, pod in enumerate(pods):
                at = (pod * shape.spines_per_pod + s) * shape.uplinks + c * shape.q
                if part > 0:
                    spread(2, way, slice(at, at + shape.q), part)
    return share


@pytest.mark.parametrize("name", TREES)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_shares_on_a_fat_tree_are_the_dense_ones(name: str, seed: int) -> None:
    fabric, rng = TREES[name], np.random.default_rng(seed)
    count = int(rng.integers(0, fabric.tiers[1].n // 4))
    health = broken(fabric, *damage(fabric, rng, min(count, 60), (*CABLES, *SWITCHES)))
    graph, leaf0 = SwitchGraph(fabric, health), fabric.nodes("leaf").start
    for mode in ("adaptive", "spray"):
        for _ in range(5):
            a, b = rng.choice(fabric.count("leaf"), 2, replace=False).tolist()
            got = graph.shares(leaf0 + a, leaf0 + b, even=mode == "spray")
            expected = dense(fabric, health, mode, a, b)
            assert (got is None) == (expected is None)
            if got is not None and expected is not None:
                every = np.zeros(fabric.n_links)
                every[list(got)] = list(got.values())
                assert every == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", FABRICS)
def test_shares_on_a_fat_tree_are_those_of_the_rules(name: str) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(7)
    leaves = range(fabric.nodes("leaf").start, fabric.nodes("leaf").stop)
    for _ in range(3):
        health = broken(fabric, *damage(fabric, rng, 12, (*CABLES, *SWITCHES)))
        graph, net = SwitchGraph(fabric, health), Net(fabric, health)
        for a in leaves:
            for b in leaves:
                for mode in ("adaptive", "spray"):
                    got = graph.shares(a, b, even=mode == "spray")
                    assert (got is not None) == net.joined(a, b)
                    if got is not None:
                        expected = {link: float(w) for link, w in net.shares(a, b, mode).items()}
                        assert got == pytest.approx(expected)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("seed", [None, 3])
def test_paths_on_a_fat_tree_are_the_dense_ones(name: str, seed: int | None) -> None:
    fabric, rng = TREES[name], np.random.default_rng(8)
    nics, N = fabric.tiers[0], fabric.count("nic")
    for _ in range(2):
        health = broken(fabric, *damage(fabric, rng, 20, (*CABLES, *SWITCHES)))
        graph = SwitchGraph(fabric, health)
        source, target = rng.integers(0, N, 60), rng.integers(0, N, 60)
        found = paths(fabric, health, source, target, seed=seed)
        for f, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
            key = s, t, int(nics.upper_port[t]) - 1
            got = graph.path(int(nics.upper[s]), int(nics.upper[t]), key=key, seed=seed)
            assert (got is None) != found.connected[f]
            if got is not None:
                assert got == [link for link in found.links[:, f].tolist() if link >= 0]


def ring(n: int, *extra: tuple[str, str, float]) -> Fabric:
    """Switches s0 ... in a ring of 100 GB/s cables, a host h0 ... on each."""
    names = [f"s{i}" for i in range(n)]
    cables = [(f"h{i}", names[i], 100.0) for i in range(n)]
    cables += [(names[i], names[(i + 1) % n], 100.0) for i in range(n)]
    return from_graph([f"h{i}" for i in range(n)], names, [*cables, *extra])


def named(fabric: Fabric, share: dict[int, float] | None) -> dict[str, float] | None:
    return None if share is None else {fabric.link_name(link): w for link, w in share.items()}


def test_a_ring_goes_both_ways_round_to_the_far_side_only() -> None:
    fabric = ring(4)
    graph, s = SwitchGraph(fabric, healthy(fabric)), fabric.index_of
    assert named(fabric, graph.shares(s("s0"), s("s1"), even=False)) == {"s0>s1#0": 1.0}
    both = {"s0>s1#0": 0.5, "s1>s2#0": 0.5, "s0>s3#0": 0.5, "s3>s2#0": 0.5}
    assert named(fabric, graph.shares(s("s0"), s("s2"), even=False)) == both
    assert named(fabric, graph.shares(s("s0"), s("s2"), even=True)) == both
    assert graph.shares(s("s0"), s("s0"), even=True) == {}


def test_a_longer_way_counts_when_every_shortest_one_is_dead() -> None:
    fabric = ring(5)
    graph, s = SwitchGraph(fabric, broken(fabric, "s0~s1")), fabric.index_of
    long = {"s0>s4#0": 1.0, "s4>s3#0": 1.0, "s3>s2#0": 1.0, "s2>s1#0": 1.0}
    assert named(fabric, graph.shares(s("s0"), s("s1"), even=False)) == long
    key = (0, 1, 0)
    path = graph.path(s("s0"), s("s1"), key=key, seed=None)
    assert path is not None
    assert [fabric.link_name(link) for link in path] == list(long)
    cut = SwitchGraph(fabric, broken(fabric, "s0~s1", "s3>s2"))
    assert cut.shares(s("s0"), s("s1"), even=False) is None
    assert cut.path(s("s0"), s("s1"), key=key, seed=4) is None
    assert cut.shares(s("s1"), s("s0"), even=False) is not None


def test_split_by_what_the_ways_carry_up_to_where_they_meet() -> None:
    """From a: over b (100 then 30) or c (60): 30 to 60, whatever follows after d."""
    cables = [("a", "b", 100.0), ("a", "c", 60.0), ("b", "d", 30.0), ("c", "d", 90.0)]
    cables += [("d", "e", 10.0), ("d", "e", 20.0), ("h", "a", 1.0), ("i", "e", 1.0)]
    fabric = from_graph(["h", "i"], list("abcde"), cables)
    graph, s = SwitchGraph(fabric, healthy(fabric)), fabric.index_of
    one, two = 1 / 3, 2 / 3
    assert named(fabric, graph.shares(s("a"), s("e"), even=False)) == pytest.approx(
        {"a>b#0": one, "a>c#0": two, "b>d#0": one, "c>d#0": two, "d>e#0": one, "d>e#1": two}
    )
    evenly = named(fabric, graph.shares(s("a"), s("e"), even=True))
    assert evenly is not None
    assert set(evenly.values()) == {0.5}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_graph_conserves_shares_on_shortest_ways(seed: int) -> None:
    """What comes into a switch leaves it; only links of shortest live ways are used."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    names = [f"s{i}" for i in range(n)]
    ends = [rng.choice(n, 2, replace=False) for _ in range(int(rng.integers(1, 20)))]
    cables = [(names[a], names[b], float(rng.choice([50, 100, 200]))) for a, b in ends]
    fabric = from_graph(["h"], names, [("h", "s0", 100.0), *cables])
    health = broken(fabric, *(fabric.cable_name(2 + int(c)) for c in rng.integers(0, len(ends), 3)))
    graph, first = SwitchGraph(fabric, health), fabric.index_of("s0")
    rates = health.capacity(fabric, 1).reshape(-1)
    links = fabric.tiers[1].first + np.flatnonzero(rates)
    live: nx.DiGraph[int] = nx.DiGraph()
    live.add_edges_from(zip(*(end.tolist() for end in fabric.ends(links)), strict=True))
    live.add_nodes_from(range(first, first + n))
    for source in range(first, first + n):
        away = nx.single_source_shortest_path_length(live, source)
        for target in range(first, first + n):
            for even in (True, False):
                share = graph.shares(source, target, even=even)
                assert (share is not None) == (target in away)
                if share is None:
                    continue
                balance = dict.fromkeys(range(first, first + n), 0.0)
                for link, part in share.items():
                    low, high = (int(end[0]) for end in fabric.ends(np.array([link])))
                    assert part > 0
                    assert away[high] == away[low] + 1
                    assert nx.has_path(live, high, target)
                    balance[low] -= part
                    balance[high] += part
                balance[source] += 1
                balance[target] -= 1
                assert list(balance.values()) == pytest.approx([0] * n, abs=1e-12)
