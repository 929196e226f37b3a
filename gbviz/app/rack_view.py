"""One rack in the window: its elevation beside its NVLink matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot

from gbviz.app.parts_view import PartsView
from gbviz.app.tints import tints
from gbviz.display.draw import DrawList, Rects, boxes
from gbviz.display.overlay import beside, frames
from gbviz.display.rack_layout import rack_layout
from gbviz.display.rack_map import RackPicture, cooler_names, rack_map
from gbviz.display.rack_places import boxes_in_rack, next_in_rack, pick_in_rack, rack_of, rack_parts
from gbviz.display.walk import parent

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QWidget

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.draw import Item
    from gbviz.display.grid import Box, View
    from gbviz.display.shades import Look
    from gbviz.display.walk import Way

# A narrow panel leaves less room for the names of trays.
_SHIFT = 6.0


class RackView(PartsView):
    """The rack that the last selected component is in.

    Signals
    -------
    rack_changed(int)
        Another rack is shown.
    """

    rack_changed = Signal(int)

    def __init__(
        self,
        live: Live,
        selection: Selection,
        parent: QWidget | None = None,
        *,
        elevation_only: bool = False,
    ) -> None:
        super().__init__(live, selection, parent)
        self._elevation_only = elevation_only
        self.setAccessibleName(self.tr("Rack"))
        self.setAccessibleDescription(self.tr("Arrow keys walk, F fails, R repairs, PgUp, PgDn"))
        self.rack = 0

    def set_look(self, look: Look) -> None:
        """Colour the rack in another way."""
        self.look_of = replace(look, job=None)
        self._answered()

    def show_rack(self, rack: int) -> None:
        """Show a rack by its number."""
        if self.live.answer is not None and rack != self.rack:
            self.rack = max(0, min(rack, self.live.answer.snapshot.fabric.count("rack") - 1))
            self.redraw()
            self.rack_changed.emit(self.rack)

    def world(self) -> Box | None:
        """The corners of the rack's layout."""
        if self.live.answer is None or self.shades is None:
            return None
        found = rack_layout(self.live.answer.snapshot.fabric)
        x0, y0, _, y1 = found.box
        return (x0 + _SHIFT, y0, found.nics.box[2], y1) if self._elevation_only else found.box

    def picture(self, view: View) -> RackPicture | None:
        """What is drawn through a view, None while there is nothing."""
        found = self.live.answer
        if found is None or self.shades is None:
            return None
        return RackPicture(self.rack, view, self.look_of, found.snapshot, found.loads, self.shades)

    def draw(self, view: View) -> DrawList:
        """The rack under the last answer."""
        picture = self.picture(view)
        if picture is None:
            return DrawList(view.width, view.height, self.look_of.theme.ground, ())
        return rack_map(picture)

    def draw_over(self, view: View) -> DrawList:
        """Selection, hover and rubber band."""
        items: list[Item] = []
        picture = self.picture(view)
        if picture is not None:
            theme = self.look_of.theme
            fabric, coolers = picture.snapshot.fabric, cooler_names(picture)
            own = [n for n in self.selection.names[-50:] if self._belongs(n, coolers)]
            found = [boxes_in_rack(fabric, self.rack, coolers, name) for name in own]
            if found:
                items += frames(view, np.concatenate(found), theme, 2.0)
            hover = self.selection.hover
            if hover and hover not in own and self._belongs(hover, coolers):
                items += frames(view, boxes_in_rack(fabric, self.rack, coolers, hover), theme, 1.0)
            if self.band is not None:
                x0, y0, x1, y1 = self.band
                band = boxes((min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)))
                items.append(Rects(band, None, theme.accent, view.scale))
            if self.preview.note:
                items += beside(view, theme, self.preview.note, self.pointer)
        items += self.timeline_sign(view)
        return DrawList(view.width, view.height, None, tuple(items))

    def pick(self, view: View, x: float, y: float) -> str:
        """The part at a device pixel."""
        picture = self.picture(view)
        if picture is None:
            return ""
        fabric = picture.snapshot.fabric
        return pick_in_rack(fabric, self.rack, cooler_names(picture), view.to_world(x, y))

    def pick_within(self, view: View, box: Box) -> list[str]:
        """GPUs in a box of the world, else other parts."""
        picture = self.picture(view)
        if picture is None:
            return []
        fabric = picture.snapshot.fabric
        x0, y0, x1, y1 = box
        parts = rack_parts(fabric, self.rack, cooler_names(picture))
        hit = [
            name
            for name, (a, b, c, d) in ((n, p.tolist()) for n, p in parts.items())
            if a < x1 and c > x0 and b < y1 and d > y0
        ]
        inner = [name for name in hit if "/gpu-" in name] or [n for n in hit if "/nic-" in n]
        return inner or [n for n in hit if not n.split("/")[-1].startswith(("tray", "nvtray"))]

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 Qt's name
        """Go to other racks with PgUp and PgDn."""
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self._turn(-1 if event.key() == Qt.Key.Key_PageUp else 1)
        else:
            super().keyPressEvent(event)

    def walk(self, way: Way) -> None:
        """Select the next part in a direction."""
        view, answer = self.view(), self.live.answer
        picture = self.picture(view) if view is not None else None
        if answer is None or picture is None:
            return
        fabric, coolers = answer.snapshot.fabric, cooler_names(picture)
        self.selection.select([next_in_rack(fabric, self.rack, coolers, self.selection.name, way)])

    def out(self) -> None:
        """Select what the selected part is in."""
        if parent(self.selection.name):
            self.selection.select([parent(self.selection.name)])

    def ground_clicked(self) -> None:
        """Select the rack."""
        self.selection.select([f"rack-{self.rack}"])

    def _belongs(self, name: str, coolers: list[str]) -> bool:
        answer = self.live.answer
        if answer is None:
            return False
        return name in coolers or rack_of(answer.snapshot.fabric, name) == self.rack

    def _turn(self, step: int) -> None:
        answer = self.live.answer
        if answer is not None:
            last = answer.snapshot.fabric.count("rack") - 1
            self.selection.select([f"rack-{max(0, min(self.rack + step, last))}"])

    @Slot()
    def _opened(self) -> None:
        self.shades, self.rack = None, 0
        self.fit()
        self.redraw()

    @Slot()
    def _answered(self) -> None:
        found = self.live.answer
        if found is not None:
            self.shades = tints(found, self.look_of)
        self.redraw()

    @Slot()
    def _selected(self) -> None:
        answer = self.live.answer
        if answer is not None and self.selection.name:
            rack = rack_of(answer.snapshot.fabric, self.selection.name)
            if rack >= 0:
                self.show_rack(rack)
        self.update()
