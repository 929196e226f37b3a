"""The report of one scenario as a page that works offline and on paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gbviz.display.names import short_names
from gbviz.report.assumptions import assumptions
from gbviz.report.fault_tree import fault_tree
from gbviz.report.glance import glance
from gbviz.report.html import markup, render
from gbviz.report.job_lines import LEAST_ONCE_S, SAME
from gbviz.report.leaves_out import LEAVES_OUT
from gbviz.report.page_tables import (
    action_words,
    asked_jobs,
    assumption_table,
    cooling_table,
    events_table,
    expect_table,
    figures_table,
    job_parts,
    totals_table,
)
from gbviz.report.pictures import fabric_figures, more_racks, rack_figures
from gbviz.report.plots import time_plots
from gbviz.report.text import notes
from gbviz.report.timeline import clock, timeline_table
from gbviz.report.words import counted, number, percent, sized
from gbviz.scenario.document import document
from gbviz.scenario.emit import text_of
from gbviz.units import lasting

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import Timeline
    from gbviz.report.fault_tree import FaultNode
    from gbviz.report.pictures import Figure
    from gbviz.report.seen import Seen
    from gbviz.report.table import Table

Json = dict[str, Any]

# More rows than these nobody reads on a page; the files beside it have all.
_MOST_INTERVALS, _MOST_EVENTS, _MOST_FAULTS, _MOST_LOOPS = 200, 40, 100, 12
_MOST_SCENARIO = 100_000
# Room for the name of a job on a tile, for a font of 1.
_NAME = 16.0
# What the figures on tiles mean, the numbers in the place of the braces.
_NOTES = {
    "compute_fraction": "mean clock of all GPUs",
    "all_to_all_GBps_per_gpu": "{} a GPU, at the pace of the slowest",
}
_BESIDE = (
    "Beside this page: result.json (everything), jobs.csv, links.csv (every cable), timeline.csv,"
    " junit.xml, and scenario.yaml, which gbviz runs again."
)
_SECTIONS = (
    ("asked", "Asked"),
    ("pictures", "Pictures"),
    ("figures", "Figures"),
    ("jobs", "Jobs"),
    ("time", "Over time"),
    ("faults", "Faults"),
    ("cooling", "Cooling"),
    ("expect", "Expectations"),
    ("model", "Assumptions"),
    ("scenario", "Scenario"),
)


@dataclass(frozen=True, slots=True)
class Tile:
    """One number for a glance: what it is, its value, what it was, and whether it is bad."""

    what: str
    value: str
    note: str
    kind: str = ""


def report_page(seen: Seen, found: Json, *, alone: bool = False, title: str = "") -> str:
    """The whole report of a scenario as one HTML page.

    Parameters
    ----------
    seen
        The states of the scenario.
    found
        Its result document.
    alone
        Whether the page stands by itself, without the files of a run beside it.
    title
        What was asked, where the scenario's own name and description do not say that.

    Returns
    -------
    str
        The same text for the same scenario; it needs no other file and no network.
    """
    snapshot, timeline, most = seen.snapshot, seen.timeline, seen.most
    scenario = snapshot.scenario
    rests = assumptions(snapshot)
    text = text_of(document(scenario))
    after = "After" if seen.at_s is None else f"At {clock(seen.at_s)}"
    return render(
        "report.html",
        name=title or scenario.name,
        description="" if title else scenario.description,
        place=_place(snapshot),
        badges=_badges(found["expect"], snapshot),
        answer=seen.answer,
        tiles=_tiles(seen),
        sections=[one for one in _SECTIONS if one[0] != "time" or timeline is not None],
        asked=_asked(snapshot, timeline),
        events=events_table(scenario, _MOST_EVENTS),
        fabric=[_drawn(one) for one in fabric_figures(seen, after)],
        racks=[_drawn(one) for one in rack_figures(most)],
        more_racks=more_racks(most),
        figures=figures_table(snapshot, seen.worst),
        notes=notes(most),
        jobs=job_parts(seen),
        plots=[] if timeline is None else _plots(timeline),
        totals=None if timeline is None else totals_table(timeline),
        timeline=None if timeline is None else _intervals(timeline),
        tree=[_told(node) for node in fault_tree(most, _MOST_FAULTS)],
        more_faults=_more(len(most.faults)),
        no_faults="Nothing is broken.",
        cooling=cooling_table(seen, _MOST_LOOPS),
        expect=expect_table(found["expect"]),
        no_expect=_no_expect(seen),
        checks=_checks(found),
        assumed=assumption_table(
            "Assumed, for want of a source: change these to see what moves",
            [row for row in rests if row.mark == "assumed"],
        ),
        sources=assumption_table("All figures", rests),
        leaves_out=LEAVES_OUT,
        scenario=text[:_MOST_SCENARIO],
        scenario_note=_scenario_note(text),
        files="" if alone else _BESIDE,
    )


def _place(snapshot: Snapshot) -> str:
    scenario = snapshot.scenario
    file = f"{scenario.path.name} · " if scenario.path else ""
    return f"{file}{sized(snapshot.fabric)} · sha256 {scenario.sha256()[:12]}"


def _badges(rows: list[Json], snapshot: Snapshot) -> list[dict[str, str]]:
    failed = [row for row in rows if not row["passed"]]
    found = []
    if failed:
        said = (
            f"✗ {len(failed)} of {counted(len(rows), 'expectation')} failed: {failed[0]['expect']}"
        )
        found.append({"kind": "bad", "text": said})
    elif rows:
        count = "both" if len(rows) == 2 else f"all {len(rows)}"
        one = "the expectation holds" if len(rows) == 1 else f"{count} expectations hold"
        found.append({"kind": "good", "text": f"✓ {one}"})
    if snapshot.problems:
        found.append({"kind": "bad", "text": "✗ conservation check failed"})
    return found


def _tiles(seen: Seen) -> list[Tile]:
    """What a glance should take in: slowness and stops of jobs, goodput, GPUs, what is left."""
    found, most = glance(seen), seen.most
    names = [job.name for job in most.scenario.jobs]
    short = dict(zip(names, short_names(names, 1.0, _NAME), strict=True))
    tiles = []
    if found.slowest is not None:
        name, times = found.slowest
        said = f"{short[name]}, for the same work, while it runs"
        tiles.append(Tile("slowest job", f"{times:.3f} x", said, _kind(times > SAME)))
    if found.once is not None:
        name, seconds = found.once
        said = f"{short[name]}: stopped, work lost, restart"
        seconds = seconds if seconds >= LEAST_ONCE_S else 0.0
        tiles.append(Tile("lost once", _about(seconds), said, _kind(seconds > 0)))
    if found.stopped is not None:
        name, seconds = found.stopped
        who = short[name] if seconds else "no job stands still"
        tiles.append(Tile("stopped in all", _about(seconds), who, _kind(seconds > 0)))
    if found.goodput is not None:
        name, now, then = found.goodput
        said = f"{short[name]}; {percent(then)} without faults"
        tiles.append(Tile("least goodput", percent(now), said, _kind(then - now > 5e-5)))
    lost = most.base.live_gpus - most.post.live_gpus
    of = f"of {most.base.live_gpus:,}"
    tiles.append(Tile("GPUs lost", f"{lost:,}", of, _kind(lost > 0)))
    for what, figure in (
        ("bisection left", "bisection_GBps"),
        ("all-to-all left", "all_to_all_GBps_per_gpu"),
        ("compute left", "compute_fraction"),
    ):
        before, now = getattr(most.base, figure), getattr(most.post, figure)
        if before:
            value = "none" if now is None else percent(now / before)
            note = f"{'none' if now is None else number(now)} of {number(before)} GB/s"
            note = _NOTES.get(figure, "{}").format(note)
            less = now is None or now < before * (1 - 1e-9)
            tiles.append(Tile(what, value, note, _kind(less)))
    return tiles


def _about(seconds: float) -> str:
    return lasting(seconds) if seconds else "0 s"


def _kind(bad: bool) -> str:
    return "bad" if bad else "good"


def _asked(snapshot: Snapshot, timeline: Timeline | None) -> list[tuple[str, str]]:
    scenario = snapshot.scenario
    rows = [("cluster", sized(snapshot.fabric)), ("routing", scenario.routing)]
    if timeline is not None:
        rows.append(("time", lasting(timeline.duration_s)))
    standing = [action_words(one) for one in scenario.actions]
    if standing:
        rows.append(("from the start", ", ".join(standing[:_MOST_EVENTS])))
    return [*rows, *asked_jobs(scenario)]


def _drawn(figure: Figure) -> dict[str, Any]:
    svgs = {theme: markup(svg) for theme, svg in figure.svgs.items()}
    return {"title": figure.title, "caption": figure.caption, **svgs}


def _plots(timeline: Timeline) -> list[dict[str, Any]]:
    return [
        {"title": one.title, "caption": one.caption, "svg": markup(one.svg)}
        for one in time_plots(timeline)
    ]


def _intervals(timeline: Timeline) -> Table:
    table = timeline_table(timeline, _MOST_INTERVALS)
    table.say_more(len(timeline.intervals), _MOST_INTERVALS, "timeline.csv has all")
    return table


def _told(node: FaultNode) -> dict[str, Any]:
    """A fault with what people want to know of it, in words."""
    said = [node.state]
    if node.at_s is not None:
        said.append(f"at {clock(node.at_s)}")
    if node.for_s is not None:
        said.append(f"for {lasting(node.for_s)}")
    text = " ".join(said)
    tail = [node.slows, f"takes down {node.toll}" if node.toll else ""]
    tail.append(f"down with {node.also} anyway" if node.also else "")
    more = "; ".join(filter(None, tail))
    return {
        "component": node.component,
        "words": f"{text}: {more}" if more else text,
        "consequences": [_told(one) for one in node.consequences],
    }


def _more(count: int) -> str:
    more = count - _MOST_FAULTS
    return f"and {more:,} more: result.json has all" if more > 0 else ""


def _no_expect(seen: Seen) -> str:
    if seen.at_s is not None:
        return "Limits are of the end of a scenario, so none was judged at another time."
    return "This scenario sets no limits. Add `expect` to it, and a run says whether they hold."


def _checks(found: Json) -> str:
    checks = found["checks"]
    said = f"Conservation check: {checks['conservation']}."
    fixed = checks["fixed_point"]
    if fixed["converged"]:
        rounds = counted(fixed["rounds"], "round")
        said += f" Jobs that share links came to rest after {rounds}."
    elif fixed["converged"] is False:
        said += f" Jobs that share links had not come to rest after {fixed['rounds']} rounds."
    return said


def _scenario_note(text: str) -> str:
    lines = text.count("\n")
    cut = "" if len(text) <= _MOST_SCENARIO else "; the first part of it, scenario.yaml has all"
    return f"What was run, {counted(lines, 'line')}; what equals a default is left out{cut}"
