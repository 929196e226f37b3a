"""Fabrics as graphs, from graphs, and against NetworkX's maximum flow."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.faults import Action, apply, resolve
from gbviz.topology import Fabric, build, cluster_spec
from gbviz.topology.graph import from_graph, to_networkx
from gbviz.topology.health import healthy

if TYPE_CHECKING:
    from gbviz.topology import Health

AZURE = build(cluster_spec("azure-gb300"))
SMALL = build(cluster_spec(racks=8))
# 16 leaves of radix 8 in pods of 4: three tiers, 64 NICs, small enough for many maximum flows.
TREE = build(cluster_spec(racks=16, trays_per_rack=2, gpus_per_tray=2, radix=8))


def broken(fabric: Fabric, *did: str | tuple[str, float]) -> Health:
    actions = [
        Action("fail", it) if isinstance(it, str) else Action("degrade", it[0], it[1]) for it in did
    ]
    return apply(fabric, resolve(fabric, actions))


def max_flow_between(fabric: Fabric, health: Health | None, nic_a: str, nic_b: str) -> float:
    graph = to_networkx(fabric, health)
    return float(nx.maximum_flow_value(graph, nic_a, nic_b))


def kinds_in(graph: nx.DiGraph[str]) -> Counter[str]:
    return Counter(graph.nodes[name]["kind"] for name in graph)


def random_pairs(fabric: Fabric, count: int, seed: int) -> list[tuple[str, str]]:
    nics = fabric.nodes("nic")
    rng = np.random.default_rng(seed)
    picks = [rng.choice(fabric.count("nic"), 2, replace=False) + nics.start for _ in range(count)]
    return [(fabric.name(int(a)), fabric.name(int(b))) for a, b in picks]


def test_azure_as_a_graph() -> None:
    graph = to_networkx(AZURE)
    assert kinds_in(graph) == {"nic": 4_608, "leaf": 64, "spine": 36}
    assert all(graph.nodes[name]["up"] for name in graph)
    assert graph.number_of_edges() == 2 * (4_608 + 64 * 36)
    assert graph.edges["leaf-63", "spine-35"] == {"capacity": 200.0, "cables": 2}
    assert graph.edges["spine-35", "leaf-63"] == {"capacity": 200.0, "cables": 2}
    assert graph.edges["rack-0/tray-0/nic-1", "leaf-1"] == {"capacity": 100.0, "cables": 1}
    assert sum(graph.edges[edge]["cables"] for edge in graph.edges) == 2 * 9_216


def test_three_tiers_as_a_graph() -> None:
    fabric = build(cluster_spec(racks=192))
    graph = to_networkx(fabric)
    assert graph.edges["spine-191", "core-95"] == {"capacity": 1800.0, "cables": 18}
    assert graph.out_degree("core-0") == graph.in_degree("core-0") == 8
    assert nx.is_strongly_connected(graph)


def test_nvlink_comes_on_request() -> None:
    fabric = build(cluster_spec(racks=2))
    assert kinds_in(to_networkx(fabric)) == {"nic": 144, "leaf": 4, "spine": 2}
    graph = to_networkx(fabric, nvlink=True)
    assert kinds_in(graph) == {"gpu": 144, "nvswitch": 36, "nic": 144, "leaf": 4, "spine": 2}
    assert graph.number_of_edges() == 2 * (2 * 1_296 + 2 * 72 + 4 * 2)
    ends = ("rack-1/tray-17/gpu-3", "rack-1/nvswitch-17")
    assert graph.edges[ends] == graph.edges[ends[::-1]] == {"capacity": 50.0, "cables": 1}
    # Nothing joins a GPU to its NIC, nor a rack to another one.
    assert nx.number_weakly_connected_components(graph) == 3


def test_damage_shows_in_the_graph() -> None:
    health = broken(
        SMALL,
        "leaf-0~spine-0#0",
        ("leaf-0~spine-0#1", 0.5),
        "leaf-0>spine-1",
        "spine-2",
        ("rack-0/tray-0/nic-0", 0.25),
        "rack-0/tray-1/nic-0",
    )
    graph = to_networkx(SMALL, health)
    assert graph.edges["leaf-0", "spine-0"] == {"capacity": 1650.0, "cables": 17}
    assert not graph.has_edge("leaf-0", "spine-1")
    assert graph.edges["spine-1", "leaf-0"] == {"capacity": 1800.0, "cables": 18}
    assert graph.nodes["spine-2"] == {"kind": "spine", "up": False}
    assert graph.degree("spine-2") == 0
    assert graph.edges["rack-0/tray-0/nic-0", "leaf-0"]["capacity"] == 25
    assert graph.nodes["rack-0/tray-0/nic-0"]["up"]
    assert graph.degree("rack-0/tray-1/nic-0") == 0


def test_damaged_nvlink_shows_in_the_graph() -> None:
    fabric = build(cluster_spec(racks=1))
    gpu, asic = "rack-0/tray-0/gpu-0", "rack-0/nvswitch-0"
    health = broken(fabric, f"{gpu}>{asic}", (f"{gpu}~rack-0/nvswitch-1", 0.5), "rack-0/nvswitch-2")
    graph = to_networkx(fabric, health, nvlink=True)
    assert not graph.has_edge(gpu, asic)
    assert graph.has_edge(asic, gpu)
    assert graph.edges[gpu, "rack-0/nvswitch-1"]["capacity"] == 25
    assert graph.degree("rack-0/nvswitch-2") == 0
    assert graph.out_degree(gpu) == 16


def test_any_two_hosts_of_a_healthy_fabric_have_their_full_rate() -> None:
    assert [len(fabric.tiers) for fabric in (AZURE, SMALL, TREE)] == [2, 2, 3]
    for fabric, count in ((AZURE, 3), (SMALL, 10), (TREE, 20)):
        for pair in random_pairs(fabric, count, seed=1):
            assert max_flow_between(fabric, None, *pair) == 100


def test_a_bisection_of_a_healthy_fabric_carries_all_hosts() -> None:
    # Two virtual hosts that stand for the halves: 288 NICs on 4 leaves each.
    graph = to_networkx(SMALL)
    for nic in range(576):
        name = SMALL.name(SMALL.nodes("nic").start + nic)
        half = ("first", name) if nic < 288 else (name, "second")
        graph.add_edge(*half, capacity=math.inf)
    assert nx.maximum_flow_value(graph, "first", "second") == 28_800


@pytest.mark.parametrize(
    ("did", "first", "second"),
    [
        ((("rack-0/tray-0/nic-0", 0.5),), 50, 50),
        ((("rack-0/tray-0/nic-0>leaf-0", 0.25),), 25, 100),
        (("leaf-4>rack-7/tray-0/nic-0",), 0, 100),
        (("rack-0/tray-0/nic-0~leaf-0",), 0, 0),
        (("rack-0",), 0, 0),
        (("leaf-4",), 0, 0),
        (("spine-[0-2]",), 100, 100),
        (("spine-*",), 0, 0),
        # One cable up is left, at 0.3; downwards all are whole.
        (("leaf-0>spine-[1-3]", "leaf-0>spine-0#[1-17]", ("leaf-0>spine-0#0", 0.3)), 30, 100),
        # Up only to spine 0, down only from spine 1: a detour over another leaf and both spines.
        (("leaf-0>spine-[1-3]", "spine-[0,2,3]>leaf-4"), 100, 100),
    ],
)
def test_two_hosts_of_a_damaged_fabric(
    did: tuple[str | tuple[str, float], ...], first: float, second: float
) -> None:
    health = broken(SMALL, *did)
    pair = ("rack-0/tray-0/nic-0", "rack-7/tray-0/nic-0")
    assert max_flow_between(SMALL, health, *pair) == pytest.approx(first)
    assert max_flow_between(SMALL, health, *pair[::-1]) == pytest.approx(second)


@dataclass(frozen=True)
class Plain:
    """Two-tier capacities read from names by a plain loop over all links."""

    up: dict[tuple[str, str], float]

    def between(self, a: str, b: str, leaf_a: str, leaf_b: str) -> float:
        ends = min(self.up.get((a, leaf_a), 0), self.up.get((leaf_b, b), 0))
        if leaf_a == leaf_b:
            return ends
        spines = [f"spine-{number}" for number in range(4)]
        ways = (min(self.up.get((leaf_a, s), 0), self.up.get((s, leaf_b), 0)) for s in spines)
        return min(ends, sum(ways))


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_damage_against_a_plain_expectation(data: st.DataObject) -> None:
    # Few whole uplinks are left, so that they and not the NICs are what binds.
    factors = st.sampled_from([0.0, 0.25, 0.5])
    links = [
        (f"leaf-{leaf}{way}spine-{spine}#*", data.draw(factors) / 18)
        for leaf, way in ((0, ">"), (4, "~"))
        for spine in range(4)
    ]
    health = broken(SMALL, *links, ("rack-0/tray-0/nic-0", data.draw(st.sampled_from([0.5, 1.0]))))
    plain: dict[tuple[str, str], float] = {}
    for number, tier in enumerate(SMALL.tiers):
        rates = health.capacity(SMALL, number).ravel()
        source, target = SMALL.ends(tier.first + np.arange(2 * tier.n))
        names = zip(SMALL.names_of(source), SMALL.names_of(target), rates.tolist(), strict=True)
        for low, high, rate in names:
            plain[low, high] = plain.get((low, high), 0) + rate
    a, b = "rack-0/tray-0/nic-0", "rack-7/tray-0/nic-0"
    expected = Plain(plain)
    # Leaf 0 goes up only over its bundles and leaf 4 comes down only over its own; a detour needs
    # a spine that both have, or another leaf between: it adds what the straight ways leave.
    straight = expected.between(a, b, "leaf-0", "leaf-4")
    up = sum(plain.get(("leaf-0", f"spine-{s}"), 0) for s in range(4))
    down = sum(plain.get((f"spine-{s}", "leaf-4"), 0) for s in range(4))
    ends = min(plain.get((a, "leaf-0"), 0), plain.get(("leaf-4", b), 0))
    found = max_flow_between(SMALL, health, a, b)
    assert straight - 1e-9 <= found
    assert found == pytest.approx(min(ends, up, down), abs=1e-9)
    same = max_flow_between(SMALL, health, a, "rack-0/tray-1/nic-0")
    assert same == expected.between(a, "rack-0/tray-1/nic-0", "leaf-0", "leaf-0")


# --------------------------------------------------------------------------- from a list

CABLES = [
    ("t", "s", 50.0),
    ("b", "t", 100.0),
    ("s", "a", 100.0),
    ("s", "t", 25.0),
    ("b", "s", 10.0),
]


def small_graph() -> Fabric:
    return from_graph(["a", "b"], ["s", "t"], CABLES)


def test_a_graph_becomes_a_fabric() -> None:
    fabric = small_graph()
    assert (fabric.spec, fabric.shape, fabric.nvlink, fabric.level) == (None, None, None, None)
    assert {kind.name: kind.count for kind in fabric.kinds.values()} == {"nic": 2, "switch": 2}
    assert (fabric.count("gpu"), fabric.count("leaf"), fabric.n_nodes) == (0, 0, 4)
    nics, switches = fabric.tiers
    assert (nics.name, switches.name) == ("nic-leaf", "switch")
    assert fabric.tier("switch") is switches
    assert (nics.lower.tolist(), nics.upper.tolist()) == ([0, 1, 1], [2, 2, 3])
    assert nics.capacity.tolist() == [100, 10, 100]
    assert nics.bundle.tolist() == [0, 1, 2]
    assert (switches.lower.tolist(), switches.upper.tolist()) == ([2, 2], [3, 3])
    assert switches.capacity.tolist() == [50, 25]
    assert switches.bundle.tolist() == [0, 0]
    assert (nics.first, switches.first, fabric.n_links) == (0, 6, 10)


def test_ports_are_counted_in_the_order_of_the_cables() -> None:
    nics, switches = small_graph().tiers
    assert (nics.lower_port.tolist(), nics.upper_port.tolist()) == ([1, 2, 1], [2, 4, 2])
    # t-s is the first cable of both; the fourth takes port 3 of s and port 3 of t.
    assert (switches.lower_port.tolist(), switches.upper_port.tolist()) == ([1, 3], [1, 3])


def test_stated_ports_follow_their_ends() -> None:
    ports = [(7, 9), (1, 8), (10, 1), (12, 30), (2, 11)]
    nics, switches = from_graph(["a", "b"], ["s", "t"], CABLES, ports).tiers
    assert (nics.lower_port.tolist(), nics.upper_port.tolist()) == ([1, 2, 1], [10, 11, 8])
    assert (switches.lower_port.tolist(), switches.upper_port.tolist()) == ([9, 12], [7, 30])


def test_arrays_are_read_only() -> None:
    for tier in small_graph().tiers:
        for array in (tier.lower, tier.upper_port, tier.capacity, tier.bundle):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_back_to_a_graph() -> None:
    graph = to_networkx(small_graph(), nvlink=True)
    kinds = {name: graph.nodes[name]["kind"] for name in graph}
    assert kinds == {"a": "nic", "b": "nic", "s": "switch", "t": "switch"}
    assert graph.edges["t", "s"] == graph.edges["s", "t"] == {"capacity": 75.0, "cables": 2}
    assert max_flow_between(small_graph(), None, "a", "b") == 85


def test_nothing_is_a_fabric_too() -> None:
    fabric = from_graph([], ["alone"], [])
    assert (fabric.n_nodes, fabric.n_links) == (1, 0)
    health = healthy(fabric)
    assert health.capacity(fabric, 0).shape == health.capacity(fabric, 1).shape == (2, 0)
    assert health.damaged_nvlink(fabric).size == 0
    assert list(to_networkx(fabric)) == ["alone"]


@pytest.mark.parametrize(
    ("cables", "says"),
    [
        ([("a", "s", 1.0), ("a", "x", 1.0)], "cable 1: there is no node 'x'"),
        ([("host-1", "s", 1.0)], "cable 0: there is no node 'host-1'; did you mean 'host-10'?"),
        ([("s", "s", 1.0)], "cable 0: runs from 's' to itself"),
        ([("a", "a", 1.0)], "cable 0: runs from 'a' to itself"),
        ([("a", "host-10", 1.0)], "cable 0: joins two hosts, 'a' and 'host-10'"),
        ([("a", "s", 0.0)], "cable 0: its rate must be a finite number"),
        ([("a", "s", -1.0)], "cable 0: its rate"),
        ([("a", "s", math.nan)], "cable 0: its rate"),
        ([("a", "s", math.inf)], "cable 0: its rate"),
        ([("a", "s", 10**400)], "cable 0: its rate"),
        ([("a", "s", True)], "cable 0: its rate"),
        ([("a", "s", "100")], "cable 0: its rate"),
    ],
)
def test_cables_that_cannot_be(cables: list[tuple[str, str, float]], says: str) -> None:
    with pytest.raises(InputError) as caught:
        from_graph(["a", "host-10"], ["s"], cables)
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("hosts", "switches", "says"),
    [
        (["a", "a"], ["s"], "two nodes called 'a'"),
        (["a"], ["a"], "two nodes called 'a'"),
        (["a"], ["s", "s"], "two nodes called 's'"),
        (["a"], [""], "node 1 has no name"),
    ],
)
def test_names_that_cannot_be(hosts: list[str], switches: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        from_graph(hosts, switches, [])


@pytest.mark.parametrize(
    ("ports", "says"),
    [
        ([(1, 1)], "1 pairs of ports for 2 cables"),
        ([(1, 1), (1, 1)], "cable 1: port 1 of 's' is that of cable 0"),
        ([(1, 0), (1, 1)], "cable 0: port numbers start at 1"),
        ([(1, 2**31), (1, 1)], "cable 0: port numbers"),
    ],
)
def test_ports_that_cannot_be(ports: list[tuple[int, int]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        from_graph(["a", "b"], ["s"], [("a", "s", 1.0), ("b", "s", 1.0)], ports)


@given(st.data())
def test_any_graph_keeps_its_cables(data: st.DataObject) -> None:
    hosts, switches = ["a", "b", "c"], ["s", "t", "u"]
    ends = st.sampled_from([(x, y) for x in hosts + switches for y in switches if x != y])
    rows = data.draw(st.lists(st.tuples(ends, st.integers(1, 9), st.booleans()), max_size=12))
    cables = [(*(pair[::-1] if turn else pair), float(rate)) for pair, rate, turn in rows]
    fabric = from_graph(hosts, switches, cables)
    graph = to_networkx(fabric)
    for x in hosts + switches:
        for y in hosts + switches:
            rates = [rate for *pair, rate in cables if set(pair) == {x, y}]
            edge = graph.get_edge_data(x, y)
            assert edge == ({"capacity": sum(rates), "cables": len(rates)} if rates else None)
    for tier in fabric.tiers:
        pairs = list(zip(tier.lower.tolist(), tier.upper.tolist(), strict=True))
        assert pairs == sorted(pairs)
        assert [pairs.index(pair) for pair in pairs] == tier.bundle.tolist()
    for link in range(fabric.n_links):
        back = int(fabric.reverse(np.array([link]))[0])
        assert fabric.cable_name(link) == fabric.cable_name(back)
