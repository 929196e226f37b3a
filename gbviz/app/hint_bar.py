"""Three things to try, above the map until they are put away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QToolBar, QWidget

from gbviz.app.start_page import HINTS
from gbviz.scenario.demo import demo

if TYPE_CHECKING:
    from gbviz.app.remembered import Remembered
    from gbviz.scenario import Scenario

_SEEN = "start"


class HintBar(QToolBar):
    """A line of hints with a button that puts it away for good."""

    def __init__(self, remembered: Remembered, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("hints")
        self.setWindowTitle(self.tr("Hints"))
        self.setMovable(False)
        self._remembered = remembered
        words = "   ".join(f"<b>{n}</b> {text}" for n, (_, text) in enumerate(HINTS, 1))
        self.text = QLabel(self.tr("Try: ") + words, self)
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.text.setWordWrap(True)
        self.text.setAccessibleName(self.tr("Hints"))
        self.text.setContentsMargins(8, 2, 8, 2)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        # A label that wraps asks a toolbar for the height of its narrowest shape.
        self.setMaximumHeight(2 * self.fontMetrics().lineSpacing() + 14)
        self.close_button = QPushButton(self.tr("Got it"), self)
        self.close_button.clicked.connect(self.put_away)
        self.addWidget(self.text)
        self.addWidget(self.close_button)

    def fits(self, scenario: Scenario) -> bool:
        """Whether it speaks of what is open, and nobody has put it away yet."""
        shown = _SEEN not in self._remembered.settings.seen_hints
        return shown and scenario.name == demo().name

    @Slot()
    def put_away(self) -> None:
        """Hide it now and at every later start."""
        seen = dict.fromkeys((*self._remembered.settings.seen_hints, _SEEN))
        self._remembered.change(seen_hints=tuple(seen))
        self.hide()
