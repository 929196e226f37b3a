"""Saved views: ways of looking at the map that people have given a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.settings import SavedView

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.app.remembered import Remembered


class ViewsDock(QWidget):
    """A list of saved views; Enter looks through one, Delete forgets it.

    Signals
    -------
    wanted(object)
        The state of the view that is to be looked through.
    """

    wanted = Signal(object)

    def __init__(
        self,
        remembered: Remembered,
        current: Callable[[], dict[str, Any]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._remembered, self._current = remembered, current
        self._shown: tuple[SavedView, ...] = ()
        self.list = QListWidget(self)
        self.list.setAccessibleName(self.tr("Saved views"))
        self.empty = QLabel(
            self.tr("No saved views yet: zoom to what you often look at and save it here."), self
        )
        self.empty.setWordWrap(True)
        self.save = QPushButton(self.tr("Save this view..."), self)
        self.forget = QPushButton(self.tr("Forget"), self)
        box = QVBoxLayout(self)
        box.setContentsMargins(4, 4, 4, 4)
        box.addWidget(self.empty)
        box.addWidget(self.list)
        row = QHBoxLayout()
        row.addWidget(self.save)
        row.addWidget(self.forget)
        box.addLayout(row)
        self.list.itemActivated.connect(self._look)
        self.list.itemClicked.connect(self._look)
        self.save.clicked.connect(self.ask)
        self.forget.clicked.connect(self.remove)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.list)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self.remove)
        remembered.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the views that are remembered."""
        views = self._remembered.settings.saved_views
        if views != self._shown:
            self._shown = views
            self.list.clear()
            for view in views:
                item = QListWidgetItem(view.name)
                item.setData(Qt.ItemDataRole.UserRole, view.state)
                self.list.addItem(item)
        self.list.setVisible(bool(views))
        self.empty.setVisible(not views)
        self.forget.setEnabled(bool(views))

    @Slot()
    def ask(self) -> None:
        """Ask for a name and save the view under it."""
        name, wanted = QInputDialog.getText(self, self.tr("Save view"), self.tr("Name"))
        if wanted and name.strip():
            self.keep(name.strip())

    def keep(self, name: str) -> None:
        """Save the present view under a name, in the place of one that has it."""
        others = [v for v in self._remembered.settings.saved_views if v.name != name]
        fresh = SavedView(name, self._current())
        self._remembered.change(saved_views=(*others, fresh))

    @Slot()
    def remove(self) -> None:
        """Forget the view that is marked."""
        item = self.list.currentItem()
        if item is not None:
            kept = [v for v in self._remembered.settings.saved_views if v.name != item.text()]
            self._remembered.change(saved_views=tuple(kept))

    @Slot(QListWidgetItem)
    def _look(self, item: QListWidgetItem) -> None:
        self.wanted.emit(item.data(Qt.ItemDataRole.UserRole))
