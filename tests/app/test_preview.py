from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gbviz.app.fabric_view import FabricView
from gbviz.display.draw import Text
from gbviz.engine import evaluate
from gbviz.report.cost import cost
from tests.app.busy import busy_scenario, opened
from tests.app.pointing import CTRL, move, place

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection

pytestmark = pytest.mark.usefixtures("nothing_left")
W = Qt.Key.Key_W


@pytest.fixture
def view(qtbot: QtBot, live: Live, selection: Selection) -> FabricView:
    widget = FabricView(live, selection)
    qtbot.addWidget(widget)
    widget.resize(800, 600)
    widget.show()
    opened(qtbot, live)
    return widget


def expected(name: str) -> str:
    base = busy_scenario()
    return cost(f"fail {name}", evaluate(base), evaluate(base.with_faults(name)))


def test_holding_w_says_what_the_selected_part_would_cost(
    qtbot: QtBot, live: Live, view: FabricView, selection: Selection
) -> None:
    selection.select(["spine-1"])
    with qtbot.waitSignal(live.previewed):
        QTest.keyPress(view, W)
        assert view.preview.note == "What would losing spine-1 cost? ..."
    assert view.preview.note == expected("spine-1")
    shown = view.view()
    assert shown is not None
    texts = [item.text for item in view.draw_over(shown).items if isinstance(item, Text)]
    assert "".join(texts) == expected("spine-1")
    QTest.keyRelease(view, W)
    assert view.preview.note == ""
    # Nothing has changed.
    assert live.answer is not None
    assert live.answer.snapshot.faults == ()
    assert not live.session.undo_label


def test_what_the_pointer_is_over_comes_first_and_is_followed(
    qtbot: QtBot, live: Live, view: FabricView, selection: Selection
) -> None:
    selection.select(["spine-1"])
    move(view, place(view, "leaf-2"))
    with qtbot.waitSignal(live.previewed):
        QTest.keyPress(view, W)
    assert view.preview.note == expected("leaf-2")
    with qtbot.waitSignal(live.previewed):
        move(view, place(view, "leaf-5"))
    assert view.preview.note == expected("leaf-5")
    QTest.keyRelease(view, W)


def test_an_answer_that_comes_too_late_is_not_shown(
    qtbot: QtBot, live: Live, view: FabricView, selection: Selection
) -> None:
    selection.select(["spine-1"])
    with qtbot.waitSignal(live.previewed):
        QTest.keyPress(view, W)
        QTest.keyRelease(view, W)
    assert view.preview.note == ""


def test_an_answer_for_what_is_left_is_not_shown(
    qtbot: QtBot, live: Live, view: FabricView, selection: Selection
) -> None:
    selection.point("leaf-2")
    with qtbot.waitSignal(live.previewed):
        QTest.keyPress(view, W)
        selection.point("")
    assert view.preview.note == "Point at a part, or select one, and hold W."
    QTest.keyRelease(view, W)


def test_a_key_that_repeats_asks_once(
    qtbot: QtBot, live: Live, view: FabricView, selection: Selection
) -> None:
    selection.select(["spine-1"])
    with qtbot.waitSignal(live.previewed):
        QTest.keyPress(view, W)
    for kind in (QEvent.Type.KeyRelease, QEvent.Type.KeyPress) * 3:
        event = QKeyEvent(kind, W, Qt.KeyboardModifier.NoModifier, "w", autorep=True)
        QApplication.sendEvent(view, event)
    assert view.preview.note == expected("spine-1")
    QTest.keyRelease(view, W)
    assert view.preview.note == ""


def test_it_ends_when_the_focus_goes_elsewhere(
    qtbot: QtBot, live: Live, view: FabricView, selection: Selection
) -> None:
    selection.select(["spine-1"])
    view.activateWindow()
    view.setFocus()
    with qtbot.waitSignal(live.previewed):
        QTest.keyPress(view, W)
    view.clearFocus()
    assert view.preview.note == ""


def test_with_nothing_to_ask_about_it_says_how(view: FabricView) -> None:
    QTest.keyPress(view, W)
    assert view.preview.note == "Point at a part, or select one, and hold W."
    QTest.keyRelease(view, W)
    QTest.keyPress(view, W, CTRL)
    assert view.preview.note == ""


def test_what_cannot_fail_says_why(view: FabricView, selection: Selection) -> None:
    selection.select(["gone-7"])
    QTest.keyPress(view, W)
    assert "gone" in view.preview.note
    assert "?" not in view.preview.note.split(";")[0]
    QTest.keyRelease(view, W)
