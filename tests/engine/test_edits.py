from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.engine import edits
from gbviz.errors import InputError
from gbviz.faults import resolve
from gbviz.faults.actions import Action
from gbviz.jobs.spec import CollectiveJob
from gbviz.scenario import Scenario, preset
from gbviz.scenario.event import Event
from gbviz.scenario.expect import Expectation, limit
from gbviz.topology import build

SU = preset("gb300-su")
# None is part of another, so that each fails and is repaired by itself.
APART = ("spine-0", "spine-1", "leaf-3", "rack-1", "rack-2/tray-4", "leaf-0~spine-2", "hxu-6")
EARLIER = (Event(60.0, Action("fail", "spine-3")), Event(600.0, Action("fail", "leaf-7"), 60.0))
JOB = CollectiveJob(kind="collective", name="a", op="all_reduce", size=1e9, racks="rack-[0-3]")

starts = st.sampled_from(
    [SU, replace(SU, events=EARLIER), replace(SU, events=EARLIER, duration_s=3600.0)]
)
some = st.lists(st.sampled_from(APART), min_size=1, max_size=3, unique=True)


def _broken(scenario: Scenario) -> set[str]:
    return {fault.component for fault in resolve(build(scenario.cluster), scenario.actions_at())}


@settings(max_examples=40, deadline=None)
@given(starts, some)
def test_repair_after_fail_is_the_scenario_that_was(start: Scenario, names: list[str]) -> None:
    failed = edits.fail(start, names).scenario
    assert _broken(failed) == _broken(start) | set(names)
    assert edits.repair(failed, names).scenario == start


@settings(max_examples=40, deadline=None)
@given(starts, some, some)
def test_a_repair_leaves_other_faults_alone(
    start: Scenario, first: list[str], second: list[str]
) -> None:
    second = [name for name in second if name not in first]
    failed = edits.fail(start, first).scenario
    if second:
        both = edits.fail(failed, second).scenario
        assert edits.repair(both, second).scenario == failed


@settings(max_examples=40, deadline=None)
@given(starts, some)
def test_restore_all_leaves_nothing_broken(start: Scenario, names: list[str]) -> None:
    assert _broken(edits.restore_all(edits.fail(start, names).scenario).scenario) == set()


@settings(max_examples=30, deadline=None)
@given(starts, st.lists(st.floats(0.01, 0.99), min_size=1, max_size=4))
def test_of_a_slider_only_the_last_factor_stays(start: Scenario, factors: list[float]) -> None:
    found = start
    merges = set()
    for factor in factors:
        edit = edits.degrade(found, ["leaf-0~spine-2"], factor)
        found = edit.scenario
        merges.add(edit.merge)
    assert merges == {"degrade leaf-0~spine-2"}
    assert found == edits.degrade(start, ["leaf-0~spine-2"], factors[-1]).scenario
    assert edits.repair(found, ["leaf-0~spine-2"]).scenario == start


@settings(max_examples=30, deadline=None)
@given(starts, some)
def test_an_edit_happens_at_the_end_which_stays(start: Scenario, names: list[str]) -> None:
    failed = edits.fail(start, names).scenario
    assert failed.end_s == start.end_s
    assert {event.at_s for event in failed.events[len(start.events) :]} == {start.end_s}


def test_an_older_fault_is_repaired_by_an_event() -> None:
    start = replace(SU, events=EARLIER, duration_s=3600.0)
    found = edits.repair(start, ["spine-3"]).scenario
    assert found.events == (*EARLIER, Event(3600.0, Action("repair", "spine-3")))
    assert _broken(found) == set()


def test_the_last_event_taken_back_leaves_the_end_where_it_was() -> None:
    start = replace(SU, events=EARLIER[:1], duration_s=None)
    found = edits.repair(start, ["spine-3"]).scenario
    assert _broken(found) == set()
    later = replace(SU, events=(EARLIER[0], Event(120.0, Action("fail", "spine-2"))))
    shorter = edits.repair(later, ["spine-2"]).scenario
    assert shorter.events == EARLIER[:1]
    assert shorter.end_s == 120.0


@pytest.mark.parametrize(
    "change",
    [
        lambda: edits.fail(SU, ["spine-99999"]),
        lambda: edits.degrade(SU, ["leaf-0~spine-2"], 1.5),
        lambda: edits.degrade(SU, ["rack-1/tray-2"], 0.5),
        lambda: edits.repair(SU, ["spine-0"]),
        lambda: edits.route(SU, "magic"),
        lambda: edits.nvlink_policy(SU, "magic"),
    ],
)
def test_what_cannot_be_is_refused(change: object) -> None:
    assert callable(change)
    with pytest.raises(InputError):
        change()


def test_jobs_are_added_replaced_and_removed_by_name() -> None:
    one = edits.put_job(SU, JOB)
    assert one.label == "add job a"
    with pytest.raises(InputError, match="there is a job 'a' already"):
        edits.put_job(one.scenario, JOB)
    bigger = JOB.model_copy(update={"size": 2e9})
    two = edits.put_job(one.scenario, bigger, 0)
    assert (two.label, two.scenario.jobs) == ("edit job a", (bigger,))
    expected = replace(two.scenario, expect=(Expectation("job", "a", "time_s", *limit("<= 1")),))
    gone = edits.remove_job(expected, "a").scenario
    assert gone == SU


def test_labels_name_two_parts_and_count_more() -> None:
    assert edits.fail(SU, ["spine-0", "spine-1"]).label == "fail spine-0 and spine-1"
    assert edits.fail(SU, ["spine-0", "spine-1", "spine-2"]).label == "fail 3 parts"


@pytest.mark.parametrize("number", [-1, 2, 99])
def test_an_event_that_is_gone_cannot_be_moved(number: int) -> None:
    with pytest.raises(InputError, match="no event"):
        edits.move_event(replace(SU, events=EARLIER), number, 90.0)


@pytest.mark.parametrize("lasts", [-1.0, 599.0, float("nan"), float("inf"), 1e10 + 3600])
def test_a_scenario_lasts_as_long_as_its_file_may_say(lasts: float) -> None:
    with pytest.raises(InputError, match="from the last event"):
        edits.lasting(replace(SU, events=EARLIER), lasts)


@pytest.mark.parametrize("at", [-5.0, float("nan"), float("inf"), 2e10])
def test_times_that_no_file_may_say(at: float) -> None:
    action = Action("fail", "spine-0")
    with pytest.raises(InputError):
        Event(at, action)
    with pytest.raises(InputError):
        Event(0.0, action, at)
    with pytest.raises(InputError):
        replace(SU, duration_s=at)
    with pytest.raises(InputError):
        Event(0.0, action, 0.0)
