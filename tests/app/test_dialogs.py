from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMessageBox, QScrollArea

from gbviz import __version__
from gbviz.app.dialogs import AboutDialog, Asking, Preferences, ProblemDialog, ShortcutSheet
from gbviz.app.preset_dialog import PresetDialog
from gbviz.app.settings import Settings
from gbviz.topology.presets import presets

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gbviz.app.documents import Questions

pytestmark = pytest.mark.usefixtures("nothing_left")
LEFT = Qt.MouseButton.LeftButton


def test_about_copies_the_versions(qtbot: QtBot) -> None:
    dialog = AboutDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    QTest.mouseClick(dialog.copy, LEFT)
    text = QGuiApplication.clipboard().text()
    assert f"gbviz: {__version__}\n" in text
    assert all(f"\n{name}: " in text for name in ("Python", "Qt", "PySide6", "NumPy", "Platform"))
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_a_problem_unfolds_and_its_report_holds_all(qtbot: QtBot) -> None:
    dialog = ProblemDialog("Cannot open", "It has <b>2</b> faults.", "a.yaml:1:1: x\na.yaml:2:1: y")
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.text.isVisible()
    assert dialog.details is not None
    QTest.mouseClick(dialog.details, LEFT)
    assert dialog.text.isVisible()
    QTest.mouseClick(dialog.copy, LEFT)
    text = QGuiApplication.clipboard().text()
    for part in (
        "Cannot open",
        "It has <b>2</b> faults.",
        "a.yaml:2:1: y",
        f"gbviz: {__version__}",
    ):
        assert part in text
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert not dialog.isVisible(), "Enter closes"


def test_the_sheet_shows_every_row_under_its_group(qtbot: QtBot) -> None:
    rows = [("File", "&Open", "Ctrl+O"), ("Break", "&Fail", "F"), ("File", "&Save", "Ctrl+S")]
    sheet = ShortcutSheet(rows)
    qtbot.addWidget(sheet)
    sheet.show()
    texts = [label.text() for label in sheet.findChildren(QLabel)]
    for text in ("File", "Break", "Open", "Fail", "Save", "Ctrl+O", "F", "Ctrl+S"):
        assert texts.count(text) == 1
    sheet.reject()


def test_the_sheet_needs_no_scrolling_sideways(qtbot: QtBot) -> None:
    keys = "Ctrl+Arrows, middle button, Alt+drag, Shift+wheel"
    rows = [("map and rack", "Pan the view that is shown, whichever that is", keys)]
    sheet = ShortcutSheet(rows)
    qtbot.addWidget(sheet)
    sheet.show()
    assert "Map and rack" in [label.text() for label in sheet.findChildren(QLabel)]
    scroll = sheet.findChild(QScrollArea)
    assert scroll is not None
    inner = scroll.widget()
    assert inner is not None
    assert inner.width() <= scroll.viewport().width()
    assert inner.minimumSizeHint().width() <= scroll.viewport().width()
    sheet.reject()


def test_preferences_hold_at_once_and_can_be_reset(qtbot: QtBot) -> None:
    before = Settings(recent=("/a.yaml",))
    dialog = Preferences(before)
    qtbot.addWidget(dialog)
    dialog.show()
    heard: list[Settings] = []
    dialog.changed.connect(heard.append)
    dialog.theme.setFocus()
    QTest.keyClicks(dialog.theme, "l")
    QTest.keyClick(dialog.font_scale, Qt.Key.Key_Up)
    dialog.ramp.setCurrentIndex(1)
    QTest.keyClick(dialog.motion, Qt.Key.Key_Space)
    QTest.keyClick(dialog.autosave, Qt.Key.Key_Space)
    assert [one.theme for one in heard] == ["light"] * 5
    wanted = Settings("light", 1.1, "cividis", reduced_motion=True, autosave=False)
    assert heard[-1] == Settings(
        wanted.theme,
        wanted.font_scale,
        wanted.ramp,
        reduced_motion=True,
        autosave=False,
        recent=("/a.yaml",),
    )
    dialog._reset()
    assert heard[-1] == before
    dialog.reject()


@pytest.mark.parametrize("preset", presets())
def test_every_preset_can_be_taken_as_it_is(qtbot: QtBot, preset: str) -> None:
    dialog = PresetDialog(preset)
    qtbot.addWidget(dialog)
    dialog.show()
    with qtbot.waitSignal(dialog.chosen) as caught:
        QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert caught.args == [preset, {}]


def test_sizes_are_checked_while_they_are_typed(qtbot: QtBot) -> None:
    dialog = PresetDialog("azure-gb300")
    qtbot.addWidget(dialog)
    dialog.show()
    for text, says in (("0", "at least 1"), ("x", "whole number"), ("99999", "more than this")):
        dialog.racks.clear()
        QTest.keyClicks(dialog.racks, text)
        assert not dialog.ok.isEnabled()
        assert says in dialog.fault.text()
        dialog.accept()
        assert dialog.isVisible()
    dialog.racks.clear()
    QTest.keyClicks(dialog.racks, "1,000")
    assert dialog.ok.isEnabled()
    assert dialog.counts.text() == "1,000 racks, 72,000 GPUs"
    dialog.racks.setText("8")
    dialog.over.setCurrentIndex(1)
    dialog.cooling.setCurrentIndex(2)
    with qtbot.waitSignal(dialog.chosen) as caught:
        dialog.accept()
    assert caught.args == [
        "azure-gb300",
        {"racks": 8, "cooling": {"kind": "cdu"}, "uplinks_per_leaf": 36},
    ]


def _answer(act: Callable[[QMessageBox], None]) -> None:
    def later() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        act(box)

    QTimer.singleShot(0, later)


@pytest.mark.parametrize(
    ("key", "answer"),
    [(Qt.Key.Key_Return, "save"), (Qt.Key.Key_Escape, "cancel")],
)
def test_unsaved_work_is_saved_by_enter_and_kept_by_escape(
    qtbot: QtBot, key: Qt.Key, answer: str
) -> None:
    _answer(lambda box: QTest.keyClick(box, key))
    assert Asking().unsaved("one.yaml") == answer


def test_discarding_takes_a_click(qtbot: QtBot) -> None:
    kind = QMessageBox.StandardButton.Discard
    _answer(lambda box: QTest.mouseClick(box.button(kind), LEFT))
    assert Asking().unsaved("one.yaml") == "discard"


@pytest.mark.parametrize(("text", "answer"), [("&Overwrite", "overwrite"), ("", "elsewhere")])
def test_a_changed_file_is_overwritten_by_a_click_alone(
    qtbot: QtBot, text: str, answer: str
) -> None:
    def act(box: QMessageBox) -> None:
        for button in box.buttons():
            if text and button.text() == text:
                QTest.mouseClick(button, LEFT)
                return
        QTest.keyClick(box, Qt.Key.Key_Return)

    _answer(act)
    assert Asking().changed_on_disk(Path("/tmp/one.yaml")) == answer


def test_no_file_is_none(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/tmp/a.yaml", ""))
    questions: Questions = Asking()
    assert questions.where(Path("/tmp/one.yaml")) is None
    assert Asking().open_where(Path("/tmp")) == Path("/tmp/a.yaml")
