"""What happened: edits, answers with their seconds, refusals and failures, with the time."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.naming import name_inside
from gbviz.app.table_models import Cell, RowModel
from gbviz.app.table_view import TableView

if TYPE_CHECKING:
    from gbviz.app.live import Live
    from gbviz.display.theme import Theme

MOST_LINES = 5000
# Levels, from all to what went wrong alone.
_LEVELS = ("answer", "edit", "refused", "failed")
# What other parts of the app call the same.
_ALSO = {"info": "answer", "warning": "refused", "error": "failed"}
_GLYPHS = {"answer": "·", "edit": "●", "refused": "▲", "failed": "✕"}


@dataclass(frozen=True, slots=True)
class LogLine:
    """One thing that happened: when (hh:mm:ss), of what level, and in words."""

    time: str
    level: str
    text: str


class LogDock(QWidget):
    """Lines of a log, filtered by level; more than `MOST_LINES` push the oldest out."""

    def __init__(self, live: Live, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live, self._theme = live, theme
        self._asked = perf_counter()
        self.lines: list[LogLine] = []
        self.model = RowModel([self.tr("time"), self.tr("level"), self.tr("what")], self)
        self.view = TableView(self.model, self)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.view.setAccessibleName(self.tr("Log"))
        self.level = QComboBox(self)
        self.level.addItems([self.tr("everything"), self.tr("edits and problems")])
        self.level.addItems([self.tr("problems"), self.tr("failures")])
        self.level.setAccessibleName(self.tr("Show"))
        self.level.setToolTip(self.tr("Which lines are shown"))
        copy, clear = QPushButton(self.tr("Copy"), self), QPushButton(self.tr("Clear"), self)
        copy.setToolTip(self.tr("Copy the selected lines, or all of them"))
        bar = QHBoxLayout()
        bar.setContentsMargins(6, 3, 6, 3)
        label = QLabel(self.tr("Show"), self)
        label.setBuddy(self.level)
        bar.addWidget(label)
        bar.addWidget(self.level)
        bar.addStretch(1)
        bar.addWidget(copy)
        bar.addWidget(clear)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        copy.clicked.connect(self.copy)
        clear.clicked.connect(self.clear)
        self.level.currentIndexChanged.connect(self._fill)
        name_inside(self)
        self._listen(live)

    def _listen(self, live: Live) -> None:
        live.opened.connect(self._opened)
        live.edited.connect(self._edited)
        live.stale.connect(self._stale)
        live.answered.connect(self._answered)
        live.refused.connect(self._refused)
        live.failed.connect(self._failed)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self._fill()

    def add(self, level: str, text: str) -> None:
        """Note something: `answer`, `edit`, `refused` or `failed`; or info, warning, error."""
        level = _ALSO.get(level, level)
        time = QDateTime.currentDateTime().toString("hh:mm:ss")
        line = LogLine(time, level, text)
        self.lines.append(line)
        if len(self.lines) > MOST_LINES:
            del self.lines[: MOST_LINES // 10]
            self._fill()
        elif self._shown(line):
            self.model.append(self._cells(line))
        if self.model.rowCount() == 1:
            self._fit()
        self.view.scrollToBottom()

    def text(self) -> str:
        """The lines shown that are selected, or all that are shown."""
        rows = self.view.selected_rows() or range(self.model.rowCount())
        return "\n".join(" ".join(cell.text for cell in self.model.rows[row]) for row in rows)

    def copy(self) -> None:
        """Put `text` into the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def clear(self) -> None:
        """Forget all lines."""
        self.lines = []
        self._fill()

    def _fit(self) -> None:
        metrics = self.fontMetrics()
        self.view.setColumnWidth(0, metrics.horizontalAdvance("00:00:00") + 24)
        self.view.setColumnWidth(1, metrics.horizontalAdvance("▲ refused") + 28)

    def _shown(self, line: LogLine) -> bool:
        return _LEVELS.index(line.level) >= self.level.currentIndex()

    def _fill(self) -> None:
        self.model.set_rows([self._cells(line) for line in self.lines if self._shown(line)])
        self.view.scrollToBottom()

    def _cells(self, line: LogLine) -> list[Cell]:
        theme = self._theme
        hues = {"answer": theme.dim, "edit": "", "refused": theme.warm, "failed": theme.failed}
        colour = hues[line.level]
        mark = f"{_GLYPHS[line.level]} {line.level}"
        return [Cell(line.time, theme.dim), Cell(mark, colour), Cell(line.text, colour)]

    def _opened(self) -> None:
        self.add("edit", self.tr("open {0}").format(self._live.scenario.name))

    def _edited(self, label: str) -> None:
        self._asked = perf_counter()
        self.add("edit", label)

    def _stale(self, stale: bool) -> None:
        if stale:
            self._asked = perf_counter()

    def _answered(self) -> None:
        seconds = perf_counter() - self._asked
        self.add("answer", self.tr("answered after {0:.3f} s").format(seconds))

    def _refused(self, why: str) -> None:
        self.add("refused", why)

    def _failed(self, why: str) -> None:
        self.add("failed", why)
