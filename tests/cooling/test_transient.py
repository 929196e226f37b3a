"""Heat over time on whole clusters: known times, balances, and what is refused."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.cooling import HeatState, advance, loops, start, steady, switched_on, thermal_of
from gbviz.cooling.nodes import FlowLost
from gbviz.cooling.state import ASKS, HOLDS, IDLES, OFF
from gbviz.errors import InputError
from gbviz.topology import build, cluster_spec
from gbviz.topology.health import healthy
from tests.cooling.following import (
    C_DIE,
    C_PLATE,
    PER_RACK,
    R_DIE,
    R_OUT,
    broken,
    follow,
    integrate,
)

if TYPE_CHECKING:
    from gbviz.topology import Fabric, Health
    from gbviz.topology.fabric import Floats

AZURE = build(cluster_spec("azure-gb300"))
CDU = build(cluster_spec("gb300-cdu"))
SMALL = build(
    cluster_spec(
        racks=5,
        trays_per_rack=2,
        cooling={"kind": "cdu", "units": 3, "racks_per_loop": 2, "capacity_kw": 30.0},
    )
)


def begin(fabric: Fabric, activity: Floats | None = None) -> HeatState:
    return start(fabric, healthy(fabric), activity)


def same_as_steady(fabric: Fabric, health: Health, state: HeatState) -> None:
    found, wanted = thermal_of(fabric, health, None, state), steady(fabric, health)
    for field in dataclasses.fields(wanted):
        got, want = getattr(found, field.name), getattr(wanted, field.name)
        assert got == pytest.approx(want, rel=1e-9, abs=1e-8), field.name


@pytest.mark.parametrize("fabric", [AZURE, CDU, SMALL], ids=["azure", "cdu", "small"])
def test_a_healthy_cluster_stays_as_it_is(fabric: Fabric) -> None:
    state = begin(fabric)
    found = advance(fabric, healthy(fabric), None, state, 86_400.0)
    assert found.settled
    assert found.happenings == ()
    assert (found.state.die_c == state.die_c).all()
    same_as_steady(fabric, healthy(fabric), found.state)
    watts = 1000 * steady(fabric, healthy(fabric)).rack_power_kw.sum()
    assert found.energy.electric == pytest.approx(86_400 * watts, rel=1e-12)
    assert found.energy.rejected == pytest.approx(0.9 * 86_400 * watts, rel=1e-12)


def test_one_unit_of_four_lost_is_not_felt() -> None:
    state, health = begin(CDU), broken(CDU, "cdu-0")
    found = advance(CDU, health, None, state, 3600.0)
    assert found.settled
    assert found.happenings == ()
    assert (found.state.supply_c == 40).all()
    assert (found.state.die_c == state.die_c).all()


def test_two_units_of_four_lost() -> None:
    """2,736 kW from 32 racks: 95 kW each, 830.6 W a GPU, clock 0.725, supply 64.8 °C."""
    health = broken(CDU, "cdu-[0-1]")
    end = follow(CDU, health, None, begin(CDU))
    assert end.settled
    assert [each.what for each in end.happenings] == ["warms", "throttles"]
    thermal = thermal_of(CDU, health, None, end.state)
    assert thermal.gpu_power_w[0] == pytest.approx(59_800 / 72, rel=1e-9)
    assert thermal.clock[0] == pytest.approx(0.725, abs=5e-4)
    assert thermal.supply_c[0] == pytest.approx(64.824, abs=1e-3)
    assert (thermal.clock[32 * 72 :] == 1).all()
    same_as_steady(CDU, health, end.state)
    assert loops(CDU, thermal)[0].hottest_die_c == pytest.approx(87)


def test_a_repair_brings_everything_back() -> None:
    down = follow(CDU, broken(CDU, "cdu-[0-1]"), None, begin(CDU), until_s=600)
    end = follow(CDU, healthy(CDU), None, down.state)
    assert [each.what for each in end.happenings] == ["runs free", "is back"]
    assert 600 < end.happenings[0].time_s < end.happenings[1].time_s < 900
    same_as_steady(CDU, healthy(CDU), end.state)
    assert (end.state.mode == ASKS).all()


def test_lost_flow_follows_the_closed_form_to_the_limit() -> None:
    state = begin(AZURE)
    found = advance(AZURE, broken(AZURE, "hxu-9"), None, state, 100.0)
    lone = FlowLost(1400, 77.38, 77.38 - 1400 * R_DIE, R_DIE, C_DIE, C_PLATE)
    assert found.state.time_s == pytest.approx(lone.time_to_s(87), abs=1e-9)
    part = advance(AZURE, broken(AZURE, "hxu-9"), None, state, 3.0).state
    hot = np.s_[9 * 72 : 10 * 72]
    assert part.die_c[hot] == pytest.approx(np.full(72, lone.at(3.0)[0]), rel=1e-13)
    assert part.plate_c[hot] == pytest.approx(np.full(72, lone.at(3.0)[1]), rel=1e-13)
    assert (np.delete(part.die_c, hot) == state.die_c[0]).all()


def test_lost_flow_to_its_end() -> None:
    """At the limit the plate comes after with e^(-t/(R C_c)) until 200 W hold the die no more."""
    health = broken(AZURE, "hxu-9")
    end = follow(AZURE, health, None, begin(AZURE))
    at = {each.what: each.time_s for each in end.happenings}
    lone = FlowLost(1400, 77.38, 77.38 - 1400 * R_DIE, R_DIE, C_DIE, C_PLATE)
    plate = lone.at(lone.time_to_s(87))[1]
    hold = R_DIE * C_PLATE * math.log((87 - plate) / (200 * R_DIE))
    assert at["idles"] - at["throttles"] == pytest.approx(hold, abs=1e-9)
    idle = FlowLost(200, 87.0, 87 - 200 * R_DIE, R_DIE, C_DIE, C_PLATE)
    assert at["slows down"] - at["idles"] == pytest.approx(idle.time_to_s(89), abs=1e-9)
    assert at["shuts down"] - at["idles"] == pytest.approx(idle.time_to_s(92), abs=1e-9)
    assert 5 < at["shuts down"] < 45
    assert at["racks down"] == at["shuts down"]
    assert np.flatnonzero(end.state.rack_off).tolist() == [9]
    thermal, wanted = (thermal_of(AZURE, health, None, end.state), steady(AZURE, health))
    for name in ("clock", "gpu_power_w", "rack_power_kw", "rack_down", "rack_cause", "heat_kw"):
        assert (getattr(thermal, name) == getattr(wanted, name)).all()
    # Its dies keep their heat, as nothing takes it away.
    assert thermal.die_c[9 * 72] == pytest.approx(91.1, abs=0.01)


@pytest.mark.parametrize(
    ("units", "words"),
    [
        (("hxu-9",), "rack-9: shut down"),
        (("hxu-[3-5]",), "rack-3 to rack-5, 3 racks: shut down"),
        (("hxu-1", "hxu-[3-5]", "hxu-63"), "rack-1, rack-3 to rack-5, rack-63, 5 racks: shut down"),
        (("hxu-*[02468]",), "32 racks from rack-0 to rack-62: shut down"),
    ],
)
def test_racks_that_heat_shuts_down_are_named(units: tuple[str, ...], words: str) -> None:
    end = follow(AZURE, broken(AZURE, *units), None, begin(AZURE))
    assert [each.text for each in end.happenings if each.what == "racks down"] == [words]


def test_what_is_shut_down_stays_so_until_it_is_switched_on() -> None:
    down = follow(AZURE, broken(AZURE, "hxu-9"), None, begin(AZURE)).state
    still = follow(AZURE, healthy(AZURE), None, down).state
    assert (still.mode[9 * 72 : 10 * 72] == OFF).all()
    assert still.die_c[9 * 72] == pytest.approx(40, abs=1e-6)
    assert thermal_of(AZURE, healthy(AZURE), None, still).rack_down.nonzero()[0].tolist() == [9]
    assert switched_on(still, np.array([8])).rack_off[9]
    for again in (switched_on(still, np.array([9])), switched_on(still), switched_on(down)):
        same_as_steady(AZURE, healthy(AZURE), follow(AZURE, healthy(AZURE), None, again).state)


def test_a_loop_that_cannot_take_idle_heat_falls_as_a_whole() -> None:
    """One busy rack among idle ones is the first at 92 °C, and the others go with it."""
    activity = np.zeros(4608)
    activity[:72] = 1
    health = broken(CDU, "cdu-[0-2]")
    end = follow(CDU, health, activity, begin(CDU, activity))
    assert end.state.rack_off.tolist() == [True] * 32 + [False] * 32
    assert end.settled
    assert end.state.supply_c.tolist() == pytest.approx([40, 40])


def test_racks_without_gpus_go_with_their_loop() -> None:
    health = broken(SMALL, "rack-0/tray-*", "cdu-[0-2]")
    end = follow(SMALL, health, None, start(SMALL, broken(SMALL, "rack-0/tray-*")))
    assert end.state.rack_off.tolist() == [True, True, False, False, False]
    bare = broken(SMALL, "rack-[0-1]/tray-*", "cdu-[0-2]")
    state = start(SMALL, broken(SMALL, "rack-[0-1]/tray-*"))
    end = follow(SMALL, bare, None, state)
    assert "gives up" in [each.what for each in end.happenings]
    assert end.state.rack_off.tolist() == [True, True, False, False, False]


def test_a_rack_without_power_is_off_at_once_and_on_again_with_it() -> None:
    state, health = begin(AZURE), broken(AZURE, "rack-0/feed-*")
    end = follow(AZURE, health, None, state)
    assert not end.state.rack_off.any()
    same_as_steady(AZURE, health, end.state)
    first = advance(AZURE, health, None, state, 0.0)
    assert first.clocks[0, first.class_of[0]] == 0
    same_as_steady(AZURE, healthy(AZURE), follow(AZURE, healthy(AZURE), None, end.state).state)


def test_a_feed_lost_caps_at_once() -> None:
    health = broken(AZURE, "rack-3/feed-b")
    found = advance(AZURE, health, None, begin(AZURE), 1.0)
    assert found.clocks[:, found.class_of[216]] == pytest.approx(np.full(2, 0.97657), abs=1e-5)
    same_as_steady(AZURE, health, follow(AZURE, health, None, begin(AZURE)).state)


def test_start_is_at_rest_whatever_is_broken() -> None:
    for actions in (("cdu-[0-1]",), ("cdu-[0-2]",), ("loop-1", "rack-0/feed-a"), ("rack-*",)):
        health = broken(CDU, *actions)
        state = start(CDU, health)
        same_as_steady(CDU, health, state)
        found = advance(CDU, health, None, state, 1000.0)
        assert found.settled
        assert found.happenings == ()
    assert (start(CDU, broken(CDU, "cdu-[0-1]")).mode[: 32 * 72] == HOLDS).all()


def test_steps_of_any_size_lead_to_the_same() -> None:
    health = broken(CDU, "cdu-[0-2]", ("rack-3/tray-0/gpu-0", 0.5), "rack-5/feed-a")
    whole = follow(CDU, health, None, begin(CDU), until_s=400)
    for step in (16.0, 8.0):
        parts = follow(CDU, health, None, begin(CDU), until_s=400, step_s=step)
        assert parts.advances > whole.advances
        assert parts.state.die_c == pytest.approx(whole.state.die_c, abs=1e-9)
        assert parts.state.supply_c == pytest.approx(whole.state.supply_c, abs=1e-9)
        assert (parts.state.mode == whole.state.mode).all()
        assert [each.what for each in parts.happenings] == [e.what for e in whole.happenings]
        for a, b in zip(parts.happenings, whole.happenings, strict=True):
            assert a.time_s == pytest.approx(b.time_s, abs=1e-8)
        for name in ("electric", "rejected", "stored_gpus", "stored_loops", "to_loops"):
            assert getattr(parts.energy, name) == pytest.approx(
                getattr(whole.energy, name), rel=1e-9
            )


def test_same_input_same_output_to_the_bit() -> None:
    health = broken(CDU, "cdu-[0-1]", ("rack-3/tray-0/gpu-0", 0.5))
    one, two = (advance(CDU, health, None, begin(CDU), 300.0) for _ in range(2))
    assert one.state.die_c.tobytes() == two.state.die_c.tobytes()
    assert (one.happenings, one.energy) == (two.happenings, two.energy)
    assert one.clocks.tobytes() == two.clocks.tobytes()


@pytest.mark.parametrize("actions", [("cdu-[0-1]",), ("cdu-[0-2]",), ("loop-0",), ()])
def test_energy_is_conserved(actions: tuple[str, ...]) -> None:
    health = broken(CDU, *actions)
    state = begin(CDU)
    for until in (1.0, 10.0, 60.0, 300.0, 1e4):
        end = follow(CDU, health, None, state, until_s=until)
        assert end.energy.imbalance <= 1e-9 * end.energy.electric
        stored = C_DIE * (end.state.die_c - state.die_c).sum()
        stored += C_PLATE * (end.state.plate_c - state.plate_c).sum()
        assert end.energy.stored_gpus == pytest.approx(stored, rel=1e-9, abs=1.0)
        liquid = 32 * PER_RACK * (end.state.supply_c - state.supply_c).sum()
        assert end.energy.stored_loops == pytest.approx(liquid, rel=1e-9, abs=1.0)


def test_samples_of_clocks_can_be_joined_by_straight_lines() -> None:
    state = follow(CDU, broken(CDU, "cdu-[0-1]"), None, begin(CDU), until_s=54.89).state
    assert (state.mode[: 32 * 72] == HOLDS).all()
    whole = advance(CDU, broken(CDU, "cdu-[0-1]"), None, state, 2000.0)
    column = whole.class_of[0]
    # The die was still warming, so that less than 1,400 W reached the plate: a step at the limit.
    assert whole.clocks[0, column] == pytest.approx(0.987, abs=1e-3)
    assert len(whole.times_s) < 2000
    for time in (60.0, 77.7, 123.4, 1500.0):
        exact = advance(CDU, broken(CDU, "cdu-[0-1]"), None, state, time).clocks[-1, 0]
        drawn = np.interp(time, whole.times_s, whole.clocks[:, column])
        assert drawn == pytest.approx(exact, abs=2e-6)


def test_a_gpu_above_the_limit_idles_until_it_is_cooler() -> None:
    state = begin(SMALL)
    hot = state.die_c.copy()
    hot[:8] = 90
    plate = state.plate_c.copy()
    plate[:8] = 88
    found = advance(
        SMALL, healthy(SMALL), None, dataclasses.replace(state, die_c=hot, plate_c=plate), 50.0
    )
    assert found.clocks[0, found.class_of[0]] == 0
    assert [each.what for each in found.happenings[:2]] == ["warms", "throttles"]
    assert found.happenings[-1].what == "recovers"
    assert (found.state.mode[:8] == HOLDS).all()
    end = follow(SMALL, healthy(SMALL), None, found.state)
    same_as_steady(SMALL, healthy(SMALL), end.state)
    hot = hot.copy()
    hot[:8] = 93
    found = advance(SMALL, healthy(SMALL), None, dataclasses.replace(state, die_c=hot), 50.0)
    assert found.state.time_s == 0
    assert found.state.rack_off.tolist() == [True, False, False, False, False]


def test_a_gpu_that_idled_and_lost_its_power_asks_for_it_again() -> None:
    """It cooled below the limit while it drew nothing, with less across it than idle power."""
    state = begin(SMALL)
    mode, die, plate = state.mode.copy(), state.die_c.copy(), state.plate_c.copy()
    mode[0], die[0], plate[0] = IDLES, 85.95, 85.96
    again = dataclasses.replace(state, mode=mode, die_c=die, plate_c=plate)
    end = follow(SMALL, healthy(SMALL), None, again)
    same_as_steady(SMALL, healthy(SMALL), end.state)


def test_gpus_of_many_kinds_in_one_loop() -> None:
    health = broken(CDU, "cdu-[0-1]")
    health.node_factor[CDU.nodes("gpu")] = np.random.default_rng(0).uniform(0.3, 1, size=4608)
    found = advance(CDU, health, None, begin(CDU), 100.0)
    assert found.clocks.shape[1] == 4608
    assert found.energy.imbalance <= 1e-9 * found.energy.electric


@pytest.mark.parametrize(
    ("capacity_kw", "seconds"),
    [(0.0, 4.0), (0.0, 8.0), (0.0, 20.0), (50.0, 30.0), (70.0, 60.0), (70.0, 400.0), (79.0, 900.0)],
)
def test_agrees_with_a_plain_integrator(capacity_kw: float, seconds: float) -> None:
    activity = np.ones(40)
    activity[:4], activity[4:8] = 0.0, 0.6
    factor = capacity_kw / 90
    units = [("cdu-*", factor)] if capacity_kw else ["cdu-*"]
    state = begin(SMALL, activity)
    found = follow(SMALL, broken(SMALL, *units), activity, state, until_s=seconds)
    part = np.s_[:16]
    asked = 200 + 1200 * activity[part]
    die, plate, supply = integrate(
        asked,
        2,
        1000 * capacity_kw,
        40.0,
        (state.die_c[part], state.plate_c[part], 40.0),
        seconds,
    )
    assert found.state.die_c[part] == pytest.approx(die, abs=0.02)
    assert found.state.plate_c[part] == pytest.approx(plate, abs=0.02)
    assert found.state.supply_c[0] == pytest.approx(supply, abs=0.02)


def test_resistances_add_up_to_those_of_the_steady_state() -> None:
    assert pytest.approx(0.0267, rel=1e-12) == R_DIE + R_OUT


def test_a_fabric_that_does_not_say_how_it_is_cooled() -> None:
    kinds = {name: kind for name, kind in SMALL.kinds.items() if name not in ("cdu", "loop")}
    fabric = dataclasses.replace(SMALL, kinds=kinds)
    health = healthy(fabric)
    health.node_factor[fabric.nodes("gpu").start] = 0.5
    state = start(fabric, health)
    assert state.absent
    found = advance(fabric, health, None, switched_on(state), 10.0)
    assert found.settled
    assert found.clocks[0, found.class_of].tolist() == [0.5] + [1.0] * 39
    assert found.state.time_s == 10
    assert thermal_of(fabric, health, None, found.state).absent


def test_nothing_happens_in_no_time() -> None:
    state = begin(CDU)
    found = advance(CDU, broken(CDU, "cdu-[0-1]"), None, state, 0.0)
    assert found.state.time_s == 0
    assert found.times_s.tolist() == [0.0]
    assert found.energy.electric == 0
    assert not found.settled


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("die_c", math.nan),
        ("die_c", -300.0),
        ("plate_c", math.inf),
        ("supply_c", math.nan),
        ("mode", 7),
        ("mode", IDLES - 1),
    ],
)
def test_states_that_cannot_be_are_refused(field: str, value: float) -> None:
    state = begin(SMALL)
    array = getattr(state, field).copy()
    array[0] = value
    bad = dataclasses.replace(state, **{field: array})
    with pytest.raises(InputError):
        advance(SMALL, healthy(SMALL), None, bad, 1.0)


def test_arguments_that_cannot_be_are_refused() -> None:
    state, health = begin(SMALL), healthy(SMALL)
    for until in (math.nan, math.inf, -1.0):
        with pytest.raises(InputError, match="until_s"):
            advance(SMALL, health, None, state, until)
    for activity in (np.full(40, np.nan), np.full(40, -0.1), np.full(40, 1.1), np.ones(39)):
        with pytest.raises(InputError, match="activity"):
            advance(SMALL, health, activity, state, 1.0)
        with pytest.raises(InputError, match="activity"):
            start(SMALL, health, activity)
    with pytest.raises(InputError, match="die_c"):
        advance(SMALL, health, None, begin(AZURE), 1.0)
    other = dataclasses.replace(state, rack_off=np.zeros(3, dtype=bool))
    with pytest.raises(InputError, match="rack_off"):
        advance(SMALL, health, None, other, 1.0)
    with pytest.raises(InputError, match="time_s"):
        advance(SMALL, health, None, dataclasses.replace(state, time_s=math.nan), 1.0)
    with pytest.raises(ValueError, match="read-only"):
        state.die_c[0] = 1
