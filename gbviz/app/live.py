"""The scenario that is open, its answer, and everything that people do to it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gbviz.app.answer import answer
from gbviz.app.worker import Outcome, Worker
from gbviz.engine import Session, edits
from gbviz.errors import GbvizError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gbviz.app.answer import Answer
    from gbviz.engine.edits import Edit
    from gbviz.scenario import Scenario

# Bursts of edits, such as a slider's, are answered together.
_BURST_MS = 15


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
    """

    opened = Signal()
    edited = Signal(str)
    stale = Signal(bool)
    answered = Signal()
    failed = Signal(str)
    refused = Signal(str)
    progress = Signal(str)
    previewed = Signal(object)

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
        self.opened.emit()
        self.recompute()

    def recompute(self) -> None:
        """Ask for the answer now."""
        self._set_stale(True)
        self._ask()

    def fail(self, names: Sequence[str]) -> bool:
        """Fail components; False where that was refused."""
        return self.edit(partial(edits.fail, selectors=names))

    def repair(self, names: Sequence[str]) -> bool:
        """Repair components; False where that was refused."""
        return self.edit(partial(edits.repair, selectors=names))

    def degrade(self, names: Sequence[str], factor: float) -> bool:
        """Degrade components; False where that was refused."""
        return self.edit(partial(edits.degrade, selectors=names, factor=factor))

    def restore_all(self) -> bool:
        """Mend everything."""
        return self.edit(edits.restore_all)

    def edit(self, change: Callable[[Scenario], Edit]) -> bool:
        """Make an edit a step of the history; False where it was refused or changes nothing."""
        try:
            found = change(self.scenario)
        except GbvizError as error:
            self.refused.emit(str(error))
            return False
        if not self.session.do(found):
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
        self._previewer.ask(partial(answer, found.scenario))

    def cancel(self) -> None:
        """Stop computing; the figures stay those of the last answer and stay marked as old."""
        self._soon.stop()
        self._worker.cancel()
        self.failed.emit("cancelled: the figures are those of the last answer")

    def close(self) -> None:
        """Stop the threads; the object is of no more use."""
        self._soon.stop()
        self._worker.close()
        self._previewer.close()

    def _changed(self, label: str) -> None:
        self._set_stale(True)
        self.edited.emit(label)
        self._soon.start()

    @Slot()
    def _ask(self) -> None:
        self._worker.ask(partial(answer, self.scenario))

    @Slot(object)
    def _finished(self, outcome: Outcome) -> None:
        if self._soon.isActive():
            return
        if outcome.error is not None:
            self.error = outcome.error
            self.failed.emit(outcome.error)
            return
        self.answer, self.error = outcome.value, None
        self._set_stale(False)
        self.answered.emit()

    @Slot(object)
    def _previewed(self, outcome: Outcome) -> None:
        self.previewed.emit((self._preview_label, outcome.error or outcome.value))

    def _set_stale(self, stale: bool) -> None:
        if stale != self.is_stale:
            self.is_stale = stale
            self.stale.emit(stale)
