"""`gbviz compare`: two scenarios, or what two runs left, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from gbviz.cli.options import is_file, output_path, screen
from gbviz.errors import InputError, printable
from gbviz.report.compare import Side
from gbviz.report.compare import compare as side_by_side
from gbviz.report.document import to_json
from gbviz.report.seal import SEAL
from gbviz.report.seen import answer_of
from gbviz.report.shelf import INDEX, RESULT, SCENARIO
from gbviz.report.verdict import verdict
from gbviz.scenario import preset
from gbviz.scenario.atomic import save_atomic
from gbviz.scenario.file import load

# Rows that a screen takes without scrolling far.
_MOST = 40
_AGAIN = "make it again with gbviz run FILE -o DIR"


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "-o", "--output", metavar="PAGE", type=output_path, help="write an HTML page, as .html"
)
@click.option("--json", "as_json", is_flag=True, help="one JSON document")
@click.option("--verbose", is_flag=True, help="figures that are the same in both, too")
def compare(a: str, b: str, output: Path | None, as_json: bool, verbose: bool) -> None:
    """Compare two scenarios: what they ask, and every figure of both.

    A and B are scenario files, presets, or folders that gbviz run -o made. Differences are B - A.
    """
    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a page is a .html (got {output.name!r})", where="--output")
    sides = [_side(one, told=output is not None) for one in (a, b)]
    found = side_by_side(*sides)
    if output is not None:
        from gbviz.report.compare_page import compare_page

        page = compare_page(sides, (a, b), found)
        save_atomic(output, page.encode(), backup=False)
        click.echo(f"{output}: the comparison", err=True)
    if as_json:
        click.echo(to_json(found))
        return
    from gbviz.report.tables import compared_table, difference_table

    console = screen()
    for letter, name in (("a", a), ("b", b)):
        title = found[letter]["name"]
        console.print(f"{letter.upper()}: {printable(name)} ({printable(title)})", markup=False)
    for line in verdict(found) or ["They have no job in common."]:
        console.print(printable(line), markup=False)
    if found["differs"]:
        console.print(difference_table(found["differs"]))
    else:
        console.print("Both ask the same.")
    rows = [row for row in found["figures"] if verbose or row["a"] != row["b"]]
    if rows:
        console.print(compared_table(rows if verbose else rows[:_MOST]))
    if len(rows) > _MOST and not verbose:
        console.print(f"and {len(rows) - _MOST:,} more that differ: --verbose or --json lists them")
    same = len(found["figures"]) - len(rows)
    if same:
        console.print(f"{same:,} figures are the same in both: --verbose or --json lists them")


def _side(target: str, *, told: bool) -> Side:
    """One of the two, with its sentences where they are to be told."""
    folder = Path(target)
    if folder.is_dir():
        if (folder / INDEX).exists() and not (folder / RESULT).exists():
            hint = f"choose one of the folders in it: {folder}/NAME"
            raise InputError("holds the results of many files", where=target, hint=hint)
        return Side(load(folder / SCENARIO), _kept(folder / RESULT), _answer(folder / SEAL))
    scenario = load(target) if is_file(target) else preset(target)
    seen, found = answer_of(scenario)
    return Side(scenario, found, seen.answer if told else ())


def _answer(path: Path) -> tuple[str, ...]:
    """The sentences that a run left; none where it left no seal."""
    try:
        return tuple(map(str, json.loads(path.read_bytes())["outcome"]["answer"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ()


def _kept(path: Path) -> dict[str, Any]:
    """The result that a run left."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no JSON"
        raise InputError(f"cannot be read: {reason}", where=str(path), hint=_AGAIN) from error
    parts = ("scenario", "base", "post", "jobs", "cooling", "totals")
    if not isinstance(found, dict) or any(part not in found for part in parts):
        raise InputError("is not a result of one scenario", where=str(path), hint=_AGAIN)
    return found
