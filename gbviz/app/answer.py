"""One finished evaluation, as the views read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.engine import evaluate, loads

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.engine import Loads, Snapshot
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


def answer(scenario: Scenario, poll: Callable[[str], None] | None = None) -> Answer:
    """Evaluate a scenario; `poll` hears what is being done and may raise to stop it.

    Raises
    ------
    InputError
        The scenario cannot be evaluated.
    """
    snapshot = evaluate(scenario, poll=poll)
    return Answer(snapshot, loads(snapshot), loads(snapshot, base=True))
