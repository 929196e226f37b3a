"""Tables of a report's page: figures in three states, jobs, totals, cooling, expectations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gbviz.cooling import loops
from gbviz.jobs.spec import InferenceJob, TrainingJob
from gbviz.report.figure_rows import figure_rows
from gbviz.report.flat import flat, is_number
from gbviz.report.job_facts import job_cost
from gbviz.report.job_lines import job_lines
from gbviz.report.jobs import job_rows
from gbviz.report.junit import found_words
from gbviz.report.story import stories
from gbviz.report.table import Table
from gbviz.report.tables import loop_table
from gbviz.report.timeline import clock
from gbviz.report.words import fine, percent, stated
from gbviz.scenario.document import document
from gbviz.scenario.emit import inline
from gbviz.units import lasting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import Timeline
    from gbviz.faults.actions import Action
    from gbviz.jobs.spec import Job
    from gbviz.jobs.traffic import TrafficJob
    from gbviz.report.assumptions import Assumption
    from gbviz.report.seen import Seen
    from gbviz.scenario import Scenario

Json = dict[str, Any]

_NONE = "none"
# Figures of a job in words, with unit and format; those of the document that are not here are
# shown under their own name.
_FIGURES = {
    "step_s": "step, s",
    "tokens_per_s": "tokens a second",
    "mfu": "model FLOP/s utilisation",
    "days_to_target": "days to the target",
    "time_s": "time, s",
    "algbw_GBps": "algorithm bandwidth, GB/s",
    "busbw_GBps": "bus bandwidth, GB/s",
    "tpot_s": "time per output token, s",
    "ttft_s": "time to the first token, s",
    "min_GBps": "slowest flow, GB/s",
    "mean_GBps": "mean of a flow, GB/s",
    "total_GBps": "all flows, GB/s",
    "bubble_s": "pipeline bubble, s",
    "compute_s": "compute, s",
    "optimiser_s": "optimiser, s",
    "fixed_s": "fixed part of a step, s",
    "dp": "data-parallel ranks",
    "exposed_s.tp": "exposed: tensor parallel, s",
    "exposed_s.pp": "exposed: pipeline, s",
    "exposed_s.dp": "exposed: data parallel, s",
    "exposed_s.ep": "exposed: experts, s",
    "exposed_s.cp": "exposed: context parallel, s",
}


@dataclass(frozen=True, slots=True)
class JobPart:
    """A job on a page: its name, what faults cost it in a line, its figures before and after."""

    name: str
    words: str
    figures: Table


def figures_table(snapshot: Snapshot, worst: Snapshot | None) -> Table:
    """Key figures before, at the worst time where that is over, and after."""
    rows, title = figure_rows(snapshot), "What the fabric can do"
    if worst is None:
        table = Table(title, ("figure", "before", "after", "change", "of before"))
        for row in rows:
            table.add(row.what, row.base, row.now, row.delta, row.share)
    else:
        heads = ("figure", "before", "at its worst", "after", "change at worst", "of before")
        table = Table(title, heads)
        for row, bad in zip(rows, figure_rows(worst), strict=True):
            table.add(row.what, row.base, bad.now, row.now, bad.delta, bad.share)
    table.right = tuple(range(1, len(table.columns)))
    return table


def job_parts(seen: Seen) -> list[JobPart]:
    """Every job, in the order of the scenario: what becomes of it, and its figures."""
    most = seen.most
    lines = job_lines(most)
    if seen.timeline is None or seen.at_s is not None:
        told = [f"{job_cost(line)}." for line in lines]
    else:
        words = [words for _, words in stories(most, seen.timeline)]
        told = [f"{one[:1].upper()}{one[1:]}." if one else "Runs as before." for one in words]
    told = [
        said if not line.limit or line.limit in said else f"{said} What limits it: {line.limit}."
        for line, said in zip(lines, told, strict=True)
    ]
    rows = zip(job_rows(most), job_rows(seen.snapshot), strict=True)
    return [
        JobPart(line.name, said, _figures(line.name, bad, None if seen.worst is None else last))
        for line, said, (bad, last) in zip(lines, told, rows, strict=True)
    ]


def _figures(name: str, row: Json, last: Json | None) -> Table:
    """A job's figures before, at its worst where that is over, and after; without those all 0."""
    heads: tuple[str, ...] = ("figure", "before", "after", "after / before")
    if last is not None:
        heads = ("figure", "before", "at its worst", "after", "at its worst / before")
    table = Table(f"Figures of {name}", heads, tuple(range(1, len(heads))))
    now, then = dict(flat(row["post"] or {})), dict(flat((last or row)["post"] or {}))
    for figure, was in flat(row["base"] or {}):
        worst, after = now.get(figure), then.get(figure)
        if not (was or worst or after):
            continue
        ratio = f"{worst / was:.4f}" if is_number(was) and is_number(worst) and was else ""
        values = (was, worst) if last is None else (was, worst, after)
        table.add(_FIGURES.get(figure, figure), *map(_cell, values), ratio)
    return table


def _cell(value: Any) -> str:
    if value is None:
        return _NONE
    return fine(value) if is_number(value) else str(value)


def totals_table(timeline: Timeline) -> Table:
    """What became of each job's time."""
    heads = (
        "job",
        "goodput",
        "work lost",
        "checkpoints",
        "stalled",
        "restarting",
        "unable to run",
        "aborts",
        "GPU-hours",
        "of them without useful work",
    )
    table = Table("What it adds up to", heads, tuple(range(1, len(heads))))
    for one in timeline.totals:
        times = (
            one.lost_work_s,
            one.checkpoint_s,
            one.stalled_s,
            one.restarting_s,
            one.aborted_s,
        )
        table.add(
            one.name,
            _NONE if one.goodput is None else percent(one.goodput),
            *(lasting(seconds) if seconds else "0" for seconds in times),
            f"{one.aborts:,}",
            f"{one.gpu_hours:,.1f}",
            f"{one.lost_gpu_hours:,.1f}",
        )
    return table


def cooling_table(seen: Seen, most: int) -> Table:
    """The loops that are worst off first, at the time that the answer speaks of."""
    snapshot = seen.most
    states = loops(snapshot.fabric, snapshot.thermal)
    worst = sorted(states, key=lambda loop: -1.0 if loop.clock is None else loop.clock)
    table = loop_table("Cooling loops", worst, most)
    if len(states) > most:
        rest = [loop.clock for loop in worst[most:] if loop.clock is not None]
        least = f" with clocks from {percent(min(rest))}" if rest and min(rest) < 1 else ""
        table.caption = f"and {len(states) - most:,} more{least}"
    when = _when(seen)
    idle = "" if snapshot.jobs else "no job is stated, so all GPUs are taken to be busy"
    said = [table.caption, when, idle] if states else ["this cluster does not say how it is cooled"]
    table.caption = "; ".join(filter(None, said))
    return table


def _when(seen: Seen) -> str:
    """Of what time the state is that the answer speaks of, "" for the end as it settles."""
    if seen.span is None or seen.timeline is None:
        return ""
    number = seen.timeline.number_at(seen.span.at_s)
    if seen.timeline.moments[number].thermal is None:
        return f"as it settles under the faults that hold {seen.span.words()}"
    return f"on the way, as it is at {clock(seen.timeline.intervals[number].start_s)}"


def expect_table(rows: Sequence[Json]) -> Table:
    """Each expectation, what was found, and whether it holds."""
    table = Table("Expectations", ("expected", "found", "holds"))
    said = [row["expect"] for row in rows]
    if any("lost_work_s" in one and not one.startswith("totals") for one in said):
        table.caption = "a job's lost_work_s is the average, half a checkpoint interval"
    for row in rows:
        table.add(row["expect"], found_words(row), "✓ yes" if row["passed"] else "✗ no")
    return table


def events_table(scenario: Scenario, most: int) -> Table:
    """What happens when, as the scenario lists it."""
    table = Table("What happens", ("when", "what", "how long"))
    for event in scenario.events[:most]:
        action = event.action
        lasts = "until repaired" if event.for_s is None else lasting(event.for_s)
        said = lasts if event.verb in ("fail", "degrade", "flap") else ""
        table.add(clock(event.at_s), action_words(action, event.verb), said)
    if len(scenario.events) > most:
        table.caption = f"and {len(scenario.events) - most:,} more, see the exact scenario"
    return table


def action_words(action: Action, verb: str = "") -> str:
    """What somebody does to the cluster, such as `degrade hxu-3 to 50 %`.

    Examples
    --------
    >>> from gbviz.faults.actions import Action
    >>> action_words(Action("degrade", "hxu-3", 0.5)), action_words(Action("fail", "leaf-0"))
    ('degrade hxu-3 to 50 %', 'fail leaf-0')
    """
    left = f" to {stated(action.factor)}" if action.factor else ""
    return f"{verb or action.verb} {action.selector}{left}".strip()


def asked_jobs(scenario: Scenario) -> list[tuple[str, str]]:
    """Each job as the scenario states it, on a line."""
    stated = document(scenario).get("jobs", [])
    return [
        (job.name, ", ".join([*_stated(one), *_taken(job, one)]))
        for job, one in zip(scenario.jobs, stated, strict=True)
    ]


def _stated(job: Json) -> list[str]:
    shown = [key for key in job if key not in ("name", "checkpoint")]
    return [f"{key} {_said(job[key])}{' bytes' * (key == 'size')}" for key in shown]


def _taken(job: TrafficJob | Job, stated: Json) -> list[str]:
    """Defaults that a reader needs to know."""
    if not isinstance(job, TrainingJob | InferenceJob):
        return []
    found = [] if "precision" in stated else [f"precision {job.precision}"]
    if isinstance(job, TrainingJob):
        saves = job.checkpoint
        found.append(
            f"a checkpoint every {lasting(saves.interval)} ({lasting(saves.write)} to write,"
            f" {lasting(saves.restart)} to restart)"
        )
    return found


def _said(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,.15g}"
    return value if isinstance(value, str) else inline(value).strip("{}")


def assumption_table(title: str, rows: Sequence[Assumption]) -> Table:
    """Figures with how far to trust them."""
    table = Table(title, ("figure", "value", "mark", "source, or why it is assumed"))
    for row in rows:
        table.add(*row)
    return table
