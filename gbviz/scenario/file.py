"""From a scenario file to a Scenario, or to everything that is wrong with the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gbviz.errors import InputError
from gbviz.faults.actions import Action
from gbviz.scenario.components import unknown_components
from gbviz.scenario.contradictions import VERBS, contradictions
from gbviz.scenario.event import FLAP_FACTOR, Event
from gbviz.scenario.expect import SUBJECTS, Expectation, limit
from gbviz.scenario.extends import Complaint, read_chain
from gbviz.scenario.form import parts_of
from gbviz.scenario.scenario import Scenario
from gbviz.scenario.strict import MOST_FAULTS
from gbviz.scenario.wording import complaints_of
from gbviz.topology.build import build

if TYPE_CHECKING:
    import os
    from typing import Any

    from gbviz.scenario.extends import Chain
    from gbviz.scenario.form import EventPart, Parts


def read(path: str | os.PathLike[str], data: bytes | None = None) -> Scenario:
    """The scenario of a file.

    Parameters
    ----------
    path
        A `.yaml`, `.yml` or `.json` file.
    data
        What to take for the file's contents, such as an editor's; None to read them.

    Raises
    ------
    ScenarioError
        Everything that is wrong, with file, line, column and field: first what stops it from being
        read at all, then unknown fields, wrong values and contradictions together, with components
        that the cluster lacks.

    Notes
    -----
    5,000 events take about 0.3 s. Lines and columns are looked for only when something is wrong.

    Examples
    --------
    >>> text = b"{gbviz: 1, cluster: {preset: gb300-su}, events: [{at: 10min, fail: spine-3}]}"
    >>> scenario = read("one.yaml", text)
    >>> scenario.name, scenario.cluster.racks, scenario.events[0].at_s
    ('one', 8, 600.0)
    >>> read("one.yaml", b"{gbviz: 1, cluster: {preset: gb300}, sede: 7}")
    Traceback (most recent call last):
    gbviz.errors.ScenarioError: one.yaml:1:30: cluster.preset: there is no preset 'gb300', did you \
mean 'gb300-su'?
    one.yaml:1:38: sede: is not known, did you mean 'seed'?
    """
    chain = read_chain(path, data)
    parts, errors = parts_of(chain.data)
    complaints = complaints_of(errors[:MOST_FAULTS], chain.data)
    unlisted = max(len(errors) - MOST_FAULTS, 0)
    complaints += contradictions(parts)
    events = {number: _event(part) for number, part in parts.events.items()}
    complaints += _against_the_fabric(parts, events)
    if complaints:
        unlisted += max(len(complaints) - MOST_FAULTS, 0)
        raise chain.error(complaints[:MOST_FAULTS], unlisted)
    return _scenario(chain, parts, tuple(event for event in events.values() if event), Path(path))


load = read


def unchecked(chain: Chain) -> Scenario:
    """The scenario of files whose fields are right by themselves, whatever contradicts.

    Raises
    ------
    ScenarioError
        Unknown fields, wrong types or ranges, events and expectations that say nothing.
    """
    parts, errors = parts_of(chain.data)
    complaints = complaints_of(errors[:MOST_FAULTS], chain.data)
    events = {number: _event(part) for number, part in parts.events.items()}
    lost = [number for number, event in events.items() if event is None]
    complaints += [Complaint(("events", number), "does not say one thing") for number in lost]
    for number, entry in parts.expect.items():
        try:
            _expectations(entry)
        except InputError as error:
            complaints.append(Complaint(("expect", number), error.message, error.hint))
    if complaints:
        raise chain.error(complaints)
    found = tuple(event for event in events.values() if event)
    return _scenario(chain, parts, found, Path(chain.sources[0].file))


def _against_the_fabric(parts: Parts, events: dict[int, Event | None]) -> list[Complaint]:
    """What only the built cluster can tell; nothing where the cluster itself is wrong."""
    if parts.cluster is None:
        return []
    try:
        fabric = build(parts.cluster)
    except InputError as error:
        return [Complaint(("cluster", error.where), error.message, error.hint)]
    sound = {number: event for number, event in events.items() if event is not None}
    return unknown_components(fabric, parts, sound)


def _event(part: EventPart) -> Event | None:
    """An event; None where it does not say one thing to do."""
    verbs = [verb for verb in VERBS if getattr(part, verb) is not None]
    if len(verbs) != 1:
        return None
    verb = verbs[0]
    if verb == "restore":
        return Event(part.at, Action("restore"), part.lasts)
    selector = getattr(part, verb)
    if verb == "fail":
        action = Action("fail", selector)
    elif verb == "repair":
        action = Action("repair", selector)
    else:
        factor = FLAP_FACTOR if part.to is None else part.to + 0.0  # minus zero is zero
        action = Action("degrade", selector, factor)
    return Event(part.at, action, part.lasts, flap=verb == "flap")


def _scenario(chain: Chain, parts: Parts, events: tuple[Event, ...], path: Path) -> Scenario:
    form = parts.form
    assert form is not None
    assert parts.cluster is not None
    return Scenario(
        path.stem if form.name is None else form.name,
        parts.cluster,
        form.routing,
        form.seed,
        jobs=form.jobs,
        nvlink_policy=form.nvlink_policy,
        description=form.description,
        events=events,
        duration_s=form.duration,
        expect=tuple(one for entry in form.expect for one in _expectations(entry)),
        path=path,
        text=chain.sources[0].text,
    )


def _expectations(entry: dict[str, Any]) -> list[Expectation]:
    subject = next((name for name in SUBJECTS if isinstance(entry.get(name), str)), None)
    if subject is None:
        raise InputError("names no subject", hint="name one of: " + ", ".join(SUBJECTS))
    return [
        Expectation(subject, entry[subject], metric, *limit(text))
        for metric, text in entry.items()
        if metric != subject
    ]
