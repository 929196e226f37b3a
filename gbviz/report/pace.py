"""How fast a job goes over a timeline, when it stands still, and when it is finished."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.report.job_lines import SAME

if TYPE_CHECKING:
    from gbviz.engine.timeline import Timeline

# Speeds that differ by less are one.
_ALIKE = 1e-3
STANDS = ("stalled", "restarting", "aborted")


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a job goes while it runs; speeds are of that of the healthy one.

    Parameters
    ----------
    slowest, fastest
        Speeds, moments shorter than a hundredth of the whole left out where there are longer ones;
        None where it never runs.
    last
        Its speed when it was last seen to run; None where it is not at the end, nor finished.
    slow_s
        For how many seconds it is slower than the healthy one in all.
    slowest_s, fastest_s
        For how many seconds it goes at those speeds.
    told
        The least speed that is worth words: slowness of less than `least_s` in all is not.
    after_stop
        Whether what it does last is all that it does since it last stood still.
    """

    slowest: float | None
    fastest: float | None
    last: float | None
    slow_s: float
    slowest_s: float
    fastest_s: float
    told: float | None
    after_stop: bool


def paces(timeline: Timeline, number: int) -> Pace:
    """How fast a job goes."""
    runs = [
        (place, one.end_s - one.start_s, one.jobs[number].speed)
        for place, one in enumerate(timeline.intervals)
        if one.jobs[number].state in ("running", "degraded") and one.jobs[number].speed > 0
    ]
    if not runs:
        return Pace(None, None, None, 0.0, 0.0, 0.0, None, after_stop=False)
    states = [one.jobs[number].state for one in timeline.intervals]
    last_place, _, last = runs[-1]
    ends_so = all(state == "finished" for state in states[last_place + 1 :])
    # What holds at the end goes on, however short it has lasted.
    long = [
        speed
        for place, lasts, speed in runs
        if lasts >= 0.01 * timeline.duration_s or place == len(states) - 1
    ] or [speed for _, _, speed in runs]
    slowest, fastest = min(long), max(long)
    stopped = [place for place, state in enumerate(states) if state in STANDS]
    since = [speed for place, _, speed in runs if not stopped or place > stopped[-1]]
    slow_s = sum(lasts for _, lasts, speed in runs if speed < 1 / SAME)
    passes = slowest >= 1 / SAME and slow_s >= least_s(timeline) > 0
    return Pace(
        slowest,
        fastest,
        last if ends_so else None,
        slow_s,
        _at(runs, slowest),
        _at(runs, fastest),
        min(speed for _, _, speed in runs) if passes else slowest,
        after_stop=ends_so and all(alike(speed, last) for speed in since),
    )


def least_s(timeline: Timeline) -> float:
    """How long slowness or a stop lasts in all to be worth words, seconds; 0 where no time passes.

    A reroute of 3 ms is none; in a scenario of milliseconds it is.
    """
    return min(1.0, 0.01 * timeline.duration_s)


def _at(runs: list[tuple[int, float, float]], speed: float) -> float:
    return sum(lasts for _, lasts, other in runs if alike(other, speed))


def alike(one: float, other: float) -> bool:
    """Whether two speeds are told as one.

    Examples
    --------
    >>> alike(0.7501, 0.75), alike(0.76, 0.75), alike(0.0, 0.75)
    (True, False, False)
    """
    return abs(one / other - 1) < _ALIKE


def finished_s(timeline: Timeline, number: int) -> float | None:
    """When a job has all that it was to do, seconds; None where that is not before the end."""
    return next(
        (one.start_s for one in timeline.intervals if one.jobs[number].state == "finished"), None
    )


def first_fault_s(timeline: Timeline) -> float:
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
