"""Pointing at things as people do: where a component is on a canvas, and the events of a mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gbviz.display.layout import layout
from gbviz.display.places import boxes_of

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gbviz.app.canvas import Canvas
    from gbviz.app.fabric_view import FabricView

NONE = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton


def spot(canvas: Canvas, x: float, y: float) -> QPoint:
    """Where a point of the world is on a canvas, logical pixels."""
    view = canvas.view()
    assert view is not None
    at = view.to_device(x, y)
    return QPoint(round(at[0] / view.scale), round(at[1] / view.scale))


def place(view: FabricView, name: str, which: int = 0) -> QPoint:
    """The middle of a component's box on a map."""
    assert view.answer is not None
    found = layout(view.answer.snapshot.fabric)
    x0, y0, x1, y1 = boxes_of(found, name, view.style_of_links)[which].tolist()
    return spot(view, (x0 + x1) / 2, (y0 + y1) / 2)


def click(widget: QWidget, at: QPoint, keys: Qt.KeyboardModifier = NONE) -> None:
    QTest.mouseClick(widget, LEFT, keys, at)


def _send(
    widget: QWidget,
    kind: QEvent.Type,
    at: QPoint,
    button: Qt.MouseButton,
    held: Qt.MouseButton,
    keys: Qt.KeyboardModifier,
) -> None:
    local, screen = QPointF(at), QPointF(widget.mapToGlobal(at))
    QApplication.sendEvent(widget, QMouseEvent(kind, local, screen, button, held, keys))


def move(widget: QWidget, at: QPoint, keys: Qt.KeyboardModifier = NONE) -> None:
    """The pointer moves with no button down."""
    none = Qt.MouseButton.NoButton
    _send(widget, QEvent.Type.MouseMove, at, none, none, keys)


def drag(
    widget: QWidget,
    first: QPoint,
    last: QPoint,
    button: Qt.MouseButton = LEFT,
    keys: Qt.KeyboardModifier = NONE,
    *,
    release: bool = True,
) -> None:
    """Press, move in three steps, release."""
    none = Qt.MouseButton.NoButton
    _send(widget, QEvent.Type.MouseButtonPress, first, button, button, keys)
    for part in (1, 2, 3):
        at = first + (last - first) * part / 3
        _send(widget, QEvent.Type.MouseMove, at, none, button, keys)
    if release:
        _send(widget, QEvent.Type.MouseButtonRelease, last, button, none, keys)


def wheel(
    widget: QWidget, at: QPoint, up: int = 0, across: int = 0, keys: Qt.KeyboardModifier = NONE
) -> None:
    """Turn the wheel by so many notches."""
    event = QWheelEvent(
        QPointF(at),
        QPointF(widget.mapToGlobal(at)),
        QPoint(),
        QPoint(120 * across, 120 * up),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)
