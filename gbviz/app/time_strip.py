"""The strip over the timeline's plots: events as markers, the time that is shown as a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gbviz.report.timeline import clock

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPaintEvent

    from gbviz.app.live import Live
    from gbviz.display.theme import Theme
    from gbviz.scenario.event import Event

_LEFT, _RIGHT = 12.0, 12.0
_HIT = 6.0
# Nice steps of a time axis, seconds.
_STEPS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 604800)


class TimeStrip(QWidget):
    """Drag to scrub; drag a marker to move its event; arrows go from change to change.

    Signals
    -------
    scrubbed(float)
        A time that is to be shown, seconds.
    event_moved(int, float)
        The number of an event and the time that it was dragged to.
    dropped()
        A drag has ended: what follows is a step of its own.
    """

    scrubbed = Signal(float)
    event_moved = Signal(int, float)
    dropped = Signal()

    def __init__(self, live: Live, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live, self._theme = live, theme
        self._dragged: int | None = None
        self._held: Event | None = None
        self._scrubbing = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Timeline"))
        self.setAccessibleDescription(
            self.tr("Left and Right go from change to change, Home and End to the ends")
        )

    def sizeHint(self) -> QSize:  # noqa: N802 Qt's name
        """Wide, and as high as markers, bars and times need."""
        return QSize(400, 46)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self.update()

    def x_of(self, time_s: float) -> float:
        """Where a time lies, in pixels."""
        whole = max(self._live.scenario.end_s, 1e-9)
        return _LEFT + time_s / whole * (self.width() - _LEFT - _RIGHT)

    def time_of(self, x: float) -> float:
        """The time at a pixel, within the scenario."""
        part = (x - _LEFT) / max(self.width() - _LEFT - _RIGHT, 1.0)
        return min(max(part, 0.0), 1.0) * self._live.scenario.end_s

    def marker_at(self, x: float) -> int | None:
        """The number of the event whose marker is at a pixel, None for none."""
        events = self._live.scenario.events
        near = [(abs(self.x_of(event.at_s) - x), number) for number, event in enumerate(events)]
        best = min(near, default=(_HIT + 1, 0))
        return best[1] if best[0] <= _HIT else None

    def changes(self) -> list[float]:
        """Times at which anything changes, ascending."""
        made = self._live.timeline
        if made is not None:
            return [one.start_s for one in made.intervals] + [made.duration_s]
        return sorted(
            {0.0, self._live.scenario.end_s, *(e.at_s for e in self._live.scenario.events)}
        )

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Paint the axis, how the jobs are, the markers, and the line of the present."""
        painter = QPainter(self)
        painter.setClipRect(self.rect())
        painter.fillRect(self.rect(), QColor(self._theme.ground))
        self._paint_axis(painter)
        self._paint_states(painter)
        self._paint_markers(painter)
        if self._live.time_s is not None:
            pen = QPen(QColor(self._theme.focus))
            pen.setWidthF(2.0)
            painter.setPen(pen)
            x = self.x_of(self._live.time_s)
            painter.drawLine(QPointF(x, 0), QPointF(x, self.height()))
        if self.hasFocus():
            painter.setPen(QColor(self._theme.accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _paint_axis(self, painter: QPainter) -> None:
        whole = self._live.scenario.end_s
        longest = max("00:00:00", clock(whole), key=len)
        room = painter.fontMetrics().horizontalAdvance(longest) + 24
        most = max(1.0, (self.width() - _LEFT - _RIGHT) / room)
        weeks = math.ceil(whole / most / _STEPS[-1]) * _STEPS[-1]
        step = next((s for s in _STEPS if whole / s <= most), weeks)
        painter.setPen(QColor(self._theme.dim))
        at = 0.0
        while at <= whole:
            x = self.x_of(at)
            painter.drawLine(QPointF(x, 30), QPointF(x, 33))
            text = clock(at)
            wide = painter.fontMetrics().horizontalAdvance(text)
            left = min(max(x - wide / 2, 0.0), self.width() - wide)
            painter.drawText(QPointF(left, self.height() - 3.0), text)
            at += step

    def _paint_states(self, painter: QPainter) -> None:
        """The worst state of any job in each interval, as a bar."""
        made = self._live.timeline
        bar = QRectF(_LEFT, 22, self.width() - _LEFT - _RIGHT, 6)
        painter.fillRect(bar, QColor(self._theme.idle))
        if made is None:
            return
        theme = self._theme
        hues = {
            "running": theme.good,
            "degraded": theme.warm,
            "stalled": theme.failed,
            "restarting": theme.failed,
            "aborted": theme.failed,
            "finished": theme.dim,
        }
        for one in made.intervals:
            states = [job.state for job in one.jobs]
            if not states:
                continue
            worst = max(states, key=lambda s: _SEVERITY.get(s, 0))
            x0, x1 = self.x_of(one.start_s), self.x_of(one.end_s)
            high = 6 if worst in ("running", "finished") else 10 if worst == "degraded" else 14
            box = QRectF(x0, 28 - high, max(x1 - x0, 1.0), high)
            painter.fillRect(box, QColor(hues[worst]))

    def _paint_markers(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(Qt.PenStyle.NoPen)
        for number, event in enumerate(self._live.scenario.events):
            hue = self._theme.good if event.verb in ("repair", "restore") else self._theme.failed
            if event.verb in ("degrade", "flap"):
                hue = self._theme.warm
            painter.setBrush(QColor(self._theme.focus if number == self._dragged else hue))
            x = self.x_of(event.at_s)
            up = event.verb in ("repair", "restore")
            tip, base = (2.0, 11.0) if up else (11.0, 2.0)
            corners = [QPointF(x, tip), QPointF(x - 5, base), QPointF(x + 5, base)]
            painter.drawPolygon(QPolygonF(corners))
            if event.for_s is not None:
                painter.setPen(QPen(QColor(hue), 1.0, Qt.PenStyle.DotLine))
                painter.drawLine(QPointF(x, 6), QPointF(self.x_of(event.at_s + event.for_s), 6))
                painter.setPen(Qt.PenStyle.NoPen)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Take a marker, or begin to scrub."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        x = event.position().x()
        self._take(self.marker_at(x) if event.position().y() <= 14 else None)
        self._scrubbing = self._dragged is None
        if self._scrubbing:
            self.scrubbed.emit(self.time_of(x))
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Move the marker, or scrub."""
        at = self.time_of(event.position().x())
        if self._dragged is not None and event.buttons():
            # An undo, or another file, may have put another event under this number.
            if self._event(self._dragged) is not self._held:
                self._take(None)
                return
            self.event_moved.emit(self._dragged, self._tidy(at))
            self._take(self._dragged)
        elif self._scrubbing and event.buttons():
            self.scrubbed.emit(at)

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        """Let go."""
        if self._dragged is not None:
            self.dropped.emit()
        self._take(None)
        self._scrubbing = False
        self.update()

    def _event(self, number: int | None) -> Event | None:
        events = self._live.scenario.events
        return events[number] if number is not None and number < len(events) else None

    def _take(self, number: int | None) -> None:
        self._dragged, self._held = number, self._event(number)

    def _tidy(self, at: float) -> float:
        """A time to a thousandth of the scenario, or a tenth of a second, whichever is finer."""
        whole = self._live.scenario.end_s
        digits = max(1, 3 - math.floor(math.log10(whole))) if whole > 0 else 1
        return min(round(at, digits), whole)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Go from change to change, or to the ends."""
        now = self._live.time_s if self._live.time_s is not None else self._live.scenario.end_s
        times = self.changes()
        wanted = {
            Qt.Key.Key_Left: max((t for t in times if t < now), default=0.0),
            Qt.Key.Key_Right: min((t for t in times if t > now), default=times[-1]),
            Qt.Key.Key_Home: 0.0,
            Qt.Key.Key_End: times[-1],
        }
        if Qt.Key(event.key()) in wanted:
            self.scrubbed.emit(wanted[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Say what a marker is."""
        if event.type() == event.Type.ToolTip:
            asked: QHelpEvent = event  # type: ignore[assignment]
            number = self.marker_at(asked.pos().x())
            if number is None:
                QToolTip.hideText()
            else:
                one = self._live.scenario.events[number]
                lasts = f" for {clock(one.for_s)}" if one.for_s is not None else ""
                words = f"{clock(one.at_s)}: {one.verb} {one.action.selector}{lasts}"
                QToolTip.showText(asked.globalPos(), words, self)
            return True
        return super().event(event)


_SEVERITY = {
    "finished": 0,
    "running": 1,
    "degraded": 2,
    "stalled": 3,
    "restarting": 4,
    "aborted": 5,
}
