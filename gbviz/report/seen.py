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
    """The states of a scenario that a reader ought to see, each found when somebody looks.

    Parameters
    ----------
    snapshot, timeline
        Of the scenario; None for one in which no time passes.
    at_s
        The time that was asked for, seconds: then only that is shown. None for the end.

    Examples
    --------
    >>> import gbviz
    >>> seen = Seen(gbviz.evaluate(gbviz.preset("gb300-su").with_faults("spine-0")))
    >>> seen.worst is None, seen.answer[1]
    (True, 'No job runs on this cluster.')
    """

    snapshot: Snapshot
    timeline: Timeline | None = None
    at_s: float | None = None

    @cached_property
    def span(self) -> Span | None:
        """When the faults of the worst state hold; None where that is the snapshot."""
        if self.timeline is None or self.at_s is not None:
            return None
        return worst_span(self.timeline, self.snapshot.base)

    @cached_property
    def worst(self) -> Snapshot | None:
        """The state at its worst; None where that is the snapshot."""
        if self.timeline is None or self.span is None:
            return None
        return snapshot_at(self.timeline, self.span.at_s)

    @property
    def most(self) -> Snapshot:
        """The state to speak of first."""
        return self.worst or self.snapshot

    @cached_property
    def calm(self) -> Timeline | None:
        """The timeline of the same scenario without any fault; None where one moment is shown."""
        if self.timeline is None or self.at_s is not None:
            return None
        scenario = self.snapshot.scenario
        return run(replace(undamaged(scenario), duration_s=scenario.end_s))

    @cached_property
    def answer(self) -> tuple[str, str, str]:
        """Three sentences; where one moment is shown, on that alone."""
        if self.timeline is None:
            return brief(self.most)
        if self.at_s is not None or self.calm is None:
            return brief(self.most, self.timeline.at(self.snapshot.at_s or 0.0))
        return brief_over_time(self.most, self.timeline, self.calm, self.span)


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
    return Seen(snapshot, made, at_s), found
