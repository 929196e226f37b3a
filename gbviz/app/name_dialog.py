"""A dialog for the scenario's name and description: what its reports are headed with."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

# As scenario files may have it.
_LONGEST_NAME = 200


class NameDialog(QDialog):
    """Asks for both.

    Signals
    -------
    chosen(str, str)
        Name and description.
    """

    chosen = Signal(str, str)

    def __init__(self, name: str, description: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Name and description"))
        self.name = QLineEdit(name, self)
        self.name.setMaxLength(_LONGEST_NAME)
        self.name.setAccessibleName(self.tr("Name of the scenario"))
        self.description = QPlainTextEdit(description, self)
        self.description.setTabChangesFocus(True)
        self.description.setAccessibleName(self.tr("Description of the scenario"))
        self.description.setMinimumWidth(420)
        buttons = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(buttons.Ok | buttons.Cancel, self)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        form = QFormLayout(self)
        form.addRow(self.tr("&Name"), self.name)
        form.addRow(self.tr("&Description"), self.description)
        form.addRow(self.buttons)
        self.name.textChanged.connect(self._check)
        self.accepted.connect(self._choose)
        self._check()

    def _check(self) -> None:
        """A scenario has a name."""
        ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        ok.setEnabled(bool(self.name.text().strip()))

    def _choose(self) -> None:
        self.chosen.emit(self.name.text().strip(), self.description.toPlainText().strip())
