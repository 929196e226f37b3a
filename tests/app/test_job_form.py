from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from gbviz.app.job_form import JobForm
from gbviz.engine import edits
from gbviz.jobs.spec import CollectiveJob, TrafficSpec
from gbviz.scenario.demo import demo
from gbviz.scenario.file import read

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")


def _form(qtbot: QtBot, *args: object, **parts: object) -> JobForm:
    form = JobForm(*args, **parts)  # type: ignore[arg-type]
    qtbot.addWidget(form)
    form.show()
    return form


def _type(form: JobForm, key: tuple[str, ...], text: str) -> None:
    editor = form.page.boxes[key].editor
    editor.setFocus()
    QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(editor, text)


def test_a_new_job_is_typed_and_becomes_a_step(qtbot: QtBot, live: Live) -> None:
    form = _form(qtbot, live.scenario, kind="collective")
    form.finished_job.connect(
        lambda job, number: live.edit(partial(edits.put_job, job=job, number=number))
    )
    _type(form, ("size",), "2GB")
    _type(form, ("racks",), "rack-[0-1]")
    QTest.keyClick(form, Qt.Key.Key_Return)
    assert not form.isVisible()
    assert live.session.undo_label == "add job collective-1"
    job = live.scenario.jobs[0]
    assert isinstance(job, CollectiveJob)
    assert (job.name, job.size) == ("collective-1", 2e9)


def test_while_anything_is_wrong_there_is_no_ok_and_it_says_why(qtbot: QtBot) -> None:
    form = _form(qtbot, demo(), 0)
    assert form.ok.isEnabled()
    assert form.gpus.text() == "GPUs needed: 1,536, placed: 1,536"
    _type(form, ("parallelism", "tp"), "3")
    box = form.page.boxes["parallelism", "tp"]
    qtbot.waitUntil(lambda: box.fault.isVisible())
    assert "128 heads are not divisible" in box.fault.text()
    assert not form.ok.isEnabled()
    assert "ranks, but rack-[0-23]" in form.ok.toolTip()
    assert "128 heads are not divisible" in box.editor.accessibleDescription()
    form.accept()
    assert form.isVisible(), "Enter does not take what is wrong"
    _type(form, ("parallelism", "tp"), "2")
    qtbot.waitUntil(form.ok.isEnabled)
    assert not box.fault.isVisible()
    form.reject()


def test_free_racks_are_a_click_away(qtbot: QtBot) -> None:
    form = _form(qtbot, demo(), kind="traffic")
    _type(form, ("racks",), "rack-0")
    form.check_now()
    assert "already runs llama-405b" in form.page.boxes["racks",].fault.text()
    button = form.page.boxes["racks",].findChild(QToolButton)
    assert button is not None
    actions = button.menu().actions()
    assert [action.text() for action in actions] == [
        "Use 4 free racks: rack-[32-33,62-63]",
        "Use 2 free racks: rack-[32-33]",
        "Use 1 free rack: rack-32",
    ]
    actions[1].trigger()
    form.check_now()
    assert form.page.boxes["racks",].text() == "rack-[32-33]"
    assert form.job is not None
    form.reject()


def test_another_kind_keeps_where_the_job_runs(qtbot: QtBot) -> None:
    form = _form(qtbot, demo(), kind="collective")
    _type(form, ("racks",), "rack-62")
    form.kind_box.setFocus()
    QTest.keyClicks(form.kind_box, "tra")
    form.kind_box.setCurrentText("traffic")
    assert form.page.boxes["racks",].text() == "rack-62"
    assert form.name_edit.text() == "traffic-1"
    assert isinstance(form.job, TrafficSpec)
    form.reject()


def test_the_yaml_is_what_a_file_takes(qtbot: QtBot) -> None:
    form = _form(qtbot, demo(), 2)
    form.tabs.setCurrentIndex(1)
    QTest.mouseClick(form.copy, Qt.MouseButton.LeftButton)
    text = QGuiApplication.clipboard().text()
    found = read("x.yaml", f"gbviz: 1\ncluster: {{preset: azure-gb300}}\njobs:\n{text}".encode())
    assert found.jobs == (demo().jobs[2],)
    form.reject()


def test_a_fault_in_a_folded_field_unfolds_it(qtbot: QtBot) -> None:
    form = _form(qtbot, demo(), kind="collective")
    assert not form.page.more.isChecked()
    form.page.boxes["order",].set_text("tp")
    form.check_now()
    assert form.page.more.isChecked()
    assert form.page.boxes["order",].fault.isVisible()
    form.reject()


def test_a_mistake_is_said_once_at_its_field(qtbot: QtBot) -> None:
    form = _form(qtbot, demo(), 0)
    form.page.boxes["parallelism", "tp"].set_text("3")
    form.check_now()
    assert form.page.boxes["parallelism", "tp"].fault.isVisible()
    assert not form.fault.isVisible()
    form.page.boxes["parallelism", "tp"].set_text("2")
    form.page.boxes["racks",].set_text("-1")
    form.check_now()
    says = form.page.boxes["racks",].fault.text()
    assert "'-1' names no rack: write rack-0, rack-[0-63], or nothing for all" in says
    assert not form.fault.isVisible()
    form.reject()


def test_what_belongs_to_no_field_is_said_below(qtbot: QtBot) -> None:
    form = _form(qtbot, demo(), 1)
    form.page.boxes["racks",].set_text("rack-[24-34]")
    form.check_now()
    assert not any(box.fault.isVisible() for box in form.page.boxes.values())
    assert "job deepseek-v3.racks: rack-34/tray-0/gpu-0 already runs shuffle" in form.fault.text()
    assert form.fault.isVisible()
    form.reject()


def test_abbreviations_are_explained(qtbot: QtBot) -> None:
    form = _form(qtbot, demo(), 0)
    words = {"tp": "tensor", "cp": "context", "pp": "pipeline", "dp": "data", "ep": "expert"}
    for name, word in {**words, "vpp": "virtual pipeline"}.items():
        tip = form.page.boxes["parallelism", name].editor.toolTip()
        assert tip.startswith(word)
        assert f"parallelism.{name}" in tip
    zero = next(box for key, box in form.page.boxes.items() if key[-1] == "zero")
    assert zero.editor.toolTip().startswith("ZeRO: ")
    form.reject()
