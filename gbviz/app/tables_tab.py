"""The whole cluster as tables: cables, switches, GPUs, racks, jobs; to filter, sort and select."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.naming import name_inside
from gbviz.app.table_models import SheetModel
from gbviz.app.table_view import TableView
from gbviz.report import cluster_sheets
from gbviz.report.csv_text import rows_as_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QShowEvent

    from gbviz.app.answer import Answer
    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.theme import Theme
    from gbviz.report.sheets import Sheet


# What all views can follow at once without a pause; a whole table is exported, not failed.
MOST_SELECTED = 5000


def _sheets() -> dict[str, Callable[[Answer], Sheet]]:
    """How each table is made of an answer."""
    return {
        "links": lambda a: cluster_sheets.cable_sheet(a.snapshot, a.loads, a.base),
        "switches": lambda a: cluster_sheets.switch_sheet(a.snapshot, a.loads, a.base),
        "gpus": lambda a: cluster_sheets.gpu_sheet(a.snapshot, a.loads, a.base),
        "racks": lambda a: cluster_sheets.rack_sheet(a.snapshot, a.loads, a.base),
        "jobs": lambda a: cluster_sheets.job_sheet(a.snapshot),
    }


class TablesTab(QWidget):
    """One table at a time, with a filter above it. Rows and the shared selection follow each other.

    Signals
    -------
    export_wanted(str, str)
        A table's name and its CSV text, of the rows shown, are to be saved.
    """

    export_wanted = Signal(str, str)

    def __init__(
        self, live: Live, selection: Selection, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._live, self._selection = live, selection
        self._made = _sheets()
        self._old = True
        # True while rows follow the selection, and while it follows them.
        self._showing = self._telling = False
        self.model = SheetModel(theme, self)
        self.view = TableView(self.model, self)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.which = QComboBox(self)
        words = [self.tr("Links"), self.tr("Switches"), self.tr("GPUs")]
        words += [self.tr("Racks"), self.tr("Jobs")]
        for key, word in zip(self._made, words, strict=True):
            self.which.addItem(word, key)
        self.which.setAccessibleName(self.tr("Table"))
        self.which.setToolTip(self.tr("Which table is shown"))
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText(self.tr("Filter: leaf-3, spine-1*, a job, down … (Ctrl+F)"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setAccessibleName(self.tr("Filter rows"))
        self.filter.setToolTip(self.tr("Every word must be in a row; * and ? match whole names"))
        self.count = QLabel(self)
        self.count.setContentsMargins(6, 0, 6, 0)
        self.count.setToolTip(self.tr("Rows that the filter lets through"))
        self.export = QPushButton(self.tr("Export CSV…"), self)
        self.export.setToolTip(self.tr("Save the rows shown, in the order shown"))
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(6, 6, 6, 6)
        bar.addWidget(self.which)
        bar.addWidget(self.filter, 1)
        bar.addWidget(self.count)
        bar.addWidget(self.export)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        QWidget.setTabOrder(self.which, self.filter)
        QWidget.setTabOrder(self.filter, self.export)
        QWidget.setTabOrder(self.export, self.view)
        self.view.setAccessibleName(self.which.currentText())
        name_inside(self)

    def _connect(self) -> None:
        self.which.currentIndexChanged.connect(self._switched)
        self.filter.textChanged.connect(self._filtered)
        self.filter.returnPressed.connect(self.view.setFocus)
        self.export.clicked.connect(self._export)
        self.view.opened.connect(self._opened_row)
        self.view.customContextMenuRequested.connect(self._menu_at)
        self.view.selectionModel().selectionChanged.connect(self._rows_selected)
        self.model.modelReset.connect(self._reset)
        self._live.answered.connect(self._answered)
        self._live.opened.connect(self._answered)
        self._selection.changed.connect(self._selection_changed)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.model.set_theme(theme)
        self.view.viewport().update()

    def show_table(self, which: str) -> None:
        """Show `links`, `switches`, `gpus`, `racks` or `jobs`."""
        self.which.setCurrentIndex(self.which.findData(which))

    def focus_filter(self) -> None:
        """Type into the filter; its old text is selected."""
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter.selectAll()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Show what has changed since the tab was hidden."""
        super().showEvent(event)
        self._bring_up()

    def csv(self) -> str:
        """The rows shown, in the order shown, as CSV with plain numbers."""
        sheet = self.model.sheet
        return "" if sheet is None else rows_as_csv(sheet.titles(), sheet.rows(self.model.order))

    def _export(self) -> None:
        self.export_wanted.emit(self.which.currentData(), self.csv())

    def _answered(self) -> None:
        self._old = True
        if self.isVisible():
            self._bring_up()

    def _bring_up(self) -> None:
        if not self._old or self._live.answer is None:
            return
        self._old = False
        before = None if self.model.sheet is None else self.model.sheet.title
        scrolled = self.view.verticalScrollBar().value()
        self.model.set_sheet(self._made[self.which.currentData()](self._live.answer))
        self.view.verticalScrollBar().setValue(scrolled)
        assert self.model.sheet is not None
        if before != self.model.sheet.title:
            self.view.fit_columns()

    def _switched(self) -> None:
        self._old = True
        self.view.setAccessibleName(self.which.currentText())
        self.view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self._bring_up()
        self.view.scrollToTop()

    def _filtered(self, text: str) -> None:
        self.model.set_filter(text)

    def _reset(self) -> None:
        self._say_how_many()
        self._selection_changed()

    def _say_how_many(self, chosen: int = 0) -> None:
        """How many rows there are, and that only a part of many can be selected on the map."""
        shown, sheet = len(self.model.order), self.model.sheet
        total = sheet.n if sheet else 0
        text = f"{shown:,}" if shown == total else self.tr("{0:,} of {1:,}").format(shown, total)
        if chosen > MOST_SELECTED:
            text = self.tr("the map shows {0:,} of {1:,}").format(MOST_SELECTED, chosen)
        self.count.setText(text)

    def _opened_row(self, row: int) -> None:
        """Show a row's component on the map; of a job, its GPUs."""
        if self.which.currentData() == "jobs":
            self._selection.light(self.model.name(row))
        else:
            self._selection.select([self.model.name(row)], reveal=True)

    def _rows_selected(self) -> None:
        if self._showing:
            return
        rows = self.view.selected_rows()
        if self.which.currentData() == "jobs":
            self._selection.light(self.model.name(rows[-1]) if rows else None)
        elif rows:
            current = self.view.currentIndex().row()
            rows = [row for row in rows if row != current] + [current] * (current in rows)
            self._telling = True
            self._selection.select(self.model.names(rows[-MOST_SELECTED:]))
            self._telling = False
            self._say_how_many(len(rows))

    def _selection_changed(self) -> None:
        """Select the rows of what is selected elsewhere."""
        if self._telling or not self.isVisible() or self.which.currentData() == "jobs":
            return
        rows = self.model.rows_of(self._selection.names)
        if rows == self.view.selected_rows():
            return
        last = self.model.columnCount() - 1
        chosen = QItemSelection()
        for low, high in _runs(rows):
            chosen.select(self.model.index(low, 0), self.model.index(high, last))
        self._showing = True
        flags = QItemSelectionModel.SelectionFlag
        self.view.selectionModel().select(chosen, flags.ClearAndSelect)
        at = self.model.rows_of(self._selection.names[-1:])
        if at:
            index = self.model.index(at[0], 0)
            self.view.selectionModel().setCurrentIndex(index, flags.NoUpdate)
            self.view.scrollTo(index)
        self._showing = False

    def menu(self) -> QMenu:
        """What can be done with the rows."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        row = self.view.currentIndex().row()
        if row >= 0:
            menu.addAction(self.tr("Show on the map"), partial(self._opened_row, row))
            menu.addAction(self.tr("Copy rows"), self.view.copy_rows)
        menu.addAction(self.tr("Export CSV…"), self._export)
        return menu

    def _menu_at(self, where: QPoint) -> None:
        self.menu().popup(self.view.viewport().mapToGlobal(where))


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    """Rows as runs of neighbours, first and last.

    Examples
    --------
    >>> _runs([1, 2, 3, 7])
    [(1, 3), (7, 7)]
    """
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and row == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs
