"""GPUs that are cut off, against connected components by NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from gbviz.flows.reach import cut_off, leaf_islands
from gbviz.routing.rails import rails
from gbviz.routing.stages import stages
from gbviz.topology import Fabric, Health, build, cluster_spec
from tests.routing import EVERYTHING, FABRICS, broken, damage
from tests.slow_reference import Net

AZURE = build(cluster_spec("azure-gb300"))
PODS = FABRICS["three tiers, three pods"]


def lost(fabric: Fabric, health: Health) -> list[int]:
    live = stages(fabric, health, "adaptive")
    nics = rails(fabric, health, live.nic_up, live.nic_down)
    return np.flatnonzero(cut_off(fabric, health, live, nics)).tolist()


def switches(net: Net) -> nx.Graph[object]:
    """Switches, joined where live cables lead both ways."""
    graph: nx.Graph[object] = nx.Graph()
    leaves = net.fabric.nodes("leaf")
    graph.add_nodes_from(range(leaves.start, leaves.stop))
    for node, following in net.out.items():
        for other in following:
            if min(node, other) >= leaves.start and node in net.out.get(other, {}):
                graph.add_edge(node, other)
    return graph


def islands(net: Net) -> list[set[object]]:
    """Components of switches, GPUs and trays, with a leaf among them.

    A GPU hangs on the leaves of the NICs through which it can both send and receive, and so does
    its tray.
    """
    assert net.fabric.spec is not None
    R, graph = net.fabric.spec.gpus_per_tray, switches(net)
    for gpu in live_gpus(net):
        for nic in range(gpu - gpu % R, gpu - gpu % R + R):
            up, down, leaf, _ = net.nic_link[nic]
            near = nic == gpu or (net.nvlink(gpu, nic) and net.nvlink(nic, gpu))
            if near and up in net.rate and down in net.rate:
                graph.add_edge(("gpu", gpu), leaf)
                graph.add_edge(("tray", gpu // R), leaf)
    return [part for part in nx.connected_components(graph) if any(type(n) is int for n in part)]


def live_gpus(net: Net) -> list[int]:
    return [gpu for gpu in range(net.fabric.count("gpu")) if net.alive("gpu", gpu)]


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("most", [15, 60])
def test_as_networkx(name: str, most: int) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(most)
    assert fabric.nvlink is not None
    for _ in range(20):
        health = broken(fabric, *damage(fabric, rng, int(rng.integers(0, most)), EVERYTHING))
        net = Net(fabric, health)
        live = live_gpus(net)
        if len({gpu // fabric.nvlink.gpus for gpu in live}) < 2:
            continue
        members = [{g for g in live if ("gpu", g) in part} for part in islands(net)]
        largest = max(len(part) for part in members)
        choices = [sorted(set(live) - part) for part in members if len(part) == largest]
        assert lost(fabric, health) in choices  # of equal parts any may be the main one


@pytest.mark.parametrize("name", FABRICS)
def test_leaf_islands_are_components(name: str) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(5)
    first = fabric.nodes("leaf").start
    for _ in range(20):
        health = broken(fabric, *damage(fabric, rng, int(rng.integers(0, 40)), EVERYTHING))
        parts = nx.connected_components(switches(Net(fabric, health)))
        number = {node: n for n, part in enumerate(parts) for node in part}
        found = leaf_islands(stages(fabric, health, "adaptive"))
        for a in range(fabric.count("leaf")):
            for b in range(a):
                assert (found[a] == found[b]) == (number[first + a] == number[first + b])


@pytest.mark.parametrize(
    ("did", "expected"),
    [
        ((), []),
        (("spine-[1-35]",), []),  # one spine still joins all
        # Without spines the groups of four racks are islands of 288; the first counts as the main.
        (("spine-*",), list(range(288, 4_608))),
        (("rack-0/tray-0/nic-*",), [0, 1, 2, 3]),
        (("rack-0/tray-0/nic-[0-2]",), []),  # over NVLink to the last one
        (("rack-0/tray-0/nic-0", "rack-0/tray-0/gpu-0~rack-0/nvswitch-*"), [0]),
        (("rack-0/tray-0/gpu-0~rack-0/nvswitch-*",), []),  # it has its own NIC
        (("leaf-0",), []),
        (("leaf-0~spine-*",), []),  # other rails lead out
        (("leaf-[0-3]",), list(range(288))),
        (("leaf-[0-3]~spine-*",), list(range(288))),
        (("rack-0/tray-0/nic-*>leaf-*",), [0, 1, 2, 3]),  # it can only receive
        (("rack-0/tray-0",), []),  # failed, not cut off
        (("rack-0/tray-0/gpu-[1-3]", "rack-0/tray-0/nic-0"), [0]),  # mates must live to relay
    ],
)
def test_azure(did: tuple[str, ...], expected: list[int]) -> None:
    assert lost(AZURE, broken(AZURE, *did)) == expected


def test_a_pod_without_cores_is_an_island() -> None:
    # Pod 2 is the last leaf group: rack 4, GPUs 16 to 19.
    assert lost(PODS, broken(PODS, "spine-[4-5]~core-*")) == [16, 17, 18, 19]
    assert lost(PODS, broken(PODS, "spine-4~core-*")) == []


@pytest.mark.parametrize(
    ("did", "expected"),
    [
        ((), []),
        (("leaf-*",), []),  # NVLink is enough within a rack
        (("rack-0/nvswitch-*",), []),  # and so are NICs
        (("rack-0/nvswitch-*", "leaf-0"), list(range(0, 72, 4))),
        (("rack-0/nvswitch-*", "leaf-*"), list(range(72))),
        # Without a mate in its tray and without its NIC it still has NVLink to other trays.
        (("rack-0/tray-0/gpu-[1-3]", "rack-0/tray-0/nic-0"), []),
        (("leaf-*", "rack-0/tray-0/gpu-0~rack-0/nvswitch-[0-16]"), []),
        (("leaf-*", "rack-0/tray-0/gpu-0~rack-0/nvswitch-*"), [0]),
        (("leaf-*", "rack-0/tray-0/gpu-0>rack-0/nvswitch-*"), [0]),  # it can only receive
        (("leaf-*", "rack-0/nvswitch-*>rack-0/tray-0/gpu-0"), [0]),  # or only send
    ],
)
def test_one_rack(did: tuple[str, ...], expected: list[int]) -> None:
    fabric = build(cluster_spec(racks=1))
    assert lost(fabric, broken(fabric, *did)) == expected


def test_nobody_and_one_alone_are_not_cut_off() -> None:
    fabric = build(cluster_spec(racks=2))
    assert lost(fabric, broken(fabric, "rack-*")) == []
    alone = ("rack-1", "rack-0/tray-[1-17]", "rack-0/tray-0/gpu-[1-3]", "leaf-*")
    assert lost(fabric, broken(fabric, *alone)) == []
