"""The process's own streams, which may be closed, full, or read by somebody who leaves early.

What a command does and exits with never depends on whether its words can still be written.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NAMES = {1: "stdout", 2: "stderr"}


class _Unfailing(io.RawIOBase):
    """A file to which writing goes well; what went wrong first is in `error`.

    Once something has, the rest of what is written is dropped: a hole in it would be worse.
    """

    def __init__(self, below: io.RawIOBase) -> None:
        super().__init__()
        self.error: OSError | None = None
        self._below = below

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """That of the file below."""
        return self._below.fileno()

    def isatty(self) -> bool:
        """Whether the file below is a terminal."""
        return self._below.isatty()

    def write(self, data: ReadableBuffer, /) -> int:
        """Write what the file below takes, and wait where it takes nothing yet."""
        while self.error is None:
            try:
                count = self._below.write(data)
            except OSError as error:
                self.error = error
            else:
                if count is not None:
                    return count
                select.select([], [self], [])
        return memoryview(data).nbytes


class Output:
    """Standard output and standard error of this process, made so that writing never fails."""

    def __init__(self) -> None:
        _open_closed()
        self._out = _unfailing("stdout")
        _unfailing("stderr")

    def problem(self) -> str:
        """Why standard output is not whole, "" where it is or its reader has left."""
        sys.stdout.flush()
        error = self._out.error
        if error is None or isinstance(error, BrokenPipeError):
            return ""
        return f"standard output cannot be written: {error.strerror or error}"


def _open_closed() -> None:
    """Give closed streams the null device: the next files that are opened would take their places.

    Messages would go into those, and processes that begin with them would have no streams.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)
    for number, name in _NAMES.items():
        if getattr(sys, name) is None:
            stream = open(number, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)  # as Python keeps those that were open


def _unfailing(name: str) -> _Unfailing:
    """Put an unfailing stream in the place of one of `sys`."""
    old = cast("io.TextIOWrapper", getattr(sys, name))
    old.flush()
    # Python -u has no buffer in between.
    raw = _Unfailing(cast("io.RawIOBase", getattr(old.buffer, "raw", old.buffer)))
    # A terminal without a degree sign gets a question mark instead of nothing.
    new = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=old.encoding,
        errors="replace",
        line_buffering=old.line_buffering or name == "stderr",
        write_through=old.write_through,
    )
    setattr(sys, name, new)
    return raw
