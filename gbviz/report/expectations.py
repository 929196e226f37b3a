"""Whether a result keeps the limits that its scenario sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gbviz.scenario.expect import Expectation

Json = dict[str, Any]

_ONE_OFF = ("stall_s", "lost_work_s", "restart_s")


def expectations(expected: tuple[Expectation, ...], found: Json) -> list[Json]:
    """Each expectation with the value found and whether it holds.

    Parameters
    ----------
    expected
        Of a scenario.
    found
        Its result document, all but the expectations.

    Returns
    -------
    list of dict
        `expect` in words, `value`, `passed`; a value that does not exist is None with a reason, and
        no limit holds for it.
    """
    rows = []
    for one in expected:
        value = _value(one, found)
        row: Json = {"expect": str(one), "value": value, "passed": False}
        if value is None:
            row["reason"] = "this result has no such value"
        else:
            row["passed"] = one.holds(value)
        rows.append(row)
    return rows


def _value(one: Expectation, found: Json) -> float | None:
    if one.subject == "fabric":
        place: Any = found["post"].get(one.name)
    elif one.subject == "totals":
        place = found["totals"].get(one.name)
        place = place.get(one.metric) if isinstance(place, dict) else place
    else:
        key = "jobs" if one.subject == "job" else "cooling"
        name = "name" if one.subject == "job" else "loop"
        own: Json = next((row for row in found[key] if row[name] == one.name), {})
        place = _of_row(own, one.metric)
    return float(place) if isinstance(place, int | float) and not isinstance(place, bool) else None


def _of_row(row: Json, metric: str) -> Any:
    if metric in _ONE_OFF:
        return row.get("one_off", {}).get(metric)
    return row[metric] if metric in row else row.get("post", {}).get(metric)
