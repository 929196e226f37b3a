"""The whole map in small, in a corner of the zoomed one: where one is, and the way elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen
from PySide6.QtWidgets import QWidget

from gbviz.app.paint import paint_image
from gbviz.display.camera import Camera, view_of

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent, QPaintEvent

    from gbviz.app.fabric_view import FabricView
    from gbviz.display.grid import View

_SIZE = QSize(210, 145)
# The picture is drawn large and made small, so that labels thin out as on the map.
_LARGER = 3


class MiniMap(QWidget):
    """Lies over a fabric view while that is zoomed in."""

    def __init__(self, owner: FabricView) -> None:
        super().__init__(owner)
        self._owner = owner
        self._image: QImage | None = None
        self.setAccessibleName(self.tr("Overview"))
        self.setToolTip(self.tr("Click to look elsewhere; 0 shows everything"))
        self.resize(_SIZE)
        self.setCursor(Qt.CursorShape.CrossCursor)
        owner.moved.connect(self._moved)
        owner.live.answered.connect(self._forget)
        owner.live.opened.connect(self._forget)
        self.hide()

    def sizeHint(self) -> QSize:  # noqa: N802 Qt's name
        """Its one size."""
        return _SIZE

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Paint the small map and a frame round what is seen."""
        small = self._view()
        seen = self._owner.view()
        if small is None or seen is None:
            return
        if self._image is None:
            large = QImage(small.width, small.height, QImage.Format.Format_RGB32)
            paint_image(large, self._owner.draw(small))
            self._image = large.scaled(
                _SIZE,
                Qt.AspectRatioMode.IgnoreAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
        theme = self._owner.look_of.theme
        painter = QPainter(self)
        painter.setClipRect(self.rect())
        painter.drawImage(0, 0, self._image)
        x0, y0 = small.to_device(*seen.to_world(0, 0))
        x1, y1 = small.to_device(*seen.to_world(seen.width, seen.height))
        pen = QPen(QColor(theme.focus))
        pen.setWidthF(1.5 * _LARGER)
        painter.setPen(pen)
        frame = QRectF(x0, y0, x1 - x0, y1 - y0)
        painter.scale(1 / _LARGER, 1 / _LARGER)
        painter.drawRect(frame)
        painter.resetTransform()
        painter.setPen(QColor(theme.line))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Look where the click is."""
        self._go(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Follow the pointer while a button is held."""
        if event.buttons():
            self._go(event)

    def _go(self, event: QMouseEvent) -> None:
        small = self._view()
        if small is not None:
            at = event.position() * _LARGER
            x, y = small.to_world(at.x(), at.y())
            self._owner.look(Camera(self._owner.camera.zoom, x, y))

    def _view(self) -> View | None:
        world = self._owner.world()
        if world is None:
            return None
        return view_of(Camera(), world, _SIZE.width() * _LARGER, _SIZE.height() * _LARGER)

    def _forget(self) -> None:
        self._image = None
        self.update()

    def forget(self) -> None:
        """Draw the small map anew: its colours have changed."""
        self._forget()

    def _moved(self) -> None:
        self.setVisible(bool(self._owner.camera.zoom > 1.05))
        self.move(self._owner.width() - self.width() - 8, self._owner.height() - self.height() - 8)
        self.update()
