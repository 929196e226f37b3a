"""`gbviz run`: the timeline of scenario files, and their steady state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gbviz.cli.options import screen, time_s
from gbviz.engine import evaluate
from gbviz.engine.run import run as timeline_of
from gbviz.errors import GbvizError, ScenarioError
from gbviz.report.document import document, to_json
from gbviz.scenario.file import load

FAILED, BAD_INPUT = 1, 2


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=Path)
@click.option("--at", metavar="TIME", help="the faults that hold then, for example 30min")
@click.option("--json", "as_json", is_flag=True, help="one JSON document")
@click.option("--quiet", is_flag=True, help="only what went wrong")
@click.option("--verbose", is_flag=True, help="each file's whole answer")
def run(files: tuple[Path, ...], at: str | None, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Run scenario files: what their faults do to fabric and jobs.

    Each file's timeline with what it adds up to, and its steady state under the faults that hold at
    the end, or at --at, beside that of the healthy cluster. Expectations are of the end, so not
    judged at another time. Exit code 1 if one of these failed, 2 if a file is bad.
    """
    at_s = time_s(at)
    console, code = screen(), 0
    runs: list[dict[str, Any]] = []
    rows: list[tuple[str, dict[str, Any]]] = []
    for path in files:
        try:
            scenario = load(path)
            snapshot = evaluate(scenario, at_s)
            made = timeline_of(scenario) if scenario.end_s > 0 else None
        except GbvizError as error:
            # A fault of the file itself already says where it stands.
            place = "" if isinstance(error, ScenarioError) else f"{path}: "
            click.echo(f"gbviz: {place}{error}", err=True)
            code = BAD_INPUT
            continue
        found = document(snapshot, judge=at_s is None, timeline=made)
        runs.append(found)
        rows.append((str(path), found))
        if verbose and not as_json:
            from gbviz.report.text import print_answer, print_timeline

            console.print(f"\n{path}", style="bold", markup=False)
            print_answer(console, snapshot, verbose=True)
            if made is not None:
                print_timeline(console, made)
        failed = [row for row in found["expect"] if not row["passed"]]
        for row in failed:
            value = "no value" if row["value"] is None else f"{row['value']:g}"
            click.echo(f"{path}: expected {row['expect']}, found {value}", err=True)
        code = max(code, FAILED) if failed else code
    if as_json:
        click.echo(to_json(runs[0] if len(files) == 1 and runs else {"runs": runs}))
    elif rows and not quiet:
        from gbviz.report.tables import run_table

        console.print(run_table(rows))
    return code
