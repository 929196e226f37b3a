"""`gbviz presets`: the clusters that gbviz knows by name."""

from __future__ import annotations

from dataclasses import asdict

import click

from gbviz import __version__
from gbviz.jobs.models import models
from gbviz.report.document import FORMAT_VERSION, to_json
from gbviz.topology.presets import presets as known
from gbviz.topology.spec import cluster_spec


@click.command()
@click.option("--json", "as_json", is_flag=True, help="one JSON document")
def presets(as_json: bool) -> None:
    """List the clusters and the models that gbviz knows by name."""
    specs = {name: cluster_spec(name) for name in known()}
    if as_json:
        rows = [asdict(one) | {"gpus": specs[name].n_gpus} for name, one in known().items()]
        shapes = [
            {"name": one.name, "title": one.title, "source": one.source}
            | {"shape": one.shape.model_dump(exclude_defaults=True)}
            for one in models().values()
        ]
        found = {"gbviz": __version__, "format_version": FORMAT_VERSION}
        click.echo(to_json(found | {"presets": rows, "models": shapes}))
        return
    from gbviz.cli.options import screen
    from gbviz.report.tables import model_table, preset_table

    screen().print(preset_table((known()[name], spec) for name, spec in specs.items()))
    screen().print(model_table(models().values()))
