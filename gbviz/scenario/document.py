"""A scenario as the fields of its file, and what of a file stays when its scenario changes."""

from __future__ import annotations

import math
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gbviz.errors import InputError, printable
from gbviz.jobs.spec import TrafficSpec
from gbviz.jobs.traffic import TrafficJob
from gbviz.scenario.extends import KEY as EXTENDS
from gbviz.scenario.migrate import CURRENT, KEY
from gbviz.topology.spec import ClusterSpec, CoolingSpec
from gbviz.units import DURATIONS, quantity

if TYPE_CHECKING:
    from gbviz.faults.actions import Action
    from gbviz.jobs.spec import Job
    from gbviz.scenario.scenario import Scenario

Document = dict[str, Any]

_LONGEST_NAME = 200
# What no scenario holds, below the field that it stands under in a file.
_BELOW = {KEY: (EXTENDS,)}
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
    found = complete(scenario)
    found["cluster"] = _short_cluster(scenario.cluster)
    found["jobs"] = [_job(job, short=True) for job in scenario.jobs]
    usual: Document = {"description": "", "routing": "adaptive", "seed": 0, "duration": None}
    usual |= {"nvlink_policy": "adaptive", "jobs": [], "events": [], "expect": []}
    return {key: value for key, value in found.items() if key not in usual or value != usual[key]}


def complete(scenario: Scenario) -> Document:
    """The fields of a scenario's file, every one of them."""
    events = [_event(0.0, action) for action in scenario.actions]
    events += [
        _event(event.at_s, event.action, event.for_s, flap=event.flap) for event in scenario.events
    ]
    return {
        KEY: CURRENT,
        "name": scenario.name,
        "description": scenario.description,
        "cluster": _tidy(scenario.cluster.model_dump(mode="json")),
        "routing": scenario.routing,
        "seed": scenario.seed,
        "nvlink_policy": scenario.nvlink_policy,
        "jobs": [_job(job, short=False) for job in scenario.jobs],
        "events": events,
        "duration": _duration(scenario.duration_s),
        "expect": [{one.subject: one.name, one.metric: str(one.bound)} for one in scenario.expect],
    }


def revised(raw: Document, before: Document, after: Document, short: Document) -> Document:
    """What a file must hold so that its scenario changes from one to another.

    Parameters
    ----------
    raw
        What the file holds: with units, presets, fields that have their default.
    before, after
        The `complete` fields of the file's scenario, and of the one that it is to have.
    short
        The latter without defaults, for what is written anew.

    Returns
    -------
    dict
        `raw` with those fields changed that differ between `before` and `after`.

    Examples
    --------
    >>> old, new = {"seed": 1, "duration": "1h"}, {"seed": 2, "duration": "1h"}
    >>> revised({"seed": 1, "duration": "60min"}, old, new, new)
    {'seed': 2, 'duration': '60min'}
    """
    found = dict(raw)
    for key, value in after.items():
        if key in before and before[key] == value:
            continue
        if value is None and key in found:
            del found[key]
        else:
            found[key] = _revised(raw.get(key), before.get(key), value, short.get(key, value))
    return _in_order(
        found, list(raw), [key for one in after for key in (one, *_BELOW.get(one, ()))]
    )


def _in_order(found: Document, first: list[str], second: list[str]) -> Document:
    """Fields in the file's order, new ones behind the field that they follow in a fresh file."""
    order = [key for key in first if key in found]
    for number, key in enumerate(second):
        if key in found and key not in order:
            above = next((k for k in reversed(second[:number]) if k in order), None)
            order.insert(order.index(above) + 1 if above is not None else len(order), key)
    return {key: found[key] for key in order}


def _revised(raw: Any, before: Any, after: Any, short: Any) -> Any:
    if all(isinstance(one, dict) for one in (raw, before, after, short)):
        return revised(raw, before, after, short)
    if all(isinstance(one, list) for one in (raw, before, after, short)):
        return _revised_list(raw, before, after, short)
    return short


def _revised_list(
    raw: list[Any], before: list[Any], after: list[Any], short: list[Any]
) -> list[Any]:
    compared = len(raw) == len(before) and max(len(before), len(after)) <= _MOST_COMPARED
    if not compared or not all(isinstance(one, dict) for one in after):
        return short
    names = {one["name"]: number for number, one in enumerate(before) if "name" in one}
    if names and len(names) == len(before):
        rows = [
            (names.get(one.get("name")), one, new) for one, new in zip(after, short, strict=True)
        ]
        return [
            new if old is None else _revised(raw[old], before[old], one, new)
            for old, one, new in rows
        ]
    found: list[Any] = []
    keys = [[repr(one) for one in values] for values in (before, after)]
    for kind, first, last, start, stop in SequenceMatcher(
        None, keys[0], keys[1], autojunk=False
    ).get_opcodes():
        if kind == "equal":
            found += raw[first:last]
        elif kind == "replace" and last - first == stop - start:
            spans = (raw[first:last], before[first:last], after[start:stop], short[start:stop])
            found += [_revised(*row) for row in zip(*spans, strict=True)]
        else:
            found += short[start:stop]
    return found


def _short_cluster(spec: ClusterSpec) -> Document:
    """The parts that differ from what nobody states, and always the racks."""
    usual = ClusterSpec(racks=spec.racks).model_dump(mode="json")
    dumped = spec.model_dump(mode="json")
    found = {key: one for key, one in dumped.items() if key == "racks" or one != usual[key]}
    if "cooling" in found:
        usual = CoolingSpec().model_dump(mode="json")
        cooling = dumped["cooling"].items()
        found["cooling"] = {key: one for key, one in cooling if key == "kind" or one != usual[key]}
    tidy: Document = _tidy(found)
    return tidy


def _job(job: TrafficJob | Job, *, short: bool) -> Document:
    spec = _spec(job) if isinstance(job, TrafficJob) else job
    dumped = spec.model_dump(mode="json", by_alias=True, exclude_defaults=short)
    found: Document = _tidy({"name": spec.name, "kind": spec.kind} | dumped)
    return found


def _spec(job: TrafficJob) -> TrafficSpec:
    """A job of the command line as a file states it, its name spelt out where no file may hold it.

    Raises
    ------
    InputError
        What it selects holds what no file may.
    """
    pairs = job.argument.split(",") if job.pattern == "pairs" else None
    try:
        return TrafficSpec(
            kind="traffic",
            name=printable(job.name)[:_LONGEST_NAME],
            pattern=job.pattern,
            argument=None if pairs else job.argument or None,
            pairs=tuple(pair.strip() for pair in pairs) if pairs else None,
            racks=job.racks or None,
        )
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise InputError(
            f"no file can hold its {wrong['loc'][0]}", where=f"job {printable(job.name)[:60]!r}"
        ) from None


def _tidy(value: Any) -> Any:
    """Whole numbers without a point."""
    if isinstance(value, dict):
        return {key: _tidy(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_tidy(one) for one in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return int(value) if whole else value


def _event(
    at_s: float, action: Action, for_s: float | None = None, *, flap: bool = False
) -> Document:
    verb = "flap" if flap else action.verb
    found: Document = {"at": _duration(at_s), verb: action.selector or "all"}
    if action.verb == "degrade":
        found["to"] = action.factor
    return found if for_s is None else found | {"for": _duration(for_s)}


def _duration(seconds: float | None) -> str | float | None:
    """A duration as people write it, where that is exactly the same number of seconds.

    Examples
    --------
    >>> _duration(600.0), _duration(0.0), _duration(0.25), _duration(1e-9)
    ('10min', '0s', '250ms', 1e-09)
    """
    if seconds is None or not math.isfinite(seconds):
        return seconds
    for unit in ("d", "h", "min", "s", "ms"):
        count = round(seconds / DURATIONS[unit])
        text = f"{count}{unit}"
        if (count or unit == "s") and count < 1e6 and quantity(text, DURATIONS, "s") == seconds:
            return text
    return seconds
