from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gbviz.app.canvas import Canvas
from gbviz.display.camera import CLOSEST, Camera
from gbviz.display.draw import DrawList, Rects
from gbviz.display.theme import packed
from tests.app.pointing import ALT, CTRL, MIDDLE, SHIFT, click, drag, move, spot, wheel

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.display.grid import Box, View

pytestmark = pytest.mark.usefixtures("nothing_left")

LEFT_HUE, RIGHT_HUE = "#204060", "#806040"


class Board(Canvas):
    """A world of two halves, `a` at the left and `b` at the right."""

    ratio = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.there = True
        self.drawn: list[View] = []
        self.boxes: list[Box] = []

    def devicePixelRatioF(self) -> float:  # noqa: N802 Qt's name
        return self.ratio

    def world(self) -> Box | None:
        return (0.0, 0.0, 100.0, 100.0) if self.there else None

    def draw(self, view: View) -> DrawList:
        self.drawn.append(view)
        halves = view.boxes(np.array([[0.0, 0, 50, 100], [50, 0, 100, 100]]))
        fill = np.array([packed(LEFT_HUE), packed(RIGHT_HUE)], dtype=np.uint32)
        return DrawList(view.width, view.height, "#000000", (Rects(halves, fill),))

    def draw_over(self, view: View) -> DrawList:
        return DrawList(view.width, view.height, None, ())

    def pick(self, view: View, x: float, y: float) -> str:
        at, down = view.to_world(x, y)
        inside = 0 <= at < 100 and 0 <= down < 100
        return ("a" if at < 50 else "b") if inside else ""

    def pick_within(self, view: View, box: Box) -> list[str]:  # noqa: ARG002 the canvas's own
        self.boxes.append(box)
        return [name for name, x in (("a", 25), ("b", 75)) if box[0] < x < box[2]]

    def empty_text(self) -> str:
        return "nothing yet"


class Fine(Board):
    """The same on a screen of two device pixels a logical one."""

    ratio = 2.0


@pytest.fixture(params=[Board, Fine], ids=["1x", "2x"])
def board(request: pytest.FixtureRequest, qtbot: QtBot) -> Board:
    kind: type[Board] = request.param
    widget = kind()
    qtbot.addWidget(widget)
    widget.resize(500, 400)
    widget.show()
    QApplication.processEvents()
    return widget


def world_at(board: Board, at: QPoint) -> tuple[float, float]:
    view = board.view()
    assert view is not None
    return view.to_world(at.x() * view.scale, at.y() * view.scale)


def zoomed_in(board: Board, zoom: float = 4.0) -> Board:
    board.look(Camera(zoom, 50, 50))
    return board


def test_the_picture_has_device_pixels(board: Board) -> None:
    picture = board._picture
    assert picture is not None
    assert (picture.width(), picture.height()) == (500 * board.ratio, 400 * board.ratio)
    assert picture.devicePixelRatio() == board.ratio
    at = spot(board, 25, 50) * board.ratio
    assert picture.pixelColor(at).name() == LEFT_HUE
    assert picture.pixelColor(spot(board, 75, 50) * board.ratio).name() == RIGHT_HUE


def test_the_window_shows_the_picture_in_its_place(board: Board) -> None:
    shown = board.grab().toImage()
    for x, hue in ((3, LEFT_HUE), (47, LEFT_HUE), (53, RIGHT_HUE), (97, RIGHT_HUE)):
        assert shown.pixelColor(spot(board, x, 50)).name() == hue


def test_a_click_names_what_is_there(qtbot: QtBot, board: Board) -> None:
    got: list[tuple[str, bool]] = []
    board.clicked.connect(lambda name, adds: got.append((name, adds)))
    click(board, spot(board, 25, 50))
    click(board, spot(board, 75, 50), CTRL)
    click(board, spot(board, 75, 50), SHIFT)
    click(board, QPoint(1, 1))
    assert got == [("a", False), ("b", True), ("b", True), ("", False)]


def test_a_double_click_goes_in_after_one_click(qtbot: QtBot, board: Board) -> None:
    clicks: list[str] = []
    board.clicked.connect(lambda name, _adds: clicks.append(name))
    at = spot(board, 75, 50)
    click(board, at)
    with qtbot.waitSignal(board.entered) as entered:
        QTest.mouseDClick(board, Qt.MouseButton.LeftButton, pos=at)
    assert entered.args == ["b"]
    assert set(clicks) == {"b"}


def test_other_buttons_do_not_click(qtbot: QtBot, board: Board) -> None:
    with qtbot.assertNotEmitted(board.clicked):
        QTest.mouseClick(board, Qt.MouseButton.RightButton, pos=spot(board, 25, 50))
        QTest.mouseClick(board, MIDDLE, pos=spot(board, 25, 50))


def test_a_band_takes_what_it_holds_from_any_corner(qtbot: QtBot, board: Board) -> None:
    first, last = spot(board, 10, 20), spot(board, 60, 90)
    got: list[tuple[object, bool]] = []
    board.banded.connect(lambda names, adds: got.append((names, adds)))
    with qtbot.assertNotEmitted(board.clicked):
        drag(board, first, last)
        drag(board, last, first, keys=CTRL)
        drag(board, spot(board, 60, 20), spot(board, 10, 90))
    assert got == [(["a"], False), (["a"], True), (["a"], False)]
    for box in board.boxes:
        assert box == pytest.approx((10, 20, 60, 90), abs=0.6)
    assert board.band is None


def test_a_band_is_in_device_pixels_while_it_is_drawn(board: Board) -> None:
    first, last = QPoint(100, 80), QPoint(200, 160)
    drag(board, first, last, release=False)
    assert board.band == tuple(part * board.ratio for part in (100, 80, 200, 160))
    click(board, last)


def test_a_shaky_click_is_no_band(qtbot: QtBot, board: Board) -> None:
    at = spot(board, 25, 50)
    with qtbot.assertNotEmitted(board.banded), qtbot.waitSignal(board.clicked):
        drag(board, at, at + QPoint(2, 1))


def test_the_pointer_tells_what_it_is_over_once(board: Board) -> None:
    got: list[str] = []
    board.pointed.connect(got.append)
    for x in (10, 20, 40, 60, 80, 30):
        move(board, spot(board, x, 50))
    move(board, QPoint(1, 1))
    move(board, spot(board, 60, 50))
    QApplication.sendEvent(board, QEvent(QEvent.Type.Leave))
    assert got == ["a", "b", "a", "", "b", ""]


@pytest.mark.parametrize("x", [5, 50, 90])
def test_the_wheel_zooms_about_the_pointer(board: Board, x: float) -> None:
    at = spot(board, x, 30)
    before = world_at(board, at)
    for turn in range(1, 6):
        wheel(board, at, up=1)
        assert board.camera.zoom == pytest.approx(1.2**turn)
        assert world_at(board, at) == pytest.approx(before, abs=1e-6)
    for _ in range(5):
        wheel(board, at, up=-1)
    assert board.camera == Camera()
    wheel(board, at, up=-3)
    assert board.camera == Camera()


def test_the_wheel_stops_at_the_closest(board: Board) -> None:
    for _ in range(50):
        wheel(board, spot(board, 50, 50), up=1)
    assert board.camera.zoom == CLOSEST


def test_the_wheel_pans_with_shift_or_sideways(board: Board) -> None:
    zoomed_in(board)
    at = QPoint(250, 200)
    before = world_at(board, at)
    wheel(board, at, up=1, keys=SHIFT)
    assert world_at(board, at + QPoint(120, 0)) == pytest.approx(before)
    wheel(board, at, across=-1)
    assert world_at(board, at) == pytest.approx(before)
    assert board.camera.zoom == 4


@pytest.mark.parametrize("alt", [False, True])
def test_the_world_follows_a_pan(qtbot: QtBot, board: Board, alt: bool) -> None:
    zoomed_in(board)
    first, last = QPoint(200, 200), QPoint(260, 170)
    before = world_at(board, first)
    with qtbot.assertNotEmitted(board.clicked), qtbot.assertNotEmitted(board.banded):
        if alt:
            drag(board, first, last, keys=ALT)
        else:
            drag(board, first, last, MIDDLE)
    assert world_at(board, last) == pytest.approx(before)
    before = world_at(board, first)
    move(board, last)
    assert world_at(board, first) == before


def test_a_pan_keeps_the_world_in_sight(board: Board) -> None:
    zoomed_in(board)
    drag(board, QPoint(10, 200), QPoint(10_000, 20_000), MIDDLE)
    assert (board.camera.x, board.camera.y) == (0, 0)


def test_nothing_pans_while_everything_is_in_sight(qtbot: QtBot, board: Board) -> None:
    with qtbot.assertNotEmitted(board.moved):
        drag(board, QPoint(200, 200), QPoint(260, 170), MIDDLE)
        QTest.keyClick(board, Qt.Key.Key_Left, CTRL)
    assert board.camera == Camera()


def test_keys_zoom_pan_and_show_all(qtbot: QtBot, board: Board) -> None:
    middle = QPoint(250, 200)
    before = world_at(board, middle)
    with qtbot.waitSignal(board.moved):
        QTest.keyClick(board, Qt.Key.Key_Plus)
    QTest.keyClick(board, Qt.Key.Key_Equal)
    assert board.camera.zoom == pytest.approx(1.2**4)
    assert world_at(board, middle) == pytest.approx(before)
    for key, step in (
        (Qt.Key.Key_Left, QPoint(80, 0)),
        (Qt.Key.Key_Right, QPoint(-80, 0)),
        (Qt.Key.Key_Up, QPoint(0, 80)),
        (Qt.Key.Key_Down, QPoint(0, -80)),
    ):
        before = world_at(board, middle)
        QTest.keyClick(board, key, CTRL)
        assert world_at(board, middle + step) == pytest.approx(before)
    QTest.keyClick(board, Qt.Key.Key_Minus)
    assert board.camera.zoom == pytest.approx(1.2**2)
    QTest.keyClick(board, Qt.Key.Key_0)
    assert board.camera == Camera()


def test_the_old_picture_moves_until_nothing_has_moved_for_a_moment(
    qtbot: QtBot, board: Board
) -> None:
    drawn = len(board.drawn)
    at = spot(board, 20, 20)
    for _ in range(5):
        wheel(board, at, up=1)
        board.repaint()
    assert len(board.drawn) == drawn
    # The old picture is where the new one will be.
    moving = board.grab().toImage()
    qtbot.waitUntil(lambda: len(board.drawn) == drawn + 1, timeout=2000)
    still = board.grab().toImage()
    for x in (15, 30, 45):
        at = spot(board, x, 30)
        if board.rect().contains(at):
            assert moving.pixelColor(at) == still.pixelColor(at)
    view = board.view()
    assert board.drawn[-1] == view


def test_painting_again_draws_nothing_anew(board: Board) -> None:
    drawn = len(board.drawn)
    board.repaint()
    board.repaint()
    assert len(board.drawn) == drawn
    board.redraw()
    board.repaint()
    assert len(board.drawn) == drawn + 1


def test_another_size_is_drawn_anew(board: Board) -> None:
    board.resize(300, 350)
    QApplication.processEvents()
    assert board.drawn[-1].width == 300 * board.ratio
    assert board.drawn[-1].height == 350 * board.ratio


def test_a_box_is_brought_into_sight(board: Board) -> None:
    board.show_box((10, 10, 20, 20), 0.5)
    view = board.view()
    assert view is not None
    x0, y0, x1, y1 = (part / board.ratio for part in view.boxes(np.array([[10.0, 10, 20, 20]]))[0])
    assert max(x1 / 500, y1 / 400) == pytest.approx(0.5, abs=0.01)
    assert 0 < x0 < x0 + x1 < 500
    assert 0 < y0 < y0 + y1 < 400


def test_without_a_world_there_is_a_text_and_nothing_breaks(qtbot: QtBot, board: Board) -> None:
    board.there = False
    board.redraw()
    board.repaint()
    assert board.view() is None
    with qtbot.assertNotEmitted(board.clicked), qtbot.assertNotEmitted(board.pointed):
        click(board, QPoint(50, 50))
        move(board, QPoint(60, 60))
        drag(board, QPoint(10, 10), QPoint(90, 90))
        wheel(board, QPoint(50, 50), up=1)
        QTest.mouseDClick(board, Qt.MouseButton.LeftButton, pos=QPoint(9, 9))
        QTest.keyClick(board, Qt.Key.Key_Plus)
    board.show_box((0, 0, 1, 1))
    assert board.camera == Camera()
