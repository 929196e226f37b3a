"""One look for all plots: themed by hand, without menus, with titles that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QSizePolicy

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gbviz.display.theme import Theme

_TITLE_ROOM = 56


def make_plot(parent: QWidget, name: str) -> Any:
    """A plot that shows and does nothing else; its name is its title and for screen readers."""
    import pyqtgraph  # Takes 0.8 s: not before somebody looks at a plot.

    plot = pyqtgraph.PlotWidget(parent, enableMenu=False)
    plot.setObjectName(name)
    plot.setAccessibleName(name)
    plot.viewport().setAccessibleName(name)
    plot.setMouseEnabled(x=False, y=False)
    plot.hideButtons()
    # Plots side by side are equally wide, whatever their titles ask for.
    plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
    plot.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
    plot.installEventFilter(_Fitter(plot))
    return plot


def dress_plot(plot: Any, theme: Theme) -> None:
    """Put a plot into a theme."""
    plot.setBackground(theme.ground)
    plot.setProperty("ink", theme.text)
    plot.showGrid(x=False, y=True, alpha=0.15)
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(theme.line)
        axis.setTextPen(theme.dim)
        axis.enableAutoSIPrefix(False)
    set_title(plot, plot.property("title") or plot.objectName())


def set_title(plot: Any, title: str) -> None:
    """Give a plot a title, cut where it is longer than the plot is wide."""
    plot.setProperty("title", title)
    metrics = QFontMetrics(plot.font())
    room = max(plot.width() - _TITLE_ROOM, 60)
    short = metrics.elidedText(title, Qt.TextElideMode.ElideRight, room)
    plot.setToolTip(title)
    plot.setTitle(short, color=plot.property("ink"), size="9pt")
    # The label asks for its text's width, which would make the plot wider than its place.
    plot.plotItem.titleLabel.setMaximumWidth(room + _TITLE_ROOM)


class _Fitter(QObject):
    """Fits the title of a plot to its width."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 Qt's name
        """Cut the title anew when the plot has another width."""
        if event.type() == QEvent.Type.Resize:
            title = watched.property("title")
            if title:
                set_title(watched, title)
        return super().eventFilter(watched, event)
