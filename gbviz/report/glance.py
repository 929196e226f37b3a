"""What a glance at a scenario should take in: its worst job, its stops, its goodput."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.report.job_lines import job_lines
from gbviz.report.pace import least_s, paces, stops

if TYPE_CHECKING:
    from gbviz.report.seen import Seen


@dataclass(frozen=True, slots=True)
class Glance:
    """The worst job by three measures, each with its name; None where there is no such value.

    Parameters
    ----------
    slowest
        The job that is slowest while it runs, and its time over its healthy time.
    stopped
        The job that stands still longest in all, and for how many seconds; 0 for moments.
    goodput
        The job with the least goodput, that goodput, and that of the same job without faults.
    once
        Of a moment alone: the job that faults cost most once, and how many seconds.
    """

    slowest: tuple[str, float] | None
    stopped: tuple[str, float] | None
    goodput: tuple[str, float, float] | None
    once: tuple[str, float] | None = None


def glance(seen: Seen) -> Glance:
    """A glance at a scenario; at a moment alone there are no stops and no goodput.

    Examples
    --------
    >>> import gbviz
    >>> from gbviz.report.seen import Seen
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> found = Seen(gbviz.evaluate(scenario.with_faults("spine-0")))
    >>> glance(found)
    Glance(slowest=('shift:72', 1.0), stopped=None, goodput=None, once=('shift:72', 0.0))
    """
    timeline, calm = seen.timeline, seen.calm
    if timeline is None or calm is None:
        lines = job_lines(seen.most)
        known = [(one.name, one.slowdown) for one in lines if one.slowdown is not None]
        slowest = max(known, key=lambda one: one[1], default=None)
        once = max(((one.name, one.once_s) for one in lines), key=lambda one: one[1], default=None)
        return Glance(slowest, None, None, once)
    speeds = [
        (total.name, paces(timeline, number).told) for number, total in enumerate(timeline.totals)
    ]
    slow = [(name, 1 / speed) for name, speed in speeds if speed]
    still = [
        (total.name, stops(timeline, number)[0]) for number, total in enumerate(timeline.totals)
    ]
    least = least_s(timeline)
    stopped = [(name, seconds if seconds >= least else 0.0) for name, seconds in still]
    goodputs = [
        (now.name, now.goodput, then.goodput)
        for now, then in zip(timeline.totals, calm.totals, strict=True)
        if now.goodput is not None and then.goodput is not None
    ]
    return Glance(
        max(slow, key=lambda one: one[1], default=None),
        max(stopped, key=lambda one: one[1], default=None),
        min(goodputs, key=lambda one: one[1], default=None),
    )
