"""Two answers side by side as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gbviz.report.html import render
from gbviz.report.tables import compared_table, difference_table
from gbviz.report.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.report.compare import Side

Json = dict[str, Any]

_GROUPS = {
    "fabric": "Fabric",
    "job": "Jobs",
    "cooling": "Cooling",
    "totals": "Over time",
}


def compare_page(sides: Sequence[Side], names: tuple[str, str], found: Json) -> str:
    """The page as HTML: what differs in question and answer, then every figure.

    Parameters
    ----------
    sides
        The two answers.
    names
        What the user called them.
    found
        What `compare` says of them.
    """
    rows: Sequence[Json] = found["figures"]
    moved = [row for row in rows if row["a"] != row["b"]]
    return render(
        "compare.html",
        sides=[
            {"letter": letter, "name": name, "title": side.scenario.name, "answer": side.answer}
            for letter, name, side in zip("AB", names, sides, strict=True)
        ],
        differs=difference_table(found["differs"]),
        moved=[_group(group, moved) for group in _GROUPS if _of(group, moved)],
        every=[_group(group, rows) for group in _GROUPS if _of(group, rows)],
        verdict=verdict(found),
        summary=f"{len(moved):,} of {len(rows):,} figures differ.",
    )


def _of(group: str, rows: Sequence[Json]) -> list[Json]:
    return [row for row in rows if row["group"] == group]


def _group(group: str, rows: Sequence[Json]) -> Any:
    table = compared_table(_of(group, rows))
    table.title = _GROUPS[group]
    return table
