"""The map of the fabric in the window: what is selected, hovered and previewed on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleEvent

from gbviz.app.canvas import Canvas
from gbviz.app.preview import Preview
from gbviz.app.tints import tints
from gbviz.display.draw import DrawList, Text
from gbviz.display.fabric_map import fabric_map
from gbviz.display.layout import Layout, layout
from gbviz.display.map_labels import Picture
from gbviz.display.overlay import Pointed, overlay
from gbviz.display.places import boxes_of, pick, within
from gbviz.display.shades import Look, Shades
from gbviz.display.theme import DARK
from gbviz.display.walk import neighbour, parent
from gbviz.report.timeline import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent
    from PySide6.QtWidgets import QWidget

    from gbviz.app.answer import Answer
    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.grid import Box, View
    from gbviz.display.walk import Way

_WAYS: dict[int, Way] = {
    int(Qt.Key.Key_Left): "left",
    int(Qt.Key.Key_Right): "right",
    int(Qt.Key.Key_Up): "up",
    int(Qt.Key.Key_Down): "down",
}


class FabricView(Canvas):
    """The fabric: matrix, bundles or cables between leaves and spines, and the racks below.

    Signals
    -------
    menu_wanted(str, object)
        A menu for the selection, at a global point.
    """

    menu_wanted = Signal(object)

    def __init__(self, live: Live, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Fabric map"))
        self.setAccessibleDescription(
            self.tr("Arrow keys walk, Enter goes in, Backspace out, F fails, R repairs")
        )
        self.live, self.selection = live, selection
        self.look_of = Look(DARK)
        self.style_of_links = "matrix"
        self._layout: Layout | None = None
        self._shades: Shades | None = None
        self.preview = Preview(live, selection, self)
        self.preview.changed.connect(self.update)
        live.opened.connect(self._opened)
        live.answered.connect(self._answered)
        live.timed.connect(self.update)
        selection.changed.connect(self._selected)
        selection.hovered.connect(self._hovered)
        selection.reveal.connect(self.reveal)
        self.clicked.connect(self._clicked)
        self.banded.connect(self._banded)
        self.pointed.connect(selection.point)

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
        if picture is None or self.answer is None or self._shades is None:
            return DrawList(view.width, view.height, self.look_of.theme.ground, ())
        return fabric_map(picture, self.answer.snapshot, self._shades)

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
        if self.live.time_s is None:
            return found
        # So that nobody takes a moment of the timeline for the live view.
        size, theme = 12.0 * view.scale, picture.look.theme
        words = self.tr("timeline {}").format(clock(self.live.time_s))
        at = 12.0 * view.scale
        sign = Text(at, at, words, theme.ground, size, bold=True, chip=theme.accent)
        return replace(found, items=(*found.items, sign))

    def pick(self, view: View, x: float, y: float) -> str:
        """The component at a device pixel."""
        return pick(self._layout, view, x, y, self.style_of_links) if self._layout else ""

    def pick_within(self, view: View, box: Box) -> list[str]:
        """Components in a box of the world."""
        return within(self._layout, view, box, self.style_of_links) if self._layout else []

    def empty_text(self) -> str:
        """Say that the first answer is on its way, or why there is none."""
        if self.live.error:
            return self.tr("This scenario has no picture:\n{}").format(self.live.error)
        return self.tr("Computing the first answer...")

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

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 Qt's name
        """Walk with arrows, go in and out, preview while a key is held."""
        key, plain = event.key(), not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if key in _WAYS and plain and self._layout is not None:
            self._walk(_WAYS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit(self.selection.name)
        elif key == Qt.Key.Key_Backspace:
            self._out()
        elif not self.preview.press(event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """End the preview with its key."""
        if not self.preview.release(event):
            super().keyReleaseEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Let go of the preview: the key's release goes elsewhere."""
        self.preview.stop()
        super().focusOutEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        """Select what is under the pointer, unless it is, and ask for its menu."""
        view = self.view()
        if view is not None and event.reason() == event.Reason.Mouse:
            name = self.pick(view, event.x() * view.scale, event.y() * view.scale)
            if name and name not in self.selection.names:
                self.selection.select([name])
        self.menu_wanted.emit(event.globalPos())

    def _walk(self, way: Way) -> None:
        if self._layout is not None:
            self.selection.select([neighbour(self._layout, self.selection.name, way)], reveal=True)

    def _out(self) -> None:
        above = parent(self.selection.name)
        if above:
            self.selection.select([above])
        elif self.camera.zoom > 1:
            self.fit()
        else:
            self.selection.clear()

    @Slot()
    def _opened(self) -> None:
        self._layout = self._shades = None
        self.fit()
        self.redraw()

    @Slot()
    def _answered(self) -> None:
        if self.answer is not None:
            self._layout = layout(self.answer.snapshot.fabric)
            self._recolour()

    def _recolour(self) -> None:
        if self.answer is not None:
            self._shades = tints(self.answer, self.look_of)
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

    @Slot(str)
    def _hovered(self, _name: str) -> None:
        self.update()

    @Slot(str, bool)
    def _clicked(self, name: str, adds: bool) -> None:
        if not name:
            self.selection.clear()
        elif adds:
            self.selection.toggle(name)
        else:
            self.selection.select([name])

    @Slot(object, bool)
    def _banded(self, names: list[str], adds: bool) -> None:
        self.selection.select([*self.selection.names, *names] if adds else names)

    def _note_at(self, view: View) -> tuple[float, float]:
        if self.selection.hover or self._layout is None:
            return self.pointer
        found = boxes_of(self._layout, self.selection.name, self.style_of_links)
        return view.to_device(found[0, 2], found[0, 1]) if len(found) else self.pointer
