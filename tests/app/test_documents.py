from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import MagicMock

import pytest
from PySide6.QtCore import QMimeData, QUrl

from gbviz.app.documents import Documents, Questions
from gbviz.app.remembered import Remembered
from gbviz.app.settings import Settings, load
from gbviz.assets import scenario_paths
from gbviz.scenario.document import document
from gbviz.scenario.file import read

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

TEXT = """\
# What does it cost?
gbviz: 1
name: one
cluster: {preset: gb300-su}  # eight racks
events:
  - {at: 1min, fail: spine-0}  # the first
"""


class Desk:
    """Documents, with a user who answers, and what they have said."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.questions = MagicMock(spec=Questions)
        self.remembered = Remembered()
        self.remembered.put(Settings())
        self.documents = Documents(live, self.remembered, self.questions)
        self.titles: list[str] = []
        self.messages: list[tuple[str, str]] = []
        self.problems: list[tuple[str, str, str]] = []
        self.documents.titled.connect(self.titles.append)
        self.documents.message.connect(lambda *what: self.messages.append(what))
        self.documents.problem.connect(lambda *what: self.problems.append(what))

    # Calls, since mypy takes a property for what it was when it was looked at last.
    def unsaved(self) -> bool:
        return self.documents.unsaved

    def changed(self) -> bool:
        return self.documents.changed_on_disk


@pytest.fixture
def desk(live: Live) -> Desk:
    return Desk(live)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "one.yaml"
    found.write_text(TEXT)
    return found


def test_open_edit_save_keeps_comments_and_says_what_is_unsaved(desk: Desk, file: Path) -> None:
    assert desk.documents.open(file)
    assert desk.titles[-1] == "one.yaml[*] - gbviz"
    assert not desk.unsaved()
    desk.live.fail(["leaf-1"])
    assert desk.unsaved()
    assert desk.documents.save()
    assert not desk.unsaved()
    text = file.read_text()
    assert "# What does it cost?" in text
    assert "# the first" in text
    assert document(read(file)) == document(desk.live.scenario)
    assert (file.parent / "one.yaml~").read_text() == TEXT
    desk.live.undo()
    assert desk.unsaved()
    assert desk.documents.save()
    assert file.read_text() == TEXT, "undone and saved again it is the byte-same file"
    desk.questions.assert_not_called()


def test_saving_elsewhere_keeps_comments_and_goes_on_there(desk: Desk, file: Path) -> None:
    desk.documents.open(file)
    desk.live.fail(["leaf-1"])
    desk.questions.where.return_value = other = file.with_name("other")
    assert desk.documents.save_as()
    other = other.with_name("other.yaml")
    assert desk.documents.path == other
    assert "# eight racks" in other.read_text()
    assert file.read_text() == TEXT
    desk.live.fail(["leaf-2"])
    assert desk.documents.save()
    assert "leaf-2" in other.read_text()
    assert list(load()[0].recent) == [str(other), str(file)]


def test_a_new_scenario_asks_where_to_and_cancel_saves_nothing(desk: Desk, tmp_path: Path) -> None:
    assert desk.documents.new_from_preset("gb300-su", racks=4)
    assert desk.titles[-1] == "gb300-su (new)[*] - gbviz"
    assert desk.live.scenario.cluster.racks == 4
    assert not desk.unsaved(), "there is nothing to lose yet"
    desk.questions.where.return_value = None
    assert not desk.documents.save()
    desk.questions.where.return_value = tmp_path / "new.json"
    assert desk.documents.save()
    assert read(tmp_path / "new.json") == desk.live.scenario
    suggested = desk.questions.where.call_args.args[0]
    assert suggested.name == "gb300-su.yaml"


def test_a_preset_that_cannot_be_is_a_problem_and_changes_nothing(desk: Desk) -> None:
    before = desk.live.scenario
    assert not desk.documents.new_from_preset("gb300-su", racks=0)
    assert "racks must be at least 1" in desk.problems[0][1]
    assert desk.live.scenario is before


def test_a_broken_file_shows_all_faults_and_the_old_work_stays(desk: Desk, file: Path) -> None:
    desk.documents.open(file)
    desk.live.fail(["leaf-1"])
    steps, scenario = desk.live.session.steps, desk.live.scenario
    broken = file.with_name("broken.yaml")
    broken.write_text("gbviz: 1\ncluster: {preset: gb300}\nsede: 7\n")
    assert not desk.documents.open(broken)
    title, sentence, details = desk.problems[0]
    assert "cannot be opened" in title
    assert sentence.startswith("broken.yaml:2: cluster.preset: ")
    assert "? It has 1 more fault. The scenario that was open is unchanged." in sentence
    assert f"{broken}:2:19: cluster.preset" in details
    assert f"{broken}:3:1: sede" in details
    assert desk.live.scenario is scenario
    assert desk.live.session.steps == steps
    assert desk.documents.path == file
    desk.questions.unsaved.assert_not_called()
    assert desk.remembered.settings.recent == (str(file),)


@pytest.mark.parametrize("what", ["missing.yaml", ".", "text.txt", "bytes.yaml"])
def test_what_is_no_scenario_is_a_problem(desk: Desk, tmp_path: Path, what: str) -> None:
    (tmp_path / "text.txt").write_text("gbviz: 1")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\x00")
    assert not desk.documents.open(tmp_path / what)
    assert len(desk.problems) == 1


@pytest.mark.parametrize(
    ("answer", "left", "saved"),
    [("cancel", False, False), ("discard", True, False), ("save", True, True)],
)
def test_unsaved_work_is_asked_about(
    desk: Desk, file: Path, answer: str, left: bool, saved: bool
) -> None:
    desk.documents.open(file)
    desk.live.fail(["leaf-1"])
    desk.questions.unsaved.return_value = answer
    assert desk.documents.new_from_preset("gb300-su") is left
    desk.questions.unsaved.assert_called_once_with("one.yaml")
    assert (desk.documents.path is None) is left
    assert ("leaf-1" in file.read_text()) is saved


def test_leaving_fails_where_saving_fails(desk: Desk, file: Path) -> None:
    desk.documents.open(file)
    desk.live.fail(["leaf-1"])
    file.unlink()
    file.mkdir()
    desk.questions.unsaved.return_value = "save"
    desk.questions.changed_on_disk.return_value = "overwrite"
    assert not desk.documents.can_leave()
    assert "not saved" in desk.problems[0][0]
    assert desk.unsaved()


@pytest.mark.parametrize("answer", ["cancel", "overwrite", "elsewhere"])
def test_a_file_that_others_changed_is_not_overwritten_unasked(
    desk: Desk, file: Path, answer: str
) -> None:
    desk.documents.open(file)
    assert not desk.changed()
    theirs = TEXT.replace("spine-0", "spine-3")
    file.write_text(theirs)
    assert desk.changed()
    desk.live.fail(["leaf-1"])
    desk.questions.changed_on_disk.return_value = answer
    desk.questions.where.return_value = file.with_name("mine.yaml")
    assert desk.documents.save() is (answer != "cancel")
    assert (file.read_text() == theirs) is (answer != "overwrite")
    if answer == "overwrite":
        assert read(file) == desk.live.scenario
        assert not desk.changed()


def test_a_touched_file_is_not_a_changed_one(desk: Desk, file: Path) -> None:
    desk.documents.open(file)
    file.write_text(TEXT)
    assert not desk.changed()
    file.unlink()
    desk.live.fail(["leaf-1"])
    assert desk.documents.save(), "what is gone is written anew"
    assert read(file) == desk.live.scenario


def test_revert_is_a_step_that_can_be_undone(desk: Desk, file: Path) -> None:
    desk.documents.open(file)
    desk.live.fail(["leaf-1"])
    mine = desk.live.scenario
    assert desk.documents.revert()
    assert not desk.unsaved()
    assert desk.live.session.undo_label == "revert to one.yaml"
    desk.live.undo()
    assert desk.live.scenario == mine
    assert desk.unsaved()


def test_revert_to_another_cluster_opens_it(desk: Desk, file: Path, qtbot: QtBot) -> None:
    desk.documents.open(file)
    file.write_text(TEXT.replace("preset: gb300-su", "preset: gb300-su, racks: 4"))
    with qtbot.waitSignal(desk.live.opened):
        assert desk.documents.revert()
    assert desk.live.scenario.cluster.racks == 4
    assert not desk.unsaved()


def test_revert_needs_a_file_that_can_be_read(desk: Desk, file: Path) -> None:
    assert not desk.documents.revert()
    desk.documents.open(file)
    desk.live.fail(["leaf-1"])
    mine = desk.live.scenario
    file.write_text("gbviz: 7\n")
    assert not desk.documents.revert()
    assert len(desk.problems) == 1
    assert desk.live.scenario is mine
    file.write_text(TEXT.replace("preset: gb300-su", "preset: gb300-su, racks: 4"))
    desk.questions.unsaved.return_value = "cancel"
    assert not desk.documents.revert()
    assert desk.live.scenario is mine


def test_very_many_faults_are_counted(desk: Desk, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    rows = "\n".join(f"  - {{at: {n}s, fail: nothing-{n}}}" for n in range(300))
    broken.write_text(f"gbviz: 1\ncluster: {{preset: gb300-su}}\nevents:\n{rows}\n")
    assert not desk.documents.open(broken)
    assert "It has at least 200 more faults." in desk.problems[0][1]
    assert desk.problems[0][2].endswith("and at least 1 more")
    assert desk.problems[0][2].count("\n") == 200


def test_an_example_is_opened_without_its_file(desk: Desk, tmp_path: Path) -> None:
    path = next(one for one in scenario_paths() if one.stem == "one-nvlink")
    assert desk.documents.open(path, example=True)
    assert desk.documents.path is None
    assert desk.remembered.settings.recent == ()
    desk.questions.where.return_value = mine = tmp_path / "mine.yaml"
    assert desk.documents.save()
    assert desk.questions.where.call_args.args[0].name == "one-nvlink.yaml"
    assert mine.read_text().startswith("# One NVLink")


def test_an_example_that_extends_another_can_be_saved_elsewhere(desk: Desk, tmp_path: Path) -> None:
    path = next(one for one in scenario_paths() if one.stem == "degraded-transceiver-adaptive")
    assert "extends" in path.read_text()
    assert desk.documents.open(path, example=True)
    assert desk.documents.save_as(tmp_path / "mine.yaml")
    assert read(tmp_path / "mine.yaml") == desk.live.scenario


def test_comments_that_could_not_be_kept_are_told(desk: Desk, file: Path) -> None:
    desk.documents.open(file)
    file.write_text("# mine\ngbviz: [\n")
    desk.live.fail(["leaf-1"])
    desk.questions.changed_on_disk.return_value = "overwrite"
    assert desk.documents.save()
    assert [text for level, text in desk.messages if level == "warning"] != []
    assert read(file) == desk.live.scenario


def test_settings_that_cannot_be_kept_hold_all_the_same(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    desk.remembered.change(theme="light")
    assert desk.remembered.settings.theme == "light"
    assert "the settings are not kept" in desk.remembered.note


def test_one_scenario_file_can_be_dropped(desk: Desk, file: Path) -> None:
    mime = QMimeData()
    assert not desk.documents.accepts(mime)
    mime.setUrls([QUrl.fromLocalFile(str(file))])
    assert desk.documents.dropped(mime) == file
    mime.setUrls([QUrl.fromLocalFile(str(file.with_suffix(".png")))])
    assert not desk.documents.accepts(mime)
    mime.setUrls([QUrl("https://example.org/one.yaml")])
    assert not desk.documents.accepts(mime)
    mime.setUrls([QUrl.fromLocalFile(str(file))] * 2)
    assert not desk.documents.accepts(mime)
