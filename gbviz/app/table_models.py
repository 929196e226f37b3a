"""Qt's models of tables: of sheets of arrays, and of a few rows of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QFont

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gbviz.display.theme import Theme
    from gbviz.report.sheets import Column, Sheet
    from gbviz.topology.fabric import Ints

Index = QModelIndex | QPersistentModelIndex
_ROLE = Qt.ItemDataRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
# A mark beside each colour, for those who do not see it.
GLYPHS = {
    "running": "●",
    "up": "●",
    "healthy": "●",
    "degraded": "▼",
    "stalled": "■",
    "restarting": "↻",
    "finished": "✓",
    "slow": "▼",
    "down": "✕",
    "failed": "✕",
    "aborted": "✕",
}
BUSY_GLYPH, FULL_GLYPH = "▲", "▲▲"


def state_colour(theme: Theme, state: str) -> str:
    """The hue of a state: of alarm where something is wrong."""
    if state in ("down", "failed", "aborted", "stalled"):
        return theme.failed
    if state == "restarting":
        return theme.over
    return theme.warm if state in ("degraded", "slow") else theme.good


def marked(state: str) -> str:
    """A state with its mark.

    Examples
    --------
    >>> marked("down"), marked("llama")
    ('✕ down', 'llama')
    """
    return f"{GLYPHS[state]} {state}" if state in GLYPHS else state


@dataclass(frozen=True, slots=True)
class Cell:
    """What one cell of a short table shows. Colours are `#rrggbb`, "" for the theme's text."""

    text: str
    colour: str = ""
    right: bool = False
    swatch: str = ""
    tip: str = ""
    bold: bool = False


class RowModel(QAbstractTableModel):
    """A table of a few rows of cells."""

    def __init__(
        self,
        titles: Sequence[str],
        parent: QObject | None = None,
        tips: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(parent)
        self.titles = list(titles)
        self._tips = dict(tips or {})
        self.rows: list[list[Cell]] = []

    def set_rows(self, rows: list[list[Cell]]) -> None:
        """Show other rows; where there are as many as before, selections stay."""
        if len(rows) == len(self.rows):
            self.rows = rows
            if not rows:
                return
            last = self.index(len(rows) - 1, len(self.titles) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def append(self, row: list[Cell]) -> None:
        """Add a row at the end."""
        at = len(self.rows)
        self.beginInsertRows(QModelIndex(), at, at)
        self.rows.append(row)
        self.endInsertRows()

    def set_titles(self, titles: Sequence[str]) -> None:
        """Other heads of the columns, as many as before."""
        self.titles = list(titles)
        last = len(self.titles) - 1
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, last)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        """How many rows there are."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        """How many columns there are."""
        return 0 if parent.isValid() else len(self.titles)

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        """What a cell shows."""
        if not index.isValid():
            return None
        cell = self.rows[index.row()][index.column()]
        if role in (_ROLE.DisplayRole, _ROLE.AccessibleTextRole):
            return cell.text
        if role == _ROLE.ToolTipRole:
            return cell.tip or cell.text
        if role == _ROLE.TextAlignmentRole:
            return _RIGHT if cell.right else _LEFT
        if role == _ROLE.ForegroundRole and cell.colour:
            return QBrush(QColor(cell.colour))
        if role == _ROLE.DecorationRole and cell.swatch:
            return QColor(cell.swatch)
        if role == _ROLE.FontRole and cell.bold:
            font = QFont()
            font.setBold(True)
            return font
        return None

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        """The head of a column, and what it means where that needs saying."""
        if orientation == Qt.Orientation.Horizontal and role == _ROLE.DisplayRole:
            return self.titles[section]
        if orientation == Qt.Orientation.Horizontal and role == _ROLE.ToolTipRole:
            return self._tips.get(section)
        return None


class SheetModel(QAbstractTableModel):
    """A sheet of arrays, filtered and sorted: `order` says which row of it stands where."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.sheet: Sheet | None = None
        self.order: Ints = np.zeros(0, dtype=np.int64)
        self.filter = ""
        self._place: Ints | None = None
        self._sorted = (0, False)
        self._brushes: dict[str, QBrush] = {}

    def set_sheet(self, sheet: Sheet) -> None:
        """Show another sheet, filtered and sorted as this one is."""
        self.sheet = sheet
        self._arrange()

    def set_filter(self, text: str) -> None:
        """Show the rows alone that a filter lets through."""
        if text != self.filter:
            self.filter = text
            self._arrange()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.theme = theme
        self._brushes = {}

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; rows that are equal stay in the order of their numbers."""
        wanted = (max(column, 0), order == Qt.SortOrder.DescendingOrder)
        if wanted != self._sorted:
            self._sorted = wanted
            self._arrange()

    def name(self, row: int) -> str:
        """The component in a row."""
        assert self.sheet is not None
        return self.sheet.name(int(self.order[row]))

    def names(self, rows: Sequence[int]) -> list[str]:
        """The components in many rows."""
        if len(rows) < 1000 or self.sheet is None:
            return [self.name(row) for row in rows]
        every = self.sheet.names()
        return [every[number] for number in self.order[np.array(rows)].tolist()]

    def rows_of(self, names: Sequence[str]) -> list[int]:
        """Where components stand now, rising; none where filtered away or of another kind."""
        if self.sheet is None:
            return []
        if self._place is None:
            self._place = np.full(self.sheet.n, -1)
            self._place[self.order] = np.arange(len(self.order))
        places = self._place[np.array(self.sheet.rows_of_all(names), dtype=np.int64)]
        found: list[int] = np.sort(places[places >= 0]).tolist()
        return found

    def _arrange(self) -> None:
        if self.sheet is None:
            return
        self.beginResetModel()
        column, falling = self._sorted
        self.order = self.sheet.sorted_by(min(column, len(self.sheet.columns)), falling=falling)
        if self.filter.strip():
            self.order = self.order[self.sheet.matching(self.filter)[self.order]]
        self._place = None
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        """How many rows are shown."""
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        """How many columns there are, the names included."""
        return 0 if parent.isValid() or self.sheet is None else 1 + len(self.sheet.columns)

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        """What a cell shows."""
        if not index.isValid() or self.sheet is None:
            return None
        if index.column() == 0:
            shows = (_ROLE.DisplayRole, _ROLE.ToolTipRole)
            return self.name(index.row()) if role in shows else None
        column, row = self.sheet.columns[index.column() - 1], int(self.order[index.row()])
        if role == _ROLE.DisplayRole:
            return self._text(column, row)
        if role == _ROLE.TextAlignmentRole:
            return _LEFT if column.words else _RIGHT
        if role == _ROLE.ForegroundRole:
            return self._brush(column, row)
        if role == _ROLE.ToolTipRole and column.words:
            return column.text(row)
        return None

    def _text(self, column: Column, row: int) -> str:
        text = column.text(row)
        if column.title == "state":
            return marked(text)
        if column.alarm is not None and column.values[row] >= column.alarm[0]:
            return f"{FULL_GLYPH if column.values[row] >= column.alarm[1] else BUSY_GLYPH} {text}"
        return text

    def _brush(self, column: Column, row: int) -> QBrush | None:
        colour = ""
        if column.title == "state":
            state = column.text(row)
            colour = state_colour(self.theme, state) if state not in ("up", "running") else ""
        elif column.alarm is not None and column.values[row] >= column.alarm[1]:
            colour = self.theme.over
        elif column.alarm is not None and column.values[row] >= column.alarm[0]:
            colour = self.theme.warm
        if not colour:
            return None
        return self._brushes.setdefault(colour, QBrush(QColor(colour)))

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        """The head of a column, and what it means."""
        if orientation != Qt.Orientation.Horizontal or self.sheet is None:
            return None
        if role == _ROLE.DisplayRole:
            return self.sheet.titles()[section]
        if role == _ROLE.ToolTipRole and section:
            return self.sheet.columns[section - 1].tip or None
        if role == _ROLE.TextAlignmentRole and section:
            return _LEFT if self.sheet.columns[section - 1].words else _RIGHT
        return None
