"""The check of max-min rates accepts the right answer and finds every planted fault."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.flows.conservation import link_load
from gbviz.flows.maxmin import MaxMin
from tests.flows.systems import System, hashed, systems

# Two flows on link 0 (10), the second on link 1 (4) as well, a third on link 2 (9) that wants 2.
LINE = System(
    np.array([10.0, 4.0, 9.0]),
    np.array([[0, 0, 2], [3, 1, 3]]),
    demand=np.array([np.inf, np.inf, 2.0]),
)
GOOD = MaxMin(np.array([6.0, 4.0, 2.0]), np.array([0, 1, -1]), 2)


def test_the_right_answer_passes() -> None:
    assert LINE.problems(GOOD) == []
    assert LINE.solve().rates.tolist() == GOOD.rates.tolist()
    assert LINE.solve().bottleneck.tolist() == GOOD.bottleneck.tolist()


@pytest.mark.parametrize(
    ("rates", "bottleneck", "problems"),
    [
        ([7.0, 4.0, 2.0], [0, 1, -1], ["overload 0: load 11.0 is above the capacity 10.0"]),
        ([6.0, 4.0, 3.0], [0, 1, -1], ["demand 2: rate 3.0 is above its demand 2.0"]),
        ([6.0, 4.0, 1.0], [0, 1, -1], ["bottleneck 2: rate 1.0 is below its demand 2.0 and no"]),
        ([6.0, 4.0, 1.0], [0, 1, 2], ["bottleneck 2: link 2 carries 1.0 of 9.0: not full"]),
        ([6.0, 3.0, 2.0], [0, 1, -1], ["bottleneck 0: link 0", "bottleneck 1: link 1 carries 3.0"]),
        ([6.0, 4.0, 2.0], [0, 0, -1], ["bottleneck 1: its level 4.0 is below 6.0 of another"]),
        ([6.0, 4.0, 2.0], [1, 1, -1], ["bottleneck 0: it does not cross link 1"]),
        ([6.0, 4.0, 2.0], [-1, 1, -1], ["bottleneck 0: rate 6.0 is below its demand inf"]),
        ([6.0, 4.0, 2.0], [0, 7, -1], ["bottleneck 1: there is no link 7"]),
        ([6.0, 4.0, 2.0], [0, 1, -2], ["bottleneck 2: there is no link -2"]),
        ([np.nan, 4.0, 2.0], [0, 1, -1], ["rate 0: rate nan is not a rate"]),
        ([-1.0, 4.0, 2.0], [0, 1, -1], ["rate 0: rate -1.0 is not a rate"]),
        ([np.inf, 4.0, 2.0], [-1, 1, -1], ["rate 0: an infinite rate on a link of finite"]),
    ],
)
def test_planted_faults_are_found(
    rates: list[float], bottleneck: list[int], problems: list[str]
) -> None:
    found = LINE.problems(MaxMin(np.array(rates), np.array(bottleneck), 0))
    assert len(found) == len(problems), found
    for text, wanted in zip(found, problems, strict=True):
        assert text.startswith(wanted)


@given(systems(), st.data())
@settings(deadline=None)
def test_any_other_rates_are_found_out(s: System, data: st.DataObject) -> None:
    """The check accepts the unique max-min rates alone: move one rate and it protests."""
    found = s.solve()
    f = data.draw(st.integers(0, found.rates.size - 1))
    rates = found.rates.copy()
    rates[f] = rates[f] * data.draw(st.sampled_from([0.5, 0.999, 1.001, 2.0])) or 1e-3
    assert s.problems(MaxMin(rates, found.bottleneck, 0)) != []


def test_priorities_and_multiplicity_count_in_the_check() -> None:
    """3 flows at level 2 with priority 1 and one with priority 3: 3 x 2 + 6 = 12."""
    s = System(
        np.array([12.0]),
        np.array([[0, 0]]),
        priority=np.array([1.0, 3.0]),
        multiplicity=np.array([3.0, 1.0]),
    )
    assert s.problems(s.solve()) == []
    assert s.solve().rates.tolist() == [2.0, 6.0]
    assert s.problems(MaxMin(np.array([3.0, 3.0]), np.array([0, 0]), 1)) == [
        "bottleneck 1: its level 1.0 is below 3.0 of another flow on link 0"
    ]


def test_link_load_sums_weights_rates_and_members() -> None:
    columns = np.array([[0, 0, 3], [0, 2, 3]])
    weights = np.array([[0.5, 1.0, 9.0], [0.25, 2.0, 9.0]])
    rates, members = np.array([4.0, 10.0, np.inf]), np.array([2.0, 1.0, 5.0])
    assert link_load(3, columns, weights, rates, members).tolist() == [16.0, 0.0, 20.0]
    assert link_load(3, columns, None, rates).tolist() == [18.0, 0.0, 10.0]
    nothing = link_load(2, np.empty((0, 1), int), None, np.ones(1))
    assert nothing.tolist() == [0.0, 0.0]
    assert nothing.dtype == np.float64


def test_random_hashed_traffic_passes_the_check() -> None:
    for n_each, seed in ((1, 0), (4, 1)):
        s = hashed(16, 36, n_each, seed)
        found = s.solve()
        assert s.problems(found) == []
        assert found.rates.min() > 0
        assert found.rates.max() <= 100
