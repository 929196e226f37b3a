"""`gbviz picture`: the app's pictures without the app."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gbviz.display.links import LINK_STYLES
from gbviz.display.shades import COLOUR_BY
from gbviz.display.sheet import Sheet, draw_sheet
from gbviz.display.theme import THEMES
from gbviz.engine import evaluate, loads
from gbviz.errors import InputError
from gbviz.scenario import preset
from gbviz.scenario.file import read
from gbviz.scenario.source import SUFFIXES
from gbviz.topology.presets import presets
from gbviz.units import DURATIONS, quantity

_LIST = ", ".join


@click.command()
@click.argument("target", metavar="FILE or PRESET")
@click.option("-o", "--output", required=True, type=Path, metavar="PATH", help=".png or .svg")
@click.option("--view", default="fabric", metavar="VIEW", help="fabric, matrix, rack-3 or pod-0")
@click.option("--theme", default="light", metavar="NAME", help=_LIST(THEMES))
@click.option("--colour-by", default="utilisation", metavar="WHAT", help=_LIST(COLOUR_BY))
@click.option("--links", default="matrix", metavar="STYLE", help=_LIST(LINK_STYLES))
@click.option("--size", default="1600x1000", metavar="WxH", help="logical pixels (1600x1000)")
@click.option("--scale", default=1.0, metavar="N", help="pixels of the file a logical one (1)")
@click.option("--fail", multiple=True, metavar="SEL", help="what else fails; may be repeated")
@click.option("--at", metavar="TIME", help="the faults that hold then (default: the end)")
def picture(
    target: str,
    output: Path,
    view: str,
    theme: str,
    colour_by: str,
    links: str,
    size: str,
    scale: float,
    fail: tuple[str, ...],
    at: str | None,
) -> None:
    """Draw the map of a scenario or a preset, as the app shows it.

    Try: gbviz picture azure-gb300 --fail spine-3 -o spine.png
    """
    width, height = _size(size)
    is_file = target not in presets() and (target.lower().endswith(SUFFIXES) or "/" in target)
    scenario = read(target) if is_file else preset(target)
    scenario = scenario.standing_at(_time_s(at)).with_faults(*fail)
    snapshot = evaluate(scenario)
    sheet = Sheet(view, theme, colour_by, links, width, height, scale)
    drawn = draw_sheet(sheet, snapshot, loads(snapshot), loads(snapshot, base=True))
    _qt()
    from gbviz.app.export import save_picture

    save_picture(drawn, output)
    click.echo(f"{output}: {drawn.width} x {drawn.height}", err=True)


def _qt() -> None:
    """Qt without a window, for the fonts.

    Raises
    ------
    InputError
        Qt is not installed, or a library that it needs.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from gbviz.app.preflight import preflight

    problem = preflight()
    if problem is not None:
        raise InputError(problem.message, where="picture", hint=problem.hint)
    from PySide6.QtGui import QGuiApplication

    if QGuiApplication.instance() is None:
        QGuiApplication(["gbviz"])


def _size(text: str) -> tuple[int, int]:
    width, sign, height = text.lower().partition("x")
    if not (sign and width.isdecimal() and height.isdecimal() and len(text) < 12):
        raise InputError(f"a size is WxH, such as 1600x1000 (got {text!r})", where="--size")
    return int(width), int(height)


def _time_s(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = quantity(text, DURATIONS, "s")
    except ValueError as error:
        raise InputError(str(error), where="--at") from None
    if seconds < 0:
        raise InputError(f"must be at least 0 (got {text!r})", where="--at")
    return seconds
