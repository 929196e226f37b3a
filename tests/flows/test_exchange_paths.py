"""The all-to-all where every pair of NICs has one path, against single pairs of GPUs."""

from __future__ import annotations

import numpy as np
import pytest

from gbviz.flows import exchange_paths
from gbviz.flows.exchange_paths import path_phase
from gbviz.flows.phase import Phase, conserved
from gbviz.routing.rails import rails
from gbviz.routing.stages import stages
from gbviz.topology import Fabric, Health, build, cluster_spec
from tests import slow_reference as slow
from tests.routing import EVERYTHING, FABRICS, broken, damage


def phase_of(fabric: Fabric, health: Health, seed: int | None) -> Phase:
    live = stages(fabric, health, "static")
    nics = rails(fabric, health, live.nic_up, live.nic_down)
    found = path_phase(fabric, health, live, nics, seed=seed)
    assert found is not None
    return found


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("seed", [None, 3])
def test_every_cable_carries_what_single_pairs_put_on_it(name: str, seed: int | None) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(17)
    first, mode = fabric.tiers[0].first, "static" if seed is None else "ecmp"
    for trial in range(5):
        health = broken(fabric, *damage(fabric, rng, 4 * trial, EVERYTHING))
        net, found = slow.Net(fabric, health), phase_of(fabric, health, seed)
        load, cut = slow.all_to_all(net, mode, 3)
        expected = [load.get(link, 0.0) for link in range(first, fabric.n_links)]
        assert found.loads["link"][0] == pytest.approx(np.array(expected), abs=1e-9)
        took = [load[link] / float(net.rate[link]) for link in load if link >= first]
        assert found.cut_pairs == cut
        assert found.time_s == (np.inf if cut else pytest.approx(max(took, default=0), rel=1e-9))
        assert conserved(found) == ()
        if took:
            assert found.bottleneck is not None
            place = found.bottleneck[1][0]
            loads, capacity = found.loads["link"]
            assert loads[place] / capacity[place] == pytest.approx(max(took), rel=1e-9)


@pytest.mark.parametrize("seed", [None, 3])
def test_without_spines_groups_exchange_within_themselves(seed: int | None) -> None:
    """Two whole groups of two racks, in the same state: inside, rails lead; between, nothing."""
    fabric = build(cluster_spec(racks=4, trays_per_rack=2, gpus_per_tray=2, radix=8))
    found = phase_of(fabric, broken(fabric, "spine-*"), seed)
    assert found.cut_pairs == 16 * 8
    assert found.loads["link"][0][:32].tolist() == [4.0] * 32


def test_static_is_as_good_as_spreading_on_a_full_tree() -> None:
    """32 GPUs send to the 28 of other racks; every uplink has one port's traffic: 24 bytes."""
    fabric = build(cluster_spec(racks=8, trays_per_rack=2, gpus_per_tray=2, radix=8))
    found = phase_of(fabric, broken(fabric), None)
    assert found.time_s == pytest.approx(0.28)
    up = found.loads["link"][0][2 * 32 : 2 * 32 + 32]
    # Of 14 on its rail (PXN doubles them: 28), 2 x 2 stay on the leaf of its own group.
    assert up.tolist() == [24.0] * 32


def test_a_hash_collides_and_a_seed_moves_the_collisions() -> None:
    fabric = build(cluster_spec(racks=8, trays_per_rack=2, gpus_per_tray=2, radix=8))
    one, two = (phase_of(fabric, broken(fabric), seed) for seed in (1, 2))
    assert 0.28 < one.time_s < 1
    assert one.bottleneck != two.bottleneck
    assert one.time_s == phase_of(fabric, broken(fabric), 1).time_s


def test_too_many_pairs_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = build(cluster_spec(racks=2))
    live = stages(fabric, broken(fabric), "static")
    nics = rails(fabric, broken(fabric), live.nic_up, live.nic_down)
    monkeypatch.setattr(exchange_paths, "MOST_FLOWS", 144 * 36 - 1)
    assert path_phase(fabric, broken(fabric), live, nics, seed=None) is None
    monkeypatch.setattr(exchange_paths, "MOST_FLOWS", 144 * 36)
    assert path_phase(fabric, broken(fabric), live, nics, seed=None) is not None
