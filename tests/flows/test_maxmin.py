"""Max-min rates against hand-made cases, exact fractions, linear programs and themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from gbviz.errors import InputError
from gbviz.flows import maxmin
from gbviz.flows.conservation import check
from gbviz.flows.maxmin import solve
from tests import slow_reference
from tests.flows.systems import System, assert_rates, hashed, system, systems

if TYPE_CHECKING:
    from gbviz.flows.conservation import FloatArray

CASES = json.loads((Path(__file__).parents[1] / "oracles" / "maxmin_cases.json").read_text())
# Its `why` asks for no more: the tie may be seen either way.
LOOSE = {"near_tie": 1e-9}


@pytest.fixture(params=["whole", "banded"])
def filling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to fill: all flows at once, and band by band down to the last flow."""
    if request.param == "banded":
        monkeypatch.setattr(maxmin, "_WHOLE", 0)
    return str(request.param)


@pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])
def test_oracle_cases(case: dict[str, Any], filling: str) -> None:
    s = system(case)
    found = s.solve()
    assert_rates(found.rates, [Fraction(r) for r in case["rates"]], LOOSE.get(case["name"], 1e-12))
    assert s.problems(found) == []


@pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])
def test_the_reference_gives_the_oracle_rates_exactly(case: dict[str, Any]) -> None:
    got = slow_reference.maxmin(
        {k: Fraction(c) for k, c in case["caps"].items()},
        [{k: Fraction(w) for k, w in f.items()} for f in case["flows"]],
        None if case["dem"] is None else [None if d is None else Fraction(d) for d in case["dem"]],
        None if case["phi"] is None else [Fraction(p) for p in case["phi"]],
    )
    assert got == [Fraction(r) for r in case["rates"]]


def test_the_reference_refuses_a_flow_without_limit() -> None:
    with pytest.raises(ValueError, match="nothing limits flows"):
        slow_reference.maxmin([Fraction(1)], [{0: Fraction(1)}, {}])


@given(systems())
@settings(deadline=None, max_examples=300)
def test_equals_the_reference(s: System) -> None:
    found = s.solve()
    assert_rates(found.rates, s.exact())
    assert s.problems(found) == []


@given(systems())
@settings(deadline=None, max_examples=150)
def test_filling_by_bands_equals_the_reference(s: System) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maxmin, "_WHOLE", 0)
        found = s.solve()
    assert_rates(found.rates, s.exact())
    assert s.problems(found) == []


def by_linear_programs(s: System) -> FloatArray:
    """Max-min levels as a sequence of linear programs, times priorities.

    Raise the lowest level as far as it goes; fix every flow that cannot get more while all
    others have at least that; repeat with the rest.
    """
    n_links, n = s.capacity.size, s.columns.shape[1]
    ones = np.ones(n)
    members = ones if s.multiplicity is None else s.multiplicity
    priority = ones if s.priority is None else s.priority
    usage = np.zeros((n_links + 1, n))
    weights = np.ones(s.columns.shape) if s.weights is None else s.weights
    for row, w in zip(s.columns, weights, strict=True):
        np.add.at(usage, (row, np.arange(n)), w * members)
    usage = usage[:n_links] * priority
    most = np.full(n, np.inf) if s.demand is None else s.demand / priority
    level, fixed = np.zeros(n), np.zeros(n, dtype=bool)

    def best(goal: FloatArray, floor: float | None) -> float:
        # Unknowns: the levels, and one more that all unfixed levels reach where floor is None.
        lower = np.where(fixed, level, floor or 0.0)
        upper = np.where(fixed, level, np.maximum(most, lower))
        rows = np.hstack([usage, np.zeros((n_links, 1))])
        reach = np.hstack([-np.eye(n), np.ones((n, 1))])[~fixed]
        answer = linprog(
            -goal,
            np.vstack([rows, reach]) if floor is None else rows,
            np.append(s.capacity, np.zeros(len(reach))) if floor is None else s.capacity,
            bounds=[*zip(lower, upper, strict=True), (0, None)],
            method="highs",
        )
        assert answer.status == 0, answer.message
        return float(-answer.fun)

    while not fixed.all():
        unit = np.eye(n + 1)
        lowest = best(unit[n], None)
        floor = max(0.0, lowest - 1e-10)
        stuck = [f for f in np.flatnonzero(~fixed) if best(unit[f], floor) <= lowest + 1e-7]
        assert stuck
        level[stuck], fixed[stuck] = lowest, True
    return level * priority


@given(systems(most=5))
@settings(deadline=None, max_examples=40)
def test_equals_lexicographic_linear_programs(s: System) -> None:
    np.testing.assert_allclose(s.solve().rates, by_linear_programs(s), rtol=1e-6, atol=1e-6)


@given(systems(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_does_not_matter(s: System, random: Any) -> None:
    links = random.sample(range(s.capacity.size), s.capacity.size)
    flows = random.sample(range(s.columns.shape[1]), s.columns.shape[1])
    rows = random.sample(range(s.columns.shape[0]), s.columns.shape[0])
    capacity = np.empty_like(s.capacity)
    capacity[links] = s.capacity
    columns = np.append(links, s.capacity.size)[s.columns][rows][:, flows]

    def turn(values: FloatArray | None) -> FloatArray | None:
        return None if values is None else values[flows]

    weights = None if s.weights is None else s.weights[rows][:, flows]
    turned = System(
        capacity, columns, weights, turn(s.demand), turn(s.priority), turn(s.multiplicity)
    )
    np.testing.assert_allclose(turned.solve().rates, s.solve().rates[flows], rtol=1e-12)


@given(systems(), st.data())
@settings(deadline=None)
def test_blocks_of_flows_are_one_system(s: System, data: st.DataObject) -> None:
    """Cut in three anywhere, blocks without weights among them, rounds and bands alike."""
    flows = s.columns.shape[1]
    cuts = sorted(data.draw(st.tuples(*[st.integers(0, flows)] * 2)))
    columns = np.split(s.columns, cuts, axis=1)
    weights: list[FloatArray | None] = [None] * 3
    whole = s
    if s.weights is not None:
        plain = data.draw(st.lists(st.booleans(), min_size=3, max_size=3))
        parts = np.split(s.weights, cuts, axis=1)
        parts = [np.ones_like(w) if no else w for w, no in zip(parts, plain, strict=True)]
        weights = [None if no else w for w, no in zip(parts, plain, strict=True)]
        whole = replace(s, weights=np.concatenate(parts, axis=1))
    more: dict[str, Any] = {
        "demand": s.demand,
        "priority": s.priority,
        "multiplicity": s.multiplicity,
    }
    for limit in (120_000, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(maxmin, "_WHOLE", limit)
            found = solve(s.capacity, columns, weights, **more)
        np.testing.assert_allclose(found.rates, whole.solve().rates, rtol=1e-12)
        assert check(s.capacity, columns, weights, found.rates, found.bottleneck, **more) == ()


@given(systems())
@settings(deadline=None)
def test_twice_the_capacity_and_demand_is_twice_the_rate(s: System) -> None:
    demand = None if s.demand is None else 2 * s.demand
    twice = replace(s, capacity=2 * s.capacity, demand=demand)
    assert twice.solve().rates.tolist() == (2 * s.solve().rates).tolist()


@given(systems(most=8))
@settings(deadline=None)
def test_a_flow_less_never_hurts_the_worst_off(s: System) -> None:
    """Sorted levels of the others are lexicographically no lower without the last flow."""
    n = s.columns.shape[1] - 1

    def cut(values: FloatArray | None) -> FloatArray | None:
        return None if values is None else values[..., :n]

    fewer = System(
        s.capacity,
        s.columns[:, :n],
        cut(s.weights),
        cut(s.demand),
        cut(s.priority),
        cut(s.multiplicity),
    )
    priority = 1.0 if fewer.priority is None else fewer.priority
    before = sorted((s.solve().rates[:n] / priority).tolist())
    after = sorted((fewer.solve().rates / priority).tolist())
    for old, new in zip(before, after, strict=True):
        if new != pytest.approx(old, rel=1e-9):
            assert new > old
            break


def test_bands_change_nothing_in_deep_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    s = hashed(8, 24, 10, seed=3)
    weighted = replace(s, weights=np.random.default_rng(1).uniform(0.1, 3.0, s.columns.shape))
    for deep in (s, weighted):
        whole = deep.solve()
        assert whole.rounds > 5
        monkeypatch.setattr(maxmin, "_WHOLE", 300)
        banded = deep.solve()
        monkeypatch.undo()
        assert banded.rounds > whole.rounds
        np.testing.assert_allclose(banded.rates, whole.rates, rtol=1e-12)
        assert deep.problems(whole) == deep.problems(banded) == []


def test_a_healthy_permutation_takes_no_round() -> None:
    """Every leaf's uplinks can carry all its NICs: 72 x 100 = 7,200."""
    n = 64 * 72
    target = np.random.default_rng(5).permutation(n)
    columns = np.stack(
        [np.arange(n), 2 * n + np.arange(n) // 72, 2 * n + 64 + target // 72, n + target]
    )
    capacity = np.append(np.full(2 * n, 100.0), np.full(128, 7200.0))
    s = System(capacity, columns)
    found = s.solve()
    assert found.rounds == 0
    assert (found.rates == 100).all()
    assert s.problems(found) == []
    # 71 of 72 cables left at one leaf: 7,100 / 72 each, down to its NICs as well.
    capacity[[2 * n, 2 * n + 64]] = 7100.0
    found = s.solve()
    assert found.rates[:72] == pytest.approx(7100 / 72, rel=1e-12)
    assert found.rates[target // 72 == 0] == pytest.approx(7100 / 72, rel=1e-12)
    assert (found.rates == 100).sum() == n - 72 - (target[72:] // 72 == 0).sum()
    assert s.problems(found) == []


def test_sums_that_overflow_are_refused(filling: str) -> None:
    columns = np.array([[0, 0, 1], [1, 2, 2]])
    with pytest.raises(InputError, match="too large or too small"):
        solve(np.full(2, 1e308), columns, multiplicity=np.full(3, 1e308))


@pytest.mark.parametrize("multiplicity", [None, "ones", "threes"])
def test_multiplicity_stands_for_identical_flows(multiplicity: str | None) -> None:
    """Oracle case `dup`: four flows share 12."""
    if multiplicity is None:
        found = solve(np.array([12.0]), np.zeros((1, 4), int))
    elif multiplicity == "ones":
        found = solve(np.array([12.0]), np.zeros((1, 4), int), multiplicity=np.ones(4))
    else:
        found = solve(np.array([12.0]), np.zeros((1, 2), int), multiplicity=np.array([3.0, 1.0]))
    assert found.rates == pytest.approx(3.0, rel=1e-15)


def test_a_link_named_twice_counts_twice() -> None:
    """Oracle case `twice`: 2 x + x = 10."""
    found = solve(np.array([10.0]), np.array([[0, 0], [0, 1]]))
    assert found.rates == pytest.approx(10 / 3, rel=1e-15)
    assert found.bottleneck.tolist() == [0, 0]


def test_without_a_limit_the_rate_is_the_demand_or_infinite() -> None:
    """Links: 0 has no limit, 1 has 5, 2 is unused; flow 4 crosses link 1 with weight 0."""
    columns = np.array([[2, 0, 0, 1, 1]])
    weights = np.array([[1.0, 1.0, 1.0, 1.0, 0.0]])
    demand = np.array([np.inf, np.inf, 7.0, np.inf, np.inf])
    for priority in (None, np.full(5, 2.0)):
        s = System(np.array([np.inf, 5.0]), columns, weights, demand, priority)
        found = s.solve()
        assert found.rates.tolist() == [np.inf, np.inf, 7.0, 5.0, np.inf]
        assert found.bottleneck.tolist() == [-1, -1, -1, 1, -1]
        assert s.problems(found) == []


def test_a_dead_link_kills_its_flows_even_of_weight_tiny() -> None:
    s = System(np.array([0.0, 1.0]), np.array([[0, 1]]), np.array([[1e-300, 1e-3]]))
    found = s.solve()
    assert found.rates.tolist() == [0.0, 1000.0]
    assert found.bottleneck.tolist() == [0, 1]
    assert found.bottleneck.dtype == np.int64


@pytest.mark.parametrize(
    ("n_links", "shape"), [(0, (0, 0)), (3, (0, 2)), (3, (2, 0)), (0, (1, 2)), (3, (0, 0))]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_empty_systems(n_links: int, shape: tuple[int, int], weighted: bool) -> None:
    weights = np.ones(shape) if weighted else None
    s = System(np.ones(n_links), np.full(shape, n_links), weights)
    found = s.solve()
    assert found.rates.tolist() == [np.inf] * shape[1]
    assert s.problems(found) == []
    demand = np.arange(shape[1], dtype=float)
    assert replace(s, demand=demand).solve().rates.tolist() == demand.tolist()


def test_a_long_chain_of_dependent_links_ends() -> None:
    """Flow i crosses links i and i + 1 of growing capacity: only one link fills a round."""
    n = 300
    s = System(np.arange(1.0, n + 2), np.stack([np.arange(n), np.arange(1, n + 1)]))
    found = s.solve()
    expected = [Fraction(1)]
    for i in range(1, n):
        expected.append(Fraction(i + 1) - expected[-1])
    assert_rates(found.rates, expected)
    assert found.rounds <= n + 1
    assert s.problems(found) == []


@given(systems(), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_near_ties_end_and_stay_near(s: System, seed: int) -> None:
    """Capacities off by 1e-10: rates move by little more, whichever way each tie is seen."""
    noise = 1 + 1e-10 * np.random.default_rng(seed).uniform(-1, 1, s.capacity.size)
    near = replace(s, capacity=s.capacity * noise)
    found = near.solve()
    assert near.problems(found) == []
    np.testing.assert_allclose(found.rates, s.solve().rates, rtol=1e-7)


def test_inputs_stay_as_they_were() -> None:
    s = system(next(c for c in CASES if c["name"] == "weighted_demand"))
    arrays = [a for a in (s.capacity, s.columns, s.weights, s.demand, s.priority) if a is not None]
    copies = [a.copy() for a in arrays]
    for a in arrays:
        a.setflags(write=False)
    found = s.solve()
    assert all((a == b).all() for a, b in zip(arrays, copies, strict=True))
    assert not any(np.shares_memory(found.rates, a) for a in arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capacity": [1.0, np.nan]}, "capacity: must be at least 0"),
        ({"capacity": [1.0, -1.0]}, "capacity: must be at least 0"),
        ({"capacity": [[1.0], [1.0]]}, "capacity: must have the shape"),
        ({"capacity": 1.0}, "capacity: must have the shape"),
        ({"columns": [0, 1, 2]}, "columns: must be whole numbers in two dimensions"),
        ({"columns": [[0.0, 1.0, 2.0]]}, "columns: must be whole numbers in two dimensions"),
        ({"columns": [[0, 1, 3]]}, "columns: must be links below 2, or 2 for unused"),
        ({"columns": [[0, 1, -1]]}, "columns: must be links below 2, or 2 for unused"),
        ({"weights": [1.0, 1.0, 1.0]}, "weights: must have the shape"),
        ({"weights": [[1.0, np.nan, 1.0]]}, "weights: must be at least 0"),
        ({"weights": [[1.0, -0.5, 1.0]]}, "weights: must be at least 0"),
        ({"weights": [[1.0, np.inf, 1.0]]}, "weights: must be finite"),
        ({"demand": [1.0]}, "demand: must have the shape"),
        ({"demand": [1.0, np.nan, 1.0]}, "demand: must be at least 0"),
        ({"demand": [1.0, -1.0, 1.0]}, "demand: must be at least 0"),
        ({"priority": [1.0, 1.0]}, "priority: must have the shape"),
        ({"priority": [1.0, 0.0, 1.0]}, "priority: must be above 0"),
        ({"priority": [1.0, np.inf, 1.0]}, "priority: must be finite"),
        ({"priority": [1.0, np.nan, 1.0]}, "priority: must be above 0"),
        ({"multiplicity": [[1.0, 1.0, 1.0]]}, "multiplicity: must have the shape"),
        ({"multiplicity": [1.0, 0.0, 1.0]}, "multiplicity: must be above 0"),
        ({"multiplicity": [1.0, np.inf, 1.0]}, "multiplicity: must be finite"),
        ({"multiplicity": [1.0, np.nan, 1.0]}, "multiplicity: must be above 0"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"capacity": [1.0, 1.0], "columns": [[0, 1, 2]]}
    with pytest.raises(InputError, match=message):
        solve(**{name: np.array(value) for name, value in (good | change).items()})


def test_narrow_indices_and_whole_capacities_are_fine() -> None:
    columns = np.array([[0, 0, 1]], dtype=np.uint16)
    assert solve(np.array([4, 3]), columns).rates.tolist() == [2.0, 2.0, 3.0]


def test_a_demand_is_met_exactly_and_named_as_the_limit() -> None:
    """Demands over odd priorities do not come back exactly; on a tie the demand is named."""
    demand = np.random.default_rng(2).uniform(0, 1, 500)
    priority = np.resize([3.0, 7.0, 11.0], 500)
    found = solve(np.array([1e4]), np.zeros((1, 500), int), None, demand, priority)
    assert (found.rates <= demand).all()
    assert found.rates == pytest.approx(demand, rel=1e-15)
    assert (found.bottleneck == -1).all()
    tie = system(next(c for c in CASES if c["name"] == "demand_tie")).solve()
    assert tie.bottleneck.tolist() == [-1, 0, 0]
