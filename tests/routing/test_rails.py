"""Which NICs carry a pair: the rail rule, PXN, NICs lost, NVLink lost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.routing.rails import legs, prefer_rails, rails
from gbviz.routing.shares import connected
from gbviz.routing.stages import stages
from gbviz.topology import build, cluster_spec
from tests.routing import EVERYTHING, FABRICS, HOSTS, NVLINK, broken, damage
from tests.slow_reference import Net

if TYPE_CHECKING:
    from gbviz.routing.rails import Rails
    from gbviz.topology.fabric import Fabric
    from gbviz.topology.health import Health

AZURE = build(cluster_spec("azure-gb300"))
RACKS = build(cluster_spec(racks=8))

Found = dict[tuple[int, int], float]


def nics_of(fabric: Fabric, health: Health) -> Rails:
    return rails(fabric, health, *health.capacity(fabric, 0))


def legs_of(fabric: Fabric, health: Health, source: int, target: int) -> Found | None:
    """NIC pairs and shares of one pair of GPUs; None where it is cut off."""
    live, nics = stages(fabric, health, "adaptive"), nics_of(fabric, health)
    found = legs(nics, partial(connected, live), np.array([source]), np.array([target]))
    if found.cut[0]:
        assert len(found.flow) == 0
        return None
    share = np.ones(len(found.flow)) if found.share is None else found.share
    return {
        (s, t): round(w, 12)
        for s, t, w in zip(
            found.source.tolist(), found.target.tolist(), share.tolist(), strict=True
        )
    }


def test_everything_whole() -> None:
    nics = nics_of(AZURE, broken(AZURE))
    assert nics.whole
    assert nics.rails == 4
    assert nics.live.all()
    assert nics.send.all()
    assert nics.receive.all()
    # Rail r of racks 4g to 4g + 3 is leaf 4g + r.
    assert nics.leaf[:5].tolist() == [0, 1, 2, 3, 0]
    assert nics.leaf[4 * 72 : 4 * 72 + 4].tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (0, 288, {(0, 288): 1.0}),  # the same rail
        (0, 290, {(2, 290): 1.0}),  # PXN: over the tray's NIC on the target's rail
        (3, 289, {(1, 289): 1.0}),
        (0, 75, {(3, 75): 1.0}),  # the next rack, one leaf
    ],
)
def test_the_rail_of_the_target_at_both_ends(source: int, target: int, expected: Found) -> None:
    assert legs_of(AZURE, broken(AZURE), source, target) == expected


@pytest.mark.parametrize(
    "did", ["rack-0/tray-0/nic-0", "rack-0/tray-0/nic-0~leaf-0", "leaf-0", "leaf-0:1"]
)
def test_a_gpu_without_its_nic_uses_those_of_its_tray(did: str) -> None:
    """From it and to it a third on each other rail; NIC, cable, leaf or port, it is the same."""
    third = round(1 / 3, 12)
    health = broken(AZURE, did)
    assert legs_of(AZURE, health, 0, 288) == {(1, 289): third, (2, 290): third, (3, 291): third}
    assert legs_of(AZURE, health, 288, 0) == {(289, 1): third, (290, 2): third, (291, 3): third}
    # On other rails nothing changes, whoever sends.
    assert legs_of(AZURE, health, 0, 289) == {(1, 289): 1.0}
    assert legs_of(AZURE, health, 1, 290) == {(2, 290): 1.0}
    # A mate loses the rail too, as PXN to rail 0 went over the same NIC.
    assert legs_of(AZURE, health, 1, 288) == {(1, 289): third, (2, 290): third, (3, 291): third}


def test_both_ends_without_a_nic_on_different_rails() -> None:
    health = broken(AZURE, "rack-0/tray-0/nic-0", "rack-8/tray-0/nic-1")
    # To 576 + 0 rail 0 is dead at the source, rail 1 at the target: 2 and 3 are left.
    assert legs_of(AZURE, health, 0, 576) == {(2, 578): 0.5, (3, 579): 0.5}


def test_no_common_rail_crosses_rails() -> None:
    health = broken(AZURE, "rack-0/tray-0/nic-[0,1]", "rack-8/tray-0/nic-[2,3]")
    quarter = {(x, y): 0.25 for x in (2, 3) for y in (576, 577)}
    assert legs_of(AZURE, health, 0, 576) == quarter


def test_no_nic_at_all_is_cut_off() -> None:
    health = broken(AZURE, "rack-0/tray-0/nic-*")
    assert legs_of(AZURE, health, 0, 576) is None
    assert legs_of(AZURE, health, 576, 0) is None
    assert legs_of(AZURE, health, 4, 576) == {(4, 576): 1.0}


def test_one_direction_of_a_nic_cable() -> None:
    health = broken(AZURE, "rack-0/tray-0/nic-0>leaf-0")
    third = round(1 / 3, 12)
    assert legs_of(AZURE, health, 0, 576) == {(x, 576 + x): third for x in (1, 2, 3)}
    assert legs_of(AZURE, health, 576, 0) == {(576, 0): 1.0}  # it still receives


def test_without_nvlink_a_gpu_has_its_own_nic_only() -> None:
    health = broken(AZURE, "rack-0/tray-0/gpu-0~rack-0/nvswitch-*")
    assert legs_of(AZURE, health, 0, 576) == {(0, 576): 1.0}
    assert legs_of(AZURE, health, 0, 577) == {(0, 576): 1.0}  # rail 0 is the only common one
    assert legs_of(AZURE, health, 1, 576) == dict.fromkeys(pairs(1, 2, 3), round(1 / 3, 12))
    # Its NIC dead as well: nothing is left.
    health = broken(AZURE, "rack-0/tray-0/gpu-0~rack-0/nvswitch-*", "rack-0/tray-0/nic-0")
    assert legs_of(AZURE, health, 0, 576) is None


def pairs(*on: int) -> list[tuple[int, int]]:
    return [(x, 576 + x) for x in on]


def test_nvlink_one_way_only() -> None:
    """GPU 0 hears nothing over NVLink: it can send by the NICs of its mates, not receive."""
    health = broken(AZURE, "rack-0/nvswitch-*>rack-0/tray-0/gpu-0")
    nics = nics_of(AZURE, health)
    assert nics.send[0].tolist() == [True] * 4
    assert nics.receive[0].tolist() == [True, False, False, False]
    # So its NIC relays nothing out for them, but what comes in for them it passes on.
    assert nics.send[1].tolist() == [False, True, True, True]
    assert nics.receive[1].tolist() == [True] * 4
    assert legs_of(AZURE, health, 0, 577) == {(1, 577): 1.0}
    assert legs_of(AZURE, health, 1, 576) == dict.fromkeys(pairs(1, 2, 3), round(1 / 3, 12))
    assert (
        legs_of(
            AZURE,
            broken(AZURE, *["rack-0/nvswitch-*>rack-0/tray-0/gpu-0"], "rack-0/tray-0/nic-0"),
            576,
            0,
        )
        is None
    )


def test_disjoint_asics_in_a_tray() -> None:
    """GPU 0 reaches ASICs 9 to 17, GPU 1 the others; GPUs 2 and 3 reach all."""
    health = broken(
        AZURE,
        "rack-0/tray-0/gpu-0~rack-0/nvswitch-[0-8]",
        "rack-0/tray-0/gpu-1~rack-0/nvswitch-[9-17]",
    )
    nics = nics_of(AZURE, health)
    assert nics.joined[0].tolist() == [True, False, True, True]
    third = round(1 / 3, 12)
    assert legs_of(AZURE, health, 0, 577) == dict.fromkeys(pairs(0, 2, 3), third)
    assert legs_of(AZURE, health, 0, 578) == {(2, 578): 1.0}


def test_a_dead_gpu_takes_its_nic_from_the_others() -> None:
    health = broken(AZURE, "rack-0/tray-0/gpu-1")
    nics = nics_of(AZURE, health)
    assert not nics.whole
    assert not nics.live[1]
    assert not nics.send[1].any()
    assert not nics.send[:4, 1].any()
    assert legs_of(AZURE, health, 0, 577) == dict.fromkeys(pairs(0, 2, 3), round(1 / 3, 12))


def test_legs_avoid_leaves_that_no_way_joins() -> None:
    # Leaf 0 has lost its spines: rail 0 leads to its own racks only.
    health = broken(RACKS, "leaf-0~spine-*")
    assert legs_of(RACKS, health, 0, 72) == {(0, 72): 1.0}
    third = round(1 / 3, 12)
    assert legs_of(RACKS, health, 0, 288) == {(x, 288 + x): third for x in (1, 2, 3)}


def test_a_gpu_without_its_nic_may_use_those_of_its_rack() -> None:
    """`nic_loss: rack`: 71 live NICs, each to the one in its place at the far end."""
    health = broken(AZURE, "rack-0/tray-0/nic-0", "rack-4/tray-9/gpu-0")
    nics = rails(AZURE, health, *health.capacity(AZURE, 0), by_rack=True)
    anywhere = partial(connected, stages(AZURE, health, "adaptive"))
    found = legs(nics, anywhere, np.array([0, 1]), np.array([288, 289]))
    assert found.share is not None
    assert found.flow.tolist() == [0] * 70 + [1]
    # NIC 36 of the far rack is that of a dead GPU.
    assert found.source.tolist() == [n for n in range(72) if n not in (0, 36)] + [1]
    assert (found.target - found.source == 288).all()
    assert found.share.tolist() == pytest.approx([1 / 70] * 70 + [1])


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("kinds", [(*HOSTS, *NVLINK, "nic cable"), EVERYTHING], ids=["host", "all"])
def test_legs_are_those_of_the_rule(name: str, kinds: tuple[str, ...]) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(6)
    G = fabric.count("gpu")
    for _ in range(4):
        health = broken(fabric, *damage(fabric, rng, int(rng.integers(1, 25)), kinds))
        live, nics, net = (
            stages(fabric, health, "spray"),
            nics_of(fabric, health),
            Net(fabric, health),
        )
        source, target = rng.integers(0, G, 60), rng.integers(0, G, 60)
        found = legs(nics, partial(connected, live), source, target)
        assert (np.diff(found.flow) >= 0).all()
        share = np.ones(len(found.flow)) if found.share is None else found.share
        for f, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
            own = found.flow == f
            ends = zip(found.source[own].tolist(), found.target[own].tolist(), strict=True)
            got = dict(zip(ends, share[own].tolist(), strict=True))
            expected = {(x, y): float(w) for x, y, w in net.legs(s, t)}
            assert len(got) == own.sum()
            assert got == pytest.approx(expected)
            assert found.cut[f] == (not expected)


def test_one_rail_is_preferred_to_crossing() -> None:
    way = np.array([[1, 1, 0, 1], [0, 1, 1, 0]], dtype=bool)  # (0,0) (0,1) (1,0) (1,1)
    keep = prefer_rails(way, 2)
    assert (way & keep).tolist() == [[True, False, False, True], [False, True, True, False]]


@pytest.mark.parametrize("name", FABRICS)
def test_who_is_served_is_found_from_odd_trays_alone(name: str) -> None:
    fabric = FABRICS[name]
    rng = np.random.default_rng(11)
    for count in (0, 1, 2, 4, 8):
        nics = nics_of(fabric, broken(fabric, *damage(fabric, rng, count)))
        for usable in (nics.send, nics.receive, nics.send & nics.receive):
            each = usable.reshape(-1, nics.rails, nics.rails)
            gpus, used = nics.served(nics.by_tray(usable).__getitem__)
            assert np.array_equal(gpus, usable.any(axis=1))
            assert np.array_equal(used, each.any(axis=1).reshape(-1))
