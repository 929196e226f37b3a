"""Loops in which nothing can happen, followed all at once: the same as class by class."""

from __future__ import annotations

import numpy as np
import pytest

from gbviz.cooling import Advance, advance, ahead, start, transient, world_of
from gbviz.topology import Fabric, Health, build, cluster_spec
from gbviz.topology.health import healthy
from tests.cooling.following import broken

AZURE = build(cluster_spec("azure-gb300"))
CDU = build(cluster_spec("gb300-cdu"))


def damaged(fabric: Fabric, rng: np.random.Generator) -> Health:
    health = healthy(fabric)
    assert fabric.spec is not None
    for kind, chance in ((fabric.spec.cooling.kind, 0.15), ("shelf", 0.1), ("gpu", 0.01)):
        nodes = fabric.nodes(kind)
        hit = rng.random(fabric.count(kind)) < chance
        factors = rng.choice([0.0, 0.5, 0.9, 0.95], size=int(hit.sum()))
        health.node_factor[np.arange(nodes.start, nodes.stop)[hit]] = factors
    return health


def same(found: Advance, wanted: Advance) -> None:
    assert found.state.time_s == pytest.approx(wanted.state.time_s, rel=1e-12)
    for name in ("die_c", "plate_c", "supply_c"):
        got, want = getattr(found.state, name), getattr(wanted.state, name)
        assert got == pytest.approx(want, rel=0, abs=1e-9), name
    assert found.state.mode.tolist() == wanted.state.mode.tolist()
    assert found.state.rack_off.tolist() == wanted.state.rack_off.tolist()
    assert [h.text for h in found.happenings] == [h.text for h in wanted.happenings]
    first, last = found.clocks[0][found.class_of], found.clocks[-1][found.class_of]
    assert first == pytest.approx(wanted.clocks[0][wanted.class_of], abs=1e-12)
    assert last == pytest.approx(wanted.clocks[-1][wanted.class_of], abs=1e-9)
    for name in wanted.energy.__slots__:
        got, want = getattr(found.energy, name), getattr(wanted.energy, name)
        assert got == pytest.approx(want, rel=1e-9, abs=1e-6 + 1e-9 * wanted.energy.electric), name
    assert found.energy.imbalance <= 1e-9 * found.energy.electric + 1e-3


@pytest.mark.parametrize("fabric", [AZURE, CDU], ids=["azure", "cdu"])
@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_class_by_class(
    fabric: Fabric, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    state, glided = start(fabric, healthy(fabric)), 0
    for _ in range(8):
        health = damaged(fabric, rng) if rng.random() < 0.7 else healthy(fabric)
        activity = np.repeat(rng.choice([0.0, 1.0, 1.0], size=fabric.count("rack")), 72)
        until_s = state.time_s + float(rng.choice([1.0, 20.0, 200.0, 2000.0]))
        glided += int(ahead(world_of(fabric, health, activity, state), until_s).gliding.sum())
        found = advance(fabric, health, activity, state, until_s)
        with monkeypatch.context() as patch:
            patch.setattr(transient, "glides", lambda world: np.zeros(len(world.starts), bool))
            wanted = advance(fabric, health, activity, state, until_s)
        same(found, wanted)
        state = wanted.state
    assert glided


def test_one_dead_unit_moves_alone() -> None:
    state = start(AZURE, healthy(AZURE), np.zeros(AZURE.count("gpu")))
    way = ahead(world_of(AZURE, broken(AZURE, "hxu-9"), None, state), 10.0)
    assert [party.loops for party in way.parties] == [[9]]
    assert way.gliding.sum() == 63
    assert not way.quiet


def test_racks_that_shut_down_even_out_without_flow() -> None:
    health = broken(AZURE, "hxu-9")
    found = advance(AZURE, health, None, start(AZURE, healthy(AZURE)), 1e4)
    while not found.state.rack_off.any():
        found = advance(AZURE, health, None, found.state, 1e4)
    way = ahead(world_of(AZURE, health, None, found.state), 2e4)
    assert way.quiet
    assert way.gliding.nonzero()[0].tolist() == [9]
    end = way.state()
    own = slice(9 * 72, 10 * 72)
    assert end.die_c[own] == pytest.approx(end.plate_c[own], abs=1e-9)
    stored = way.advance().energy
    assert stored.electric == pytest.approx(stored.rejected + stored.to_air, rel=1e-9)


@pytest.mark.parametrize("panel_s", [0.5, 3.0])
def test_a_first_part_is_the_same_as_a_shorter_advance(panel_s: float) -> None:
    health = broken(AZURE, ("hxu-9", 0.5))
    state = start(AZURE, healthy(AZURE))
    found = advance(AZURE, health, None, state, 600.0)
    state = found.state
    whole = ahead(world_of(AZURE, health, None, state), state.time_s + 600.0)
    part = whole.advance(state.time_s + panel_s)
    wanted = advance(AZURE, health, None, state, state.time_s + panel_s)
    same(part, wanted)
    assert part.times_s.tolist() == wanted.times_s.tolist()
