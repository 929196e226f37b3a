"""Effective capacity: a link's own factor, and what its ends leave of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.faults import Action, apply, resolve
from gbviz.topology import Fabric, Health, build, cluster_spec
from gbviz.topology.graph import from_graph
from gbviz.topology.health import healthy

SMALL = build(cluster_spec(racks=8))
PODS = build(cluster_spec(racks=16, trays_per_rack=2, gpus_per_tray=2, radix=8))
GRAPH = from_graph(["a", "b"], ["s", "t"], [("a", "s", 100.0), ("b", "t", 80.0), ("s", "t", 50.0)])


def broken(fabric: Fabric, *did: str | tuple[str, float]) -> Health:
    actions = [
        Action("fail", it) if isinstance(it, str) else Action("degrade", it[0], it[1]) for it in did
    ]
    return apply(fabric, resolve(fabric, actions))


def rates(fabric: Fabric, health: Health, tier: int) -> dict[str, float]:
    """Effective capacity by the name of the link."""
    cables = fabric.tiers[tier]
    links = range(cables.first, cables.end)
    values = health.capacity(fabric, tier).ravel().tolist()
    return dict(zip(map(fabric.link_name, links), values, strict=True))


@pytest.mark.parametrize("fabric", [SMALL, PODS, GRAPH])
def test_a_healthy_fabric_has_all_its_capacity(fabric: Fabric) -> None:
    health = healthy(fabric)
    for number, tier in enumerate(fabric.tiers):
        assert health.capacity(fabric, number).shape == (2, tier.n)
        assert (health.capacity(fabric, number) == tier.capacity).all()
    for kind in fabric.kinds:
        assert health.up(fabric, kind).all()
        assert len(health.factor(fabric, kind)) == fabric.count(kind)
    assert (health.node_cause == -1).all()
    assert health.damaged_nvlink(fabric).size == 0


def test_healthy_nvlink() -> None:
    capacity = healthy(SMALL).nvlink_capacity(SMALL, 7)
    assert capacity.shape == (2, 72, 18)
    assert (capacity == 50).all()


def test_one_direction() -> None:
    health = broken(SMALL, ("leaf-0>spine-1#3", 0.5), "spine-2>leaf-4#0")
    changed = {link: rate for link, rate in rates(SMALL, health, 1).items() if rate != 100}
    assert changed == {"leaf-0>spine-1#3": 50, "spine-2>leaf-4#0": 0}
    assert health.link_factor[0] is None


def test_capacity_is_rate_times_own_factor_times_live_ends() -> None:
    health = broken(SMALL, ("leaf-0~spine-1#3", 0.5), ("leaf-1~spine-1#3", 0.25), "leaf-1")
    found = rates(SMALL, health, 1)
    assert (found["leaf-0>spine-1#3"], found["spine-1>leaf-0#3"]) == (50, 50)
    assert (found["leaf-1>spine-1#3"], found["spine-1>leaf-1#3"]) == (0, 0)
    assert sum(rate == 0 for rate in found.values()) == 144
    # What befell the link itself stays its own.
    own = health.link_factor[1]
    assert own is not None
    assert sorted(np.unique(own).tolist()) == [0.25, 0.5, 1]


def test_a_nics_factor_counts_on_its_cable_and_nobody_elses() -> None:
    nic = "rack-0/tray-0/nic-0"
    health = broken(SMALL, (nic, 0.5), (f"{nic}>leaf-0", 0.5))
    found = rates(SMALL, health, 0)
    assert (found[f"{nic}>leaf-0#0"], found[f"leaf-0>{nic}#0"]) == (25, 50)
    assert sum(rate != 100 for rate in found.values()) == 2
    assert health.up(SMALL, "nic").all()
    assert health.factor(SMALL, "nic")[0] == 0.5


def test_a_failed_nic_leaf_spine_and_core() -> None:
    for name, tier, dead in (
        ("rack-0/tray-0/nic-0", 0, 2),
        ("leaf-0", 0, 8),
        ("leaf-0", 1, 8),
        ("spine-0", 1, 8),
        ("spine-0", 2, 8),
        ("core-0", 2, 16),
    ):
        health = broken(PODS, name)
        zero = [link for link, rate in rates(PODS, health, tier).items() if rate == 0]
        assert len(zero) == dead
        assert all(name in link.replace("#", ">").split(">") for link in zero)


def test_nvlink_factors() -> None:
    gpu = "rack-1/tray-0/gpu-1"
    health = broken(SMALL, (f"{gpu}~rack-1/nvswitch-5", 0.5), f"rack-1/nvswitch-6>{gpu}")
    up, down = health.nvlink_capacity(SMALL, 1)
    assert (up[1, 5], down[1, 5], up[1, 6], down[1, 6]) == (25, 25, 50, 0)
    assert (np.delete(up, 1, axis=0) == 50).all()
    assert health.damaged_nvlink(SMALL).tolist() == [1]
    assert (health.nvlink_capacity(SMALL, 0) == 50).all()


def test_nvlink_of_failed_gpus_and_asics() -> None:
    health = broken(SMALL, "rack-0/tray-0/gpu-0", "rack-2/nvtray-1", "rack-4")
    assert health.damaged_nvlink(SMALL).tolist() == [0, 2, 4]
    first = health.nvlink_capacity(SMALL, 0)
    assert (first[:, 0] == 0).all()
    assert (first[:, 1:] == 50).all()
    asics = (health.nvlink_capacity(SMALL, 2) == 0).all(axis=(0, 1))
    assert np.flatnonzero(asics).tolist() == [2, 3]
    assert (health.nvlink_capacity(SMALL, 4) == 0).all()


def test_a_slow_gpu_keeps_its_nvlink() -> None:
    health = broken(SMALL, ("rack-0/tray-0/gpu-0", 0.5))
    assert (health.nvlink_capacity(SMALL, 0) == 50).all()
    assert health.damaged_nvlink(SMALL).size == 0


def test_parts_without_cables_change_no_capacity() -> None:
    health = broken(SMALL, "rack-0/feed-a", "rack-0/tray-0/cpu-0", "hxu-3", "loop-4")
    for number, tier in enumerate(SMALL.tiers):
        assert (health.capacity(SMALL, number) == tier.capacity).all()
    assert health.up(SMALL, "shelf").sum() == 64 - 4
    assert np.flatnonzero(~health.up(SMALL, "hxu")).tolist() == [3, 4]


def test_a_general_graph() -> None:
    health = broken(GRAPH, ("a", 0.5), ("s~t", 0.5))
    assert rates(GRAPH, health, 0) == {"a>s#0": 50, "s>a#0": 50, "b>t#0": 80, "t>b#0": 80}
    assert rates(GRAPH, health, 1) == {"s>t#0": 25, "t>s#0": 25}
    health = broken(GRAPH, "t")
    assert rates(GRAPH, health, 0) == {"a>s#0": 100, "s>a#0": 100, "b>t#0": 0, "t>b#0": 0}
    assert rates(GRAPH, health, 1) == {"s>t#0": 0, "t>s#0": 0}
    no_hosts = from_graph([], ["s", "t"], [("s", "t", 50.0)])
    assert rates(no_hosts, broken(no_hosts, "s"), 1) == {"s>t#0": 0, "t>s#0": 0}
    assert rates(no_hosts, broken(no_hosts, "s"), 0) == {}


def plain(fabric: Fabric, health: Health, tier: int) -> list[list[float]]:
    """Capacity by the definition, link after link."""
    cables, found = fabric.tiers[tier], []
    for way in range(2):
        found.append([0.0] * cables.n)
        for cable in range(cables.n):
            own = health.link_factor[tier]
            worth = 1.0 if own is None else float(own[way, cable])
            low = float(health.node_factor[cables.lower[cable]])
            high = float(health.node_factor[cables.upper[cable]])
            worth *= (low if tier == 0 else float(low > 0)) * (high > 0)
            found[way][cable] = float(cables.capacity[cable]) * worth
    return found


@given(st.data())
def test_capacity_by_its_definition(data: st.DataObject) -> None:
    fabric = data.draw(st.sampled_from([PODS, GRAPH]))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    choices = np.array([0.0, 0.5, 1.0, 1.0, 1.0])
    nodes = rng.choice(choices, fabric.n_nodes)
    # Only NICs may be degraded among nodes with cables.
    nics = np.zeros(fabric.n_nodes, dtype=bool)
    nics[fabric.nodes("nic")] = True
    nodes[~nics & (nodes > 0)] = 1
    factors = tuple(
        rng.choice(choices, (2, tier.n)) if data.draw(st.booleans()) else None
        for tier in fabric.tiers
    )
    health = replace(healthy(fabric), node_factor=nodes, link_factor=factors)
    for number in range(len(fabric.tiers)):
        assert health.capacity(fabric, number).tolist() == plain(fabric, health, number)
