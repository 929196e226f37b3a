"""The jobs: what each does now, how much slower that is, and what limits it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QMenu, QStackedLayout, QWidget

from gbviz.app.empty_hint import EmptyHint
from gbviz.app.job_form import JobForm
from gbviz.app.job_twin import job_twin, twin_name
from gbviz.app.table_models import BUSY_GLYPH, Cell, RowModel, state_colour
from gbviz.app.table_view import TableView
from gbviz.display.theme import job_colour
from gbviz.engine import edits
from gbviz.jobs.traffic import TrafficJob
from gbviz.report.job_lines import LEAST_ONCE_S, ONCE, SLOWDOWN, JobLine, job_lines, once_words
from gbviz.report.places import selectable
from gbviz.report.words import counted

if TYPE_CHECKING:
    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.theme import Theme
    from gbviz.engine.edits import Edit
    from gbviz.jobs.spec import Job
    from gbviz.scenario import Scenario

_SAME = 1.0005

# Columns that must be in sight: a long name gives way to them, its tool tip has all of it.
_IN_SIGHT = 5


class JobsDock(QWidget):
    """A row a job: selecting one lights it up, Enter shows what limits it.

    Signals
    -------
    edit_wanted(int)
        The job of that number is to be edited.
    add_wanted()
        A job is to be added.
    """

    edit_wanted = Signal(int)
    add_wanted = Signal()

    def __init__(
        self, live: Live, selection: Selection, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._live, self._selection, self._theme = live, selection, theme
        self._lines: list[JobLine] = []
        self._showing = False
        titles = [self.tr("job"), self.tr("state"), self.tr("slower"), self.tr("once")]
        titles += [self.tr("now"), self.tr("GPUs"), self.tr("limit")]
        tips = {2: self.tr(SLOWDOWN), 3: self.tr(ONCE)}
        self.model = RowModel(titles, self, tips)
        self.view = TableView(self.model, self)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.setAccessibleName(self.tr("Jobs"))
        self.view.keep_in_sight(_IN_SIGHT)
        self.view.setToolTip(self.tr("Select a job to see where it runs; Enter shows its limit."))
        text = self.tr("No job runs. Without one, the map shows health alone: add one to see load.")
        self.empty = EmptyHint(text, self.tr("Add a job"), self)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.view)
        self._stack.addWidget(self.empty)
        self.empty.wanted.connect(self.add_wanted)
        self.view.opened.connect(self.show_bottleneck)
        self.view.deleted.connect(self.remove)
        self.view.customContextMenuRequested.connect(self._menu_at)
        self.view.selectionModel().selectionChanged.connect(self._row_selected)
        live.answered.connect(self.refresh)
        live.opened.connect(self._opened)
        live.stale.connect(self._set_stale)
        selection.changed.connect(self._selection_changed)
        self._stack.setCurrentWidget(self.view if live.scenario.jobs else self.empty)
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self._fill()

    def refresh(self) -> None:
        """Show the jobs of the latest answer."""
        if self._live.answer is None:
            return
        fresh = len(self._lines) == 0
        self._lines = job_lines(self._live.answer.snapshot)
        self._fill()
        self._stack.setCurrentWidget(self.view if self._lines else self.empty)
        self.view.fit_columns(grow=not fresh)
        self._selection_changed()

    def show_bottleneck(self, row: int) -> None:
        """Select the link that limits a job and bring it into sight."""
        if self._live.answer is None or not 0 <= row < len(self._lines):
            return
        names = selectable(self._live.answer.snapshot.fabric, self._lines[row].link)
        if names:
            self._selection.select(names, reveal=True)
            self._selection.light(self._lines[row].name)

    def remove(self, row: int) -> None:
        """Take a job away."""
        if 0 <= row < len(self._lines):
            self._live.edit(partial(edits.remove_job, name=self._lines[row].name))

    def duplicate(self, row: int) -> None:
        """Add a job like this one: its form on racks that are free; refused where too few are.

        A pattern of the command line shares GPUs with others: it gets another name and no form.
        """
        if not 0 <= row < len(self._live.scenario.jobs):
            return
        job = self._live.scenario.jobs[row]
        if isinstance(job, TrafficJob):
            self._live.edit(partial(_twin, number=row))
            return
        twin = job_twin(self._live.scenario, row)
        if twin.racks is None:
            free = counted(twin.free, self.tr("free rack"))
            words = self.tr("{0} cannot be duplicated: it needs {1}, there are {2}")
            if twin.free == 1:
                words = self.tr("{0} cannot be duplicated: it needs {1}, there is {2}")
            self._live.refused.emit(words.format(job.name, counted(twin.needed, "rack"), free))
            return
        form = JobForm(self._live.scenario, twin=twin.values, parent=self.window())
        form.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        form.finished_job.connect(self._add)
        form.open()

    def _add(self, job: TrafficJob | Job, number: int | None) -> None:
        self._live.edit(partial(edits.put_job, job=job, number=number))

    def menu(self, row: int) -> QMenu:
        """What can be done with a row; -1 for none."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Add a job…"), self.add_wanted.emit)
        if row < 0:
            return menu
        menu.addAction(self.tr("Edit…"), partial(self.edit_wanted.emit, row))
        menu.addAction(self.tr("Duplicate"), partial(self.duplicate, row))
        action = menu.addAction(self.tr("Remove"), partial(self.remove, row))
        action.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        menu.addSeparator()
        action = menu.addAction(self.tr("Show the bottleneck"), partial(self.show_bottleneck, row))
        action.setEnabled(bool(self._lines[row].link))
        menu.addAction(self.tr("Copy row"), self.view.copy_rows)
        return menu

    def _menu_at(self, where: QPoint) -> None:
        row = self.view.indexAt(where).row()
        self.menu(row).popup(self.view.viewport().mapToGlobal(where))

    def _fill(self) -> None:
        self.model.set_rows([self._cells(place) for place in range(len(self._lines))])

    def _cells(self, place: int) -> list[Cell]:
        line, theme = self._lines[place], self._theme
        slow = line.slowdown is None or line.slowdown > _SAME
        times = self.tr("never") if line.slowdown is None else f"{line.slowdown:.3f}"
        now = self.tr("{0}; {1} on the healthy cluster").format(line.now, line.before)
        dim = theme.dim if self._live.is_stale else ""
        return [
            Cell(line.name, dim, swatch=job_colour(theme, place), tip=f"{line.name}, {line.kind}"),
            self._state(line, dim),
            Cell(times, dim or (theme.warm if slow else ""), right=True, bold=slow, tip=now),
            self._once(line, dim),
            Cell(line.short, dim, right=True, tip=now),
            Cell(f"{line.gpus:,}", dim, right=True),
            Cell(line.limit, dim or theme.dim),
        ]

    def _state(self, line: JobLine, dim: str) -> Cell:
        """The state; one that runs as fast as ever is marked where the fault has cost it time."""
        if line.state == "running" and line.once_s > LEAST_ONCE_S:
            tip = self.tr("runs as fast as before, after {0}").format(once_words(line.one_off))
            return Cell(f"{BUSY_GLYPH} {line.state}", dim or self._theme.warm, tip=tip)
        return Cell(line.state, dim or state_colour(self._theme, line.state))

    def _once(self, line: JobLine, dim: str) -> Cell:
        """What the faults cost once, and of what that is made."""
        if not line.once_s:
            return Cell(self.tr("0 s"), dim, right=True, tip=self.tr("Nothing is lost once."))
        costly = line.once_s > LEAST_ONCE_S
        text = self.tr("{0} s").format(f"{line.once_s:,.0f}" if costly else f"{line.once_s:.2g}")
        tip = self.tr("lost once: {0}").format(once_words(line.one_off))
        hue = self._theme.warm if costly else ""
        return Cell(text, dim or hue, right=True, bold=costly, tip=tip)

    def _opened(self) -> None:
        self._lines = []
        self._fill()
        self._stack.setCurrentWidget(self.view if self._live.scenario.jobs else self.empty)

    def _set_stale(self, _stale: bool) -> None:
        self._fill()

    def _row_selected(self) -> None:
        rows = self.view.selected_rows()
        if not self._showing and rows:
            self._selection.light(self._lines[rows[0]].name)

    def _selection_changed(self) -> None:
        """Select the row of the job that is lit."""
        names = [line.name for line in self._lines]
        self._showing = True
        if self._selection.job in names:
            row = names.index(self._selection.job)
            if self.view.selected_rows() != [row]:
                self.view.selectRow(row)
        else:
            self.view.clearSelection()
        self._showing = False


def _twin(scenario: Scenario, number: int) -> Edit:
    """An edit that adds a pattern like the one of a number, named after it."""
    job = scenario.jobs[number]
    assert isinstance(job, TrafficJob)
    return edits.put_job(scenario, replace(job, name=twin_name(scenario, job.name)))
