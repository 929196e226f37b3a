"""How far a batch is, and when it will be done: on standard error, so that output stays clean."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from gbviz.errors import printable, spelt_out
from gbviz.units import lasting

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

# In a log a line at least so many seconds after the last.
_EVERY_S = 5.0


class Progress:
    """Counts files that are done; a bar on a terminal, a line now and then elsewhere.

    Parameters
    ----------
    total
        How many files there are; of one only how far it is, and only if it takes long.
    quiet
        Whether to say nothing at all.
    """

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._total, self._done = total, 0
        self._begin = self._said = time.monotonic()
        self._quiet = quiet
        self._silent = quiet or total < 2
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        if not self._silent and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as OnScreen

            self._bar = OnScreen(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("running", total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def done(self, name: str) -> None:
        """One more file is done."""
        self._done += 1
        now = time.monotonic()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1, description=printable(name)[-40:])
        elif not self._silent and (now - self._said >= _EVERY_S) and self._done < self._total:
            self._said = now
            left = (now - self._begin) / self._done * (self._total - self._done)
            self.say(f"{self._done} of {self._total} done, about {lasting(left)} left")

    def within(self, what: str) -> None:
        """How far the only file is, such as `600 s` of its scenario's time; said now and then."""
        now = time.monotonic()
        if not self._quiet and now - self._said >= _EVERY_S:
            self._said = now
            self.say(f"at {what} of the scenario's time, after {lasting(now - self._begin)}")

    def say(self, text: str) -> None:
        """A line on standard error that does not tear the bar."""
        text = spelt_out(text)
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            click.echo(text, err=True)
