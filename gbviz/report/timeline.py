"""A timeline as plain values, as a table, and in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gbviz.display.names import short_names
from gbviz.report.csv_text import rows_as_csv
from gbviz.report.table import Table
from gbviz.report.words import number, percent
from gbviz.scenario.expect import JOB_TOTALS

if TYPE_CHECKING:
    from gbviz.engine.timeline import Interval, JobTotal, Timeline

Json = dict[str, Any]

# What the fabric can do meanwhile.
FABRIC = (
    "live_gpus",
    "injection_GBps",
    "bisection_GBps",
    "all_to_all_GBps_per_gpu",
    "worst_leaf_uplink_fraction",
    "nvlink_GBps",
    "compute_fraction",
)
# What only jobs that deliver such things have.
_DELIVERED = ("tokens", "bytes")
# Room for the name of a job over its column, for a font of 1.
_NAME = 16.0


def timeline_rows(timeline: Timeline) -> list[Json]:
    """Every interval: when, what happened at its beginning, what the fabric and each job can do."""
    return [_row(one) for one in timeline.intervals]


def _row(one: Interval) -> Json:
    found: Json = {
        "start_s": one.start_s,
        "end_s": one.end_s,
        "event": "; ".join(one.events) or None,
    }
    found |= {name: getattr(one.metrics, name) for name in FABRIC}
    found |= {"hottest_die_c": one.hottest_die_c, "slowest_clock": one.slowest_clock}
    found["jobs"] = [asdict(job) for job in one.jobs]
    reason = {} if one.events else {"event": "nothing happens at its beginning"}
    if one.hottest_die_c is None:
        reason["hottest_die_c"] = reason["slowest_clock"] = "no GPU has power, or none is known"
    reason |= {name: why for name, why in one.metrics.reason.items() if found.get(name) is None}
    return found | ({"reason": reason} if reason else {})


def timeline_csv(timeline: Timeline | None) -> str:
    """The intervals as CSV: times, events, figures, and the state and speed of each job.

    Without a timeline there are only heads.
    """
    rows = [] if timeline is None else timeline_rows(timeline)
    figures = ["start_s", "end_s", "event", *FABRIC, "hottest_die_c", "slowest_clock"]
    names = [] if timeline is None else [total.name for total in timeline.totals]
    heads = [*figures, *(f"{name}: {what}" for name in names for what in ("state", "speed"))]
    return rows_as_csv(heads, [_cells(row, figures) for row in rows])


def _cells(row: Json, figures: list[str]) -> list[Any]:
    jobs = [job[what] for job in row["jobs"] for what in ("state", "speed")]
    return [*(row[key] for key in figures), *jobs]


def totals(timeline: Timeline) -> Json:
    """What the intervals add up to: by figure, then by job."""
    found: Json = {name: {} for name in JOB_TOTALS}
    for job in timeline.totals:
        for name in JOB_TOTALS:
            value = getattr(job, name)
            if value is not None or name not in _DELIVERED:
                found[name][job.name] = value
    found["lost_gpu_hours"] = sum(job.lost_gpu_hours for job in timeline.totals)
    found["duration_s"] = timeline.duration_s
    return found


def timeline_table(timeline: Timeline, most: int | None) -> Table:
    """The first intervals, None for all: times, events, speed of each job."""
    names = short_names([total.name for total in timeline.totals], 1.0, _NAME)
    heads = ("from", "to", "what happens", *names)
    table = Table("Timeline", heads)
    for one in timeline.intervals[:most]:
        speeds = (_speed(job.state, job.speed) for job in one.jobs)
        table.add(clock(one.start_s), clock(one.end_s), "; ".join(one.events), *speeds)
    table.say_more(len(timeline.intervals), most)
    return table


def _speed(state: str, speed: float) -> str:
    return percent(speed) if state in ("running", "degraded") else state


def total_lines(timeline: Timeline) -> list[str]:
    """A sentence a job: how much of the time it did work that counts, and where the rest went."""
    return [_total(job) for job in timeline.totals]


def _total(job: JobTotal) -> str:
    if job.goodput is None:
        return f"{job.name}: no time passes."
    said = [f"{job.name}: goodput {percent(job.goodput)}"]
    for value, words in (
        (job.lost_work_s, "of work lost"),
        (job.checkpoint_s, "writing checkpoints"),
        (job.stalled_s, "stalled"),
        (job.restarting_s, "restarting"),
        (job.aborted_s, "unable to run"),
    ):
        if value >= 0.0005:
            said.append(f"{number(round(value, 3))} s {words}")
    if job.aborts:
        said.append(f"{job.aborts} {'abort' if job.aborts == 1 else 'aborts'}")
    return ", ".join(said) + "."


def clock(seconds: float) -> str:
    """A time as people read it.

    Examples
    --------
    >>> clock(0.0), clock(630.065), clock(90061.0), clock(9460800000.0)
    ('0:00:00', '0:10:30.065', '1d 1:01:01', '109,500d 0:00:00')
    """
    days, thousandths = divmod(round(1000 * seconds), 86_400_000)
    minutes, thousandths = divmod(thousandths, 60_000)
    hours, minute = divmod(minutes, 60)
    whole = f"{thousandths / 1000:06.3f}".rstrip("0").rstrip(".")
    text = f"{hours}:{minute:02d}:{whole}"
    return f"{days:,}d {text}" if days else text
