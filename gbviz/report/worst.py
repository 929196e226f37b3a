"""The worst time of a timeline: what a reader wants to see where all is mended by the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from gbviz.report.timeline import FABRIC, clock
from gbviz.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.engine.metrics import Metrics
    from gbviz.engine.timeline import Interval, Timeline
    from gbviz.faults import Fault

_SAME = 1e-9
# Moments shorter than this part of the whole are passed over where longer ones are bad too.
_SHORT = 0.01
_MINUTES_S = 120.0


@dataclass(frozen=True, slots=True)
class Span:
    """The faults of one moment: from when to when they hold, seconds.

    Parameters
    ----------
    start_s, end_s
        While these faults hold, others beside them or not.
    at_s
        A time in it to look at: one at which as many jobs as may be run.
    damage
        How much of the fabric is lost, 0 for nothing.
    faults
        How many hold.
    again
        How many times more they all hold at other times.
    """

    start_s: float
    end_s: float
    at_s: float
    damage: float
    faults: int
    again: int = 0

    def words(self) -> str:
        """`from 0:10:00 to 0:40:00`, to the second where it lasts some minutes."""
        digits = 0 if self.end_s - self.start_s >= _MINUTES_S else 3
        ends = (clock(round(at_s, digits)) for at_s in (self.start_s, self.end_s))
        once = "from {} to {}".format(*ends)
        return once + (f", and {counted(self.again, 'time')} more" if self.again else "")


def worst_span(timeline: Timeline, base: Metrics) -> Span | None:
    """The time in which the fabric has lost most; None where that is so at the end, or ever.

    Damage is the sum of what each key figure has lost, each of its healthy value. Of times equally
    bad it is the one with most faults, then the longest; times shorter than a hundredth of the
    whole count only where no longer one is bad. Faults that cost nothing count where none do.

    Parameters
    ----------
    timeline
        Of a scenario.
    base
        What its healthy fabric can do.

    Examples
    --------
    >>> import gbviz
    >>> from dataclasses import replace
    >>> from gbviz.engine.run import run
    >>> from gbviz.faults.actions import Action
    >>> from gbviz.scenario.event import Event
    >>> hour = Event(600.0, Action("fail", "spine-3"), for_s=1800.0)
    >>> made = run(replace(gbviz.preset("gb300-su"), events=(hour,), duration_s=3600.0))
    >>> base = gbviz.evaluate(gbviz.preset("gb300-su")).base
    >>> found = worst_span(made, base)  # a quarter of the bisection, of the worst leaf's uplinks
    >>> found.start_s, found.end_s, found.damage, found.faults
    (600.0, 2400.0, 0.5, 1)
    """
    spans = list(_spans(timeline, base))
    hurt = [span for span in spans if span.faults or span.damage > _SAME]
    # What lingers once all is mended, such as heat, is told by way of its cause.
    hurt = [span for span in hurt if span.faults] or hurt
    long = [span for span in hurt if span.lasts_s(timeline) >= _SHORT * timeline.duration_s]
    if not hurt:
        return None
    worst = max(long or hurt, key=lambda one: (one.damage, one.faults, one.lasts_s(timeline)))
    end = spans[-1]
    if worst.damage <= end.damage + _SAME and worst.faults <= end.faults:
        return None
    return _held(timeline, worst)


@dataclass(frozen=True, slots=True)
class _Equal:
    """Neighbouring intervals that are equally bad, by their numbers."""

    first: int
    last: int
    damage: float
    faults: int

    def lasts_s(self, timeline: Timeline) -> float:
        return timeline.intervals[self.last].end_s - timeline.intervals[self.first].start_s


def _spans(timeline: Timeline, base: Metrics) -> Iterator[_Equal]:
    held: _Equal | None = None
    for number, (one, moment) in enumerate(zip(timeline.intervals, timeline.moments, strict=True)):
        now = _Equal(number, number, _damage(one, base), len(moment.causes))
        if held is None:
            held = now
        elif held.faults == now.faults and abs(held.damage - now.damage) <= _SAME:
            held = replace(held, last=number)
        else:
            yield held
            held = now
    if held is not None:
        yield held


def _held(timeline: Timeline, worst: _Equal) -> Span:
    """From when to when its faults hold, and when to look."""
    intervals = timeline.intervals
    seen = max(
        range(worst.first, worst.last + 1),
        key=lambda n: (_running(intervals[n]), intervals[n].end_s - intervals[n].start_s),
    )
    broken = _broken(timeline)
    held = [broken[seen] <= one for one in broken]
    first = last = seen
    while first > 0 and held[first - 1]:
        first -= 1
    while last + 1 < len(intervals) and held[last + 1]:
        last += 1
    begun = sum(now and not before for before, now in pairwise([False, *held]))
    middle = (intervals[seen].start_s + intervals[seen].end_s) / 2
    start, end = intervals[first].start_s, intervals[last].end_s
    return Span(start, end, middle, worst.damage, worst.faults, begun - 1)


def others_than(timeline: Timeline, at_s: float) -> tuple[list[Fault], list[Fault]]:
    """The faults that do not hold at a time, each once.

    Returns
    -------
    tuple
        Those that hold for a part of the time of all that do, and those of other times alone.
    """
    broken = _broken(timeline)
    now = broken[timeline.number_at(at_s)]
    beside = set().union(*(one for one in broken if now <= one))
    every = (fault for moment in timeline.moments for fault in moment.causes)
    found = {(one.component, one.factor): one for one in every}
    others = [(what in beside, one) for what, one in found.items() if what not in now]
    return [one for meets, one in others if meets], [one for meets, one in others if not meets]


def _broken(timeline: Timeline) -> list[set[tuple[str, float]]]:
    """What is broken at each moment, and how far."""
    return [{(one.component, one.factor) for one in moment.causes} for moment in timeline.moments]


def _running(one: Interval) -> int:
    return sum(job.state in ("running", "degraded") for job in one.jobs)


def _damage(one: Interval, base: Metrics) -> float:
    lost = 0.0
    for figure in FABRIC:
        before, now = getattr(base, figure), getattr(one.metrics, figure)
        if before:
            lost += 1.0 if now is None else max(1 - now / before, 0.0)
    return lost
