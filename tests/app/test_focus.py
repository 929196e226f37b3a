"""Tab goes through every panel, whatever is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget

from gbviz.app.faults_dock import FaultsDock
from gbviz.app.jobs_dock import JobsDock
from gbviz.app.selection import Selection
from gbviz.app.timeline_dock import TimelineDock
from gbviz.display.theme import DARK
from gbviz.scenario import preset
from tests.app.busy import opened

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.parametrize("which", ["jobs", "faults", "timeline"])
def test_tab_goes_through_an_empty_panel_and_on(qtbot: QtBot, live: Live, which: str) -> None:
    """A button, the panel with its hint, a button: Tab reaches all three, both ways."""
    window, selection = QWidget(), Selection()
    panel: QWidget
    if which == "timeline":
        panel = TimelineDock(live, DARK)
    else:
        panel = (JobsDock if which == "jobs" else FaultsDock)(live, selection, DARK)
    first, last = QPushButton("first"), QPushButton("last")
    layout = QVBoxLayout(window)
    for widget in (first, panel, last):
        layout.addWidget(widget)
    qtbot.addWidget(window)
    window.resize(600, 500)
    window.show()
    window.activateWindow()
    opened(qtbot, live, preset("gb300-su"))
    for start, key, end in ((first, Qt.Key.Key_Tab, last), (last, Qt.Key.Key_Backtab, first)):
        start.setFocus()
        seen: list[QWidget] = []
        for _ in range(10):
            focus = QApplication.focusWidget()
            assert focus is not None
            seen.append(focus)
            if focus is end:
                break
            QTest.keyClick(focus, key)
        assert seen[-1] is end
        inside = [widget for widget in seen if panel.isAncestorOf(widget)]
        assert inside
        assert all(widget.isVisible() for widget in inside)
