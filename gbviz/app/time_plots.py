"""Plots over the time of a scenario: jobs, fabric, heat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gbviz.app.plot_style import dress_plot, make_plot
from gbviz.display.theme import job_colour

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from gbviz.app.live import Live
    from gbviz.display.theme import Theme
    from gbviz.engine.timeline import Timeline
    from gbviz.topology.fabric import Floats

_HOUR_S = 3600.0


class TimePlots(QWidget):
    """Job speed, goodput so far, load and all-to-all, and the hottest die, with the time shown."""

    def __init__(self, live: Live, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live, self._theme = live, theme
        self._plots: list[Any] = []
        self._lines: list[Any] = []
        self._drawn: Timeline | None = None
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._draw)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 Qt's name
        """Make the plots when somebody looks."""
        super().showEvent(event)
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        for plot in self._plots:
            dress_plot(plot, theme)
        self._drawn = None
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Draw anew where the timeline is another; move the line of the present."""
        if not self.isVisible():
            return
        if self._live.timeline is not self._drawn:
            self._soon.start()
        at = self._live.time_s
        for line in self._lines:
            line.setVisible(at is not None)
            line.setValue((at or 0.0) / _HOUR_S)

    def _draw(self) -> None:
        made = self._live.timeline
        if not self._plots:
            self._make()
        self._drawn = made
        for plot, line in zip(self._plots, self._lines, strict=True):
            plot.clear()
            plot.addItem(line)
        if made is not None:
            self._draw_jobs(made)
            self._draw_fabric(made)
            self._draw_heat(made)
            for plot in self._plots:
                plot.setXRange(0, made.duration_s / _HOUR_S, padding=0.01)

    def _make(self) -> None:
        import pyqtgraph

        for title in (
            self.tr("job speed, % (dashed: goodput so far)"),
            self.tr("all-to-all, GB/s (dashed: NIC load, %)"),
            self.tr("hottest die, °C (dashed: clock, %)"),
        ):
            plot = make_plot(self, title)
            self._layout.addWidget(plot)
            self._plots.append(plot)
            self._lines.append(pyqtgraph.InfiniteLine(0, pen=pyqtgraph.mkPen(self._theme.focus)))
            dress_plot(plot, self._theme)

    def _draw_jobs(self, made: Timeline) -> None:
        most = 100.0
        for number, total in enumerate(made.totals):
            colour = job_colour(self._theme, number)
            speed = 100 * np.array([one.jobs[number].speed for one in made.intervals])
            most = max(most, float(speed.max()))
            self._steps(0, made, speed, colour)
            if total.kind != "traffic":
                self._curve(0, made, 100 * np.array(made.goodputs(number)), colour)
        self._plots[0].setYRange(0, 1.08 * most)

    def _draw_fabric(self, made: Timeline) -> None:
        rate = [one.metrics.all_to_all_GBps_per_gpu or 0.0 for one in made.intervals]
        self._steps(1, made, np.array(rate), self._theme.accent)
        load = np.array([100 * one.nic_load for one in made.intervals])
        self._dashed(1, made, load, self._theme.warm)
        self._plots[1].setYRange(0, max(105.0, max(rate, default=0.0)))

    def _draw_heat(self, made: Timeline) -> None:
        hot = np.array(
            [np.nan if o.hottest_die_c is None else o.hottest_die_c for o in made.intervals]
        )
        clock = np.array(
            [np.nan if o.slowest_clock is None else o.slowest_clock for o in made.intervals]
        )
        self._steps(2, made, hot, self._theme.over)
        self._dashed(2, made, 100 * clock, self._theme.dim)
        self._plots[2].setYRange(0, 108)

    def _steps(self, plot: int, made: Timeline, values: Floats, colour: str) -> None:
        import pyqtgraph

        pen = pyqtgraph.mkPen(colour, width=2)
        self._plots[plot].plot(*_stairs(made, values), pen=pen, connect="finite")

    def _dashed(self, plot: int, made: Timeline, values: Floats, colour: str) -> None:
        import pyqtgraph

        pen = pyqtgraph.mkPen(colour, width=1, style=Qt.PenStyle.DashLine)
        self._plots[plot].plot(*_stairs(made, values), pen=pen, connect="finite")

    def _curve(self, plot: int, made: Timeline, values: Floats, colour: str) -> None:
        import pyqtgraph

        pen = pyqtgraph.mkPen(colour, width=1, style=Qt.PenStyle.DashLine)
        ends = np.array([one.end_s for one in made.intervals]) / _HOUR_S
        self._plots[plot].plot(ends, values, pen=pen, connect="finite")


def _stairs(made: Timeline, values: Floats) -> tuple[Floats, Floats]:
    """Hours and values of a curve that stays level through each interval."""
    edges = np.array([(one.start_s, one.end_s) for one in made.intervals]) / _HOUR_S
    return edges.reshape(-1), np.repeat(values, 2)
