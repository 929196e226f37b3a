"""Starts the desktop app: checks, one QApplication, the window, and what a crash left behind."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gbviz.app.preflight import preflight
from gbviz.errors import GbvizError
from gbviz.scenario import preset
from gbviz.scenario.demo import demo

if TYPE_CHECKING:
    from gbviz.app.preflight import Problem
    from gbviz.scenario import Scenario


def start(path: str | None) -> Problem | int:
    """Open the app with a file, or with the cluster at work that the first start shows.

    Returns
    -------
    Problem or int
        Why there can be no window, or the exit code once the window has been closed.
    """
    problem = preflight()
    if problem is not None:
        return problem
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from gbviz.app import recovery
    from gbviz.app.crash import Crash
    from gbviz.app.window import MainWindow

    app = QApplication(sys.argv[:1])
    app.setApplicationName("gbviz")
    app.setApplicationDisplayName("gbviz")
    app.setDesktopFileName("gbviz")
    crash = Crash()
    crash.install()
    window = MainWindow(first_scenario())
    crash.noticed.connect(window.panels.log.add)
    crash.crashed.connect(window.asks.tell_crash)
    window.show()
    if path is not None:
        window.documents.open(Path(path))
    QTimer.singleShot(0, lambda: recovery.offer(window.recovery, window))
    code = int(app.exec())
    crash.close()
    return code


def first_scenario() -> Scenario:
    """What an empty start shows: the demo, or a bare preset where that cannot be read."""
    try:
        return replace(demo(), path=None, text=None)
    except GbvizError:
        return preset("azure-gb300")
