from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gbviz.jobs.step import (
    StepInputs,
    bubble_fraction,
    bubble_ratio,
    dp_window_s,
    elementwise_s,
    exposed_s,
    flops_s,
    optimiser_s,
    step_time,
    tokens_per_gpu_s,
)
from tests.oracle_cases import agrees, exact

if TYPE_CHECKING:
    from collections.abc import Mapping

STARTS = ("sc21_iter", "deepseek", "bubble", "overlap")
TIMES = ("hbm_s", "tp_s", "cp_s", "ep_s", "pp_s", "dp_s", "window_s", "optimiser_s", "fixed_s")

seconds = st.floats(0.0, 10.0)
inputs = st.builds(
    StepInputs,
    flops=st.floats(1e12, 1e16),
    peak_flops=st.floats(1e14, 1e16),
    efficiency=st.floats(0.1, 1.0),
    microbatches=st.integers(1, 200),
    tokens=st.floats(1e3, 1e8),
    clock=st.floats(0.1, 1.0),
    pp=st.integers(1, 32),
    vpp=st.integers(1, 8),
    overlap=st.floats(0.0, 1.0),
    **dict.fromkeys(TIMES, seconds),
)


def ours(case: dict[str, Any]) -> float | Mapping[str, float]:
    name, said = case["id"], case["inputs"]
    if name.startswith("sc21_iter"):
        return flops_s(said["flops_per_iteration"], said["n_gpus"], said["tflops_per_gpu"] * 1e12)
    if name.startswith("deepseek"):
        return tokens_per_gpu_s(said["tokens"], said["gpu_hours"])
    if name.startswith("bubble"):
        p, v, m = said["p"], said["v"], said["M"]
        return {
            "ratio_to_ideal": bubble_ratio(p, v, m),
            "fraction_of_total": bubble_fraction(p, v, m),
        }
    comm, window = said["T_comm_healthy_s"], said["overlap_window_s"]
    steps = [
        said["T_other_s"] + exposed_s(comm, window, ratio)
        for ratio in (said["bandwidth_ratio"], 1.0)
    ]
    return {"T_step": steps[0], "slowdown": steps[0] / steps[1]}


@pytest.mark.parametrize(
    "case", exact("training_flops_bytes", *STARTS), ids=lambda case: case["id"]
)
def test_oracle(case: dict[str, Any]) -> None:
    assert agrees(case, ours(case))


def test_a_step_by_hand() -> None:
    """10 microbatches of 1 s compute at half clock, .2 memory, .4 + .2 half hidden, .1, .05."""
    took = step_time(
        StepInputs(
            flops=4e14,
            peak_flops=1e15,
            efficiency=0.8,
            microbatches=10,
            tokens=1e6,
            model_flops=3e14,
            clock=0.5,
            pp=5,
            vpp=2,
            hbm_s=0.2,
            tp_s=0.4,
            cp_s=0.2,
            ep_s=0.1,
            pp_s=0.05,
            overlap=0.5,
            dp_s=3.0,
            window_s=1.0,
            optimiser_s=0.25,
            fixed_s=0.75,
        )
    )
    assert took.microbatch_s == pytest.approx(1.6)
    assert took.bubble_s == pytest.approx(3.2)
    assert took.compute_s == pytest.approx(12)
    assert took.exposed_s == pytest.approx({"tp": 2, "cp": 1, "ep": 1, "pp": 0.5, "dp": 2})
    assert took.step_s == pytest.approx(16 + 3.2 + 0.5 + 2 + 1)
    assert took.tokens_per_s == pytest.approx(1e6 / 22.7)
    assert took.mfu == pytest.approx(3e15 / (22.7 * 1e15))


@given(inputs)
def test_the_parts_add_up(given_inputs: StepInputs) -> None:
    took = step_time(given_inputs)
    parts = took.compute_s + took.bubble_s + sum(took.exposed_s.values())
    rest = given_inputs.optimiser_s + given_inputs.fixed_s
    assert took.step_s == pytest.approx(parts + rest)
    assert took.tokens_per_s * took.step_s == pytest.approx(given_inputs.tokens)
    assert 0 < took.mfu <= given_inputs.efficiency * given_inputs.clock * (1 + 1e-9)
    ratio = bubble_ratio(given_inputs.pp, given_inputs.vpp, given_inputs.microbatches)
    assert took.bubble_s == pytest.approx(ratio * given_inputs.microbatches * took.microbatch_s)


def changed(one: StepInputs, name: str, value: float) -> StepInputs:
    return StepInputs(**{**dataclasses.asdict(one), name: value})


@given(inputs, st.sampled_from(["tp_s", "cp_s", "ep_s", "pp_s", "dp_s"]), st.floats(1.0, 10.0))
def test_slower_links_never_help(one: StepInputs, name: str, factor: float) -> None:
    slow = changed(one, name, factor * getattr(one, name))
    assert step_time(slow).step_s >= step_time(one).step_s
    dead = changed(one, name, math.inf)
    took = step_time(dead)
    assert took.step_s == took.exposed_s[name.removesuffix("_s")] == math.inf
    assert took.tokens_per_s == took.mfu == 0
    assert not any(math.isnan(value) for value in took.exposed_s.values())


@given(inputs, st.floats(0.05, 1.0))
def test_the_clock_slows_compute_only(one: StepInputs, factor: float) -> None:
    slow = dataclasses.replace(one, clock=factor * one.clock)
    before, after = step_time(one), step_time(slow)
    # Where compute is too short to hide its share of communication, more of it hides more.
    assume(one.overlap * (one.tp_s + one.cp_s) <= before.compute_s / one.microbatches)
    bound = one.flops / (one.peak_flops * one.efficiency * one.clock)
    more = bound * (1 / factor - 1)
    rounds = one.microbatches + (one.pp - 1) / one.vpp
    assert after.step_s - before.step_s == pytest.approx(more * rounds, abs=1e-6 * after.step_s)
    assert after.exposed_s == before.exposed_s


@given(inputs)
def test_no_step_is_shorter_than_what_it_says(one: StepInputs) -> None:
    """However much is hidden: else its links would carry more than they can."""
    least = one.microbatches * (one.tp_s + one.cp_s + one.ep_s)
    assert step_time(one).step_s >= least * (1 - 1e-12)


def test_a_stopped_clock_never_ends() -> None:
    took = step_time(StepInputs(1e15, 1e15, 0.5, 8, 1e6, clock=0.0, tp_s=1.0))
    assert took.step_s == took.compute_s == math.inf
    assert took.bubble_s == took.tokens_per_s == took.mfu == 0
    assert took.exposed_s["tp"] == 8


@given(seconds, seconds, st.floats(0.01, 1.0))
def test_exposed(comm: float, window: float, ratio: float) -> None:
    whole, less = exposed_s(comm, window), exposed_s(comm, window, ratio)
    assert 0 <= whole <= less
    assert less == pytest.approx(max(0.0, comm / ratio - window))
    assert exposed_s(0.0, window, 0.0) == 0


def finished(stages: int, count: int, forward: float, backward: float) -> float:
    """End of a one-forward-one-backward pipeline by plain simulation."""
    orders = []
    for stage in range(stages):
        warm = min(stages - stage, count)
        order = [("f", m) for m in range(warm)]
        for m in range(count):
            order.append(("b", m))
            if warm + m < count:
                order.append(("f", warm + m))
        orders.append(order)
    ends: dict[tuple[str, int, int], float] = {}
    free = [0.0] * stages
    place = [0] * stages
    while any(place[s] < len(orders[s]) for s in range(stages)):
        for s in range(stages):
            if place[s] == len(orders[s]):
                continue
            kind, m = orders[s][place[s]]
            first = s == (0 if kind == "f" else stages - 1)
            before = (kind, s - 1 if kind == "f" else s + 1, m)
            ready = 0.0 if kind == "f" else ends.get(("f", s, m))
            if ready is None or (not first and before not in ends):
                continue
            start = max(free[s], ready, 0.0 if first else ends[before])
            free[s] = ends[kind, s, m] = start + (forward if kind == "f" else backward)
            place[s] += 1
    return max(free)


@pytest.mark.parametrize("stages", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [1, 2, 8, 20])
def test_the_bubble_is_that_of_a_simulated_pipeline(stages: int, count: int) -> None:
    took = step_time(StepInputs(3e12, 1e12, 1.0, count, 1.0, pp=stages))
    assert took.step_s == pytest.approx(finished(stages, count, 1.0, 2.0))


@given(st.integers(1, 64), st.integers(1, 8), st.integers(1, 200))
def test_bubbles(pp: int, vpp: int, count: int) -> None:
    ratio = bubble_ratio(pp, vpp, count)
    assert bubble_fraction(pp, vpp, count) == pytest.approx(ratio / (1 + ratio))
    assert bubble_ratio(pp, vpp, 2 * count) == pytest.approx(ratio / 2)
    assert (ratio == 0) == (pp == 1)


def test_window() -> None:
    assert dp_window_s(0.3, 1) == dp_window_s(0.3, 100, 8, 1) == 0.3
    assert dp_window_s(0.1, 4, 8, 4) == pytest.approx(0.3)
    assert dp_window_s(0.1, 1, 8, 8) == 0.1


def test_memory_bound_operations() -> None:
    whole = elementwise_s(4096, 16384, 10, 8, 8000.0)
    assert whole == pytest.approx(184 * 0.75 / 8 * 10 * 4096 * 16384 * 2 / 8e12)
    assert elementwise_s(4096, 16384, 10, 8, 8000.0, recompute="full") == pytest.approx(
        whole * 4 / 3
    )
    kept = elementwise_s(4096, 16384, 10, 8, 8000.0, sequence_parallel=False)
    assert kept == pytest.approx(whole * (0.3 * 8 + 0.7))
    assert optimiser_s(8e9, 8000.0) == pytest.approx(0.016)
    assert optimiser_s(1.0, 0.0) == flops_s(1.0, 0, 1e12) == math.inf
