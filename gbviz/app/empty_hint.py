"""What a dock says while there is nothing to list, with what to do about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget


class EmptyHint(QWidget):
    """A sentence in the middle, and a button where one is named; Tab stops at it either way.

    Signals
    -------
    wanted()
        The button was pressed.
    """

    wanted = Signal()

    def __init__(self, text: str, button: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        label = QLabel(text, self)
        label.setWordWrap(True)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        label.setForegroundRole(label.palette().ColorRole.PlaceholderText)
        layout.addWidget(label)
        self.button: QPushButton | None = None
        if button:
            self.button = QPushButton(button, self)
            self.button.clicked.connect(self.wanted)
            layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
            self.button.setAccessibleDescription(text)
        else:
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(text)
        layout.addStretch(2)
