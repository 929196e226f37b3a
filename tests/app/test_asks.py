"""What the window writes for people, and asks them: reports, name and description."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gbviz.app.name_dialog import NameDialog
from gbviz.app.window import MainWindow
from gbviz.report.page import report_page
from gbviz.report.seen import answer_of
from gbviz.scenario import preset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def window(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MainWindow]:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    made = MainWindow(preset("gb300-su").with_faults("leaf-3"))
    monkeypatch.setattr(made.documents, "can_leave", lambda: True)
    with qtbot.waitSignal(made.live.answered):
        made.show()
    yield made
    made.close()
    made.deleteLater()


@pytest.mark.parametrize("name", ["mine.html", "mine"])
def test_the_report_of_the_window_is_that_of_the_command_line(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, name: str
) -> None:
    window.asks.export_report(tmp_path / name)
    path = tmp_path / "mine.html"
    qtbot.waitUntil(path.exists, timeout=30_000)
    assert path.read_text() == report_page(*answer_of(window.live.scenario), alone=True)


def test_a_report_that_cannot_be_written_is_told(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(window.asks, "tell_problem", lambda *words: told.append(words[1]))
    window.asks.export_report(tmp_path / "none/mine.html")
    qtbot.waitUntil(lambda: bool(told), timeout=30_000)
    assert "cannot be saved" in told[0]


def test_name_and_description_are_one_step_to_undo(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(dialog: NameDialog) -> int:
        dialog.name.setText("Leaf 3, tonight")
        dialog.description.setPlainText("Two lines\nof it")
        dialog.accept()
        return 1

    monkeypatch.setattr(NameDialog, "exec", fill)
    before = window.live.scenario
    window.asks.ask_name()
    now = window.live.scenario
    assert (now.name, now.description) == ("Leaf 3, tonight", "Two lines\nof it")
    window.live.undo()
    assert window.live.scenario == before


def test_a_scenario_has_a_name(qtbot: QtBot) -> None:
    dialog = NameDialog("a", "")
    qtbot.addWidget(dialog)
    dialog.name.setText("  ")
    assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()
