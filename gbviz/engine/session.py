"""A scenario being worked on: its history, undo and redo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gbviz.engine.edits import Edit
    from gbviz.scenario import Scenario

# What a person may want back; scenarios share nearly all that they hold.
MOST_STEPS = 1000


@dataclass(frozen=True, slots=True)
class Step:
    """One state in a history: what led to it, and the scenario."""

    label: str
    scenario: Scenario
    merge: str = ""


class Session:
    """The history of one scenario: a list of steps and a cursor.

    Parameters
    ----------
    scenario
        What it starts from.
    saved
        Whether a file holds that scenario already.

    Examples
    --------
    >>> from gbviz.engine import edits
    >>> from gbviz.scenario import preset
    >>> session = Session(preset("gb300-su"))
    >>> session.do(edits.fail(session.scenario, ["spine-0"]))
    True
    >>> session.undo_label, session.undo(), session.undo_label, session.redo_label
    ('fail spine-0', True, None, 'fail spine-0')
    """

    def __init__(self, scenario: Scenario, *, saved: bool = True) -> None:
        self._steps = [Step("", scenario)]
        self._at = 0
        self._saved = scenario if saved else None
        self._open = True

    @property
    def scenario(self) -> Scenario:
        """The scenario as it is now."""
        return self._steps[self._at].scenario

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, those that are undone included."""
        return tuple(self._steps)

    @property
    def at(self) -> int:
        """Which step holds now."""
        return self._at

    @property
    def undo_label(self) -> str | None:
        """What `undo` takes back, None where there is nothing."""
        return self._steps[self._at].label if self._at else None

    @property
    def redo_label(self) -> str | None:
        """What `redo` does again, None where there is nothing."""
        later = self._at + 1
        return self._steps[later].label if later < len(self._steps) else None

    @property
    def clean(self) -> bool:
        """Whether the scenario is the one that was saved last."""
        return self.scenario == self._saved

    def do(self, edit: Edit) -> bool:
        """Make an edit the latest step; what was undone is forgotten.

        Edits that follow each other with the same `merge` are one step: a slider's drag.

        Returns
        -------
        bool
            False for an edit that changes nothing, which is no step.
        """
        if edit.scenario == self.scenario:
            return False
        del self._steps[self._at + 1 :]
        last = self._steps[-1]
        if edit.merge and edit.merge == last.merge and self._at and self._open:
            self._steps.pop()
        self._steps.append(Step(edit.label, edit.scenario, edit.merge))
        if len(self._steps) > MOST_STEPS + 1:
            del self._steps[0]
        self._at = len(self._steps) - 1
        self._open = True
        return True

    def close_merge(self) -> None:
        """Let the next edit be a step of its own, whatever it could merge with."""
        self._open = False

    def undo(self) -> bool:
        """Go one step back; False at the first."""
        return self.go(self._at - 1)

    def redo(self) -> bool:
        """Go one step forward; False at the last."""
        return self.go(self._at + 1)

    def go(self, step: int) -> bool:
        """Go to a step by its number; False where there is no such step."""
        if not 0 <= step < len(self._steps) or step == self._at:
            return False
        self._at = step
        self._open = False
        return True

    def saved(self, scenario: Scenario) -> None:
        """Note that a file holds this scenario now.

        Its `path` and `text` say which file: every step is saved over that file from now on, so
        that its comments stay whichever step is saved next.
        """
        self._saved = scenario
        self._open = False
        path, text = scenario.path, scenario.text
        self._steps = [
            replace(step, scenario=replace(step.scenario, path=path, text=text))
            for step in self._steps
        ]
