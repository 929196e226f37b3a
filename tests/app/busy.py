"""A small cluster at work: two jobs on eight racks, and waiting for its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.jobs.spec import CollectiveJob, TrafficSpec
from gbviz.scenario import Scenario, preset

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.answer import Answer
    from gbviz.app.live import Live


def busy_scenario() -> Scenario:
    """An all-reduce on four racks, and a shift by one rack on the other four."""
    ring = CollectiveJob(
        kind="collective", name="ring", op="all_reduce", size=1_000_000_000, racks="rack-[0-3]"
    )
    shift = TrafficSpec(kind="traffic", name="shift", pattern="shift", racks="rack-[4-7]")
    return preset("gb300-su").with_jobs(ring, shift)


def answered(qtbot: QtBot, live: Live) -> Answer:
    """The answer to what is asked now."""
    with qtbot.waitSignal(live.answered, timeout=5000):
        live.recompute()
    assert live.answer is not None
    return live.answer


def opened(qtbot: QtBot, live: Live, scenario: Scenario | None = None) -> Answer:
    """The answer to the busy scenario, or another, once it is open."""
    with qtbot.waitSignal(live.answered, timeout=5000):
        live.open(scenario or busy_scenario())
    assert live.answer is not None
    return live.answer


def failed(qtbot: QtBot, live: Live, *names: str) -> Answer:
    """The answer once these have failed."""
    with qtbot.waitSignal(live.answered, timeout=5000):
        assert live.fail(names)
    assert live.answer is not None
    return live.answer
