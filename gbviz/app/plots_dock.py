"""Plots: how full the links are, and how fast the jobs have been, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from gbviz.app.plot_style import dress_plot, make_plot, set_title
from gbviz.display.theme import Theme, job_colour
from gbviz.report.csv_text import rows_as_csv
from gbviz.report.job_lines import job_lines

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from gbviz.app.live import Live
    from gbviz.topology.fabric import Floats

_BINS = 20
# Letters of a step below a plot.
_LONGEST = 28
_LATER_MS = 40
_TIERS = ("NIC links", "leaf-spine links")


class PlotsDock(QWidget):
    """Two histograms of link utilisation, now against base, and the speed of jobs by step.

    The plots are made when they are first shown: their library takes most of a second to load.

    Signals
    -------
    export_wanted(str, str)
        A table's name and its CSV text are to be saved.
    """

    export_wanted = Signal(str, str)

    def __init__(self, live: Live, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live, self._theme = live, theme
        self._plots: list[Any] = []
        # Step of the history to its label and each job's speed, % of the healthy cluster's.
        self.speeds: dict[int, tuple[str, dict[str, float]]] = {}
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setAccessibleName(self.tr("Plots"))
        self.setAccessibleDescription(
            self.tr("Distribution of link utilisation, and speed of jobs over the session's steps")
        )
        # Plots come after the map: one at a time, once the window has had its turn.
        self._due: list[int] = []
        self._soon = QTimer(self)
        self._soon.setInterval(_LATER_MS)
        self._soon.timeout.connect(self._draw_next)
        self.customContextMenuRequested.connect(self._menu_at)
        live.answered.connect(self._answered)
        live.opened.connect(self._opened)
        self._answered()

    def set_theme(self, theme: Theme) -> None:
        """Other colours; pyqtgraph's plots do not follow a palette."""
        self._theme = theme
        for plot in self._plots:
            dress_plot(plot, theme)
        self._draw()
        while self._due:
            self._draw_next()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Make the plots, the first time; draw what has changed since they were hidden."""
        super().showEvent(event)
        if not self._plots:
            self._make()
        self._draw()

    def histogram(self, tier: int) -> tuple[Floats, Floats, Floats]:
        """Edges of the bins in per cent, and how many links of a tier are in each, now and base."""
        edges = np.linspace(0, 100, _BINS + 1)
        answer = self._live.answer
        if answer is None or tier >= len(answer.loads.tiers):
            return edges, np.zeros(_BINS), np.zeros(_BINS)
        counts = []
        for loads in (answer.loads, answer.base):
            live = loads.capacity[tier] > 0
            used = np.clip(100 * loads.utilisation(tier)[live], 0, 100)
            counts.append(np.histogram(used, edges)[0].astype(np.float64))
        return edges, counts[0], counts[1]

    def utilisation_csv(self) -> str:
        """The histograms as CSV."""
        rows: list[tuple[object, ...]] = []
        for tier, name in enumerate(_TIERS):
            edges, now, base = self.histogram(tier)
            columns = [values.tolist() for values in (edges[:-1], edges[1:], now, base)]
            rows += [(name, *row) for row in zip(*columns, strict=True)]
        return rows_as_csv(["links", "from, %", "to, %", "now", "healthy"], rows)

    def speeds_csv(self) -> str:
        """The speeds of jobs at each step as CSV."""
        rows = [
            (step, label, job, speed)
            for step, (label, speeds) in sorted(self.speeds.items())
            for job, speed in speeds.items()
        ]
        return rows_as_csv(["step", "after", "job", "speed, % of healthy"], rows)

    def menu(self) -> QMenu:
        """Which data to save."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Export utilisation as CSV…"), self._export_utilisation)
        menu.addAction(self.tr("Export job speeds as CSV…"), self._export_speeds)
        return menu

    def _export_utilisation(self) -> None:
        self.export_wanted.emit("utilisation", self.utilisation_csv())

    def _export_speeds(self) -> None:
        self.export_wanted.emit("job-speeds", self.speeds_csv())

    def _menu_at(self, where: QPoint) -> None:
        self.menu().popup(self.mapToGlobal(where))

    def _opened(self) -> None:
        self.speeds = {}
        self._draw()

    def _answered(self) -> None:
        """Note the speed of every job at this step; steps that an edit has cut off are gone."""
        answer, session = self._live.answer, self._live.session
        if answer is None:
            return
        self.speeds = {at: kept for at, kept in self.speeds.items() if at < len(session.steps)}
        lines = job_lines(answer.snapshot)
        speeds = {line.name: 100 / line.slowdown if line.slowdown else 0.0 for line in lines}
        self.speeds[session.at] = (session.steps[session.at].label, speeds)
        self._draw()

    def _make(self) -> None:
        titles = [self.tr("NIC links by load, % (line: healthy)")]
        titles += [self.tr("leaf-spine links by load, % (line: healthy)")]
        titles += [self.tr("job speed, % of healthy")]
        for title in titles:
            plot = make_plot(self, title)
            self._layout.addWidget(plot)
            self._plots.append(plot)
            dress_plot(plot, self._theme)
        legend = self._plots[2].addLegend(offset=(5, -5), labelTextSize="8pt", verSpacing=-6)
        legend.setColumnCount(2)

    def _draw(self) -> None:
        """Draw all plots soon."""
        if self._plots and self.isVisible():
            self._due = list(range(len(self._plots)))
            self._soon.start()

    def _draw_next(self) -> None:
        number = self._due.pop(0)
        if number < len(_TIERS):
            self._draw_histogram(self._plots[number], number)
        else:
            self._draw_speeds(self._plots[number])
        if not self._due:
            self._soon.stop()

    def _draw_histogram(self, plot: Any, tier: int) -> None:
        """Bars now, and the outline of the healthy cluster."""
        import pyqtgraph

        edges, now, base = self.histogram(tier)
        plot.clear()
        middle, width = (edges[:-1] + edges[1:]) / 2, edges[1] - edges[0]
        brush = pyqtgraph.mkBrush(self._theme.high)
        bars = pyqtgraph.BarGraphItem(
            x=middle, height=now, width=0.9 * width, brush=brush, pen=pyqtgraph.mkPen(None)
        )
        plot.addItem(bars)
        line = pyqtgraph.mkPen(self._theme.warm, width=1)
        plot.plot(edges, base, stepMode="center", pen=line)
        plot.setXRange(0, 100, padding=0.01)
        plot.setYRange(0, max(1.0, float(now.max()), float(base.max())), padding=0.05)

    def _draw_speeds(self, plot: Any) -> None:
        """A line a job over the steps that were answered, and where the session is now."""
        import pyqtgraph

        plot.clear()
        if plot.plotItem.legend is not None:
            plot.plotItem.legend.setLabelTextColor(self._theme.text)
        at = sorted(self.speeds)
        answer = self._live.answer
        jobs = [job.name for job in answer.scenario.jobs] if answer else []
        for place, job in enumerate(jobs):
            speeds = [self.speeds[step][1].get(job, np.nan) for step in at]
            colour = job_colour(self._theme, place)
            symbol = ("o", "s", "t", "d")[place % 4]
            pen, brush = pyqtgraph.mkPen(colour, width=1), pyqtgraph.mkBrush(colour)
            plot.plot(
                at,
                speeds,
                pen=pen,
                symbol=symbol,
                symbolSize=6,
                symbolBrush=brush,
                symbolPen=None,
                name=job,
                connect="finite",
            )
        dashed = pyqtgraph.mkPen(self._theme.dim, style=Qt.PenStyle.DashLine)
        plot.addItem(pyqtgraph.InfiniteLine(self._live.session.at, pen=dashed))
        plot.getAxis("bottom").setTicks([[(step, str(step)) for step in _few(at)]])
        here = self._live.session.at
        words = self._live.session.steps[here].label
        label = self.tr("step {0}: {1}").format(here, (words or self.tr("start"))[:_LONGEST])
        title = f"{plot.objectName()} · {label}"
        set_title(plot, title)
        plot.setXRange(min(at, default=0) - 0.3, max(at, default=0) + 0.3)
        plot.setYRange(0, 108)


def _few(steps: list[int], most: int = 8) -> list[int]:
    """Some of many, evenly, the last among them.

    Examples
    --------
    >>> _few([0, 1, 2, 3, 4, 5, 6], most=3), _few([0, 1])
    ([0, 3, 6], [0, 1])
    """
    if len(steps) <= most:
        return steps
    return [steps[round(at)] for at in np.linspace(0, len(steps) - 1, most)]
