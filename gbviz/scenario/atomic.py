"""Files are replaced whole: whatever happens, the old or the new one is there."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from pathlib import Path

from gbviz.errors import InputError

_DAY_S = 86_400.0
_STRAY = r"\.{}\.[0-9a-f]{{16}}\.tmp"


def save_atomic(
    path: str | os.PathLike[str], data: bytes, *, backup: bool = True, follow: bool = True
) -> Path | None:
    """Put data into a file so that a crash, a kill or a full disk leaves it old or new, never torn.

    The file's mode stays; a new file has the usual one.

    Parameters
    ----------
    path
        The file; its folder must exist.
    data
        All that it will hold.
    backup
        Whether to keep what it held until now beside it, as `name~`.
    follow
        Whether a link stays a link, and the file that it leads to is replaced; else the link is.
        Nobody who did not name the file ought to follow one.

    Returns
    -------
    Path or None
        The backup, None where there is none.

    Raises
    ------
    InputError
        It cannot be written; the old file is as it was, and nothing is left beside it.
    """
    try:
        target, found = Path(path), None
        if follow or not target.is_symlink():
            target = target.resolve()
            found = target.stat() if target.exists() else None
            # Still a link once all were followed: a circle.
            if target.is_symlink() or (found is not None and not stat.S_ISREG(found.st_mode)):
                raise InputError("is not a file that can be written", where=str(path))
        kept = _replace(target, data, found.st_mode if found else None, backup=backup)
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            f"cannot be saved: {reason}",
            where=str(path),
            hint="what was there is unchanged; save it elsewhere",
        ) from error
    _sweep(target)
    return kept


def _replace(target: Path, data: bytes, mode: int | None, *, backup: bool) -> Path | None:
    # A folder that cannot be opened is found out before anything changes.
    folder = os.open(target.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        temporary = _temporary(target)
        try:
            _write(temporary, data, mode)
            kept = _keep(target) if backup and mode is not None else None
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        # The new file is in its place; a disk that cannot promise it yet cannot take it back.
        with contextlib.suppress(OSError):
            os.fsync(folder)
        return kept
    finally:
        with contextlib.suppress(OSError):
            os.close(folder)


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")


def _write(path: Path, data: bytes, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    # Never readable by more people than the old file, not even for a moment.
    handle = os.open(path, flags, 0o666 if mode is None else 0o600)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
        if mode is not None:
            os.fchmod(handle, stat.S_IMODE(mode))
        os.fsync(handle)
    finally:
        os.close(handle)


def _keep(target: Path) -> Path:
    """Keep the old file as `name~`, by a second link to it where the disk has such."""
    kept = target.with_name(f"{target.name}~")
    temporary = _temporary(target)
    try:
        try:
            os.link(target, temporary)
        except OSError:
            _write(temporary, target.read_bytes(), target.stat().st_mode)
        temporary.replace(kept)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return kept


def _sweep(target: Path) -> None:
    """Remove what saves of this file that were killed have left, once it is a day old."""
    _remove(target.parent, _STRAY.format(re.escape(target.name)), time.time() - _DAY_S)


def sweep_folder(folder: Path) -> None:
    """Remove what any saves in a folder that were killed have left; nobody may be saving there."""
    _remove(folder, _STRAY.format(".+"), float("inf"))


def _remove(folder: Path, stray: str, before: float) -> None:
    """Remove files of a folder whose names match, and that are older than a time."""
    pattern = re.compile(stray)
    with contextlib.suppress(OSError):
        for other in folder.iterdir():
            if pattern.fullmatch(other.name) and other.lstat().st_mtime < before:
                with contextlib.suppress(OSError):
                    other.unlink()
