from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gbviz.app.jobs_dock import JobsDock
from gbviz.app.selection import Selection
from gbviz.display.theme import DARK, LIGHT
from gbviz.scenario import preset
from tests.app.busy import failed, opened

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def selection() -> Selection:
    return Selection()


@pytest.fixture
def dock(qtbot: QtBot, live: Live, selection: Selection) -> JobsDock:
    widget = JobsDock(live, selection, DARK)
    qtbot.addWidget(widget)
    widget.resize(600, 300)
    widget.show()
    return widget


def texts(dock: JobsDock, row: int) -> list[str]:
    return [cell.text for cell in dock.model.rows[row]]


def click(qtbot: QtBot, dock: JobsDock, row: int) -> None:
    where = dock.view.visualRect(dock.model.index(row, 0)).center()
    QTest.mouseClick(dock.view.viewport(), Qt.MouseButton.LeftButton, pos=where)


def test_a_row_says_what_a_job_does(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live)
    name, state, times, _now, gpus, _limit = texts(dock, 0)
    assert (name, state, times, gpus) == ("ring", "● running", "1.000", "288")
    assert texts(dock, 1)[3] == "100.00 GB/s a flow"


def test_a_fault_shows_in_state_and_slowdown(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live)
    failed(qtbot, live, "leaf-*")
    assert texts(dock, 1)[1:3] == ["■ stalled", "never"]


def test_clicking_lights_the_job(
    qtbot: QtBot, live: Live, dock: JobsDock, selection: Selection
) -> None:
    opened(qtbot, live)
    click(qtbot, dock, 1)
    assert selection.job == "shift"


def test_a_job_lit_elsewhere_is_selected(
    qtbot: QtBot, live: Live, dock: JobsDock, selection: Selection
) -> None:
    opened(qtbot, live)
    selection.light("ring")
    assert dock.view.selected_rows() == [0]
    selection.clear()
    assert dock.view.selected_rows() == []


def test_enter_shows_the_bottleneck(
    qtbot: QtBot, live: Live, dock: JobsDock, selection: Selection
) -> None:
    opened(qtbot, live)
    click(qtbot, dock, 1)
    with qtbot.waitSignal(selection.reveal) as shown:
        QTest.keyClick(dock.view, Qt.Key.Key_Return)
    assert "~leaf-" in shown.args[0]
    assert selection.job == "shift"


def test_delete_removes_the_job_and_undo_brings_it_back(
    qtbot: QtBot, live: Live, dock: JobsDock
) -> None:
    opened(qtbot, live)
    click(qtbot, dock, 0)
    with qtbot.waitSignal(live.answered):
        QTest.keyClick(dock.view, Qt.Key.Key_Delete)
    assert [job.name for job in live.scenario.jobs] == ["shift"]
    assert dock.model.rowCount() == 1
    with qtbot.waitSignal(live.answered):
        live.undo()
    assert texts(dock, 0)[0] == "ring"


def test_duplicates_have_names_of_their_own(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live)
    dock.duplicate(1)
    dock.duplicate(1)
    assert [job.name for job in live.scenario.jobs] == ["ring", "shift", "shift 2", "shift 3"]


def test_the_menu_edits_the_row(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live)
    actions = {action.text(): action for action in dock.menu(1).actions()}
    with qtbot.waitSignal(dock.edit_wanted) as wanted:
        actions["Edit…"].trigger()
    assert wanted.args == [1]
    assert [action.text() for action in dock.menu(-1).actions()] == ["Add a job…"]


def test_copying_a_row(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live)
    click(qtbot, dock, 0)
    QTest.keyClick(dock.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith("ring\t● running\t1.000\t")


def test_without_jobs_it_says_so_and_offers_one(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live, preset("gb300-su"))
    assert dock.empty.isVisible()
    assert dock.empty.button is not None
    with qtbot.waitSignal(dock.add_wanted):
        QTest.mouseClick(dock.empty.button, Qt.MouseButton.LeftButton)


def test_values_are_dim_while_they_are_old(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live)
    live.recompute()
    assert {cell.colour for cell in dock.model.rows[0]} == {DARK.dim}
    with qtbot.waitSignal(live.answered):
        pass
    dock.set_theme(LIGHT)
    assert dock.model.rows[0][1].colour == LIGHT.good
