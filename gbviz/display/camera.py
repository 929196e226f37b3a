"""Where people look: fitting the world into a window, zooming, panning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gbviz.display.grid import View
from gbviz.display.legend import HEIGHT

if TYPE_CHECKING:
    from gbviz.display.grid import Box

# Logical pixels left free round the world.
_LEFT, _RIGHT, _BOTTOM = 70.0, 14.0, 12.0
# A column of GPUs is at most this many times as wide as a tray is high.
_WIDEST = 9.0
CLOSEST = 200.0


@dataclass(frozen=True, slots=True)
class Camera:
    """A zoom (1 shows everything) and the point of the world in the middle of the window."""

    zoom: float = 1.0
    x: float | None = None
    y: float | None = None


def view_of(
    camera: Camera, world: Box, width: int, height: int, scale: float = 1.0, font: float = 1.0
) -> View:
    """What a camera sees of a world in a window of device pixels.

    Across and down have scales of their own, so that the whole fills windows of any shape.

    Examples
    --------
    >>> view = view_of(Camera(), (0.0, 0.0, 100.0, 100.0), 800, 600)
    >>> x, y = view.to_device(50.0, 50.0)
    >>> round(x), round(y)  # the margins are not even: names stand at the left, a legend above
    (428, 304)
    """
    x0, y0, x1, y1 = world
    left, right, top, bottom = _margins(scale, font)
    sx = max(width - left - right, 50.0) / max(x1 - x0, 1e-9)
    sy = max(height - top - bottom, 50.0) / max(y1 - y0, 1e-9)
    sx = min(sx, _WIDEST * sy) * camera.zoom
    sy *= camera.zoom
    # Where nothing is stated, the world lies in the middle of what the margins leave.
    middle_x = (x0 + x1) / 2 if camera.x is None else camera.x
    middle_y = (y0 + y1) / 2 if camera.y is None else camera.y
    at_x, at_y = (left + width - right) / 2, (top + height - bottom) / 2
    return View(middle_x - at_x / sx, middle_y - at_y / sy, sx, sy, width, height, scale, font)


def zoomed(camera: Camera, view: View, factor: float, x: float, y: float) -> Camera:
    """The camera after zooming by a factor with the point under device (x, y) held still."""
    zoom = min(max(camera.zoom * factor, 1.0), CLOSEST)
    if zoom == 1.0:
        return Camera()
    ratio = zoom / camera.zoom
    world_x, world_y = view.to_world(x, y)
    now_x, now_y = _middle(view)
    return Camera(zoom, world_x + (now_x - world_x) / ratio, world_y + (now_y - world_y) / ratio)


def panned(camera: Camera, view: View, dx: float, dy: float) -> Camera:
    """The camera after the world has moved by device pixels."""
    x, y = _middle(view)
    return replace(camera, x=x - dx / view.sx, y=y - dy / view.sy)


def held(camera: Camera, world: Box) -> Camera:
    """The camera with its middle kept within the world."""
    if camera.x is None or camera.y is None:
        return camera
    x0, y0, x1, y1 = world
    return replace(camera, x=min(max(camera.x, x0), x1), y=min(max(camera.y, y0), y1))


def onto(box: Box, world: Box, width: int, height: int, part: float = 0.6) -> Camera:
    """The camera for which a box of the world fills a part of the window."""
    view = view_of(Camera(), world, width, height)
    x0, y0, x1, y1 = box
    zoom_x = part * width / max((x1 - x0) * view.sx, 1e-9)
    zoom_y = part * height / max((y1 - y0) * view.sy, 1e-9)
    zoom = float(min(max(min(zoom_x, zoom_y), 1.0), CLOSEST))
    # Plain numbers: corners come from arrays, and Qt takes no bool of NumPy's.
    return Camera() if zoom == 1.0 else Camera(zoom, float(x0 + x1) / 2, float(y0 + y1) / 2)


def _middle(view: View) -> tuple[float, float]:
    """The point of the world that `view_of` puts in the middle of its margins."""
    left, right, top, bottom = _margins(view.scale, view.font)
    at_x, at_y = (left + view.width - right) / 2, (top + view.height - bottom) / 2
    return view.to_world(at_x, at_y)


def _margins(scale: float, font: float) -> tuple[float, float, float, float]:
    """Device pixels left free at the left, right, top and bottom: names and the legend grow."""
    return _LEFT * scale * font, _RIGHT * scale, HEIGHT * scale * font, _BOTTOM * scale
