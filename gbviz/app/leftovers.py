"""Recovery files: what one holds, whose it is, and which are left over from a crash."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gbviz.app.settings import state_dir
from gbviz.errors import GbvizError, ScenarioError
from gbviz.scenario.document import document
from gbviz.scenario.extends import read_chain
from gbviz.scenario.file import read, unchecked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.scenario import Scenario

FORMAT = 1
MOST_KEPT, KEPT_DAYS = 20, 30.0
_MOST_BYTES = 128 * 2**20

if sys.platform == "win32":
    import msvcrt

    def _locked(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _locked(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


class Lock:
    """Held by the process that a recovery file belongs to; the system lets go when it dies.

    Process numbers would not do: they are used again, and every container begins at 1.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def take(self) -> bool:
        """Whether the lock is ours now."""
        if self._handle is not None:
            return True
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        try:
            handle = os.open(self.path, flags, 0o600)
        except OSError:
            return False
        if not _locked(handle):
            os.close(handle)
            return False
        self._handle = handle
        return True

    def release(self, *, remove: bool = False) -> None:
        """Let go, and remove the file if nobody is to hold it again."""
        if remove and self._handle is not None:
            with contextlib.suppress(OSError):
                self.path.unlink()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


@dataclass(frozen=True, slots=True, eq=False)
class Leftover:
    """Unsaved work of a run that ended without a goodbye.

    `original` is the file that it came from, None for none; `when` seconds since 1970; `lock` is
    ours, so that no second window offers the same.
    """

    path: Path
    scenario: Scenario
    original: Path | None
    when: float
    lock: Lock

    def remove(self) -> None:
        """Forget it: it has become the work of this run."""
        with contextlib.suppress(OSError):
            self.path.unlink()
        self.lock.release(remove=True)

    def retire(self) -> None:
        """Offer it no more; the file is kept for a month."""
        retire(self.path)
        self.lock.release(remove=True)

    def later(self) -> None:
        """Leave it for the next start."""
        self.lock.release()


def recovery_dir() -> Path:
    """The folder of recovery files."""
    return state_dir() / "recovery"


def packed(scenario: Scenario, original: Path | None) -> bytes:
    """What a recovery file holds.

    Raises
    ------
    ValueError
        The scenario holds what JSON cannot.
    """
    fields = {
        "gbviz_recovery": FORMAT,
        "when": time.time(),
        "pid": os.getpid(),
        "original": None if original is None else str(original),
        "text": scenario.text,
        "document": document(scenario),
    }
    return json.dumps(fields).encode()


def leftovers() -> tuple[list[Leftover], list[str]]:
    """What dead runs have left, the latest first, and what the user should know.

    Work that its file holds by now is forgotten; a file that cannot be understood is set aside.
    """
    found, notes = [], []
    for path in _entries():
        lock = Lock(path.with_suffix(".lock"))
        if not lock.take():
            continue
        try:
            one = _unpacked(path, lock)
        except (GbvizError, OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            notes.append(_set_aside(path, error))
            lock.release(remove=True)
            continue
        if _holds(one):
            one.remove()
        else:
            found.append(one)
    _sweep()
    return sorted(found, key=lambda one: -one.when), notes


def retire(path: Path) -> None:
    """Move a recovery file to those that are kept for a month and offered no more."""
    kept = recovery_dir() / "old"
    with contextlib.suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
        path.replace(kept / f"{int(time.time() * 1000)}-{path.name}")


def _entries() -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from sorted(recovery_dir().glob("*.json"))


def _unpacked(path: Path, lock: Lock) -> Leftover:
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError("is too large")
    fields: dict[str, Any] = json.loads(path.read_bytes())
    if fields["gbviz_recovery"] != FORMAT:
        raise ValueError("was made by another version")
    text, original, when = fields["text"], fields["original"], float(fields["when"])
    if not isinstance(text, str | None) or not isinstance(original, str | None):
        raise TypeError("has a field of another type")
    data = json.dumps(fields["document"]).encode()
    try:
        scenario = read("recovered.json", data)
    except ScenarioError:
        # Work is not lost because something in it contradicts itself.
        scenario = unchecked(read_chain("recovered.json", data))
    origin = None if original is None else Path(original)
    # For the comments alone: the work has no file until the user names one.
    scenario = replace(scenario, path=origin, text=text)
    return Leftover(path, scenario, origin, when, lock)


def _holds(one: Leftover) -> bool:
    """Whether the original file says what was recovered."""
    if one.original is None:
        return False
    try:
        return document(read(one.original)) == document(one.scenario)
    except GbvizError:
        return False


def _set_aside(path: Path, error: Exception) -> str:
    aside = path.with_name(f"{path.name}.bad")
    with contextlib.suppress(OSError):
        path.replace(aside)
    why = str(error).partition("\n")[0]
    return f"unsaved work could not be recovered ({why}); it is kept as {aside}"


def _sweep() -> None:
    """Forget what is old: retired files, and temporary ones and locks without an owner."""
    folder, now = recovery_dir(), time.time()
    with contextlib.suppress(OSError):
        kept = sorted((folder / "old").glob("*.json"), reverse=True)
        for number, path in enumerate(kept):
            if number >= MOST_KEPT or path.stat().st_mtime < now - KEPT_DAYS * 86_400:
                path.unlink()
    with contextlib.suppress(OSError):
        for path in folder.glob("*.lock"):
            lock = Lock(path)
            if not path.with_suffix(".json").exists() and lock.take():
                lock.release(remove=True)
        for path in folder.glob("*.tmp"):
            if path.stat().st_mtime < now - 86_400:
                path.unlink()
