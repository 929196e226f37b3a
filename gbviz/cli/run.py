"""`gbviz run`: the timeline of scenario files, and their steady state."""

from __future__ import annotations

import signal
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gbviz.cli.batch import Batch
from gbviz.cli.options import output_path, screen, time_s
from gbviz.cli.run_file import Task
from gbviz.errors import InputError
from gbviz.report.shelf import folder_names, shelf
from gbviz.workers import usual_workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=Path)
@click.option("--at", metavar="TIME", help="the faults that hold then, for example 30min")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=output_path,
    help="a folder for each file: a report and tables",
)
@click.option("--resume", is_flag=True, help="run only what DIR lacks, or what has changed")
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(min=1, max=1024),
    help="files at a time (default: as many as there are processors)",
)
@click.option("--json", "as_json", is_flag=True, help="one JSON document")
@click.option("--quiet", is_flag=True, help="only what went wrong")
@click.option("--verbose", is_flag=True, help="each file's whole answer")
def run(
    files: tuple[Path, ...],
    at: str | None,
    output: Path | None,
    resume: bool,
    workers: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run scenario files: what their faults do to fabric and jobs.

    Each file's timeline with what it adds up to, and its steady state under the faults that hold at
    the end, or at --at, beside that of the healthy cluster. Expectations are of the end, so not
    judged at another time.

    With -o, DIR/index.html compares all files, DIR/junit.xml has the expectations of all, and
    DIR/NAME holds report.html, result.json, timeline.csv, junit.xml, jobs.csv and links.csv, every
    cable in that state, for each NAME.yaml.

    Exit code 1 if an expectation failed, 2 if a file is bad: the others are run all the same. 130
    if it was interrupted: what is done is kept, and --resume goes on from there.

    Try: gbviz run scenarios/*.yaml -o out
    """
    if resume and output is None:
        raise InputError("goes with -o DIR: results are kept nowhere else", where="--resume")
    console = screen()
    columns = console.width if verbose and not as_json else 0
    colours = console.is_terminal and console.color_system is not None
    wanted = (output, time_s(at), resume, as_json, columns, colours)
    names = folder_names(files)
    tasks = [Task(path, name, *wanted) for path, name in zip(files, names, strict=True)]
    with _stoppable(), nullcontext() if output is None else shelf(output):
        return Batch(tasks, output, as_json=as_json, quiet=quiet).run(workers or usual_workers())


@contextmanager
def _stoppable() -> Iterator[None]:
    """Being told to end, as schedulers do, is like an interrupt from the keyboard."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread: whoever runs us there decides
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
