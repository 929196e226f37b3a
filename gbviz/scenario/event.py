"""Events: what happens to the cluster at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.errors import InputError
from gbviz.faults.actions import Action

if TYPE_CHECKING:
    from collections.abc import Sequence

FLAP_FACTOR = 0.5
# 300 years: times can be added without a thought of overflow.
LONGEST_S = 1e10


@dataclass(frozen=True, slots=True)
class Event:
    """Something done to the cluster at a time.

    Parameters
    ----------
    at_s
        When, seconds from the start.
    action
        What. A link that flaps is degraded to its mean: to the part of the time that it is up.
    for_s
        How long it lasts before it is repaired; None = until something else repairs it.
    flap
        True where the action stands for a link that goes up and down.

    Raises
    ------
    InputError
        A time before the start or beyond 1e10 s; one that does not last.
    """

    at_s: float
    action: Action
    for_s: float | None = None
    flap: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.at_s <= LONGEST_S:
            raise InputError(f"must be from 0 s to {LONGEST_S:g} s (got {self.at_s})", where="at")
        if self.for_s is not None and not 0 < self.for_s <= LONGEST_S:
            raise InputError(
                f"must be above 0 s, up to {LONGEST_S:g} s (got {self.for_s})", where="for"
            )

    @property
    def verb(self) -> str:
        """`fail`, `degrade`, `flap`, `repair` or `restore`."""
        return "flap" if self.flap else self.action.verb


def changes(events: Sequence[Event]) -> tuple[tuple[float, Action], ...]:
    """All that is done to the cluster, in the order of time: events, and the repairs that end them.

    What ends at a time comes before what begins at it. An event ends without a repair where a later
    event on the same selector, or a `restore`, has taken its place.

    Parameters
    ----------
    events
        In any order; of those at one time the earlier in the list comes first.

    Returns
    -------
    tuple
        Pairs of a time in seconds and an action. A `fail` of the same parts stands before each
        `repair`: `faults.resolve` refuses to repair what has no fault, and whether an earlier
        repair or end has left one only the fabric tells.

    Examples
    --------
    >>> short = Event(0.0, Action("fail", "spine-3"), for_s=60.0)
    >>> [(at, action.verb) for at, action in changes([short])]
    [(0.0, 'fail'), (60.0, 'fail'), (60.0, 'repair')]
    >>> [(at, action.verb) for at, action in changes([short, Event(30.0, Action("restore"))])]
    [(0.0, 'fail'), (30.0, 'restore')]
    """
    found: list[tuple[float, Action]] = []
    for time_s, begins, number in moments(events):
        action = events[number].action
        if not begins or action.verb == "repair":
            found.append((time_s, Action("fail", action.selector)))
            action = Action("repair", action.selector)
        found.append((time_s, action))
    return tuple(found)


def moments(events: Sequence[Event]) -> list[tuple[float, bool, int]]:
    """When events begin and end, in the order of time.

    Returns
    -------
    list
        Time in seconds, True where it begins, and which event it is. The end of an event that
        another has taken the place of is left out.
    """
    times = [(event.at_s, True, number) for number, event in enumerate(events)]
    times += [
        (event.at_s + event.for_s, False, number)
        for number, event in enumerate(events)
        if event.for_s is not None
    ]
    holds: dict[str, int] = {}
    found = []
    for time_s, begins, number in sorted(times):
        action = events[number].action
        if begins:
            _note(holds, action, number)
        elif holds.get(action.selector) == number:
            del holds[action.selector]
        else:
            continue
        found.append((time_s, begins, number))
    return found


def _note(holds: dict[str, int], action: Action, number: int) -> None:
    """Which event the state of each selector comes from."""
    if action.verb == "restore":
        holds.clear()
    elif action.verb == "repair":
        holds.pop(action.selector, None)
    else:
        holds[action.selector] = number
