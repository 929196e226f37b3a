"""A painted view: a cached picture, an overlay painted each time, zooming, panning, picking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from gbviz.app.paint import paint, paint_image
from gbviz.display.camera import Camera, held, onto, panned, view_of, zoomed

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

    from gbviz.display.draw import DrawList
    from gbviz.display.grid import Box, View

# After the last wheel or drag event the picture is drawn anew; until then the old one is moved.
_IDLE_MS = 60
_WHEEL_STEP = 1.2
_DRAG_FROM = 4.0
_NUDGE = 80.0


class Canvas(QWidget):
    """The common part of the fabric map and the rack view; those say what is where.

    Signals
    -------
    clicked(str, bool)
        A component was clicked ("" for none), and whether it is to be added to the selection.
    entered(str)
        A component was double-clicked, or Enter was pressed.
    banded(list, bool)
        A rubber band was drawn round components, and whether these are to be added.
    pointed(str)
        The pointer is over another component, "" for none.
    moved()
        Another part of the world is seen.
    """

    clicked = Signal(str, bool)
    entered = Signal(str)
    banded = Signal(object, bool)
    pointed = Signal(str)
    moved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.camera = Camera()
        self.font_scale = 1.0
        self.band: tuple[float, float, float, float] | None = None
        self.pointer = (0.0, 0.0)
        self._picture: QImage | None = None
        self._picture_view: View | None = None
        self._fresh = False
        self._under = ""
        self._pressed: QPointF | None = None
        self._pan_from: QPointF | None = None
        self._idle = QTimer(self)
        self._idle.setSingleShot(True)
        self._idle.setInterval(_IDLE_MS)
        self._idle.timeout.connect(self.redraw)

    def world(self) -> Box | None:
        """The world's corners, None while there is nothing to show."""
        raise NotImplementedError

    def draw(self, view: View) -> DrawList:
        """The picture, without what the pointer adds."""
        raise NotImplementedError

    def draw_over(self, view: View) -> DrawList:
        """What is painted over the picture each time."""
        raise NotImplementedError

    def pick(self, view: View, x: float, y: float) -> str:
        """The component at a device pixel, "" for none."""
        raise NotImplementedError

    def pick_within(self, view: View, box: Box) -> list[str]:
        """Components in a box of the world."""
        raise NotImplementedError

    def empty_text(self) -> str:
        """What stands in the middle while there is nothing to show."""
        raise NotImplementedError

    def view(self) -> View | None:
        """What is seen now."""
        world = self.world()
        if world is None:
            return None
        scale = self.devicePixelRatioF()
        size = round(self.width() * scale), round(self.height() * scale)
        return view_of(self.camera, world, max(size[0], 1), max(size[1], 1), scale, self.font_scale)

    def redraw(self) -> None:
        """Draw the picture anew, with the next paint event."""
        self._idle.stop()
        self._fresh = False
        self.update()

    def set_font_scale(self, scale: float) -> None:
        """Draw text larger or smaller than usual."""
        if scale != self.font_scale:
            self.font_scale = scale
            self.redraw()

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom by a factor about a point of the widget, its middle by default."""
        view = self.view()
        if view is None:
            return
        point = QPointF(self.width() / 2, self.height() / 2) if at is None else at
        x, y = point.x() * view.scale, point.y() * view.scale
        self.look(zoomed(self.camera, view, factor, x, y))

    def pan(self, dx: float, dy: float) -> None:
        """Move the world by logical pixels."""
        view = self.view()
        if view is not None and self.camera.zoom > 1:
            self.look(panned(self.camera, view, dx * view.scale, dy * view.scale))

    def fit(self) -> None:
        """Show everything."""
        self.look(Camera())

    def show_box(self, box: Box, part: float = 0.6) -> None:
        """Bring a box of the world into sight, as large as a part of the window."""
        world = self.world()
        if world is not None:
            self.look(onto(box, world, self.width(), self.height(), part))

    def look(self, camera: Camera) -> None:
        """Look through a camera; the picture follows when nothing has moved for a moment."""
        world = self.world()
        camera = held(camera, world) if world is not None else camera
        if camera == self.camera:
            return
        self.camera = camera
        self._idle.start()
        self.update()
        self.moved.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 Qt's name
        """Paint the picture, moved where it is old, and what lies over it."""
        view = self.view()
        painter = QPainter(self)
        try:
            painter.setClipRect(self.rect())
            if view is None:
                self._paint_nothing(painter)
            else:
                self._paint_picture(painter, view)
                self._paint_over(painter, view)
        finally:
            painter.end()

    def _paint_nothing(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), self.palette().base())
        painter.setPen(self.palette().placeholderText().color())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.empty_text())

    def _paint_picture(self, painter: QPainter, view: View) -> None:
        old = self._picture_view
        moving = self._idle.isActive() and old is not None and self._picture is not None
        if moving and old is not None and self._picture is not None:
            painter.fillRect(self.rect(), self.palette().base())
            x, y = view.to_device(old.x0, old.y0)
            wide, high = old.width * view.sx / old.sx, old.height * view.sy / old.sy
            part = QRectF(x, y, wide, high)
            scale = view.scale
            target = QRectF(x / scale, y / scale, part.width() / scale, part.height() / scale)
            source = QRectF(0, 0, old.width, old.height)
            painter.drawImage(target, self._picture, source)
            return
        if not self._fresh or old != view or self._picture is None:
            picture = QImage(view.width, view.height, QImage.Format.Format_RGB32)
            paint_image(picture, self.draw(view))
            picture.setDevicePixelRatio(view.scale)
            self._picture, self._picture_view, self._fresh = picture, view, True
        painter.drawImage(0, 0, self._picture)

    def _paint_over(self, painter: QPainter, view: View) -> None:
        over = self.draw_over(view)
        if view.scale == 1:
            paint(painter, over)
            return
        # A painter that scales makes wide lines a thousand times as dear.
        layer = QImage(view.width, view.height, QImage.Format.Format_ARGB32_Premultiplied)
        layer.fill(Qt.GlobalColor.transparent)
        paint_image(layer, over)
        layer.setDevicePixelRatio(view.scale)
        painter.drawImage(0, 0, layer)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Draw anew once the window has its size."""
        super().resizeEvent(event)
        self.redraw()
        self.moved.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """Zoom about the pointer; with Shift or sideways, pan."""
        angle = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or angle.x():
            self.pan(angle.x() + (angle.y() if not angle.x() else 0), 0)
        else:
            self.zoom(_WHEEL_STEP ** (angle.y() / 120), event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Begin a click, a rubber band or a pan (middle button, or Alt)."""
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if event.button() == Qt.MouseButton.MiddleButton or alt:
            self._pan_from = event.position()
        elif event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Pan, stretch the rubber band, or say what is under the pointer."""
        at, view = event.position(), self.view()
        if view is None:
            return
        self.pointer = at.x() * view.scale, at.y() * view.scale
        if self._pan_from is not None:
            step = at - self._pan_from
            self._pan_from = at
            self.pan(step.x(), step.y())
        elif self._pressed is not None:
            if self.band or (at - self._pressed).manhattanLength() >= _DRAG_FROM:
                first = self._pressed.x() * view.scale, self._pressed.y() * view.scale
                self.band = (*first, *self.pointer)
                self.update()
        else:
            self._point(self.pick(view, *self.pointer))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """End a click or a rubber band."""
        view, band, pressed = self.view(), self.band, self._pressed
        self._pan_from = self._pressed = self.band = None
        if view is None or pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        held_keys = event.modifiers()
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        adds = bool(held_keys & both)
        if band is None:
            at = event.position() * view.scale
            self.clicked.emit(self.pick(view, at.x(), at.y()), adds)
            return
        x0, y0 = view.to_world(min(band[0], band[2]), min(band[1], band[3]))
        x1, y1 = view.to_world(max(band[0], band[2]), max(band[1], band[3]))
        self.update()
        self.banded.emit(self.pick_within(view, (x0, y0, x1, y1)), adds)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Go into what was clicked."""
        view = self.view()
        if view is not None and event.button() == Qt.MouseButton.LeftButton:
            at = event.position() * view.scale
            self.entered.emit(self.pick(view, at.x(), at.y()))

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        """Point at nothing any more."""
        self._point("")
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Pan with Ctrl and arrows, zoom with + and -, show all with 0."""
        key = event.key()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and key in _ARROWS:
            self.pan(*(_NUDGE * part for part in _ARROWS[Qt.Key(key)]))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(_WHEEL_STEP**2)
        elif key == Qt.Key.Key_Minus:
            self.zoom(_WHEEL_STEP**-2)
        elif key == Qt.Key.Key_0:
            self.fit()
        else:
            super().keyPressEvent(event)

    def _point(self, name: str) -> None:
        if name != self._under:
            self._under = name
            self.pointed.emit(name)


_ARROWS = {
    Qt.Key.Key_Left: (1.0, 0.0),
    Qt.Key.Key_Right: (-1.0, 0.0),
    Qt.Key.Key_Up: (0.0, 1.0),
    Qt.Key.Key_Down: (0.0, -1.0),
}
