"""`gbviz run`: the timeline of scenario files, and their steady state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gbviz.cli.options import screen, time_s
from gbviz.engine import evaluate
from gbviz.engine.run import run as timeline_of
from gbviz.errors import GbvizError, ScenarioError
from gbviz.report.document import document, to_json
from gbviz.report.folder import folder_files, folder_names, make_folder, save_folder
from gbviz.report.junit import found_words
from gbviz.scenario.file import load

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import Timeline
    from gbviz.scenario import Scenario

Json = dict[str, Any]

FAILED, BAD_INPUT = 1, 2


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=Path)
@click.option("--at", metavar="TIME", help="the faults that hold then, for example 30min")
@click.option(
    "-o", "--output", metavar="DIR", type=Path, help="a folder for each file: results and tables"
)
@click.option("--json", "as_json", is_flag=True, help="one JSON document")
@click.option("--quiet", is_flag=True, help="only what went wrong")
@click.option("--verbose", is_flag=True, help="each file's whole answer")
def run(
    files: tuple[Path, ...],
    at: str | None,
    output: Path | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run scenario files: what their faults do to fabric and jobs.

    Each file's timeline with what it adds up to, and its steady state under the faults that hold at
    the end, or at --at, beside that of the healthy cluster. Expectations are of the end, so not
    judged at another time. With -o, DIR/NAME holds result.json, timeline.csv, junit.xml, jobs.csv
    and links.csv, every cable in that state, for each NAME.yaml. Exit code 1 if an expectation
    failed, 2 if a file is bad.
    """
    at_s = time_s(at)
    if output is not None:
        make_folder(output)
    console, code = screen(), 0
    rows: list[tuple[str, Json]] = []
    for path, name in zip(files, folder_names(files), strict=True):
        try:
            snapshot, made, found = answer_of(load(path), at_s)
            rows.append((str(path), found))
            if output is not None:
                save_folder(output / name, folder_files(snapshot, made, found))
        except GbvizError as error:
            # A fault of the file itself already says where it stands.
            place = "" if isinstance(error, ScenarioError) else f"{path}: "
            click.echo(f"gbviz: {place}{error}", err=True)
            code = BAD_INPUT
            continue
        if verbose and not as_json:
            from gbviz.report.text import print_answer, print_timeline

            console.print(f"\n{path}", style="bold", markup=False)
            print_answer(console, snapshot, verbose=True)
            if made is not None:
                print_timeline(console, made)
        code = max(code, _judged(path, found))
    if as_json:
        runs = [found for _, found in rows]
        click.echo(to_json(runs[0] if len(files) == 1 and runs else {"runs": runs}))
    elif rows and not quiet:
        from gbviz.report.tables import run_table

        console.print(run_table(rows))
    return code


def answer_of(
    scenario: Scenario, at_s: float | None = None
) -> tuple[Snapshot, Timeline | None, Json]:
    """A scenario's state at a time, its end by default, its timeline, and their document."""
    snapshot = evaluate(scenario, at_s)
    made = timeline_of(scenario) if scenario.end_s > 0 else None
    return snapshot, made, document(snapshot, judge=at_s is None, timeline=made)


def _judged(path: Path, found: Json) -> int:
    """Say which expectations failed; the exit code for it."""
    failed = [row for row in found["expect"] if not row["passed"]]
    for row in failed:
        click.echo(f"{path}: expected {row['expect']}, {found_words(row)}", err=True)
    return FAILED if failed else 0
