from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gbviz.app.history_dock import HistoryDock
from gbviz.display.theme import DARK, LIGHT
from gbviz.scenario import preset

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def dock(qtbot: QtBot, live: Live) -> HistoryDock:
    widget = HistoryDock(live, DARK)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def labels(dock: HistoryDock) -> list[str]:
    return [dock.model.index(row).data().strip() for row in range(dock.model.rowCount())]


def test_steps_are_listed_by_name(live: Live, dock: HistoryDock) -> None:
    assert labels(dock) == ["▶ start"]
    live.fail(["leaf-3"])
    live.fail(["spine-1"])
    live.undo()
    assert labels(dock) == ["start", "▶ fail leaf-3", "fail spine-1"]


def test_a_click_goes_there_and_nothing_is_lost(
    qtbot: QtBot, live: Live, dock: HistoryDock
) -> None:
    live.fail(["leaf-3"])
    live.fail(["spine-1"])
    where = dock.view.visualRect(dock.model.index(0)).center()
    QTest.mouseClick(dock.view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert live.scenario == preset("gb300-su")
    assert labels(dock) == ["▶ start", "fail leaf-3", "fail spine-1"]
    assert dock.view.currentIndex().row() == 0


def test_the_keyboard_goes_there(live: Live, dock: HistoryDock) -> None:
    live.fail(["leaf-3"])
    dock.view.setFocus()
    QTest.keyClick(dock.view, Qt.Key.Key_Up)
    assert live.session.at == 1
    QTest.keyClick(dock.view, Qt.Key.Key_Return)
    assert live.session.at == 0


def test_undone_steps_are_dim_in_both_themes(live: Live, dock: HistoryDock) -> None:
    live.fail(["leaf-3"])
    live.undo()
    dock.set_theme(LIGHT)
    brush = dock.model.index(1).data(Qt.ItemDataRole.ForegroundRole)
    assert brush.color().name() == LIGHT.dim


def test_another_scenario_has_another_history(live: Live, dock: HistoryDock) -> None:
    live.fail(["leaf-3"])
    live.open(preset("gb300-su"))
    assert labels(dock) == ["▶ start"]
