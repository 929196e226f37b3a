"""Traffic patterns: who sends, who receives, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.flows import patterns

if TYPE_CHECKING:
    from collections.abc import Callable

GPUS = st.lists(st.integers(0, 10**6), min_size=2, max_size=40, unique=True)
SEEDS = st.integers(0, 2**32 - 1)


def pairs(found: patterns.Pairs) -> list[tuple[int, int]]:
    return list(zip(found[0].tolist(), found[1].tolist(), strict=True))


@settings(max_examples=50, deadline=None)
@given(GPUS, SEEDS)
def test_permutation_is_one_cycle_through_all(gpus: list[int], seed: int) -> None:
    found = patterns.permutation(np.array(gpus), np.random.default_rng(seed))
    following = dict(pairs(found))
    assert sorted(following) == sorted(following.values()) == sorted(gpus)
    at, seen = gpus[0], []
    for _ in gpus:
        at = following[at]
        seen.append(at)
    assert sorted(seen) == sorted(gpus)


@settings(max_examples=50, deadline=None)
@given(GPUS, SEEDS, st.integers(1, 60))
def test_random_pairs_join_two_different_gpus(gpus: list[int], seed: int, count: int) -> None:
    found = pairs(patterns.random_pairs(np.array(gpus), count, np.random.default_rng(seed)))
    assert len(found) == count
    assert all(s != t and s in gpus and t in gpus for s, t in found)


def test_random_pairs_are_even() -> None:
    """Each of the 6 ordered pairs of 3 GPUs about 1,000 times of 6,000, deviation 29."""
    found = pairs(patterns.random_pairs(np.arange(3), 6_000, np.random.default_rng(0)))
    counts = [found.count((s, t)) for s in range(3) for t in range(3) if s != t]
    assert all(abs(count - 1_000) < 150 for count in counts)


@settings(max_examples=50, deadline=None)
@given(GPUS, st.integers(-100, 100))
def test_shift(gpus: list[int], by: int) -> None:
    n = len(gpus)
    if by % n == 0:
        with pytest.raises(InputError, match="to itself"):
            patterns.shift(np.array(gpus), by)
        return
    expected = [(gpu, gpus[(i + by) % n]) for i, gpu in enumerate(gpus)]
    assert pairs(patterns.shift(np.array(gpus), by)) == expected


def test_incast_is_all_others_to_one() -> None:
    assert pairs(patterns.incast(np.array([3, 5, 7]), 5)) == [(3, 5), (7, 5)]
    # The target need not take part itself.
    assert pairs(patterns.incast(np.array([3]), 5)) == [(3, 5)]


def test_all_to_all_is_every_ordered_pair() -> None:
    found = pairs(patterns.all_to_all(np.array([4, 9, 2])))
    assert sorted(found) == [(2, 4), (2, 9), (4, 2), (4, 9), (9, 2), (9, 4)]


@settings(max_examples=50, deadline=None)
@given(GPUS, SEEDS)
def test_bisection_is_pairs_both_ways(gpus: list[int], seed: int) -> None:
    found = pairs(patterns.bisection(np.array(gpus), np.random.default_rng(seed)))
    assert {(t, s) for s, t in found} == set(found)
    ends = [s for s, _ in found]
    # With an odd number one sits out.
    assert len(ends) == len(set(ends)) == len(gpus) // 2 * 2
    assert set(ends) <= set(gpus)


def test_the_same_seed_gives_the_same_flows() -> None:
    gpus = np.arange(100)
    for make in (patterns.permutation, patterns.bisection):
        one, two, other = (pairs(make(gpus, np.random.default_rng(seed))) for seed in (1, 1, 2))
        assert one == two != other


@pytest.mark.parametrize(
    "make",
    [
        lambda one: patterns.permutation(one, np.random.default_rng(0)),
        lambda one: patterns.random_pairs(one, 5, np.random.default_rng(0)),
        lambda one: patterns.shift(one, 1),
        lambda one: patterns.incast(one, 7),
        patterns.all_to_all,
        lambda one: patterns.bisection(one, np.random.default_rng(0)),
    ],
)
def test_one_gpu_has_nobody_to_send_to(make: Callable[[np.ndarray], patterns.Pairs]) -> None:
    with pytest.raises(InputError, match="needs at least"):
        make(np.array([7]))


@pytest.mark.parametrize("count", [0, -1, patterns.MOST_FLOWS + 1])
def test_too_many_or_no_flows(count: int) -> None:
    with pytest.raises(InputError, match="1 to 3,000,000 flows"):
        patterns.random_pairs(np.arange(4), count, np.random.default_rng(0))


def test_all_to_all_of_too_many_says_what_to_do() -> None:
    with pytest.raises(InputError, match="name fewer racks"):
        patterns.all_to_all(np.arange(2_000))
