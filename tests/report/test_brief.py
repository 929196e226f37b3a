"""The answer in three sentences: what is told of jobs that finish, shrink, or gain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import gbviz
from gbviz.faults.actions import Action
from gbviz.jobs.spec import CollectiveJob
from gbviz.report.answer import sentence
from gbviz.report.brief import brief
from gbviz.report.job_lines import job_lines
from gbviz.report.seen import Seen, answer_of
from gbviz.scenario.event import Event
from gbviz.scenario.file import read
from gbviz.units import lasting

if TYPE_CHECKING:
    from gbviz.scenario import Scenario

TRAIN = """
gbviz: 1
cluster: {preset: gb300-su}
jobs:
  - name: m
    kind: training
    model: llama3-70b
    racks: "rack-[0-7]"
    gpus_per_rack: 64
    parallelism: {tp: 4, pp: 4, dp: 32}
    batch: {global: 512, micro: 1}
    tokens: 1000000000.0
duration: 10h
"""
RING = CollectiveJob(name="c", kind="collective", op="all_reduce", size="1GB")


def training(*events: Event) -> Scenario:
    return replace(read("m.yaml", TRAIN.encode()), events=events)


def fail(at: float, selector: str, lasts: float | None = None) -> Event:
    return Event(at, Action("fail", selector), for_s=lasts)


def lasting_for(scenario: Scenario, seconds: float, *events: Event) -> Scenario:
    return replace(scenario, events=events, duration_s=seconds)


def told(scenario: Scenario) -> tuple[str, str]:
    jobs, adds_up, _ = answer_of(scenario)[0].answer
    return jobs, adds_up


def test_a_job_that_had_finished_is_not_hurt() -> None:
    jobs, adds_up = told(training(fail(18_000, "rack-1")))
    assert jobs == "With rack-1 failed, m had finished before."
    assert adds_up == "Over 10 h m is finished after 8 min 30 s, as without any fault."


def test_a_job_that_finishes_later_is_told_so() -> None:
    seen, _ = answer_of(training(fail(60, "rack-1")))
    jobs, adds_up, _ = seen.answer
    assert "m stops for 10 min 30 s and loses 1 min of work" in jobs
    timeline = seen.timeline
    assert timeline is not None
    done = next(one.start_s for one in timeline.intervals if one.jobs[0].state == "finished")
    assert adds_up.startswith(f"Over 10 h m is finished after {lasting(done)} instead of 8 min 30")
    assert "the faults cost" in adds_up


def test_a_job_that_does_not_finish_any_more_is_told_so() -> None:
    _, adds_up = told(training(fail(60, "rack-[0-7]/tray-*/gpu-0")))
    assert adds_up.startswith("Over 10 h m is not finished (after 8 min 30 s without faults)")


def test_some_have_finished_and_others_run() -> None:
    ring = CollectiveJob(
        name="c", kind="collective", op="all_reduce", size="1GB", racks="rack-[6-7]"
    )
    text = TRAIN.replace("[0-7]", "[0-3]").replace("dp: 32", "dp: 16")
    train = read("m.yaml", text.encode()).with_jobs(ring)
    jobs, adds_up = told(replace(train, events=(fail(18_000, "leaf-4"),)))
    assert "c stops for 30 s" in jobs
    assert jobs.endswith("; m had finished before.")
    assert "c keeps" in adds_up
    assert "m is finished" not in adds_up
    jobs, adds_up = told(replace(train, events=(fail(18_000, "rack-0"),)))
    assert jobs == "With rack-0 failed, m had finished before; c runs as before."
    assert adds_up.startswith("Over 10 h c keeps 100 % of the healthy work; m is finished after ")


def test_a_collective_of_fewer_gpus_does_less_in_the_same_time() -> None:
    """504 of 576 GPUs, 7/8: its own time is the same, as the slower phase is NVLink's."""
    scenario = gbviz.preset("gb300-su").with_jobs(RING)
    found = gbviz.evaluate(scenario.with_faults("rack-1"))
    assert job_lines(found)[0].slowdown == pytest.approx(1.0, abs=1e-6)
    assert brief(found)[0].endswith("c goes on with 72 GPUs fewer, at 87.5 % of its healthy work.")
    assert sentence(found).endswith(" c goes on with 72 GPUs fewer.")
    jobs, adds_up = told(lasting_for(scenario, 600, fail(60, "rack-1")))
    assert "c goes on with 72 GPUs fewer, at 87.5 % of its healthy work" in jobs
    assert "c keeps 88.75 % of its healthy work (100 % without faults)" in adds_up


def test_a_flow_that_gains_is_told_so() -> None:
    """One pair alone: without its own NIC it has the tray's three others, 100 GB/s each."""
    pair = gbviz.traffic_job("pairs:rack-0/tray-0/gpu-0>rack-1/tray-0/gpu-0")
    scenario = gbviz.preset("gb300-su").with_jobs(pair)
    lost = fail(60, "rack-0/tray-0/nic-0")
    jobs, adds_up = told(lasting_for(scenario, 600, lost))
    assert "is faster, 300.00 GB/s a flow instead of 100.00 GB/s a flow" in jobs
    # 60 s at 1, 540 s at 3, of 600.
    assert "does 280 % of its healthy work (100 % without faults)" in adds_up


def test_faults_of_other_times_are_counted() -> None:
    scenario = lasting_for(
        gbviz.preset("gb300-su").with_jobs(RING), 600, fail(60, "leaf-0", 60), fail(360, "leaf-7")
    )
    assert "With leaf-7 failed (at other times leaf-0 failed)," in told(scenario)[0]


def test_a_state_of_its_own_has_no_other_times() -> None:
    found = gbviz.evaluate(gbviz.preset("gb300-su").with_jobs(RING).with_faults("leaf-7"))
    assert Seen(found).answer[0].startswith("With leaf-7 failed, c ")
