"""The whole answer on a screen, and what its figures need to be understood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from gbviz.cooling import loops
from gbviz.report import tables
from gbviz.report.answer import apart, sentence
from gbviz.report.figure_rows import label
from gbviz.report.job_lines import once_words
from gbviz.report.timeline import timeline_table, total_lines

if TYPE_CHECKING:
    from rich.console import Console

    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import Timeline
    from gbviz.jobs.impact import JobImpact

_MOST_ROWS = 20


def print_answer(
    console: Console,
    snapshot: Snapshot,
    *,
    verbose: bool = False,
    said: str = "",
    alone: bool = True,
) -> None:
    """One question's answer: `said`, or a sentence; what is broken, what it does, what runs.

    What faults cost once, on average, is told where it stands `alone`: a timeline knows better.
    """
    most = None if verbose else _MOST_ROWS
    console.print(Text(said or sentence(snapshot), style="bold"))
    if snapshot.faults:
        console.print(tables.fault_table(snapshot, most))
    console.print(tables.figure_table(snapshot))
    for line in notes(snapshot):
        console.print(Text(line))
    flows, steps = apart(snapshot)
    if steps:
        console.print(tables.job_table(steps))
        for line in _costs(steps) if alone else ():
            console.print(Text(line))
    if flows:
        console.print(tables.traffic_table(flows))
    hot = [loop for loop in loops(snapshot.fabric, snapshot.thermal) if tables.holds_back(loop)]
    if hot:
        console.print(tables.loop_table("Cooling loops with slow or dead GPUs", hot, most))
    checks = "; ".join(snapshot.problems) or "ok"
    console.print(Text(f"Conservation check: {checks}.", style="dim"))


def print_timeline(console: Console, timeline: Timeline) -> None:
    """What happens when, and what it adds up to."""
    console.print(timeline_table(timeline, None))
    for line in total_lines(timeline):
        console.print(Text(line))


def _costs(steps: list[JobImpact]) -> list[str]:
    """What faults cost once, part by part, and when a target is reached."""
    lines = []
    for impact in steps:
        once, said = impact.one_off, once_words(impact.one_off)
        if said:
            lines.append(f"{impact.name}, once: {said}.")
        if impact.base and impact.post and "days_to_target" in impact.post:
            before, after = impact.base["days_to_target"], impact.post["days_to_target"]
            after += once.total_s / 86400
            lines.append(
                f"{impact.name} reaches its tokens after {after:,.2f} days,"
                f" {after - before:,.2f} days later than without faults."
            )
    return lines


def notes(snapshot: Snapshot) -> list[str]:
    """What the figures need to be understood: bottleneck, why not non-blocking, reasons."""
    post = snapshot.post
    lines = []
    if post.bottleneck and post.all_to_all_GBps_per_gpu:
        lines.append(f"All-to-all is limited by {post.bottleneck}.")
    if post.nonblocking_why:
        lines.append(f"Not non-blocking: {post.nonblocking_why}.")
    lines += [f"{label(name).capitalize()}: {why}." for name, why in post.reason.items()]
    if post.worst_leaf_uplink_fraction and not post.injection_GBps:
        name = label("worst_leaf_uplink_fraction").capitalize()
        lines.append(f"{name}: leaves and spines still run, but no NIC is left to send.")
    if post.disconnected_gpus:
        first = ", ".join(post.disconnected_gpus[:4])
        more = len(post.disconnected_gpus) - 4
        lines.append(f"Cut off: {first}" + (f" and {more:,} more." if more > 0 else "."))
    return lines
