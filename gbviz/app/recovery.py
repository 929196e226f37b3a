"""Unsaved work is kept beside the settings, so that a crash costs seconds."""

from __future__ import annotations

import contextlib
import os
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.leftovers import Lock, leftovers, packed, recovery_dir, retire
from gbviz.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gbviz.app.documents import Documents
    from gbviz.app.leftovers import Leftover
    from gbviz.app.live import Live
    from gbviz.app.remembered import Remembered

DELAY_MS = 2000
_ROLE = Qt.ItemDataRole.UserRole


class Recovery(QObject):
    """Writes unsaved work to a recovery file two seconds after a change.

    The file is replaced whole, so that a kill leaves the old or the new one. It is not forced to
    the disk, which would hold up the window.

    Parameters
    ----------
    live, documents, remembered
        What is open, which file it belongs to, and whether autosave is wanted.
    parent
        Its owner.
    delay_ms
        How long after a change.

    Signals
    -------
    message(str, str)
        Something for the log: "info" or "warning", and a sentence.
    """

    message = Signal(str, str)

    def __init__(
        self,
        live: Live,
        documents: Documents,
        remembered: Remembered,
        parent: QObject | None = None,
        *,
        delay_ms: int = DELAY_MS,
    ) -> None:
        super().__init__(parent)
        self._live, self._documents, self._remembered = live, documents, remembered
        self._lock: Lock | None = None
        self._warned = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(delay_ms)
        self._soon.timeout.connect(self.write)
        live.edited.connect(self._edited)
        live.opened.connect(self._opened)
        documents.saved.connect(self.write)

    @property
    def file(self) -> Path | None:
        """The recovery file; None before there was anything to keep."""
        return self._lock.path.with_suffix(".json") if self._lock else None

    def leftovers(self) -> list[Leftover]:
        """What crashed runs have left; what could not be read is told by `message`."""
        found, notes = leftovers()
        for note in notes:
            self.message.emit("warning", note)
        return found

    def restore(self, leftover: Leftover) -> bool:
        """Open recovered work, which has no file until it is saved; False if that was refused."""
        if not self._documents.put(leftover.scenario, saved=False):
            return False
        # Gone only once this run holds it itself.
        if self.write():
            leftover.remove()
        self.message.emit("info", self.tr("recovered {}").format(leftover.scenario.name))
        return True

    def close(self) -> None:
        """Part cleanly: what was not saved by the user's choice is kept for a month all the same.

        Work that is not written yet is written first, so that it is kept too.
        """
        if self._soon.isActive() and self._documents.unsaved:
            self.write()
        self._soon.stop()
        self._leave(unsaved=self._documents.unsaved)
        if self._lock is not None:
            self._lock.release(remove=True)
            self._lock = None

    @Slot()
    def write(self) -> bool:
        """Keep the work now, or forget it where a file holds it; False if it could not be kept."""
        self._soon.stop()
        if not self._documents.unsaved:
            self._leave(unsaved=False)
            return True
        if not self._remembered.settings.autosave:
            return False
        try:
            self._replace(packed(self._live.scenario, self._origin()))
        except (OSError, ValueError) as error:
            if not self._warned:
                says = self.tr("unsaved work cannot be kept for recovery: {}")
                self.message.emit("warning", says.format(error))
            self._warned = True
            return False
        self._warned = False
        return True

    def _origin(self) -> Path | None:
        return self._documents.path or self._live.scenario.path

    def _replace(self, data: bytes) -> None:
        if self._lock is None:
            self._lock = _own_lock()
        file = self._lock.path.with_suffix(".json")
        temporary = file.with_suffix(".tmp")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        temporary.replace(file)

    def _leave(self, *, unsaved: bool) -> None:
        """Be done with the work that the file holds."""
        if self.file is None or not self.file.exists():
            return
        if unsaved:
            retire(self.file)
            return
        with contextlib.suppress(OSError):
            self.file.unlink()

    @Slot()
    def _edited(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    @Slot()
    def _opened(self) -> None:
        # Work that was saved is forgotten by then: what is still there was given up.
        self._leave(unsaved=True)
        self._soon.stop()
        if self._documents.unsaved:
            self._soon.start()


def _own_lock() -> Lock:
    """A lock that no run holds or has left a file with.

    Raises
    ------
    OSError
        The folder cannot be written.
    """
    folder = recovery_dir()
    folder.mkdir(parents=True, exist_ok=True)
    for number in count():
        lock = Lock(folder / f"{os.getpid()}-{number}.lock")
        if lock.path.with_suffix(".json").exists() or lock.path.exists():
            continue
        if lock.take():
            return lock
        if number > 1000:
            break
    raise OSError(f"{folder} cannot be written")


class RecoveryDialog(QDialog):
    """Offers unsaved work of runs that have crashed.

    Parameters
    ----------
    found
        At least one.
    parent
        The window.

    Signals
    -------
    restore(object)
        Open this `Leftover`; the dialog has closed.
    discard(object)
        Offer this one no more.
    """

    restore = Signal(object)
    discard = Signal(object)

    def __init__(self, found: Sequence[Leftover], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Unsaved work"))
        self.setMinimumWidth(80 * self.fontMetrics().averageCharWidth())
        text = QLabel(
            self.tr(
                "gbviz ended without saving. What was open has been kept; it opens as a new"
                " scenario, and the file that it came from stays as it is."
            )
        )
        text.setWordWrap(True)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Work that can be recovered"))
        self.list.setAlternatingRowColors(True)
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for one in found:
            item = QListWidgetItem(self._described(one))
            item.setData(_ROLE, one)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self.list.itemActivated.connect(self._restore)
        buttons = QDialogButtonBox()
        accept = QDialogButtonBox.ButtonRole.AcceptRole
        self.restore_button: QPushButton = buttons.addButton(self.tr("&Restore"), accept)
        self.discard_button: QPushButton = buttons.addButton(
            self.tr("&Discard"), QDialogButtonBox.ButtonRole.DestructiveRole
        )
        self.later_button: QPushButton = buttons.addButton(
            self.tr("&Later"), QDialogButtonBox.ButtonRole.RejectRole
        )
        self.restore_button.setDefault(True)
        self.restore_button.clicked.connect(self._restore)
        self.discard_button.clicked.connect(self._discard)
        self.later_button.clicked.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        layout.addWidget(text)
        layout.addWidget(self.list)
        layout.addWidget(buttons)

    @property
    def left(self) -> list[Leftover]:
        """Those that are neither restored nor discarded."""
        rows = range(self.list.count())
        return [self.list.item(row).data(_ROLE) for row in rows]

    def _described(self, one: Leftover) -> str:
        when = datetime.fromtimestamp(one.when).strftime("%Y-%m-%d %H:%M:%S")
        where = self.tr("never saved") if one.original is None else str(one.original)
        jobs, events = len(one.scenario.jobs), len(one.scenario.events)
        name = printable(one.scenario.name)
        size = self.tr("{} jobs, {} events").format(jobs, events)
        return f"{name}, {when}, {size}\n{printable(where)}"

    @Slot()
    def _restore(self) -> None:
        chosen = self._take()
        if chosen is not None:
            self.accept()
            self.restore.emit(chosen)

    @Slot()
    def _discard(self) -> None:
        chosen = self._take()
        if chosen is not None:
            self.discard.emit(chosen)
        if not self.list.count():
            self.reject()

    def _take(self) -> Leftover | None:
        item = self.list.takeItem(self.list.currentRow())
        chosen: Leftover | None = None if item is None else item.data(_ROLE)
        return chosen


def offer(recovery: Recovery, parent: QWidget | None = None) -> None:
    """Offer what crashed runs have left; nothing happens where there is nothing."""
    found = recovery.leftovers()
    if not found:
        return
    dialog = RecoveryDialog(found, parent)
    refused: list[Leftover] = []

    def restore(one: Leftover) -> None:
        if not recovery.restore(one):
            refused.append(one)

    dialog.restore.connect(restore)
    dialog.discard.connect(lambda one: one.retire())
    dialog.exec()
    for one in (*dialog.left, *refused):
        one.later()
    dialog.deleteLater()
