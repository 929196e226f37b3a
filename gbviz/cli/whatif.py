"""`gbviz whatif`: one question, one answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import click

from gbviz.cli.options import (
    ClusterCommand,
    cluster_options,
    output_options,
    output_path,
    scenario_from,
    screen,
    time_s,
)
from gbviz.cli.words import WordsCommand, is_scenario, target_of
from gbviz.engine import evaluate
from gbviz.errors import InputError, printable
from gbviz.jobs import PATTERNS, traffic_job
from gbviz.report.document import document, to_json

if TYPE_CHECKING:
    from pathlib import Path

    from gbviz.engine import Snapshot

_COMPONENTS = {
    "spine-3": "one; also leaf-0, core-7, rack-3, rack-3/tray-17/gpu-2, rack-3/nvswitch-5,"
    " rack-3/feed-a, hxu-3, cdu-0",
    "'leaf-[0-3]'": "several; also 'spine-*' and 'rack-[0,4]/tray-*'",
    "leaf-0~spine-3": "all cables of a pair; leaf-0~spine-3#1 one of them",
    "'leaf-0>spine-3'": "one direction of them",
    "leaf-0:73": "a port; leaf-0/cage-37 a transceiver",
}
_POLICIES = {
    "adaptive": "a rack runs on with what is left",
    "full-bandwidth": "a lost ASIC takes the rack's NVLink down, a lost link its GPU",
}


class WhatifCommand(WordsCommand):
    """A command whose help says what components, patterns and policies are."""

    words: ClassVar[dict[str, dict[str, str]]] = {
        "Components, SEL (quote what has a * or a >)": _COMPONENTS,
        "Traffic patterns": PATTERNS,
        **ClusterCommand.words,
        "Policies for damaged NVLink": _POLICIES,
    }


@click.command(cls=WhatifCommand)
@click.argument("words", nargs=-1, metavar="[PRESET]")
@click.option("--fail", multiple=True, metavar="SEL...", help="what fails: spine-3, 'leaf-[0-3]'")
@click.option(
    "--degrade", multiple=True, metavar="SEL=F...", help="what runs at a factor of its rate"
)
@click.option(
    "--repair", multiple=True, metavar="SEL...", help="what of these is mended again afterwards"
)
@click.option(
    "--traffic",
    multiple=True,
    metavar="PATTERN...",
    help="what the GPUs send, see below: PATTERN, PATTERN:ARG or PATTERN:ARG@RACKS",
)
@click.option(
    "--nvlink-policy",
    metavar="POLICY",
    help="what NVLink does when damaged, see below (default: the file's, or adaptive)",
)
@click.option("--at", metavar="TIME", help="with a file: its faults that hold then (default: end)")
@click.option(
    "-o", "--output", metavar="DIR", type=output_path, help="write the report and its tables there"
)
@click.option("--quiet", is_flag=True, help="the answer in a few words, no tables")
@click.option("--verbose", is_flag=True, help="all faults and loops, not the first 20")
@output_options
@cluster_options
def whatif(
    words: tuple[str, ...],
    output: Path | None,
    quiet: bool,
    verbose: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask what some faults cost.

    PRESET is a cluster that 'gbviz presets' lists (default azure-gb300). A scenario FILE may stand
    in its place: its jobs, and the faults that hold at the end or at --at, are there already.
    """
    degrade = dict(_factor(text) for text in options["degrade"])
    target = target_of(words)
    if options["at"] is not None and not is_scenario(target):
        raise InputError(f"goes with a scenario file: nothing happens in {target}", where="--at")
    scenario = scenario_from(target, options).standing_at(time_s(options["at"]))
    scenario = scenario.with_faults(degrade=degrade)
    scenario = scenario.with_faults(*options["fail"])  # of both on one part the failure counts
    scenario = scenario.with_repairs(*options["repair"])
    if options["nvlink_policy"] is not None:
        scenario = scenario.with_nvlink_policy(options["nvlink_policy"])
    scenario = scenario.with_jobs(*(traffic_job(text) for text in options["traffic"]))
    snapshot = evaluate(scenario)
    found = document(snapshot)
    if output is not None:
        _save(output, snapshot, found)
    if as_json:
        click.echo(to_json(found))
        return
    from gbviz.report.answer import sentence
    from gbviz.report.text import print_answer

    if quiet:
        click.echo(printable(sentence(snapshot)))
    else:
        print_answer(screen(), snapshot, verbose=verbose)


def _save(folder: Path, snapshot: Snapshot, found: dict[str, Any]) -> None:
    # Jinja and Matplotlib take longer to import than an answer takes to compute.
    from gbviz.report.answer import causes_of, causes_words
    from gbviz.report.folder import folder_files
    from gbviz.report.seen import Seen
    from gbviz.report.shelf import REPORT, save_folder, shelf

    causes = causes_of(snapshot)
    title = f"{snapshot.scenario.name} with {causes_words(causes)}" if causes else ""
    with shelf(folder):
        save_folder(folder, folder_files(Seen(snapshot), found, title))
    click.echo(f"{folder / REPORT}: the report", err=True)


def _factor(text: str) -> tuple[str, float]:
    """`SEL=0.5` as its two parts."""
    selector, sign, number = text.rpartition("=")
    try:
        factor = float(number) if number.isascii() and "_" not in number else math.nan
    except ValueError:
        factor = math.nan
    if not sign or not selector.strip() or not 0 <= factor <= 1:
        raise InputError(
            f"takes SEL=F with F from 0 to 1, the part that is left (got {text!r})",
            where="--degrade",
            hint="for example leaf-0~spine-3=0.5",
        )
    return selector, factor
