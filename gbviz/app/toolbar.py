"""The one toolbar: files, undo by name, what to break, colours and links, the way to anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSizePolicy, QToolBar, QWidget

from gbviz.display.links import LINK_STYLES
from gbviz.display.shades import COLOUR_BY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.app.actions import Actions


class ToolBar(QToolBar):
    """Text buttons: icons alone are guessed wrong."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("toolbar")
        self.setWindowTitle(self.tr("Toolbar"))
        self.setMovable(False)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self._actions = actions
        for group in (
            ("file.open", "file.save"),
            ("edit.undo", "edit.redo"),
            ("tool.select", "faults.fail", "faults.repair", "faults.degrade"),
        ):
            for name in group:
                self.addAction(actions[name])
            self.addSeparator()
        self.colour = self._chooser(self.tr("Colour by"), "colour", COLOUR_BY)
        self.links = self._chooser(self.tr("Links"), "links", LINK_STYLES)
        space = QWidget(self)
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(space)
        self.finder = QPushButton(self.tr("Find any part or command   Ctrl+K"), self)
        self.finder.setAccessibleName(self.tr("Find any part or command"))
        self.finder.clicked.connect(actions["edit.find"].trigger)
        self.addWidget(self.finder)

    def _chooser(self, text: str, group: str, words: Sequence[str]) -> QComboBox:
        """A list that stays equal to a group of actions."""
        label = QLabel(f" {text} ", self)
        box = QComboBox(self)
        box.setAccessibleName(text)
        box.addItems([word.capitalize() for word in words])
        label.setBuddy(box)
        for row, word in enumerate(words):
            action = self._actions[f"{group}.{word}"]
            box.setItemData(row, action.shortcut().toString(), Qt.ItemDataRole.ToolTipRole)
            action.toggled.connect(lambda on, row=row: box.setCurrentIndex(row) if on else None)
            if action.isChecked():
                box.setCurrentIndex(row)
        box.activated.connect(lambda row: self._actions[f"{group}.{words[row]}"].trigger())
        self.addWidget(label)
        self.addWidget(box)
        return box

    def name_steps(self, undo: str | None, redo: str | None) -> None:
        """Say on the buttons what they take back and do again."""
        for name, word, label in (
            ("edit.undo", self.tr("Undo"), undo),
            ("edit.redo", self.tr("Redo"), redo),
        ):
            action = self._actions[name]
            action.setEnabled(label is not None)
            button = self.widgetForAction(action)
            metrics = button.fontMetrics()
            wide = metrics.horizontalAdvance("M" * 15)
            action.setIconText(word)
            # A button that has to shorten its text once more puts a second gap beside ours.
            room = wide - button.sizeHint().width() - metrics.horizontalAdvance(": ")
            short = metrics.elidedText(label or "", Qt.TextElideMode.ElideMiddle, room)
            action.setText(f"{word}: {label}" if label else word)
            action.setIconText(f"{word}: {short}" if label else word)
            # The buttons beside it must not move under the pointer.
            button.setFixedWidth(wide)
