from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING
from unittest.mock import MagicMock

import pytest
from PySide6.QtCore import QObject, QTimer, Slot, qWarning

from gbviz.app import crash as module
from gbviz.app.crash import Crash, log_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


class Heard(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.crash = Crash()
        self.noticed: list[tuple[str, str]] = []
        self.crashed: list[tuple[str, str]] = []
        self.threads: set[threading.Thread] = set()
        self.crash.noticed.connect(self._noticed)
        self.crash.crashed.connect(self._crashed)

    @Slot(str, str)
    def _noticed(self, level: str, text: str) -> None:
        self.noticed.append((level, text))

    @Slot(str, str)
    def _crashed(self, sentence: str, trace: str) -> None:
        self.crashed.append((sentence, trace))
        self.threads.add(threading.current_thread())


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Who listens to exceptions in the place of pytest."""
    found = MagicMock()
    monkeypatch.setattr(sys, "excepthook", found.main)
    monkeypatch.setattr(threading, "excepthook", found.thread)
    return found


@pytest.fixture
def heard(qtbot: QtBot, before: MagicMock) -> Iterator[Heard]:
    log_file().unlink(missing_ok=True)
    found = Heard()
    found.crash.install()
    yield found
    found.crash.close()


def _fail() -> None:
    raise ZeroDivisionError("in a slot")


def _fail_as_listener() -> None:
    raise ValueError("in a listener")


def test_an_exception_in_a_slot_is_told_and_logged(
    heard: Heard, before: MagicMock, qtbot: QtBot
) -> None:
    QTimer.singleShot(0, _fail)
    qtbot.waitUntil(lambda: bool(heard.crashed))
    sentence, trace = heard.crashed[0]
    assert sentence.endswith("ZeroDivisionError: in a slot")
    assert "in _fail" in trace
    assert heard.noticed == [("error", sentence)]
    assert "in _fail" in log_file().read_text()
    before.main.assert_called_once()


def test_an_exception_in_a_thread_is_told_in_the_gui_thread(heard: Heard, qtbot: QtBot) -> None:
    thread = threading.Thread(target=_fail)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(heard.crashed))
    assert "ZeroDivisionError" in heard.crashed[0][0]
    assert heard.threads == {threading.main_thread()}


def test_what_qt_says_is_told(heard: Heard) -> None:
    qWarning("something odd")
    qWarning("This plugin does not support propagateSizeHints()")
    assert heard.noticed == [("warning", "Qt: something odd")]
    assert "WARNING Qt: something odd" in log_file().read_text()


def test_the_same_again_and_again_is_told_once(heard: Heard) -> None:
    for _ in range(50):
        qWarning("something odd")
    qWarning("something else")
    assert len(heard.noticed) == 2
    assert log_file().read_text().count("odd") == 1


def test_leaving_is_no_crash(heard: Heard, before: MagicMock) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert heard.crashed == []
    before.main.assert_called_once()


def test_a_listener_that_fails_itself_does_not_go_round(heard: Heard, qtbot: QtBot) -> None:
    heard.crash.noticed.connect(_fail_as_listener)
    QTimer.singleShot(0, _fail)
    qtbot.waitUntil(lambda: bool(heard.noticed))
    qtbot.wait(10)
    assert len(heard.crashed) == 1
    assert "in a listener" in log_file().read_text()


def test_close_puts_back_who_listened_before(qtbot: QtBot, before: MagicMock) -> None:
    crash = Crash()
    crash.install()
    assert sys.excepthook is not before.main
    crash.close()
    assert sys.excepthook is before.main
    assert threading.excepthook is before.thread


def test_the_log_is_turned_over(
    qtbot: QtBot, before: MagicMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LARGEST", 1000)
    crash = Crash()
    crash.install()
    for number in range(200):
        qWarning(f"message number {number}")
    crash.close()
    files = sorted(log_file().parent.glob("gbviz.log*"))
    assert [file.name for file in files] == [
        "gbviz.log",
        "gbviz.log.1",
        "gbviz.log.2",
        "gbviz.log.3",
    ]
    assert all(file.stat().st_size <= 1000 for file in files)


def test_without_a_log_file_it_is_told_all_the_same(
    qtbot: QtBot, before: MagicMock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    heard = Heard()
    heard.crash.install()
    qWarning("something odd")
    heard.crash.close()
    assert heard.noticed == [("warning", "Qt: something odd")]
