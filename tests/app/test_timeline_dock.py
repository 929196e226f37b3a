"""The timeline in the window: scrub, play, drag events, live and timeline apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from gbviz.app.fabric_view import FabricView
from gbviz.app.rack_view import RackView
from gbviz.app.selection import Selection
from gbviz.app.timeline_dock import TimelineDock
from gbviz.display.draw import Text
from gbviz.display.theme import DARK, LIGHT
from gbviz.faults.actions import Action
from gbviz.scenario.event import Event
from tests.app.busy import busy_scenario

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")

LEFT = Qt.MouseButton.LeftButton
EVENTS = (
    Event(600.0, Action("fail", "leaf-0"), for_s=900.0),
    Event(2400.0, Action("fail", "spine-1")),
)


@pytest.fixture
def dock(qtbot: QtBot, live: Live) -> TimelineDock:
    """An hour with a leaf away for a while and a spine lost, its timeline made."""
    made = TimelineDock(live, DARK)
    qtbot.addWidget(made)
    made.resize(900, 260)
    made.show()
    with qtbot.waitSignal(live.timeline_made, timeout=10_000):
        live.open(replace(busy_scenario(), events=EVENTS, duration_s=3600.0))
    return made


def scrub(dock: TimelineDock, time_s: float, y: int = 26) -> None:
    QTest.mouseClick(dock.strip, LEFT, pos=QPoint(round(dock.strip.x_of(time_s)), y))


def test_a_click_shows_a_moment_and_live_leads_back(
    qtbot: QtBot, live: Live, dock: TimelineDock
) -> None:
    with qtbot.waitSignal(live.answered):
        scrub(dock, 1000.0)
    assert live.time_s == pytest.approx(1000, abs=5)
    assert dock.time_button.isChecked()
    assert live.answer is not None
    assert [f.component for f in live.answer.snapshot.faults] == ["leaf-0"]
    with qtbot.waitSignal(live.answered):
        QTest.mouseClick(dock.live_button, LEFT)
    assert live.time_s is None
    assert [f.component for f in live.answer.snapshot.faults] == ["spine-1"]


def test_a_moment_that_was_seen_is_there_at_once(
    qtbot: QtBot, live: Live, dock: TimelineDock
) -> None:
    with qtbot.waitSignal(live.answered):
        scrub(dock, 1000.0)
    seen = live.answer
    with qtbot.waitSignal(live.answered):
        scrub(dock, 3000.0)
    assert live.answer is not seen
    scrub(dock, 1005.0)
    assert live.answer is seen
    assert not live.is_stale


def test_jobs_tell_that_they_wait(qtbot: QtBot, live: Live, dock: TimelineDock) -> None:
    """The ring over racks 0 to 3 loses a rail with leaf-0 and waits for the timeout."""
    with qtbot.waitSignal(live.answered):
        live.look_at(610.0)
    assert live.answer is not None
    ring = live.answer.snapshot.jobs[0]
    assert ring.state == "stalled"
    assert live.answer.loads.jobs[0][0].sum() == 0
    assert "ring stalls" in dock.said.text()


def test_pictures_say_which_moment_they_show(qtbot: QtBot, live: Live, dock: TimelineDock) -> None:
    selection = Selection()
    views = (FabricView(live, selection), RackView(live, selection))
    for view in views:
        qtbot.addWidget(view)
    with qtbot.waitSignal(live.answered):
        live.look_at(610.0)
    for view in views:
        assert "timeline 0:10:10" in signs(view)
    with qtbot.waitSignal(live.answered):
        live.look_at(None)
    for view in views:
        assert not any(sign.startswith("timeline") for sign in signs(view))


def signs(view: FabricView | RackView) -> list[str]:
    """The texts over a picture."""
    seen = view.view()
    assert seen is not None
    return [item.text for item in view.draw_over(seen).items if isinstance(item, Text)]


def test_arrows_go_from_change_to_change(qtbot: QtBot, live: Live, dock: TimelineDock) -> None:
    with qtbot.waitSignal(live.answered):
        live.look_at(0.0)
    dock.strip.setFocus()
    QTest.keyClick(dock.strip, Qt.Key.Key_Right)
    assert live.time_s == 600
    QTest.keyClick(dock.strip, Qt.Key.Key_Right)
    assert live.time_s == pytest.approx(630.06, abs=0.01)
    QTest.keyClick(dock.strip, Qt.Key.Key_Left)
    QTest.keyClick(dock.strip, Qt.Key.Key_Left)
    assert live.time_s == 0
    QTest.keyClick(dock.strip, Qt.Key.Key_End)
    assert live.time_s == 3600


def test_dragging_a_marker_moves_its_event_in_one_step(
    qtbot: QtBot, live: Live, dock: TimelineDock
) -> None:
    x0, x1 = (round(dock.strip.x_of(t)) for t in (2400.0, 3000.0))
    QTest.mousePress(dock.strip, LEFT, pos=QPoint(x0, 6))
    for x in range(x0 + 10, x1 + 1, 10):
        QTest.mouseMove(dock.strip, QPoint(x, 6))
        move(dock, x)
    QTest.mouseRelease(dock.strip, LEFT, pos=QPoint(x1, 6))
    assert live.scenario.events[1].at_s == pytest.approx(3000, abs=30)
    assert live.session.at == 1
    assert live.scenario.duration_s == 3600
    live.undo()
    assert live.scenario.events == EVENTS


def move(dock: TimelineDock, x: int) -> None:
    """A move with the button held, which QTest cannot send."""
    from PySide6.QtCore import QEvent, QPointF
    from PySide6.QtGui import QMouseEvent

    at = QPointF(x, 6)
    none = Qt.KeyboardModifier.NoModifier
    dock.strip.mouseMoveEvent(
        QMouseEvent(QEvent.Type.MouseMove, at, at, Qt.MouseButton.NoButton, LEFT, none)
    )


def test_what_is_broken_in_the_timeline_is_an_event_there(
    qtbot: QtBot, live: Live, dock: TimelineDock
) -> None:
    with qtbot.waitSignal(live.answered):
        live.look_at(1800.0)
    live.fail(["rack-5"])
    event = live.scenario.events[-1]
    assert (event.at_s, event.action.selector) == (1800, "rack-5")
    assert live.session.undo_label == "fail rack-5 at 1800 s"
    qtbot.waitUntil(lambda: live.timeline is not None and not live.is_stale, timeout=10_000)
    assert live.timeline is not None
    assert live.timeline.at(1801).events[0] == "fail rack-5"
    live.repair(["rack-5"])
    assert live.scenario.events == EVENTS


def test_playing_moves_the_time_and_stops_at_the_end(
    qtbot: QtBot, live: Live, dock: TimelineDock
) -> None:
    dock.speed.setCurrentIndex(dock.speed.count() - 1)
    QTest.mouseClick(dock.play_button, LEFT)
    assert dock.playing
    qtbot.waitUntil(lambda: (live.time_s or 0) > 300)
    qtbot.waitUntil(lambda: not dock.playing, timeout=10_000)
    assert live.time_s == 3600


def test_a_scenario_without_time_says_so_and_can_be_given_some(
    qtbot: QtBot, live: Live, dock: TimelineDock
) -> None:
    with qtbot.waitSignal(live.answered):
        live.open(busy_scenario())
    assert not dock.strip.isVisible()
    assert dock.empty.isVisible()
    dock.empty.wanted.emit()
    assert live.scenario.duration_s == 3600
    assert dock.strip.isVisible()


def test_csv_has_a_line_an_interval(dock: TimelineDock, live: Live) -> None:
    lines = dock.csv().splitlines()
    assert live.timeline is not None
    assert len(lines) == 1 + len(live.timeline.intervals)
    assert lines[0].startswith("start_s,end_s,event")
    assert "ring: state" in lines[0]


def test_plots_follow_theme_and_time(qtbot: QtBot, live: Live, dock: TimelineDock) -> None:
    qtbot.waitUntil(lambda: len(dock.plots._plots) == 3)
    qtbot.waitUntil(lambda: dock.plots._drawn is live.timeline)
    with qtbot.waitSignal(live.answered):
        live.look_at(1800.0)
    assert dock.plots._lines[0].value() == 0.5
    dock.set_theme(LIGHT)
    assert dock.plots._plots[0].backgroundBrush().color().name() == LIGHT.ground


def test_a_drag_ends_when_its_event_is_gone(qtbot: QtBot, live: Live, dock: TimelineDock) -> None:
    x = round(dock.strip.x_of(2400.0))
    QTest.mousePress(dock.strip, LEFT, pos=QPoint(x, 6))
    move(dock, x + 40)
    moved = live.scenario.events[1].at_s
    assert moved > 2400
    live.undo()
    move(dock, x + 80)
    assert [event.at_s for event in live.scenario.events] == [600.0, 2400.0]
    QTest.mouseRelease(dock.strip, LEFT, pos=QPoint(x + 80, 6))
    # Another file with fewer events, in the middle of a drag.
    QTest.mousePress(dock.strip, LEFT, pos=QPoint(x, 6))
    live.open(replace(busy_scenario(), events=EVENTS[:1], duration_s=3600.0))
    move(dock, x + 80)
    assert [event.at_s for event in live.scenario.events] == [600.0]
    qtbot.waitUntil(lambda: not live.is_stale, timeout=10_000)


def test_a_drag_stays_within_a_short_scenario(qtbot: QtBot, live: Live, dock: TimelineDock) -> None:
    short = Event(0.01, Action("fail", "spine-1"))
    with qtbot.waitSignal(live.timeline_made, timeout=10_000):
        live.open(replace(busy_scenario(), events=(short,), duration_s=0.06))
    x = round(dock.strip.x_of(0.01))
    QTest.mousePress(dock.strip, LEFT, pos=QPoint(x, 6))
    move(dock, round(dock.strip.x_of(0.03)))
    assert live.scenario.events[0].at_s == pytest.approx(0.03, abs=1e-3)
    move(dock, 5000)
    assert live.scenario.events[0].at_s == live.scenario.duration_s == 0.06
    QTest.mouseRelease(dock.strip, LEFT, pos=QPoint(x, 6))
    qtbot.waitUntil(lambda: not live.is_stale, timeout=10_000)
