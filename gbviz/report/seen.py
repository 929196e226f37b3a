"""What a report shows: a scenario's state, its timeline, and its worst time if that is another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gbviz.engine import evaluate
from gbviz.engine.evaluate import undamaged
from gbviz.engine.run import run
from gbviz.engine.stage import snapshot_at
from gbviz.engine.state import silent
from gbviz.report.brief import brief, brief_over_time
from gbviz.report.document import document
from gbviz.report.worst import worst_span

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import Timeline
    from gbviz.report.worst import Span
    from gbviz.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Seen:
    """The states of a scenario that a reader ought to see.

    Parameters
    ----------
    snapshot, timeline
        Of the scenario; None for one in which no time passes.
    at_s
        The time that was asked for, seconds; None for the end.
    worst, span
        The state at its worst, and when its faults hold; None where that is the snapshot.
    """

    snapshot: Snapshot
    timeline: Timeline | None
    at_s: float | None
    worst: Snapshot | None
    span: Span | None

    @property
    def most(self) -> Snapshot:
        """The state to speak of first."""
        return self.worst or self.snapshot

    @cached_property
    def calm(self) -> Timeline | None:
        """The timeline of the same scenario without any fault; None where no time passes."""
        if self.timeline is None:
            return None
        scenario = self.snapshot.scenario
        return run(replace(undamaged(scenario), duration_s=scenario.end_s))

    @cached_property
    def answer(self) -> tuple[str, str, str]:
        """Three sentences; at a time that was asked for, on that moment alone."""
        if self.timeline is None or self.calm is None or self.at_s is not None:
            return brief(self.most)
        return brief_over_time(self.most, self.timeline, self.calm, self.span)


def seen_of(snapshot: Snapshot, timeline: Timeline | None, at_s: float | None = None) -> Seen:
    """What to show of a scenario: at a time that was asked for only that.

    Examples
    --------
    >>> import gbviz
    >>> seen = seen_of(gbviz.evaluate(gbviz.preset("gb300-su").with_faults("spine-0")), None)
    >>> seen.worst is None, seen.answer[1]
    (True, 'No job runs on this cluster.')
    """
    if timeline is None or at_s is not None:
        return Seen(snapshot, timeline, at_s, None, None)
    span = worst_span(timeline, snapshot.base)
    worst = None if span is None else snapshot_at(timeline, span.at_s)
    return Seen(snapshot, timeline, None, worst, span)


def answer_of(
    scenario: Scenario, at_s: float | None = None, poll: Callable[[str], None] = silent
) -> tuple[Seen, dict[str, Any]]:
    """A scenario's states, at a time or at its end, and their document.

    Parameters
    ----------
    scenario
        Any.
    at_s
        The time that is asked for, seconds; None for the end. Expectations are judged only there.
    poll
        Called with what comes next; what it raises stops the work.

    Raises
    ------
    InputError
        The scenario cannot be evaluated.
    """
    snapshot = evaluate(scenario, at_s, poll=poll)
    made = run(scenario, poll=poll) if scenario.end_s > 0 else None
    found = document(snapshot, judge=at_s is None, timeline=made)
    return seen_of(snapshot, made, at_s), found
