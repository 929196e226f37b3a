"""Dense stages against the live cables themselves, counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.routing.modes import MODES, mode_named
from gbviz.routing.stages import group_columns, stages
from gbviz.topology import build, cluster_spec
from gbviz.topology.health import healthy
from tests.routing import CABLES, FABRICS, SWITCHES, broken, damage
from tests.slow_reference import Net

AZURE = build(cluster_spec("azure-gb300"))
LARGE = build(cluster_spec("gb300-27k"))
TWO = FABRICS["two tiers, two cables a pair"]


def test_healthy_two_tiers_are_one_class() -> None:
    whole = stages(AZURE, healthy(AZURE), "adaptive")
    assert whole.n_classes == 1
    assert whole.spines.tolist() == [36]
    assert whole.leaf.up.shape == (64, 1)
    assert (whole.leaf.up == 200).all()
    assert (whole.leaf.down_share == 200).all()
    assert whole.nic_up.sum() == whole.nic_down.sum() == 460_800
    assert len(whole.cores) == whole.core.up.size == 0
    assert np.isinf(whole.between_pods()).all()


def test_healthy_three_tiers_are_one_class() -> None:
    # 16 pods of 24 leaves and 24 spines: 3 cables a pair; 8 cores a group with 9 cables each.
    whole = stages(LARGE, healthy(LARGE), "spray")
    assert whole.leaf.up.shape == (384, 1)
    assert (whole.leaf.up == 300).all()
    assert (whole.leaf.up_share == 3).all()
    assert whole.cores.tolist() == [8]
    assert (whole.core.up == 900).all()
    assert (whole.core.up_share == 9).all()
    reach = whole.between_pods()
    assert (reach[~np.eye(16, dtype=bool)] == 72).all()
    assert np.isinf(reach[np.eye(16, dtype=bool)]).all()


def test_a_degraded_cable_counts_by_capacity_or_by_number() -> None:
    health = broken(AZURE, ("leaf-0~spine-3#1", 0.5))
    by_rate, evenly = stages(AZURE, health, "adaptive"), stages(AZURE, health, "spray")
    k = int(by_rate.position_class[3])
    assert by_rate.spines.tolist() == evenly.spines.tolist() == [35, 1]
    assert by_rate.leaf.up[0, k] == by_rate.leaf.up_share[0, k] == 150
    # Spread evenly, two cables run at twice the slower one.
    assert evenly.leaf.up[0, k] == 100
    assert evenly.leaf.up_share[0, k] == 2
    assert by_rate.leaf.up[1, k] == 200


@pytest.mark.parametrize(
    ("did", "classes"),
    [
        ((), 1),
        (("spine-3",), 2),
        (("spine-3", "spine-5"), 2),  # both dead: alike
        (("leaf-0~spine-3#0", "leaf-0~spine-4#1"), 2),  # one cable of each: alike
        (("leaf-0~spine-3#0", "leaf-1~spine-4#1"), 3),
        (("leaf-0>spine-3#0", "leaf-0~spine-4#1"), 3),
        (("leaf-0",), 1),
        ((("leaf-0~spine-3", 0.5), "leaf-0~spine-4#0"), 2),  # 2 x 50 or 1 x 100, by capacity
    ],
)
def test_classes_are_positions_of_equal_state(
    did: tuple[str | tuple[str, float], ...], classes: int
) -> None:
    assert stages(AZURE, broken(AZURE, *did), "adaptive").n_classes == classes


def test_evenly_two_halves_are_not_one_whole() -> None:
    health = broken(AZURE, ("leaf-0~spine-3", 0.5), "leaf-0~spine-4#0")
    assert stages(AZURE, health, "spray").n_classes == 3


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("even", [False, True])
def test_every_bundle_is_that_of_its_class(name: str, even: bool) -> None:
    """What each leaf, spine and core bundle carries, from its cables alone."""
    fabric, rng = FABRICS[name], np.random.default_rng(1)
    for _ in range(6):
        did = damage(fabric, rng, int(rng.integers(0, 15)), (*CABLES, *SWITCHES))
        health = broken(fabric, *did)
        found, net = stages(fabric, health, "spray" if even else "adaptive"), Net(fabric, health)
        shape = fabric.shape
        assert shape is not None
        assert found.n_classes <= 1 + len(did)
        assert found.spines.sum() == len(found.position_class) == shape.spines_per_pod
        leaf0, spine0 = fabric.nodes("leaf").start, fabric.nodes("spine").start
        core0, C, S = fabric.nodes("core").start, shape.cores_per_group, shape.spines_per_pod
        for leaf in range(shape.leaves):
            pod = leaf // shape.leaves_per_pod
            for s in range(S):
                k, ends = found.position_class[s], (leaf0 + leaf, spine0 + pod * S + s)
                assert found.leaf.up[leaf, k] == carried(net, ends, even)
                assert found.leaf.down[leaf, k] == carried(net, ends[::-1], even)
        for spine in range(shape.spines if C else 0):
            pod, s = divmod(spine, S)
            for c in range(C):
                e = found.core_class[found.position_class[s], c]
                ends = spine0 + spine, core0 + s * C + c
                assert found.core.up[pod, e] == carried(net, ends, even)
                assert found.core.down[pod, e] == carried(net, ends[::-1], even)
        if C:
            owned = np.bincount(found.core_owner, found.cores)
            assert owned.tolist() == [C] * found.n_classes


def carried(net: Net, ends: tuple[int, int], even: bool) -> float:
    links = net.out.get(ends[0], {}).get(ends[1], [])
    rates = [float(net.rate[link]) for link in links]
    return len(rates) * min(rates, default=0.0) if even else sum(rates)


def test_leaves_that_a_part_full_pod_lacks_carry_nothing() -> None:
    fabric = FABRICS["three tiers, last pod part full"]
    found = stages(fabric, healthy(fabric), "adaptive")
    assert found.leaf.up.shape[0] == 8  # two pods of four, six leaves built
    assert (found.leaf.up[:6] > 0).all()
    assert (found.leaf.up[6:] == 0).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), min_size=1, max_size=4))
def test_columns_are_grouped_by_value(rows: list[list[int]]) -> None:
    width = min(len(row) for row in rows)
    arrays = [np.array([row[:width]], dtype=float) for row in rows]
    columns = [tuple(row[n] for row in rows) for n in range(width)]
    expected = list(dict.fromkeys(columns))  # in order of first appearance
    classes, first = group_columns(arrays)
    assert [expected[c] for c in classes] == columns
    assert first.tolist() == [columns.index(column) for column in expected]


def test_modes_are_named_and_misspelt_ones_are_not() -> None:
    assert list(MODES) == ["adaptive", "spray", "ecmp", "static"]
    with pytest.raises(InputError, match="did you mean 'spray'"):
        mode_named("spary")
