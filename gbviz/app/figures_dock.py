"""Key figures: on the healthy cluster, now, and the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QAbstractItemView, QVBoxLayout, QWidget

from gbviz.app.table_models import Cell, RowModel
from gbviz.app.table_view import TableView
from gbviz.report.figure_rows import FigureRow, figure_rows

if TYPE_CHECKING:
    from gbviz.app.live import Live
    from gbviz.display.theme import Theme

# Columns that must be in sight: the names of figures give way to them.
_IN_SIGHT = 4
_ARROWS = {1: "▲ ", -1: "▼ ", 0: ""}


class FiguresDock(QWidget):
    """A row a figure; while it is computed anew the old values are dim and marked."""

    def __init__(self, live: Live, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live, self._theme = live, theme
        self._rows: list[FigureRow] = []
        self.model = RowModel(self._titles(), self)
        self.view = TableView(self.model, self)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.view.setAccessibleName(self.tr("Key figures"))
        self.view.keep_in_sight(_IN_SIGHT)
        self.view.setToolTip(self.tr("What the fabric can do: healthy, now, and the difference."))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self.setFocusProxy(self.view)
        live.answered.connect(self.refresh)
        live.stale.connect(self._set_stale)
        live.failed.connect(self._set_stale)
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self._fill()

    def refresh(self) -> None:
        """Show the figures of the latest answer."""
        if self._live.answer is None:
            return
        fresh = not self._rows
        self._rows = figure_rows(self._live.answer.snapshot)
        self._fill()
        self.view.fit_columns(grow=not fresh)

    def _titles(self) -> list[str]:
        now = self.tr("now …") if self._live.is_stale else self.tr("now")
        return [self.tr("figure"), now, self.tr("change"), self.tr("healthy"), self.tr("%")]

    def _set_stale(self, _why: object = None) -> None:
        self.model.set_titles(self._titles())
        self._fill()

    def _fill(self) -> None:
        self.model.set_titles(self._titles())
        self.model.set_rows([self._cells(row) for row in self._rows])

    def _cells(self, row: FigureRow) -> list[Cell]:
        theme = self._theme
        dim = theme.dim if self._live.is_stale else ""
        hue = {1: theme.good, -1: theme.failed, 0: ""}[row.way]
        tip = f"{row.what}: {row.reason}" if row.reason else row.what
        change = row.delta or ("" if row.way == 0 else self.tr("changed"))
        return [
            Cell(row.what, dim, tip=tip),
            Cell(row.now, dim, right=True, bold=row.way != 0, tip=tip),
            Cell(f"{_ARROWS[row.way]}{change}", dim or hue, right=True, tip=tip),
            Cell(row.base, theme.dim, right=True, tip=tip),
            Cell(row.share, dim, right=True, tip=tip),
        ]
