"""Groups of equal trays and leaves, and what their trays exchange, against single pairs of GPUs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.flows.exchange import Groups, groups
from gbviz.flows.phase import cut_pairs
from gbviz.routing.rails import rails
from gbviz.routing.stages import stages
from gbviz.topology import Fabric, Health, build, cluster_spec
from tests.routing import EVERYTHING, FABRICS, HOSTS, NVLINK, broken, damage
from tests.slow_reference import Net

if TYPE_CHECKING:
    from gbviz.topology.fabric import Floats

AZURE = build(cluster_spec("azure-gb300"))


def groups_of(fabric: Fabric, health: Health) -> Groups:
    live = stages(fabric, health, "adaptive")
    return groups(fabric, live, rails(fabric, health, live.nic_up, live.nic_down))


def test_a_healthy_cluster_is_one_group_and_one_tray() -> None:
    found = groups_of(AZURE, broken(AZURE))
    assert found.members.tolist() == [16]
    assert found.trays.tolist() == [[[18.0]] * 4]
    assert (found.first.tolist(), found.other.tolist()) == ([0], [15])
    # Four GPUs each send to four: one from each arrives on the rail of its target.
    assert found.between.sent.reshape(4, 4).tolist() == (4 * np.eye(4)).tolist()
    assert found.within.sent.reshape(4, 4).tolist() == (4 * np.eye(4)).tolist()
    assert not found.between.cut.any()


def test_a_lost_nic_is_one_more_group_and_one_more_tray() -> None:
    found = groups_of(AZURE, broken(AZURE, "rack-5/tray-2/nic-1"))
    assert sorted(found.members.tolist()) == [1, 15]
    hurt = int(found.members.argmin())
    assert found.first[hurt] == found.other[hurt] == 1
    k = int(found.tray_class[5 * 18 + 2])
    assert (found.tray_class == k).sum() == 1
    assert found.trays[hurt, :, k].tolist() == [0, 1, 0, 0]
    # From the whole tray to it: rail 1 is spread over the others, 4/3 of a byte on each.
    sent = found.between.sent[found.between.pattern[0, hurt], 1 - k, k]
    third = 4 + 4 / 3
    assert sent.diagonal() == pytest.approx([third, 0, third, third])
    assert sent.sum() == pytest.approx(16)


def test_without_spines_rails_join_within_a_group_only() -> None:
    found = groups_of(AZURE, broken(AZURE, "spine-*"))
    assert found.members.tolist() == [16]
    within, between = found.within, found.between
    assert within.sent[within.pattern].reshape(4, 4).tolist() == (4 * np.eye(4)).tolist()
    assert not within.cut[within.pattern].any()
    assert not between.sent[between.pattern].any()
    assert between.cut[between.pattern].reshape(-1).tolist() == [16]
    assert cut_pairs(found) == 4_608 * (4_608 - 288)


def test_part_full_groups_lack_racks() -> None:
    fabric = build(cluster_spec(racks=6))
    found = groups_of(fabric, broken(fabric))
    assert found.trays[:, :, 0].tolist() == [[18, 18, 18, 18], [18, 18, 0, 0]]


def exchanged(net: Net, one: int, two: int, R: int) -> tuple[Floats, int]:
    """(R, R) bytes between the NICs of two trays, and pairs cut off, GPU by GPU."""
    sent, cut = np.zeros((R, R)), 0
    for s in range(one * R, one * R + R):
        for t in range(two * R, two * R + R):
            if net.alive("gpu", s) and net.alive("gpu", t):
                legs = net.legs(s, t)
                cut += not legs
                for x, y, part in legs:
                    sent[x % R, y % R] += float(part)
    return sent, cut


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("kinds", [(*HOSTS, *NVLINK, "nic cable"), EVERYTHING], ids=["host", "all"])
def test_every_two_trays_exchange_what_their_gpus_do(name: str, kinds: tuple[str, ...]) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(15)
    spec, shape = fabric.spec, fabric.shape
    assert spec is not None
    assert shape is not None
    per_rack, trays = spec.trays_per_rack, spec.racks * spec.trays_per_rack
    for _ in range(4):
        health = broken(fabric, *damage(fabric, rng, int(rng.integers(1, 20)), kinds))
        found, net, all_cut = groups_of(fabric, health), Net(fabric, health), 0
        for one, two in itertools.product(range(trays), range(trays)):
            if one // per_rack == two // per_rack:
                continue
            expected, cut = exchanged(net, one, two, spec.gpus_per_tray)
            g, h = (tray // per_rack // shape.racks_per_group for tray in (one, two))
            a, b = (int(found.group_class[group]) for group in (g, h))
            k, j = found.tray_class[one], found.tray_class[two]
            table = found.within if g == h else found.between
            at = int(table.pattern[a] if g == h else table.pattern[a, b])
            assert table.sent[at, k, j] == pytest.approx(expected)
            assert table.cut[at, k, j] == cut
            all_cut += cut
        assert cut_pairs(found) == all_cut


@pytest.mark.parametrize("name", FABRICS)
def test_every_tray_is_in_its_place(name: str) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(22)
    spec, shape = fabric.spec, fabric.shape
    assert spec is not None
    assert shape is not None
    per_rack = spec.trays_per_rack
    for _ in range(5):
        health = broken(fabric, *damage(fabric, rng, int(rng.integers(0, 20)), EVERYTHING))
        found = groups_of(fabric, health)
        assert found.members.sum() == len(found.group_class)
        for rack in range(spec.racks):
            group, slot = divmod(rack, shape.racks_per_group)
            own = found.tray_class[rack * per_rack : (rack + 1) * per_rack]
            counts = np.bincount(own, minlength=found.trays.shape[2])
            assert found.trays[found.group_class[group], slot].tolist() == counts.tolist()
