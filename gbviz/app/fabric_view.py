"""The map of the fabric in the window: what is selected, hovered and previewed on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Slot
from PySide6.QtGui import QAccessible, QAccessibleEvent

from gbviz.app.parts_view import PartsView
from gbviz.app.tints import tints
from gbviz.display.draw import DrawList
from gbviz.display.fabric_map import fabric_map
from gbviz.display.layout import Layout, layout
from gbviz.display.map_labels import Picture
from gbviz.display.overlay import Pointed, overlay
from gbviz.display.places import boxes_of, pick, within
from gbviz.display.walk import neighbour, parent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QWidget

    from gbviz.app.answer import Answer
    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.grid import Box, View
    from gbviz.display.shades import Look
    from gbviz.display.walk import Way


class FabricView(PartsView):
    """The fabric: matrix, bundles or cables between leaves and spines, and the racks below."""

    def __init__(self, live: Live, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(live, selection, parent)
        self.setAccessibleName(self.tr("Fabric map"))
        self.setAccessibleDescription(
            self.tr("Arrow keys walk, Enter goes in, Backspace out, F fails, R repairs")
        )
        self.style_of_links = "matrix"
        self._layout: Layout | None = None
        selection.reveal.connect(self.reveal)

    @property
    def answer(self) -> Answer | None:
        """What is shown."""
        return self.live.answer

    def set_look(self, look: Look) -> None:
        """Colour the map in another way."""
        self.look_of = replace(look, job=self.selection.job)
        self._recolour()

    def set_links(self, style: str) -> None:
        """Show links as `matrix`, `bundles` or `cables`."""
        self.style_of_links = style
        self.redraw()

    def picture(self, view: View) -> Picture | None:
        """What is drawn through a view, None while there is nothing."""
        if self._layout is None:
            return None
        return Picture(self._layout, view, self.look_of, self.style_of_links)

    def world(self) -> Box | None:
        """The corners of the layout."""
        return self._layout.box if self._layout is not None else None

    def draw(self, view: View) -> DrawList:
        """The map under the last answer."""
        picture = self.picture(view)
        if picture is None or self.answer is None or self.shades is None:
            return DrawList(view.width, view.height, self.look_of.theme.ground, ())
        return fabric_map(picture, self.answer.snapshot, self.shades)

    def draw_over(self, view: View) -> DrawList:
        """Selection, hover, rubber band and preview."""
        picture = self.picture(view)
        if picture is None:
            return DrawList(view.width, view.height, None, ())
        chosen = self.selection.names
        pointed = Pointed(
            chosen, self.selection.hover, self.band, self.preview.note, self._note_at(view)
        )
        found = overlay(picture, pointed)
        return replace(found, items=(*found.items, *self.timeline_sign(view)))

    def pick(self, view: View, x: float, y: float) -> str:
        """The component at a device pixel."""
        return pick(self._layout, view, x, y, self.style_of_links) if self._layout else ""

    def pick_within(self, view: View, box: Box) -> list[str]:
        """Components in a box of the world."""
        return within(self._layout, view, box, self.style_of_links) if self._layout else []

    @Slot(str)
    def reveal(self, name: str) -> None:
        """Bring a component into sight; zoom in where it is too small to be seen."""
        view = self.view()
        if self._layout is None or view is None:
            return
        found = boxes_of(self._layout, name, self.style_of_links)
        if not len(found):
            return
        box = found[0]
        x0, y0 = view.to_device(box[0], box[1])
        x1, y1 = view.to_device(box[2], box[3])
        inside = x0 >= 0 and y0 >= 0 and x1 <= view.width and y1 <= view.height
        if not inside or max(x1 - x0, y1 - y0) < 8 * view.scale:
            pad_x, pad_y = 6.0, 18.0
            self.show_box((box[0] - pad_x, box[1] - pad_y, box[2] + pad_x, box[3] + pad_y), 0.5)
        self.update()

    def zoom_to(self, names: Sequence[str]) -> None:
        """Fill most of the window with some components."""
        if self._layout is None:
            return
        found = [boxes_of(self._layout, name, self.style_of_links) for name in names]
        corners = np.concatenate(found) if found else np.zeros((0, 4))
        if len(corners):
            low, high = corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)
            self.show_box((float(low[0]), float(low[1]), float(high[0]), float(high[1])), 0.8)

    def walk(self, way: Way) -> None:
        """Select the next part in a direction."""
        if self._layout is not None:
            self.selection.select([neighbour(self._layout, self.selection.name, way)], reveal=True)

    def out(self) -> None:
        """Select what the selected part is in; outermost, show everything."""
        above = parent(self.selection.name)
        if above:
            self.selection.select([above])
        elif self.camera.zoom > 1:
            self.fit()
        else:
            self.selection.clear()

    def ground_clicked(self) -> None:
        """Select nothing."""
        self.selection.clear()

    @Slot()
    def _opened(self) -> None:
        self._layout = self.shades = None
        self.fit()
        self.redraw()

    @Slot()
    def _answered(self) -> None:
        if self.answer is not None:
            self._layout = layout(self.answer.snapshot.fabric)
            self._recolour()

    def _recolour(self) -> None:
        if self.answer is not None:
            self.shades = tints(self.answer, self.look_of)
        self.redraw()

    @Slot()
    def _selected(self) -> None:
        if self.selection.job != self.look_of.job:
            self.look_of = replace(self.look_of, job=self.selection.job)
            self._recolour()
        self.update()
        if self.selection.name:
            self.setAccessibleDescription(self.selection.name)
            QAccessible.updateAccessibility(
                QAccessibleEvent(self, QAccessible.Event.DescriptionChanged)
            )

    def _note_at(self, view: View) -> tuple[float, float]:
        if self.selection.hover or self._layout is None:
            return self.pointer
        found = boxes_of(self._layout, self.selection.name, self.style_of_links)
        return view.to_device(found[0, 2], found[0, 1]) if len(found) else self.pointer
