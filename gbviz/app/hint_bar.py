"""Three things to try, above the map until they are put away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QToolBar, QWidget

from gbviz.app.start_page import HINTS

if TYPE_CHECKING:
    from gbviz.app.remembered import Remembered

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
        self.setVisible(_SEEN not in remembered.settings.seen_hints)

    @property
    def wanted(self) -> bool:
        """Whether nobody has put it away yet."""
        return _SEEN not in self._remembered.settings.seen_hints

    @Slot()
    def put_away(self) -> None:
        """Hide it now and at every later start."""
        seen = dict.fromkeys((*self._remembered.settings.seen_hints, _SEEN))
        self._remembered.change(seen_hints=tuple(seen))
        self.hide()
