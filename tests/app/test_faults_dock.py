from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow, QTreeWidgetItem, QTreeWidgetItemIterator

from gbviz.app.faults_dock import FaultsDock, name_of
from gbviz.display.theme import DARK
from gbviz.faults import Action
from gbviz.scenario import preset
from gbviz.scenario.event import Event
from tests.app.busy import answered, failed, opened

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def dock(qtbot: QtBot, live: Live, selection: Selection) -> FaultsDock:
    widget = FaultsDock(live, selection, DARK)
    qtbot.addWidget(widget)
    widget.resize(400, 300)
    widget.show()
    return widget


def rows(dock: FaultsDock) -> list[tuple[str, str, str]]:
    walk = QTreeWidgetItemIterator(dock.tree)
    items: list[QTreeWidgetItem] = []
    while item := walk.value():
        items.append(item)
        walk += 1
    return [(item.text(0), item.text(1), item.text(3)) for item in items]


def click(qtbot: QtBot, dock: FaultsDock, row: int) -> None:
    item = dock.tree.topLevelItem(row)
    assert item is not None
    where = dock.tree.visualItemRect(item).center()
    QTest.mouseClick(dock.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)


def test_nothing_broken_says_what_to_do(qtbot: QtBot, live: Live, dock: FaultsDock) -> None:
    answered(qtbot, live)
    assert dock.empty.isVisible()
    assert not dock.restore.isVisible()


def test_a_consequence_is_under_its_cause(qtbot: QtBot, live: Live, dock: FaultsDock) -> None:
    failed(qtbot, live, "hxu-5", "leaf-3")
    assert rows(dock) == [
        ("✕ hxu-5", "failed", "0:00"),
        ("↳ ✕ rack-5", "failed", ""),
        ("✕ leaf-3", "failed", "0:00"),
    ]
    item = dock.tree.topLevelItem(1)
    assert item is not None
    assert item.text(2) == "288 links (both directions) and 72 NICs"


def test_events_have_a_time_and_a_duration(qtbot: QtBot, live: Live, dock: FaultsDock) -> None:
    event = Event(75.0, Action("degrade", "leaf-0~spine-1#0", 0.5), for_s=3600.0)
    opened(qtbot, live, preset("gb300-su").with_events(event))
    assert rows(dock) == [("▼ leaf-0~spine-1#0", "at 50 %", "1:15, for 1:00:00")]


@pytest.mark.parametrize("key", [Qt.Key.Key_R, Qt.Key.Key_Delete])
def test_a_key_repairs_the_row(qtbot: QtBot, live: Live, dock: FaultsDock, key: Qt.Key) -> None:
    failed(qtbot, live, "leaf-3")
    failed(qtbot, live, "spine-1")
    click(qtbot, dock, 0)
    with qtbot.waitSignal(live.answered):
        QTest.keyClick(dock.tree, key)
    assert rows(dock) == [("✕ spine-1", "failed", "0:00")]


def test_repairing_a_consequence_mends_its_cause(
    qtbot: QtBot, live: Live, dock: FaultsDock
) -> None:
    failed(qtbot, live, "hxu-5")
    top = dock.tree.topLevelItem(0)
    assert top is not None
    child = top.child(0)
    assert child is not None
    dock.tree.setCurrentItem(child)
    with qtbot.waitSignal(live.answered):
        dock.repair()
    assert rows(dock) == []


def test_its_key_wins_over_the_window_s(qtbot: QtBot, live: Live, dock: FaultsDock) -> None:
    """With the focus in the list, R is the list's even where the window has an R too."""
    window = QMainWindow()
    qtbot.addWidget(window)
    window.setCentralWidget(dock)
    action = QAction(window)
    action.setShortcut(QKeySequence("R"))
    fired: list[bool] = []
    action.triggered.connect(fired.append)
    window.addAction(action)
    window.show()
    failed(qtbot, live, "leaf-3")
    click(qtbot, dock, 0)
    with qtbot.waitSignal(live.answered):
        QTest.keyClick(dock.tree, Qt.Key.Key_R)
    assert fired == []
    window.takeCentralWidget()


def test_enter_shows_the_row_on_the_map(
    qtbot: QtBot, live: Live, dock: FaultsDock, selection: Selection
) -> None:
    failed(qtbot, live, "leaf-3")
    click(qtbot, dock, 0)
    assert selection.names == ("leaf-3",)
    with qtbot.waitSignal(selection.reveal) as shown:
        QTest.keyClick(dock.tree, Qt.Key.Key_Return)
    assert shown.args == ["leaf-3"]


def test_what_is_selected_on_the_map_is_selected_here(
    qtbot: QtBot, live: Live, dock: FaultsDock, selection: Selection
) -> None:
    failed(qtbot, live, "leaf-3", "spine-1")
    selection.select(["spine-1", "rack-0"])
    assert [name_of(item) for item in dock.tree.selectedItems()] == ["spine-1"]
    assert selection.names == ("spine-1", "rack-0")


def test_restore_all_mends_all(qtbot: QtBot, live: Live, dock: FaultsDock) -> None:
    failed(qtbot, live, "leaf-3", "spine-1")
    with qtbot.waitSignal(live.answered):
        QTest.mouseClick(dock.restore, Qt.MouseButton.LeftButton)
    assert dock.empty.isVisible()
    assert not live.scenario.events


def test_a_fault_of_its_own_stays_at_the_top(qtbot: QtBot, live: Live, dock: FaultsDock) -> None:
    """Repairing the cooling unit would not mend the GPU; both are to be repaired by themselves."""
    failed(qtbot, live, "rack-5/tray-0/gpu-1")
    failed(qtbot, live, "hxu-5")
    assert [name for name, _state, _since in rows(dock)] == [
        "✕ rack-5/tray-0/gpu-1",
        "✕ hxu-5",
        "↳ ✕ rack-5",
    ]
    gpu, unit = dock.tree.topLevelItem(0), dock.tree.topLevelItem(1)
    assert gpu is not None
    assert unit is not None
    assert gpu.text(2).startswith("also down with rack-5")
    assert "also down with rack-5" in gpu.toolTip(0)
    assert unit.text(2) == "rack-5 shut down"


def test_rows_grow_with_the_text(qtbot: QtBot, live: Live, dock: FaultsDock) -> None:
    failed(qtbot, live, "leaf-3")
    item = dock.tree.topLevelItem(0)
    assert item is not None
    before = dock.tree.visualItemRect(item).height()
    font = dock.font()
    assert before >= dock.fontMetrics().height() + 6
    name = dock.tree.fontMetrics().horizontalAdvance(item.text(0))
    assert dock.tree.columnWidth(0) > name, "the name is not cut"
    font.setPointSizeF(2 * font.pointSizeF())
    dock.setFont(font)
    assert dock.tree.visualItemRect(item).height() > 1.4 * before
