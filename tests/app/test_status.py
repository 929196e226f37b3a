from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gbviz.app import status
from gbviz.app.status import StatusBar, worst_link
from gbviz.engine import edits
from gbviz.jobs.spec import CollectiveJob
from gbviz.scenario import preset
from tests.app.busy import answered, failed, opened
from tests.display.cases import EVERY, broken

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def bar(qtbot: QtBot, live: Live, selection: Selection) -> StatusBar:
    widget = StatusBar(live, selection)
    qtbot.addWidget(widget)
    widget.resize(1200, 30)
    widget.show()
    return widget


def test_it_says_how_the_cluster_stands(qtbot: QtBot, live: Live, bar: StatusBar) -> None:
    assert bar.state.text() == ""
    opened(qtbot, live)
    first = bar.state.text()
    assert first.startswith("0 faults")
    assert "fullest link" in first
    assert "576 GPUs" in first
    failed(qtbot, live, "spine-1", "hxu-0")
    # Two causes, whatever follows from them.
    assert bar.state.text().startswith("2 faults")


def test_without_jobs_there_is_no_fullest_link(qtbot: QtBot, live: Live, bar: StatusBar) -> None:
    opened(qtbot, live, preset("gb300-su"))
    assert "fullest" not in bar.state.text()


def test_the_hint_follows_selection_and_pointer(
    qtbot: QtBot, live: Live, bar: StatusBar, selection: Selection
) -> None:
    opened(qtbot, live)
    assert "Ctrl+K" in bar.hint.text()
    selection.select(["leaf-3"])
    assert bar.hint.text().startswith("leaf-3: F fails")
    selection.select(["leaf-3", "leaf-4"])
    assert bar.hint.text().startswith("2 parts: F fails")
    selection.point("spine-9")
    assert bar.hint.text() == "spine-9"
    selection.point("")
    assert bar.hint.text().startswith("2 parts")
    selection.clear()
    assert "Ctrl+K" in bar.hint.text()


def test_a_new_answer_leaves_the_name_under_the_pointer(
    qtbot: QtBot, live: Live, bar: StatusBar, selection: Selection
) -> None:
    opened(qtbot, live)
    selection.point("spine-2")
    answered(qtbot, live)
    assert bar.hint.text() == "spine-2"


def test_quick_answers_show_no_progress(qtbot: QtBot, live: Live, bar: StatusBar) -> None:
    opened(qtbot, live)
    assert bar.progress.isHidden()
    assert bar.cancel.isHidden()
    live.stale.emit(True)
    assert bar.progress.isHidden()
    live.stale.emit(False)
    qtbot.wait(status._PROGRESS_AFTER_MS + 50)
    assert bar.progress.isHidden()


def test_slow_ones_can_be_cancelled(qtbot: QtBot, live: Live, bar: StatusBar) -> None:
    opened(qtbot, live)
    live.stale.emit(True)
    qtbot.waitUntil(bar.cancel.isVisible, timeout=2000)
    assert bar.progress.isVisible()
    live.progress.emit("routing")
    assert bar.doing.text() == "routing"
    with qtbot.waitSignal(live.failed):
        QTest.mouseClick(bar.cancel, Qt.MouseButton.LeftButton)
    assert bar.cancel.isHidden()
    assert bar.old.text() == "✕ figures are old: cancelled"
    assert bar.way_out.text() == "Try again"
    with qtbot.waitSignal(live.answered):
        QTest.mouseClick(bar.way_out, Qt.MouseButton.LeftButton)
    assert not bar.old.isVisible()
    assert not bar.way_out.isVisible()


def test_a_failure_stays_in_sight_until_it_is_answered(
    qtbot: QtBot, live: Live, bar: StatusBar
) -> None:
    """Two jobs on the same racks cannot be placed: nothing is computed until that is undone."""
    opened(qtbot, live)
    twin = live.scenario.jobs[0]
    assert isinstance(twin, CollectiveJob)
    clash = twin.model_copy(update={"name": "again"})
    with qtbot.waitSignal(live.failed):
        assert live.edit(partial(edits.put_job, job=clash))
    assert bar.old.isVisible()
    assert bar.old.text().startswith("✕ figures are old: ")
    assert bar.way_out.text() == "Undo last step"
    assert bar.way_out.toolTip() == "add job again"
    with qtbot.waitSignal(live.answered):
        QTest.mouseClick(bar.way_out, Qt.MouseButton.LeftButton)
    assert not bar.old.isVisible()
    assert len(live.scenario.jobs) == 2


def test_the_hint_offers_what_changes_something(
    qtbot: QtBot, live: Live, bar: StatusBar, selection: Selection
) -> None:
    opened(qtbot, live)
    selection.select(["leaf-3"])
    assert bar.hint.text() == "leaf-3: F fails, W what if, Enter goes in."
    failed(qtbot, live, "leaf-3")
    assert bar.hint.text() == "leaf-3 has failed: R repairs, Enter goes in."
    selection.select(["leaf-3~spine-0#0"])
    assert bar.hint.text().startswith("leaf-3~spine-0#0 is down: C goes to the cause")
    selection.select(["rack-0/tray-0/nic-0"])
    assert "D degrades" in bar.hint.text()
    assert "R repairs" not in bar.hint.text()


def test_what_is_refused_is_said(live: Live, bar: StatusBar) -> None:
    assert not live.fail(["gone-3"])
    assert "gone-3" in bar.currentMessage()


@pytest.mark.parametrize("case", EVERY)
def test_the_fullest_link_by_a_plain_loop(case: str) -> None:
    found = broken(case)
    fabric, loads = found.snapshot.fabric, found.loads
    name, share = worst_link(fabric, loads)
    best = 0.0
    shares: dict[str, float] = {}
    for number, tier in enumerate(fabric.tiers):
        used = loads.utilisation(number)
        for way in (0, 1):
            for cable, value in enumerate(used[way].tolist()):
                if value > best:
                    best = value
                    shares[fabric.link_name(tier.first + way * tier.n + cable)] = value
    assert share == best
    assert shares.get(name, 0.0) == best
