"""`gbviz picture`: the app's pictures without the app."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from gbviz.cli.options import (
    cluster_options,
    output_path,
    routing_options,
    scenario_from,
    time_s,
)
from gbviz.cli.words import WordsCommand, is_scenario, target_of
from gbviz.display.links import LINK_STYLES
from gbviz.display.shades import COLOUR_BY
from gbviz.display.sheet import Sheet, draw_sheet
from gbviz.display.svg import svg
from gbviz.display.theme import THEMES
from gbviz.engine import evaluate, loads
from gbviz.errors import InputError
from gbviz.scenario.atomic import save_atomic

if TYPE_CHECKING:
    from pathlib import Path

_LIST = ", ".join


@click.command(cls=WordsCommand)
@click.argument("words", nargs=-1, metavar="[FILE or PRESET]")
@click.option(
    "-o", "--output", required=True, type=output_path, metavar="PATH", help=".png or .svg"
)
@click.option("--view", default="fabric", metavar="VIEW", help="fabric, matrix, rack-3 or pod-0")
@click.option("--theme", default="light", metavar="NAME", help=_LIST(THEMES))
@click.option("--colour-by", default="utilisation", metavar="WHAT", help=_LIST(COLOUR_BY))
@click.option("--links", default="matrix", metavar="STYLE", help=_LIST(LINK_STYLES))
@click.option("--size", default="1600x1000", metavar="WxH", help="logical pixels (1600x1000)")
@click.option("--scale", default=1.0, metavar="N", help="pixels of the file a logical one (1)")
@click.option("--fail", multiple=True, metavar="SEL...", help="what else fails")
@click.option("--at", metavar="TIME", help="the faults that hold then (default: the end)")
@routing_options
@cluster_options
@click.pass_context
def picture(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    output: Path,
    fail: tuple[str, ...],
    **options: Any,
) -> None:
    """Draw the map of a scenario or a preset, as the app shows it. A .svg needs no Qt.

    Try: gbviz picture azure-gb300 --fail spine-3 -o spine.png
    """
    looks = {name: options[name] for name in ("view", "theme", "colour_by", "links", "scale")}
    width, height = _size(options["size"])
    sheet = Sheet(**looks, width=width, height=height)
    target = target_of(words)
    if options["at"] is not None and not is_scenario(target):
        raise InputError(f"goes with a scenario file: nothing happens in {target}", where="--at")
    scenario = scenario_from(target, options).standing_at(time_s(options["at"]))
    snapshot = evaluate(scenario.with_faults(*fail))
    drawn = draw_sheet(sheet, snapshot, loads(snapshot), loads(snapshot, base=True))
    if output.suffix.lower() == ".svg":
        name = f"{scenario.name}, {options['view']}"
        save_atomic(output, svg(drawn, name).encode(), backup=False)
    else:
        _painter(ctx)(drawn, output)
    click.echo(f"{output}: {drawn.width} x {drawn.height}", err=True)


def _painter(ctx: click.Context) -> Any:
    """What writes a draw list to a PNG file: the app brings it, since it needs Qt."""
    brought = (ctx.find_root().obj or {}).get("paint")
    if brought is None:
        raise InputError("cannot be drawn by this entry", where="picture", hint="use gbviz picture")
    module, _, name = brought.partition(":")
    return getattr(import_module(module), name)


def _size(text: str) -> tuple[int, int]:
    width, sign, height = text.lower().partition("x")
    if not (sign and width.isdecimal() and height.isdecimal() and len(text) < 12):
        raise InputError(f"a size is WxH, such as 1600x1000 (got {text!r})", where="--size")
    return int(width), int(height)
