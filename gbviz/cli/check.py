"""`gbviz check`: whether a scenario file is right, and all that is wrong with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gbviz import __version__
from gbviz.errors import ScenarioError, printable
from gbviz.report.document import FORMAT_VERSION
from gbviz.scenario.file import read

if TYPE_CHECKING:
    from gbviz.scenario import Scenario

_BAD_INPUT = 2


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="one JSON document")
def check(files: tuple[str, ...], as_json: bool) -> int:
    """Check scenario files and say all that is wrong with them.

    Every fault comes with file, line, column and field. Exit code 0: all files are right; 2: one
    is not.
    """
    results = [(file, *_checked(file)) for file in files]
    if as_json:
        rows = [_row(file, error) for file, _, error in results]
        found = {"gbviz": __version__, "format_version": FORMAT_VERSION, "files": rows}
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for file, scenario, error in results:
            click.echo(
                str(error) if scenario is None else f"{printable(file)}: ok, {_size(scenario)}"
            )
    return _BAD_INPUT if any(error for *_, error in results) else 0


def _checked(file: str) -> tuple[Scenario | None, ScenarioError | None]:
    try:
        return read(file), None
    except ScenarioError as error:
        return None, error


def _row(file: str, error: ScenarioError | None) -> dict[str, Any]:
    faults = [
        {key: printable(one) if isinstance(one, str) else one for key, one in asdict(fault).items()}
        for fault in (error.faults if error else ())
    ]
    unlisted = error.unlisted if error else 0
    return {"file": printable(file), "ok": error is None, "faults": faults, "unlisted": unlisted}


def _size(scenario: Scenario) -> str:
    counts = (
        (scenario.cluster.n_gpus, "GPU"),
        (len(scenario.jobs), "job"),
        (len(scenario.events), "event"),
        (len(scenario.expect), "expectation"),
    )
    return ", ".join(f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in counts)
