"""Shares of leaf pairs on spines and cores against ways walked one by one, and hand numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.routing.shares import connected, split
from gbviz.routing.stages import stages
from gbviz.topology import build, cluster_spec
from tests.routing import CABLES, FABRICS, SWITCHES, broken, damage
from tests.slow_reference import Net

if TYPE_CHECKING:
    from fractions import Fraction

    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Fabric
    from gbviz.topology.health import Health

AZURE = build(cluster_spec("azure-gb300"))
# Three pods of two leaves, two spines a pod, two cores a group, two cables a bundle.
PODS = FABRICS["three tiers, three pods"]


def by_spine(
    fabric: Fabric, health: Health, mode: Mode, source: int, target: int
) -> dict[int, float]:
    """Share of each spine position on the way from leaf to leaf."""
    live = stages(fabric, health, mode)
    shares = split(live, np.array([source]), np.array([target])).spine[:, 0]
    each = (shares / live.spines)[live.position_class]
    return {s: round(float(part), 12) for s, part in enumerate(each) if part > 0}


def test_a_dead_cable_takes_its_part_of_the_traffic() -> None:
    # 71 of 72 cables are left: 2/71 on every spine but the one with a single cable.
    health = broken(AZURE, "leaf-0~spine-3#0")
    for mode in ("adaptive", "spray"):
        shares = by_spine(AZURE, health, mode, 0, 9)
        assert shares.pop(3) == round(1 / 71, 12)
        assert set(shares.values()) == {round(2 / 71, 12)}
        assert len(shares) == 35
    # Down is as up: the target's dead cable narrows the whole way by capacity ...
    assert by_spine(AZURE, health, "adaptive", 9, 0)[3] == round(1 / 71, 12)
    # ... while an even split sees two live cables at its first hop, and so sends 2 of 72 there.
    assert by_spine(AZURE, health, "spray", 9, 0)[3] == round(2 / 72, 12)


def test_a_degraded_cable_keeps_an_even_share_and_a_smaller_fair_one() -> None:
    health = broken(AZURE, ("leaf-0~spine-3#0", 0.5))
    assert by_spine(AZURE, health, "spray", 0, 9)[3] == round(2 / 72, 12)
    assert by_spine(AZURE, health, "adaptive", 0, 9)[3] == round(1.5 / 71.5, 12)


def test_usable_spines_are_those_that_both_leaves_reach() -> None:
    health = broken(AZURE, "leaf-0~spine-0", "leaf-4~spine-1")
    for mode in ("adaptive", "spray"):
        assert set(by_spine(AZURE, health, mode, 0, 4)) == set(range(2, 36))


def test_a_dead_core_cable_narrows_its_spine_between_pods_only() -> None:
    # Spine 0 of pod 0 has three of four cables up: 300 of 400 GB/s; leaves give it 200 each.
    health = broken(PODS, "spine-0~core-0#0")
    assert by_spine(PODS, health, "adaptive", 0, 2) == {0: 0.5, 1: 0.5}
    # Three of them dead: 100 against 200, so a third.
    health = broken(PODS, "spine-0~core-0#0", "spine-0~core-1")
    assert by_spine(PODS, health, "adaptive", 0, 2) == {0: round(1 / 3, 12), 1: round(2 / 3, 12)}
    assert by_spine(PODS, health, "adaptive", 0, 1) == {0: 0.5, 1: 0.5}
    # Evenly the first hop sees two live cables to either spine.
    assert by_spine(PODS, health, "spray", 0, 2) == {0: 0.5, 1: 0.5}


def test_within_a_spine_cores_share_by_the_narrower_of_up_and_down() -> None:
    # Up to core 0: 100 of 200. Down from core 1: 50 of 200. So 100 : 50.
    health = broken(PODS, "spine-0~core-0#0", ("core-1>spine-2", 0.25))
    live = stages(PODS, health, "adaptive")
    shares = split(live, np.array([0]), np.array([2]))
    k = live.position_class[0]
    first, second = (shares.core[live.core_class[k, c], 0] for c in range(2))
    assert first / second == pytest.approx(2, rel=1e-12)
    # Spine 0 carries 150 in all, spine 1 the 200 of the leaf.
    assert shares.spine[k, 0] == pytest.approx(150 / 350, rel=1e-12)


def test_one_leaf_needs_no_spine() -> None:
    live = stages(AZURE, broken(AZURE, "spine-*"), "adaptive")
    shares = split(live, np.array([3, 3]), np.array([3, 4]))
    assert shares.connected.tolist() == [True, False]
    assert not shares.spine.any()


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("mode", ["adaptive", "spray"])
def test_shares_are_those_of_the_ways(name: str, mode: Mode) -> None:
    """Every pair of leaves: share of each spine, up and down, and of each core."""
    fabric, rng = FABRICS[name], np.random.default_rng(2)
    leaves = fabric.count("leaf")
    for _ in range(5):
        health = broken(
            fabric, *damage(fabric, rng, int(rng.integers(0, 18)), (*CABLES, *SWITCHES))
        )
        live, net = stages(fabric, health, mode), Net(fabric, health)
        a, b = np.divmod(np.arange(leaves**2), leaves)
        found = split(live, a, b)
        assert (connected(live, a, b) == found.connected).all()
        ends = fabric.nodes("leaf").start + a, fabric.nodes("leaf").start + b
        for pair, (source, target) in enumerate(zip(*(e.tolist() for e in ends), strict=True)):
            assert found.connected[pair] == net.joined(source, target)
            if not found.connected[pair] or source == target:
                assert not found.spine[:, pair].any()
                assert not found.core[:, pair].any()
                continue
            assert found.spine[:, pair].sum() == pytest.approx(1, rel=1e-12)
            share = net.shares(source, target, mode)
            for way in net.ways(source, target):
                position = (way[1] - fabric.nodes("spine").start) % len(live.position_class)
                k = live.position_class[position]
                want = found.spine[k, pair] / live.spines[k]
                assert crossing(net, share, way[0], way[1]) == pytest.approx(want, rel=1e-12)
                assert crossing(net, share, way[-2], way[-1]) == pytest.approx(want, rel=1e-12)
                if len(way) == 5:
                    core = (way[2] - fabric.nodes("core").start) % live.core_class.shape[1]
                    e = live.core_class[k, core]
                    want = found.core[e, pair] / live.spines[k] / live.cores[e]
                    assert crossing(net, share, way[1], way[2]) == pytest.approx(want, rel=1e-12)
                    assert crossing(net, share, way[2], way[3]) == pytest.approx(want, rel=1e-12)
                else:
                    assert not found.core[:, pair].any()


def crossing(net: Net, share: dict[int, Fraction], source: int, target: int) -> float:
    """The share on all cables from one switch to the next."""
    return float(sum(share.get(link, 0) for link in net.out[source][target]))
