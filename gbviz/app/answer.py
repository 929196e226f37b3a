"""One finished evaluation, as the views read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.engine import evaluate, loads
from gbviz.engine.stage import snapshot_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.engine import Loads, Snapshot
    from gbviz.engine.timeline import Timeline
    from gbviz.scenario import Scenario


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A scenario's snapshot with the loads of its cables, now and on the healthy cluster."""

    snapshot: Snapshot
    loads: Loads
    base: Loads

    @property
    def scenario(self) -> Scenario:
        """What was asked."""
        return self.snapshot.scenario


def answer(
    scenario: Scenario, poll: Callable[[str], None] | None = None, *, at_s: float | None = None
) -> Answer:
    """Evaluate a scenario at a time (None = its end); `poll` may raise to stop it.

    Raises
    ------
    InputError
        The scenario cannot be evaluated.
    """
    return _answer(evaluate(scenario, at_s, poll=poll))


def answer_at(
    timeline: Timeline, time_s: float, _poll: Callable[[str], None] | None = None
) -> Answer:
    """A moment of a timeline: jobs that wait or restart there load nothing."""
    return _answer(snapshot_at(timeline, time_s))


def _answer(snapshot: Snapshot) -> Answer:
    return Answer(snapshot, loads(snapshot), loads(snapshot, base=True))
