"""What a report shows: a scenario's state, its timeline, and its worst time if that is another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gbviz.engine.stage import snapshot_at
from gbviz.report.brief import brief
from gbviz.report.timeline import clock
from gbviz.report.worst import worst_span

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import Timeline


@dataclass(frozen=True, eq=False)
class Seen:
    """The states of a scenario that a reader ought to see.

    Parameters
    ----------
    snapshot, timeline
        Of the scenario; None for one in which no time passes.
    at_s
        The time that was asked for, seconds; None for the end.
    worst, when
        The state at its worst, with the time in words; None and "" where that is the snapshot.
    """

    snapshot: Snapshot
    timeline: Timeline | None
    at_s: float | None
    worst: Snapshot | None
    when: str

    @property
    def most(self) -> Snapshot:
        """The state to speak of first."""
        return self.worst or self.snapshot

    @cached_property
    def answer(self) -> tuple[str, str, str]:
        """Three sentences."""
        return brief(self.most, self.timeline, self.when)


def seen_of(snapshot: Snapshot, timeline: Timeline | None, at_s: float | None = None) -> Seen:
    """What to show of a scenario: at a time that was asked for only that.

    Examples
    --------
    >>> import gbviz
    >>> seen = seen_of(gbviz.evaluate(gbviz.preset("gb300-su").with_faults("spine-0")), None)
    >>> seen.worst is None, seen.answer[1]
    (True, 'No job runs on this cluster, so none is slower.')
    """
    if timeline is None or at_s is not None:
        when = "" if at_s is None else f"at {clock(at_s)}"
        return Seen(snapshot, timeline, at_s, None, when)
    span = worst_span(timeline, snapshot.base)
    if span is None:
        return Seen(snapshot, timeline, None, None, "")
    return Seen(snapshot, timeline, None, snapshot_at(timeline, span.middle_s), span.words())
