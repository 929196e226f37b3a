"""The panels round the map: which there are, where they stand, how they are told of themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget

from gbviz.app.faults_dock import FaultsDock
from gbviz.app.figures_dock import FiguresDock
from gbviz.app.history_dock import HistoryDock
from gbviz.app.inspector_dock import InspectorDock
from gbviz.app.jobs_dock import JobsDock
from gbviz.app.log_dock import LogDock
from gbviz.app.plots_dock import PlotsDock
from gbviz.app.rack_view import RackView
from gbviz.app.timeline_dock import TimelineDock
from gbviz.app.views_dock import ViewsDock

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gbviz.app.live import Live
    from gbviz.app.remembered import Remembered
    from gbviz.app.selection import Selection
    from gbviz.display.theme import Theme

_LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
_RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
_BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
_LEFT_WIDTH, _RIGHT_WIDTH, _BOTTOM_HEIGHT = 330, 340, 215


class Panels:
    """All panels of a window by name, each in a dock."""

    def __init__(
        self,
        window: QMainWindow,
        live: Live,
        selection: Selection,
        theme: Theme,
        remembered: Remembered,
        current_view: Callable[[], dict[str, Any]],
    ) -> None:
        self._window = window
        self.jobs = JobsDock(live, selection, theme)
        self.faults = FaultsDock(live, selection, theme)
        self.history = HistoryDock(live, theme)
        self.views = ViewsDock(remembered, current_view)
        self.inspector = InspectorDock(live, selection, theme)
        self.figures = FiguresDock(live, theme)
        self.rack = RackView(live, selection, elevation_only=True)
        self.plots = PlotsDock(live, theme)
        self.log = LogDock(live, theme)
        self.timeline = TimelineDock(live, theme)
        self.docks: dict[str, QDockWidget] = {}
        self._areas: dict[str, Qt.DockWidgetArea] = {}
        tr = window.tr
        for name, title, widget, area in (
            ("jobs", tr("Jobs"), self.jobs, _LEFT),
            ("faults", tr("Faults"), self.faults, _LEFT),
            ("history", tr("History"), self.history, _LEFT),
            ("views", tr("Saved views"), self.views, _LEFT),
            ("inspector", tr("Inspector"), self.inspector, _RIGHT),
            ("figures", tr("Key figures"), self.figures, _RIGHT),
            ("elevation", tr("Rack elevation"), self.rack, _RIGHT),
            ("timeline", tr("Timeline"), self.timeline, _BOTTOM),
            ("plots", tr("Plots"), self.plots, _BOTTOM),
            ("log", tr("Log"), self.log, _BOTTOM),
        ):
            self._add(name, title, widget, area)
        self.reset()

    def _add(self, name: str, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> None:
        dock = QDockWidget(title, self._window)
        dock.setObjectName(f"dock-{name}")
        dock.setWidget(widget)
        dock.setAccessibleName(title)
        self.docks[name] = dock
        self._areas[name] = area

    def reset(self) -> None:
        """Put all docks where they belong."""
        window, docks = self._window, self.docks
        # Each is added once before the window is seen: a dock that is added and tabbed twice
        # leaves a stray tab bar behind.
        for name, area in self._areas.items():
            docks[name].setFloating(False)
            window.addDockWidget(area, docks[name])
            docks[name].show()
        window.tabifyDockWidget(docks["faults"], docks["history"])
        window.tabifyDockWidget(docks["history"], docks["views"])
        window.tabifyDockWidget(docks["figures"], docks["elevation"])
        window.tabifyDockWidget(docks["timeline"], docks["plots"])
        window.tabifyDockWidget(docks["plots"], docks["log"])
        for name in ("faults", "figures", "plots"):
            docks[name].raise_()
        self.resize()

    def resize(self) -> None:
        """Give all docks the sizes that they begin with."""
        window, docks = self._window, self.docks
        # Larger text needs more room for the same columns.
        usual = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        larger = max(1.0, QApplication.font().pointSizeF() / usual.pointSizeF())
        left, right = round(_LEFT_WIDTH * larger), round(_RIGHT_WIDTH * larger)
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        window.resizeDocks([docks["jobs"], docks["inspector"]], [left, right], across)
        window.resizeDocks([docks["plots"]], [min(_BOTTOM_HEIGHT, window.height() // 4)], down)
        window.resizeDocks([docks["jobs"], docks["faults"]], [260, 460], down)
        window.resizeDocks([docks["inspector"], docks["figures"]], [460, 330], down)

    def show_time(self, lasts: bool) -> None:
        """Bring the timeline into sight where time passes, the plots where none does."""
        self.docks["timeline" if lasts else "plots"].raise_()

    def set_theme(self, theme: Theme) -> None:
        """Tell all panels that paint by themselves."""
        for panel in (
            self.jobs,
            self.faults,
            self.history,
            self.inspector,
            self.figures,
            self.plots,
            self.log,
            self.timeline,
        ):
            panel.set_theme(theme)
