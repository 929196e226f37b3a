"""`gbviz whatif`: one question, one answer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from gbviz.cli.options import (
    DEFAULT_PRESET,
    cluster_options,
    output_options,
    scenario_from,
    screen,
)
from gbviz.engine import evaluate
from gbviz.errors import InputError
from gbviz.jobs import PATTERNS, traffic_job
from gbviz.report.document import document, to_json
from gbviz.topology.presets import presets

_SELECTS = ("--fail", "--degrade", "--repair")


class SelectorCommand(click.Command):
    """A command whose selector options take several values: `--fail spine-3 leaf-0`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give every value of a selector option its own option."""
        spread: list[str] = []
        current, values = "", 0
        for arg in args:
            if arg.startswith("-"):
                current, values = (arg, 0) if arg in _SELECTS else ("", 0)
            elif current:
                values += 1
                if values > 1 and not _is_target(arg):
                    spread.append(current)
            spread.append(arg)
        return super().parse_args(ctx, spread)


def _is_target(arg: str) -> bool:
    return arg in presets() or Path(arg).suffix in {".yaml", ".yml", ".json"}


@click.command(cls=SelectorCommand)
@click.argument("target", default=DEFAULT_PRESET, metavar="[PRESET]")
@click.option("--fail", multiple=True, metavar="SEL...", help="what fails: spine-3, 'leaf-[0-3]'")
@click.option(
    "--degrade", multiple=True, metavar="SEL=F...", help="what runs at a factor of its rate"
)
@click.option("--repair", multiple=True, metavar="SEL...", help="what of these is mended again")
@click.option(
    "--traffic",
    multiple=True,
    metavar="PATTERN[:ARG][@RACKS]",
    help="; ".join(f"{name}: {what}" for name, what in PATTERNS.items()),
)
@click.option(
    "--nvlink-policy",
    default="adaptive",
    metavar="POLICY",
    help="adaptive: a rack runs on with what is left; full-bandwidth: a lost ASIC takes it down",
)
@click.option("--quiet", is_flag=True, help="the answer in one sentence")
@click.option("--verbose", is_flag=True, help="all faults and loops, not the first 20")
@output_options
@cluster_options
def whatif(target: str, quiet: bool, verbose: bool, as_json: bool, **options: Any) -> None:
    """Ask what some faults cost.

    PRESET is a cluster that 'gbviz presets' lists (default azure-gb300). SEL names components:
    spine-3, 'rack-[0-3]/tray-*', leaf-0~spine-3#1 (one cable), leaf-0~spine-3 (all cables of the
    pair), 'leaf-0>spine-3' (one direction), leaf-0:73 (a port), leaf-0/cage-37 (a transceiver),
    rack-0/tray-0/gpu-0~rack-0/nvswitch-5 (an NVLink), rack-3/feed-a, hxu-3. Quote globs.
    """
    degrade = dict(_factor(text) for text in options["degrade"])
    scenario = scenario_from(target, options).with_faults(*options["fail"], degrade=degrade)
    scenario = scenario.with_repairs(*options["repair"])
    scenario = scenario.with_nvlink_policy(options["nvlink_policy"])
    scenario = scenario.with_jobs(*(traffic_job(text) for text in options["traffic"]))
    snapshot = evaluate(scenario)
    if as_json:
        click.echo(to_json(document(snapshot)))
        return
    # Rich takes longer to import than the answer takes to compute.
    from gbviz.report.text import print_answer, sentence

    if quiet:
        click.echo(sentence(snapshot))
    else:
        print_answer(screen(), snapshot, verbose=verbose)


def _factor(text: str) -> tuple[str, float]:
    """`SEL=0.5` as its two parts."""
    selector, sign, number = text.rpartition("=")
    try:
        factor = float(number)
    except ValueError:
        factor = math.nan
    if not sign or not selector or not 0 <= factor <= 1:
        raise InputError(
            f"takes SEL=F with F from 0 to 1, the part that is left (got {text!r})",
            where="--degrade",
            hint="for example leaf-0~spine-3=0.5",
        )
    return selector, factor
