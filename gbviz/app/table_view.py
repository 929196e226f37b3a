"""A table as all our docks and tabs show it: whole rows, keys, copying."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gbviz.report.csv_text import rows_as_tsv

_SAMPLE = 50
_WIDEST = 420
# Letters that the first column keeps, however narrow the view.
_LEAST = 9
_OWN_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Delete)


class TableView(QTableView):
    """Rows that are selected as a whole; Enter and a double click open one, Ctrl+C copies.

    Signals
    -------
    opened(int)
        A row was double-clicked, or Enter was pressed on it.
    deleted(int)
        Delete was pressed on a row.
    """

    opened = Signal(int)
    deleted = Signal(int)

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Whether columns have been fitted, and how many must be in sight.
        self._fitted, self._in_sight = False, 0
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        # A swatch of a colour, not a picture.
        self.setIconSize(QSize(8, 14))
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._fit_rows()
        head = self.horizontalHeader()
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setHighlightSections(False)
        head.setStretchLastSection(True)
        # To find out whether a whole column is selected, a head asks a model for every row, at each
        # painting: 2.5 s for 300,000 rows. It gets a selection of its own, always empty.
        head.setSelectionModel(QItemSelectionModel(model, head))
        self.doubleClicked.connect(self._double_clicked)

    def selected_rows(self) -> list[int]:
        """Rows that are selected, in their order."""
        chosen = self.selectionModel().selection()
        spans = [chosen.at(number) for number in range(chosen.size())]
        return sorted({row for span in spans for row in range(span.top(), span.bottom() + 1)})

    def fit_columns(self, *, grow: bool = False) -> None:
        """Make columns as wide as their heads and some of their texts, from all over the table.

        With `grow` none becomes narrower than it is.
        """
        self._fitted = True
        for column in range(self.model().columnCount()):
            wanted = min(self._wanted_width(column), _WIDEST)
            if not grow or wanted > self.columnWidth(column):
                self.setColumnWidth(column, wanted)
        self._spare_first()

    def keep_in_sight(self, columns: int) -> None:
        """Let the first column give way until so many columns fit the view, as far as it can."""
        self._in_sight = columns
        self._spare_first()

    def _spare_first(self) -> None:
        """Give the first column what it wants, or what the others that must be seen leave it."""
        if not self._fitted or not self._in_sight or not self.model().rowCount():
            return
        others = sum(self.columnWidth(column) for column in range(1, self._in_sight))
        left = max(self.viewport().width() - others, _LEAST * self.fontMetrics().averageCharWidth())
        self.setColumnWidth(0, min(self._wanted_width(0), left))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """The first column gives way, or gets its width back."""
        super().resizeEvent(event)
        self._spare_first()

    def _wanted_width(self, column: int) -> int:
        model, metrics = self.model(), self.fontMetrics()
        head = str(model.headerData(column, Qt.Orientation.Horizontal) or "")
        arrow = 26 if self.isSortingEnabled() else 10
        widest = metrics.horizontalAdvance(head) + arrow
        strong = QFont(self.font())
        strong.setBold(True)
        bold = QFontMetrics(strong)
        for row in range(0, model.rowCount(), max(1, model.rowCount() // _SAMPLE)):
            index = model.index(row, column)
            own = metrics if index.data(Qt.ItemDataRole.FontRole) is None else bold
            width = own.horizontalAdvance(str(index.data() or ""))
            if index.data(Qt.ItemDataRole.DecorationRole) is not None:
                width += self.iconSize().width() + 6
            widest = max(widest, width + 2)
        return widest + 6

    def copy_rows(self) -> None:
        """Put the selected rows into the clipboard, with tabs between the cells."""
        model = self.model()
        columns = range(model.columnCount())
        rows = ([model.index(row, c).data() for c in columns] for row in self.selected_rows())
        QGuiApplication.clipboard().setText(rows_as_tsv(rows))

    def event(self, event: QEvent) -> bool:
        """Take our keys before a shortcut of the window does."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            ours = event.key() in _OWN_KEYS and event.modifiers() == Qt.KeyboardModifier.NoModifier
            if ours or event.matches(QKeySequence.StandardKey.Copy):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Enter opens the row, Delete asks to take it away, Ctrl+C copies."""
        row = self.currentIndex().row()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        elif row >= 0 and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(row)
        elif row >= 0 and event.key() == Qt.Key.Key_Delete:
            self.deleted.emit(row)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Rows and columns are as large as the text needs, however large that becomes."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_rows()
            if self._fitted:
                self.fit_columns()

    def _fit_rows(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)

    def _double_clicked(self, index: QModelIndex) -> None:
        self.opened.emit(index.row())
