"""Of two answers the one that does better by each job, in sentences."""

from __future__ import annotations

from typing import Any

from gbviz.report.pace import STANDS
from gbviz.units import lasting, percent

Json = dict[str, Any]


def verdict(found: Json) -> list[str]:
    """What each job that both have keeps of its healthy work in one and the other.

    Where no time passes, how many times as long it takes. Empty where they have no job in common.

    Parameters
    ----------
    found
        From `compare`.

    Examples
    --------
    >>> import gbviz
    >>> from gbviz.report.compare import Side, compare
    >>> from gbviz.report.document import document
    >>> whole = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:288"))
    >>> cut = whole.with_faults("spine-0")
    >>> both = (Side(one, document(gbviz.evaluate(one))) for one in (whole, cut))
    >>> verdict(compare(*both))
    ['shift:288: 1.000 times as long as healthy in A, 1.333 times as long as healthy in B.']
    """
    names = [
        row["name"]
        for row in found["figures"]
        if (row["group"], row["figure"]) == ("job", "state") and None not in (row["a"], row["b"])
    ]
    return [_of_job(found, name) for name in names]


def _of_job(found: Json, name: str) -> str:
    a, b = _pair(found, "totals", name, "goodput")
    if a is None or b is None:
        a, b = _pair(found, "job", name, "slowdown")
        return f"{name}: {_takes(a)} in A, {_takes(b)} in B."
    said = f"{name} {'keeps' if max(a, b) <= 1 else 'does'} {percent(a)} of its healthy work in A"
    if percent(a) == percent(b):
        said += ", and as much in B"
    else:
        # Of the numbers that are shown, so that they add up.
        points = abs(round(100 * b, 2) - round(100 * a, 2))
        said += f", {percent(b)} in B: {points:.2f} points {'more' if b > a else 'less'}"
    return f"{said}{_over(found)}{_at_the_end(found, name)}."


def _over(found: Json) -> str:
    """How long each lasts, where that is not the same."""
    a, b = _pair(found, "totals", "", "duration_s")
    return "" if a == b else f", but over {lasting(a)} and {lasting(b)}"


def _at_the_end(found: Json, name: str) -> str:
    """Where a job does not run in the end."""
    sides = zip("AB", _pair(found, "job", name, "state"), strict=True)
    said = [f"in {side} it is {state} at the end" for side, state in sides if state in STANDS]
    return f"; {' and '.join(said)}" if said else ""


def _takes(times: float | None) -> str:
    return "does not run" if times is None else f"{times:.3f} times as long as healthy"


def _pair(found: Json, group: str, name: str, figure: str) -> tuple[Any, Any]:
    """A figure of both, None where one has it not."""
    key = (group, name, figure)
    rows = (r for r in found["figures"] if (r["group"], r["name"] or "", r["figure"]) == key)
    return next(((row["a"], row["b"]) for row in rows), (None, None))
