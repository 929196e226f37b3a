"""Whatever breaks, heat over time ends in the steady state, and energy is conserved on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.cooling import start, steady, thermal_of
from gbviz.cooling.state import ASKS, HeatState
from gbviz.topology import build, cluster_spec
from gbviz.topology.health import healthy
from tests.cooling.following import C_DIE, C_PLATE, follow

if TYPE_CHECKING:
    from gbviz.topology import Fabric, Health
    from gbviz.topology.fabric import Floats

SMALL = build(
    cluster_spec(
        racks=5,
        trays_per_rack=2,
        cooling={"kind": "cdu", "units": 3, "racks_per_loop": 2, "capacity_kw": 30.0},
    )
)
HOT = build(
    cluster_spec(
        racks=3,
        trays_per_rack=1,
        cooling={"kind": "cdu", "units": 2, "racks_per_loop": 3, "set_point_c": 60.0,
                 "capacity_kw": 70.0},
    )
)  # fmt: skip
PRESETS = [build(cluster_spec(name)) for name in ("azure-gb300", "gb300-cdu")]
FACTORS = st.sampled_from([0.0, 0.0, 0.35, 0.6, 0.8, 0.95, 1.0, 1.0])


@st.composite
def damaged(draw: st.DrawFn, fabric: Fabric) -> tuple[Health, Floats]:
    """Units, shelves and GPUs at random factors, and a random activity for each GPU."""
    health = healthy(fabric)
    assert fabric.spec is not None
    whole = st.sampled_from([0.0, 1.0])
    for kind, values in ((fabric.spec.cooling.kind, FACTORS), ("shelf", whole), ("gpu", FACTORS)):
        count = fabric.count(kind)
        found = draw(st.lists(values, min_size=count, max_size=count))
        health.node_factor[fabric.nodes(kind)] = found
    active = st.sampled_from([0.0, 0.3, 0.9, 1.0])
    count = fabric.count("gpu")
    return health, np.array(draw(st.lists(active, min_size=count, max_size=count)))


def cold(fabric: Fabric) -> HeatState:
    """Everything at the set point."""
    assert fabric.spec is not None
    set_c, gpus = fabric.spec.cooling.set_point_c, fabric.count("gpu")
    return HeatState(
        0.0,
        np.full(gpus, set_c),
        np.full(gpus, set_c),
        np.full(fabric.count("loop"), set_c),
        np.full(gpus, ASKS, dtype=np.int8),
        np.zeros(fabric.count("rack"), dtype=bool),
    )


def ends_in_the_steady_state(
    fabric: Fabric, health: Health, activity: Floats | None, state: HeatState
) -> None:
    assert fabric.spec is not None
    end = follow(fabric, health, activity, state)
    assert end.settled
    found, wanted = thermal_of(fabric, health, activity, end.state), steady(
        fabric, health, activity
    )  # fmt: skip
    assert found.rack_down.tolist() == wanted.rack_down.tolist()
    assert found.rack_cause.tolist() == wanted.rack_cause.tolist()
    assert found.gpu_power_w == pytest.approx(wanted.gpu_power_w, rel=1e-8, abs=1e-6)
    assert found.rack_power_kw == pytest.approx(wanted.rack_power_kw, rel=1e-8)
    # Near clock 0 the clock is the root of a small power.
    assert found.clock**2 == pytest.approx(wanted.clock**2, abs=1e-8)
    flows = wanted.capacity_kw > 0
    assert found.supply_c[flows] == pytest.approx(wanted.supply_c[flows], abs=2e-9)
    assert found.heat_kw == pytest.approx(wanted.heat_kw, rel=1e-7, abs=1e-6)
    loop = np.arange(len(found.rack_down)) // fabric.spec.cooling.racks_in_loop
    cooled = np.repeat(flows[loop], len(found.die_c) // len(loop))
    assert found.die_c[cooled] == pytest.approx(wanted.die_c[cooled], abs=2e-9)
    assert end.energy.imbalance <= 1e-9 * end.energy.electric + 1e-3
    stored = C_DIE * (end.state.die_c - state.die_c).sum()
    stored += C_PLATE * (end.state.plate_c - state.plate_c).sum()
    assert end.energy.stored_gpus == pytest.approx(stored, rel=1e-6, abs=1e-2)


@settings(max_examples=30, deadline=None)
@given(damaged(SMALL))
def test_from_cold(damage: tuple[Health, Floats]) -> None:
    ends_in_the_steady_state(SMALL, *damage, cold(SMALL))


@settings(max_examples=30, deadline=None)
@given(damaged(SMALL))
def test_from_health(damage: tuple[Health, Floats]) -> None:
    ends_in_the_steady_state(SMALL, *damage, start(SMALL, healthy(SMALL), damage[1]))


@settings(max_examples=40, deadline=None)
@given(damaged(HOT))
def test_a_hot_set_point(damage: tuple[Health, Floats]) -> None:
    ends_in_the_steady_state(HOT, *damage, cold(HOT))


@settings(max_examples=10, deadline=None)
@given(damaged(SMALL), st.sampled_from([3.0, 20.0]))
def test_steps_do_not_matter(damage: tuple[Health, Floats], step_s: float) -> None:
    state = cold(SMALL)
    whole = follow(SMALL, *damage, state, until_s=300.0)
    parts = follow(SMALL, *damage, state, until_s=300.0, step_s=step_s)
    assert parts.state.die_c == pytest.approx(whole.state.die_c, abs=1e-7)
    assert parts.state.supply_c == pytest.approx(whole.state.supply_c, abs=1e-7)
    assert parts.state.rack_off.tolist() == whole.state.rack_off.tolist()


@pytest.mark.parametrize("fabric", PRESETS, ids=["azure", "cdu"])
@pytest.mark.parametrize("seed", range(4))
def test_presets(fabric: Fabric, seed: int) -> None:
    rng, health = np.random.default_rng(seed), healthy(fabric)
    assert fabric.spec is not None
    for kind, chance in ((fabric.spec.cooling.kind, 0.3), ("shelf", 0.3), ("gpu", 0.002)):
        nodes = fabric.nodes(kind)
        hit = rng.random(fabric.count(kind)) < chance
        factors = rng.choice([0.0, 0.5, 0.9], size=int(hit.sum()))
        health.node_factor[np.arange(nodes.start, nodes.stop)[hit]] = factors
    busy = np.repeat(rng.choice([0.0, 1.0, 1.0], size=fabric.count("rack")), 72)
    before = start(fabric, healthy(fabric), busy)
    ends_in_the_steady_state(fabric, health, busy, before)


def test_damage_that_follows_on_damage_comes_back_whole() -> None:
    rng = np.random.default_rng(3)
    fabric = PRESETS[1]
    state = start(fabric, healthy(fabric))
    for _ in range(12):
        health = healthy(fabric)
        health.node_factor[fabric.nodes("cdu")] = rng.choice([0.5, 0.9, 1.0], size=8)
        end = follow(fabric, health, None, state, until_s=state.time_s + rng.uniform(1, 200))
        assert end.energy.imbalance <= 1e-9 * end.energy.electric
        state = end.state
    assert not state.rack_off.any()
    ends_in_the_steady_state(fabric, healthy(fabric), None, state)
