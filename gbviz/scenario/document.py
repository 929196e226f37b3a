"""A scenario as the fields of its file, and what of a file stays when its scenario changes."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from gbviz.jobs.traffic import TrafficJob
from gbviz.scenario.migrate import CURRENT, KEY
from gbviz.topology.spec import ClusterSpec, CoolingSpec
from gbviz.units import DURATIONS, quantity

if TYPE_CHECKING:
    from gbviz.faults.actions import Action
    from gbviz.jobs.spec import Job
    from gbviz.scenario.event import Event
    from gbviz.scenario.expect import Expectation
    from gbviz.scenario.scenario import Scenario

Document = dict[str, Any]

_LONGEST_NAME = 200
# Lists longer than this are not compared item by item: nobody keeps them by hand.
_MOST_COMPARED = 2000


def document(scenario: Scenario) -> Document:
    """The fields of a scenario's file, those that have their default left out.

    The scenario's own actions become events at 0 s, in front of the others.

    Examples
    --------
    >>> from gbviz.scenario import preset
    >>> document(preset("gb300-su").with_faults("spine-3"))["events"]
    [{'at': '0s', 'fail': 'spine-3'}]
    """
    events = [_event(0.0, action) for action in scenario.actions]
    events += [
        _event(event.at_s, event.action, event.for_s, flap=event.flap) for event in scenario.events
    ]
    found: Document = {KEY: CURRENT, "name": scenario.name}
    optional = {
        "description": (scenario.description, ""),
        "cluster": (_cluster(scenario.cluster), None),
        "routing": (scenario.routing, "adaptive"),
        "seed": (scenario.seed, 0),
        "nvlink_policy": (scenario.nvlink_policy, "adaptive"),
        "jobs": ([_job(job) for job in scenario.jobs], []),
        "events": (events, []),
        "duration": (_duration(scenario.duration_s), None),
        "expect": ([_expectation(one) for one in scenario.expect], []),
    }
    return found | {key: value for key, (value, default) in optional.items() if value != default}


def whole_cluster(spec: ClusterSpec) -> Document:
    """Every part of a cluster, so that no preset is needed to read it."""
    return spec.model_dump(mode="json")


def revised(raw: Document, before: Document, after: Document) -> Document:
    """What a file must hold so that its scenario changes from one to another.

    Parameters
    ----------
    raw
        What the file holds: with units, presets, fields that have their default.
    before, after
        The scenario of the file, and the one that it is to have, both from `document`.

    Returns
    -------
    dict
        `raw` with those fields changed that differ between `before` and `after`.

    Examples
    --------
    >>> revised({"seed": 1, "duration": "60min"}, {"seed": 1, "duration": "1h"}, {"duration": "1h"})
    {'duration': '60min'}
    """
    gone = {key for key in before if key not in after}
    found = {key: value for key, value in raw.items() if key not in gone}
    for key, value in after.items():
        if key in before and before[key] == value:
            continue
        found[key] = _revised(raw.get(key), before.get(key), value)
    return _in_order(found, list(raw), list(after))


def _in_order(found: Document, first: list[str], second: list[str]) -> Document:
    """Fields in the file's order, new ones behind the field that they follow in a fresh file."""
    order = [key for key in first if key in found]
    for number, key in enumerate(second):
        if key in found and key not in order:
            above = next((k for k in reversed(second[:number]) if k in order), None)
            order.insert(order.index(above) + 1 if above is not None else len(order), key)
    return {key: found[key] for key in order}


def _revised(raw: Any, before: Any, after: Any) -> Any:
    if isinstance(raw, dict) and isinstance(before, dict) and isinstance(after, dict):
        return revised(raw, before, after)
    if isinstance(raw, list) and isinstance(before, list) and isinstance(after, list):
        return _revised_list(raw, before, after)
    return after


def _revised_list(raw: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    if len(raw) != len(before) or max(len(before), len(after)) > _MOST_COMPARED:
        return after
    names = {one["name"]: number for number, one in enumerate(before) if "name" in one}
    if len(names) == len(before):
        return [
            _revised(raw[names[one["name"]]], before[names[one["name"]]], one)
            if one.get("name") in names
            else one
            for one in after
        ]
    found: list[Any] = []
    keys = [[repr(one) for one in values] for values in (before, after)]
    for kind, first, last, start, stop in SequenceMatcher(None, *keys, False).get_opcodes():
        if kind == "equal":
            found += raw[first:last]
        elif kind == "replace" and last - first == stop - start:
            rows = zip(raw[first:last], before[first:last], after[start:stop], strict=True)
            found += [_revised(*row) for row in rows]
        else:
            found += after[start:stop]
    return found


def _cluster(spec: ClusterSpec) -> Document:
    """The parts that differ from what nobody states, and always the racks."""
    usual = ClusterSpec(racks=spec.racks).model_dump(mode="json")
    found = {
        key: value
        for key, value in spec.model_dump(mode="json").items()
        if key == "racks" or (value != usual[key] and key != "cooling")
    }
    if spec.cooling != CoolingSpec():
        usual = CoolingSpec().model_dump(mode="json")
        dumped = spec.cooling.model_dump(mode="json")
        found["cooling"] = {k: v for k, v in dumped.items() if k == "kind" or v != usual[k]}
    return found


def _job(job: TrafficJob | Job) -> Document:
    if isinstance(job, BaseModel):
        head = {"name": job.name, "kind": job.kind}
        return head | job.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    found: Document = {"name": job.name[:_LONGEST_NAME], "kind": "traffic", "pattern": job.pattern}
    if job.argument:
        is_list = job.pattern == "pairs"
        found["pairs" if is_list else "argument"] = (
            [pair.strip() for pair in job.argument.split(",")] if is_list else job.argument
        )
    return found | ({"racks": job.racks} if job.racks else {})


def _event(
    at_s: float, action: Action, for_s: float | None = None, *, flap: bool = False
) -> Document:
    verb = "flap" if flap else action.verb
    found: Document = {"at": _duration(at_s), verb: action.selector or "all"}
    if action.verb == "degrade":
        found["to"] = action.factor
    return found if for_s is None else found | {"for": _duration(for_s)}


def _expectation(one: Expectation) -> Document:
    return {one.subject: one.name, one.metric: f"{one.operator} {one.limit!r}"}


def _duration(seconds: float | None) -> str | float | None:
    """A duration as people write it, where that is exactly the same number of seconds.

    Examples
    --------
    >>> _duration(600.0), _duration(0.0), _duration(0.25), _duration(1e-9)
    ('10min', '0s', '250ms', 1e-09)
    """
    if seconds is None:
        return None
    for unit in ("d", "h", "min", "s", "ms"):
        count = round(seconds / DURATIONS[unit])
        text = f"{count}{unit}"
        if (count or unit == "s") and count < 1e6 and quantity(text, DURATIONS, "s") == seconds:
            return text
    return seconds
