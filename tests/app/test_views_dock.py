from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog

from gbviz.app.remembered import Remembered
from gbviz.app.views_dock import ViewsDock
from tests.app.pointing import click

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("nothing_left")


class Camera:
    """What the map would say of itself."""

    def __init__(self) -> None:
        self.zoom = 1.0

    def __call__(self) -> dict[str, Any]:
        return {"zoom": self.zoom}


@pytest.fixture
def camera() -> Camera:
    return Camera()


@pytest.fixture
def remembered(qtbot: QtBot) -> Remembered:
    found = Remembered()
    found.change(saved_views=())
    return found


@pytest.fixture
def dock(qtbot: QtBot, remembered: Remembered, camera: Camera) -> ViewsDock:
    widget = ViewsDock(remembered, camera)
    qtbot.addWidget(widget)
    widget.resize(250, 300)
    widget.show()
    return widget


def names(dock: ViewsDock) -> list[str]:
    return [dock.list.item(row).text() for row in range(dock.list.count())]


def look(qtbot: QtBot, dock: ViewsDock, row: int) -> object:
    """What the dock asks for when a row is clicked."""
    with qtbot.waitSignal(dock.wanted) as wanted:
        click(dock.list.viewport(), dock.list.visualItemRect(dock.list.item(row)).center())
    assert wanted.args is not None
    return wanted.args[0]


def test_without_views_it_says_what_it_is_for(dock: ViewsDock) -> None:
    assert dock.empty.isVisible()
    assert dock.list.isHidden()
    assert not dock.forget.isEnabled()
    dock.remove()


def test_a_view_is_kept_and_looked_through(qtbot: QtBot, dock: ViewsDock, camera: Camera) -> None:
    dock.keep("far")
    camera.zoom = 7.0
    dock.keep("near")
    assert names(dock) == ["far", "near"]
    assert dock.empty.isHidden()
    assert look(qtbot, dock, 0) == {"zoom": 1.0}
    assert look(qtbot, dock, 1) == {"zoom": 7.0}


@pytest.mark.parametrize("again", ["far", "near"])
def test_a_name_that_is_taken_gets_the_new_view(
    qtbot: QtBot, dock: ViewsDock, camera: Camera, again: str
) -> None:
    dock.keep("far")
    dock.keep("near")
    camera.zoom = 9.0
    dock.keep(again)
    assert sorted(names(dock)) == ["far", "near"]
    assert look(qtbot, dock, names(dock).index(again)) == {"zoom": 9.0}


def test_enter_looks_and_forget_forgets(
    qtbot: QtBot, dock: ViewsDock, remembered: Remembered
) -> None:
    dock.keep("far")
    dock.keep("near")
    dock.list.setCurrentRow(1)
    with qtbot.waitSignal(dock.wanted):
        QTest.keyClick(dock.list, Qt.Key.Key_Return)
    QTest.mouseClick(dock.forget, Qt.MouseButton.LeftButton)
    assert names(dock) == ["far"]
    assert [view.name for view in remembered.settings.saved_views] == ["far"]


def test_delete_forgets_the_marked_view(dock: ViewsDock) -> None:
    dock.keep("far")
    dock.keep("near")
    dock.list.setCurrentRow(0)
    dock.activateWindow()
    dock.list.setFocus()
    QTest.keyClick(dock.list, Qt.Key.Key_Delete)
    assert names(dock) == ["near"]


def test_views_outlive_the_dock(qtbot: QtBot, dock: ViewsDock) -> None:
    dock.keep("far")
    again = ViewsDock(Remembered(), dict)
    qtbot.addWidget(again)
    assert names(again) == ["far"]


@pytest.mark.parametrize(
    ("answer", "kept"), [(("  mine ", True), ["mine"]), (("mine", False), []), (("  ", True), [])]
)
def test_a_name_is_asked_for(
    dock: ViewsDock, monkeypatch: pytest.MonkeyPatch, answer: tuple[str, bool], kept: list[str]
) -> None:
    monkeypatch.setattr(QInputDialog, "getText", lambda *_: answer)
    QTest.mouseClick(dock.save, Qt.MouseButton.LeftButton)
    assert names(dock) == kept
