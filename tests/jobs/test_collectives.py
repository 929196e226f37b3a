from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.jobs.collectives import (
    Algorithm,
    Cost,
    Op,
    algbw,
    bus_factor,
    busbw,
    cost,
    flat_ring_rate,
    nic_bound_busbw,
    nic_loss_factor,
    nvls_limits,
    transfer_s,
    two_tier,
)
from tests.oracle_cases import agrees, exact

if TYPE_CHECKING:
    from collections.abc import Mapping

OPS: dict[str, Op] = {"alltoall": "all_to_all", "sendrecv": "send_recv"}
NAMED: dict[str, Algorithm] = {
    "ring": "ring",
    "dbt": "tree",
    "recursive": "recursive_doubling",
    "rabenseifner": "rabenseifner",
}
TIERED: tuple[Op, ...] = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")
ALGORITHMS: tuple[tuple[Op, Algorithm], ...] = (
    ("all_reduce", "ring"),
    ("all_reduce", "tree"),
    ("all_reduce", "recursive_doubling"),
    ("all_reduce", "rabenseifner"),
    ("all_reduce", "nvls"),
    ("reduce_scatter", "ring"),
    ("all_gather", "ring"),
    ("all_to_all", "direct"),
    ("broadcast", "tree"),
    ("broadcast", "ring"),
    ("reduce", "tree"),
    ("reduce", "ring"),
    ("send_recv", "direct"),
)

ranks = st.integers(1, 2000)
sizes = st.floats(1.0, 1e12)
rates = st.floats(0.1, 2000.0)


def ours(case: dict[str, Any]) -> float | Mapping[str, float]:
    """What the public functions say about a case of the oracle file."""
    name, said = case["id"], case["inputs"]
    if name.startswith("busfactor"):
        return bus_factor(OPS.get(said["op"], said["op"]), said["n"])
    if name.startswith("nicloss"):
        if said["policy"].startswith("balanced"):
            return nic_loss_factor(said["nics"], said["failed"])
        return nic_loss_factor(said["nics"], said["failed"], "buddy")
    if name.startswith("hier"):
        return hierarchical(said)
    if name.startswith("nvls"):
        algbw_limit, busbw_limit = nvls_limits(said["n"], 1.0)
        per_direction = cost("all_reduce", said["n"], said["S_bytes"], "nvls").sent_bytes
        return {
            "per_direction_over_S": per_direction,
            "algbw_limit_over_wire": algbw_limit,
            "busbw_limit_over_wire": busbw_limit,
        }
    if name == "alltoall_hier_ib_bytes":
        both = two_tier("all_to_all", said["g"], said["k"], said["S_bytes_per_rank"], 1.0, 1.0)
        return both.ib_bytes
    if name == "alltoall_72":
        direct = cost("all_to_all", said["n"], said["S_bytes_per_rank"])
        return direct.time_s(0.0, said["B_Bps"] / 1e9)
    algorithm = NAMED[name.partition("_")[0]]
    chosen = cost(said.get("op", "all_reduce"), said["n"], said["S_bytes"], algorithm)
    return chosen.time_s(said["alpha_s"], said["B_Bps"] / 1e9)


def hierarchical(said: dict[str, Any]) -> dict[str, float]:
    nvlink, nic = said["B_nvl"] / 1e9, said["B_nic_per_gpu"] / 1e9
    both = two_tier("all_reduce", said["g"], said["k"], said["S_bytes"], nvlink, nic)
    return {
        "nvlink_bytes_per_gpu": both.nvlink_bytes,
        "ib_bytes_per_gpu": both.ib_bytes,
        "t_nvlink": both.nvlink_s,
        "t_ib": both.ib_s,
        "t_overlap": both.overlap_s,
        "t_serial": both.serial_s,
        "ib_busbw_equiv_nicrate": nic_bound_busbw(said["g"], said["k"], nic) * 1e9,
    }


@pytest.mark.parametrize("case", exact("collectives_formulas"), ids=lambda case: case["id"])
def test_oracle(case: dict[str, Any]) -> None:
    assert agrees(case, ours(case))


def test_all_forty_exact_cases_are_there() -> None:
    assert len(exact("collectives_formulas")) == 40


@pytest.mark.parametrize(("op", "algorithm"), ALGORITHMS)
def test_one_rank_costs_nothing(op: Op, algorithm: Algorithm) -> None:
    assert cost(op, 1, 1e9, algorithm) == Cost(0, 0.0)
    assert cost(op, 1, 1e9, algorithm).time_s(1.0, 0.0) == 0


@given(st.sampled_from(ALGORITHMS), ranks, sizes, rates)
def test_twice_the_bandwidth_halves_what_is_not_latency(
    chosen: tuple[Op, Algorithm], n: int, size: float, rate: float
) -> None:
    priced = cost(chosen[0], n, size, chosen[1])
    assert priced.time_s(0.0, rate) == pytest.approx(2 * priced.time_s(0.0, 2 * rate))
    assert priced.time_s(1e-6, 2 * rate) <= priced.time_s(1e-6, rate)
    assert priced.time_s(1e-6, rate) == pytest.approx(
        priced.time_s(0.0, rate) + priced.steps * 1e-6
    )


@given(st.sampled_from(ALGORITHMS), st.integers(2, 2000), sizes)
def test_bytes_grow_with_the_buffer_and_no_faster(
    chosen: tuple[Op, Algorithm], n: int, size: float
) -> None:
    one, two = (cost(chosen[0], n, factor * size, chosen[1]) for factor in (1, 2))
    assert two.sent_bytes == pytest.approx(2 * one.sent_bytes)
    assert two.steps == one.steps > 0


@given(st.integers(2, 2000), sizes)
def test_rings_send_what_the_bus_factor_says(n: int, size: float) -> None:
    ops: tuple[Op, ...] = ("all_reduce", "reduce_scatter", "all_gather")
    for op in ops:
        assert cost(op, n, size).sent_bytes == pytest.approx(bus_factor(op, n) * size)
    halves = [cost(op, n, size).sent_bytes for op in ops]
    assert halves[0] == pytest.approx(halves[1] + halves[2])


@given(st.integers(2, 2000), sizes)
def test_no_all_reduce_sends_less_than_the_ring_but_the_switch(n: int, size: float) -> None:
    ring = cost("all_reduce", n, size).sent_bytes
    for algorithm in ("tree", "recursive_doubling", "rabenseifner"):
        sent = cost("all_reduce", n, size, algorithm).sent_bytes
        assert sent >= ring * (1 - 1e-12)
    switched = cost("all_reduce", n, size, "nvls").sent_bytes
    assert switched < ring or n <= 3


@pytest.mark.parametrize(
    ("n", "doubling", "rabenseifner", "tree"),
    [(2, 1, 2, 2), (3, 3, 4, 4), (4, 2, 4, 4), (7, 4, 6, 6), (8, 3, 6, 6), (9, 5, 8, 8)],
)
def test_steps_by_hand(n: int, doubling: int, rabenseifner: int, tree: int) -> None:
    """Ranks beyond a power of two are folded in and out: two steps more."""
    assert cost("all_reduce", n, 1.0, "recursive_doubling").steps == doubling
    assert cost("all_reduce", n, 1.0, "rabenseifner").steps == rabenseifner
    assert cost("all_reduce", n, 1.0, "tree").steps == tree


@given(st.integers(1, 9), st.integers(1, 6))
def test_all_to_all_by_counting_pairs(g: int, k: int) -> None:
    near = far = 0
    for source, target in itertools.product(range(g * k), repeat=2):
        if source != target:
            near, far = (near + 1, far) if source // g == target // g else (near, far + 1)
    both = two_tier("all_to_all", g, k, g * k, 1.0, 1.0)
    assert both.nvlink_bytes * g * k == pytest.approx(near)
    assert both.ib_bytes * g * k == pytest.approx(far)


@given(st.sampled_from(TIERED), st.integers(1, 100), st.integers(1, 100), sizes, rates, rates)
def test_two_tiers(op: Op, g: int, k: int, size: float, nvlink: float, nic: float) -> None:
    both = two_tier(op, g, k, size, nvlink, nic, alpha_nvlink_s=1e-6, alpha_ib_s=1e-5)
    assert max(both.nvlink_s, both.ib_s) <= both.overlap_s <= both.serial_s * (1 + 1e-12)
    assert (both.ib_s == 0) == (k == 1)
    assert (both.nvlink_s == 0) == (g == 1)
    slower = two_tier(op, g, k, size, nvlink, nic / 2, alpha_nvlink_s=1e-6, alpha_ib_s=1e-5)
    assert slower.overlap_s >= both.overlap_s
    assert slower.ib_s - both.ib_s == pytest.approx(both.ib_s - both.ib_latency_s)
    less = two_tier(op, g, k, size, nvlink, nic, eta_x=0.5)
    whole = two_tier(op, g, k, size, nvlink, nic)
    factor = 2 if g > 1 and k > 1 else 1
    assert less.overlap_s == pytest.approx(factor * whole.overlap_s)


@given(st.integers(1, 100), st.integers(1, 100), sizes)
def test_an_all_reduce_is_a_scatter_and_a_gather(g: int, k: int, size: float) -> None:
    both, scatter, gather = (two_tier(op, g, k, size, 700.0, 50.0) for op in TIERED[:3])
    assert both.nvlink_bytes == pytest.approx(scatter.nvlink_bytes + gather.nvlink_bytes)
    assert both.ib_bytes == pytest.approx(scatter.ib_bytes + gather.ib_bytes)
    # g members share what one ring through all domains would carry.
    assert both.ib_bytes * g == pytest.approx(cost("all_reduce", k, size).sent_bytes)


def test_a_dead_rate_never_ends_but_sending_nothing_does() -> None:
    assert two_tier("all_reduce", 8, 2, 1e9, 680.0, 0.0).overlap_s == math.inf
    assert two_tier("all_reduce", 8, 1, 1e9, 680.0, 0.0).overlap_s < math.inf
    assert transfer_s(1.0, 0.0) == math.inf


@pytest.mark.parametrize("op", ["broadcast", "reduce", "send_recv"])
def test_no_formula_for_other_collectives_over_domains(op: Op) -> None:
    with pytest.raises(InputError, match=f"{op} over several NVLink domains"):
        two_tier(op, 8, 2, 1e9, 680.0, 95.0)


def test_unknown_algorithms_name_the_known() -> None:
    with pytest.raises(InputError, match="choose one of: ring, tree, recursive_doubling"):
        cost("all_reduce", 8, 1.0, "direct")


@given(st.integers(2, 2000), sizes, st.floats(1e-6, 1e3))
def test_bandwidths(n: int, size: float, seconds: float) -> None:
    assert algbw(size, seconds) * seconds * 1e9 == pytest.approx(size)
    assert busbw("all_reduce", n, size, seconds) == pytest.approx(
        algbw(size, seconds) * 2 * (n - 1) / n
    )


def test_bandwidths_of_nothing() -> None:
    assert algbw(1e9, 0.0) == busbw("all_reduce", 1, 1e9, 0.0) == math.inf
    assert nvls_limits(1, 900.0) == (math.inf, math.inf)
    assert nic_bound_busbw(72, 1, 95.0) == math.inf


@given(st.integers(2, 72), st.integers(2, 64), rates)
def test_bus_bandwidth_that_nics_allow(g: int, k: int, nic: float) -> None:
    both = two_tier("all_reduce", g, k, 1e9, math.inf, nic)
    assert busbw("all_reduce", g * k, 1e9, both.overlap_s) == pytest.approx(
        nic_bound_busbw(g, k, nic)
    )


def test_flat_rings_share_the_nics_of_a_domain() -> None:
    assert flat_ring_rate(72, 20, 680.0, 95.0) == 680.0
    assert flat_ring_rate(4, 18, 680.0, 95.0) == 380.0


@given(st.integers(1, 72), st.integers(0, 72))
def test_lost_nics(nics: int, failed: int) -> None:
    failed = min(failed, nics)
    balanced, buddy = (nic_loss_factor(nics, failed, policy) for policy in ("balanced", "buddy"))
    assert 1 <= balanced <= buddy
    assert (balanced == 1) == (failed == 0)
    assert (balanced == math.inf) == (failed == nics)
    if failed:
        assert nic_loss_factor(nics, failed - 1) < balanced
