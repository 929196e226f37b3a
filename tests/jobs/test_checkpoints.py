"""Checkpoint intervals, against `oracles/reliability_checkpoint.json`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw

from gbviz.errors import InputError
from gbviz.jobs.checkpoints import Checkpoints, Ettr
from tests.oracle_cases import agrees, exact

if TYPE_CHECKING:
    from collections.abc import Callable

FILE = "reliability_checkpoint"
# delta, M, R, Young, Daly, exact, efficiency: further rows of the same formulas.
ROWS = [
    (10, 11137, 300, 471.9534, 465.3103, 465.3104, 0.932752),
    (300, 28440, 600, 4130.8595, 3933.2803, 3933.3276, 0.843708),
    (120, 6480, 600, 1247.0766, 1168.3596, 1168.3929, 0.747203),
    (60, 39591.4081, 600, 2179.6718, 2139.8553, 2139.8566, 0.931724),
    (10, 23076.9231, 300, 679.3662, 672.7159, 672.7160, 0.958310),
]


@pytest.mark.parametrize("case", exact(FILE, "ckpt_"), ids=lambda case: case["id"])
def test_checkpoint_oracle(case: dict[str, Any]) -> None:
    inputs = case["inputs"]
    job = Checkpoints(inputs["delta_s"], inputs["M_s"], inputs["R_s"])
    got = {
        "tau_young": job.young_s(),
        "tau_daly": job.daly_s(),
        "tau_exact": job.best_s(),
        "eff_at_exact": job.efficiency(job.best_s()),
        "eff_at_young": job.efficiency(job.young_s()),
        "first_order_eff": job.first_order_efficiency(job.young_s()),
    }
    assert agrees(case, got)


@pytest.mark.parametrize("row", ROWS)
def test_further_rows(row: tuple[float, ...]) -> None:
    job = Checkpoints(*row[:3])
    assert [job.young_s(), job.daly_s(), job.best_s()] == pytest.approx(row[3:6], abs=1e-4)
    assert job.efficiency(job.best_s()) == pytest.approx(row[6], abs=1e-6)


@pytest.mark.parametrize("case", exact(FILE, "ettr_"), ids=lambda case: case["id"])
def test_ettr_oracle(case: dict[str, Any]) -> None:
    inputs = case["inputs"]
    job = Ettr(inputs["nodes"], inputs["r_per_node_day"], inputs["u0_days"], inputs["w_days"])
    best = job.best_days()
    assert agrees(case, {"dt_opt_min": best * 1440, "ettr": job.expected(best)})


@given(st.floats(1e-12, 300))
def test_the_best_interval_is_lamberts(ratio: float) -> None:
    expected = 1 + lambertw(-math.exp(-ratio - 1)).real
    tolerance = 1e-9 if ratio > 1e-5 else 1e-3
    assert Checkpoints(ratio, 1.0).best_s() == pytest.approx(expected, rel=tolerance)
    if ratio < 1e-5:
        # Lambert's function at its branch point loses half the digits, its series does not.
        u = math.sqrt(2 * ratio)
        assert Checkpoints(ratio, 1.0).best_s() == pytest.approx(u - u * u / 3, rel=1e-4)


@given(st.floats(1, 1e4), st.floats(100, 1e6), st.floats(0, 1e3))
def test_no_other_interval_is_better(write: float, mtbf: float, restart: float) -> None:
    job = Checkpoints(write, mtbf, restart)
    best = job.efficiency(job.best_s())
    assert 0 <= best < 1
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert job.efficiency(job.best_s() * factor) <= best * (1 + 1e-12)


def test_efficiency_of_a_job_that_is_simulated() -> None:
    """Segments that fail at random, 20,000 of them."""
    job, rng = Checkpoints(300, 7200, 900), np.random.default_rng(7)
    interval, spent, useful = job.young_s(), 0.0, 0
    need, restarting = interval + job.write_s, False
    while useful < 20_000:
        wanted = need + (job.restart_s if restarting else 0)
        fails = rng.exponential(job.mtbf_s)
        # A restart is part of the segment that it makes possible, and may fail as well.
        spent += min(fails, wanted)
        restarting = fails < wanted
        useful += not restarting
    assert useful * interval / spent == pytest.approx(job.efficiency(interval), rel=0.01)


def test_writing_that_takes_longer_than_failures_come() -> None:
    job = Checkpoints(3000, 1000)
    assert job.daly_s() == 1000
    assert job.efficiency(job.best_s()) < 0.05
    assert job.first_order_efficiency(10) < 0
    assert Ettr(1e6, 1, 1, 1).expected(1) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: Checkpoints(0, 1),
        lambda: Checkpoints(1, math.nan),
        lambda: Checkpoints(1, 1, -1),
        lambda: Checkpoints(1, 1, math.inf),
        lambda: Checkpoints(1, 1).efficiency(0),
        lambda: Checkpoints(1, 1).first_order_efficiency(math.nan),
        lambda: Ettr(0, 1, 1, 1),
        lambda: Ettr(1, 1, -1, 1),
        lambda: Ettr(1, 1, 1, 1).expected(-1),
    ],
)
def test_numbers_that_cannot_be_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        call()
