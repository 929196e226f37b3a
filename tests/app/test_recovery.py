from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING
from unittest.mock import MagicMock

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gbviz.app import leftovers as module
from gbviz.app.documents import Documents, Questions
from gbviz.app.leftovers import Lock, leftovers, packed, recovery_dir
from gbviz.app.recovery import Recovery, RecoveryDialog, offer
from gbviz.app.remembered import Remembered
from gbviz.app.settings import Settings
from gbviz.scenario import preset
from gbviz.scenario.file import read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

TEXT = "gbviz: 1 # one\nname: one\ncluster: {preset: gb300-su}\n"
BROKEN = preset("gb300-su").with_faults("spine-0")


class Desk:
    def __init__(self, live: Live) -> None:
        self.live = live
        self.questions = MagicMock(spec=Questions)
        self.remembered = Remembered()
        self.remembered.put(Settings())
        self.documents = Documents(live, self.remembered, self.questions)
        self.recovery = Recovery(live, self.documents, self.remembered, delay_ms=20)
        self.messages: list[tuple[str, str]] = []
        self.recovery.message.connect(lambda *what: self.messages.append(what))


@pytest.fixture
def desk(live: Live) -> Iterator[Desk]:
    for old in recovery_dir().glob("**/*.*"):
        old.unlink()
    found = Desk(live)
    yield found
    found.recovery.close()


def _kept() -> list[Path]:
    return sorted(recovery_dir().glob("*.json"))


def _retired() -> list[Path]:
    return sorted((recovery_dir() / "old").glob("*.json"))


def _leave(name: str = "1-0", original: Path | None = None) -> Path:
    """What a run that has crashed leaves."""
    recovery_dir().mkdir(parents=True, exist_ok=True)
    path = recovery_dir() / f"{name}.json"
    path.write_bytes(packed(BROKEN, original))
    return path


def test_a_change_is_kept_soon_and_forgotten_once_saved(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    assert _kept() == []
    desk.live.fail(["leaf-1"])
    qtbot.waitUntil(lambda: len(_kept()) == 1)
    assert _kept() == [desk.recovery.file]
    assert desk.documents.save_as(tmp_path / "one.yaml")
    assert _kept() == _retired() == []
    desk.live.fail(["leaf-2"])
    qtbot.waitUntil(lambda: len(_kept()) == 1)
    desk.live.undo()
    qtbot.waitUntil(lambda: _kept() == [])


def test_a_running_window_is_not_offered_its_own_work(desk: Desk) -> None:
    desk.live.fail(["leaf-1"])
    assert desk.recovery.write()
    assert desk.recovery.leftovers() == []
    assert len(_kept()) == 1


def test_without_autosave_nothing_is_written(desk: Desk) -> None:
    desk.remembered.change(autosave=False)
    desk.live.fail(["leaf-1"])
    assert not desk.recovery.write()
    assert _kept() == []


def test_two_windows_of_one_process_have_files_of_their_own(desk: Desk) -> None:
    other = Recovery(desk.live, desk.documents, desk.remembered)
    desk.live.fail(["leaf-1"])
    assert desk.recovery.write()
    assert other.write()
    assert len(_kept()) == 2
    other.close()


def test_work_that_was_given_up_is_kept_but_not_offered(desk: Desk) -> None:
    desk.live.fail(["leaf-1"])
    desk.recovery.close()
    assert (len(_kept()), len(_retired())) == (0, 1)
    assert list(recovery_dir().glob("*.lock")) == []
    assert desk.recovery.leftovers() == []


@pytest.mark.parametrize(("answer", "retired"), [("discard", 1), ("save", 0)])
def test_so_is_work_that_another_scenario_took_the_place_of(
    desk: Desk, tmp_path: Path, answer: str, retired: int
) -> None:
    desk.live.fail(["leaf-1"])
    assert desk.recovery.write()
    desk.questions.unsaved.return_value = answer
    desk.questions.where.return_value = tmp_path / "one.yaml"
    assert desk.documents.new_from_preset("gb300-su", racks=4)
    assert (len(_kept()), len(_retired())) == (0, retired)


def test_the_place_of_a_dead_run_is_not_taken(desk: Desk) -> None:
    mine = _leave(f"{os.getpid()}-0")
    before = mine.read_bytes()
    desk.live.fail(["leaf-1"])
    assert desk.recovery.write()
    assert mine.read_bytes() == before
    assert [one.path for one in desk.recovery.leftovers()] == [mine]


def test_what_was_recovered_has_no_file_but_its_comments(desk: Desk, tmp_path: Path) -> None:
    original = tmp_path / "one.yaml"
    original.write_text(TEXT)
    desk.documents.open(original)
    desk.live.fail(["leaf-1"])
    work = desk.live.scenario
    _leave().write_bytes(packed(work, original))
    desk.live.undo()
    desk.documents.new_from_preset("gb300-su")
    (found,) = desk.recovery.leftovers()
    assert found.scenario == work
    assert desk.recovery.restore(found)
    assert desk.documents.path is None
    assert desk.documents.unsaved
    assert _kept() == [desk.recovery.file], "the work of this run now"
    desk.questions.where.return_value = original
    assert desk.documents.save()
    assert desk.questions.where.call_args.args == (original,)
    assert "# one" in original.read_text()
    assert read(original) == work


def test_work_that_its_file_holds_is_not_offered(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(TEXT + "events: [{at: 0s, fail: spine-0}]\n")
    _leave("1-0").write_bytes(packed(read(file), file))
    assert desk.recovery.leftovers() == []
    assert _kept() == []
    file.write_text(TEXT)
    _leave("2-0").write_bytes(packed(BROKEN, file))
    assert len(desk.recovery.leftovers()) == 1


def test_an_older_date_of_the_recovery_file_hides_nothing(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    path = _leave(original=file)
    os.utime(path, (0, 0))
    file.write_text(TEXT)
    assert len(desk.recovery.leftovers()) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 50_000,
        b'{"gbviz_recovery": 1}',
        b'{"gbviz_recovery": 2, "when": 0, "text": null, "original": null, "document": {}}',
        b'{"gbviz_recovery": 1, "when": 0, "text": null, "original": 7, "document": {}}',
        b'{"gbviz_recovery": 1, "when": 0, "text": null, "original": null, "document": [1]}',
        b'{"gbviz_recovery": 1, "when": [], "text": null, "original": null, "document": {}}',
    ],
)
def test_a_corrupt_file_is_set_aside_and_hides_no_other(desk: Desk, data: bytes) -> None:
    _leave("1-0").write_bytes(data)
    good = _leave("2-0")
    assert [one.path for one in desk.recovery.leftovers()] == [good]
    aside = recovery_dir() / "1-0.json.bad"
    assert aside.read_bytes() == data
    assert [level for level, _ in desk.messages] == ["warning"]
    assert str(aside) in desk.messages[0][1]


def test_work_that_contradicts_itself_is_recovered_all_the_same(desk: Desk) -> None:
    path = _leave()
    fields = json.loads(path.read_bytes())
    fields["document"]["events"] = [{"at": "0s", "repair": "spine-0"}]
    path.write_text(json.dumps(fields))
    (found,) = desk.recovery.leftovers()
    assert found.scenario.events[0].verb == "repair"


def test_a_full_disk_is_told_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(desk.recovery, "_replace", full)
    desk.live.fail(["leaf-1"])
    assert not desk.recovery.write()
    assert not desk.recovery.write()
    assert len(desk.messages) == 1


def test_retired_work_goes_by_age_and_number(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 3)
    for number in range(5):
        module.retire(_leave(f"{number}-0"))
    leftovers()
    assert len(_retired()) == 3
    os.utime(_retired()[0], (0, 0))
    leftovers()
    assert len(_retired()) == 2


def test_two_windows_do_not_offer_the_same(desk: Desk) -> None:
    _leave()
    (first,) = desk.recovery.leftovers()
    # A lock is the open file's, so a second one in this process stands for another process.
    assert not Lock(first.lock.path).take()
    assert leftovers() == ([], [])
    first.later()
    (again,) = desk.recovery.leftovers()
    again.remove()
    assert _kept() == []


def test_restoring_asks_about_the_work_that_is_open(desk: Desk) -> None:
    _leave()
    desk.live.fail(["leaf-1"])
    mine = desk.live.scenario
    (found,) = desk.recovery.leftovers()
    desk.questions.unsaved.return_value = "cancel"
    assert not desk.recovery.restore(found)
    assert desk.live.scenario is mine
    assert found.path.exists()
    found.later()


def test_a_leftover_stays_until_its_work_is_kept_again(desk: Desk) -> None:
    _leave()
    desk.remembered.change(autosave=False)
    (found,) = desk.recovery.leftovers()
    assert desk.recovery.restore(found)
    assert found.path.exists()
    found.later()


def test_a_folder_that_cannot_be_written_is_told(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    desk.live.fail(["leaf-1"])
    assert not desk.recovery.write()
    assert "cannot be kept for recovery" in desk.messages[0][1]
    assert desk.recovery.leftovers() == []


@pytest.mark.usefixtures("nothing_left")
def test_the_dialog_restores_by_enter(desk: Desk, qtbot: QtBot) -> None:
    _leave("1-0")
    dialog = RecoveryDialog(desk.recovery.leftovers())
    qtbot.addWidget(dialog)
    dialog.show()
    with qtbot.waitSignal(dialog.restore) as caught:
        QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    assert caught.args is not None
    assert desk.recovery.restore(caught.args[0])
    assert desk.live.scenario == read("x.json", json.dumps(_document()).encode())
    assert not dialog.isVisible()


@pytest.mark.usefixtures("nothing_left")
def test_the_dialog_discards_one_by_one(desk: Desk, qtbot: QtBot) -> None:
    _leave("1-0")
    _leave("2-0")
    dialog = RecoveryDialog(desk.recovery.leftovers())
    qtbot.addWidget(dialog)
    dialog.discard.connect(lambda one: one.retire())
    dialog.show()
    QTest.mouseClick(dialog.discard_button, Qt.MouseButton.LeftButton)
    assert (dialog.isVisible(), len(_kept()), len(_retired())) == (True, 1, 1)
    QTest.mouseClick(dialog.discard_button, Qt.MouseButton.LeftButton)
    assert (dialog.isVisible(), len(_kept()), len(_retired())) == (False, 0, 2)


@pytest.mark.usefixtures("nothing_left")
def test_later_keeps_it_for_the_next_start(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(desk.recovery)  # nothing there, nothing shown
    _leave()

    def later(dialog: RecoveryDialog) -> int:
        dialog.show()
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        return 0

    monkeypatch.setattr(RecoveryDialog, "exec", later)
    offer(desk.recovery)
    assert len(desk.recovery.leftovers()) == 1


def _document() -> object:
    return json.loads(packed(BROKEN, None))["document"]


_CHILD = """
import sys
from unittest.mock import MagicMock
from PySide6.QtWidgets import QApplication
from gbviz.app.documents import Documents
from gbviz.app.live import Live
from gbviz.app.recovery import Recovery
from gbviz.app.remembered import Remembered
from gbviz.scenario import preset
app = QApplication([])
live = Live(preset("gb300-su"))
remembered = Remembered()
documents = Documents(live, remembered, MagicMock())
recovery = Recovery(live, documents, remembered, delay_ms=10)
number = 0
def edit():
    global number
    live.fail([f"rack-{number % 8}/tray-{number // 8 % 18}"])
    number += 1
    if recovery.file and recovery.file.exists():
        print(len(live.scenario.events), flush=True)
from PySide6.QtCore import QTimer
timer = QTimer()
timer.timeout.connect(edit)
timer.start(5)
app.exec()
"""


def test_after_a_kill_the_work_is_offered(desk: Desk) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert child.stdout is not None
    done = 0
    while done < 5:
        done = int(child.stdout.readline())
    assert desk.recovery.leftovers() == [], "it lives"
    time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    rest = child.stdout.read().split()
    child.wait()
    child.stdout.close()
    done = int(rest[-1]) if rest else done
    (found,) = desk.recovery.leftovers()
    # At most what came within the delay before the kill is lost.
    assert done - 8 <= len(found.scenario.events) <= done
    assert [event.verb for event in found.scenario.events[:2]] == ["fail", "fail"]
    found.remove()
    assert _kept() == []
