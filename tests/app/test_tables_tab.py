from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gbviz.app import tables_tab
from gbviz.app.tables_tab import TablesTab
from gbviz.display.theme import DARK, LIGHT
from gbviz.scenario import preset
from tests.app.busy import failed, opened

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def tab(qtbot: QtBot, live: Live, selection: Selection) -> TablesTab:
    widget = TablesTab(live, selection, DARK)
    qtbot.addWidget(widget)
    widget.resize(900, 500)
    widget.show()
    opened(qtbot, live)
    return widget


def cells(tab: TablesTab, row: int) -> dict[str, str]:
    model = tab.model
    across, columns = Qt.Orientation.Horizontal, range(model.columnCount())
    return {model.headerData(c, across): model.index(row, c).data() for c in columns}


def click(tab: TablesTab, row: int, *, extend: bool = False) -> None:
    where = tab.view.visualRect(tab.model.index(row, 0)).center()
    keys = Qt.KeyboardModifier.ShiftModifier if extend else Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(tab.view.viewport(), Qt.MouseButton.LeftButton, keys, where)


def type_filter(tab: TablesTab, text: str) -> list[str]:
    tab.focus_filter()
    QTest.keyClicks(tab.filter, text)
    return tab.model.names(range(tab.model.rowCount()))


def test_every_table_has_its_rows(tab: TablesTab) -> None:
    counts = {}
    for key in ("links", "switches", "gpus", "racks", "jobs"):
        tab.show_table(key)
        counts[key] = tab.model.rowCount()
    spines = tab._live.answer.snapshot.fabric.count("spine") if tab._live.answer else 0
    # 576 NIC cables and as many uplinks; 8 leaves, spines, and 18 NVSwitches in each rack.
    assert counts == {
        "links": 1152,
        "switches": 8 + spines + 144,
        "gpus": 576,
        "racks": 8,
        "jobs": 2,
    }


def test_a_cable_has_its_load(tab: TablesTab) -> None:
    tab.filter.setText("rack-4/tray-0/nic-0")
    row = cells(tab, 0)
    assert row["name"] == "rack-4/tray-0/nic-0~leaf-4#0"
    assert (row["up, GB/s"], row["worst, %"], row["most by"]) == ("100.00", "▲▲ 100.0", "shift")


def test_states_follow_the_faults(qtbot: QtBot, live: Live, tab: TablesTab) -> None:
    tab.show_table("gpus")
    failed(qtbot, live, "hxu-2", "rack-0/tray-0/gpu-1")
    assert cells(tab, 1)["state"] == "✕ down"
    assert cells(tab, 0)["state"] == "● up"
    tab.show_table("racks")
    assert (cells(tab, 2)["state"], cells(tab, 2)["live GPUs"]) == ("✕ down", "0")
    tab.show_table("switches")
    failed(qtbot, live, "leaf-3", "rack-1/nvswitch-0")
    assert (cells(tab, 3)["live links"], cells(tab, 3)["state"]) == ("0", "✕ down")
    tab.filter.setText("rack-1/nvswitch-0")
    assert cells(tab, 0)["live links"] == "0"


def test_a_click_on_a_head_sorts_and_equals_keep_their_order(tab: TablesTab) -> None:
    titles = list(cells(tab, 0))
    column = titles.index("worst, %")
    head = tab.view.horizontalHeader()
    for _ in range(2):  # Rising, then falling.
        where = QPoint(head.sectionViewportPosition(column) + 9, head.height() // 2)
        QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=where)
    falling = head.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder
    assert cells(tab, 0 if falling else tab.model.rowCount() - 1)["worst, %"] == "▲▲ 100.0"
    tab.model.sort(column, Qt.SortOrder.DescendingOrder)
    assert tab.model.name(0).startswith("rack-4/tray-0/nic-0~")
    tab.model.sort(column, Qt.SortOrder.AscendingOrder)
    assert cells(tab, 0)["worst, %"] == "0.0"


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        ("leaf-0~spine-1#", "leaf-0~spine-1#0", None),
        ("rack-1/*nic-2~*", "rack-1/tray-0/nic-2~leaf-2#0", 18),
        ("RACK-7/tray-17/ nic-3", "rack-7/tray-17/nic-3~leaf-7#0", 1),
        ("shift nic-0 rack-5/", "rack-5/tray-0/nic-0~leaf-4#0", 18),
        ("nothing-like-it", "", 0),
        ("[", "", 0),
    ],
)
def test_the_filter_lets_through(tab: TablesTab, text: str, first: str, count: int | None) -> None:
    found = type_filter(tab, text)
    assert count is None or len(found) == count
    assert (found[0] if found else "") == first
    assert tab.count.text() == f"{len(found):,} of 1,152"


def test_a_row_is_selected_on_the_map_and_back(tab: TablesTab, selection: Selection) -> None:
    click(tab, 0)
    assert list(selection.names) == ["rack-0/tray-0/nic-0~leaf-0#0"]
    click(tab, 2, extend=True)
    assert [selection.name, len(selection.names)] == ["rack-0/tray-0/nic-2~leaf-2#0", 3]
    selection.select(["rack-0/tray-1/nic-1~leaf-1#0", "spine-1"])
    assert tab.model.names(tab.view.selected_rows()) == ["rack-0/tray-1/nic-1~leaf-1#0"]
    assert list(selection.names) == ["rack-0/tray-1/nic-1~leaf-1#0", "spine-1"]


def test_of_very_many_rows_the_map_gets_a_part(
    tab: TablesTab, selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_tab, "MOST_SELECTED", 300)
    QTest.keyClick(tab.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert len(selection.names) == 300
    assert len(tab.view.selected_rows()) == 1152
    assert tab.count.text() == "the map shows 300 of 1,152"
    tab.filter.setText("nic-0")
    assert len(tab.view.selected_rows()) == len([n for n in selection.names if "nic-0~" in n])


def test_a_bundle_selects_all_of_its_cables(tab: TablesTab, selection: Selection) -> None:
    selection.select(["leaf-0~spine-0"])
    names = tab.model.names(tab.view.selected_rows())
    assert names[0] == "leaf-0~spine-0#0"
    assert {name.split("#")[0] for name in names} == {"leaf-0~spine-0"}
    selection.select(["leaf-0:73"])
    assert tab.model.names(tab.view.selected_rows()) == ["leaf-0~spine-0#0"]


def test_the_selection_outlives_an_answer_a_sort_and_a_filter(
    qtbot: QtBot, live: Live, tab: TablesTab, selection: Selection
) -> None:
    selection.select(["rack-0/tray-1/nic-1~leaf-1#0"])
    failed(qtbot, live, "spine-0")
    tab.view.sortByColumn(6, Qt.SortOrder.DescendingOrder)
    tab.filter.setText("rack-0/tray-1/")
    assert tab.model.names(tab.view.selected_rows()) == ["rack-0/tray-1/nic-1~leaf-1#0"]
    assert list(selection.names) == ["rack-0/tray-1/nic-1~leaf-1#0"]
    tab.filter.setText("spine")
    assert list(selection.names) == ["rack-0/tray-1/nic-1~leaf-1#0"]


def test_enter_shows_it_on_the_map(qtbot: QtBot, tab: TablesTab, selection: Selection) -> None:
    click(tab, 1)
    with qtbot.waitSignal(selection.reveal) as shown:
        QTest.keyClick(tab.view, Qt.Key.Key_Return)
    assert shown.args == ["rack-0/tray-0/nic-1~leaf-1#0"]


def test_a_row_of_a_job_lights_it(tab: TablesTab, selection: Selection) -> None:
    tab.show_table("jobs")
    click(tab, 1)
    assert selection.job == "shift"


def test_csv_has_the_rows_shown_with_plain_numbers(qtbot: QtBot, tab: TablesTab) -> None:
    tab.filter.setText("rack-4/tray-0/")
    with qtbot.waitSignal(tab.export_wanted) as wanted:
        QTest.mouseClick(tab.export, Qt.MouseButton.LeftButton)
    assert wanted.args[0] == "links"
    rows = list(csv.DictReader(io.StringIO(wanted.args[1])))
    assert [row["name"] for row in rows] == [
        f"rack-4/tray-0/nic-{nic}~leaf-{4 + nic}#0" for nic in range(4)
    ]
    assert float(rows[0]["up, GB/s"]) == pytest.approx(100)


def test_copying_rows(tab: TablesTab) -> None:
    tab.show_table("racks")
    click(tab, 0)
    click(tab, 1, extend=True)
    QTest.keyClick(tab.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert [line.split("\t")[:2] for line in lines] == [["rack-0", "● up"], ["rack-1", "● up"]]


def test_what_does_not_exist_is_no_number(qtbot: QtBot, live: Live, tab: TablesTab) -> None:
    tab.show_table("jobs")
    failed(qtbot, live, "leaf-*")
    tab.model.sort(6, Qt.SortOrder.DescendingOrder)
    last = cells(tab, tab.model.rowCount() - 1)
    assert (last["slower"], last["state"]) == ("-", "■ stalled")


def test_a_hidden_tab_waits(qtbot: QtBot, live: Live, tab: TablesTab, selection: Selection) -> None:
    tab.hide()
    before = tab.model.sheet
    failed(qtbot, live, "spine-0")
    assert tab.model.sheet is before
    selection.select(["leaf-0~spine-0#0"])
    tab.show()
    assert tab.model.sheet is not before
    assert tab.model.names(tab.view.selected_rows()) == ["leaf-0~spine-0#0"]


def test_another_cluster_has_other_rows(qtbot: QtBot, live: Live, tab: TablesTab) -> None:
    opened(qtbot, live, preset("gb300-su", racks=4))
    assert tab.model.rowCount() == 576
    tab.set_theme(LIGHT)
    assert cells(tab, 0)["most by"] == "-"


def test_tab_goes_through_the_controls(tab: TablesTab) -> None:
    tab.activateWindow()
    tab.which.setFocus()
    order: list[QWidget | None] = []
    for _ in range(3):
        QTest.keyClick(tab.focusWidget(), Qt.Key.Key_Tab)
        order.append(tab.focusWidget())
    assert order == [tab.filter, tab.export, tab.view]
