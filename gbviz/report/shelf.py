"""The folder that a batch fills: names, files written whole, and nobody else in it."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from gbviz.errors import InputError
from gbviz.scenario.atomic import save_atomic, sweep_folder

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

INDEX = "index.html"
# Of each folder: the scenario that was run, in full; the page for people; the whole result.
SCENARIO, REPORT, RESULT = "scenario.yaml", "report.html", "result.json"
# Expectations, of each folder and of all together.
JUNIT = "junit.xml"
# Bytes that every disk takes for a name, with room for a number behind.
_LONGEST = 100
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def folder_names(paths: Sequence[Path]) -> list[str]:
    """A name for the folder of each file: its own without suffix, numbered where two are alike.

    Examples
    --------
    >>> from pathlib import Path
    >>> folder_names([Path("a/leaf.yaml"), Path("b/LEAF.yaml"), Path("one two?.yaml")])
    ['leaf', 'LEAF-2', 'one-two']
    """
    taken: set[str] = {INDEX, JUNIT}
    names = []
    for path in paths:
        stem = re.sub(r"[^\w.-]+", "-", path.stem).strip("-.")
        stem = stem.encode()[:_LONGEST].decode(errors="ignore") or "scenario"
        stem = f"{stem}-" if _RESERVED.fullmatch(stem) else stem
        name, number = stem, 1
        # Disks that take capitals for small letters would put both into one folder.
        while name.lower() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.lower())
        names.append(name)
    return names


@contextmanager
def shelf(folder: Path) -> Iterator[None]:
    """A folder that is there, and that no other batch fills meanwhile.

    What batches that were killed have left half written is removed.

    Raises
    ------
    InputError
        It cannot be made, or another batch is at work in it.
    """
    make_folder(folder)
    held = _hold(folder)
    try:
        _sweep(folder)
        try:
            yield
        finally:  # workers that were stopped leave what they had begun
            _sweep(folder)
    finally:
        if held is not None:
            os.close(held)


def _sweep(folder: Path) -> None:
    with suppress(OSError):  # somebody may have removed it
        for inside in (folder, *(path for path in folder.iterdir() if path.is_dir())):
            sweep_folder(inside)


def _hold(folder: Path) -> int | None:
    """The folder's lock, which ends with this process; None where the disk has no locks."""
    if sys.platform == "win32":
        return None  # two batches in one folder are not noticed there
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        raise InputError(
            "another run is writing here", where=str(folder), hint="wait for it, or choose another"
        ) from None
    except OSError:
        os.close(held)
        return None
    return held


def make_folder(folder: Path) -> None:
    """Make a folder and those that it is in, where they are not there.

    Raises
    ------
    InputError
        It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        if isinstance(error, FileExistsError):
            reason = "it is there already and no folder"
        raise InputError(
            f"cannot be made: {reason}", where=str(folder), hint="choose another folder with -o"
        ) from error


def save_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, each whole or not at all, in their order.

    Raises
    ------
    InputError
        The folder cannot be made, or a file not be written; then none of them is there.
    """
    make_folder(folder)
    saved: list[Path] = []
    try:
        for name, data in files.items():
            save_atomic(folder / name, data, backup=False, follow=False)
            saved.append(folder / name)
    except InputError:
        # What is there belongs together, or is not there.
        for path in saved:
            with suppress(OSError):
                path.unlink()
        raise
