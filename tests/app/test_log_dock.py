from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication

from gbviz.app import log_dock
from gbviz.app.log_dock import LogDock
from gbviz.display.theme import DARK
from tests.app.busy import answered, failed

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def dock(qtbot: QtBot, live: Live) -> LogDock:
    widget = LogDock(live, DARK)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def test_everything_is_noted_with_its_level(qtbot: QtBot, live: Live, dock: LogDock) -> None:
    answered(qtbot, live)
    failed(qtbot, live, "leaf-3")
    live.repair(["rack-1"])
    live.cancel()
    levels = [line.level for line in dock.lines]
    assert levels == ["answer", "edit", "answer", "refused", "failed"]
    assert dock.lines[1].text == "fail leaf-3"
    assert re.fullmatch(r"answered after \d+\.\d{3} s", dock.lines[2].text)
    assert re.fullmatch(r"\d\d:\d\d:\d\d", dock.lines[0].time)


def test_the_filter_hides_what_is_less(live: Live, dock: LogDock) -> None:
    for level in ("answer", "edit", "refused", "failed"):
        dock.add(level, level)
    shown = []
    for choice in range(4):
        dock.level.setCurrentIndex(choice)
        shown.append(dock.model.rowCount())
    assert shown == [4, 3, 2, 1]
    dock.add("edit", "hidden")
    assert dock.model.rowCount() == 1
    dock.level.setCurrentIndex(0)
    assert dock.model.rowCount() == 5


def test_copying_takes_what_is_selected_else_all(dock: LogDock) -> None:
    dock.add("edit", "one")
    dock.add("edit", "two")
    dock.copy()
    assert [line.split()[-1] for line in QGuiApplication.clipboard().text().splitlines()] == [
        "one",
        "two",
    ]
    dock.view.selectRow(1)
    dock.copy()
    assert QGuiApplication.clipboard().text().endswith("● edit two")
    dock.clear()
    assert dock.model.rowCount() == 0


def test_the_oldest_lines_go(dock: LogDock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_dock, "MOST_LINES", 20)
    for number in range(21):
        dock.add("edit", str(number))
    assert [line.text for line in dock.lines][:2] == ["2", "3"]
    assert dock.model.rowCount() == len(dock.lines) == 19
