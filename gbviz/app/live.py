"""The scenario that is open, its answer, and everything that people do to it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gbviz.app.answer import answer, answer_at
from gbviz.app.worker import Outcome, Worker
from gbviz.engine import Session, edits
from gbviz.engine.run import run
from gbviz.errors import GbvizError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gbviz.app.answer import Answer
    from gbviz.engine.edits import Edit
    from gbviz.engine.timeline import Timeline
    from gbviz.scenario import Scenario

# Bursts of edits, such as a slider's, are answered together.
_BURST_MS = 15
# The timeline is computed once nobody has changed anything for a moment.
_REST_MS = 250
_MOST_MOMENTS = 64


class Live(QObject):
    """Holds the session, has the worker answer it, and tells the views.

    State goes down by these signals, intent comes up by the methods; views change nothing else.

    Signals
    -------
    opened()
        Another scenario has taken the place of the last: everything is new.
    edited(str)
        The scenario has changed; what was done, for the log.
    stale(bool)
        True while the figures shown are not yet those of the scenario.
    answered()
        `answer` is the scenario's.
    failed(str)
        The scenario could not be evaluated, and why; `answer` is the last good one.
    refused(str)
        Something could not be done, and why; nothing has changed.
    progress(str)
        What the worker is doing.
    previewed(object)
        `(label, Answer)` of what an edit would do, or `(label, message)` why it cannot be said.
    timed()
        `time_s` is another: None is the live view of the end, else a moment of the timeline.
    timeline_made()
        `timeline` is the scenario's, or None while it is being computed or where nothing lasts.
    """

    opened = Signal()
    edited = Signal(str)
    stale = Signal(bool)
    answered = Signal()
    failed = Signal(str)
    refused = Signal(str)
    progress = Signal(str)
    previewed = Signal(object)
    timed = Signal()
    timeline_made = Signal()

    def __init__(self, scenario: Scenario, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = Session(scenario)
        self.answer: Answer | None = None
        self.is_stale = True
        self.error: str | None = None
        self._worker = Worker(self)
        self._worker.finished.connect(self._finished)
        self._worker.progress.connect(self.progress)
        self._previewer = Worker(self)
        self._previewer.finished.connect(self._previewed)
        self._preview_label = ""
        self.time_s: float | None = None
        self.timeline: Timeline | None = None
        self._moments: dict[int, Answer] = {}
        self._runner = Worker(self)
        self._runner.finished.connect(self._made)
        self._run_soon = QTimer(self)
        self._run_soon.setSingleShot(True)
        self._run_soon.setInterval(_REST_MS)
        self._run_soon.timeout.connect(self._run)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_BURST_MS)
        self._soon.timeout.connect(self._ask)

    @property
    def scenario(self) -> Scenario:
        """The scenario as it is now."""
        return self.session.scenario

    def open(self, scenario: Scenario, *, saved: bool = True) -> None:
        """Put another scenario in the place of this one, with a history of its own."""
        self.session = Session(scenario, saved=saved)
        self.answer = None
        self.error = None
        self.time_s = None
        self._forget_timeline()
        self.opened.emit()
        self.recompute()

    def recompute(self) -> None:
        """Ask for the answer now."""
        self._set_stale(True)
        self._ask()
        self._run_soon.start()

    def look_at(self, time_s: float | None) -> None:
        """Show a moment of the timeline, None for the live view of the scenario's end."""
        if time_s is not None:
            time_s = min(max(time_s, 0.0), self.scenario.end_s)
        if time_s == self.time_s:
            return
        self.time_s = time_s
        self.timed.emit()
        self._show_moment()

    def fail(self, names: Sequence[str]) -> bool:
        """Fail components; False where that was refused."""
        return self.edit(partial(edits.fail, selectors=names, at_s=self.time_s))

    def repair(self, names: Sequence[str]) -> bool:
        """Repair components; False where that was refused."""
        return self.edit(partial(edits.repair, selectors=names, at_s=self.time_s))

    def degrade(self, names: Sequence[str], factor: float) -> bool:
        """Degrade components; False where that was refused."""
        return self.edit(partial(edits.degrade, selectors=names, factor=factor, at_s=self.time_s))

    def restore_all(self) -> bool:
        """Mend everything."""
        return self.edit(partial(edits.restore_all, at_s=self.time_s))

    def edit(self, change: Callable[[Scenario], Edit]) -> bool:
        """Make an edit a step of the history; False where it was refused or changes nothing."""
        try:
            found = change(self.scenario)
        except GbvizError as error:
            self.refused.emit(str(error))
            return False
        if not self.session.do(found):
            self.refused.emit(self.tr("nothing changes by that: {}").format(found.label))
            return False
        self._changed(found.label)
        return True

    def undo(self) -> None:
        """Take the last step back."""
        label = self.session.undo_label
        if self.session.undo():
            self._changed(f"undo {label}")

    def redo(self) -> None:
        """Do the step again that was taken back last."""
        label = self.session.redo_label
        if self.session.redo():
            self._changed(f"redo {label}")

    def go(self, step: int) -> None:
        """Go to a step of the history."""
        if self.session.go(step):
            self._changed(f"go to {self.session.undo_label or 'the start'}")

    def preview(self, change: Callable[[Scenario], Edit]) -> None:
        """Find out what an edit would cost; `previewed` follows, nothing changes."""
        try:
            found = change(self.scenario)
        except GbvizError as error:
            self.previewed.emit(("", str(error)))
            return
        self._preview_label = found.label
        self._previewer.ask(partial(answer, found.scenario, at_s=self.time_s))

    def cancel(self) -> None:
        """Stop computing; the figures stay those of the last answer and stay marked as old."""
        self._soon.stop()
        self._worker.cancel()
        self.failed.emit("cancelled: the figures are those of the last answer")

    def close(self) -> None:
        """Stop the threads; the object is of no more use."""
        self._soon.stop()
        self._run_soon.stop()
        for worker in (self._worker, self._previewer, self._runner):
            worker.close()

    def _changed(self, label: str) -> None:
        self._set_stale(True)
        self._forget_timeline()
        if self.time_s is not None and self.time_s > self.scenario.end_s:
            self.time_s = self.scenario.end_s
            self.timed.emit()
        self.edited.emit(label)
        self._soon.start()
        self._run_soon.start()

    @Slot()
    def _ask(self) -> None:
        self._worker.ask(partial(answer, self.scenario, at_s=self.time_s))

    def _forget_timeline(self) -> None:
        self._moments.clear()
        self._runner.cancel()
        if self.timeline is not None:
            self.timeline = None
            self.timeline_made.emit()

    @Slot()
    def _run(self) -> None:
        """Compute the timeline of a scenario in which time passes."""
        if self.scenario.end_s > 0:
            scenario = self.scenario
            self._runner.ask(lambda poll: run(scenario, poll=poll))

    @Slot(object)
    def _made(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            self.refused.emit(outcome.error)
            return
        self.timeline = outcome.value
        self.timeline_made.emit()
        if self.time_s is not None:
            self._show_moment()

    def _show_moment(self) -> None:
        """Show the answer of the moment: at once where it is known, else once it is found."""
        if self.time_s is None or self.timeline is None:
            self._set_stale(True)
            self._ask()
            return
        number = self.timeline.number_at(self.time_s)
        known = self._moments.get(number)
        if known is not None:
            self._worker.cancel()
            self._take(known)
            return
        self._set_stale(True)
        timeline, time_s = self.timeline, self.time_s
        self._worker.ask(lambda poll: answer_at(timeline, time_s, poll))

    @Slot(object)
    def _finished(self, outcome: Outcome) -> None:
        if self._soon.isActive():
            return
        if outcome.error is not None:
            self.error = outcome.error
            self.failed.emit(outcome.error)
            return
        if self.time_s is not None and self.timeline is not None:
            if len(self._moments) >= _MOST_MOMENTS:
                del self._moments[next(iter(self._moments))]
            self._moments[self.timeline.number_at(self.time_s)] = outcome.value
        self._take(outcome.value)

    def _take(self, found: Answer) -> None:
        self.answer, self.error = found, None
        self._set_stale(False)
        self.answered.emit()

    @Slot(object)
    def _previewed(self, outcome: Outcome) -> None:
        self.previewed.emit((self._preview_label, outcome.error or outcome.value))

    def _set_stale(self, stale: bool) -> None:
        if stale != self.is_stale:
            self.is_stale = stale
            self.stale.emit(stale)
