"""The exact motion of one loop against the matrix exponential, and what it meets first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from gbviz.cooling.crossing import Case, Limits, first, moved, ready
from gbviz.cooling.motion import Loop, Masses, motion
from gbviz.cooling.state import ASKS, HOLDS

MASSES = Masses(150.0, 450.0, 1 / 0.008, 1 / 0.0187)
LIMITS = Limits(87.0, 89.0, 92.0, 200.0)


def loop_of(seed: int, K: int, *, flows: bool, free: bool) -> Loop:
    rng = np.random.default_rng(seed)
    holds = rng.random(K) < 0.4
    return Loop(
        count=rng.integers(1, 40, K).astype(float),
        power_w=rng.choice([0.0, 200.0, 560.0, 1400.0], K),
        holds=holds,
        die_c=np.where(holds, 87.0, rng.uniform(40, 87, K)),
        plate_c=rng.uniform(40, 80, K),
        supply_c=rng.uniform(40, 70),
        flows=flows,
        free_w=rng.uniform(-2e5, 1e5) if free else None,
        liquid_j_per_k=2.7e5,
        liquid_share=0.9,
        masses=MASSES,
    )


def by_exponential(loop: Loop, time_s: float) -> tuple[np.ndarray, float]:
    """(2, K) dies and plates and the supply, from one dense matrix of them all and a constant."""
    K = len(loop.count)
    across, out = MASSES.across_w_per_k, loop.out_w_per_k
    A = np.zeros((2 * K + 2, 2 * K + 2))
    for k in range(K):
        if not loop.holds[k]:
            A[k, k], A[k, K + k] = -across / MASSES.die, across / MASSES.die
            A[k, -1] = loop.power_w[k] / MASSES.die
        A[K + k, k] = across / MASSES.plate
        A[K + k, K + k] = -(across + out) / MASSES.plate
        A[K + k, 2 * K] = out / MASSES.plate
        if loop.free_w is not None and loop.flows:
            A[2 * K, K + k] = 0.9 * out * loop.count[k] / loop.liquid_j_per_k
    if loop.free_w is not None and loop.flows:
        A[2 * K, 2 * K] = -0.9 * out * loop.count.sum() / loop.liquid_j_per_k
        A[2 * K, -1] = loop.free_w / loop.liquid_j_per_k
    start = np.concatenate([loop.die_c, loop.plate_c, [loop.supply_c, 1.0]])
    end = expm(A * time_s) @ start
    return end[: 2 * K].reshape(2, K), float(end[2 * K])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(1, 6), st.booleans(), st.booleans(), st.floats(1e-3, 500)
)
def test_agrees_with_the_matrix_exponential(
    seed: int, K: int, flows: bool, free: bool, time_s: float
) -> None:
    loop = loop_of(seed, K, flows=flows, free=free)
    way = motion(loop)
    shape = way.shape(np.array([time_s]))[:, 0]
    wanted, supply = by_exponential(loop, time_s)
    assert loop.die_c + way.die @ shape == pytest.approx(wanted[0], abs=1e-8, rel=1e-10)
    assert loop.plate_c + way.plate @ shape == pytest.approx(wanted[1], abs=1e-8, rel=1e-10)
    assert loop.supply_c + way.supply @ shape == pytest.approx(supply, abs=1e-8, rel=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-6, 1000))
def test_area_is_the_integral_of_shape(seed: int, time_s: float) -> None:
    way = motion(loop_of(seed, 3, flows=True, free=True))
    nodes, weights = np.polynomial.legendre.leggauss(60)
    times = time_s / 2 * (nodes + 1)
    by_points = way.shape(times) @ weights * time_s / 2
    slow = way.rates * time_s < 40
    assert way.area(time_s)[slow] == pytest.approx(by_points[slow], rel=1e-10)


def case_of(loop: Loop) -> Case:
    mode = np.where(loop.holds, HOLDS, ASKS).astype(np.int8)
    return ready(Case(loop, mode, loop.power_w, 1e4, 1e9, 40.0, False))


def test_a_die_that_only_grazes_the_limit_between_two_looks_is_seen() -> None:
    """Power lifts the die by some mK within 0.1 s before a very cold plate pulls it down."""
    one = np.ones(1)
    loop = Loop(
        one, 1400 * one, one < 0, 86.996 * one, 76.4 * one, -120.0, True, None, 2.7e5, 0.9, MASSES
    )
    case = case_of(loop)
    way = motion(case.loop)
    dense = loop.die_c[0] + way.die[0] @ way.shape(np.linspace(0, 0.1, 2001))
    assert dense[-1] < 87 < dense.max()
    (event,) = [e for e in first(case, way, LIMITS, 10.0) if e.what == "throttles"]
    assert 0 < event.time_s < 0.1
    assert moved(case, way, event.time_s).loop.die_c[0] == pytest.approx(87, abs=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_nothing_comes_before_what_comes_first(seed: int) -> None:
    case = case_of(loop_of(seed, 4, flows=True, free=False))
    way = motion(case.loop)
    events = first(case, way, LIMITS, 200.0)
    until = events[0].time_s if events else 200.0
    shape = way.shape(np.linspace(0, until, 4000))
    dies = case.loop.die_c[:, None] + way.die @ shape
    plates = case.loop.plate_c[:, None] + way.plate @ shape
    asks = case.mode == ASKS
    assert (dies[asks & (case.most_w > 0)] <= 87 + 1e-9).all()
    needed = (87 - plates[~asks]) / 0.008
    if until > 0:
        assert (needed <= case.most_w[~asks, None] + 1e-5).all()
        assert (needed >= np.minimum(200, case.most_w[~asks, None]) - 1e-5).all()
