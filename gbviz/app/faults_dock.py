"""What is broken: causes, and under each what is down because of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QMenu,
    QPushButton,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.empty_hint import EmptyHint
from gbviz.report.fault_tree import FaultNode, fault_tree

if TYPE_CHECKING:
    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.app.table_models import Index
    from gbviz.display.theme import Theme

_MOST = 1000
# A fault with more consequences than these stays folded.
_MOST_OPEN = 8


class FaultTreeView(QTreeWidget):
    """A tree whose R, Delete and Enter are its own, whatever the window does with them.

    Signals
    -------
    repair_wanted()
        R or Delete was pressed.
    """

    repair_wanted = Signal()
    _KEYS = (Qt.Key.Key_R, Qt.Key.Key_Delete)

    def event(self, event: QEvent) -> bool:
        """Take our keys before a shortcut does."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
            if plain and event.key() in self._KEYS:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """R and Delete repair."""
        if event.key() in self._KEYS and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self.repair_wanted.emit()
        else:
            super().keyPressEvent(event)


class RoomyRows(QStyledItemDelegate):
    """Rows as high as those of tables, however large the text."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        """As wide as usual."""
        size = super().sizeHint(option, index)
        size.setHeight(option.fontMetrics.height() + 8)
        return size


class FaultsDock(QWidget):
    """A tree of faults: R or Delete repairs the rows selected, Enter shows one on the map."""

    def __init__(
        self, live: Live, selection: Selection, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._live, self._selection, self._theme = live, selection, theme
        self._nodes: list[FaultNode] = []
        self._showing = False
        self.tree = FaultTreeView(self)
        self._items: list[QTreeWidgetItem] = []
        titles = [self.tr("fault"), self.tr("state"), self.tr("what it costs"), self.tr("since")]
        self.tree.setHeaderLabels(titles)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.setAlternatingRowColors(True)
        self.tree.setIndentation(14)
        self.tree.setItemDelegate(RoomyRows(self.tree))
        self.tree.setAccessibleName(self.tr("Faults"))
        head = self.tree.header()
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setStretchLastSection(True)
        self.count = QLabel(self)
        self.restore = QPushButton(self.tr("Restore all"), self)
        self.restore.setToolTip(self.tr("Mend everything; undo brings the faults back."))
        self.empty = EmptyHint(self.tr("Nothing is broken. Select something and press F."))
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.tree)
        self._stack.addWidget(self.empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.count)
        layout.addWidget(self.restore, 0, Qt.AlignmentFlag.AlignRight)
        self.tree.repair_wanted.connect(self.repair)
        self.tree.itemActivated.connect(self._activated)
        self.tree.itemSelectionChanged.connect(self._rows_selected)
        self.tree.customContextMenuRequested.connect(self._menu_at)
        self.restore.clicked.connect(live.restore_all)
        live.answered.connect(self.refresh)
        live.opened.connect(self._opened)
        selection.changed.connect(self._selection_changed)
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self._fill()

    def refresh(self) -> None:
        """Show the faults of the latest answer."""
        answer = self._live.answer
        self._nodes = fault_tree(answer.snapshot, _MOST) if answer else []
        self._fill()

    def repair(self) -> None:
        """Mend what the selected rows name: a consequence by way of its cause."""
        tops = {id(self._top(item)): self._top(item) for item in self.tree.selectedItems()}
        names = [name_of(item) for item in tops.values()]
        if names:
            self._live.repair(names)

    def reveal(self, item: QTreeWidgetItem) -> None:
        """Show a row on the map."""
        self._selection.select([name_of(item)], reveal=True)

    def _top(self, item: QTreeWidgetItem) -> QTreeWidgetItem:
        return item.parent() or item

    def _opened(self) -> None:
        self._nodes = []
        self._fill()

    def _fill(self) -> None:
        kept = set(self._selection.names)
        self._showing = True
        self.tree.clear()
        self._items = []
        for node in self._nodes:
            top = self._item(node, "")
            self.tree.addTopLevelItem(top)
            children = [self._item(child, node.component) for child in node.consequences]
            top.addChildren(children)
            top.setExpanded(len(children) <= _MOST_OPEN)
            self._items += [top, *children]
        for item in self._items:
            item.setSelected(name_of(item) in kept)
        self._showing = False
        self._stack.setCurrentWidget(self.tree if self._nodes else self.empty)
        self.restore.setVisible(bool(self._nodes))
        self._say_how_many()

    def _say_how_many(self) -> None:
        answer = self._live.answer
        hidden = len(answer.snapshot.faults) - _MOST if answer else 0
        self.count.setVisible(hidden > 0)
        self.count.setText(self.tr("and {0:,} more").format(hidden))

    def _item(self, node: FaultNode, cause: str) -> QTreeWidgetItem:
        mark = "✕" if node.factor == 0 else "▼"
        mark = f"↳ {mark}" if cause else mark
        since = "" if node.at_s is None else clock(node.at_s)
        if node.for_s is not None:
            since = self.tr("{0}, for {1}").format(since, clock(node.for_s))
        toll = [node.slows, node.toll]
        if node.also:
            toll.insert(0, self.tr("also down with {0}").format(node.also))
        costs = "; ".join(part for part in toll if part)
        item = QTreeWidgetItem([f"{mark} {node.component}", node.state, costs, since])
        colour = self._theme.failed if node.factor == 0 else self._theme.warm
        item.setForeground(0, QBrush(QColor(colour)))
        item.setData(0, Qt.ItemDataRole.UserRole, node.component)
        said = [self.tr("because of {0}").format(cause)] if cause else []
        if node.also:
            words = self.tr("also down with {0}, which does not mend it when repaired")
            said.append(words.format(node.also))
        if node.slows:
            said.append(node.slows)
        if node.toll:
            said.append(self.tr("takes down {0}").format(node.toll))
        tip = f"{node.component}: " + "; ".join([node.state, *said])
        for column in range(self.tree.columnCount()):
            item.setToolTip(column, tip)
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, tip)
        return item

    def _activated(self, item: QTreeWidgetItem) -> None:
        self.reveal(item)

    def _rows_selected(self) -> None:
        if self._showing:
            return
        items = self.tree.selectedItems()
        if items:
            self._selection.select(name_of(item) for item in items)

    def _selection_changed(self) -> None:
        """Select the rows of what is selected elsewhere."""
        names = set(self._selection.names)
        self._showing = True
        for item in self._items:
            if item.isSelected() != (name_of(item) in names):
                item.setSelected(not item.isSelected())
        self._showing = False

    def menu(self) -> QMenu:
        """What can be done with the selected rows."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        items = self.tree.selectedItems()
        repair = menu.addAction(self.tr("Repair"), self.repair)
        repair.setEnabled(bool(items))
        menu.addAction(self.tr("Show on the map"), self._reveal_current).setEnabled(bool(items))
        menu.addAction(self.tr("Restore all"), self._live.restore_all)
        return menu

    def _reveal_current(self) -> None:
        for item in self.tree.selectedItems()[:1]:
            self.reveal(item)

    def _menu_at(self, where: QPoint) -> None:
        self.menu().popup(self.tree.viewport().mapToGlobal(where))


def name_of(item: QTreeWidgetItem) -> str:
    """The component of a row."""
    return str(item.data(0, Qt.ItemDataRole.UserRole))


def clock(seconds: float) -> str:
    """A time of a scenario as people read it.

    Examples
    --------
    >>> clock(0), clock(75), clock(7384), clock(0.5), clock(9460800000)
    ('0:00', '1:15', '2:03:04', '0.5 s', '109,500d 0:00:00')
    """
    if 0 < seconds < 1:
        return f"{seconds:g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days:,}d {hours}:{minutes:02}:{rest:02}"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
