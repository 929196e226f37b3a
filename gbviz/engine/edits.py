"""Named edits of a scenario: each takes one and returns another, or says why it cannot.

What fails or is repaired by hand happens at a time of the scenario; None is its end, which is what
the live view shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gbviz.errors import InputError
from gbviz.faults import resolve
from gbviz.faults.actions import Action
from gbviz.scenario.event import LONGEST_S, Event
from gbviz.topology import build
from gbviz.units import stated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.faults import Fault
    from gbviz.jobs.spec import Job
    from gbviz.jobs.traffic import TrafficJob
    from gbviz.scenario import Scenario

_MOST_NAMED = 2


@dataclass(frozen=True, slots=True)
class Edit:
    """A new scenario, and what people call the way there.

    `merge` is equal for edits that belong to one movement, such as a slider's.
    """

    label: str
    scenario: Scenario
    merge: str = ""


def fail(scenario: Scenario, selectors: Sequence[str], at_s: float | None = None) -> Edit:
    """Fail components.

    Raises
    ------
    InputError
        A selector that names nothing.

    Examples
    --------
    >>> from gbviz.scenario import preset
    >>> done = fail(preset("gb300-su"), ["spine-0", "leaf-1"])
    >>> done.label, [event.action.selector for event in done.scenario.events]
    ('fail spine-0 and leaf-1', ['spine-0', 'leaf-1'])
    """
    actions = [Action("fail", selector) for selector in selectors]
    return Edit(f"fail {_named(selectors)}{_when(at_s)}", _with(scenario, actions, at_s))


def degrade(
    scenario: Scenario, selectors: Sequence[str], factor: float, at_s: float | None = None
) -> Edit:
    """Leave components with a part of their rate, clock or capacity.

    Raises
    ------
    InputError
        A selector that names nothing, a component that cannot be degraded, or a wrong factor.
    """
    label = f"degrade {_named(selectors)} to {stated(factor)}{_when(at_s)}"
    now = scenario.end_s if at_s is None else at_s
    actions = [Action("degrade", selector, factor) for selector in selectors]
    gone = {(now, "degrade", selector) for selector in selectors}
    kept = tuple(e for e in scenario.events if (e.at_s, e.verb, e.action.selector) not in gone)
    found = _with(replace(scenario, events=kept), actions, now)
    return Edit(label, found, merge=f"degrade {' '.join(selectors)}")


def repair(scenario: Scenario, selectors: Sequence[str], at_s: float | None = None) -> Edit:
    """Mend components.

    A fault that was made at the same time is taken back rather than repaired, where that comes to
    the same: the file does not keep what was only tried.

    Raises
    ------
    InputError
        A component without a fault of its own; what it is down with is named.

    Examples
    --------
    >>> from gbviz.scenario import preset
    >>> broken = fail(preset("gb300-su"), ["spine-0"]).scenario
    >>> repair(broken, ["spine-0"]).scenario == preset("gb300-su")
    True
    """
    fabric = build(scenario.cluster)
    repairs = [Action("repair", selector) for selector in selectors]
    now, names = scenario.end_s if at_s is None else at_s, set(selectors)
    wanted = _state(resolve(fabric, (*scenario.actions_at(now), *repairs)))
    kept = tuple(
        event
        for event in scenario.events
        if not (event.at_s == now and event.for_s is None and event.action.selector in names)
    )
    label = f"repair {_named(selectors)}{_when(at_s)}"
    shorter = replace(scenario, events=kept, duration_s=_lasting(scenario, kept))
    if _state(resolve(fabric, shorter.actions_at(now))) == wanted:
        return Edit(label, shorter)
    return Edit(label, _with(scenario, repairs, at_s))


def restore_all(scenario: Scenario, at_s: float | None = None) -> Edit:
    """Mend everything."""
    now = scenario.end_s if at_s is None else at_s
    kept = tuple(event for event in scenario.events if event.at_s != now)
    shorter = replace(scenario, events=kept, duration_s=_lasting(scenario, kept))
    label = f"restore all{_when(at_s)}"
    if not resolve(build(scenario.cluster), shorter.actions_at(now)):
        return Edit(label, shorter)
    return Edit(label, _with(shorter, [Action("restore")], now))


def move_event(scenario: Scenario, number: int, at_s: float) -> Edit:
    """Let an event happen at another time; the scenario lasts as long as before.

    Raises
    ------
    InputError
        A time before the start, or one at which the event makes no sense; no event of this number.

    Examples
    --------
    >>> from gbviz.scenario import preset
    >>> late = fail(preset("gb300-su"), ["spine-0"], 60.0).scenario
    >>> move_event(late, 0, 90.0).scenario.events[0].at_s
    90.0
    """
    if not 0 <= number < len(scenario.events):
        raise InputError(f"there is no event {number} any more", where="events")
    event = scenario.events[number]
    events = list(scenario.events)
    events[number] = replace(event, at_s=at_s)
    lasting = max(scenario.end_s, at_s)
    found = replace(scenario, events=tuple(events), duration_s=lasting)
    resolve(build(scenario.cluster), found.actions_at())
    label = f"move {event.verb} {event.action.selector} to {at_s:g} s"
    return Edit(label, found, merge=f"move {number}")


def lasting(scenario: Scenario, duration_s: float) -> Edit:
    """Let the scenario last longer or shorter, but not shorter than its last event."""
    last = max((event.at_s for event in scenario.events), default=0.0)
    if not last <= duration_s <= LONGEST_S:
        raise InputError(
            f"must be from the last event, at {last:g} s, to {LONGEST_S:g} s (got {duration_s:g})",
            where="duration",
        )
    return Edit(f"last {duration_s:g} s", replace(scenario, duration_s=duration_s), "lasting")


def put_job(scenario: Scenario, job: TrafficJob | Job, number: int | None = None) -> Edit:
    """Add a job, or put it in the place of one; names stay unique.

    Raises
    ------
    InputError
        Another job has its name.
    """
    others = [one.name for place, one in enumerate(scenario.jobs) if place != number]
    if job.name in others:
        raise InputError(f"there is a job {job.name!r} already", where="name")
    jobs = list(scenario.jobs)
    if number is None:
        jobs.append(job)
        return Edit(f"add job {job.name}", replace(scenario, jobs=tuple(jobs)))
    jobs[number] = job
    return Edit(f"edit job {job.name}", replace(scenario, jobs=tuple(jobs)))


def remove_job(scenario: Scenario, name: str) -> Edit:
    """Take a job away, and what was expected of it."""
    jobs = tuple(job for job in scenario.jobs if job.name != name)
    expect = tuple(e for e in scenario.expect if not (e.subject == "job" and e.name == name))
    return Edit(f"remove job {name}", replace(scenario, jobs=jobs, expect=expect))


def route(scenario: Scenario, mode: str) -> Edit:
    """Choose another routing mode."""
    return Edit(f"route by {mode}", scenario.with_routing(mode))


def nvlink_policy(scenario: Scenario, policy: str) -> Edit:
    """Choose what damaged NVLink does."""
    return Edit(f"NVLink policy {policy}", scenario.with_nvlink_policy(policy))


def rename(scenario: Scenario, name: str, description: str) -> Edit:
    """Give the scenario another name and description."""
    fresh = replace(scenario, name=name, description=description)
    return Edit("name and description", fresh)


def _with(scenario: Scenario, actions: Sequence[Action], at_s: float | None = None) -> Scenario:
    """The scenario with actions at its end, checked."""
    when = scenario.end_s if at_s is None else at_s
    found = scenario.with_events(*(Event(when, action) for action in actions))
    resolve(build(scenario.cluster), found.actions_at(when))
    return found


def _lasting(scenario: Scenario, kept: tuple[Event, ...]) -> float | None:
    """The duration that keeps the end where it is once events are taken away."""
    if scenario.duration_s is not None or not kept:
        return scenario.duration_s
    last = max(event.at_s for event in kept)
    return None if last == scenario.end_s else scenario.end_s


def _state(faults: Sequence[Fault]) -> dict[tuple[object, ...], float]:
    """What is broken and how far, however it came about."""
    return {(fault.nodes, fault.links): fault.factor for fault in faults}


def _when(at_s: float | None) -> str:
    return "" if at_s is None else f" at {at_s:g} s"


def _named(selectors: Sequence[str]) -> str:
    if len(selectors) <= _MOST_NAMED:
        return " and ".join(selectors)
    return f"{len(selectors)} parts"
