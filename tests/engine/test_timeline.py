"""Scenarios through time: against arithmetic by hand, single questions, and each other."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import gbviz
from gbviz.engine import evaluate, heat
from gbviz.engine.run import run
from gbviz.faults.actions import Action
from gbviz.jobs import traffic_job
from gbviz.jobs.spec import CollectiveJob
from gbviz.scenario import preset
from gbviz.scenario.event import Event
from gbviz.scenario.file import read

if TYPE_CHECKING:
    from gbviz.engine.timeline import JobTotal, Timeline
    from gbviz.scenario import Scenario

TIMEOUT = 7 * 4.096e-6 * 2**20
TRAIN = b"""
gbviz: 1
cluster: {preset: gb300-su}
jobs:
  - name: train
    kind: training
    model: llama3-70b
    racks: "rack-[2-5]"
    gpus_per_rack: 64
    spares: SPARES
    parallelism: {tp: 4, pp: 4, dp: DP}
    batch: {global: 480, micro: 1}
    checkpoint: {interval: 10min, write: 30s, restart: 5min}
  - {name: ring, kind: collective, op: all_reduce, size: 1GB, racks: "rack-[0,1,6,7]"}
duration: 2h
"""


def trained(*events: Event, spares: int = 16) -> Scenario:
    dp = (256 - spares) // 16
    text = TRAIN.replace(b"SPARES", b"%d" % spares).replace(b"DP", b"%d" % dp)
    return replace(read("train.yaml", text), events=events)


def fail(at: float, selector: str, lasts: float | None = None) -> Event:
    return Event(at, Action("fail", selector), for_s=lasts)


def total(made: Timeline, name: str = "train") -> JobTotal:
    return next(one for one in made.totals if one.name == name)


def states(made: Timeline, job: int = 0) -> list[tuple[float, str]]:
    return [(one.start_s, one.jobs[job].state) for one in made.intervals]


def test_without_faults_only_checkpoints_cost() -> None:
    """2 h are 11 cycles of 630 s and 270 s of work: 11 x 600 + 270 of 7,200 s."""
    found = total(run(trained()))
    assert found.useful_s == pytest.approx(11 * 600 + 270)
    assert found.checkpoint_s == pytest.approx(330)
    assert found.goodput == pytest.approx(6870 / 7200)
    # 240 GPUs at work and 16 spares, for two hours.
    assert found.gpu_hours == 512
    assert found.lost_gpu_hours == pytest.approx(512 - 240 * 6870 / 3600)


def test_a_leaf_back_before_the_timeout_only_stalls() -> None:
    made = run(trained(fail(1000, "leaf-0", 20.0)))
    assert states(made) == [(0, "running"), (1000, "stalled"), (1020, "running")]
    found = total(made)
    assert (found.stalled_s, found.aborts, found.lost_work_s) == (20, 0, 0)


def test_a_leaf_back_after_the_timeout_costs_work_and_a_restart() -> None:
    """At 1,000 s one checkpoint is written (630 s): 370 s of work are lost."""
    made = run(trained(fail(1000, "leaf-0", 600.0)))
    assert states(made) == [
        (0, "running"),
        (1000, "stalled"),
        (1000 + TIMEOUT, "restarting"),
        (1000 + TIMEOUT + 300, "degraded"),
        (1600, "running"),
    ]
    found = total(made)
    assert found.lost_work_s == pytest.approx(370)
    assert found.aborts == 1
    assert found.restarting_s == pytest.approx(300)


def test_a_spare_steps_in_and_stays() -> None:
    made = run(trained(fail(1000, "rack-2/tray-0/gpu-0", 600.0)))
    # The spare sits in another rack than the ranks that it talks to, so that these are slower.
    assert [state for _, state in states(made)][:4] == [
        "running",
        "stalled",
        "restarting",
        "degraded",
    ]
    assert made.intervals[3].start_s == 1000 + 30 + 300
    assert made.intervals[3].jobs[0].gpus == 240
    assert total(made).aborts == 1


def test_a_spare_in_use_is_a_gpu_that_is_lost() -> None:
    """The failed GPU is back by then, but the job runs on without it."""
    out = fail(1000, "rack-2/tray-0/gpu-0", 600.0)
    made = run(trained(out, fail(3000, "rack-5/tray-12/gpu-0")))
    said = {one.start_s: one.events for one in made.intervals}
    assert said[3000] == ("fail rack-5/tray-12/gpu-0", "train stalls: it has lost a GPU")
    assert said[3030] == ("train aborts: lost GPUs, restarts",)
    assert total(made).aborts == 2


@pytest.mark.parametrize(("spares", "idle"), [(16, "rack-5/tray-15/gpu-0"), (0, "rack-2/tray-0")])
def test_a_gpu_that_holds_no_rank_is_not_missed(spares: int, idle: str) -> None:
    """A spare that waits; the rest of a replica that is given up since it lost a GPU."""
    lost = fail(1000, "rack-2/tray-0/gpu-0")
    made = run(trained(lost, fail(3000, idle), spares=spares))
    assert [one.aborts for one in made.totals] == [1, 0]
    without = total(run(trained(lost, spares=spares)))
    assert total(made).useful_s == pytest.approx(without.useful_s, rel=1e-12)
    assert total(made).stalled_s == without.stalled_s


def test_without_spares_it_shrinks_and_grows_back_at_a_checkpoint() -> None:
    made = run(trained(fail(1000, "rack-2/tray-0/gpu-0", 600.0), spares=0))
    said = [one.events for one in made.intervals]
    assert ("train restarts to use its GPUs again",) in said
    back = next(one for one in made.intervals if one.start_s > 1600 and one.jobs[0].gpus == 256)
    # It ran again from 1,330 s on: the next checkpoint is written 630 s later.
    assert back.start_s == pytest.approx(1330 + 630 + 300)
    shrunk = next(one for one in made.intervals if one.start_s == 1330)
    assert (shrunk.jobs[0].state, shrunk.jobs[0].gpus) == ("degraded", 240)


def test_gpus_that_come_back_while_a_job_restarts_are_used_again() -> None:
    """A shorter outage cannot cost more than a longer one."""
    lost = {
        lasts: total(run(trained(fail(1000, "rack-2/tray-0/gpu-0", lasts), spares=0)))
        for lasts in (60.0, 600.0)
    }
    assert lost[60.0].aborts == 1
    assert lost[60.0].useful_s == pytest.approx(lost[600.0].useful_s)
    assert lost[60.0].restarting_s == pytest.approx(600)


def test_what_happens_at_the_end_holds_there() -> None:
    made = run(trained(fail(7200, "rack-2"), fail(600, "spine-0", 6600.0)))
    last = made.intervals[-1]
    assert (last.start_s, last.end_s) == (7200, 7200)
    # What ends at a time comes before what begins at it.
    assert last.metrics.live_gpus == 504
    assert (
        last.metrics.bisection_GBps
        == evaluate(preset("gb300-su").with_faults("rack-2")).post.bisection_GBps
    )
    assert "fail rack-2" in last.events
    assert last.jobs[0].state == "stalled"
    assert total(made).stalled_s == pytest.approx(0.003)


def test_nics_are_loaded_by_traffic_as_by_jobs_that_step() -> None:
    """A shift by half of the cluster fills every NIC, and is halved with half of the spines."""
    scenario = replace(preset("gb300-su").with_jobs(traffic_job("shift:288")), duration_s=600.0)
    assert [one.nic_load for one in run(scenario).intervals] == [pytest.approx(1.0)]
    half = replace(scenario, events=(fail(60, "spine-[0-1]"),))
    assert [one.nic_load for one in run(half).intervals] == pytest.approx([1.0, 0.5])


def test_a_spine_reroutes() -> None:
    made = run(trained(fail(1000, "spine-0")))
    assert total(made).stalled_s == pytest.approx(0.003)
    assert total(made).aborts == 0


def test_what_is_broken_at_the_start_was_there_before() -> None:
    made = run(trained(fail(0, "leaf-0")))
    assert states(made) == [(0, "degraded")]
    assert total(made).aborts == 0


def test_a_job_that_cannot_run_waits_for_its_repair() -> None:
    made = run(trained(fail(1000, "rack-[2-5]", 600.0), spares=0))
    assert [state for _, state in states(made)] == [
        "running",
        "stalled",
        "aborted",
        "restarting",
        "running",
    ]
    assert total(made).aborted_s == pytest.approx(600 - 30)


def test_all_time_is_accounted_for() -> None:
    made = run(busy(4, 60))
    for one in made.totals:
        if one.kind == "traffic":
            continue
        waited = one.stalled_s + one.restarting_s + one.aborted_s + one.finished_s
        stepped = sum(
            span.end_s - span.start_s
            for span in made.intervals
            for job in span.jobs
            if job.name == one.name and job.state in ("running", "degraded")
        )
        assert waited + stepped == pytest.approx(made.duration_s)
        assert 0 <= (one.goodput or 0) <= 1.2
    edges = [(a.end_s, b.start_s) for a, b in zip(made.intervals, made.intervals[1:], strict=False)]
    assert all(end == start for end, start in edges)
    assert (made.intervals[0].start_s, made.duration_s) == (0, 7200)


def busy(seed: int, count: int, *, heat: bool = True) -> Scenario:
    """Random faults of all kinds under a training job, a collective and flows."""
    rng = random.Random(seed)
    parts = (
        "leaf-{0}",
        "spine-{1}",
        "rack-{0}/tray-{2}/gpu-1",
        "rack-{0}/tray-{2}/nic-2",
        "leaf-{0}~spine-{1}#3",
        "rack-{0}/nvswitch-{2}",
        "hxu-{0}",
        "rack-{0}/feed-a",
    )
    events = tuple(
        fail(
            rng.uniform(0, 7000),
            rng.choice(parts if heat else parts[:-2]).format(
                rng.randrange(8), rng.randrange(4), rng.randrange(18)
            ),
            rng.choice([5.0, 60.0, 900.0, None]),
        )
        for _ in range(count)
    )
    return trained(*events).with_jobs(traffic_job("shift:72@rack-[4-7]"))


@pytest.mark.parametrize("seed", range(3))
def test_the_fabric_of_every_interval_is_that_of_a_single_question(seed: int) -> None:
    scenario = busy(seed, 25, heat=False)
    made = run(scenario)
    for one in made.intervals:
        if one.end_s == one.start_s:
            continue
        alone = evaluate(scenario, one.start_s).post
        for name in ("live_gpus", "injection_GBps", "bisection_GBps", "nvlink_GBps",
                     "all_to_all_GBps_per_gpu", "worst_leaf_uplink_fraction"):  # fmt: skip
            assert getattr(one.metrics, name) == getattr(alone, name), (one.start_s, name)


def test_a_job_alone_goes_as_fast_as_a_single_question_says() -> None:
    job = CollectiveJob(kind="collective", name="all", op="all_to_all", size=1e9)
    scenario = replace(
        preset("gb300-su").with_jobs(job), events=(fail(10, "leaf-1"),), duration_s=100.0
    )
    made, alone = run(scenario), evaluate(scenario).jobs[0]
    assert made.intervals[-1].jobs[0].speed == pytest.approx(1 / alone.slowdown)  # type: ignore[union-attr,operator]


def test_the_same_scenario_gives_the_same_bytes() -> None:
    from gbviz.report.timeline import timeline_rows, totals

    scenario = busy(9, 30)
    first, second = run(scenario), run(scenario)
    assert repr(timeline_rows(first)) == repr(timeline_rows(second))
    assert repr(totals(first)) == repr(totals(second))


def test_python_users_run_it_by_name() -> None:
    made = gbviz.run(replace(preset("gb300-su"), duration_s=5.0))
    assert isinstance(made, gbviz.Timeline)
    assert made.at(99).end_s == 5


def test_a_target_of_tokens_ends_a_job() -> None:
    scenario = trained()
    job = scenario.jobs[0].model_copy(update={"tokens": 1e9})  # type: ignore[union-attr]
    made = run(replace(scenario, jobs=(job,)))
    found = total(made)
    assert made.intervals[-1].jobs[0].state == "finished"
    assert found.tokens == pytest.approx(1e9)
    assert found.finished_s > 0


def test_a_rack_without_cooling_runs_on_until_it_is_too_hot() -> None:
    """Flow lost at 40 degrees: 87 at 5.02 s, idle at 10.99 s, off at 26.89 s (models.md 6.3)."""
    made = run(trained(fail(1000, "hxu-2")))
    told = {words: one.start_s - 1000 for one in made.intervals for words in one.events}
    assert told["loop-2: 64 GPUs reach the throttle limit"] == pytest.approx(5.019, abs=1e-3)
    assert told["loop-2: 64 GPUs shut down"] == pytest.approx(26.89, abs=0.01)
    first = next(one for one in made.intervals if one.start_s == 1000)
    assert (first.jobs[0].state, first.jobs[0].speed) == ("running", 1.0)
    assert total(made).aborts == 1
    assert made.intervals[-1].metrics.live_gpus == 576 - 72


@pytest.mark.parametrize(("units", "shut_down"), [("hxu-*", 8), ("hxu-[2-4]", 3), ("hxu-2", 1)])
def test_each_rack_that_heat_shuts_down_is_told_once(units: str, shut_down: int) -> None:
    made = run(trained(fail(1000, units)))
    told = [words for one in made.intervals for words in one.events if words.startswith("rack")]
    counts = [re.search(r"(\d+) racks", words) for words in told]
    assert sum(int(count[1]) if count else 1 for count in counts) == shut_down
    assert made.intervals[-1].metrics.live_gpus == 576 - 72 * shut_down


def test_a_part_that_is_hardly_degraded_is_not_told_as_whole() -> None:
    action = Action("degrade", "leaf-0~spine-0#0", 0.999999)
    made = run(replace(preset("gb300-su"), events=(Event(1.0, action),), duration_s=2.0))
    assert made.intervals[1].events == ("degrade leaf-0~spine-0#0 to 99.9999 %",)


def test_half_of_the_cooling_throttles_to_the_balance() -> None:
    job = CollectiveJob(
        kind="collective", name="all", op="all_to_all", size=1e9, racks="rack-[0-3]"
    )
    scenario = preset("gb300-cdu").with_jobs(job)
    events = (fail(600, "cdu-[0-1]", 5400.0),)
    made = run(replace(scenario, events=events, duration_s=9000.0))
    full = preset("gb300-cdu").with_jobs(job.model_copy(update={"racks": "rack-[0-31]"}))
    hot = run(replace(full, events=events, duration_s=9000.0))
    # Four busy racks are no burden; 32 settle at clock 0.725 with the supply at 64.8 degrees.
    assert all(one.slowest_clock == 1 for one in made.intervals)
    settled = hot.at(5900.0)
    assert settled.slowest_clock == pytest.approx(0.725, abs=1e-3)
    assert settled.supply_c[0] == pytest.approx(64.82, abs=0.01)
    assert hot.intervals[-1].slowest_clock == 1
    assert hot.intervals[-1].supply_c.tolist() == [40, 40]


def test_finer_panels_change_no_total(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"""{gbviz: 1, cluster: {preset: gb300-cdu}, jobs: [{name: train, kind: training,
    model: llama3-70b, racks: "rack-[0-31]", parallelism: {tp: 4, pp: 4, dp: 144},
    batch: {global: 576, micro: 1}}], duration: 2h}"""
    scenario = replace(read("t.yaml", text), events=(fail(600, "cdu-[0-1]", 3600.0),))
    coarse = total(run(scenario)).useful_s
    for name in ("PANEL_S", "MOST_PANEL"):
        monkeypatch.setattr(f"gbviz.engine.heat.{name}", getattr(heat, name) / 4)
    assert total(run(scenario)).useful_s == pytest.approx(coarse, rel=1e-6)
