"""`gbviz info`: what is in a cluster."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from gbviz.cli.options import (
    DEFAULT_PRESET,
    ClusterCommand,
    cluster_options,
    output_options,
    scenario_from,
    screen,
)
from gbviz.engine import evaluate
from gbviz.report.document import document, headline_row, to_json
from gbviz.report.headline import headlines
from gbviz.topology.catalogue import catalogue
from gbviz.topology.check import check_build, nonblocking_built


@click.command(cls=ClusterCommand)
@click.argument("target", default=DEFAULT_PRESET, metavar="[PRESET]")
@click.option("--facts", is_flag=True, help="every figure of the hardware catalogue, with sources")
@output_options
@cluster_options
def info(target: str, as_json: bool, facts: bool, **options: Any) -> None:
    """Show what a cluster consists of.

    Counts, headline figures beside the published ones, whether the fabric is non-blocking and
    every build check, proven on the built fabric.
    """
    snapshot = evaluate(scenario_from(target, options))
    fabric = snapshot.fabric
    found, checks = headlines(fabric), check_build(fabric)
    _, why = nonblocking_built(fabric)
    listed = list(catalogue()) if facts else []
    if as_json:
        whole = document(snapshot)
        whole["headlines"] = [headline_row(line) for line in found]
        whole["fabric"]["nonblocking_why"] = why
        whole["checks"]["build"] = [asdict(check) for check in checks]
        if facts:
            whole["facts"] = [asdict(fact) for fact in listed]
        click.echo(to_json(whole))
        return
    from gbviz.report import tables

    console = screen()
    console.print(tables.size_table(snapshot, why))
    console.print(tables.headline_table(found))
    console.print(tables.check_table(checks))
    if facts:
        console.print(tables.fact_table(listed))
