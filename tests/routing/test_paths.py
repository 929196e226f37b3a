"""Single paths: D-mod-k and the frozen hash, against walks over the live cables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.routing.paths import paths, pick, stable_hash
from gbviz.topology import build, cluster_spec
from gbviz.topology.health import healthy
from tests.routing import CABLES, FABRICS, SWITCHES, broken, damage
from tests.slow_reference import Net, splitmix

AZURE = build(cluster_spec("azure-gb300"))


def test_hash_is_frozen() -> None:
    """Scenarios must route alike on every machine and release: these numbers never change."""
    source, target = np.array([0, 1, 4607, 12]), np.array([1, 0, 3, 12])
    assert stable_hash(source, target, 0, 0).tolist() == [
        5_352_869_105_593_375_612,
        6_396_520_470_166_291_297,
        2_428_451_665_271_531_277,
        6_914_360_382_192_156_563,
    ]
    assert stable_hash(source[:1], target[:1], 1, 0).tolist() == [7_677_174_711_969_977_290]
    assert stable_hash(source[:1], target[:1], 0, 1).tolist() == [6_200_629_921_479_507_140]
    assert stable_hash(source[:1], target[:1], 2**63 - 1, 3).tolist() == [5_344_325_987_281_198_585]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=20),
    st.integers(0, 2**63 - 1),
    st.integers(0, 3),
)
def test_hash_in_whole_numbers(ends: list[tuple[int, int]], seed: int, hop: int) -> None:
    source, target = (np.array(side) for side in zip(*ends, strict=True))
    expected = [splitmix(s, t, seed, hop) for s, t in ends]
    assert stable_hash(source, target, seed, hop).tolist() == expected
    assert min(expected) >= 0


def test_hash_is_even() -> None:
    """65,536 flows over 16 cables: 4,096 each, standard deviation 62."""
    source, target = np.divmod(np.arange(65_536), 256)
    for seed in range(3):
        counts = np.bincount(stable_hash(source, target, seed, 0) % 16, minlength=16)
        assert np.abs(counts - 4_096).max() < 5 * 62


def test_seeds_and_hops_change_paths() -> None:
    source, target = np.arange(288), np.arange(288) + 288
    one, two = (paths(AZURE, healthy(AZURE), source, target, seed=seed).links for seed in (1, 2))
    again = paths(AZURE, healthy(AZURE), source, target, seed=1).links
    assert (one == again).all()
    # 1 in 72 stays on its cable by chance: 4 of 288.
    assert (one[0] == two[0]).sum() < 20
    # Which of the two cables it comes down on has nothing to do with that which it went up on.
    assert 100 < ((one[0] - one[1]) % 2 == 0).sum() < 188


@pytest.mark.parametrize(
    "spec",
    [
        {"racks": 4, "trays_per_rack": 4, "gpus_per_tray": 1, "radix": 8, "spines": 4},
        {"racks": 4, "trays_per_rack": 4, "gpus_per_tray": 1, "radix": 8},
        {"racks": 8, "trays_per_rack": 2, "gpus_per_tray": 2, "radix": 8},
        # Three tiers, with one cable to each spine and with two.
        {"racks": 16, "trays_per_rack": 2, "gpus_per_tray": 2, "radix": 8, "leaves_per_pod": 4},
        {"racks": 16, "trays_per_rack": 2, "gpus_per_tray": 2, "radix": 8, "leaves_per_pod": 2},
        {"racks": 12, "trays_per_rack": 6, "gpus_per_tray": 1, "radix": 12, "leaves_per_pod": 2},
    ],
)
def test_static_shifts_never_share_a_link(spec: dict[str, Any]) -> None:
    """On a full tree every cyclic shift of the NICs by leaf and port has links to itself.

    Zahavi 2010: D-mod-k is free of contention for shift permutations.
    """
    fabric = build(cluster_spec(**spec))
    nics = fabric.tiers[0]
    order = np.lexsort((nics.upper_port, nics.upper))  # NICs by leaf and port
    N = len(order)
    for by in range(1, N):
        found = paths(fabric, healthy(fabric), order, np.roll(order, -by), seed=None)
        assert found.connected.all()
        assert np.bincount(found.links[found.links >= 0]).max() == 1


def test_static_takes_its_port_among_the_live_cables() -> None:
    # Port 6 of leaf 5 (tray 5 of rack 4, rail 1): cable U[5]; with one below it dead, the next.
    target = AZURE.index_of("rack-4/tray-5/nic-1") - AZURE.nodes("nic").start
    ends = np.array([0]), np.array([target])

    def names(*did: str) -> list[str]:
        found = paths(AZURE, broken(AZURE, *did), *ends, seed=None).links[:, 0]
        return [AZURE.link_name(link) for link in found.tolist()]

    assert names() == ["leaf-0>spine-2#1", "spine-2>leaf-5#1"]
    assert names("leaf-0~spine-0#1") == ["leaf-0>spine-3#0", "spine-3>leaf-5#1"]
    # A spine that no longer leads to the target is no choice at the first hop.
    assert names("spine-0>leaf-5") == ["leaf-0>spine-3#1", "spine-3>leaf-5#1"]
    assert names("spine-2>leaf-5#0") == ["leaf-0>spine-2#1", "spine-2>leaf-5#1"]
    assert names("leaf-0~spine-35") == ["leaf-0>spine-2#1", "spine-2>leaf-5#1"]


def test_one_leaf_and_no_way() -> None:
    health = broken(AZURE, "leaf-4~spine-*")
    found = paths(AZURE, health, np.array([0, 0, 0]), np.array([4, 288, 576]), seed=7)
    assert found.connected.tolist() == [True, False, True]
    assert (found.links[:, :2] == -1).all()
    assert (found.links[:, 2] >= 0).all()


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_pick_is_index_modulo_what_will_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    F, width = int(rng.integers(1, 30)), int(rng.choice([4, 6]))
    switches = int(rng.choice([3, 40]))  # many make more combinations than there are flows
    live = rng.random((switches, width)) < 0.6
    leads = [rng.random((switches, width // w)) < 0.7 for w in (1, 2)]
    rows = [rng.integers(0, switches, F) for _ in range(3)]
    index = rng.integers(0, 100, F)
    cable, count = pick((live, rows[0]), list(zip(leads, rows[1:], strict=True)), index)
    for f in range(F):
        choice = [
            u
            for u in range(width)
            if live[rows[0][f], u] and leads[0][rows[1][f], u] and leads[1][rows[2][f], u // 2]
        ]
        assert count[f] == len(choice)
        assert cable[f] == (choice[index[f] % len(choice)] if choice else -1)


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("seed", [None, 3])
def test_paths_are_those_of_a_walk(name: str, seed: int | None) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(4)
    N = fabric.count("nic")
    for _ in range(6):
        health = broken(
            fabric, *damage(fabric, rng, int(rng.integers(0, 18)), (*CABLES, *SWITCHES))
        )
        net = Net(fabric, health)
        source, target = rng.integers(0, N, 80), rng.integers(0, N, 80)
        found = paths(fabric, health, source, target, seed=seed)
        for f, ends in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
            leaves = net.nic_link[ends[0]][2], net.nic_link[ends[1]][2]
            own = [link for link in found.links[:, f].tolist() if link >= 0]
            assert found.connected[f] == net.joined(*leaves)
            expected = []
            if found.connected[f] and leaves[0] != leaves[1]:
                expected = net.path(*ends, seed)
            assert own == expected
            assert all(link in net.rate for link in own)
