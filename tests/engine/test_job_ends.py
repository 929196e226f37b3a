"""Jobs that finish, grow back, and come back from heat: where the time of each goes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gbviz.engine.run import run
from gbviz.faults.actions import Action
from gbviz.jobs.spec import CollectiveJob
from gbviz.scenario import preset
from gbviz.scenario.event import Event
from gbviz.scenario.file import read

if TYPE_CHECKING:
    from gbviz.engine.timeline import Timeline
    from gbviz.scenario import Scenario

TRAIN = """
gbviz: 1
cluster: {{preset: gb300-su}}
jobs:
  - name: t
    kind: training
    model: llama3-405b
    parallelism: {{tp: 2, pp: 8, dp: 36, vpp: 2}}
    batch: {{global: 1152, micro: 1}}
    precision: fp4
    tokens: {tokens}
"""


def training(tokens: float, duration_s: float, *events: Event) -> Scenario:
    found = read("t.yaml", TRAIN.format(tokens=f"{tokens:.1f}").encode())
    return replace(found, events=events, duration_s=duration_s)


def fail(at: float, selector: str, lasts: float | None = None) -> Event:
    return Event(at, Action("fail", selector), for_s=lasts)


def states(made: Timeline) -> list[tuple[float, str, int]]:
    return [(round(one.start_s, 3), one.jobs[0].state, one.jobs[0].gpus) for one in made.intervals]


@pytest.mark.parametrize("late", [97_200.0, 1e6, 1e8])
@pytest.mark.parametrize("tokens", [1.0, 700_000.0])
def test_a_small_job_ends_however_late_it_begins(tokens: float, late: float) -> None:
    """Its last work may take less than what the clock can tell apart by then."""
    made = run(training(tokens, late + 10_000, fail(0.0, "rack-0", late)))
    [job] = made.totals
    assert made.intervals[-1].jobs[0].state == "finished"
    assert job.tokens == pytest.approx(tokens, rel=1e-5, abs=1e-6 * late)
    assert job.goodput is not None
    assert job.goodput <= 1


def test_one_step_of_a_long_scenario_has_a_goodput_of_one() -> None:
    [job] = run(training(1.0, 1e8)).totals
    assert job.goodput == pytest.approx(1.0, abs=1e-9)


BACK = fail(600.0, "rack-0/tray-0", 1000.0)


def test_new_routes_do_not_give_back_gpus() -> None:
    """544 GPUs until the checkpoint, then a restart of ten minutes onto all 576."""
    made = run(training(5e9, 20_000.0, BACK, fail(1900.0, "spine-0", 100.0)))
    found = states(made)
    assert (1900.003, "degraded", 544) in found
    [restart] = [at for at, state, _ in found if state == "restarting" and at > 1600]
    # Half an hour of work and a minute of writing after it began at 1230 s, and 3 ms of rerouting.
    assert restart == pytest.approx(1230 + 1860 + 0.003)
    assert (round(restart + 600, 3), "running", 576) in found
    [job] = made.totals
    assert job.restarting_s == pytest.approx(1200)
    assert job.tokens == pytest.approx(5e9)
    assert found[-1][1] == "finished"


def test_a_job_that_has_all_tokens_does_not_restart() -> None:
    made = run(training(1e9, 20_000.0, BACK))
    found = states(made)
    assert found[-1][0] == pytest.approx(2660.88, abs=0.01)
    assert [state for _, state, _ in found] == [
        "running",
        "stalled",
        "restarting",
        "degraded",
        "degraded",
        "finished",
    ]
    [job] = made.totals
    assert job.restarting_s == pytest.approx(600)


@pytest.mark.parametrize("cluster", ["gb300-su", "gb300-cdu"])
def test_the_time_of_a_job_is_in_its_accounts(cluster: str) -> None:
    """All cooling fails and comes back: jobs wait until dies have cooled, and it is said why."""
    ring = CollectiveJob(kind="collective", name="a", op="all_reduce", size=1e9, racks="rack-[0-7]")
    kind = "hxu-*" if cluster == "gb300-su" else "cdu-*"
    events = (fail(60.0, kind, 600.0),)
    made = run(replace(preset(cluster), events=events, duration_s=3600.0, jobs=(ring,)))
    [job] = made.totals
    steps = sum(one.end_s - one.start_s for one in made.intervals if one.jobs[0].speed > 0)
    waits = job.stalled_s + job.restarting_s + job.aborted_s + job.finished_s
    assert steps + waits == pytest.approx(3600.0, abs=1e-6)
    for one in made.intervals:
        assert one.jobs[0].speed > 0 or one.jobs[0].words
    # A GPU whose die is still too hot is no reason to start.
    back = next(o for o in made.intervals if o.start_s >= 660 and o.jobs[0].state == "running")
    assert back.start_s > 660
    assert back.hottest_die_c is not None
    assert back.hottest_die_c <= 87.0 + 1e-6


def test_a_collective_of_fewer_gpus_does_not_do_more() -> None:
    """216 of 288 GPUs: each operation is over sooner by 9/8, and counts 3/4."""
    job = CollectiveJob(kind="collective", name="x", op="all_to_all", size=1e8, racks="rack-[4-7]")
    events = (fail(60.0, "rack-4"),)
    made = run(replace(preset("gb300-su"), events=events, duration_s=3600.0, jobs=(job,)))
    last = made.intervals[-1].jobs[0]
    assert (last.state, last.gpus) == ("degraded", 216)
    # 3/4 of what a GPU sends went to other racks, 2/3 does now; and 3/4 of the GPUs are left.
    assert last.speed == pytest.approx(9 / 8 * 3 / 4)
    assert made.totals[0].goodput == pytest.approx((60 + 3540 * 27 / 32) / 3600)


def test_goodput_so_far_ends_as_the_total_does() -> None:
    """A job that is finished holds nothing any more, so its goodput stays as it was."""
    made = run(training(5e9, 20_000.0, BACK))
    [job] = made.totals
    so_far = made.goodputs(0)
    assert made.intervals[-1].jobs[0].state == "finished"
    assert so_far[-1] == so_far[-2] == pytest.approx(job.goodput)
