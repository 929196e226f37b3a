"""What becomes of each job over a timeline, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.report.job_lines import SAME, job_lines
from gbviz.report.lasting import lasting
from gbviz.report.slower import line_words

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import JobTotal, Timeline
    from gbviz.report.job_lines import JobLine

_RUNS = ("running", "degraded", "finished")


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
    total, last = timeline.totals[number], timeline.intervals[-1].jobs[number]
    said = _stops(total) if stopped_s(total) >= 1 else ""
    slowest = slowest_speed(timeline, number)
    if slowest is not None and slowest < 1 / SAME:
        # Slowness that passes may come before the stop or after it.
        between = ", then " if last.speed < 1 / SAME else ", and "
        said += (between if said else "") + _slows(seen, line, slowest, last.speed)
    if last.state not in _RUNS:
        why = f" ({last.words})" if last.words else ""
        said += f"{', and ' if said else ''}is {last.state} at the end{why}"
    return said


def _stops(total: JobTotal) -> str:
    """`stops for 10 min 30 s and loses 27 min of work`."""
    said = f"stops for {lasting(stopped_s(total))}"
    if total.lost_work_s >= 1:
        said += f" and loses {lasting(total.lost_work_s)} of work"
    return said


def _slows(seen: Snapshot, line: JobLine, slowest: float, last: float) -> str:
    """How slow it is at its slowest; explained where that is the state that is shown."""
    over = " for a while" if last >= 1 / SAME else ""
    if line.slowdown is not None and abs(line.slowdown * slowest - 1) < 1e-3:
        return line_words(seen, line, over)
    return f"takes up to {1 / slowest:.3f} times as long{over}"


def stopped_s(total: JobTotal) -> float:
    """Seconds in which a job did nothing: stalled, restarting, or aborted for good."""
    return total.stalled_s + total.restarting_s + total.aborted_s


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
    return min(long or [speed for _, speed in spans], default=None)
