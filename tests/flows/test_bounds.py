"""Bisection against NetworkX, non-blocking against linear programs, worst pairs one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from gbviz.flows.bounds import bisection, blocking, worst_pair
from gbviz.routing.leaves import leaf_classes, split_table
from gbviz.routing.rails import rails
from gbviz.routing.stages import stages
from gbviz.topology import Fabric, Health, build, cluster_spec
from tests.routing import CABLES, EVERYTHING, FABRICS, HOSTS, SWITCHES, broken, damage
from tests.slow_reference import Net

if TYPE_CHECKING:
    from gbviz.routing.leaves import SplitTable
    from gbviz.routing.modes import Mode
    from gbviz.routing.rails import Rails
    from gbviz.routing.stages import Stages

AZURE = build(cluster_spec("azure-gb300"))
LARGE = build(cluster_spec("gb300-27k"))
OVER = build(cluster_spec(racks=8, uplinks_per_leaf=36))
TWO_TIERS = [name for name, fabric in FABRICS.items() if len(fabric.tiers) == 2]
THREE_TIERS = [name for name in FABRICS if name not in TWO_TIERS]


def parts(fabric: Fabric, health: Health, mode: Mode) -> tuple[Stages, SplitTable, Rails]:
    live = stages(fabric, health, mode)
    nics = rails(fabric, health, live.nic_up, live.nic_down)
    return live, split_table(live, leaf_classes(live, nics)), nics


def bisect(fabric: Fabric, health: Health) -> float:
    live, table, _ = parts(fabric, health, "adaptive")
    return bisection(live, table.leaves)


def why_blocking(fabric: Fabric, health: Health) -> tuple[int, str] | None:
    return blocking(*parts(fabric, health, "adaptive")[:2])


@pytest.mark.parametrize(
    ("fabric", "did", "expected"),
    [
        (AZURE, (), 230_400.0),
        (AZURE, ("spine-3",), 224_000.0),
        (AZURE, ("spine-*",), 0.0),
        (AZURE, ("leaf-0",), 31 * 7_200.0),  # 31 leaves send, 32 receive
        (AZURE, ("leaf-0~spine-3#0",), 230_300.0),
        (AZURE, ("rack-63",), 230_400.0 - 7_200),  # 31 3/4 leaves' worth receive on 4 leaves
        (AZURE, (("leaf-0~spine-*", 0.5),), 230_400.0 - 3_600),
        (AZURE, ("leaf-63>spine-*",), 230_400.0),  # it need not send to receive
        (AZURE, ("leaf-63>rack-63/tray-0/nic-3",), 230_300.0),
        (AZURE, ("leaf-0>rack-0/tray-0/nic-0", "rack-63/tray-0/nic-3>leaf-63"), 230_400.0),
        (LARGE, (), 1_382_400.0),
        (LARGE, ("core-0",), 1_382_400.0 * 191 / 192),
        (OVER, (), 4 * 3_600.0),
    ],
)
def test_bisection_by_hand(
    fabric: Fabric, did: tuple[str | tuple[str, float], ...], expected: float
) -> None:
    assert bisect(fabric, broken(fabric, *did)) == pytest.approx(expected, rel=1e-12)


def maximum_flow(net: Net) -> float:
    """From the NICs of the first half of the leaves to the rest, over the whole damaged graph."""
    graph: nx.DiGraph[object] = nx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    for node, following in net.out.items():
        for other in following:
            graph.add_edge(node, other, capacity=float(net.bundle(node, other)))
    half = net.fabric.nodes("leaf").start + net.fabric.count("leaf") // 2
    for nic, (_, _, leaf, _) in net.nic_link.items():
        node = net.fabric.nodes("nic").start + nic
        graph.add_edge(*(("source", node) if leaf < half else (node, "sink")))
    return float(nx.maximum_flow_value(graph, "source", "sink"))


@pytest.mark.parametrize("name", FABRICS)
def test_bisection_is_the_maximum_flow(name: str) -> None:
    """Every leaf, spine and core by itself; ways that no routing mode would take included."""
    fabric, rng = FABRICS[name], np.random.default_rng(18)
    for trial in range(8):
        kinds = EVERYTHING if trial % 2 else (*CABLES, *SWITCHES, *CABLES)
        health = broken(fabric, *damage(fabric, rng, 4 * trial, kinds))
        assert bisect(fabric, health) == pytest.approx(maximum_flow(Net(fabric, health)), rel=1e-9)


def most_asked(net: Net) -> float:
    """Load over capacity of the link that some admissible traffic loads most, by linear programs.

    Admissible (the hose model): no leaf sends or receives more than its NICs do. inf where two
    leaves with live NICs are not joined.
    """
    leaves = range(net.fabric.nodes("leaf").start, net.fabric.nodes("leaf").stop)
    ends = dict.fromkeys(leaves, 0.0), dict.fromkeys(leaves, 0.0)
    for up, down, leaf, _ in net.nic_link.values():
        ends[0][leaf] += float(net.rate.get(up, 0))
        ends[1][leaf] += float(net.rate.get(down, 0))
    pairs = [(a, b) for a in leaves for b in leaves if a != b and ends[0][a] and ends[1][b]]
    if not all(net.joined(a, b) for a, b in pairs):
        return float("inf")
    rows = [[float(end == pair[way]) for pair in pairs] for way in (0, 1) for end in leaves]
    bounds = [ends[way][end] for way in (0, 1) for end in leaves]
    uses: dict[int, list[float]] = {}
    for number, (a, b) in enumerate(pairs):
        for link, share in net.shares(a, b, "adaptive").items():
            uses.setdefault(link, [0.0] * len(pairs))[number] = -float(share)
    worst = 0.0
    for link, cost in uses.items():
        asked = -float(linprog(cost, A_ub=rows, b_ub=bounds).fun)
        worst = max(worst, asked / float(net.rate[link]))
    return worst


@pytest.mark.parametrize("name", TWO_TIERS)
def test_nonblocking_is_what_linear_programs_say(name: str) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(19)
    said = set()
    for trial in range(12):
        count = int(rng.integers(0, 5 if trial % 3 else 40))
        did = damage(fabric, rng, count, (*CABLES, *SWITCHES, *HOSTS))
        # With fewer NICs it is not the sum of the uplinks but a single bundle that blocks.
        health = broken(fabric, *(["rack-*/tray-0"] if trial % 2 else []), *did)
        found = why_blocking(fabric, health)
        assert (found is None) == (most_asked(Net(fabric, health)) <= 1 + 1e-7)
        said.add(found is None)
    assert False in said


@pytest.mark.parametrize("name", THREE_TIERS)
def test_three_tiers_are_never_called_nonblocking_wrongly(name: str) -> None:
    """The bound on core links is from above, so only one side can be checked."""
    fabric, rng = FABRICS[name], np.random.default_rng(20)
    for trial in range(4):
        health = broken(fabric, *damage(fabric, rng, trial, (*CABLES, *HOSTS)))
        if why_blocking(fabric, health) is None:
            assert most_asked(Net(fabric, health)) <= 1 + 1e-7


@pytest.mark.parametrize(
    ("fabric", "did", "why"),
    [
        (AZURE, (), None),
        (LARGE, (), None),
        (AZURE, ("spine-3",), "its live uplinks take 7,000 GB/s, its live NICs send 7,200"),
        (AZURE, ("leaf-0~spine-3#0",), "its live uplinks take 7,100 GB/s, its live NICs send"),
        (OVER, (), "its live uplinks take 3,600 GB/s, its live NICs send 7,200"),
        (AZURE, ("spine-3>leaf-9",), "its live uplinks take 7,000 GB/s, its live NICs receive"),
        (AZURE, ("leaf-0",), None),  # what is left is a whole fat tree
        (LARGE, ("core-0",), "spines to a core"),
    ],
)
def test_why_it_blocks(fabric: Fabric, did: tuple[str, ...], why: str | None) -> None:
    found = why_blocking(fabric, broken(fabric, *did))
    assert (found is None) == (why is None)
    if found is not None and why is not None:
        assert why in found[1]


def test_uplinks_need_carry_no_more_than_others_take() -> None:
    """Two leaves, one live NIC at the second: a first one with a single cable up is enough."""
    fabric = build(cluster_spec(racks=2, trays_per_rack=4, gpus_per_tray=1, radix=8, spines=4))
    did = ("rack-1/tray-[1-3]", "leaf-0~spine-[1-3]", "leaf-1~spine-[2-3]")
    assert why_blocking(fabric, broken(fabric, *did)) is None
    blocked = why_blocking(fabric, broken(fabric, *did[1:]))
    assert blocked == (0, "its live uplinks take 100 GB/s, its live NICs send 400")


def test_a_leaf_sends_nothing_to_itself() -> None:
    """Four NICs send 100 and receive 25, on two uplinks: others take 200 in all, not 300."""
    fabric = build(
        cluster_spec(
            racks=3, trays_per_rack=4, gpus_per_tray=1, radix=8, uplinks_per_leaf=2, spines=2
        )
    )
    health = broken(fabric, ("leaf-*>rack-*/tray-*/nic-*", 0.25))
    assert most_asked(Net(fabric, health)) == pytest.approx(1)
    assert why_blocking(fabric, health) is None


def test_one_bundle_blocks_though_uplinks_are_enough() -> None:
    """Two live NICs a leaf; leaves 0 and 1 meet at spine 0 alone, by one cable."""
    fabric = build(cluster_spec(racks=3, trays_per_rack=4, gpus_per_tray=1, radix=8, spines=4))
    few = ("rack-*/tray-[2-3]", "leaf-1~spine-[2-3]")
    assert why_blocking(fabric, broken(fabric, *few)) is None
    health = broken(fabric, *few, "leaf-0~spine-1")
    assert most_asked(Net(fabric, health)) == pytest.approx(2)
    assert why_blocking(fabric, health) == (
        0,
        "a bundle up could be asked for 200 of 100 GB/s",
    )


def test_leaves_that_no_way_joins_block() -> None:
    """Two NICs and two cables up on each leaf, but to different spines."""
    fabric = build(cluster_spec(racks=2, trays_per_rack=4, gpus_per_tray=1, radix=8, spines=4))
    did = ("rack-*/tray-[2-3]", "leaf-0~spine-[0-1]", "leaf-1~spine-[2-3]")
    assert why_blocking(fabric, broken(fabric, *did)) == (
        0,
        "no live way leads from it to some other leaf with live NICs",
    )
    assert why_blocking(fabric, broken(fabric, *did[:2])) is None


def worst_alone(net: Net, mode: Mode) -> float:
    """The smallest rate of a pair of live GPUs in different racks that has all to itself."""
    assert net.fabric.nvlink is not None
    per_rack, least = net.fabric.nvlink.gpus, float("inf")
    live = [gpu for gpu in range(net.fabric.count("gpu")) if net.alive("gpu", gpu)]
    for s in live:
        for t in live:
            if s // per_rack != t // per_rack:
                share = net.flow(s, t, mode, 0)
                rates = [float(net.rate[link] / weight) for link, weight in share.items()]
                least = min(least, min(rates, default=0.0))
    return least


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("mode", ["adaptive", "spray"])
def test_worst_pair_alone(name: str, mode: Mode) -> None:
    """Exact on one rail; on several it also counts pairs of leaves of two rails, used or not."""
    fabric, rng = FABRICS[name], np.random.default_rng(21)
    exact = 0
    for _ in range(3):
        health = broken(fabric, *damage(fabric, rng, 6, (*CABLES, *HOSTS)))
        live, table, nics = parts(fabric, health, mode)
        found, expected = worst_pair(live, table, nics), worst_alone(Net(fabric, health), mode)
        if expected > 0:
            assert found <= expected * (1 + 1e-9)
            exact += found == pytest.approx(expected)
            assert name != "one rail" or found == pytest.approx(expected)
    assert exact > 0


@pytest.mark.parametrize("did", ["spine-0>leaf-1", "leaf-1>spine-0", "leaf-1~spine-0"])
def test_the_narrow_end_of_the_only_way(did: str) -> None:
    fabric = FABRICS["one rail"]
    health = broken(fabric, "leaf-1~spine-[1-2]", (did, 0.25))
    assert worst_pair(*parts(fabric, health, "adaptive")) == 25


def test_the_nic_of_a_dead_gpu_is_no_pair() -> None:
    did: tuple[str | tuple[str, float], ...] = (("rack-0/tray-0/nic-0", 0.5),)
    assert worst_pair(*parts(AZURE, broken(AZURE, *did), "adaptive")) == 50
    assert worst_pair(*parts(AZURE, broken(AZURE, *did, "rack-0/tray-0/gpu-0"), "adaptive")) == 100
