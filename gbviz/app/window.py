"""The main window: puts the parts together and carries intent from one to another."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QTabWidget

from gbviz.app import dialogs
from gbviz.app.actions import Actions
from gbviz.app.asks import Asks
from gbviz.app.canvas import Canvas
from gbviz.app.commands import add_commands, menus
from gbviz.app.deeds import Deeds
from gbviz.app.desk import Desk
from gbviz.app.documents import Documents
from gbviz.app.fabric_view import FabricView
from gbviz.app.hint_bar import HintBar
from gbviz.app.keeping import restore_layout, saved_layout
from gbviz.app.live import Live
from gbviz.app.matrix_view import MatrixView
from gbviz.app.minimap import MiniMap
from gbviz.app.panels import Panels
from gbviz.app.rack_view import RackView
from gbviz.app.recovery import Recovery
from gbviz.app.remembered import Remembered
from gbviz.app.search import SearchBox
from gbviz.app.selection import Selection
from gbviz.app.start_page import StartPage
from gbviz.app.status import StatusBar
from gbviz.app.tables_tab import TablesTab
from gbviz.app.theme import dress, theme_of
from gbviz.app.toolbar import ToolBar
from gbviz.display.shades import COLOUR_BY, Look

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent

    from gbviz.display.shades import ColourBy
    from gbviz.display.theme import Theme
    from gbviz.scenario import Scenario


class MainWindow(QMainWindow):
    """Map, rack, matrix and tables in the middle, panels round them."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__()
        self.setObjectName("main")
        self.remembered = Remembered(self)
        self.live = Live(scenario, self)
        self.selection = Selection(self)
        self.asking = dialogs.Asking(self)
        self.documents = Documents(self.live, self.remembered, self.asking, self)
        self.recovery = Recovery(self.live, self.documents, self.remembered, self)
        self.deeds = Deeds(self.live, self.selection, self)
        self.theme: Theme = theme_of(self.remembered.settings.theme)
        self.tool = "select"
        self.desk = Desk(self)
        self.asks = Asks(self)
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self._build()
        self._connect()
        self.apply_settings()
        restore_layout(self, self.remembered.settings)
        self.hints.setVisible(self.hints.fits(self.live.scenario))
        if self.remembered.note:
            self.panels.log.add("warning", self.remembered.note)
        self.fabric.setFocus()
        self.live.recompute()

    def _build(self) -> None:
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.fabric = FabricView(self.live, self.selection)
        self.minimap = MiniMap(self.fabric)
        self.rack = RackView(self.live, self.selection)
        self.matrix = MatrixView(self.live, self.selection)
        self.tables = TablesTab(self.live, self.selection, self.theme)
        self.start = StartPage(self.remembered.settings.recent)
        for widget, title in (
            (self.fabric, self.tr("Fabric")),
            (self.rack, self.tr("Rack")),
            (self.matrix, self.tr("Leaf x spine")),
            (self.tables, self.tr("Tables")),
            (self.start, self.tr("Start")),
        ):
            self.tabs.addTab(widget, title)
        self.setCentralWidget(self.tabs)
        self.panels = Panels(
            self, self.live, self.selection, self.theme, self.remembered, self.fabric_state
        )
        self.setStatusBar(StatusBar(self.live, self.selection, self))
        self.tool_sign = QLabel(self)
        self.tool_sign.setObjectName("tool-sign")
        self.tool_sign.setAccessibleName(self.tr("What clicks do"))
        self.statusBar().addPermanentWidget(self.tool_sign)
        self.tool_sign.hide()
        self.actions_by_name = Actions(self)
        add_commands(self, self.actions_by_name)
        self.actions_by_name.fill(self.menuBar(), menus(self))
        self.bar = ToolBar(self.actions_by_name, self)
        self.addToolBar(self.bar)
        self.addToolBarBreak()
        self.hints = HintBar(self.remembered, self)
        self.addToolBar(self.hints)
        self.finder = SearchBox(self.actions_by_name, self)

    def _connect(self) -> None:
        live, panels = self.live, self.panels
        live.edited.connect(self.desk.refresh_history)
        live.opened.connect(self._opened)
        live.answered.connect(self._answered)
        self.documents.titled.connect(self._titled)
        self.documents.saved.connect(self.desk.refresh_history)
        self.documents.message.connect(panels.log.add)
        self.recovery.message.connect(panels.log.add)
        self.documents.problem.connect(self.asks.tell_problem)
        self.remembered.changed.connect(self.apply_settings)
        for view in (self.fabric, self.matrix, self.rack, panels.rack):
            view.menu_wanted.connect(self.show_menu)
            view.entered.connect(self.desk.enter)
            view.clicked.connect(self._tool_click)
        self.rack.rack_changed.connect(self._rack_changed)
        panels.jobs.add_wanted.connect(self.asks.add_job)
        panels.jobs.edit_wanted.connect(self.asks.edit_job)
        panels.views.wanted.connect(self.desk.look_as)
        panels.plots.export_wanted.connect(self.asks.save_text)
        panels.timeline.export_wanted.connect(self.asks.save_text)
        self.tables.export_wanted.connect(self.asks.save_text)
        self.start.preset_chosen.connect(self.documents.new_from_preset)
        self.start.example_chosen.connect(partial(self.documents.open, example=True))
        self.start.file_chosen.connect(self.documents.open)
        self.start.open_wanted.connect(self.asks.ask_open)
        self.start.demo_wanted.connect(self.asks.open_demo)
        self.finder.chosen.connect(self.desk.take_found)
        self.selection.changed.connect(self.desk.refresh_selection)
        self._titled("")
        self.desk.refresh_history()
        self.desk.refresh_selection()

    @Slot()
    def apply_settings(self) -> None:
        """Put theme, text size, colours and link style into force."""
        now = self.remembered.settings
        self.theme = theme_of(now.theme)
        app = QApplication.instance()
        wanted = (self.theme.name, now.font_scale)
        if isinstance(app, QApplication) and app.property("dressed") != wanted:
            dress(app, self.theme, now.font_scale)
            app.setProperty("dressed", wanted)
        by: ColourBy = next((by for by in COLOUR_BY if by == now.colour_by), "utilisation")
        look = Look(self.theme, now.ramp, by)
        for view in (self.fabric, self.matrix, self.rack, self.panels.rack):
            view.set_font_scale(now.font_scale)
            view.set_look(look)
        self.fabric.set_links(now.links)
        self.minimap.forget()
        self.panels.set_theme(self.theme)
        self.tables.set_theme(self.theme)
        for name in (f"colour.{by}", f"links.{now.links}", f"theme.{now.theme}"):
            self.actions_by_name[name].setChecked(True)
        self.start.set_recent(now.recent)

    def current_canvas(self) -> Canvas:
        """The canvas of the tab that is shown, the map where that has none."""
        shown = self.tabs.currentWidget()
        return shown if isinstance(shown, Canvas) else self.fabric

    def fabric_state(self) -> dict[str, Any]:
        """How the map is looked at now, for a saved view."""
        camera, now = self.fabric.camera, self.remembered.settings
        return {
            "zoom": camera.zoom,
            "x": camera.x,
            "y": camera.y,
            "colour_by": now.colour_by,
            "links": now.links,
            "selected": list(self.selection.names[:100]),
        }

    @Slot(object)
    def show_menu(self, at: QPoint) -> None:
        """Show what can be done with the selection."""
        menu = self.deeds.menu(self.desk.add_to_menu)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 Qt's name
        """Give the panels their sizes at the first start: docks take none before they are seen."""
        super().showEvent(event)
        if not self.remembered.settings.window:
            QTimer.singleShot(0, self.panels.resize)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 Qt's name
        """Ask for unsaved work, remember the layout, stop the threads."""
        if not self.documents.can_leave():
            event.ignore()
            return
        self.remembered.change(**saved_layout(self))
        self.recovery.close()
        self.live.close()
        self.asks.close()
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        """Welcome a scenario file."""
        if self.documents.accepts(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        """Open the scenario file that was dropped."""
        path = self.documents.dropped(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.documents.open(path)

    @Slot()
    def _opened(self) -> None:
        self.selection.clear()
        self.hints.setVisible(self.hints.fits(self.live.scenario))
        self.panels.show_time(self.live.scenario.end_s > 0)
        self.desk.refresh_history()
        self.tabs.setCurrentWidget(self.fabric)

    @Slot()
    def _answered(self) -> None:
        self.desk.refresh_history()

    @Slot(str)
    def _titled(self, _title: str) -> None:
        self.setWindowTitle(self.documents.title)
        self.setWindowModified(self.documents.unsaved)

    @Slot(int)
    def _rack_changed(self, rack: int) -> None:
        self.tabs.setTabText(self.tabs.indexOf(self.rack), f"rack-{rack}")

    @Slot(str, bool)
    def _tool_click(self, name: str, _adds: bool) -> None:
        if name and self.tool == "fail":
            self.live.fail([name])
        elif name and self.tool == "repair":
            self.live.repair([name])
