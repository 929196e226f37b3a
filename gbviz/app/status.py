"""The status bar: what keys do now, what is computed, how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QStatusBar, QWidget

from gbviz.errors import InputError
from gbviz.faults.fault import DEGRADABLE
from gbviz.report.cause import condition
from gbviz.report.facts import kind_in
from gbviz.report.words import counted, percent, sized

if TYPE_CHECKING:
    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.engine import Loads
    from gbviz.topology.fabric import Fabric

# What is quicker than this needs no progress.
_PROGRESS_AFTER_MS = 300
# A longer reason stands in the tool tip.
_MOST_LETTERS = 70


class StatusBar(QStatusBar):
    """Reads the live state and the selection; its buttons cancel, and get out of a failure."""

    def __init__(self, live: Live, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Status"))
        self._live, self._selection = live, selection
        self._undoes = False
        self.hint = QLabel(self)
        self.hint.setAccessibleName(self.tr("What the keys do"))
        self.hint.setMinimumWidth(60)
        self.progress = QProgressBar(self)
        self.progress.setRange(0, 0)
        self.progress.setFixedWidth(120)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(self.tr("Computing"))
        self.doing = QLabel(self)
        self.cancel = QPushButton(self.tr("Cancel"), self)
        self.cancel.setAccessibleName(self.tr("Cancel computing"))
        self.old = QLabel(self)
        self.old.setAccessibleName(self.tr("Why the figures are old"))
        self.old.setForegroundRole(QPalette.ColorRole.BrightText)
        self.way_out = QPushButton(self.tr("Try again"), self)
        self.state = QLabel(self)
        self.state.setAccessibleName(self.tr("State of the cluster"))
        self.addWidget(self.hint, 1)
        for widget in (self.old, self.way_out, self.doing, self.progress, self.cancel, self.state):
            self.addPermanentWidget(widget)
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(_PROGRESS_AFTER_MS)
        self._late.timeout.connect(self._show_progress)
        self._connect()
        self._hide_progress()
        self._fresh()
        self.refresh()

    def _connect(self) -> None:
        live, selection = self._live, self._selection
        self.cancel.clicked.connect(live.cancel)
        self.way_out.clicked.connect(self._leave)
        live.answered.connect(self._fresh)
        live.opened.connect(self._fresh)
        live.stale.connect(self._stale)
        live.answered.connect(self.refresh)
        live.opened.connect(self.refresh)
        live.failed.connect(self._failed)
        live.refused.connect(self._refused)
        live.progress.connect(self.doing.setText)
        selection.changed.connect(self.refresh_hint)
        selection.hovered.connect(self._hovered)

    @Slot()
    def refresh(self) -> None:
        """Say how the cluster stands."""
        answer = self._live.answer
        if answer is None:
            self.state.setText("")
            return
        snapshot = answer.snapshot
        causes = sum(fault.because is None for fault in snapshot.faults)
        parts = [counted(causes, "fault")]
        name, share = worst_link(snapshot.fabric, answer.loads)
        if share > 0:
            parts.append(self.tr("fullest link {} at {}").format(name, percent(share)))
        parts.append(sized(snapshot.fabric))
        self.state.setText("   ".join(parts))
        self._hovered(self._selection.hover)

    @Slot()
    def refresh_hint(self) -> None:
        """Say what the keys do with the selection."""
        names = self._selection.names
        if not names:
            text = self.tr(
                "Click or press an arrow key to select, Ctrl+K to search, ? for all keys."
            )
        else:
            text = self._keys(names)
        self.hint.setText(text)
        self.hint.setToolTip(text)

    def _keys(self, names: tuple[str, ...]) -> str:
        """What the keys do with these parts: nothing is offered that would change nothing."""
        if len(names) > 1:
            every = self.tr("{:,} parts: F fails, R repairs, D degrades, W what if, Enter goes in.")
            return every.format(len(names))
        state = self._state_of(names[0])
        if state == "failed":
            return self.tr("{} has failed: R repairs, Enter goes in.").format(names[0])
        if state in ("down", "slow"):
            keys = self.tr("{} is {}: C goes to the cause, F fails it as well, Enter goes in.")
            return keys.format(names[0], state)
        offered = [self.tr("F fails")] + [self.tr("R repairs")] * (state in ("degraded", "in part"))
        offered += [self.tr("D degrades")] * (kind_in(names[0]) in DEGRADABLE)
        offered += [self.tr("W what if"), self.tr("Enter goes in")]
        return f"{names[0]}: {', '.join(offered)}."

    def _state_of(self, name: str) -> str:
        """The state of a part, "" where that cannot be said."""
        answer = self._live.answer
        if answer is None:
            return ""
        try:
            return condition(answer.snapshot, name).state
        except InputError:
            return ""

    @Slot(str)
    def _hovered(self, name: str) -> None:
        if name:
            self.hint.setText(name)
        else:
            self.refresh_hint()

    @Slot(bool)
    def _stale(self, stale: bool) -> None:
        if stale:
            self._late.start()
        else:
            self._hide_progress()

    @Slot(str)
    def _failed(self, why: str) -> None:
        """Say so until there is an answer, with a button that leads to one."""
        self._hide_progress()
        cancelled = why.startswith("cancelled")
        text = self.tr("figures are old: {}").format(self.tr("cancelled") if cancelled else why)
        shown = text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
        self.old.setText(f"✕ {shown}")
        self.old.setToolTip(text)
        self._undoes = not cancelled and self._live.session.undo_label is not None
        label = self.tr("Undo last step") if self._undoes else self.tr("Try again")
        self.way_out.setText(label)
        self.way_out.setAccessibleDescription(text)
        self.way_out.setToolTip(self._live.session.undo_label or "" if self._undoes else "")
        self.old.show()
        self.way_out.show()

    @Slot()
    def _fresh(self) -> None:
        self.old.hide()
        self.way_out.hide()

    @Slot()
    def _leave(self) -> None:
        if self._undoes:
            self._live.undo()
        else:
            self._live.recompute()

    @Slot(str)
    def _refused(self, why: str) -> None:
        self.showMessage(why, 10000)

    def _show_progress(self) -> None:
        for widget in (self.progress, self.cancel, self.doing):
            widget.show()

    def _hide_progress(self) -> None:
        self._late.stop()
        for widget in (self.progress, self.cancel, self.doing):
            widget.hide()


def worst_link(fabric: Fabric, loads: Loads) -> tuple[str, float]:
    """The fullest directed link between NICs, leaves, spines and cores, and how full it is."""
    name, share = "", 0.0
    for number, tier in enumerate(fabric.tiers):
        used = loads.utilisation(number).reshape(-1)
        if len(used) and used.max() > share:
            at = int(used.argmax())
            name, share = fabric.link_name(tier.first + at), float(used[at])
    return name, share
