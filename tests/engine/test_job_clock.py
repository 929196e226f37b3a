"""One job's clock: checkpoints, losses and waits, by hand and against a clock that ticks."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.engine.job_clock import JobClock
from gbviz.jobs.spec import (
    Batch,
    Checkpoint,
    CollectiveJob,
    Parallelism,
    TrainingJob,
)

TIMEOUT = 7 * 4.096e-6 * 2**20


def training(interval: float = 100.0, write: float = 10.0, restart: float = 60.0) -> JobClock:
    job = TrainingJob(
        kind="training",
        name="train",
        model="llama3-405b",
        parallelism=Parallelism(),
        batch=Batch.model_validate({"global": 1}),
        checkpoint=Checkpoint(interval=interval, write=write, restart=restart),
    )
    return JobClock(job)


def collective() -> JobClock:
    return JobClock(CollectiveJob(kind="collective", name="ring", op="all_reduce", size=1e9))


def test_checkpoints_block_and_save() -> None:
    """250 s of cycles of 100 s of work and 10 s of writing: 2 whole ones and 30 s of a third."""
    clock = training()
    clock.advance(250.0, 0.5)
    assert clock.account.useful_s == 0.5 * 230
    assert clock.account.checkpoint_s == 20.0
    assert clock.unsaved_s == 0.5 * 30
    assert clock.until_checkpoint_s() == 80.0


def test_a_checkpoint_that_is_not_written_to_its_end_saves_nothing() -> None:
    clock = training()
    clock.advance(105.0, 1.0)
    assert (clock.account.useful_s, clock.unsaved_s) == (100.0, 100.0)
    clock.advance(5.0, 1.0)
    assert (clock.account.useful_s, clock.unsaved_s) == (100.0, 0.0)


@given(
    st.floats(1, 500),
    st.floats(0, 50),
    st.lists(st.tuples(st.floats(0, 700), st.floats(0, 2)), max_size=6),
)
def test_work_is_that_of_a_clock_that_ticks(
    interval: float, write: float, spans: list[tuple[float, float]]
) -> None:
    """Against a plain loop from one border of work and writing to the next."""
    clock = training(interval, write)
    useful = unsaved = writing = at = 0.0
    for seconds, rate in spans:
        clock.advance(seconds, rate)
        left = seconds
        while left > 0:
            border = interval if at < interval else interval + write
            step = min(left, border - at)
            if at < interval:
                useful += step * rate
                unsaved += step * rate
            else:
                writing += step
            at += step
            left -= step
            if at >= interval + write - 1e-9 * (interval + write):
                at = unsaved = 0.0
    assert clock.account.useful_s == pytest.approx(useful, rel=1e-9, abs=1e-6)
    assert clock.account.checkpoint_s == pytest.approx(writing, rel=1e-9, abs=1e-6)


def test_a_lost_path_waits_for_the_timeout_then_costs_the_unsaved_work() -> None:
    clock = training()
    clock.advance(50.0, 1.0)
    clock.strike(50.0, "path")
    assert (clock.phase, clock.until_s) == ("stalled", 50 + TIMEOUT)
    clock.advance(TIMEOUT, 0.0)
    assert clock.due(able=True) == "aborts: its connection timed out, restarts"
    assert (clock.phase, clock.until_s) == ("restarting", 50 + TIMEOUT + 60)
    clock.advance(60.0, 0.0)
    assert clock.due(able=True) == "runs again"
    own = clock.account
    assert (own.useful_s, own.lost_work_s, own.stalled_s, own.restarting_s) == (0, 50, TIMEOUT, 60)
    assert (own.aborts, clock.until_checkpoint_s()) == (1, 110)


def test_what_comes_back_in_time_only_stalls() -> None:
    clock = training()
    clock.strike(5.0, "path")
    clock.advance(20.0, 0.0)
    clock.healed(30.0)
    assert (clock.phase, clock.until_s, clock.account.aborts) == ("running", math.inf, 0)


def test_the_first_connection_to_break_gives_up_first() -> None:
    clock = training()
    clock.strike(0.0, "path")
    clock.strike(20.0, "path")
    assert clock.until_s == pytest.approx(TIMEOUT)


def test_a_lost_gpu_is_noticed_whatever_it_waits_for() -> None:
    clock = training()
    clock.strike(0.0, "path")
    clock.strike(29.0, "gpu")
    assert clock.waits_for == "gpu"
    assert clock.until_s == pytest.approx(TIMEOUT)
    other = training()
    other.strike(0.0, "reroute")
    other.strike(0.001, "gpu")
    assert (other.waits_for, other.until_s) == ("gpu", 30.001)


def test_a_reroute_is_3_ms() -> None:
    clock = training()
    clock.strike(1.0, "reroute")
    assert clock.until_s == pytest.approx(1.003)
    assert clock.due(able=True) == "rerouted"
    assert clock.phase == "running"


def test_jobs_without_checkpoints_lose_nothing_and_go_on() -> None:
    clock = collective()
    clock.advance(100.0, 1.0)
    clock.strike(100.0, "gpu")
    assert clock.until_s == 100.0
    assert clock.due(able=True) == "aborts: lost GPUs, begins again at once"
    assert (clock.phase, clock.account.useful_s, clock.account.lost_work_s) == ("running", 100, 0)


def test_a_job_that_cannot_run_stops_until_it_can() -> None:
    clock = training()
    clock.strike(0.0, "gpu")
    assert clock.due(able=False).endswith("it cannot run as things are")
    assert clock.phase == "aborted"
    clock.strike(40.0, "path")
    assert clock.phase == "aborted"
    clock.revive(100.0)
    assert (clock.phase, clock.until_s) == ("restarting", 160)


def test_a_gpu_lost_while_restarting_begins_it_anew() -> None:
    clock = training()
    clock.strike(0.0, "gpu")
    clock.due(able=True)
    assert clock.until_s == 30 + 60
    clock.strike(50.0, "gpu")
    assert clock.until_s == 50 + 30 + 60


@given(st.floats(1, 300), st.floats(0, 20), st.floats(1, 2000), st.floats(0.1, 2))
def test_the_time_until_it_is_finished_is_when_it_is(
    interval: float, write: float, target: float, rate: float
) -> None:
    clock = training(interval, write)
    clock.target_s = target
    clock.advance(clock.until_finished_s(rate), rate)
    assert clock.account.useful_s == pytest.approx(target, rel=1e-9)
