"""One line of the validation table, and how the table is printed."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.assets import asset_path
from gbviz.topology.catalogue import Catalogue, parse_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HEADINGS = ("row", "inputs", "metric", "published", "ours", "error", "tol", "sample", "verdict")


@dataclass(frozen=True)
class Line:
    """A published figure and ours.

    `tolerance` is the file's, `promised` False where the model does not claim it; `ours` is None
    where nothing can be predicted; `why` gives the reason. `sample` is "in" where the row helped to
    set a constant, else "out".
    """

    row: str
    inputs: str
    metric: str
    published: float
    ours: float | None
    tolerance: float | None
    sample: str
    why: str = ""
    promised: bool = True

    @property
    def error(self) -> float | None:
        return None if self.ours is None else self.ours / self.published - 1

    @property
    def within(self) -> bool:
        error = self.error
        return error is None or self.tolerance is None or abs(error) <= self.tolerance

    @property
    def judged(self) -> bool:
        return self.promised and self.ours is not None and self.tolerance is not None

    @property
    def passed(self) -> bool:
        return self.within or not self.judged

    @property
    def verdict(self) -> str:
        if self.ours is None:
            return f"not predicted: {self.why}"
        if self.judged:
            return "ok" if self.within else "OUTSIDE"
        return f"{'within' if self.within else 'outside'}, not judged: {self.why}"

    def cells(self) -> tuple[str, ...]:
        error, tolerance = self.error, self.tolerance
        return (
            self.row,
            self.inputs,
            self.metric,
            f"{self.published:.4g}",
            "-" if self.ours is None else f"{self.ours:.4g}",
            "-" if error is None else f"{100 * error:+.1f} %",
            "-" if tolerance is None else f"{100 * tolerance:.3g} %",
            self.sample if self.ours is not None else "-",
            self.verdict,
        )


def table(lines: Sequence[Line]) -> str:
    """All lines under one heading; numbers to the right, the verdict last."""
    rows = [HEADINGS, *(line.cells() for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if 3 <= column <= 6 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def worst(lines: Iterable[Line], sample: str) -> Line | None:
    """The judged line of a sample that is furthest off."""
    found = [line for line in lines if line.sample == sample and line.judged]
    return max(found, key=lambda line: abs(line.error or 0.0), default=None)


@functools.cache
def machines() -> Catalogue:
    """The figures of all machines."""
    return parse_catalogue(asset_path("machines.toml").read_text(encoding="utf-8"))


def fact(machine: str, name: str) -> float:
    return machines().value(f"{machine}.{name}")
