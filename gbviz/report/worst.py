"""The worst time of a timeline: what a reader wants to see where all is mended by the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gbviz.report.timeline import FABRIC, clock

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
        While just these faults hold.
    at_s
        A time in it to look at: one at which as many jobs as may be run.
    damage
        How much of the fabric is lost, 0 for nothing.
    faults
        How many hold.
    """

    start_s: float
    end_s: float
    at_s: float
    damage: float
    faults: int

    def words(self) -> str:
        """`from 0:10:00 to 0:40:00`, to the second where it lasts some minutes."""
        digits = 0 if self.end_s - self.start_s >= _MINUTES_S else 3
        ends = (clock(round(at_s, digits)) for at_s in (self.start_s, self.end_s))
        return "from {} to {}".format(*ends)


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
    first = last = seen
    while first > 0 and broken[first - 1] == broken[seen]:
        first -= 1
    while last + 1 < len(intervals) and broken[last + 1] == broken[seen]:
        last += 1
    middle = (intervals[seen].start_s + intervals[seen].end_s) / 2
    start, end = intervals[first].start_s, intervals[last].end_s
    return Span(start, end, middle, worst.damage, worst.faults)


def others_than(timeline: Timeline, at_s: float) -> list[Fault]:
    """The faults of other times than one, each once, without those that hold then."""
    now = _broken(timeline)[timeline.number_at(at_s)]
    every = (fault for moment in timeline.moments for fault in moment.causes)
    found = {(one.component, one.factor): one for one in every}
    return [one for what, one in found.items() if what not in now]


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
