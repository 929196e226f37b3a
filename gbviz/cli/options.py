"""Options that several commands share, and the scenario that they make."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import click

from gbviz.errors import InputError, spelt_out
from gbviz.routing.modes import MODES
from gbviz.scenario import Scenario, preset
from gbviz.scenario.file import read
from gbviz.scenario.source import SUFFIXES
from gbviz.topology.presets import presets
from gbviz.topology.spec import cluster_spec
from gbviz.units import DURATIONS, quantity

if TYPE_CHECKING:
    from rich.console import Console

    from gbviz.topology.spec import CoolingSpec

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_PRESET = "azure-gb300"
_SIZES = (
    ("racks", "racks in the cluster"),
    ("uplinks_per_leaf", "cables from one leaf up; fewer than its NICs oversubscribe it"),
    ("spines", "spines of a two-tier fabric (default: by the sizing rule)"),
    ("leaves_per_pod", "leaves of a pod of a three-tier fabric (default: by the sizing rule)"),
    ("trays_per_rack", "compute trays in a rack"),
    ("gpus_per_tray", "GPUs, NICs and rails of a tray"),
    ("radix", "ports of a switch"),
)
_AT_LEAST_1 = click.IntRange(min=1)
_COOLING: tuple[tuple[str, click.ParamType[Any], str], ...] = (
    ("units", _AT_LEAST_1, "cooling units that share a loop (cdu)"),
    ("racks_per_loop", _AT_LEAST_1, "racks that share a loop (cdu)"),
    (
        "capacity_kw",
        click.FloatRange(min=0, min_open=True),
        "heat that one cooling unit takes away, kW",
    ),
    ("set_point_c", click.FLOAT, "temperature of the supply, degrees C"),
)
_SHARED_ONLY = ("units", "racks_per_loop")


class ClusterOption(click.Option):
    """An option that changes a part of the preset; help lists these by themselves."""


class ClusterCommand(click.Command):
    """A command whose help shows what its words mean, and the cluster's parts by themselves."""

    words: ClassVar[dict[str, dict[str, str]]] = {
        "Routing modes": {str(mode): text for mode, text in MODES.items()}
    }

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in two sections."""
        own: list[tuple[str, str]] = []
        parts: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                (parts if isinstance(param, ClusterOption) else own).append(record)
        for title, records in (("Options", own), ("Parts that differ from the preset's", parts)):
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the words that options take, each with its meaning."""
        for title, words in self.words.items():
            with formatter.section(title):
                formatter.write_dl(list(words.items()))
        super().format_epilog(ctx, formatter)


def cluster_options(command: Command) -> Command:
    """Add the options that change a preset's parts."""
    for name, kind, text in reversed(_COOLING):
        command = _part(f"cooling_{name}", kind, text)(command)
    kinds = click.Choice(["hxu", "cdu"])
    command = _part("cooling", kinds, "a unit in each rack (hxu), or shared ones (cdu)")(command)
    command = _part("port_GBps", click.FLOAT, "rate of a port, GB/s")(command)
    for name, text in reversed(_SIZES):
        command = _part(name, click.INT, text)(command)
    return command


def _part(name: str, kind: click.ParamType[Any], text: str) -> Callable[[Command], Command]:
    metavar = None if isinstance(kind, click.Choice) else "N"
    return click.option(_flag(name), name, cls=ClusterOption, type=kind, metavar=metavar, help=text)


def output_options(command: Command) -> Command:
    """Add `--json`, `--routing` and `--seed`."""
    command = click.option("--json", "as_json", is_flag=True, help="one JSON document")(command)
    return routing_options(command)


def routing_options(command: Command) -> Command:
    """Add `--routing` and `--seed`."""
    text = "of hashes and random patterns (default: the file's, or 0)"
    command = click.option("--seed", type=int, help=text)(command)
    text = "how switches choose among paths, see below (default: the file's, or adaptive)"
    return click.option("--routing", metavar="MODE", help=text)(command)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def scenario_from(target: str, options: dict[str, Any]) -> Scenario:
    """The scenario of a preset or a file, with the parts, routing and seed given beside it.

    Raises
    ------
    InputError
        An unknown preset, or an impossible value.
    ScenarioError
        A file that cannot be used: all that is wrong with it.
    """
    found = read(target) if is_file(target) else preset(target)
    names = [*(name for name, _ in _SIZES), "port_GBps"]
    parts = {name: options[name] for name in names if options[name] is not None}
    if (cooling := _cooling(found.cluster.cooling, options)) is not None:
        parts["cooling"] = cooling
    if parts:
        stated = found.cluster.model_dump(exclude_unset=True)
        found = replace(found, cluster=cluster_spec(**(stated | parts)))
    if options["routing"] is not None:
        found = found.with_routing(options["routing"])
    return found if options["seed"] is None else found.with_seed(options["seed"])


def output_path(text: str) -> Path:
    """What is given for a file or folder that is to be written.

    Raises
    ------
    click.BadParameter
        It is empty, as from a variable that is not set; that would be the present folder.
    """
    if not text:
        raise click.BadParameter("is empty")
    return Path(text)


def is_file(target: str) -> bool:
    """Whether a word means a scenario file rather than a preset."""
    return target not in presets() and (target.lower().endswith(SUFFIXES) or "/" in target)


def _cooling(stated: CoolingSpec, options: dict[str, Any]) -> dict[str, Any] | None:
    """The stated cooling with what is given beside it, None where nothing is."""
    given = {name: options[f"cooling_{name}"] for name, _, _ in _COOLING}
    given = {name: value for name, value in given.items() if value is not None}
    if options["cooling"] is not None:
        given["kind"] = options["cooling"]
    if not given:
        return None
    kind = given.get("kind", stated.kind)
    wrong = [name for name in _SHARED_ONLY if name in given and kind == "hxu"]
    if wrong:
        raise InputError(
            "is for cooling units that racks share, and here each rack has its own (hxu)",
            where=_flag(f"cooling_{wrong[0]}"),
            hint="add --cooling cdu",
        )
    return (stated.model_dump(exclude_unset=True) if kind == stated.kind else {}) | given


def time_s(text: str | None) -> float | None:
    """Seconds of `--at`, None where it is not given.

    Raises
    ------
    InputError
        No time, or one before the start.
    """
    if text is None:
        return None
    try:
        seconds = quantity(text, DURATIONS, "s")
    except ValueError as error:
        raise InputError(str(error), where="--at") from None
    if seconds < 0:
        raise InputError(f"must be at least 0 (got {text!r})", where="--at")
    return seconds


class _Spelt:
    """A stream on which characters that hide, or turn others round, are spelt out."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text as it may be shown."""
        return self._stream.write(spelt_out(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def screen() -> Console:
    """Where tables go: as wide as the terminal, 100 columns in a pipe, colours where wanted."""
    # Rich takes longer to import than an answer takes to compute, and JSON needs none of it.
    from rich.console import Console

    plain = bool(os.environ.get("NO_COLOR"))  # bold letters are left out too
    stream = None if sys.stdout is None else cast("IO[str]", _Spelt(sys.stdout))
    console = Console(file=stream, highlight=False, color_system=None if plain else "auto")
    if not console.is_terminal:
        console.width = 100
    return console
