"""Jobs that meet on links, by hand: halves, leftovers, order, and what does not come to rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.jobs import sharing
from gbviz.jobs.phases import Phase
from gbviz.jobs.sharing import Shared, share

if TYPE_CHECKING:
    from collections.abc import Sequence

C = 100.0  # bytes/s of every link of these tests


@dataclass(frozen=True)
class Steps:
    """A job that computes, then communicates; nothing overlaps."""

    phases: tuple[Phase, ...]
    compute_s: float = 0.0
    repeats: tuple[float, ...] = (1.0,)

    def step_s(self, seconds: Sequence[float]) -> float:
        spent = sum(s * n for s, n in zip(seconds, self.repeats, strict=True))
        return self.compute_s + spent


def on_links(loads: dict[int, float], nvlink_s: float = 0.0, eta: float = 1.0) -> Phase:
    link = np.array(list(loads), dtype=np.int64)
    load = np.array(list(loads.values()))
    return Phase("x", nvlink_s, link, load, np.full(len(link), C), eta, cut=False)


def job(compute_s: float = 0.0) -> Steps:
    return Steps((on_links({0: 100.0}),), compute_s)


def together(
    *jobs: Steps, traffic: dict[int, float] | None = None, streams: dict[int, int] | None = None
) -> Shared:
    links = 8
    load, number = np.zeros(links), np.zeros(links, dtype=np.int64)
    for link, rate in (traffic or {}).items():
        load[link], number[link] = rate, (streams or {}).get(link, 1)
    return share(jobs, np.full(links, C), load, number)


def test_alone_is_alone() -> None:
    found = together(job(2.0))
    assert found.step_s.tolist() == [3.0]
    assert found.phase_s == ((1.0,),)
    assert found.limit == ((0,),)
    assert found.load[0] == pytest.approx(100 / 3)
    assert (found.converged, found.rounds) == (True, 1)


def test_nobody() -> None:
    found = together()
    assert (len(found.step_s), found.converged, found.rounds) == (0, True, 0)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_jobs_that_saturate_a_link_get_equal_parts(k: int) -> None:
    found = together(*[job() for _ in range(k)])
    assert found.step_s == pytest.approx(np.full(k, k))
    assert found.load[0] == pytest.approx(C)
    assert found.converged


def test_what_a_light_user_leaves() -> None:
    """A job with 10 of 100 bytes/s on the link, bound by another link of its own.

    The other job sees 90, and would see more than its half of 50.
    """
    light = Steps((on_links({0: 10.0, 1: 100.0}),))
    found = together(light, job())
    assert found.step_s == pytest.approx([1.0, 100 / 90], rel=1e-5)
    assert found.limit == ((1,), (0,))


def test_a_fixed_point_of_two_by_hand() -> None:
    """Each computes 2 s: x = 2 + 100 / (100 - 100 / x), the root of x^2 - 4 x + 2."""
    found = together(job(2.0), job(2.0))
    x = found.step_s[0]
    assert x == pytest.approx(2 + np.sqrt(2), rel=1e-5)
    assert found.step_s[1] == pytest.approx(x)
    assert found.load[0] == pytest.approx(2 * 100 / x, rel=1e-5)


def test_phases_of_one_job_do_not_contend() -> None:
    one = Steps((on_links({0: 100.0}), on_links({0: 100.0})), repeats=(1.0, 3.0))
    found = together(one)
    assert found.step_s.tolist() == [4.0]
    assert found.phase_s == ((1.0, 1.0),)


def test_repeats_count_in_the_mean_load() -> None:
    """Ten times 1 byte in 1 s beside compute is 10 bytes/s for the other."""
    often = Steps((on_links({0: 1.0}),), compute_s=0.9, repeats=(10.0,))
    found = together(often, job())
    x, y = found.step_s
    left = max(100 - 10 / x, 50)
    assert y == pytest.approx(100 / left, rel=1e-5)
    assert x == pytest.approx(0.9 + 10 * 1 / max(100 - 100 / y, 50), rel=1e-5)


def test_traffic_takes_its_rate_but_no_more_than_its_part() -> None:
    assert together(job(), traffic={0: 30.0}).step_s[0] == pytest.approx(100 / 70)
    assert together(job(), traffic={0: 100.0}).step_s[0] == pytest.approx(2.0)
    many = together(job(), traffic={0: 100.0}, streams={0: 3})
    assert many.step_s[0] == pytest.approx(4.0)
    elsewhere = together(job(), traffic={3: 100.0})
    assert elsewhere.step_s[0] == 1.0
    assert elsewhere.load[3] == 100.0


def test_nvlink_and_efficiency_bound_what_sharing_costs() -> None:
    """2 s on NVLink hide a fabric that sharing slows from 1 s to 2 s; eta scales both."""
    hidden = Steps((on_links({0: 100.0}, nvlink_s=2.0, eta=0.8),))
    assert together(hidden).step_s[0] == pytest.approx(2.5)
    assert together(hidden, hidden).step_s == pytest.approx([2.5, 2.5])


def test_efficiency_scales_what_others_leave() -> None:
    """A phase reaches 95 % of C - B: of two, x = 95 / (0.95 (100 - 95 / x)), so x = 1.95."""
    phase = on_links({0: 95.0})
    slow = Steps((Phase("x", 0.0, phase.link, phase.load, np.array([95.0]), 1.0, cut=False),))
    assert together(slow).step_s.tolist() == [1.0]
    assert together(slow, slow).step_s == pytest.approx([1.95, 1.95], rel=1e-5)
    assert together(slow, slow, slow).step_s == pytest.approx([2.9, 2.9, 2.9], rel=1e-5)


jobs_drawn = st.lists(
    st.tuples(
        st.floats(0.0, 5.0),
        st.dictionaries(st.integers(0, 7), st.floats(1.0, 300.0), min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=5,
)


@given(jobs_drawn)
def test_order_does_not_matter_and_nobody_is_faster_than_alone(
    drawn: list[tuple[float, dict[int, float]]],
) -> None:
    jobs = [Steps((on_links(loads),), compute) for compute, loads in drawn]
    order = np.random.default_rng(len(drawn)).permutation(len(jobs))
    found, turned = together(*jobs), together(*[jobs[n] for n in order])
    assert turned.step_s == pytest.approx(found.step_s[order], rel=1e-9)
    for number, one in enumerate(jobs):
        alone = together(one).step_s[0]
        k = len(jobs)
        worst = one.compute_s + k * (alone - one.compute_s)
        assert alone * (1 - 1e-9) <= found.step_s[number] <= worst * (1 + 1e-9)


@given(jobs_drawn)
def test_where_it_rests_solves_the_equations(drawn: list[tuple[float, dict[int, float]]]) -> None:
    jobs = [Steps((on_links(loads),), compute) for compute, loads in drawn]
    found = together(*jobs)
    if not found.converged:
        return
    mean = [
        {link: load / step for link, load in loads.items()}
        for (_, loads), step in zip(drawn, found.step_s.tolist(), strict=True)
    ]
    for number, (compute, loads) in enumerate(drawn):
        times = []
        for link, load in loads.items():
            others = [own[link] for n, own in enumerate(mean) if n != number and link in own]
            left = max(C - sum(others), C / (1 + len(others))) if others else C
            times.append(load / left)
        assert found.step_s[number] == pytest.approx(compute + max(times), rel=1e-4)


def test_not_coming_to_rest_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "MOST_ROUNDS", 2)
    found = together(job(2.0), job(2.0))
    assert (found.converged, found.rounds) == (False, 2)
    assert np.isfinite(found.step_s).all()


def test_a_job_that_never_ends_leaves_its_links() -> None:
    endless = Steps((on_links({0: 100.0}),), compute_s=np.inf)
    found = together(endless, job())
    assert found.step_s[0] == np.inf
    assert found.step_s[1] == pytest.approx(1.0)
    assert found.converged
