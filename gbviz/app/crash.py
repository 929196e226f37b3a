"""Errors that nobody expected: told to the window and kept in a log file, never silent."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    QtMsgType,
    Signal,
    SignalInstance,
    qInstallMessageHandler,
)

from gbviz.app.settings import state_dir

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

_LARGEST, _KEPT = 1_000_000, 3
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
# Qt says these of platforms without windows; nobody can do anything about them.
_NOISE = ("This plugin does not support",)


def log_file() -> Path:
    """The log file; older ones stand beside it with a number."""
    return state_dir() / "logs" / "gbviz.log"


class Crash(QObject):
    """Hears of uncaught exceptions in all threads and of what Qt complains of.

    Parameters
    ----------
    parent
        Its owner.

    Signals
    -------
    noticed(str, str)
        Something for the log: "warning" or "error", and a text.
    crashed(str, str)
        An exception that nobody caught: one sentence, and the traceback.

    Both may come from any thread: connect them to methods of QObjects, which Qt calls in theirs.
    """

    noticed = Signal(str, str)
    crashed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._log = logging.getLogger("gbviz")
        self._log.setLevel(logging.INFO)
        self._handler = _handler()
        self._log.addHandler(self._handler)
        self._busy = threading.local()
        self._last = ""
        self._installed = False

    def install(self) -> None:
        """Begin to listen, in the place of those who listened before."""
        self._installed = True
        self._before = sys.excepthook, threading.excepthook
        sys.excepthook = self._uncaught
        threading.excepthook = self._in_thread
        self._qt_before: Callable[..., object] | None = qInstallMessageHandler(self._said)

    def close(self) -> None:
        """Put back who listened before, and close the log."""
        if self._installed:
            sys.excepthook, threading.excepthook = self._before
            qInstallMessageHandler(self._qt_before)
            self._installed = False
        self._log.removeHandler(self._handler)
        self._handler.close()

    def _uncaught(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self._note(kind, error, trace)
        self._before[0](kind, error, trace)

    def _in_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._note(args.exc_type, args.exc_value, args.exc_traceback)
        self._before[1](args)

    def _note(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt | SystemExit):
            return
        text = "".join(traceback.format_exception(kind, error, trace))
        if not self._first(text):
            return
        self._log.critical("uncaught exception\n%s", text)
        sentence = f"internal error, please report it: {kind.__name__}: {error}"
        self._tell(self.crashed, sentence, text)
        self._tell(self.noticed, "error", sentence)

    def _said(self, kind: QtMsgType, _: QMessageLogContext, text: str) -> None:
        level = _LEVELS.get(kind, logging.WARNING)
        if text.startswith(_NOISE) or not self._first(text):
            return
        self._log.log(level, "Qt: %s", text)
        if level >= logging.WARNING:
            said = "warning" if level == logging.WARNING else "error"
            self._tell(self.noticed, said, f"Qt: {text}")

    def _first(self, text: str) -> bool:
        """Whether it is not what was said just before: a painter says it 60 times a second."""
        again, self._last = text == self._last, text
        return not again

    def _tell(self, signal: SignalInstance, *what: str) -> None:
        """Emit, unless it is listening to this very signal that has failed."""
        if getattr(self._busy, "on", False):
            return
        self._busy.on = True
        try:
            signal.emit(*what)
        except RuntimeError:
            # The window is gone already; the log has it.
            self._log.warning("nobody was there to hear it")
        finally:
            self._busy.on = False


def _handler() -> logging.Handler:
    """To the log file; nowhere if it cannot be written."""
    try:
        log_file().parent.mkdir(parents=True, exist_ok=True)
        found = RotatingFileHandler(
            log_file(), maxBytes=_LARGEST, backupCount=_KEPT, encoding="utf-8", errors="replace"
        )
    except OSError:
        return logging.NullHandler()
    found.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    return found
