"""What becomes of each job over a timeline, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gbviz.report.job_lines import SAME, job_lines
from gbviz.report.lasting import lasting
from gbviz.report.slower import line_words, work_speed
from gbviz.report.words import percent

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import JobTotal, Timeline
    from gbviz.report.job_lines import JobLine

_RUNS = ("running", "degraded", "finished")
# Of a job that no fault has met.
HAD_FINISHED = "had finished before"


def stories(seen: Snapshot, timeline: Timeline) -> list[tuple[str, str]]:
    """The name of each job, and what becomes of it; "" where it runs as without any fault.

    Parameters
    ----------
    seen
        The state that the reader is shown, from which a slower job is explained.
    timeline
        Of its scenario.
    """
    return [
        (line.name, _story(seen, line, timeline, number))
        for number, line in enumerate(job_lines(seen))
    ]


def _story(seen: Snapshot, line: JobLine, timeline: Timeline, number: int) -> str:
    if (done := finished_s(timeline, number)) is not None and done <= _first_fault_s(timeline):
        return HAD_FINISHED
    total, last = timeline.totals[number], timeline.intervals[-1].jobs[number]
    still, times = stops(timeline, number)
    # A reroute of 3 ms is no stop; in a scenario of milliseconds it is.
    least = min(1.0, 0.01 * timeline.duration_s)
    said = _stops(total, still, times) if still >= least > 0 else ""
    slowest = slowest_speed(timeline, number)
    if slowest is not None and slowest < 1 / SAME:
        # Slowness that passes may come before the stop or after it.
        between = ", then " if last.speed < 1 / SAME else ", and "
        said += (between if said else "") + _slows(seen, line, slowest, last.speed)
    elif (slow := slow_s(timeline, number)) >= least > 0:
        said += f"{', and ' if said else ''}is slower for {lasting(slow)} in all"
    elif work_speed(seen, line) > SAME:
        said += f"{', and ' if said else ''}{line_words(seen, line, _while(last.speed <= SAME))}"
    if last.state not in _RUNS:
        why = f" ({last.words})" if last.words else ""
        said += f"{', and ' if said else ''}is {last.state} at the end{why}"
    return said


def _stops(total: JobTotal, still: float, times: int) -> str:
    """`stops for 10 min 30 s and loses 27 min of work`."""
    said = f"stops for {lasting(still)}"
    if times > 1:
        said = f"stops {times:,} times, for {lasting(still)} in all,"
    if total.lost_work_s >= 1:
        said += f" and loses {lasting(total.lost_work_s)} of work"
    return said.removesuffix(",")


def _slows(seen: Snapshot, line: JobLine, slowest: float, last: float) -> str:
    """How slow it is at its slowest; explained where that is the state that is shown."""
    over = _while(last >= 1 / SAME)
    if abs(work_speed(seen, line) / slowest - 1) < 1e-3:
        return line_words(seen, line, over)
    return f"does {percent(slowest)} of its healthy work a second at its slowest{over}"


def _while(passes: bool) -> str:
    return " for a while" if passes else ""


def finished_s(timeline: Timeline, number: int) -> float | None:
    """When a job has all that it was to do, seconds; None where that is not before the end."""
    return next(
        (one.start_s for one in timeline.intervals if one.jobs[number].state == "finished"), None
    )


def _first_fault_s(timeline: Timeline) -> float:
    """When a fault first holds, seconds; inf for never."""
    pairs = zip(timeline.intervals, timeline.moments, strict=True)
    return next((one.start_s for one, moment in pairs if moment.causes), math.inf)


def stops(timeline: Timeline, number: int) -> tuple[float, int]:
    """For how many seconds in all a job that is not finished does nothing, and how many times."""
    still, times, before = 0.0, 0, False
    for one in timeline.intervals:
        job = one.jobs[number]
        stands = job.speed == 0 and job.state != "finished" and one.end_s > one.start_s
        still += (one.end_s - one.start_s) * stands
        times += stands and not before
        before = stands
    return still, times


def slow_s(timeline: Timeline, number: int) -> float:
    """For how many seconds in all a job is slower than on the healthy cluster."""
    return sum(
        one.end_s - one.start_s
        for one in timeline.intervals
        if 0 < one.jobs[number].speed < 1 / SAME
    )


def slowest_speed(timeline: Timeline, number: int) -> float | None:
    """The least speed of a job while it runs, of the healthy one's; None where it never runs.

    Moments shorter than a hundredth of the whole count only where it runs in no longer ones.
    """
    spans = [
        (one.end_s - one.start_s, one.jobs[number].speed)
        for one in timeline.intervals
        if one.jobs[number].state in ("running", "degraded")
    ]
    long = [speed for lasts, speed in spans if lasts >= 0.01 * timeline.duration_s]
    found = long or [speed for _, speed in spans]
    end = timeline.intervals[-1].jobs[number]
    # What holds at the end goes on.
    found += [end.speed] if end.state in ("running", "degraded") and end.speed > 0 else []
    return min((speed for speed in found if speed > 0), default=None)
