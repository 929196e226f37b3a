"""One scenario file of a batch from path to results: what a worker does."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING, Any

from gbviz.engine.state import silent
from gbviz.errors import GbvizError, ScenarioError, spelt_out
from gbviz.report.document import to_json
from gbviz.report.outcome import Outcome, outcome_of
from gbviz.report.seal import SEAL, kept, seal
from gbviz.report.seen import Seen, answer_of
from gbviz.report.shelf import save_folder
from gbviz.scenario.file import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """A file to run.

    Parameters
    ----------
    path
        The file.
    name
        Of its folder.
    output
        Where its folder is to be, None for nowhere.
    at_s
        The time that is asked for, seconds; None for the end.
    resume
        Whether a whole folder of the same scenario is kept as it is.
    as_json
        Whether the result document is wanted.
    columns
        Width of the screen that the whole answer is wanted for, 0 where it is not.
    colours
        Whether that screen shows colours.
    """

    path: Path
    name: str
    output: Path | None = None
    at_s: float | None = None
    resume: bool = False
    as_json: bool = False
    columns: int = 0
    colours: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a file: in short; its document; its answer for a screen; whether kept."""

    outcome: Outcome
    json: str = ""
    text: str = ""
    kept: bool = False


def run_file(task: Task, poll: Callable[[str], None] = silent) -> Ran:
    """Run a file, and write its folder where one is wanted; `poll` hears how far it is.

    Bad input is an outcome, not an error: the rest of the batch goes on.
    """
    try:
        return _run(task, poll)
    except GbvizError as error:
        # A fault of the file itself already says where it stands.
        place = "" if isinstance(error, ScenarioError) else f"{task.path}: "
        return Ran(Outcome(str(task.path), task.name, "bad", error=f"{place}{error}"))


def _run(task: Task, poll: Callable[[str], None]) -> Ran:
    scenario = load(task.path)
    if task.resume and task.output is not None:
        outcome = kept(task.output / task.name, scenario, task.at_s)
        if outcome is not None and not (task.as_json or task.columns):
            return Ran(replace(outcome, file=str(task.path), folder=task.name), kept=True)
    seen, found = answer_of(scenario, task.at_s, poll)
    shown = None if task.output is None else seen
    outcome = outcome_of(str(task.path), task.name, found, shown)
    if task.output is not None:
        _save(task, task.output / task.name, seen, found, outcome)
    return Ran(
        outcome, to_json(found) if task.as_json else "", _text(task, seen) if task.columns else ""
    )


def _save(task: Task, folder: Path, seen: Seen, found: Json, outcome: Outcome) -> None:
    # Jinja and Matplotlib take longer to import than most answers take to compute.
    from gbviz.report.folder import folder_files

    files = folder_files(seen, found)
    with suppress(OSError):  # what is there is no longer whole from here on
        (folder / SEAL).unlink()
    save_folder(folder, {**files, SEAL: seal(files, outcome, task.at_s)})


def _text(task: Task, seen: Seen) -> str:
    """The whole answer as the screen would show it."""
    from rich.console import Console

    from gbviz.report.text import print_answer, print_timeline

    out = StringIO()
    console = Console(
        file=out, width=task.columns, highlight=False, force_terminal=task.colours or None
    )
    console.print(f"\n{task.path}", style="bold", markup=False)
    alone = seen.timeline is None or seen.at_s is not None
    print_answer(console, seen.snapshot, verbose=True, said="\n".join(seen.answer), alone=alone)
    if seen.timeline is not None:
        print_timeline(console, seen.timeline)
    return spelt_out(out.getvalue())
