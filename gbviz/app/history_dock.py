"""The history of the session: every step by name, to go to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QFont
from PySide6.QtWidgets import QAbstractItemView, QListView, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from gbviz.app.live import Live
    from gbviz.app.table_models import Index
    from gbviz.display.theme import Theme

_ROLE = Qt.ItemDataRole


class HistoryModel(QAbstractListModel):
    """The steps of a session, the one that holds now in bold, undone ones dim."""

    def __init__(self, live: Live, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._live = live
        self.theme = theme

    def refresh(self) -> None:
        """The session has changed."""
        self.beginResetModel()
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        """How many steps there are, the start included."""
        return 0 if parent.isValid() else len(self._live.session.steps)

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        """What a step shows."""
        if not index.isValid():
            return None
        row, at = index.row(), self._live.session.at
        if role in (_ROLE.DisplayRole, _ROLE.ToolTipRole):
            label = self._live.session.steps[row].label or self.tr("start")
            return f"{'▶' if row == at else '   '} {label}"
        if role == _ROLE.ForegroundRole and row > at:
            return QBrush(QColor(self.theme.dim))
        if role == _ROLE.FontRole:
            font = QFont()
            font.setBold(row == at)
            font.setItalic(row > at)
            return font
        return None


class HistoryDock(QWidget):
    """A list of steps; a click or Enter on one goes there."""

    def __init__(self, live: Live, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live = live
        self.model = HistoryModel(live, theme, self)
        self.view = QListView(self)
        self.view.setModel(self.model)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.setUniformItemSizes(True)
        self.view.setAccessibleName(self.tr("History"))
        self.view.setToolTip(self.tr("Click a step to go to it; later steps stay until you edit."))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self.setFocusProxy(self.view)
        self.view.clicked.connect(self._go)
        self.view.activated.connect(self._go)
        live.edited.connect(self.refresh)
        live.opened.connect(self.refresh)
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.model.theme = theme
        self.view.viewport().update()

    def refresh(self) -> None:
        """Show the steps as they are now."""
        self.model.refresh()
        index = self.model.index(self._live.session.at)
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)

    def _go(self, index: QModelIndex) -> None:
        self._live.go(index.row())
