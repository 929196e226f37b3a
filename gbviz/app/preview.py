"""What losing a part would cost: shown while a key is held, without changing anything."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from gbviz.engine import edits
from gbviz.report.cost import cost

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QWidget

    from gbviz.app.answer import Answer
    from gbviz.app.live import Live
    from gbviz.app.selection import Selection

KEY = Qt.Key.Key_W


class Preview(QObject):
    """Asks what failing the part under the pointer, or else all that is selected, would change.

    Signals
    -------
    changed()
        `note` is another, "" once the key is let go.
    """

    changed = Signal()

    def __init__(self, live: Live, selection: Selection, parent: QWidget) -> None:
        super().__init__(parent)
        self._live, self._selection = live, selection
        self.note = ""
        self._held = False
        self._asked = ""
        live.previewed.connect(self._found)
        selection.hovered.connect(self._hovered)

    def press(self, event: QKeyEvent) -> bool:
        """Take a key press; False for a key that is not the preview's."""
        if event.key() != KEY or event.modifiers():
            return False
        if not event.isAutoRepeat():
            self._held = True
            self._ask()
        return True

    def release(self, event: QKeyEvent) -> bool:
        """Take a key release; False for a key that is not the preview's."""
        if event.key() != KEY:
            return False
        if not event.isAutoRepeat():
            self.stop()
        return True

    def stop(self) -> None:
        """Show nothing any more: the key was let go, or the focus has gone elsewhere."""
        self._held = False
        self._say("")

    def _ask(self) -> None:
        hover, names = self._selection.hover, list(self._selection.names)
        if hover and hover not in names:
            names = [hover]
        self._asked = hover or self._selection.name
        if names:
            what = names[0] if len(names) == 1 else self.tr("{} parts").format(len(names))
            self._say(self.tr("What would losing {} cost? ...").format(what))
            at_s = self._live.time_s
            self._live.preview(partial(edits.fail, selectors=names, at_s=at_s))
        else:
            self._say(self.tr("Point at a part, or select one, and hold W."))

    @Slot(str)
    def _hovered(self, _name: str) -> None:
        if self._held:
            self._ask()

    @Slot(object)
    def _found(self, found: tuple[str, Answer | str]) -> None:
        label, what = found
        answer = self._live.answer
        if not (self._held and self._asked):
            return
        if isinstance(what, str) or answer is None:
            self._say(str(what))
        else:
            self._say(cost(label, answer.snapshot, what.snapshot))

    def _say(self, note: str) -> None:
        if note != self.note:
            self.note = note
            self.changed.emit()
