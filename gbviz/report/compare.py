"""Two answers side by side: what was asked differently, and every figure of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gbviz import __version__
from gbviz.report.document import FORMAT_VERSION
from gbviz.report.flat import flat, is_number
from gbviz.scenario.document import document as fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.scenario import Scenario

Json = dict[str, Any]

# What says which scenario it is, not what is asked.
_LABELS = ("gbviz", "name", "description")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: its scenario, the result document of it, and the answer in sentences."""

    scenario: Scenario
    found: Json
    answer: tuple[str, ...] = ()


def compare(a: Side, b: Side) -> Json:
    """What differs between two scenarios, and between their results.

    Returns
    -------
    dict
        `a` and `b` say which scenarios; `differs` lists where the two ask for different things,
        with None and a reason where only one says anything; `figures` has for every figure of
        `fabric`, `job`, `cooling` and `totals` its base and value in both, and `delta`, b - a.

    Examples
    --------
    >>> import gbviz
    >>> from gbviz.report.document import document
    >>> whole = gbviz.preset("gb300-su")
    >>> cut = whole.with_faults("spine-0")
    >>> a, b = (Side(one, document(gbviz.evaluate(one))) for one in (whole, cut))
    >>> compare(a, b)["differs"][0]["b"]
    {'at': '0s', 'fail': 'spine-0'}
    >>> rows = {row["figure"]: row for row in compare(a, b)["figures"]}
    >>> rows["bisection_GBps"]["a"], rows["bisection_GBps"]["delta"]
    (28800.0, -7200.0)
    """
    return {
        "gbviz": __version__,
        "format_version": FORMAT_VERSION,
        "a": a.found["scenario"],
        "b": b.found["scenario"],
        "differs": list(_differences(a.scenario, b.scenario)),
        "figures": _figures(a.found, b.found),
    }


def _differences(a: Scenario, b: Scenario) -> Iterator[Json]:
    ours, theirs = fields_of(a), fields_of(b)
    for label in _LABELS:
        ours.pop(label, None)
        theirs.pop(label, None)
    yield from _differ("", ours, theirs)


def _differ(where: str, a: Any, b: Any) -> Iterator[Json]:
    """Where two values differ, as deep as both have the same shape."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            yield from _differ(f"{where}.{key}" if where else key, a.get(key), b.get(key))
    elif where == "jobs":
        # Jobs have names; their place in the list means nothing.
        ours, theirs = ({job["name"]: job for job in jobs or ()} for jobs in (a, b))
        yield from _differ(where, ours, theirs)
    elif isinstance(a or b, list) and where in ("events", "expect"):
        yield from _entries(where, a or [], b or [])
    elif a != b:
        yield _row(where, a, b)


def _entries(where: str, a: list[Any], b: list[Any]) -> Iterator[Json]:
    """Entries that only one list has; one that is there twice counts twice."""
    left = list(b)
    for entry in a:
        if entry in left:
            left.remove(entry)
        else:
            yield _row(where, entry, None)
    yield from (_row(where, None, entry) for entry in left)


def _row(where: str, a: Any, b: Any) -> Json:
    found: Json = {"where": where, "a": a, "b": b}
    missing = {side: "not stated" for side in ("a", "b") if found[side] is None}
    return found | ({"reason": missing} if missing else {})


@dataclass(frozen=True, slots=True)
class _Value:
    """A figure of one result: on the healthy cluster, now, and why it has no value."""

    base: Any
    now: Any
    why: str = ""


_Key = tuple[str, str, str]
_NOWHERE = _Value(None, None, "this result has no such figure")
_NO_BASE = "the healthy cluster has no such figure"


def _figures(a: Json, b: Json) -> list[Json]:
    ours, theirs = dict(_values(a)), dict(_values(b))
    keys = [*ours, *(key for key in theirs if key not in ours)]
    return [_figure(key, ours.get(key, _NOWHERE), theirs.get(key, _NOWHERE)) for key in keys]


def _figure(key: _Key, a: _Value, b: _Value) -> Json:
    row: Json = dict(zip(("group", "name", "figure"), key, strict=True))
    row |= {"base_a": a.base, "base_b": b.base, "a": a.now, "b": b.now, "delta": None}
    whys = {"base_a": _NO_BASE, "base_b": _NO_BASE, "a": a.why, "b": b.why}
    if is_number(a.now) and is_number(b.now):
        row["delta"] = b.now - a.now
    whys["delta"] = "not two numbers"
    reason = {side: why for side, why in whys.items() if row[side] is None}
    return row | ({"reason": reason} if reason else {})


def _values(found: Json) -> Iterator[tuple[_Key, _Value]]:
    """Every figure of a result by group, name and figure."""
    for figure, value in _flat(found["post"]):
        yield ("fabric", "", figure), _of(found["post"], figure, found["base"].get(figure), value)
    for job in found["jobs"]:
        yield from _of_job(job)
    for loop in found["cooling"]:
        for figure, value in _flat(loop):
            yield ("cooling", loop["loop"], figure), _of(loop, figure, None, value)
    yield from _of_totals(found["totals"])


def _of_job(job: Json) -> Iterator[tuple[_Key, _Value]]:
    name, base, post = job["name"], dict(_flat(job["base"] or {})), job["post"] or {}
    yield ("job", name, "state"), _Value(None, job["state"])
    own = {key: value for key, value in job.items() if not isinstance(value, dict)}
    for figure, value in [*_flat(own), *_flat(job["one_off"])]:
        yield ("job", name, figure), _of(job, figure, None, value)
    for figure, value in _flat(post):
        yield ("job", name, figure), _of(post, figure, base.get(figure), value)


def _of_totals(totals: Json) -> Iterator[tuple[_Key, _Value]]:
    for figure, value in totals.items():
        if isinstance(value, dict) and figure != "reason":
            for name, one in value.items():
                yield ("totals", name, figure), _of({}, figure, None, one)
        elif figure != "reason":
            yield ("totals", "", figure), _of(totals, figure, None, value)


def _of(box: Json, figure: str, base: Any, now: Any) -> _Value:
    why = box.get("reason") or "none was found"
    return _Value(base, now, why.get(figure, "none was found") if isinstance(why, dict) else why)


def _flat(values: Json) -> Iterator[tuple[str, Any]]:
    """Numbers, and what has no value."""
    return ((key, one) for key, one in flat(values) if one is None or is_number(one))
