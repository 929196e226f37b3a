"""Roots to the last bit, one or many at a time, and rows of a table that are alike."""

from __future__ import annotations

import numpy as np
import pytest

from gbviz.cooling.crossing import _bisect
from gbviz.cooling.motion import Motion
from gbviz.cooling.world import _alike

RATES = np.array([0.0, 0.003, 0.04, 0.6])


@pytest.mark.parametrize("rates", [RATES, RATES[1:]])
def test_one_root_is_that_among_many(rates: np.ndarray) -> None:
    rng = np.random.default_rng(3)
    modes = rng.uniform(0.1, 2.0, (20, len(rates)))
    way = Motion(rates, modes, modes, modes[0])
    now = -rng.uniform(0.1, 5.0, 20)
    low, high = np.zeros(20), np.full(20, 60.0)
    together = _bisect(way, modes, now, low, high)
    for e in range(20):
        alone = _bisect(way, modes[[e]], now[[e]], low[[e]], high[[e]])
        # Sums over modes may be taken in another order.
        assert alone[0] == pytest.approx(together[e], rel=1e-14)


def test_one_turn_is_that_among_many() -> None:
    modes = np.array([[1.0, -0.1], [1.0, -0.2], [1.0, -0.3]])
    way = Motion(np.array([0.5, 0.01]), modes, modes, modes[0])
    low, high = np.zeros(3), np.full(3, 50.0)
    together = _bisect(way, -modes, None, low, high)
    for e in range(3):
        turn = _bisect(way, -modes[[e]], None, low[[e]], high[[e]])[0]
        assert turn == pytest.approx(together[e], rel=1e-14)
        # e^(-0.5 t) = part e^(-0.01 t)
        assert turn == pytest.approx(np.log(-1 / modes[e, 1]) / 0.49)


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_are_alike(seed: int) -> None:
    table = np.random.default_rng(seed).integers(-2, 3, (200, 3)).astype(np.float64)
    table[::7] *= -1.0  # some zeros are -0.0
    rows, which, counts = _alike(np.asfortranarray(table))
    wanted, inverse, times = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    assert np.array_equal(rows, wanted)
    assert np.array_equal(which, inverse.reshape(-1))
    assert np.array_equal(counts, times)
