from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gbviz.app.fabric_view import FabricView
from gbviz.app.matrix_view import MatrixView
from gbviz.display.camera import Camera
from gbviz.display.draw import Rects
from gbviz.display.layout import layout
from gbviz.display.places import boxes_of
from gbviz.display.shades import Look
from gbviz.display.theme import DARK, LIGHT
from gbviz.scenario import preset
from tests.app.busy import failed, opened
from tests.app.pointing import CTRL, MIDDLE, click, drag, move, place, spot, wheel

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.layout import Layout

pytestmark = pytest.mark.usefixtures("nothing_left")
KEY = Qt.Key


@pytest.fixture
def view(qtbot: QtBot, live: Live, selection: Selection) -> FabricView:
    widget = FabricView(live, selection)
    qtbot.addWidget(widget)
    widget.resize(900, 650)
    widget.show()
    opened(qtbot, live)
    QApplication.processEvents()
    return widget


class FineView(FabricView):
    """A map on a screen of two device pixels a logical one."""

    def devicePixelRatioF(self) -> float:  # noqa: N802 Qt's name
        return 2.0


@pytest.mark.parametrize(
    "name", ["rack-5", "leaf-0", "leaf-7", "leaf-3~spine-2", "leaf-7~spine-3", "rack-0"]
)
@pytest.mark.parametrize("kind", [FabricView, FineView])
def test_a_click_selects_what_is_there(
    qtbot: QtBot, live: Live, selection: Selection, name: str, kind: type[FabricView]
) -> None:
    widget = kind(live, selection)
    qtbot.addWidget(widget)
    widget.resize(900, 650)
    widget.show()
    opened(qtbot, live)
    click(widget, place(widget, name))
    # Pairs of many cables are large enough here for single ones.
    assert [one.split("#")[0].split("/")[0] for one in selection.names] == [name]


def test_a_click_on_the_label_of_a_row_selects_its_spine(
    view: FabricView, selection: Selection
) -> None:
    row = layout_of(view).rows[0, 2]
    click(view, spot(view, row[0], row[1]) - QPoint(25, 0))
    assert selection.names == ("spine-2",)


def test_ctrl_click_adds_and_takes_away(view: FabricView, selection: Selection) -> None:
    click(view, place(view, "leaf-1"))
    click(view, place(view, "leaf-2"), CTRL)
    assert list(selection.names) == ["leaf-1", "leaf-2"]
    click(view, place(view, "leaf-1"), CTRL)
    assert list(selection.names) == ["leaf-2"]
    click(view, QPoint(view.width() - 2, view.height() - 2))
    assert list(selection.names) == []


def test_a_band_over_racks_leaves_or_pairs(view: FabricView, selection: Selection) -> None:
    racks = layout_of(view).racks
    drag(view, spot(view, *racks[0, :2] + 0.2), spot(view, *racks[1, 2:] - 0.2))
    assert sorted({name.split("/")[0] for name in selection.names}) == ["rack-0", "rack-1"]
    leaves = layout_of(view).leaves
    drag(view, spot(view, *leaves[2, :2] + 0.2), spot(view, *leaves[5, 2:] - 0.2), keys=CTRL)
    assert [name for name in selection.names if name.startswith("leaf-")] == [
        "leaf-2", "leaf-3", "leaf-4", "leaf-5",
    ]  # fmt: skip
    assert selection.names[0].startswith("rack-0")
    drag(view, place(view, "leaf-1~spine-1"), place(view, "leaf-2~spine-2"))
    assert sorted(selection.names) == [
        "leaf-1~spine-1", "leaf-1~spine-2", "leaf-2~spine-1", "leaf-2~spine-2",
    ]  # fmt: skip


def layout_of(view: FabricView) -> Layout:
    assert view.answer is not None
    return layout(view.answer.snapshot.fabric)


def test_the_pointer_is_over_what_all_views_hear(view: FabricView, selection: Selection) -> None:
    move(view, place(view, "leaf-4"))
    assert selection.hover == "leaf-4"
    move(view, QPoint(view.width() - 2, view.height() - 2))
    assert selection.hover == ""


def test_the_wheel_zooms_until_gpus_can_be_clicked(view: FabricView, selection: Selection) -> None:
    name = "rack-6/tray-4/gpu-2"
    for _ in range(12):
        wheel(view, place(view, name), up=1)
    click(view, place(view, name))
    assert selection.names == (name,)
    before = place(view, name)
    drag(view, before, before + QPoint(40, -30), MIDDLE)
    click(view, before + QPoint(40, -30))
    assert selection.names == (name,)


def test_arrows_walk_and_the_map_follows(view: FabricView, selection: Selection) -> None:
    QTest.keyClick(view, KEY.Key_Right)
    assert selection.name == "rack-0"
    QTest.keyClick(view, KEY.Key_Right)
    assert selection.name == "rack-4"
    QTest.keyClick(view, KEY.Key_Up)
    assert selection.name == "leaf-4"
    QTest.keyClick(view, KEY.Key_Up)
    assert selection.name == "leaf-4~spine-3"
    view.look(Camera(60, 0, 0))
    QTest.keyClick(view, KEY.Key_Up)
    assert selection.name == "leaf-4~spine-2"
    assert view.rect().contains(place(view, selection.name))


@pytest.mark.parametrize("start", ["leaf-1:73", "rack-0/tray-3/nic-2~leaf-2#0", "rack-0/feed-a"])
def test_arrows_go_on_from_what_the_search_has_found(
    view: FabricView, selection: Selection, start: str
) -> None:
    selection.select([start])
    QTest.keyClick(view, KEY.Key_Down)
    assert len(boxes_of(layout_of(view), selection.name)) > 0


def test_enter_goes_in_and_backspace_out(
    qtbot: QtBot, view: FabricView, selection: Selection
) -> None:
    selection.select(["rack-1/tray-2/gpu-3"])
    with qtbot.waitSignal(view.entered) as entered:
        QTest.keyClick(view, KEY.Key_Return)
    assert entered.args == ["rack-1/tray-2/gpu-3"]
    chain = []
    for _ in range(2):
        QTest.keyClick(view, KEY.Key_Backspace)
        chain.append(selection.name)
    assert chain == ["rack-1/tray-2", "rack-1"]
    view.look(Camera(5, 10, 10))
    QTest.keyClick(view, KEY.Key_Backspace)
    assert view.camera == Camera()
    QTest.keyClick(view, KEY.Key_Backspace)
    assert selection.names == ()


def test_zooming_to_the_selection_fills_the_window(view: FabricView) -> None:
    view.zoom_to(["leaf-1", "leaf-2"])
    assert view.camera.zoom > 2
    for name in ("leaf-1", "leaf-2"):
        assert view.rect().contains(place(view, name))
    before = view.camera
    view.zoom_to(["gone"])
    view.zoom_to([])
    assert view.camera == before


def test_something_tiny_is_revealed_large_enough_to_see(
    qtbot: QtBot, live: Live, view: FabricView
) -> None:
    opened(qtbot, live, preset("gb300-27k"))
    view.reveal("rack-7/tray-17/gpu-3")
    assert view.camera.zoom > 1
    shown = view.view()
    assert shown is not None
    box = shown.boxes(boxes_of(layout_of(view), "rack-7/tray-17/gpu-3"))[0]
    assert max(box[2:]) >= 8
    before = view.camera
    view.reveal("gone")
    assert view.camera == before


def test_a_menu_selects_what_is_under_the_pointer(
    qtbot: QtBot, view: FabricView, selection: Selection
) -> None:
    def ask(name: str) -> None:
        at = place(view, name)
        reason = QContextMenuEvent.Reason.Mouse
        with qtbot.waitSignal(view.menu_wanted):
            QApplication.sendEvent(view, QContextMenuEvent(reason, at, view.mapToGlobal(at)))

    ask("leaf-2")
    assert list(selection.names) == ["leaf-2"]
    selection.select(["leaf-2", "leaf-5"])
    ask("leaf-5")
    assert list(selection.names) == ["leaf-2", "leaf-5"]


def frames(view: FabricView) -> list[Rects]:
    shown = view.view()
    assert shown is not None
    items = view.draw_over(shown).items
    return [one for one in items if isinstance(one, Rects) and one.outline == DARK.focus]


def test_selection_and_hover_are_framed(view: FabricView, selection: Selection) -> None:
    assert frames(view) == []
    selection.select(["leaf-1", "leaf-2"])
    assert len(frames(view)) == 1
    selection.point("leaf-3")
    assert [frame.width for frame in frames(view)] == [2.0, 1.0]
    selection.point("leaf-2")
    assert len(frames(view)) == 1


def test_styles_and_colours_change_the_picture(view: FabricView) -> None:
    def pixels() -> bytes:
        view.repaint()
        assert view._picture is not None
        return bytes(view._picture.constBits())

    seen = {pixels()}
    for style in ("bundles", "cables", "matrix"):
        view.set_links(style)
        seen.add(pixels())
    assert len(seen) == 3
    view.set_look(Look(LIGHT))
    seen.add(pixels())
    view.set_look(Look(LIGHT, colour_by="rail"))
    seen.add(pixels())
    assert len(seen) == 5


def test_a_fault_recolours_and_a_hover_does_not(
    qtbot: QtBot, live: Live, view: FabricView, selection: Selection
) -> None:
    view.repaint()
    first = view._picture
    selection.point("spine-1")
    selection.select(["leaf-1"])
    view.repaint()
    assert view._picture is first
    failed(qtbot, live, "spine-1")
    view.repaint()
    assert view._picture is not first


def test_a_lit_job_dims_the_rest(view: FabricView, selection: Selection) -> None:
    assert view.shades is not None
    before = view.shades.gpus.copy()
    selection.light("ring")
    after = view.shades.gpus
    assert np.array_equal(after[:288], before[:288])
    assert (after[288:] != before[288:]).all()
    selection.clear()
    assert np.array_equal(view.shades.gpus, before)


def test_another_scenario_is_seen_whole(qtbot: QtBot, live: Live, view: FabricView) -> None:
    view.look(Camera(8, 3, 3))
    opened(qtbot, live, preset("gb300-su", racks=4))
    assert view.camera == Camera()
    assert view.answer is not None
    assert view.world() == layout(view.answer.snapshot.fabric).box


def test_before_the_first_answer_there_is_a_word(
    qtbot: QtBot, live: Live, selection: Selection
) -> None:
    widget = FabricView(live, selection)
    qtbot.addWidget(widget)
    widget.resize(400, 300)
    widget.show()
    widget.repaint()
    assert widget.world() is None
    assert "Computing" in widget.empty_text()
    for key in (KEY.Key_Left, KEY.Key_Return, KEY.Key_Backspace, KEY.Key_0):
        QTest.keyClick(widget, key)
    click(widget, QPoint(20, 20))
    widget.reveal("rack-0")
    widget.zoom_to(["rack-0"])


def test_the_matrix_alone_follows_to_the_pod_of_the_selection(
    qtbot: QtBot, live: Live, selection: Selection
) -> None:
    widget = MatrixView(live, selection)
    qtbot.addWidget(widget)
    widget.resize(700, 500)
    widget.show()
    opened(qtbot, live, preset("gb300-27k"))
    click(widget, place(widget, "leaf-3"))
    assert selection.names == ("leaf-3",)
    widget.set_links("bundles")
    assert widget.style_of_links == "matrix"
    selection.select(["leaf-50~spine-60"])
    click(widget, place(widget, "leaf-71"))
    assert selection.names == ("leaf-71",)
    assert widget.rect().contains(place(widget, "leaf-48~spine-48"))
    opened(qtbot, live, preset("gb300-su"))
    widget.repaint()
    click(widget, place(widget, "leaf-2"))
    assert selection.names == ("leaf-2",)
