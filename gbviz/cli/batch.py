"""Many scenario files: run side by side, told in order, whatever happens to any of them."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from textwrap import indent
from typing import TYPE_CHECKING

import click

from gbviz.cli.options import screen
from gbviz.cli.progress import Progress
from gbviz.cli.run_file import Ran, run_file
from gbviz.errors import GbvizError, InputError, printable
from gbviz.report.document import to_json
from gbviz.report.junit import Suite, junit
from gbviz.report.outcome import Outcome
from gbviz.report.seal import SEAL, kept
from gbviz.report.shelf import INDEX, JUNIT
from gbviz.report.words import counted
from gbviz.scenario.atomic import save_atomic
from gbviz.scenario.file import load
from gbviz.workers import Done, each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gbviz.cli.run_file import Task

INTERRUPTED = 130
# The index follows the batch, but not at the cost of it.
_EVERY_S = 2.0
_MOST_NAMED = 10


class Batch:
    """A run of many files.

    Parameters
    ----------
    tasks
        The files, in the order in which they are told.
    output
        The folder that is filled, None for none.
    as_json, quiet
        What is printed.
    """

    def __init__(
        self, tasks: Sequence[Task], output: Path | None, *, as_json: bool, quiet: bool
    ) -> None:
        self.tasks, self.output = tasks, output
        self._json, self._quiet = as_json, quiet
        self._outcomes = [Outcome(str(one.path), one.name, "waiting") for one in tasks]
        self._untold: dict[int, Ran] = {}
        self._told = self._printed = self._kept = 0
        self._indexed = -_EVERY_S
        self._progress = Progress(len(tasks), quiet=quiet)

    def run(self, workers: int) -> int:
        """Run all, and say so; the exit code."""
        self._index()  # A folder that cannot be written to is found out before the work.
        interrupted = False
        try:
            with self._progress:
                for number, ran in self._results(workers):
                    self._take(number, ran)
        except KeyboardInterrupt:
            interrupted = True
            self._find_done()
        self._tell_rest()
        self._find_gone()
        try:
            self._index()
        finally:
            self._close()
        if interrupted:
            self._tell_left()
            return INTERRUPTED
        return max(one.code for one in self._outcomes)

    def _results(self, workers: int) -> Iterator[tuple[int, Ran]]:
        if len(self.tasks) == 1:
            yield 0, run_file(self.tasks[0], self._progress.within)
            return
        for one in each(run_file, self.tasks, workers):
            if isinstance(one, Done):
                yield one.number, one.value
            else:
                task = self.tasks[one.number]
                error = f"{task.path}: {one.why}"
                yield one.number, Ran(Outcome(str(task.path), task.name, "broken", error=error))

    def _take(self, number: int, ran: Ran) -> None:
        self._outcomes[number] = ran.outcome
        self._untold[number] = ran
        self._kept += ran.kept
        while self._told in self._untold:
            self._tell(self._untold.pop(self._told))
            self._told += 1
        self._progress.done(ran.outcome.file)
        if time.monotonic() - self._indexed > _EVERY_S:
            with suppress(InputError):  # the last one tells
                self._index()

    def _find_done(self) -> None:
        """Files whose folders are whole though nobody has said so before the interrupt."""
        for number, (task, one) in enumerate(zip(self.tasks, self._outcomes, strict=True)):
            if one.state == "waiting" and self.output is not None:
                folder = self.output / task.name
                if (folder / SEAL).exists():
                    with suppress(GbvizError):
                        found = kept(folder, load(task.path), task.at_s)
                        self._outcomes[number] = found or one

    def _find_gone(self) -> None:
        """Files whose folders somebody has taken away since they were run."""
        for number, one in enumerate(self._outcomes):
            if one.state != "done" or self.output is None:
                continue
            folder = self.output / one.folder
            if not (folder / SEAL).exists():
                error = f"{folder}: was removed while others were run; --resume makes it again"
                self._outcomes[number] = Outcome(one.file, one.folder, "broken", error=error)
                self._progress.say(f"gbviz: {error}")

    def _tell_rest(self) -> None:
        """What was done out of order before an interrupt."""
        for number in sorted(self._untold):
            self._tell(self._untold.pop(number))

    def _tell(self, ran: Ran) -> None:
        """One file, in its turn: what it found on standard output, what is wrong beside it."""
        outcome = ran.outcome
        if outcome.error:
            self._progress.say(f"gbviz: {outcome.error}")
        if ran.json:
            self._print_json(ran.json)
        if ran.text:
            sys.stdout.write(ran.text)
        for failure in outcome.failed:
            self._progress.say(f"{outcome.file}: {failure}")

    def _print_json(self, text: str) -> None:
        """One document of the list, or the only one."""
        if len(self.tasks) > 1:
            head = '{\n  "runs": [\n' if self._printed == 0 else ",\n"
            text = head + indent(text, "    ")
        click.echo(text, nl=len(self.tasks) == 1)
        self._printed += 1

    def _close(self) -> None:
        """What stands at the end of the output."""
        done = [one for one in self._outcomes if one.state == "done"]
        if self._json:
            self._close_json()
        elif done and not self._quiet:
            from gbviz.report.tables import run_table

            screen().print(run_table(done))
        if self._quiet:
            return
        if self.output is not None:
            reports = counted(len(done), "report")
            said = f" ({self._kept:,} there already)" if self._kept else ""
            click.echo(f"{self.output / INDEX}: {reports}{said}", err=True)
        failed = [one for one in self._outcomes if one.failed]
        if len(failed) > 1:
            first = f"{failed[0].file}: {failed[0].failed[0]}"
            click.echo(f"{len(failed):,} files failed an expectation, first {first}", err=True)

    def _close_json(self) -> None:
        """The end of a list of documents, and why others are missing from it."""
        if len(self.tasks) == 1 and self._printed:
            return
        errors = [
            {"file": one.file, "error": one.error or "not run: interrupted"}
            for one in self._outcomes
            if one.state != "done"
        ]
        tail = to_json({"errors": errors}).removeprefix("{\n")
        head = '{\n  "runs": [' if self._printed == 0 else "\n  "
        click.echo(f"{head}],\n{tail}")

    def _tell_left(self) -> None:
        left = [printable(one.file) for one in self._outcomes if one.state == "waiting"]
        more = f" and {len(left) - _MOST_NAMED:,} more" if len(left) > _MOST_NAMED else ""
        text = f"gbviz: interrupted; not run: {', '.join(left[:_MOST_NAMED])}{more}"
        if self.output is not None:
            text += "\nWhat is done is kept. The same command with --resume goes on from there."
        click.echo(text if left else "gbviz: interrupted; all files had been run", err=True)

    def _index(self) -> None:
        """Write the page over all files as they stand."""
        if self.output is None:
            return
        from gbviz.report.index_page import index_page

        suites = [
            Suite(one.title or one.folder, one.file, one.limits, one.error)
            for one in self._outcomes
            if one.state != "waiting"
        ]
        files = {JUNIT: junit(suites), INDEX: index_page(self._outcomes)}
        for name, text in files.items():
            save_atomic(self.output / name, text.encode(), backup=False, follow=False)
        self._indexed = time.monotonic()
