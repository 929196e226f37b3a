"""`gbviz schema`: what a scenario file may hold, for editors."""

from __future__ import annotations

import json

import click


@click.command()
@click.option("--json", "_as_json", is_flag=True, help="as always: the schema is JSON")
def schema(_as_json: bool) -> None:
    """Print the JSON Schema of scenario files.

    Editors complete and check fields with it: save it as scenario.schema.json and open a scenario
    with '# yaml-language-server: $schema=scenario.schema.json' in its first line.
    """
    from gbviz.scenario.schema import schema as made

    click.echo(json.dumps(made(), indent=1))
