"""Every widget that takes the focus has a name that a screen reader can say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QWidget,
)

from gbviz.app.dialogs import AboutDialog, Preferences, ShortcutSheet
from gbviz.app.faults_dock import FaultsDock
from gbviz.app.figures_dock import FiguresDock
from gbviz.app.history_dock import HistoryDock
from gbviz.app.inspector_dock import InspectorDock
from gbviz.app.job_form import JobForm
from gbviz.app.jobs_dock import JobsDock
from gbviz.app.log_dock import LogDock
from gbviz.app.preset_dialog import PresetDialog
from gbviz.app.selection import Selection
from gbviz.app.settings import Settings
from gbviz.app.start_page import StartPage
from gbviz.app.status import StatusBar
from gbviz.app.tables_tab import TablesTab
from gbviz.display.theme import DARK
from gbviz.scenario.demo import demo

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")

MAKERS: dict[str, Callable[[Live, Selection], QWidget]] = {
    "jobs": lambda live, selection: JobsDock(live, selection, DARK),
    "faults": lambda live, selection: FaultsDock(live, selection, DARK),
    "figures": lambda live, _: FiguresDock(live, DARK),
    "inspector": lambda live, selection: InspectorDock(live, selection, DARK),
    "history": lambda live, _: HistoryDock(live, DARK),
    "log": lambda live, _: LogDock(live, DARK),
    "tables": lambda live, selection: TablesTab(live, selection, DARK),
    "status": lambda live, selection: StatusBar(live, selection),
    "start": lambda *_: StartPage(("/a/b.yaml",)),
    "form": lambda *_: JobForm(demo(), 0),
    "preset": lambda *_: PresetDialog(),
    "preferences": lambda *_: Preferences(Settings()),
    "sheet": lambda *_: ShortcutSheet([("file", "Open", "Ctrl+O")]),
    "about": lambda *_: AboutDialog(),
}


def named(widget: QWidget) -> bool:
    """Whether a widget has a name: its own, its text, or that of a label."""
    if widget.accessibleName():
        return True
    if isinstance(widget, QAbstractButton):
        return bool(widget.text())
    window = widget.window()
    return any(label.buddy() is widget and label.text() for label in window.findChildren(QLabel))


@pytest.mark.parametrize("which", MAKERS)
def test_what_takes_the_focus_has_a_name(qtbot: QtBot, live: Live, which: str) -> None:
    widget = MAKERS[which](live, Selection())
    qtbot.addWidget(widget)
    found = [
        one
        for one in [widget, *widget.findChildren(QWidget)]
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus or isinstance(one, QLineEdit)
    ]
    nameless = [
        f"{type(one).__name__} in {type(one.parentWidget()).__name__} {one.objectName()}"
        for one in found
        if not named(one)
    ]
    assert nameless == []
    boxes = [one for one in found if isinstance(one, QComboBox | QAbstractSpinBox)]
    inner = [box.lineEdit() for box in boxes]
    assert all(line is None or line.accessibleName() for line in inner)
