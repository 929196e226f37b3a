"""Sizes of fat trees against the tables of the reference architecture and against their rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.topology import cluster_spec
from gbviz.topology.sizing import FatTree, fat_tree

# RA-11339-001 counts nodes of 8 GPUs: GPUs, leaves, spines, node-leaf links, leaf-spine links.
REFERENCE = [
    (576, 8, 4, 576, 576),
    (1_152, 16, 8, 1_152, 1_152),
    (2_304, 32, 18, 2_304, 2_304),
    (4_608, 64, 36, 4_608, 4_608),
    (10_368, 144, 72, 10_368, 10_368),
]
# racks, leaves, spines, m, spine ports in use
TWO_TIERS = [
    (4, 4, 2, 36, 144),
    (8, 8, 4, 18, 144),
    (16, 16, 8, 9, 144),
    (32, 32, 18, 4, 128),
    (64, 64, 36, 2, 128),
    (128, 128, 72, 1, 128),
    (144, 144, 72, 1, 144),
    # What the tables leave to the rules: racks that do not fill the last group.
    (1, 4, 2, 36, 144),
    (2, 4, 2, 36, 144),
    (3, 4, 2, 36, 144),
    (5, 8, 4, 18, 144),
    (13, 16, 8, 9, 144),
    (14, 16, 8, 9, 144),
    (65, 68, 36, 2, 136),
]
# racks, pods, leaves and spines a pod, m, cores a group, q, core ports in use, cores, links
THREE_TIERS = [
    (192, 8, 24, 3, 4, 18, 144, 96, 41_472),
    (384, 16, 24, 3, 8, 9, 144, 192, 82_944),
    (1_440, 20, 72, 1, 12, 6, 120, 864, 311_040),
    (1_728, 24, 72, 1, 12, 6, 144, 864, 373_248),
    (10_368, 144, 72, 1, 72, 1, 144, 5_184, 2_239_488),
]


def shape_of(**parts: Any) -> FatTree:
    return fat_tree(cluster_spec(**parts))


@pytest.mark.parametrize(("gpus", "leaves", "spines", "down", "up"), REFERENCE)
def test_reference_architecture(gpus: int, leaves: int, spines: int, down: int, up: int) -> None:
    shape = shape_of(racks=gpus // 72)
    assert (shape.leaves, shape.spines, shape.cores) == (leaves, spines, 0)
    assert (gpus, shape.leaves * shape.uplinks) == (down, up)


@pytest.mark.parametrize(("racks", "leaves", "spines", "m", "ports"), TWO_TIERS)
def test_two_tiers(racks: int, leaves: int, spines: int, m: int, ports: int) -> None:
    shape = shape_of(racks=racks)
    assert (shape.tiers, shape.pods, shape.leaves_per_pod) == (2, 1, leaves)
    assert (shape.leaves, shape.spines, shape.m, shape.m * leaves) == (leaves, spines, m, ports)
    assert (shape.cores, shape.q) == (0, 0)
    if racks % 4 == 0:
        # Switches and twin-port modules, as in the table: 72 a leaf, and one for two down links.
        assert 72 * shape.leaves + racks * 72 // 2 == {4: 432, 8: 864, 16: 1_728, 32: 3_456}.get(
            racks, 108 * racks
        )


@pytest.mark.parametrize("row", THREE_TIERS)
def test_three_tiers(row: tuple[int, ...]) -> None:
    racks, pods, per_pod, m, group, q, ports, cores, links = row
    shape = shape_of(racks=racks)
    assert (shape.tiers, shape.pods) == (3, pods)
    assert (shape.leaves_per_pod, shape.spines_per_pod, shape.m) == (per_pod, per_pod, m)
    assert (shape.cores_per_group, shape.q, shape.q * pods) == (group, q, ports)
    assert (shape.leaves, shape.spines, shape.cores) == (racks, racks, cores)
    assert 72 * racks + 72 * shape.leaves + 72 * shape.spines == links


@pytest.mark.parametrize(
    ("racks", "leaves", "pods"), [(145, 148, 7), (150, 152, 7), (1000, 1000, 42)]
)
def test_a_last_pod_may_be_partly_filled(racks: int, leaves: int, pods: int) -> None:
    shape = shape_of(racks=racks)
    assert (shape.leaves, shape.pods, shape.leaves_per_pod) == (leaves, pods, 24)
    assert (pods - 1) * 24 < leaves < pods * 24


def test_two_tiers_end_where_the_reference_says() -> None:
    assert [shape_of(racks=racks).tiers for racks in (144, 145)] == [2, 3]


def test_announced_large_clusters() -> None:
    shape = shape_of(racks=384)
    assert (shape.leaves, shape.spines, shape.cores) == (384, 384, 192)
    shape = shape_of(racks=1440)
    assert (shape.leaves, shape.spines, shape.cores) == (1_440, 1_440, 864)


@pytest.mark.parametrize(
    ("uplinks", "spines", "m"), [(72, 36, 2), (48, 24, 2), (36, 18, 2), (18, 9, 2), (1, 1, 1)]
)
def test_oversubscribed_leaves_need_fewer_spines(uplinks: int, spines: int, m: int) -> None:
    shape = shape_of(racks=64, uplinks_per_leaf=uplinks)
    assert (shape.spines, shape.m, shape.uplinks, shape.down_ports) == (spines, m, uplinks, 72)


def test_oversubscribed_three_tiers_find_a_pod() -> None:
    # 12 uplinks: pods of 4 or 12 leaves; both are a third of 12 at least, 4 divides 200.
    shape = shape_of(racks=200, uplinks_per_leaf=12)
    assert (shape.pods, shape.leaves_per_pod, shape.m, shape.cores_per_group) == (50, 4, 3, 6)


def test_stated_parts_count() -> None:
    assert shape_of(racks=64, spines=72).m == 1
    assert shape_of(racks=8, leaves_per_pod=24).tiers == 3
    shape = shape_of(racks=384, leaves_per_pod=72)
    assert (shape.pods, shape.leaves_per_pod, shape.spines) == (6, 72, 432)


@pytest.mark.parametrize(
    ("parts", "where", "says"),
    [
        ({"radix": 35}, "radix", "a leaf has 17 down ports, and a rack needs 18"),
        ({"radix": 1}, "radix", "use a radix of at least 36"),
        ({"radix": 0}, "radix", "must be from 1 to 4096 (got 0)"),
        ({"radix": -144}, "radix", "must be from 1 to 4096 (got -144)"),
        ({"radix": 4097}, "radix", "(got 4097)"),
        ({"trays_per_rack": 0}, "trays_per_rack", "(got 0)"),
        ({"gpus_per_tray": -1}, "gpus_per_tray", "(got -1)"),
        ({"uplinks_per_leaf": 73}, "uplinks_per_leaf", "72 ports left for uplinks (got 73)"),
        ({"spines": 35}, "spines", "choose one of [36, 72]"),
        ({"spines": 32}, "spines", "evenly"),
        ({"racks": 145, "spines": 72}, "spines", "three tiers are needed"),
        ({"spines": 36, "leaves_per_pod": 24}, "spines", "spines are for two tiers"),
        ({"racks": 384, "leaves_per_pod": 5}, "leaves_per_pod", "[4, 8, 12, 24, 36, 72]"),
        ({"racks": 1000, "leaves_per_pod": 4}, "leaves_per_pod", "choose one of"),
        ({"racks": 10_369}, "racks", "do not fit into three tiers"),
        ({"racks": 200, "uplinks_per_leaf": 71}, "racks", "more divisors"),
        (
            {"racks": 600, "radix": 145, "uplinks_per_leaf": 73, "gpus_per_tray": 1},
            "uplinks_per_leaf",
            "use at most 72",
        ),
    ],
)
def test_what_does_not_fit_is_refused(parts: dict[str, Any], where: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        shape_of(**{"racks": 64} | parts)
    assert caught.value.where == where
    assert says in str(caught.value)


@given(
    racks=st.integers(1, 2_000),
    trays=st.integers(1, 20),
    gpus=st.integers(1, 8),
    radix=st.integers(1, 150),
    uplinks=st.none() | st.integers(1, 80),
    pod=st.none() | st.integers(1, 80),
)
@settings(max_examples=300)
def test_a_shape_keeps_its_rules_or_is_refused(
    racks: int, trays: int, gpus: int, radix: int, uplinks: int | None, pod: int | None
) -> None:
    parts = {"racks": racks, "trays_per_rack": trays, "gpus_per_tray": gpus, "radix": radix}
    try:
        shape = shape_of(**parts, uplinks_per_leaf=uplinks, leaves_per_pod=pod)
    except InputError:
        return
    up, down = shape.uplinks, shape.down_ports
    assert up == (radix // 2 if uplinks is None else uplinks)
    assert up + down <= radix
    assert shape.racks_per_group * trays <= down
    assert shape.leaves == -(-racks // shape.racks_per_group) * gpus
    assert shape.m * shape.spines_per_pod == up
    assert (shape.pods - 1) * shape.leaves_per_pod < shape.leaves
    assert shape.leaves <= shape.pods * shape.leaves_per_pod
    if shape.cores:
        assert shape.q * shape.cores_per_group == up
        assert shape.q * shape.pods <= radix
        assert shape.m * shape.leaves_per_pod + up <= radix
        assert pod in (None, shape.leaves_per_pod)
    else:
        assert (pod, shape.m * shape.leaves <= radix) == (None, True)
