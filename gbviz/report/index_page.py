"""The page over a whole batch: every file beside the others, also those that could not be run."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from gbviz.report.html import render
from gbviz.report.outcome import GPUS, SLOWEST, STOPPED
from gbviz.report.shelf import REPORT
from gbviz.report.words import counted, percent
from gbviz.units import lasting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.report.outcome import Outcome

_STATES = {
    "bad": ("bad", "✗ no result"),
    "broken": ("bad", "✗ could not be run"),
    "waiting": ("warn", "not run"),
}


def index_page(outcomes: Sequence[Outcome]) -> str:
    """The page as HTML; it links to each report beside it.

    Parameters
    ----------
    outcomes
        Of all files, in their order; those that are `waiting` are said not to have been run.
    """
    figures = max((one.figures for one in outcomes), key=len, default=())
    return render(
        "index.html",
        heads=[name for name, _ in figures],
        rows=[_row(one) for one in outcomes],
        summary=_summary(outcomes),
    )


def _row(one: Outcome) -> dict[str, object]:
    kind, verdict = _verdict(one)
    return {
        "file": one.file,
        "link": f"{quote(one.folder)}/{REPORT}" if one.state == "done" else "",
        "title": one.title or one.folder,
        "kind": kind,
        "verdict": verdict,
        "answer": one.answer,
        "error": one.error,
        "figures": {name: _figure(name, value) for name, value in one.figures},
        "failed": one.failed,
    }


def _verdict(one: Outcome) -> tuple[str, str]:
    if one.state != "done":
        return _STATES[one.state]
    if one.failed:
        return "bad", f"✗ {len(one.failed)} of {len(one.limits)} failed"
    if not one.limits:
        return "", "no limits set"
    return "good", f"✓ {len(one.limits)} of {len(one.limits)}"


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return "none"
    if name == SLOWEST:
        return f"{value:.3f} x"
    if name == STOPPED:
        return lasting(value) if value else "0"
    return f"{value:,.0f}" if name == GPUS else percent(value)


def _summary(outcomes: Sequence[Outcome]) -> str:
    """How many files there are, and how they fared.

    Examples
    --------
    >>> from gbviz.report.outcome import Outcome
    >>> _summary([Outcome("a", "a", "done"), Outcome("b", "b", "bad")])
    '2 files: 1 as expected, 1 that could not be run.'
    """
    done = [one for one in outcomes if one.state == "done"]
    failed = sum(bool(one.failed) for one in done)
    counts = (
        (len(done) - failed, "as expected"),
        (failed, "with a failed expectation"),
        (sum(one.state in ("bad", "broken") for one in outcomes), "that could not be run"),
        (sum(one.state == "waiting" for one in outcomes), "not run yet"),
    )
    said = [f"{count:,} {words}" for count, words in counts if count]
    return f"{counted(len(outcomes), 'file')}: {', '.join(said)}."
