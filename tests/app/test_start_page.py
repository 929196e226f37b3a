from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

import gbviz
from gbviz.app.start_page import HINTS, StartPage, about
from gbviz.assets import scenario_paths
from gbviz.engine import edits
from gbviz.jobs.impact import JobImpact
from gbviz.scenario.demo import demo
from gbviz.topology.presets import presets

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gbviz.app.pick_list import PickList

pytestmark = pytest.mark.usefixtures("nothing_left")


def _page(qtbot: QtBot, recent: list[str] | None = None) -> StartPage:
    page = StartPage(recent or [])
    qtbot.addWidget(page)
    page.resize(1044, 718)
    page.show()
    return page


def _click(of: PickList, row: int) -> None:
    at = of.visualItemRect(of.item(row)).center()
    QTest.mouseClick(of.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_a_preset_is_chosen_by_keys_alone(qtbot: QtBot) -> None:
    page = _page(qtbot)
    page.setFocus()
    qtbot.waitUntil(page.presets.hasFocus)
    QTest.keyClick(page.presets, Qt.Key.Key_Down)
    with qtbot.waitSignal(page.preset_chosen) as caught:
        QTest.keyClick(page.presets, Qt.Key.Key_Return)
    assert caught.args == ["gb300-su"]


def test_every_preset_and_example_is_there_with_words(qtbot: QtBot) -> None:
    page = _page(qtbot)
    assert page.presets.count() == len(presets())
    assert page.examples.count() == len(scenario_paths())
    for of in (page.presets, page.examples):
        for row in range(of.count()):
            assert of.item(row).text()
            assert of.item(row).data(Qt.ItemDataRole.AccessibleDescriptionRole)


def test_one_click_is_one_choice_and_so_is_a_double_click(qtbot: QtBot) -> None:
    page = _page(qtbot)
    chosen: list[str] = []
    page.example_chosen.connect(chosen.append)
    _click(page.examples, 1)
    assert chosen == [str(scenario_paths()[1])]
    at = page.examples.visualItemRect(page.examples.item(0)).center()
    QTest.mouseClick(page.examples.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseDClick(page.examples.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert len(chosen) == 2


def test_missing_recent_files_are_grey_and_cannot_be_chosen(qtbot: QtBot, tmp_path: Path) -> None:
    there = tmp_path / "a.yaml"
    there.touch()
    page = _page(qtbot, [str(there), str(tmp_path / "gone.yaml"), "bad\0name"])
    chosen: list[str] = []
    page.file_chosen.connect(chosen.append)
    for row in range(3):
        _click(page.recent, row)
    page.recent.setCurrentRow(1)
    QTest.keyClick(page.recent, Qt.Key.Key_Return)
    assert chosen == [str(there)]
    assert "missing" in page.recent.item(1).text()
    page.set_recent([])
    _click(page.recent, 0)
    assert chosen == [str(there)]


def test_open_and_demo_are_asked_for(qtbot: QtBot) -> None:
    page = _page(qtbot)
    with qtbot.waitSignals([page.open_wanted, page.demo_wanted]):
        QTest.mouseClick(page.open_button, Qt.MouseButton.LeftButton)
        QTest.mouseClick(page.demo_button, Qt.MouseButton.LeftButton)


def test_lists_are_no_higher_than_their_entries(qtbot: QtBot) -> None:
    page = _page(qtbot)
    qtbot.wait(10)
    of = page.presets
    last = of.visualItemRect(of.item(of.count() - 1))
    assert 0 <= of.viewport().height() - last.bottom() < 12
    few = page.recent.height()
    page.set_recent([f"/nowhere/{number}.yaml" for number in range(8)])
    qtbot.waitUntil(lambda: page.recent.height() > 3 * few)
    font = of.font()
    font.setPointSizeF(2 * font.pointSizeF())
    small = of.height()
    of.setFont(font)
    page.resize(1044, 2000)
    qtbot.waitUntil(lambda: of.height() > 1.5 * small)


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("# What?\n# Look at: the `x`.\ngbviz: 1\nname: Case\n", "Case", "The x."),
        ("gbviz: 1\nname: Case\ndescription: What it is.\n", "Case", "What it is."),
        ("# Only a comment.\ngbviz: 1\n", "one", "Only a comment."),
        ("gbviz: [", "one", ""),
    ],
)
def test_what_an_example_says_about_itself(tmp_path: Path, text: str, name: str, says: str) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(text)
    assert about(file) == (name, says)


def _slower(name: str) -> dict[str, float]:
    snapshot = gbviz.evaluate(edits.fail(demo(), [name]).scenario)
    found = [job for job in snapshot.jobs if isinstance(job, JobImpact)]
    return {job.name: job.slowdown or 0.0 for job in found if job.slowdown != 1}


def test_the_hints_are_true_of_the_demo() -> None:
    assert [key for key, _ in HINTS] == ["spine", "leaf", "cooling"]
    assert all(
        part in text
        for part, (_, text) in zip(("spine-3", "leaf-45", "hxu-9"), HINTS, strict=False)
    )
    assert _slower("spine-3") == {}
    assert list(_slower("leaf-45")) == ["deepseek-v3", "all-to-all"]
    assert list(_slower("hxu-9")) == ["llama-405b"]
