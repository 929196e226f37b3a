"""Built fabrics against the wiring rules, spelt out by plain loops over names and ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.topology import Fabric, build, cluster_spec
from gbviz.topology.check import check_build

if TYPE_CHECKING:
    from collections.abc import Iterator

AZURE = build(cluster_spec("azure-gb300"))
LARGE = build(cluster_spec(racks=384))

# name and port of the lower end, then of the upper end
Cable = tuple[str, int, str, int]


def nic_cables(racks: int) -> Iterator[Cable]:
    for rack in range(racks):
        for tray in range(18):
            for rail in range(4):
                nic = f"rack-{rack}/tray-{tray}/nic-{rail}"
                yield nic, 1, f"leaf-{4 * (rack // 4) + rail}", 18 * (rack % 4) + tray + 1


def spine_cables(leaves: int, per_pod: int, spines_per_pod: int) -> Iterator[Cable]:
    m = 72 // spines_per_pod
    for leaf in range(leaves):
        for s in range(spines_per_pod):
            spine = (leaf // per_pod) * spines_per_pod + s
            for j in range(m):
                port = m * (leaf % per_pod) + j + 1
                yield f"leaf-{leaf}", 73 + m * s + j, f"spine-{spine}", port


def core_cables(pods: int, spines_per_pod: int, group: int) -> Iterator[Cable]:
    q = 72 // group
    for pod in range(pods):
        for i in range(spines_per_pod):
            for c in range(group):
                for j in range(q):
                    spine = f"spine-{pod * spines_per_pod + i}"
                    yield spine, 73 + q * c + j, f"core-{i * group + c}", q * pod + j + 1


def built_cables(fabric: Fabric, tier: int) -> list[Cable]:
    cables = fabric.tiers[tier]
    columns = (
        fabric.names_of(cables.lower),
        cables.lower_port.tolist(),
        fabric.names_of(cables.upper),
        cables.upper_port.tolist(),
    )
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("racks", "leaves", "per_pod", "spines_per_pod", "group"),
    [
        (1, 4, 4, 2, 0),
        (2, 4, 4, 2, 0),
        (3, 4, 4, 2, 0),
        (4, 4, 4, 2, 0),
        (5, 8, 8, 4, 0),
        (8, 8, 8, 4, 0),
        (13, 16, 16, 8, 0),
        (16, 16, 16, 8, 0),
        (32, 32, 32, 18, 0),
        (64, 64, 64, 36, 0),
        (65, 68, 68, 36, 0),
        (128, 128, 128, 72, 0),
        (144, 144, 144, 72, 0),
        (145, 148, 24, 24, 4),
        (150, 152, 24, 24, 4),
        (192, 192, 24, 24, 4),
        (384, 384, 24, 24, 8),
    ],
)
def test_every_cable_and_port(
    racks: int, leaves: int, per_pod: int, spines_per_pod: int, group: int
) -> None:
    fabric = build(cluster_spec(racks=racks))
    expected = [nic_cables(racks), spine_cables(leaves, per_pod, spines_per_pod)]
    if group:
        expected.append(core_cables(-(-leaves // per_pod), spines_per_pod, group))
    assert len(fabric.tiers) == len(expected)
    for tier, cables in enumerate(expected):
        assert built_cables(fabric, tier) == list(cables)
    used: set[tuple[str, int]] = set()
    for tier in range(len(expected)):
        for low, low_port, high, high_port in built_cables(fabric, tier):
            assert not {(low, low_port), (high, high_port)} & used
            used |= {(low, low_port), (high, high_port)}
            assert 1 <= low_port <= 144
            assert 1 <= high_port <= 144


def test_azure_counts() -> None:
    counts = {kind: AZURE.count(kind) for kind in ("gpu", "nic", "leaf", "spine", "core")}
    assert counts == {"gpu": 4_608, "nic": 4_608, "leaf": 64, "spine": 36, "core": 0}
    assert AZURE.nvlink is not None
    assert (AZURE.nvlink.n, AZURE.nvlink.link_GBps, AZURE.nvlink.racks) == (82_944, 50, 64)
    assert [tier.n for tier in AZURE.tiers] == [4_608, 4_608]
    assert AZURE.n_links == 2 * (82_944 + 9_216)


def test_counts_of_27_648_gpus() -> None:
    counts = [LARGE.count(kind) for kind in ("gpu", "leaf", "spine", "core")]
    assert counts == [27_648, 384, 384, 192]
    assert sum(tier.n for tier in LARGE.tiers) == 82_944


def test_a_rack() -> None:
    fabric = build(cluster_spec(racks=1))
    counts = {kind.name: kind.count for kind in fabric.kinds.values()}
    assert counts == {
        "rack": 1,
        "tray": 18,
        "gpu": 72,
        "nic": 72,
        "cpu": 36,
        "nvtray": 9,
        "nvswitch": 18,
        "feed": 2,
        "shelf": 8,
        "leaf": 4,
        "spine": 2,
        "core": 0,
        "hxu": 1,
        "loop": 1,
    }
    assert fabric.nvlink is not None
    assert fabric.nvlink.n == 1_296
    # 900 GB/s a GPU, 129.6 TB/s a rack in both directions
    assert fabric.nvlink.asics * fabric.nvlink.link_GBps == 900
    assert 2 * fabric.nvlink.n * fabric.nvlink.link_GBps == 129_600


@pytest.mark.parametrize(
    ("cooling", "racks", "units", "loops"),
    [
        ({"kind": "hxu"}, 64, 64, 64),
        ({"kind": "cdu"}, 64, 8, 2),
        ({"kind": "cdu"}, 33, 8, 2),
        ({"kind": "cdu", "units": 3, "racks_per_loop": 10}, 64, 21, 7),
    ],
)
def test_cooling_units(cooling: dict[str, object], racks: int, units: int, loops: int) -> None:
    fabric = build(cluster_spec(racks=racks, cooling=cooling))
    assert (fabric.count(str(cooling["kind"])), fabric.count("loop")) == (units, loops)


def test_the_same_spec_is_the_same_fabric_and_read_only() -> None:
    assert build(cluster_spec(racks=3)) is build(cluster_spec(racks=3))
    for tier in AZURE.tiers:
        for array in (tier.lower, tier.upper, tier.lower_port, tier.capacity, tier.bundle):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    assert AZURE.level is not None
    with pytest.raises(ValueError, match="read-only"):
        AZURE.level[0] = 1


def test_levels() -> None:
    assert LARGE.level is not None
    heights = {kind: set(LARGE.level[LARGE.nodes(kind)].tolist()) for kind in LARGE.kinds}
    assert heights == {kind: {0} for kind in LARGE.kinds} | {
        "leaf": {1},
        "spine": {2},
        "core": {3},
    }


@pytest.mark.parametrize("fabric", [AZURE, LARGE], ids=["azure", "384 racks"])
def test_bundles_are_the_parallel_cables(fabric: Fabric) -> None:
    for tier in fabric.tiers:
        pairs = list(zip(tier.lower.tolist(), tier.upper.tolist(), strict=True))
        first: dict[tuple[int, int], int] = {}
        for cable, pair in enumerate(pairs):
            assert tier.bundle[cable] == first.setdefault(pair, cable)
            assert cable == 0 or tier.bundle[cable] >= tier.bundle[cable - 1]


def test_ends_of_all_links_of_a_rack() -> None:
    fabric = build(cluster_spec(racks=2))
    links = np.arange(fabric.n_links)
    source, target = (fabric.names_of(ends) for ends in fabric.ends(links))
    n = 2 * 1_296
    for rack in range(2):
        for gpu in range(72):
            for k in range(18):
                link = (rack * 72 + gpu) * 18 + k
                ends = (f"rack-{rack}/tray-{gpu // 4}/gpu-{gpu % 4}", f"rack-{rack}/nvswitch-{k}")
                assert (source[link], target[link]) == ends
                assert (target[n + link], source[n + link]) == ends
    for nic in range(144):
        ends = (f"rack-{nic // 72}/tray-{nic % 72 // 4}/nic-{nic % 4}", f"leaf-{nic % 4}")
        assert (source[2 * n + nic], target[2 * n + nic]) == ends
        assert (target[2 * n + 144 + nic], source[2 * n + 144 + nic]) == ends


@given(st.data())
def test_the_way_back_swaps_the_ends(data: st.DataObject) -> None:
    fabric = data.draw(st.sampled_from([AZURE, LARGE]))
    links = np.array(data.draw(st.lists(st.integers(0, fabric.n_links - 1), max_size=20)), int)
    back = fabric.reverse(links)
    assert (fabric.reverse(back) == links).all()
    assert not (back == links).any()
    source, target = fabric.ends(links)
    assert np.array_equal(fabric.ends(back), (target, source))


def test_link_and_cable_names() -> None:
    tier = AZURE.tier("leaf-spine")
    assert AZURE.link_name(tier.first) == "leaf-0>spine-0#0"
    assert AZURE.link_name(tier.first + 7) == "leaf-0>spine-3#1"
    assert AZURE.link_name(tier.first + tier.n + 7) == "spine-3>leaf-0#1"
    assert AZURE.cable_name(tier.first + tier.n + 7) == "leaf-0~spine-3#1"
    assert AZURE.cable_name(tier.first + 7) == "leaf-0~spine-3#1"
    assert AZURE.link_name(18 + 5) == "rack-0/tray-0/gpu-1>rack-0/nvswitch-5#0"
    assert AZURE.cable_name(82_944) == "rack-0/tray-0/gpu-0~rack-0/nvswitch-0#0"
    for link in (-1, AZURE.n_links):
        with pytest.raises(InputError, match="there is no link number"):
            AZURE.link_name(link)


def test_kinds_of_nodes() -> None:
    for kind in AZURE.kinds.values():
        if kind.count:
            assert AZURE.kind_of(kind.first) is kind
            assert AZURE.kind_of(kind.first + kind.count - 1) is kind
    for node in (-1, AZURE.n_nodes):
        with pytest.raises(InputError, match="there is no node number"):
            AZURE.kind_of(node)
    assert AZURE.nodes("switch") == slice(0, 0)
    assert AZURE.count("switch") == 0


def test_too_many_gpus_are_refused() -> None:
    with pytest.raises(InputError, match="1,000,008 GPUs are more than 1,000,000"):
        build(cluster_spec(racks=13_889))


@given(
    racks=st.integers(1, 60),
    trays=st.integers(1, 6),
    gpus=st.integers(1, 4),
    radix=st.integers(2, 24),
    uplinks=st.none() | st.integers(1, 12),
)
def test_any_size_that_is_built_passes_its_checks(
    racks: int, trays: int, gpus: int, radix: int, uplinks: int | None
) -> None:
    spec = cluster_spec(
        racks=racks,
        trays_per_rack=trays,
        gpus_per_tray=gpus,
        radix=radix,
        uplinks_per_leaf=uplinks,
    )
    try:
        fabric = build(spec)
    except InputError:
        return
    assert [check.says for check in check_build(fabric) if not check.passed] == []
