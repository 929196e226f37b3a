"""Closed forms of heat, against `oracles/thermal.json` and against what they must obey."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from gbviz.cooling import heat
from gbviz.cooling.cdu import BankState, CduBank, effectiveness, settle
from gbviz.cooling.nodes import FlowLost, warm_up
from gbviz.errors import InputError
from tests.oracle_cases import agrees, cases, exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.topology.fabric import Floats


def resistance(inputs: dict[str, Any]) -> float:
    coolant = heat.heat_flow_w_per_k(
        inputs["flow_lpm_per_gpu"],
        density_kg_per_m3=inputs["rho"],
        heat_capacity_j_per_kg_k=inputs["cp"],
    )
    return heat.r_eff_k_per_w(inputs["R_die_coldplate"], inputs["R_coldplate_coolant"], coolant)


def balance(inputs: dict[str, Any]) -> float:
    return heat.rise_k(
        inputs["Q_W"],
        inputs["lpm"],
        density_kg_per_m3=inputs["rho"],
        heat_capacity_j_per_kg_k=inputs["cp"],
    )


def die(inputs: dict[str, Any]) -> float:
    return heat.die_c(inputs["T_supply"], inputs["P_gpu_W"], resistance(inputs))


def onset(inputs: dict[str, Any]) -> float:
    return heat.throttle_onset_c(inputs["P_gpu_W"], resistance(inputs), inputs["T_throttle"])


def throttle(inputs: dict[str, Any]) -> dict[str, float]:
    watts = heat.cap_w(inputs["T_supply"], resistance(inputs), inputs["T_throttle"])
    full, static = inputs["P_gpu_W"], inputs["P_static"]
    return {
        "P_cap_W": watts,
        "rel_clock_gamma2": heat.clock(watts, full, static, 2),
        "rel_clock_gamma3": heat.clock(watts, full, static, 3),
    }


def lost(inputs: dict[str, Any]) -> FlowLost:
    watts, r = inputs["P_gpu_W"], inputs["R_die_coldplate"]
    start = die(inputs)
    return FlowLost(watts, start, start - watts * r, r, inputs["C_die"], inputs["C_coldplate"])


def loss_of_flow(inputs: dict[str, Any]) -> dict[str, float]:
    start = lost(inputs)
    slow, off = inputs["T_slowdown"], inputs["T_shutdown"]
    factor = inputs.get("power_factor_above_T_slowdown")
    if factor is not None:
        shutdown = start.time_to_with_slowdown_s(off, slow, factor)
        return {"t_slowdown_s": start.time_to_s(slow), "t_shutdown_s": shutdown}
    return {
        "T0": start.die_c,
        "T_5s": start.at(5.0)[0],
        "t_throttle_s": start.time_to_s(inputs["T_throttle"]),
        "t_slowdown_s": start.time_to_s(slow),
        "t_shutdown_s": start.time_to_s(off),
        "ramp_K_per_s": start.ramp_k_per_s,
    }


def ramp(inputs: dict[str, Any]) -> float:
    return heat.ramp_k_per_s(
        inputs["Q_W"],
        inputs["V_litre"],
        density_kg_per_m3=inputs["rho"],
        heat_capacity_j_per_kg_k=inputs["cp"],
    )


def lumped(inputs: dict[str, Any]) -> float:
    return heat.time_constant_s(inputs["C"], inputs["R"])


def bank(inputs: dict[str, Any]) -> BankState:
    units = CduBank(
        inputs["n_cdu"],
        inputs["UA_W_per_K"],
        inputs["m_primary"],
        inputs["m_sec_cap"],
        inputs["m_sec_total"],
        inputs["cp_primary"],
        inputs["cp_sec"],
    )
    return settle(units, inputs["Q_W"], inputs["T_fws"], inputs["T_set"])


def cdu(inputs: dict[str, Any]) -> dict[str, float]:
    state = bank(inputs)
    return {
        "eps": state.effectiveness,
        "T_supply": state.supply_c,
        "T_return": state.return_c,
        "T_supply_valve_open": state.supply_open_c,
        "flow_fraction": state.flow_fraction,
    }


FAMILIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "tray_dT": balance,
    "rack_dT": balance,
    "die_T_": die,
    "throttle_onset_supply": onset,
    "throttle_5": throttle,
    "throttle_6": throttle,
    "loss_of_flow_": loss_of_flow,
    "loop_ramp_": ramp,
    "tau_lumped": lumped,
    "cdu_": cdu,
}


@pytest.mark.parametrize("case", exact("thermal", *FAMILIES), ids=lambda case: case["id"])
def test_oracle(case: dict[str, Any]) -> None:
    found = next(law for start, law in FAMILIES.items() if case["id"].startswith(start))
    assert agrees(case, found(case["inputs"]))


@pytest.mark.parametrize("case", exact("thermal", "warmup_"), ids=lambda case: case["id"])
def test_warm_up_oracle(case: dict[str, Any]) -> None:
    inputs = case["inputs"]
    found = warm_up_of(inputs, np.array([5.0, 20.0, 60.0]))
    for row, name in zip(found, ("t5", "t20", "t60"), strict=True):
        assert row == pytest.approx(case["expected"][name], rel=case["tolerance"])


def warm_up_of(inputs: dict[str, Any], times: Floats) -> Floats:
    coolant = heat.heat_flow_w_per_k(
        inputs["flow_lpm_per_gpu"],
        density_kg_per_m3=inputs["rho"],
        heat_capacity_j_per_kg_k=inputs["cp"],
    )
    return warm_up(
        times,
        inputs["P_gpu_W"],
        inputs["T_supply"],
        (inputs["initial"],) * 3,
        (inputs["R_die_coldplate"], inputs["R_coldplate_coolant"]),
        coolant,
        (inputs["C_die"], inputs["C_coldplate"], inputs["C_coolant"]),
    )


def test_every_exact_case_is_tested() -> None:
    assert len(exact("thermal", *FAMILIES, "warmup_")) == len(exact("thermal"))
    assert [case["id"] for case in cases("thermal") if case["kind"] != "exact"] == [
        "rack_power_budget"
    ]


def test_warm_up_starts_where_it_is_and_ends_at_rest() -> None:
    inputs = exact("thermal", "warmup_")[0]["inputs"]
    found = warm_up_of(inputs, np.array([0.0, 1e5]))
    assert found[0] == pytest.approx([40.0] * 3, abs=1e-12)
    assert found[1, 0] == pytest.approx(die(inputs), rel=1e-12)


@given(
    st.floats(0, 2000),
    st.floats(20, 90),
    st.floats(-20, 20),
    st.floats(0.002, 0.02),
    st.floats(50, 2000),
)
def test_lost_flow_agrees_with_an_integrator(
    watts: float, die_c: float, apart: float, r: float, c_plate: float
) -> None:
    start = FlowLost(watts, die_c, die_c - apart, r, 150, c_plate)

    def slopes(_t: float, state: Floats) -> list[float]:
        across = (state[0] - state[1]) / r
        return [(watts - across) / 150, across / c_plate]

    found = solve_ivp(slopes, (0, 30), [die_c, die_c - apart], rtol=1e-9, atol=1e-9, method="LSODA")
    assert start.at(30.0) == pytest.approx(tuple(found.y[:, -1]), abs=1e-5)
    for wanted in (die_c - 1, die_c + 0.5, die_c + 30):
        seconds = start.time_to_s(wanted)
        if seconds in (0.0, math.inf):
            assert (wanted <= die_c) == (seconds == 0)
        else:
            assert start.at(seconds)[0] == pytest.approx(wanted, rel=1e-12)


def test_a_gpu_without_power_takes_its_plates_heat() -> None:
    cooling = FlowLost(0, 80, 60, 0.008, 150, 450)
    assert cooling.time_to_s(81) == math.inf
    assert FlowLost(0, 60, 80, 0.008, 150, 450).time_to_s(75) == math.inf
    assert FlowLost(0, 60, 80, 0.008, 150, 450).time_to_s(74.9) < 10
    # Cut to half power the die first falls, and comes back.
    cut = FlowLost(400, 80, 70, 0.008, 150, 450)
    assert cut.at(1.0)[0] < 80
    assert cut.at(cut.time_to_s(80.5))[0] == pytest.approx(80.5, rel=1e-13)


def test_a_slowdown_that_never_comes() -> None:
    start = FlowLost(0, 80, 60, 0.008, 150, 450)
    assert start.time_to_with_slowdown_s(92, 89, 0.5) == math.inf
    hot = FlowLost(1400, 77, 66, 0.008, 150, 450)
    assert hot.time_to_with_slowdown_s(88, 89, 0.5) == hot.time_to_s(88)


def test_more_units_never_mean_a_warmer_supply() -> None:
    """Facility water of 38 °C: two units give 41.19 °C, one 44.38 °C at 0.417 of the flow."""
    inputs = exact("thermal", "cdu_n4")[0]["inputs"]
    two = bank(inputs | {"n_cdu": 2, "T_fws": 38})
    one = bank(inputs | {"n_cdu": 1, "T_fws": 38})
    assert two.supply_c == pytest.approx(41.19, abs=5e-3)
    assert (one.supply_c, one.flow_fraction) == pytest.approx((44.38, 0.4167), abs=5e-3)
    assert bank(inputs | {"n_cdu": 2}).supply_c == 40
    assert (two.valve, one.valve) == (1, 1)
    supplies = [bank(inputs | {"n_cdu": n}).supply_open_c for n in range(1, 9)]
    assert supplies == sorted(supplies, reverse=True)


def test_the_valve_holds_the_set_point() -> None:
    inputs = exact("thermal", "cdu_n4")[0]["inputs"]
    state = bank(inputs)
    part = bank(inputs | {"m_primary": inputs["m_primary"] * state.valve, "T_set": -50})
    assert part.supply_c == pytest.approx(40, abs=1e-9)


@pytest.mark.parametrize("unlike", [0.0, 1e-15, 1e-9, 1e-6, 0.5, 1.0])
def test_effectiveness_is_smooth_where_flows_are_alike(unlike: float) -> None:
    cold = 100.0 / (1 - unlike) if unlike < 1 else 1e30
    found = effectiveness(300.0, 100.0, cold)
    ntu, ratio = 3.0, 1 - unlike
    if unlike >= 1e-6:
        gone = math.exp(-ntu * (1 - ratio))
        assert found == pytest.approx((1 - gone) / (1 - ratio * gone), rel=1e-9)
    else:
        assert found == pytest.approx(0.75, rel=1e-8)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: heat.rise_k(x, 8),
        lambda x: heat.rise_k(100, x),
        lambda x: heat.ramp_k_per_s(x, 30),
        lambda x: heat.ramp_k_per_s(100, x),
        lambda x: heat.ramp_k_per_s(100, 30, density_kg_per_m3=x),
        lambda x: heat.die_c(40, x, 0.0267),
        lambda x: heat.cap_w(40, x),
        lambda x: heat.clock(x, 1400, 200, 2),
        lambda x: heat.clock(800, 1400, 200, x),
        lambda x: heat.clock(800, x, 200, 2),
        lambda x: heat.time_constant_s(x, 1),
        lambda x: FlowLost(x, 77, 66, 0.008, 150, 450),
        lambda x: FlowLost(1400, 77, 66, 0.008, x, 450),
        lambda x: FlowLost(1400, 77, 66, 0.008, 150, 450).at(x),
        lambda x: CduBank(2, x, 40, 25, 60, 4180, 3930),
        lambda x: settle(CduBank(2, 1e5, 40, 25, 60, 4180, 3930), x, 30, 40),
        lambda x: effectiveness(300, x, 100),
        lambda x: warm_up(
            np.array([x]), 1400, 40, (40, 40, 40), (0.008, 0.014), 100, (150, 450, 590)
        ),
        lambda x: warm_up(
            np.array([1.0]), x, 40, (40, 40, 40), (0.008, 0.014), 100, (150, 450, 590)
        ),
    ],
)
def test_numbers_that_cannot_be_are_refused(call: Callable[[float], object], bad: float) -> None:
    with pytest.raises(InputError, match="must be finite"):
        call(bad)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -300.0])
def test_temperatures_that_cannot_be_are_refused(bad: float) -> None:
    for call in (heat.die_c, heat.cap_w):
        with pytest.raises(InputError, match="supply_c"):
            call(bad, 0.02, 0.02) if call is heat.die_c else heat.cap_w(bad, 0.02)
    with pytest.raises(InputError, match="die_c"):
        FlowLost(1400, bad, 66, 0.008, 150, 450)
    with pytest.raises(InputError, match="limit_c"):
        heat.throttle_onset_c(1400, 0.02, bad)


def test_a_cap_below_nothing_is_no_power() -> None:
    assert heat.cap_w(90, 0.0267) == 0
    assert heat.clock(100, 1400, 200, 2) == 0
    assert heat.clock(2000, 1400, 200, 2) == 1
    assert heat.r_eff_k_per_w(0.008, 0.014, math.inf) == pytest.approx(0.022)
