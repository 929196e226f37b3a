"""What becomes of each job over a timeline, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gbviz.report.job_lines import SAME, job_lines
from gbviz.report.pace import alike, finished_s, first_fault_s, least_s, paces, stops
from gbviz.report.slower import line_words, spares_words, work_speed
from gbviz.report.words import percent
from gbviz.units import lasting

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import JobTotal, Timeline
    from gbviz.report.job_lines import JobLine
    from gbviz.report.pace import Pace

_RUNS = ("running", "degraded", "finished")
# Of a job that no fault has met, and of one that none has kept from anything.
HAD_FINISHED, FINISHES = "had finished before", "finishes as before"


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
    begins_s, done_s = first_fault_s(timeline), finished_s(timeline, number)
    if done_s is not None and done_s <= begins_s < math.inf:
        return HAD_FINISHED
    pace = paces(timeline, number)
    still, times = stops(timeline, number)
    least = least_s(timeline)
    stood = still >= least > 0
    said = _stops(timeline.totals[number], still if stood else 0.0, times)
    words, speed = _paced(seen, line, pace)
    if words:
        then = pace.after_stop and pace.last is not None and alike(speed, pace.last)
        said += ((", then " if then else ", and ") if said else "") + words
    if pace.last is not None and not (words and alike(speed, pace.last)):
        shown = timeline.number_at(timeline.duration_s if seen.at_s is None else seen.at_s)
        ends = shown == len(timeline.intervals) - 1
        said += _at_last(seen, line, pace.last, told=bool(said), ends=ends)
    end = timeline.intervals[-1].jobs[number]
    if end.state not in _RUNS:
        why = f" ({end.words})" if end.words else ""
        said += f"{', and ' if said else ''}is {end.state} at the end{why}"
    return said or (FINISHES if done_s is not None and begins_s < math.inf else "")


def _paced(seen: Snapshot, line: JobLine, pace: Pace) -> tuple[str, float]:
    """How slow a job is at its slowest, or how fast at its fastest, and that; "" for as before."""
    if pace.slowest is None or pace.fastest is None or pace.told is None:
        return "", 0.0
    if pace.slowest < 1 / SAME:
        return _moves(seen, line, pace, pace.slowest, pace.slowest_s), pace.slowest
    if pace.told < 1 / SAME:
        times = f"at most {1 / pace.told:.3f} times"
        return f"is slower for {lasting(pace.slow_s)} in all, {times}", pace.told
    if pace.fastest > SAME:
        return _moves(seen, line, pace, pace.fastest, pace.fastest_s), pace.fastest
    return "", 0.0


def _moves(seen: Snapshot, line: JobLine, pace: Pace, speed: float, for_s: float) -> str:
    """What a job does at a speed, and for how long; explained where that is what is shown."""
    goes_on = pace.last is not None and alike(pace.last, speed)
    over = "" if goes_on else f" for {lasting(for_s)}"
    words = line_words(seen, line, over) if alike(work_speed(seen, line), speed) else ""
    if not words:
        most = "slowest" if speed < 1 else "fastest"
        words = f"does {percent(speed)} of its healthy work a second at its {most}{over}"
    return words


def _at_last(seen: Snapshot, line: JobLine, last: float, *, told: bool, ends: bool) -> str:
    """What a job does in the end, where that is something else.

    `told` says that it comes after other words, `ends` that the state that is shown is the end.
    """
    if not 1 / SAME <= last <= SAME:
        return f", then does {percent(last)} of its healthy work a second"
    fewer = line.state in _RUNS and line.lost_gpus > line.replaced_gpus
    if fewer and alike(work_speed(seen, line), last):
        words = line_words(seen, line, "" if ends else " for a while")
        return f", then {words}" if told else words
    spares = spares_words(line) if ends else ""
    return f", then runs as before{spares}" if told else ""


def _stops(total: JobTotal, still: float, times: int) -> str:
    """`stops for 10 min 30 s and loses 27 min of work`; "" for neither."""
    loses = f"loses {lasting(total.lost_work_s)} of work" if total.lost_work_s >= 1 else ""
    if not still:
        return loses
    said = f"stops for {lasting(still)}"
    if times > 1:
        said = f"stops {times:,} times, for {lasting(still)} in all,"
    return f"{said} and {loses}" if loses else said.removesuffix(",")
