"""What has been done to the cluster at a time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.faults import Action, resolve
from gbviz.scenario.emit import text_of
from gbviz.scenario.event import Event, changes
from gbviz.topology import build, cluster_spec
from tests.scenario.samples import SMALL, event_rows, faults, scenario


@given(rows=event_rows(), time_s=st.floats(0, 1000))
@settings(max_examples=150, deadline=None)
def test_what_events_do_can_always_be_resolved(rows: list[dict[str, Any]], time_s: float) -> None:
    """Whatever overlaps and whatever ended before: no action is refused at any time."""
    text = SMALL + text_of({"events": rows})
    wrong = faults(text)
    assert all("no fault to repair" in fault.message for fault in wrong)
    if wrong:
        return
    found = scenario(text)
    fabric = build(found.cluster)
    for time in (time_s, None, 0.0, *(event.at_s for event in found.events)):
        resolve(fabric, found.actions_at(time))


def test_an_event_is_repaired_at_its_end() -> None:
    short = Event(10.0, Action("fail", "spine-3"), 5.0)
    fabric = build(cluster_spec("gb300-su"))
    found = scenario(SMALL).with_events(short)
    state = [
        [fault.component for fault in resolve(fabric, found.actions_at(time))]
        for time in (0.0, 9.9, 10.0, 14.9, 15.0, None)
    ]
    # Without a duration the scenario ends with its last event.
    assert state == [[], [], ["spine-3"], ["spine-3"], [], ["spine-3"]]
    assert found.end_s == 10


@pytest.mark.parametrize(
    ("events", "at_s", "left"),
    [
        # A later fault on the same part stays when the earlier one's time is up.
        ([(0, "fail", "spine-3", 10), (5, "fail", "spine-3", None)], 20, ["spine-3"]),
        ([(0, "fail", "spine-3", 10), (5, "restore", "", None)], 20, []),
        ([(0, "fail", "spine-3", 10), (5, "repair", "spine-3", None)], 20, []),
        ([(0, "fail", "spine-3", 10), (10, "fail", "spine-3", None)], 10, ["spine-3"]),
        ([(0, "fail", "leaf-0~spine-3", 10), (5, "repair", "leaf-0~spine-3#0", None)], 20, []),
        ([(5, "fail", "spine-3", None), (0, "fail", "spine-1", None)], 9, ["spine-1", "spine-3"]),
        ([(0, "fail", "spine-3", 10), (20, "repair", "spine-3", None)], 30, []),
    ],
)
def test_events_that_meet(
    events: list[tuple[float, Any, str, float | None]], at_s: float, left: list[str]
) -> None:
    listed = [Event(at, Action(verb, what), lasts) for at, verb, what, lasts in events]
    fabric = build(cluster_spec("gb300-su"))
    found = scenario(SMALL).with_events(*listed)
    assert [f.component for f in resolve(fabric, found.actions_at(at_s))] == left
    assert [time for time, _ in changes(listed)] == sorted(time for time, _ in changes(listed))


def test_own_actions_come_before_events() -> None:
    found = scenario(SMALL).with_faults("hxu-1").with_events(Event(0.0, Action("restore")))
    assert [action.verb for action in found.actions_at(0.0)] == ["fail", "restore"]


def test_a_flapping_link_is_degraded_to_its_mean() -> None:
    text = "events: [{at: 0, flap: leaf-0~spine-1, to: 0.8}, {at: 1, flap: leaf-1~spine-1}]\n"
    one, other = scenario(SMALL + text).events
    assert (one.verb, one.action) == ("flap", Action("degrade", "leaf-0~spine-1", 0.8))
    assert other.action.factor == 0.5
