from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gbviz.app.rack_view import RackView
from gbviz.display.draw import Rects
from gbviz.display.rack_places import boxes_in_rack
from gbviz.display.shades import Look
from gbviz.display.theme import DARK, LIGHT
from gbviz.scenario import preset
from tests.app.busy import failed, opened
from tests.app.pointing import CTRL, click, drag, move, spot

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection

pytestmark = pytest.mark.usefixtures("nothing_left")
KEY = Qt.Key


@pytest.fixture
def view(qtbot: QtBot, live: Live, selection: Selection) -> RackView:
    widget = RackView(live, selection)
    qtbot.addWidget(widget)
    widget.resize(1000, 750)
    widget.show()
    opened(qtbot, live)
    return widget


def place(view: RackView, name: str) -> QPoint:
    assert view.live.answer is not None
    fabric = view.live.answer.snapshot.fabric
    x0, y0, x1, y1 = boxes_in_rack(fabric, view.rack, [f"hxu-{view.rack}"], name)[0].tolist()
    return spot(view, (x0 + x1) / 2, (y0 + y1) / 2)


@pytest.mark.parametrize(
    "part",
    [
        "tray-5/gpu-2", "tray-0/nic-3", "nvswitch-9", "shelf-6", "feed-b",
        "tray-7/gpu-1~rack-2/nvswitch-11",
    ],
)  # fmt: skip
def test_a_click_selects_a_part(view: RackView, selection: Selection, part: str) -> None:
    view.show_rack(2)
    click(view, place(view, f"rack-2/{part}"))
    assert selection.names == (f"rack-2/{part}",)


def test_a_click_beside_everything_selects_the_rack(view: RackView, selection: Selection) -> None:
    view.show_rack(3)
    click(view, place(view, "hxu-3"))
    assert selection.names == ("hxu-3",)
    click(view, QPoint(2, view.height() - 2))
    assert selection.names == ("rack-3",)


def test_ctrl_click_and_band(view: RackView, selection: Selection) -> None:
    click(view, place(view, "rack-0/nvswitch-1"))
    click(view, place(view, "rack-0/nvswitch-3"), CTRL)
    assert selection.names == ("rack-0/nvswitch-1", "rack-0/nvswitch-3")
    drag(view, place(view, "rack-0/tray-6/gpu-1"), place(view, "rack-0/tray-5/gpu-2"))
    assert sorted(selection.names) == [
        f"rack-0/tray-{tray}/gpu-{gpu}" for tray in (5, 6) for gpu in (1, 2)
    ]
    drag(view, place(view, "rack-0/shelf-7"), place(view, "rack-0/shelf-6"), keys=CTRL)
    assert {"rack-0/shelf-7", "rack-0/shelf-6"} <= set(selection.names)
    assert len(selection.names) == 6


def test_a_band_over_nics_takes_nics(view: RackView, selection: Selection) -> None:
    drag(view, place(view, "rack-0/tray-6/nic-0"), place(view, "rack-0/tray-5/nic-3"))
    assert sorted(selection.names) == [
        f"rack-0/tray-{tray}/nic-{nic}" for tray in (5, 6) for nic in range(4)
    ]
    drag(view, place(view, "rack-0/tray-6/gpu-2"), place(view, "rack-0/tray-5/nic-3"))
    assert sorted(selection.names) == [
        f"rack-0/tray-{tray}/gpu-{gpu}" for tray in (5, 6) for gpu in (2, 3)
    ]


def test_it_shows_the_rack_of_what_is_selected(
    qtbot: QtBot, view: RackView, selection: Selection
) -> None:
    with qtbot.waitSignal(view.rack_changed) as changed:
        selection.select(["rack-6/tray-1/gpu-0"])
    assert changed.args == [6]
    selection.select(["hxu-2"])
    assert view.rack == 2
    selection.select(["spine-1"])
    assert view.rack == 2
    selection.select(["rack-4/tray-0/nic-1~leaf-5#0"])
    assert view.rack == 4


def test_page_keys_turn_to_other_racks_and_stop_at_the_ends(
    view: RackView, selection: Selection
) -> None:
    QTest.keyClick(view, KEY.Key_PageUp)
    assert selection.name == "rack-0"
    for _ in range(9):
        QTest.keyClick(view, KEY.Key_PageDown)
    assert (view.rack, selection.name) == (7, "rack-7")


def test_arrows_walk_enter_goes_in_and_backspace_out(
    qtbot: QtBot, view: RackView, selection: Selection
) -> None:
    QTest.keyClick(view, KEY.Key_Down)
    assert selection.name == "rack-0/tray-17/gpu-0"
    QTest.keyClick(view, KEY.Key_Right)
    assert selection.name == "rack-0/tray-17/gpu-1"
    for _ in range(9):
        QTest.keyClick(view, KEY.Key_Right)
    assert "~rack-0/nvswitch-" in selection.name
    with qtbot.waitSignal(view.entered) as entered:
        QTest.keyClick(view, KEY.Key_Enter)
    assert entered.args == [selection.name]
    selection.select(["rack-0/tray-17/gpu-1"])
    QTest.keyClick(view, KEY.Key_Backspace)
    QTest.keyClick(view, KEY.Key_Backspace)
    assert selection.name == "rack-0"
    QTest.keyClick(view, KEY.Key_Backspace)
    assert selection.name == "rack-0"


def test_the_pointer_is_heard_and_framed(view: RackView, selection: Selection) -> None:
    move(view, place(view, "rack-0/nvswitch-5"))
    assert selection.hover == "rack-0/nvswitch-5"
    shown = view.view()
    assert shown is not None
    items = view.draw_over(shown).items
    framed = [one for one in items if isinstance(one, Rects) and one.outline == DARK.focus]
    assert len(framed[0].boxes) == 2  # the ASIC and its column
    selection.point("leaf-1")
    assert view.draw_over(shown).items == ()


def test_a_menu_selects_what_is_under_the_pointer(
    qtbot: QtBot, view: RackView, selection: Selection
) -> None:
    at = place(view, "rack-0/shelf-4")
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, view.mapToGlobal(at))
    with qtbot.waitSignal(view.menu_wanted):
        QApplication.sendEvent(view, event)
    assert selection.names == ("rack-0/shelf-4",)


def test_faults_and_looks_change_the_picture(qtbot: QtBot, live: Live, view: RackView) -> None:
    def pixels() -> bytes:
        view.repaint()
        assert view._picture is not None
        return bytes(view._picture.constBits())

    seen = [pixels()]
    failed(qtbot, live, "rack-0/nvswitch-3")
    seen.append(pixels())
    view.set_look(Look(LIGHT, colour_by="temperature"))
    seen.append(pixels())
    view.show_rack(1)
    seen.append(pixels())
    assert len(set(seen)) == 4
    view.show_rack(99)
    assert view.rack == 7


def test_another_scenario_starts_at_its_first_rack(
    qtbot: QtBot, live: Live, view: RackView
) -> None:
    view.show_rack(7)
    opened(qtbot, live, preset("gb300-su", racks=2))
    view.repaint()
    assert view.rack == 0


def test_the_narrow_one_shows_the_elevation_alone(
    qtbot: QtBot, live: Live, selection: Selection
) -> None:
    widget = RackView(live, selection, elevation_only=True)
    qtbot.addWidget(widget)
    widget.resize(260, 500)
    widget.show()
    opened(qtbot, live)
    click(widget, place(widget, "rack-0/tray-3/gpu-1"))
    assert selection.names == ("rack-0/tray-3/gpu-1",)
    world = widget.world()
    assert world is not None
    assert live.answer is not None
    link = boxes_in_rack(
        live.answer.snapshot.fabric, 0, [], "rack-0/tray-3/gpu-1~rack-0/nvswitch-0"
    )
    assert link[0, 0] > world[2]


def test_before_the_first_answer_nothing_breaks(
    qtbot: QtBot, live: Live, selection: Selection
) -> None:
    widget = RackView(live, selection)
    qtbot.addWidget(widget)
    widget.resize(300, 300)
    widget.show()
    widget.repaint()
    for key in (KEY.Key_Left, KEY.Key_Return, KEY.Key_Backspace, KEY.Key_PageDown):
        QTest.keyClick(widget, key)
    click(widget, QPoint(20, 20))
    widget.show_rack(3)
    assert widget.rack == 0
    assert "Computing" in widget.empty_text()
