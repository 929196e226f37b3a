"""Paints a draw list with Qt: the only place where its items become strokes and pixels."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np
import shiboken6
from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QPainter,
    QPen,
    QPolygonF,
)

from gbviz.display.draw import Image, Lines, Marks, Rects, Text

if TYPE_CHECKING:
    from gbviz.display.draw import DrawList
    from gbviz.topology.fabric import Floats

# Parts of a font's size: the middle of a line of text lies this far above its base line.
_MIDDLE = 0.35


def image_of(draw: DrawList) -> QImage:
    """A draw list as an image of its device pixels."""
    image = QImage(draw.width, draw.height, QImage.Format.Format_RGB32)
    paint_image(image, draw)
    return image


def paint_image(image: QImage, draw: DrawList) -> None:
    """Paint a draw list over an image of its size."""
    painter = QPainter(image)
    try:
        paint(painter, draw)
    finally:
        painter.end()


def paint(painter: QPainter, draw: DrawList) -> None:
    """Paint a draw list, whose unit is the painter's."""
    area = QRect(0, 0, draw.width, draw.height)
    # Thin lines cost several times as much without it.
    painter.setClipRect(area)
    if draw.ground is not None:
        painter.fillRect(area, QColor(draw.ground))
    for item in draw.items:
        paint_item(item, painter)


@singledispatch
def paint_item(item: object, painter: QPainter) -> None:
    """Paint one item of a draw list."""
    raise TypeError(f"nothing paints a {type(item).__name__} on {painter}")


@paint_item.register
def _image(item: Image, painter: QPainter) -> None:
    pixels = np.ascontiguousarray(item.pixels)
    height, width = pixels.shape
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
    painter.drawImage(item.x, item.y, image)


@paint_item.register
def _lines(item: Lines, painter: QPainter) -> None:
    if not len(item.ends):
        return
    pen = QPen(QColor(item.colour))
    pen.setWidthF(item.width)
    if item.dashed:
        pen.setDashPattern([4.0, 3.0])
    painter.save()
    painter.setPen(pen)
    painter.setOpacity(item.opacity)
    # Few lines look better smooth; for thousands that costs five times as much.
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(item.ends) < 400)
    draw_lines(painter, item.ends)
    painter.restore()


def draw_lines(painter: QPainter, ends: Floats) -> None:
    """Draw lines (n, 4) from the array's own memory, with the painter's pen."""
    own = np.ascontiguousarray(ends, dtype=np.float64)
    if len(own):
        first = shiboken6.wrapInstance(own.ctypes.data, QLineF)
        painter.drawLines(first, len(own))  # type: ignore[call-overload]


@paint_item.register
def _rects(item: Rects, painter: QPainter) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, item.radius > 0)
    pen = QPen(Qt.PenStyle.NoPen)
    if item.outline is not None:
        pen = QPen(QColor(item.outline))
        pen.setWidthF(item.width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    painter.setPen(pen)
    for number, (x, y, width, height) in enumerate(item.boxes.tolist()):
        box = QRectF(x, y, width, height)
        if item.fill is not None:
            painter.setBrush(QColor.fromRgb(int(item.fill[number])))
        if item.radius:
            painter.drawRoundedRect(box, item.radius, item.radius)
        else:
            painter.drawRect(box)
    painter.restore()


@paint_item.register
def _marks(item: Marks, painter: QPainter) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    half = item.size / 2
    if item.kind == "cross":
        pen = QPen(QColor(item.colour))
        pen.setWidthF(max(1.2, item.size / 6))
        painter.setPen(pen)
        at = item.at
        up = np.array([half, -half])
        rising = np.concatenate([at - up, at + up], axis=1)
        falling = np.concatenate([at - half, at + half], axis=1)
        draw_lines(painter, np.concatenate([rising, falling]))
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(item.colour))
        for x, y in item.at.tolist():
            if item.kind == "dot":
                painter.drawEllipse(QPointF(x, y), half, half)
            else:
                corners = [(x, y - half), (x + half, y + half), (x - half, y + half)]
                painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
    painter.restore()


@paint_item.register
def _text(item: Text, painter: QPainter) -> None:
    font = QFont(painter.font())
    font.setPixelSize(max(1, round(item.size)))
    font.setBold(item.bold)
    width = QFontMetricsF(font).horizontalAdvance(item.text)
    painter.save()
    painter.setFont(font)
    painter.translate(item.x, item.y)
    if item.upright:
        painter.rotate(-90)
    left = {"left": 0.0, "centre": -width / 2, "right": -width}[item.align]
    if item.chip is not None:
        pad = 0.4 * item.size
        box = QRectF(left - pad, -0.75 * item.size, width + 2 * pad, 1.5 * item.size)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(item.chip))
        painter.drawRoundedRect(box, pad, pad)
    painter.setPen(QColor(item.colour))
    painter.drawText(QPointF(left, _MIDDLE * item.size), item.text)
    painter.restore()
