from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gbviz.app.job_form import JobForm
from gbviz.app.jobs_dock import JobsDock
from gbviz.display.theme import DARK, LIGHT
from gbviz.engine import edits
from gbviz.jobs import traffic_job
from gbviz.jobs.spec import TrainingJob
from gbviz.scenario import Scenario, preset
from tests.app.busy import failed, opened

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection

pytestmark = pytest.mark.usefixtures("nothing_left")


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
    name, state, times, once, _now, gpus, _limit = texts(dock, 0)
    assert (name, state, times, once, gpus) == ("ring", "running", "1.000", "0 s", "288")
    assert texts(dock, 1)[4] == "100 GB/s"
    assert dock.model.rows[1][4].tip.startswith("100.00 GB/s a flow; ")


def llama() -> Scenario:
    """A training job on the first four racks, with a checkpoint every half hour."""
    job = TrainingJob(
        kind="training",
        name="llama",
        racks="rack-[0-3]",
        gpus_per_rack=64,
        model="llama3-70b",
        parallelism={"tp": 8, "dp": 32},
        batch={"global": 128},
    )
    return preset("gb300-su").with_jobs(job)


def test_a_loss_that_only_costs_time_once_does_not_look_free(
    qtbot: QtBot, live: Live, dock: JobsDock
) -> None:
    """A dead NIC's GPU sends by its neighbours' NICs: as fast as before, after a restart."""
    opened(qtbot, live, llama())
    assert dock.model.rows[0][1].colour == DARK.good
    failed(qtbot, live, "rack-3/tray-15/nic-3")
    state, slower, once = dock.model.rows[0][1:4]
    assert slower.text == "1.000"
    assert (state.text, state.colour) == ("▲ running", DARK.warm)
    assert (once.text, once.bold, once.colour) == ("1,530 s", True, DARK.warm)
    assert "900 s of work lost" in once.tip
    assert "600 s to restart" in once.tip


def test_the_first_five_columns_fit_the_panel(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    dock.resize(330, 300)
    opened(qtbot, live, llama())
    failed(qtbot, live, "rack-3/tray-17")
    view = dock.view
    assert view.columnViewportPosition(4) + view.columnWidth(4) <= view.viewport().width()
    assert dock.model.titles[:5] == ["job", "state", "slower", "once", "now"]
    assert view.columnWidth(0) >= view.fontMetrics().horizontalAdvance("llama") + 14
    for column in range(1, 5):
        text = dock.model.rows[0][column].text
        assert view.fontMetrics().horizontalAdvance(text) <= view.columnWidth(column)


def test_a_fault_shows_in_state_and_slowdown(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live)
    failed(qtbot, live, "leaf-*")
    assert texts(dock, 1)[1:3] == ["stalled", "never"]


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
    live.edit(partial(edits.put_job, job=traffic_job("shift:72")))
    for _ in range(2):
        dock.duplicate(2)
    names = ["ring", "shift", "shift:72", "shift:72 2", "shift:72 3"]
    assert [job.name for job in live.scenario.jobs] == names


def test_a_duplicate_is_put_on_free_racks(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live, llama())
    dock.duplicate(0)
    form = dock.window().findChild(JobForm)
    assert form is not None
    assert form.name_edit.text() == "llama 2"
    assert form.page.texts()["racks",] == "rack-[4-7]"
    assert form.page.texts()["batch", "global"] == "128"
    form.accept()
    with qtbot.waitSignal(live.answered, timeout=5000):
        pass
    assert live.error is None
    assert [job.name for job in live.scenario.jobs] == ["llama", "llama 2"]


def test_a_duplicate_without_room_is_refused(qtbot: QtBot, live: Live, dock: JobsDock) -> None:
    opened(qtbot, live)
    with qtbot.waitSignal(live.refused) as said:
        dock.duplicate(0)
    assert said.args == ["ring cannot be duplicated: it needs 4 racks, there are 0 free racks"]
    assert len(live.scenario.jobs) == 2


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
    assert QGuiApplication.clipboard().text().startswith("ring\trunning\t1.000\t0 s\t")


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
