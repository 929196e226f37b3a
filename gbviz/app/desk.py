"""What commands, panels and views ask of the window: tools, ways to go, what is in force."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from gbviz.app.settings import LARGEST_FONT, SMALLEST_FONT
from gbviz.app.status import worst_link
from gbviz.display.camera import CLOSEST, Camera
from gbviz.display.rack_places import rack_of
from gbviz.display.walk import parent
from gbviz.report.explain import cause_path

if TYPE_CHECKING:
    from gbviz.app.search import Found
    from gbviz.app.window import MainWindow

SCALABLE_UNIT = 8
# Nothing that is drawn is as far from anything else.
_FARTHEST = 1e9


class Desk(QObject):
    """Each method is a few words to the live state or a view of its window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def use_tool(self, tool: str) -> None:
        """Let clicks select, fail or repair."""
        self._window.tool = tool
        says = {
            "select": self.tr("Clicks select."),
            "fail": self.tr("Every click fails what it hits, until V or Escape."),
            "repair": self.tr("Every click repairs what it hits, until V or Escape."),
        }
        window = self._window
        window.actions_by_name[f"tool.{tool}"].setChecked(True)
        shape = Qt.CursorShape.ArrowCursor if tool == "select" else Qt.CursorShape.CrossCursor
        for canvas in (window.fabric, window.matrix, window.rack, window.panels.rack):
            canvas.setCursor(shape)
        window.tool_sign.setText("" if tool == "select" else f"  {says[tool]}  ")
        window.tool_sign.setVisible(tool != "select")

    def fail(self) -> None:
        """Fail the selection, or let clicks fail."""
        if self._window.selection.names:
            self._window.deeds.fail()
        else:
            self.use_tool("fail")

    def repair(self) -> None:
        """Repair the selection, or let clicks repair."""
        if self._window.selection.names:
            self._window.deeds.repair()
        else:
            self.use_tool("repair")

    def degrade(self) -> None:
        """Degrade the selection to half, and let the inspector's slider change that."""
        if not self._window.selection.names:
            self._window.statusBar().showMessage(
                self.tr("Select what is to be degraded first."), 6000
            )
        elif self._window.deeds.degrade():
            self._window.panels.docks["inspector"].raise_()
            self._window.panels.inspector.factor.spin.setFocus()
            self._window.panels.inspector.factor.spin.selectAll()

    def fail_bundle(self) -> None:
        """Fail all parallel cables of the selected one; other parts are failed as they are."""
        names = [parent(n) if "#" in n else n for n in self._window.selection.names]
        if names:
            self._window.live.fail(list(dict.fromkeys(names)))

    def escape(self) -> None:
        """Back to selecting; then select nothing; then show everything."""
        if self._window.tool != "select":
            self.use_tool("select")
        elif self._window.selection.names or self._window.selection.job:
            self._window.selection.clear()
        else:
            self._window.current_canvas().fit()

    @Slot(str)
    def enter(self, name: str) -> None:
        """Go into a part: racks and what is in them open the rack, others are zoomed to."""
        answer = self._window.live.answer
        if not name or answer is None:
            return
        if rack_of(answer.snapshot.fabric, name) >= 0:
            if name not in self._window.selection.names:
                self._window.selection.select([name])
            self._window.rack.show_rack(rack_of(answer.snapshot.fabric, name))
            self._window.tabs.setCurrentWidget(self._window.rack)
            self._window.rack.setFocus()
        else:
            self._window.selection.select([name], reveal=True)
            self.zoom_to_selection()

    def zoom(self, factor: float) -> None:
        """Zoom the view that is shown."""
        self._window.current_canvas().zoom(factor)

    def fit(self) -> None:
        """Show everything in the view that is shown."""
        self._window.current_canvas().fit()

    def zoom_to_selection(self) -> None:
        """Fill the map with what is selected."""
        self._window.tabs.setCurrentWidget(self._window.fabric)
        self._window.fabric.zoom_to(self._window.selection.names)

    def zoom_to_unit(self) -> None:
        """Fill the map with the scalable unit of eight racks that the selection is in."""
        answer = self._window.live.answer
        rack = rack_of(answer.snapshot.fabric, self._window.selection.name) if answer else -1
        if answer is None or rack < 0:
            self._window.statusBar().showMessage(
                self.tr("Select a rack or a part of one first."), 6000
            )
            return
        first = rack // SCALABLE_UNIT * SCALABLE_UNIT
        last = min(first + SCALABLE_UNIT, answer.snapshot.fabric.count("rack"))
        self._window.tabs.setCurrentWidget(self._window.fabric)
        self._window.fabric.zoom_to([f"rack-{n}" for n in range(first, last)])

    @Slot(object)
    def look_as(self, state: dict[str, Any]) -> None:
        """Look at the map as a saved view says; what it does not say stays."""
        fields = {k: state[k] for k in ("colour_by", "links") if isinstance(state.get(k), str)}
        self._window.remembered.change(**fields)
        zoom, x, y = (_finite(state.get(key)) for key in ("zoom", "x", "y"))
        if zoom is not None:
            self._window.fabric.look(Camera(min(max(zoom, 1.0), CLOSEST), x, y))
        names = state.get("selected")
        if isinstance(names, list):
            self._window.selection.select([name for name in names if isinstance(name, str)])
        self._window.tabs.setCurrentWidget(self._window.fabric)

    def scale_text(self, step: float) -> None:
        """Make all text larger or smaller."""
        now = self._window.remembered.settings.font_scale + step
        scale = round(min(max(now, SMALLEST_FONT), LARGEST_FONT), 2)
        self._window.remembered.change(font_scale=scale)

    def reset_layout(self) -> None:
        """Put all panels where they belong."""
        self._window.panels.reset()

    def next_pane(self, step: int) -> None:
        """Move the focus to the next pane that is in sight."""
        shown = self._window.tabs.currentWidget()
        inner = (dock.widget() for dock in self._window.panels.docks.values())
        panes = [pane for pane in (shown, *inner) if pane is not None]
        panes = [pane for pane in panes if not pane.visibleRegion().isEmpty()]
        if not panes:
            return
        focus = QApplication.focusWidget()
        at = 0
        for number, pane in enumerate(panes):
            if focus is not None and (pane is focus or pane.isAncestorOf(focus)):
                at = number
        _first_in(panes[(at + step) % len(panes)]).setFocus(Qt.FocusReason.TabFocusReason)

    def play(self) -> None:
        """Play or pause the timeline, and bring it into sight."""
        self._window.panels.docks["timeline"].raise_()
        self._window.panels.timeline.toggle()

    def go_to_worst(self) -> None:
        """Select the fullest link and bring it into sight."""
        answer = self._window.live.answer
        if answer is None:
            return
        name, share = worst_link(answer.snapshot.fabric, answer.loads)
        if share > 0:
            self._window.selection.select([name], reveal=True)
        else:
            self._window.statusBar().showMessage(self.tr("Nothing is sent over any cable."), 6000)

    def go_to_cause(self) -> None:
        """Select what the selected part is down with."""
        answer = self._window.live.answer
        if answer is None or not self._window.selection.name:
            return
        path = cause_path(answer.snapshot, self._window.selection.name)
        if len(path) > 1:
            self._window.selection.select([path[-1]], reveal=True)
        else:
            self._window.statusBar().showMessage(self.tr("Nothing else has brought it down."), 6000)

    def search(self) -> None:
        """Open the search box."""
        answer = self._window.live.answer
        jobs = [job.name for job in self._window.live.scenario.jobs]
        self._window.finder.ask(answer.snapshot.fabric if answer else None, jobs)

    @Slot(object)
    def take_found(self, found: Found) -> None:
        """Go to what was found, or do it."""
        if found.kind == "command":
            self._window.actions_by_name[found.name].trigger()
        elif found.kind == "job":
            self._window.selection.light(found.name)
        elif found.kind == "selector":
            self._window.deeds.select_family(found.name)
        else:
            self._window.selection.select([found.name], reveal=True)
            self._window.current_canvas().setFocus()

    def filter_table(self) -> None:
        """Go to the filter of the tables."""
        self._window.tabs.setCurrentWidget(self._window.tables)
        self._window.tables.focus_filter()

    def show_start(self) -> None:
        """Show the start page."""
        self._window.tabs.setCurrentWidget(self._window.start)
        self._window.start.setFocus()

    def add_to_menu(self, menu: QMenu) -> None:
        """What the window offers for the selection."""
        if not self._window.selection.names:
            return
        name = self._window.selection.name
        menu.addAction(self.tr("Why is it so? (copy)"), self._window.panels.inspector.copy_text)
        menu.addAction(self.tr("Go in\tEnter"), partial(self.enter, name))
        menu.addAction(self.tr("Show its cause\tC"), self.go_to_cause)

    @Slot()
    def refresh_history(self) -> None:
        """Name what undo and redo would do, and mark unsaved work."""
        session, scenario = self._window.live.session, self._window.live.scenario
        for name in (f"route.{scenario.routing}", f"nvlink.{scenario.nvlink_policy}"):
            self._window.actions_by_name[name].setChecked(True)
        self._window.bar.name_steps(session.undo_label, session.redo_label)
        self._window.setWindowModified(self._window.documents.unsaved)
        self._window.actions_by_name["file.revert"].setEnabled(
            self._window.documents.path is not None
        )

    @Slot()
    def refresh_selection(self) -> None:
        """Offer only what can be done with what is selected."""
        some = bool(self._window.selection.names)
        for name in ("faults.copy", "view.selection", "go.cause", "faults.bundle"):
            self._window.actions_by_name[name].setEnabled(some)


def _first_in(pane: QWidget) -> QWidget:
    """The first widget of a pane that takes the focus by Tab."""
    if pane.focusPolicy() & Qt.FocusPolicy.TabFocus:
        return pane
    for widget in pane.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(pane):
            return widget
    return pane


def _finite(value: object) -> float | None:
    """A number of a saved view, None for anything else: its file may hold whatever."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Neither infinite nor NaN, nor too large an integer for a float.
    return float(value) if -_FARTHEST <= value <= _FARTHEST else None
