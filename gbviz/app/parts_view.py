"""What the map and the rack have in common: selection, preview, keys and menus over parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot

from gbviz.app.canvas import Canvas
from gbviz.app.preview import Preview
from gbviz.display.draw import Text
from gbviz.display.shades import Look, Shades
from gbviz.display.theme import DARK
from gbviz.report.timeline import clock

if TYPE_CHECKING:
    from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent
    from PySide6.QtWidgets import QWidget

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.draw import Item
    from gbviz.display.grid import View
    from gbviz.display.walk import Way

_WAYS: dict[int, Way] = {
    int(Qt.Key.Key_Left): "left",
    int(Qt.Key.Key_Right): "right",
    int(Qt.Key.Key_Up): "up",
    int(Qt.Key.Key_Down): "down",
}


class PartsView(Canvas):
    """A painted view whose parts are components, under the last answer.

    Signals
    -------
    menu_wanted(object)
        A menu for the selection, at a global point.
    """

    menu_wanted = Signal(object)

    def __init__(self, live: Live, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.live, self.selection = live, selection
        self.look_of = Look(DARK)
        self.shades: Shades | None = None
        self.preview = Preview(live, selection, self)
        self.preview.changed.connect(self.update)
        live.opened.connect(self._opened)
        live.answered.connect(self._answered)
        live.timed.connect(self.update)
        selection.changed.connect(self._selected)
        selection.hovered.connect(self._hovered)
        self.clicked.connect(self._clicked)
        self.banded.connect(self._banded)
        self.pointed.connect(selection.point)

    def walk(self, way: Way) -> None:
        """Select the next part in a direction."""
        raise NotImplementedError

    def out(self) -> None:
        """Select what the selected part is in."""
        raise NotImplementedError

    def ground_clicked(self) -> None:
        """Select what a click beside all parts means."""
        raise NotImplementedError

    def empty_text(self) -> str:
        """Say that the first answer is on its way, or why there is none."""
        if self.live.error:
            return self.tr("This scenario has no picture:\n{}").format(self.live.error)
        return self.tr("Computing the first answer...")

    def timeline_sign(self, view: View) -> tuple[Item, ...]:
        """So that nobody takes a moment of the timeline for the live view; nothing in that."""
        if self.live.time_s is None:
            return ()
        size, theme = 12.0 * view.scale, self.look_of.theme
        words = self.tr("timeline {}").format(clock(self.live.time_s))
        return (Text(size, size, words, theme.ground, size, bold=True, chip=theme.accent),)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 Qt's name
        """Walk with arrows, go in and out, preview while a key is held."""
        key, plain = event.key(), not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if key in _WAYS and plain and self.world() is not None:
            self.walk(_WAYS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit(self.selection.name)
        elif key == Qt.Key.Key_Backspace:
            self.out()
        elif not self.preview.press(event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """End the preview with its key."""
        if not self.preview.release(event):
            super().keyReleaseEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Let go of the preview: the key's release goes elsewhere."""
        self.preview.stop()
        super().focusOutEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        """Select what is under the pointer, unless it is, and ask for its menu."""
        view = self.view()
        if view is not None and event.reason() == event.Reason.Mouse:
            name = self.pick(view, event.x() * view.scale, event.y() * view.scale)
            if name and name not in self.selection.names:
                self.selection.select([name])
        self.menu_wanted.emit(event.globalPos())

    @Slot()
    def _opened(self) -> None:
        raise NotImplementedError

    @Slot()
    def _answered(self) -> None:
        raise NotImplementedError

    @Slot()
    def _selected(self) -> None:
        raise NotImplementedError

    @Slot(str)
    def _hovered(self, _name: str) -> None:
        self.update()

    @Slot(str, bool)
    def _clicked(self, name: str, adds: bool) -> None:
        if not name:
            self.ground_clicked()
        elif adds:
            self.selection.toggle(name)
        else:
            self.selection.select([name])

    @Slot(object, bool)
    def _banded(self, names: list[str], adds: bool) -> None:
        self.selection.select([*self.selection.names, *names] if adds else names)
