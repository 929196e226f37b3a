"""The whole window, used as people do: mouse and keys, files, undo, the answer it shows."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Literal

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from gbviz.app.toolbar import ToolBar
from gbviz.app.window import MainWindow
from gbviz.display.camera import CLOSEST
from gbviz.display.places import boxes_of
from gbviz.display.theme import LIGHT
from gbviz.jobs import traffic_job
from gbviz.report.document import document, to_json
from gbviz.scenario import preset
from gbviz.scenario.document import document as fields

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gbviz.app.canvas import Canvas
    from gbviz.display.layout import Layout
    from gbviz.topology.fabric import Floats

pytestmark = pytest.mark.usefixtures("nothing_left")

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


class Answers:
    """Answers of the user that a test decides, and what was asked."""

    def __init__(self) -> None:
        self.leave: Literal["save", "discard", "cancel"] = "discard"
        self.asked: list[str] = []
        self.told: list[tuple[str, str, str]] = []
        self.target: Path | None = None

    def problem(self, title: str, sentence: str, details: str) -> None:
        self.told.append((title, sentence, details))

    def unsaved(self, name: str) -> Literal["save", "discard", "cancel"]:
        self.asked.append(f"unsaved {name}")
        return self.leave

    def where(self, suggested: Path) -> Path | None:
        self.asked.append(f"where {suggested.name}")
        return self.target

    def changed_on_disk(self, path: Path) -> Literal["overwrite", "elsewhere", "cancel"]:
        self.asked.append(f"changed {path.name}")
        return "cancel"


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def window(
    qtbot: QtBot, answers: Answers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[MainWindow]:
    """A small cluster with traffic, painted."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr("gbviz.app.dialogs.Asking", lambda _: answers)
    made = MainWindow(preset("gb300-su").with_jobs(traffic_job("shift:72")))
    made.documents.problem.disconnect()
    made.documents.problem.connect(answers.problem)
    with qtbot.waitSignal(made.live.answered):
        made.resize(1600, 1000)
        made.show()
    QApplication.processEvents()
    yield made
    answers.leave = "discard"
    made.close()
    made.deleteLater()


def settle(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until the figures are those of the scenario."""
    qtbot.waitUntil(lambda: not window.live.is_stale)


def at(window: MainWindow, canvas: Canvas, name: str) -> QPoint:
    """Where the first box of a component has its middle on a canvas."""
    view = canvas.view()
    assert view is not None
    box: Floats = boxes_of(_layout(window), name, window.fabric.style_of_links)[0]
    x, y = view.to_device((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    return QPoint(round(x), round(y))


def _layout(window: MainWindow) -> Layout:
    found = window.fabric._layout
    assert found is not None
    return found


def click(window: MainWindow, name: str) -> None:
    QTest.mouseClick(window.fabric, LEFT, NONE, at(window, window.fabric, name))


def text_of(window: MainWindow) -> str:
    return json.dumps(fields(window.live.scenario))


@pytest.mark.parametrize("name", ["rack-5", "leaf-6", "leaf-3~spine-2"])
def test_a_click_and_f_break_what_is_clicked_and_r_mends_it(
    qtbot: QtBot, window: MainWindow, name: str
) -> None:
    before = text_of(window)
    click(window, name)
    assert window.selection.names == (name,)
    QTest.keyClick(window.fabric, Qt.Key.Key_F)
    settle(qtbot, window)
    assert window.live.answer is not None
    assert next(f.component for f in window.live.answer.snapshot.faults) == name
    assert window.panels.faults.tree.topLevelItemCount() == 1
    QTest.keyClick(window.fabric, Qt.Key.Key_R)
    settle(qtbot, window)
    assert window.live.answer.snapshot.faults == ()
    assert text_of(window) == before


KINDS = (
    "rack-1",
    "rack-1/tray-2",
    "rack-1/tray-2/gpu-3",
    "rack-1/tray-2/nic-0",
    "rack-1/tray-2/cpu-1",
    "rack-1/nvtray-4",
    "rack-1/nvswitch-17",
    "rack-1/feed-a",
    "rack-1/shelf-7",
    "leaf-7",
    "spine-3",
    "hxu-2",
    "loop-3",
    "leaf-0~spine-1",
    "leaf-0~spine-1#17",
    "leaf-0>spine-1#2",
    "rack-2/tray-0/nic-1~leaf-1",
    "rack-2/tray-0/gpu-1~rack-2/nvswitch-5",
    "leaf-0:73",
    "leaf-0/cage-37",
)


def test_every_kind_fails_and_undo_leads_back_to_the_same_bytes(
    qtbot: QtBot, window: MainWindow
) -> None:
    before = text_of(window)
    for name in KINDS:
        window.selection.select([name])
        window.actions_by_name["faults.fail"].trigger()
        settle(qtbot, window)
        assert window.live.session.undo_label == f"fail {name}"
        assert window.bar.actions()[3].text() == f"Undo: fail {name}"
        assert window.isWindowModified()
    for name in reversed(KINDS):
        assert window.live.session.undo_label == f"fail {name}"
        QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert text_of(window) == before
    assert not window.isWindowModified()
    for _ in KINDS:
        QTest.keyClick(window, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert len(window.live.scenario.events) == len(KINDS)


def test_degrading_is_one_step_while_the_slider_moves(qtbot: QtBot, window: MainWindow) -> None:
    window.selection.select(["leaf-0~spine-1"])
    QTest.keyClick(window.fabric, Qt.Key.Key_D)
    for value in (60, 70, 80):
        window.panels.inspector.factor.slider.setValue(value)
    settle(qtbot, window)
    assert window.live.session.at == 1
    assert window.live.scenario.events[0].action.factor == 0.8


def test_without_a_selection_f_makes_clicks_fail(qtbot: QtBot, window: MainWindow) -> None:
    QTest.keyClick(window.fabric, Qt.Key.Key_F)
    click(window, "rack-2")
    settle(qtbot, window)
    assert [e.action.selector for e in window.live.scenario.events] == ["rack-2"]
    QTest.keyClick(window, Qt.Key.Key_Escape)
    click(window, "rack-3")
    assert len(window.live.scenario.events) == 1


def test_the_numbers_are_those_of_the_command_line(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, answers: Answers
) -> None:
    for name in ("leaf-1", "rack-6/nvswitch-3"):
        window.live.fail([name])
    settle(qtbot, window)
    answers.target = tmp_path / "same.yaml"
    QTest.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert answers.target.exists()
    assert not window.isWindowModified()
    ran = subprocess.run(
        [sys.executable, "-m", "gbviz", "run", "--json", str(answers.target)],
        capture_output=True,
        check=True,
    )
    answer = window.live.answer
    assert answer is not None
    ours = json.loads(to_json(document(answer.snapshot)))
    theirs = json.loads(ran.stdout)
    assert ours["jobs"][0]["post"]["mean_GBps"] < ours["jobs"][0]["base"]["mean_GBps"]
    for part in ("fabric", "base", "post", "delta", "faults", "jobs", "cooling", "checks"):
        assert ours[part] == theirs[part], part


def test_a_broken_file_is_told_of_and_the_work_stays(
    qtbot: QtBot, window: MainWindow, answers: Answers, tmp_path: Path
) -> None:
    window.live.fail(["leaf-1"])
    settle(qtbot, window)
    before, bad = text_of(window), tmp_path / "bad.yaml"
    bad.write_text("gbviz: 1\ncluster: {preset: gb300}\nsede: 7\n")
    assert not window.documents.open(bad)
    assert len(answers.told) == 1
    assert "bad.yaml:2" in answers.told[0][2]
    assert "did you mean 'seed'" in answers.told[0][2]
    assert text_of(window) == before
    assert window.live.answer is not None
    assert window.isWindowModified()


def test_a_dropped_file_is_opened(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    file = tmp_path / "drop.yaml"
    file.write_text("gbviz: 1\nname: dropped\ncluster: {preset: gb300-su}\n")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file))])
    drop = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, mime, LEFT, NONE, QEvent.Type.Drop)
    with qtbot.waitSignal(window.live.answered):
        window.dropEvent(drop)
    assert window.live.scenario.name == "dropped"
    assert window.documents.path == file
    assert str(file) in window.remembered.settings.recent


def test_closing_with_unsaved_work_asks(qtbot: QtBot, window: MainWindow, answers: Answers) -> None:
    window.live.fail(["leaf-1"])
    settle(qtbot, window)
    answers.leave = "cancel"
    window.close()
    assert answers.asked == ["unsaved gb300-su"]
    assert window.isVisible()
    answers.leave = "discard"
    window.close()
    assert not window.isVisible()


def test_the_keyboard_alone_goes_everywhere(qtbot: QtBot, window: MainWindow) -> None:
    window.fabric.setFocus()
    QTest.keyClick(window.fabric, Qt.Key.Key_Right)
    assert window.selection.names == ("rack-0",)
    QTest.keyClick(window.fabric, Qt.Key.Key_Right)
    assert window.selection.names == ("rack-4",)
    QTest.keyClick(window.fabric, Qt.Key.Key_Return)
    assert window.tabs.currentWidget() is window.rack
    assert window.rack.rack == 4
    QTest.keyClick(window.rack, Qt.Key.Key_Down)
    assert window.selection.name.startswith("rack-4/tray-17")
    QTest.keyClick(window.rack, Qt.Key.Key_F)
    settle(qtbot, window)
    assert window.live.scenario.events[0].action.selector == window.selection.name
    QTest.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert window.tabs.currentWidget() is window.fabric
    QTest.keyClick(window.fabric, Qt.Key.Key_Escape)
    assert not window.selection.names


def test_ctrl_k_finds_parts_and_commands(qtbot: QtBot, window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(window.finder.line, "leaf-5")
    QTest.keyClick(window.finder.line, Qt.Key.Key_Return)
    assert window.selection.names == ("leaf-5",)
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(window.finder.line, "colour by health")
    QTest.keyClick(window.finder.line, Qt.Key.Key_Return)
    assert window.remembered.settings.colour_by == "health"
    assert window.bar.colour.currentText() == "Health"
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(window.finder.line, "rack-[0-3]")
    QTest.keyClick(window.finder.line, Qt.Key.Key_Return)
    assert len(window.selection.names) == 4


def test_keys_of_no_two_commands_are_the_same(window: MainWindow) -> None:
    keys = [key.toString() for _, action in window.actions_by_name for key in action.shortcuts()]
    assert sorted(keys) == sorted(set(keys))
    named = [command.text for command, _ in window.actions_by_name]
    assert all(named)


def test_a_failed_evaluation_keeps_the_last_picture(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = window.live.answer

    def refuse(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("gbviz.app.live.answer", refuse)
    with qtbot.waitSignal(window.live.failed) as said:
        window.live.fail(["leaf-1"])
    assert said.args is not None
    assert "not enough memory" in said.args[0]
    assert window.live.answer is good
    assert window.live.is_stale
    monkeypatch.undo()
    with qtbot.waitSignal(window.live.answered):
        window.live.undo()
    assert not window.live.is_stale


def test_jobs_light_up_and_their_bottleneck_is_shown(qtbot: QtBot, window: MainWindow) -> None:
    window.panels.jobs.view.selectRow(0)
    assert window.selection.job == "shift:72"
    assert window.fabric.look_of.job == "shift:72"
    QTest.keyClick(window.panels.jobs.view, Qt.Key.Key_Return)
    assert window.selection.names != ()


def test_a_saved_view_brings_back_what_was_seen(qtbot: QtBot, window: MainWindow) -> None:
    window.selection.select(["leaf-5"])
    window.fabric.zoom(4.0)
    camera = window.fabric.camera
    window.panels.views.keep("mine")
    window.fabric.fit()
    window.selection.clear()
    window.desk.look_as(window.remembered.settings.saved_views[0].state)
    assert window.fabric.camera == camera
    assert window.selection.names == ("leaf-5",)
    window.desk.look_as({"zoom": "far", "selected": [1], "colour_by": 3})
    assert window.fabric.camera == camera


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 10**400, True, "1", None])
@pytest.mark.parametrize("field", ["zoom", "x", "y"])
def test_a_damaged_view_is_no_camera(window: MainWindow, field: str, bad: object) -> None:
    window.desk.look_as({"zoom": 2.0, "x": 1.0, "y": 1.0} | {field: bad})
    camera = window.fabric.camera
    assert (camera.zoom, camera.x) == ((1.0, None) if field == "zoom" else (2.0, camera.x))
    assert not window.grab().isNull()


def test_a_damaged_zoom_is_held_to_what_there_is(window: MainWindow) -> None:
    window.desk.look_as({"zoom": 1e8, "x": 1.0, "y": 1.0})
    assert window.fabric.camera.zoom == CLOSEST


@pytest.mark.parametrize("larger", [1.0, 1.5])
@pytest.mark.parametrize("label", ["fail rack-30/tray-9/nic-1", "fail spine-3", "degrade it " * 9])
def test_a_long_step_fits_its_button(window: MainWindow, label: str, larger: float) -> None:
    window.remembered.change(font_scale=larger)
    [bar] = window.findChildren(ToolBar)
    wide = set()
    for said in (None, label):
        bar.name_steps(said, said)
        for action in bar.actions():
            button = bar.widgetForAction(action)
            if isinstance(button, QToolButton) and action.iconText().startswith(("Undo", "Redo")):
                # Else it would be shortened a second time, with a second gap.
                assert button.sizeHint().width() <= button.maximumWidth()
                wide.add(button.maximumWidth())
    # The buttons beside them must not move.
    assert len(wide) == 1
    window.remembered.change(font_scale=1.0)


def test_themes_and_sizes_hold_at_once(window: MainWindow) -> None:
    window.remembered.change(theme="light", font_scale=1.5)
    assert window.theme is LIGHT
    for canvas in (window.fabric, window.matrix, window.rack):
        assert canvas.look_of.theme is window.theme
    window.remembered.change(theme="dark", font_scale=1.0)
    assert window.fabric.look_of.theme.name == "dark"


def test_the_layout_is_remembered(qtbot: QtBot, window: MainWindow, answers: Answers) -> None:
    window.panels.docks["plots"].hide()
    window.close()
    again = MainWindow(window.live.scenario)
    try:
        again.show()
        assert again.panels.docks["plots"].isHidden()
        again.desk.reset_layout()
        assert not again.panels.docks["plots"].isHidden()
    finally:
        again.close()
        again.deleteLater()


def test_examples_open_without_their_file(qtbot: QtBot, window: MainWindow) -> None:
    with qtbot.waitSignal(window.live.answered):
        window.asks.open_demo()
    assert window.documents.path is None
    assert window.live.scenario.name == "Azure GB300 at work"
