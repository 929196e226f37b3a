"""NVLink shares inside a rack, ASIC by ASIC, against the rule and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gbviz.routing.nvlink import nvlink_columns, nvlink_stage, tray_pairs
from gbviz.topology import build, cluster_spec
from gbviz.topology.health import healthy
from tests.routing import FABRICS, NVLINK, broken, damage
from tests.slow_reference import Net

RACKS = build(cluster_spec(racks=2))
SMALL = FABRICS["two tiers, two cables a pair"]


def test_a_whole_rack_is_one_link_out_and_one_in() -> None:
    stage = nvlink_stage(RACKS, healthy(RACKS))
    assert stage.n_classes == 1
    assert stage.capacity.tolist() == [900.0] * 288
    columns, weights, joined = nvlink_columns(stage, np.array([5, 72]), np.array([7, 143]))
    assert columns.tolist() == [[5, 72], [144 + 7, 144 + 143]]
    assert weights.tolist() == [[1, 1], [1, 1]]
    assert joined.all()


def test_one_dead_link_leaves_seventeen() -> None:
    stage = nvlink_stage(RACKS, broken(RACKS, "rack-1/tray-0/gpu-2~rack-1/nvswitch-4"))
    assert stage.slot.tolist() == [-1, 0]
    assert stage.asics.tolist() == [[17, 1]]
    _, weights, joined = nvlink_columns(stage, np.array([74, 75]), np.array([75, 76]))
    assert joined.all()
    # GPU 74 (2 of rack 1) uses 17 ASICs with any other; the rest use all 18.
    assert weights[:2].tolist() == [[1, 17 / 18], [0, 1 / 18]]
    # 50 GB/s on every ASIC, 17 of them in the first class.
    own = stage.capacity[288:].reshape(2, 72, 2)
    assert own[0, 2].tolist() == own[1, 2].tolist() == [850, 0]
    assert own[0, 3].tolist() == [850, 50]


def test_shares_follow_the_smaller_of_the_two_links() -> None:
    # Out at half on ASIC 0, in at a quarter on ASIC 1: 25 + 12.5 + 16 x 50 = 837.5 GB/s.
    health = broken(
        SMALL,
        ("rack-0/tray-0/gpu-0>rack-0/nvswitch-0", 0.5),
        ("rack-0/nvswitch-1>rack-0/tray-0/gpu-1", 0.25),
    )
    stage = nvlink_stage(SMALL, health)
    _, weights, _ = nvlink_columns(stage, np.array([0]), np.array([1]))
    k = stage.asic_class[0]
    shares = weights[: stage.n_classes, 0] / stage.asics[0]
    assert shares[k[:3]] * 837.5 == pytest.approx([25, 12.5, 50])
    assert weights[:, 0].sum() == pytest.approx(2)


def test_disjoint_asics_join_nothing_but_others_still_meet_both() -> None:
    health = broken(
        SMALL,
        "rack-0/tray-0/gpu-0~rack-0/nvswitch-[0-8]",
        "rack-0/tray-0/gpu-1~rack-0/nvswitch-[9-17]",
    )
    stage = nvlink_stage(SMALL, health)
    _, _, joined = nvlink_columns(stage, np.array([0, 1, 0, 1]), np.array([1, 0, 2, 2]))
    assert joined.tolist() == [False, False, True, True]
    # Trays of two: between 0 and 1 nothing, between 2 and 3 all 18 links.
    between = tray_pairs(stage, 2)
    assert between.shape == (1, 2, 2, 2)
    assert between[0, 0].tolist() == [[450, 0], [0, 450]]
    assert between[0, 1].tolist() == [[900, 900], [900, 900]]


def test_one_way_out_only() -> None:
    """A GPU that can send and not receive."""
    health = broken(SMALL, "rack-0/nvswitch-*>rack-0/tray-0/gpu-0")
    stage = nvlink_stage(SMALL, health)
    _, _, joined = nvlink_columns(stage, np.array([0, 1]), np.array([1, 0]))
    assert joined.tolist() == [True, False]


@pytest.mark.parametrize("did", ["rack-0/nvswitch-*", "rack-0/tray-0/gpu-0", "rack-0"])
def test_dead_parts_join_nothing(did: str) -> None:
    stage = nvlink_stage(SMALL, broken(SMALL, did))
    columns, weights, joined = nvlink_columns(stage, np.array([0, 1]), np.array([1, 0]))
    assert not joined.any()
    assert (columns == -1).all()
    assert not weights.any()


@pytest.mark.parametrize("seed", range(12))
def test_every_pair_asic_by_asic(seed: int) -> None:
    """Class columns, spread over their ASICs, are the shares of single links."""
    rng = np.random.default_rng(seed)
    kinds = (*NVLINK, "gpu", "tray")
    health = broken(SMALL, *damage(SMALL, rng, int(rng.integers(1, 12)), kinds))
    stage, net = nvlink_stage(SMALL, health), Net(SMALL, health)
    tier = SMALL.nvlink
    assert tier is not None
    G, k = tier.racks * tier.gpus, stage.n_classes
    source, target = np.divmod(np.arange(G * G), G)
    keep = (source // tier.gpus == target // tier.gpus) & (source != target)
    source, target = source[keep], target[keep]
    columns, weights, joined = nvlink_columns(stage, source, target)
    for p, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        share = net.nvlink(s, t)
        assert joined[p] == bool(share)
        slot = int(stage.slot[s // tier.gpus])
        found: dict[int, float] = {}
        for row, (link, weight) in enumerate(zip(columns[:, p], weights[:, p], strict=True)):
            way, c = divmod(row, k)
            gpu = t if way else s
            if link < 0 or weight == 0:
                continue
            asics = list(range(tier.asics))
            if slot >= 0:
                asics = [a for a in asics if stage.asic_class[slot, a] == c]
                assert link == 2 * G + ((slot * 2 + way) * tier.gpus + gpu % tier.gpus) * k + c
            else:
                assert link == way * G + gpu
            for asic in asics:
                found[way * tier.n + gpu * tier.asics + asic] = weight / len(asics)
            rates = [float(net.nvlink_rate(way, gpu, asic)) for asic in asics]
            assert stage.capacity[link] == pytest.approx(sum(rates))
            # All links of a class have one rate, else spreading evenly over them would be wrong.
            assert len(set(rates)) == 1
        assert found == pytest.approx({link: float(w) for link, w in share.items()})
