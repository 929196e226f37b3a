"""The leaf x spine matrix alone, as large as the window, a pod at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from gbviz.app.fabric_view import FabricView
from gbviz.display.places import pod_of
from gbviz.display.sheet import matrix_box

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.grid import Box


class MatrixView(FabricView):
    """The map's matrix without the racks; with several pods, that of the selected part's pod."""

    def __init__(self, live: Live, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(live, selection, parent)
        self.setAccessibleName(self.tr("Leaf x spine matrix"))
        self._pod = 0
        selection.changed.connect(self._to_pod)

    def world(self) -> Box | None:
        """The corners of one pod's matrix and leaves."""
        whole = self._layout
        if whole is None:
            return None
        return matrix_box(whole, self._pod)

    def set_links(self, style: str) -> None:
        """Stay a matrix whatever the map shows."""

    @Slot()
    def _to_pod(self) -> None:
        if self._layout is not None:
            pod = pod_of(self._layout, self.selection.name)
            if pod >= 0 and pod != self._pod:
                self._pod = pod
                self.fit()
                self.redraw()
