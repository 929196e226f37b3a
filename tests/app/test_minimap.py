from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from gbviz.app.fabric_view import FabricView
from gbviz.app.minimap import MiniMap
from gbviz.app.selection import Selection
from gbviz.display.camera import Camera
from gbviz.display.shades import Look
from gbviz.display.theme import LIGHT
from tests.app.busy import failed, opened
from tests.app.pointing import click, drag, wheel

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def view(qtbot: QtBot, live: Live) -> FabricView:
    widget = FabricView(live, Selection())
    qtbot.addWidget(widget)
    widget.resize(900, 650)
    widget.show()
    opened(qtbot, live)
    return widget


@pytest.fixture
def small(view: FabricView) -> MiniMap:
    return MiniMap(view)


def middle(view: FabricView) -> tuple[float, float]:
    world = view.world()
    assert world is not None
    return (world[0] + world[2]) / 2, (world[1] + world[3]) / 2


def test_it_comes_with_zooming_in_and_goes_with_zooming_out(
    view: FabricView, small: MiniMap
) -> None:
    assert small.isHidden()
    wheel(view, QPoint(300, 300), up=2)
    assert small.isVisible()
    wheel(view, QPoint(300, 300), up=-4)
    assert small.isHidden()


def test_it_stays_in_the_corner(view: FabricView, small: MiniMap) -> None:
    def gap() -> tuple[int, int]:
        corner = small.geometry().bottomRight()
        return view.width() - corner.x(), view.height() - corner.y()

    wheel(view, QPoint(300, 300), up=2)
    first = gap()
    assert 0 < first[0] < 20
    assert 0 < first[1] < 20
    view.resize(600, 500)
    QApplication.processEvents()
    assert gap() == first
    view.resize(1000, 800)
    QApplication.processEvents()
    assert gap() == first


def test_a_click_looks_there_and_a_drag_follows(view: FabricView, small: MiniMap) -> None:
    view.look(Camera(6, 0, 0))
    shown = small._view()
    assert shown is not None
    x, y = shown.to_device(*middle(view))
    at = QPoint(round(x / 3), round(y / 3))
    click(small, at)
    assert view.camera.zoom == 6
    world = view.world()
    assert world is not None
    assert view.camera.x == pytest.approx(middle(view)[0], abs=world[2] / 100)
    assert view.camera.y == pytest.approx(middle(view)[1], abs=world[3] / 60)
    drag(small, at, at + QPoint(0, 30))
    assert view.camera.y is not None
    assert view.camera.y > middle(view)[1] + world[3] / 10
    click(small, QPoint(1, 1))
    assert (view.camera.x, view.camera.y) == (0, 0)


def test_its_picture_follows_answers_and_themes(
    qtbot: QtBot, live: Live, view: FabricView, small: MiniMap
) -> None:
    def pixels() -> bytes:
        small.repaint()
        assert small._image is not None
        return bytes(small._image.constBits())

    view.look(Camera(6, 0, 0))
    seen = {pixels()}
    failed(qtbot, live, "leaf-1")
    seen.add(pixels())
    view.set_look(Look(LIGHT))
    small.forget()
    seen.add(pixels())
    assert len(seen) == 3


def test_its_frame_is_what_is_seen(view: FabricView, small: MiniMap) -> None:
    view.look(Camera(4, *middle(view)))
    small.repaint()
    shown = small.grab().toImage()
    light = [
        (x, y)
        for x in range(shown.width())
        for y in range(shown.height())
        if shown.pixelColor(x, y).lightness() > 235
    ]
    xs, ys = [x for x, _ in light], [y for _, y in light]
    seen, own = view.view(), small._view()
    assert seen is not None
    assert own is not None
    x0, y0 = own.to_device(*seen.to_world(0, 0))
    x1, y1 = own.to_device(*seen.to_world(seen.width, seen.height))
    assert (min(xs), min(ys)) == pytest.approx((x0 / 3, y0 / 3), abs=2)
    assert (max(xs), max(ys)) == pytest.approx((x1 / 3, y1 / 3), abs=2)


def test_before_the_first_answer_it_paints_nothing(qtbot: QtBot, live: Live) -> None:
    owner = FabricView(live, Selection())
    qtbot.addWidget(owner)
    small = MiniMap(owner)
    owner.show()
    small.show()
    small.repaint()
    click(small, QPoint(20, 20))
    assert owner.camera == Camera()
    assert small.sizeHint() == small.size()
