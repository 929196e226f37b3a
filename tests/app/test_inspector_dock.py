from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyle, QStyleOptionSlider

from gbviz.app.inspector_dock import InspectorDock
from gbviz.display.theme import DARK, LIGHT
from tests.app.busy import answered, failed, opened

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def dock(qtbot: QtBot, live: Live, selection: Selection) -> InspectorDock:
    widget = InspectorDock(live, selection, DARK)
    qtbot.addWidget(widget)
    widget.resize(330, 620)
    widget.show()
    return widget


def shown(dock: InspectorDock) -> str:
    return dock.text.toPlainText().replace("\u00a0", " ")


def test_nothing_selected_shows_the_cluster(qtbot: QtBot, live: Live, dock: InspectorDock) -> None:
    assert "Computing" in shown(dock)
    answered(qtbot, live)
    assert "8 racks, 576 GPUs" in shown(dock)
    assert not dock.fail.isEnabled()
    assert not dock.factor.isEnabled()


def test_a_component_is_explained(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    opened(qtbot, live)
    selection.select(["rack-4/tray-0/nic-0"])
    assert "full: 100 %" in shown(dock)
    assert "100 GB/s mean load / 100 GB/s = 100 %" in shown(dock)
    failed(qtbot, live, "hxu-4")
    assert "rack-4/tray-0 < rack-4 < loop-4 < hxu-4" in shown(dock)
    dock.set_theme(LIGHT)
    assert LIGHT.failed in dock.text.toHtml()


def test_links_select_what_they_name(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    failed(qtbot, live, "hxu-4")
    selection.select(["rack-4/tray-0/gpu-0"])
    html = dock.text.toHtml()
    target = html.split(">hxu-4<")[0].rsplit('href="', 1)[1].split('"')[0]
    with qtbot.waitSignal(selection.reveal) as revealed:
        dock.text.anchorClicked.emit(QUrl(target))
    assert revealed.args == ["hxu-4"]
    assert selection.names == ("hxu-4",)


def test_several_things_are_counted_by_kind(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    answered(qtbot, live)
    selection.select(["leaf-0", "leaf-1", "leaf-0~spine-1#0"])
    assert "3 selected" in shown(dock)
    assert "2 leaves, 1 cable" in shown(dock)


def test_buttons_fail_and_repair(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    answered(qtbot, live)
    selection.select(["leaf-3"])
    with qtbot.waitSignal(live.answered):
        QTest.mouseClick(dock.fail, Qt.MouseButton.LeftButton)
    assert "It takes 288 links (both directions)" in shown(dock)
    with qtbot.waitSignal(live.answered):
        QTest.mouseClick(dock.repair, Qt.MouseButton.LeftButton)
    assert live.session.clean


def drag(dock: InspectorDock, *values: int) -> None:
    """Press the slider's handle, move it to values and let go."""
    slider = dock.factor.slider
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    control, part = QStyle.ComplexControl.CC_Slider, QStyle.SubControl.SC_SliderHandle
    handle = slider.style().subControlRect(control, option, part, slider)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=handle.center())
    for value in values:
        slider.setSliderPosition(value)
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(handle.center()))


def test_a_drag_is_one_step_and_the_next_is_another(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    answered(qtbot, live)
    selection.select(["leaf-0~spine-1#0"])
    with qtbot.waitSignal(live.answered):
        drag(dock, 80, 60, 40)
    labels = [step.label for step in live.session.steps[1:]]
    assert labels == ["degrade leaf-0~spine-1#0 to 40 %"]
    with qtbot.waitSignal(live.answered):
        drag(dock, 20)
    assert len(live.session.steps) == 3
    live.undo()
    with qtbot.waitSignal(live.answered):
        pass
    assert dock.factor.spin.value() == 40
    assert dock.factor.slider.value() == 40


def test_a_factor_can_be_typed(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    answered(qtbot, live)
    selection.select(["leaf-0~spine-1#0"])
    spin = dock.factor.spin
    spin.setFocus()
    spin.selectAll()
    with qtbot.waitSignal(live.answered):
        QTest.keyClicks(spin, "25")
        QTest.keyClick(spin, Qt.Key.Key_Return)
    assert live.session.undo_label == "degrade leaf-0~spine-1#0 to 25 %"
    assert "at 25 % of its rate" in shown(dock)


def test_what_cannot_be_degraded_has_no_slider(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    answered(qtbot, live)
    able = []
    for name in ("leaf-3", "hxu-1", "rack-0/tray-0/gpu-0", "rack-0", "leaf-0~spine-1"):
        selection.select([name])
        able.append(dock.factor.isEnabled())
    assert able == [False, True, True, False, True]


def test_a_ticket_has_what_is_selected(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    failed(qtbot, live, "leaf-3")
    selection.select(["leaf-3"])
    QTest.mouseClick(dock.copy, Qt.MouseButton.LeftButton)
    text = QGuiApplication.clipboard().text()
    assert text.startswith("Scenario: gb300-su")
    assert "\n\nleaf-3: failed\n" in text
    assert "Faults:\n  leaf-3 failed (down: 288 links" in text
    selection.clear()
    dock.copy_text()
    assert "\n\nWith leaf-3 failed" in QGuiApplication.clipboard().text()


def test_a_name_of_nothing_is_said_not_raised(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    answered(qtbot, live)
    selection.select(["leaf-999"])
    assert "no leaf-999" in shown(dock)


def test_a_job_that_is_selected_is_shown_and_copied(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    opened(qtbot, live)
    failed(qtbot, live, "leaf-3")
    selection.light("shift")
    assert "shift" in shown(dock)
    assert "GB/s a flow" in shown(dock)
    assert "4 racks, rack-4 to rack-7" in shown(dock)
    assert "limited by" in shown(dock)
    dock.copy_text()
    copied = QGuiApplication.clipboard().text()
    assert "Faults:\n  leaf-3 failed" in copied
    assert "\n  state: " in copied
    selection.select(["leaf-3"])
    selection.light("ring")
    assert shown(dock).index("ring") < shown(dock).index("leaf-3 has failed")


def test_only_what_does_something_is_offered(
    qtbot: QtBot, live: Live, dock: InspectorDock, selection: Selection
) -> None:
    answered(qtbot, live)
    selection.select(["leaf-3"])
    assert (dock.fail.isEnabled(), dock.repair.isEnabled()) == (True, False)
    assert "healthy" in dock.repair.toolTip()
    assert "a leaf cannot" in dock.factor.slider.toolTip()
    failed(qtbot, live, "leaf-3")
    assert (dock.fail.isEnabled(), dock.repair.isEnabled()) == (False, True)
    assert "failed already" in dock.fail.toolTip()
    selection.select(["leaf-3", "leaf-4"])
    assert (dock.fail.isEnabled(), dock.repair.isEnabled()) == (True, True)
