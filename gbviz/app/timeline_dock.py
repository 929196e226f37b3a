"""The timeline: live or a moment of it, play and pause, markers, and plots over time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.empty_hint import EmptyHint
from gbviz.app.time_plots import TimePlots
from gbviz.app.time_strip import TimeStrip
from gbviz.engine import edits
from gbviz.report.timeline import clock, timeline_csv

if TYPE_CHECKING:
    from gbviz.app.live import Live
    from gbviz.display.theme import Theme

_FRAME_MS = 50
_HOUR_S = 3600.0
# Seconds of the scenario a second of watching.
_SPEEDS = (("1 s/s", 1.0), ("1 min/s", 60.0), ("10 min/s", 600.0), ("1 h/s", 3600.0))


class TimelineDock(QWidget):
    """Shows and moves the time that the window shows.

    Signals
    -------
    export_wanted(str, str)
        A name for a file, and its text.
    """

    export_wanted = Signal(str, str)

    def __init__(self, live: Live, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live = live
        self._tick = QTimer(self)
        self._tick.setInterval(_FRAME_MS)
        self._tick.timeout.connect(self._step)
        self._since = QElapsedTimer()
        self._build(theme)
        self._connect()
        self.refresh()

    def _build(self, theme: Theme) -> None:
        self.live_button = QPushButton(self.tr("Live"), self)
        self.live_button.setToolTip(self.tr("The state at the scenario's end; faults go there"))
        self.time_button = QPushButton(self.tr("Timeline"), self)
        self.time_button.setToolTip(self.tr("A moment of the timeline; faults become events there"))
        self.modes = QButtonGroup(self)
        for button in (self.live_button, self.time_button):
            button.setCheckable(True)
            self.modes.addButton(button)
        self.play_button = QPushButton(self.tr("Play"), self)
        self.play_button.setToolTip(self.tr("Play and pause (Space)"))
        self.speed = QComboBox(self)
        self.speed.setAccessibleName(self.tr("Speed"))
        for text, factor in _SPEEDS:
            self.speed.addItem(text, factor)
        self.speed.setCurrentIndex(2)
        self.now = QLabel(self)
        self.now.setAccessibleName(self.tr("Time shown"))
        self.now.setMinimumWidth(90)
        self.said = QLabel(self)
        self.said.setAccessibleName(self.tr("What happens"))
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.longer = QPushButton(self.tr("Longer"), self)
        self.longer.setToolTip(self.tr("Let the scenario last an hour longer"))
        self.export = QPushButton(self.tr("CSV..."), self)
        self.export.setToolTip(self.tr("Export the intervals as CSV"))
        row = QHBoxLayout()
        row.setContentsMargins(6, 3, 6, 2)
        for widget in (
            self.live_button,
            self.time_button,
            self.play_button,
            self.speed,
            self.now,
        ):
            row.addWidget(widget)
        row.addWidget(self.said, 1)
        row.addWidget(self.longer)
        row.addWidget(self.export)
        self.strip = TimeStrip(self._live, theme, self)
        self.plots = TimePlots(self._live, theme, self)
        self.empty = EmptyHint(
            self.tr("No time passes in this scenario: everything holds from the start."),
            self.tr("Let it last an hour"),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(row)
        layout.addWidget(self.strip)
        layout.addWidget(self.plots, 1)
        layout.addWidget(self.empty, 1)

    def _connect(self) -> None:
        live = self._live
        for signal in (live.opened, live.timeline_made, live.timed, live.answered):
            signal.connect(self.refresh)
        live.edited.connect(self.refresh)
        self.live_button.clicked.connect(lambda: live.look_at(None))
        self.time_button.clicked.connect(self.go_to_timeline)
        self.play_button.clicked.connect(self.toggle)
        self.longer.clicked.connect(self._lengthen)
        self.empty.wanted.connect(self._lengthen)
        self.export.clicked.connect(self._export)
        self.strip.scrubbed.connect(self._scrub)
        self.strip.event_moved.connect(self._move)
        self.strip.dropped.connect(lambda: live.session.close_merge())

    @property
    def playing(self) -> bool:
        """Whether time moves by itself."""
        return self._tick.isActive()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.strip.set_theme(theme)
        self.plots.set_theme(theme)

    @Slot()
    def refresh(self) -> None:
        """Show what time is shown and what happens then."""
        live, lasts = self._live, self._live.scenario.end_s > 0
        for widget in (self.strip, self.plots, self.play_button, self.speed, self.time_button):
            widget.setVisible(lasts)
        self.export.setVisible(lasts)
        self.empty.setVisible(not lasts)
        self.live_button.setChecked(live.time_s is None)
        self.time_button.setChecked(live.time_s is not None)
        if not lasts:
            self.pause()
        self.now.setText(self.tr("live: the end") if live.time_s is None else clock(live.time_s))
        self.said.setText(self._words())
        self.strip.update()
        self.plots.refresh()

    def _words(self) -> str:
        live = self._live
        if live.scenario.end_s <= 0:
            return ""
        if live.timeline is None:
            return self.tr("computing the timeline...")
        if live.time_s is None:
            return self.tr("{} changes in {}").format(
                len(live.timeline.intervals) - 1, clock(live.scenario.end_s)
            )
        one = live.timeline.at(live.time_s)
        return "; ".join(one.events) or self.tr("nothing has happened yet")

    @Slot()
    def go_to_timeline(self) -> None:
        """Show the timeline from where it was left, else from its start."""
        if self._live.time_s is None and self._live.scenario.end_s > 0:
            self._live.look_at(0.0)
        self.refresh()

    @Slot()
    def toggle(self) -> None:
        """Play, or pause."""
        if self.playing:
            self.pause()
        elif self._live.scenario.end_s > 0:
            start = self._live.time_s
            if start is None or start >= self._live.scenario.end_s:
                self._live.look_at(0.0)
            self._since.start()
            self._tick.start()
            self.play_button.setText(self.tr("Pause"))

    def pause(self) -> None:
        """Let time stand still."""
        self._tick.stop()
        self.play_button.setText(self.tr("Play"))

    @Slot()
    def _step(self) -> None:
        now = self._live.time_s
        if now is None:
            self.pause()
            return
        passed = self._since.restart() / 1000 * float(self.speed.currentData())
        self._live.look_at(now + passed)
        if now + passed >= self._live.scenario.end_s:
            self.pause()

    @Slot(float)
    def _scrub(self, time_s: float) -> None:
        self.pause()
        self._live.look_at(time_s)

    @Slot(int, float)
    def _move(self, number: int, at_s: float) -> None:
        self._live.edit(partial(edits.move_event, number=number, at_s=at_s))

    @Slot()
    def _lengthen(self) -> None:
        wanted = self._live.scenario.end_s + _HOUR_S
        self._live.edit(partial(edits.lasting, duration_s=wanted))

    @Slot()
    def _export(self) -> None:
        self.export_wanted.emit("timeline", self.csv())

    def csv(self) -> str:
        """The intervals as CSV; nothing before there is a timeline."""
        made = self._live.timeline
        return "" if made is None else timeline_csv(made)
