"""One thread beside the window: at most one run in flight and one pending, late answers dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal, Slot

from gbviz.errors import GbvizError

Poll = Callable[[str], None]
Task = Callable[[Poll], Any]


class Stopped(Exception):  # noqa: N818 it is no error: somebody asked for it
    """Raised by a task's poll once nobody wants its answer any more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended: its answer, or what went wrong in words (`""` where it was stopped)."""

    number: int
    value: Any = None
    error: str | None = None


class _Runner(QObject):
    """Lives in the thread and runs one task at a time."""

    done = Signal(object)
    progress = Signal(int, str)

    @Slot(object)
    def run(self, request: _Request) -> None:
        """Run one request and report how it ended."""

        def poll(what: str) -> None:
            if request.stop.is_set():
                raise Stopped
            self.progress.emit(request.number, what)

        try:
            outcome = Outcome(request.number, value=request.task(poll))
        except Stopped:
            outcome = Outcome(request.number, error="")
        except GbvizError as error:
            outcome = Outcome(request.number, error=str(error))
        except MemoryError:
            outcome = Outcome(request.number, error="there is not enough memory for this question")
        except Exception as error:  # noqa: BLE001 the boundary: the window lives on and says so
            text = f"internal error, please report it: {type(error).__name__}: {error}"
            outcome = Outcome(request.number, error=text)
        self.done.emit(outcome)


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    number: int
    task: Task
    stop: threading.Event


class Worker(QObject):
    """Runs tasks one after the other; of those that wait only the latest is kept.

    Signals
    -------
    finished(Outcome)
        Of the latest task that was asked for; those of earlier ones are dropped.
    progress(str)
        What the running task is doing.
    idle()
        Nothing runs and nothing waits.
    """

    finished = Signal(object)
    progress = Signal(str)
    idle = Signal()
    _start = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = QThread(self)
        self._thread.setObjectName("model")
        self._runner = _Runner()
        self._runner.moveToThread(self._thread)
        self._start.connect(self._runner.run)
        self._runner.done.connect(self._done)
        self._runner.progress.connect(self._progress)
        self._number = 0
        self._running: _Request | None = None
        self._waiting: _Request | None = None
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a task runs or waits."""
        return self._running is not None

    def ask(self, task: Task) -> int:
        """Run a task as soon as may be, in the place of any that waits or runs."""
        self._number += 1
        request = _Request(self._number, task, threading.Event())
        if self._running is None:
            self._running = request
            self._start.emit(request)
        else:
            self._running.stop.set()
            self._waiting = request
        return self._number

    def cancel(self) -> None:
        """Want no answer any more."""
        self._number += 1
        self._waiting = None
        if self._running is not None:
            self._running.stop.set()

    def close(self) -> None:
        """Stop and wait for the thread; nothing may be asked afterwards."""
        self.cancel()
        self._thread.quit()
        self._thread.wait()

    @Slot(object)
    def _done(self, outcome: Outcome) -> None:
        self._running, self._waiting = self._waiting, None
        if self._running is not None:
            self._start.emit(self._running)
        if outcome.number == self._number and outcome.error != "":
            self.finished.emit(outcome)
        if self._running is None:
            self.idle.emit()

    @Slot(int, str)
    def _progress(self, number: int, what: str) -> None:
        if number == self._number:
            self.progress.emit(what)
