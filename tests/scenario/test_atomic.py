"""Whatever happens while a file is saved, the old or the new one is there."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gbviz.errors import InputError
from gbviz.scenario import atomic
from gbviz.scenario.atomic import save_atomic

if TYPE_CHECKING:
    from collections.abc import Callable

ATOMIC = Path(atomic.__file__)


def test_what_killed_saves_left_is_swept(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    old = tmp_path / f".a.yaml.{'0' * 16}.tmp"
    new = tmp_path / f".a.yaml.{'1' * 16}.tmp"
    other = tmp_path / f".b.yaml.{'0' * 16}.tmp"
    for one in (old, new, other):
        one.write_text("x")
    for one in (old, other):
        os.utime(one, (time.time() - 2 * 86400,) * 2)
    save_atomic(file, b"y")
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


CALLS = ("open", "write", "fsync", "fchmod", "link", "replace", "close", "stat")


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO, errno.EINTR]
)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("backup", [True, False])
def test_a_save_that_fails_anywhere_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, backup: bool
) -> None:
    """The N-th call fails, for every N, until a save goes through."""
    for nth in range(1, 20):
        file = tmp_path / f"{nth}.yaml"
        file.write_bytes(b"old")
        seen = _fail(monkeypatch, call, nth, number)
        told = _told(partial(save_atomic, file, b"new" * 1000, backup=backup))
        monkeypatch.undo()
        # What fails after the file is in its place is no failure.
        assert file.read_bytes() == (b"old" if told else b"new" * 1000)
        assert told is None or "cannot be saved" in told
        assert not list(tmp_path.glob(".*"))
        if seen() < nth:
            return
    raise AssertionError("no save ever went through")


def _told(act: Callable[[], object]) -> str | None:
    try:
        act()
    except InputError as error:
        return str(error)
    return None


def _fail(monkeypatch: pytest.MonkeyPatch, call: str, nth: int, number: int) -> Callable[[], int]:
    real = getattr(os, call)
    count = [0]

    def broken(*args: Any, **options: Any) -> Any:
        count[0] += 1
        if count[0] == nth:
            if call == "close":
                real(*args)
            raise OSError(number, os.strerror(number))
        return real(*args, **options)

    monkeypatch.setattr(os, call, broken)
    return lambda: count[0]


def test_short_writes_are_carried_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[:7]))
    save_atomic(tmp_path / "a.yaml", b"0123456789" * 10)
    assert (tmp_path / "a.yaml").read_bytes() == b"0123456789" * 10


def test_a_disk_without_links_gets_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"old")

    def no_links(*_: Any) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    kept = save_atomic(file, b"new")
    assert kept is not None
    assert (file.read_bytes(), kept.read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("kind", ["folder", "missing", "pipe", "circle"])
def test_places_that_cannot_be_written(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "missing":
        path = tmp_path / "none" / "a.yaml"
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("a.yaml")
    with pytest.raises(InputError):
        save_atomic(path, b"x")
    assert [one for one in tmp_path.iterdir() if one.name.startswith(".")] == []


CHILD = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("atomic", sys.argv[1])
atomic = importlib.util.module_from_spec(spec)
spec.loader.exec_module(atomic)
texts = [b"A" * 300_000, b"B" * 200_000]
print("ready", flush=True)
number = 0
while True:
    number += 1
    atomic.save_atomic(sys.argv[2], texts[number % 2], backup=number % 3 == 0)
"""


def test_killed_while_saving(tmp_path: Path) -> None:
    """30 kills at random moments: the file holds one of the two texts, whole."""
    file = tmp_path / "a.yaml"
    whole = {b"A" * 300_000, b"B" * 200_000}
    file.write_bytes(b"A" * 300_000)
    rng = random.Random(7)
    for _ in range(30):
        command = [sys.executable, "-c", CHILD, str(ATOMIC), str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(rng.random() * 0.03)
            child.kill()
        assert file.read_bytes() in whole
        kept = file.with_name("a.yaml~")
        assert not kept.exists() or kept.read_bytes() in whole
