"""Options that several commands share, and the scenario that they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from rich.console import Console

from gbviz.errors import InputError
from gbviz.routing.modes import MODES
from gbviz.scenario import Scenario, preset
from gbviz.topology.presets import presets

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_PRESET = "azure-gb300"
_FILES = (".yaml", ".yml", ".json")
_SIZES = (
    ("racks", "racks"),
    ("uplinks_per_leaf", "cables from one leaf up; fewer than its NICs oversubscribe it"),
    ("spines", "spines of a two-tier fabric (default: by the sizing rule)"),
    ("leaves_per_pod", "leaves of a pod of a three-tier fabric (default: by the sizing rule)"),
    ("trays_per_rack", "compute trays in a rack"),
    ("gpus_per_tray", "GPUs, NICs and rails of a tray"),
    ("radix", "ports of a switch"),
)
_COOLING = (
    ("units", int, "cooling units that share a loop (cdu)"),
    ("racks_per_loop", int, "racks that share a loop (cdu)"),
    ("capacity_kw", float, "heat that one cooling unit takes away, kW"),
    ("set_point_c", float, "temperature of the supply, degrees C"),
)


def cluster_options(command: Command) -> Command:
    """Add the options that change a preset's parts."""
    for name, kind, text in reversed(_COOLING):
        command = click.option(_flag(f"cooling_{name}"), type=kind, help=text)(command)
    kinds = click.Choice(["hxu", "cdu"])
    command = click.option("--cooling", type=kinds, help="kind of cooling")(command)
    command = click.option("--port-GBps", "port_GBps", type=float, help="rate of a port, GB/s")(
        command
    )
    for name, text in reversed(_SIZES):
        command = click.option(_flag(name), type=int, help=text)(command)
    return command


def output_options(command: Command) -> Command:
    """Add `--json`, `--routing` and `--seed`."""
    command = click.option("--json", "as_json", is_flag=True, help="one JSON document")(command)
    command = click.option("--seed", type=int, default=0, help="of hashes and random patterns")(
        command
    )
    text = "; ".join(f"{mode}: {what}" for mode, what in MODES.items())
    return click.option("--routing", default="adaptive", metavar="MODE", help=text)(command)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def scenario_from(target: str, options: dict[str, Any]) -> Scenario:
    """The scenario of a preset with the parts, routing and seed given beside it.

    Raises
    ------
    InputError
        An unknown preset, a file (not read yet), or an impossible value.
    """
    if target not in presets() and (target.lower().endswith(_FILES) or "/" in target):
        raise InputError(
            "scenario files are not read by this version",
            where=target,
            hint="name a preset: " + ", ".join(presets()),
        )
    parts = {name: options[name] for name in [name for name, _ in _SIZES] + ["port_GBps"]}
    cooling = {name: options[f"cooling_{name}"] for name, _, _ in _COOLING}
    cooling = {name: value for name, value in cooling.items() if value is not None}
    if options["cooling"] is not None:
        cooling["kind"] = options["cooling"]
    if cooling:
        stated = preset(target).cluster.cooling
        same = cooling.get("kind", stated.kind) == stated.kind
        kept = stated.model_dump(exclude_unset=True) if same else {}
        parts["cooling"] = kept | cooling
    found = preset(target, **parts).with_routing(options["routing"])
    return found.with_seed(options["seed"])


def screen(*, error: bool = False) -> Console:
    """Where tables go: as wide as the terminal, 100 columns in a pipe, colours where wanted."""
    console = Console(stderr=error, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=error, highlight=False, width=100)
    return console
