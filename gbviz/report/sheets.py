"""Whole clusters as tables: columns of arrays, one row a cable, switch, GPU, rack or job."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from typing import TYPE_CHECKING, Any

import numpy as np

from gbviz.units import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gbviz.topology.fabric import Bools, Ints

_NONE = "-"
PERCENT = "%"
_GLOB = set("*?[")
# From here on a list of all names is cheaper than one name after the other.
_MANY = 200


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of n values.

    Parameters
    ----------
    title, tip
        Its head, with the unit, and what it means.
    values
        (n,) numbers; NaN for what does not exist. Codes where `words` are given.
    form
        How a number is written, such as `{:,.1f}`; `%` for per cent with one decimal, more where
        that would say 0 or 100 of what is neither.
    words
        What each code means.
    alarm
        Values from which on a number is busy, and full.
    """

    title: str
    values: np.ndarray[Any, Any]
    form: str = "{:,.0f}"
    words: tuple[str, ...] = ()
    alarm: tuple[float, float] | None = None
    tip: str = ""

    def text(self, row: int) -> str:
        """A value as people read it.

        Examples
        --------
        >>> column = Column("load", np.array([1234.56, np.nan]), "{:,.1f}")
        >>> column.text(0), column.text(1)
        ('1,234.6', '-')
        """
        value: float = self.values[row].item()
        if self.words:
            return self.words[int(value)]
        if value != value:
            return _NONE
        return _per_cent(value) if self.form == PERCENT else self.form.format(value)

    def plain(self, rows: Ints) -> list[object]:
        """Values for a file: numbers, words, None for what does not exist."""
        values = self.values[rows].tolist()
        if self.words:
            return [self.words[value] for value in values]
        return [None if value != value else value for value in values]


def _per_cent(value: float) -> str:
    """A number of a column in which decimals stand below each other."""
    text, usual = percent(value / 100, 1).removesuffix(" %"), f"{value:,.1f}"
    return usual if text == usual.removesuffix(".0") else text


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A table of n components.

    Parameters
    ----------
    title
        What its rows are.
    n
        Rows.
    columns
        What is known of each; its name comes before them.
    name, names, index
        The name of one row, of all, and the row of a name: made only when somebody asks.
    rows_of
        The rows that a component's name stands for, none for one of another kind.
    """

    title: str
    n: int
    columns: tuple[Column, ...]
    name: Callable[[int], str]
    names: Callable[[], Sequence[str]]
    index: Callable[[], Mapping[str, int]]
    rows_of: Callable[[str], list[int]]

    def titles(self) -> list[str]:
        """Heads of all columns, that of the names first."""
        return ["name", *(column.title for column in self.columns)]

    def sorted_by(self, column: int, *, falling: bool) -> Ints:
        """(n,) rows in the order of a column, 0 for the names; what does not exist comes last."""
        if column == 0:
            order = np.arange(self.n)
            return order[::-1] if falling else order
        values = self.columns[column - 1].values
        return np.argsort(-values if falling else values, kind="stable")

    def matching(self, text: str) -> Bools:
        """(n,) True for rows that a filter lets through.

        Parameters
        ----------
        text
            Words that must all be in a row: a part of its name, a glob over the whole name, or a
            part of the words of a column, such as a job or `failed`. Capitals do not matter.
        """
        kept = np.ones(self.n, dtype=bool)
        for word in text.lower().split():
            kept &= self._names_with(word) | self._words_with(word)
        return kept

    def _names_with(self, word: str) -> Bools:
        if _GLOB & set(word):
            match = re.compile(translate(word)).match
            hits = (match(name) is not None for name in self.names())
        else:
            hits = (word in name for name in self.names())
        return np.fromiter(hits, dtype=bool, count=self.n)

    def _words_with(self, word: str) -> Bools:
        found = np.zeros(self.n, dtype=bool)
        for column in self.columns:
            if column.words:
                good = np.array([word in one.lower() for one in column.words])
                found |= good[column.values]
        return found

    def rows_of_all(self, names: Sequence[str]) -> list[int]:
        """The rows that many components stand for, in their order and each once."""
        found: set[int] = set()
        index = self.index() if len(names) > _MANY else {}
        for name in names:
            row = index.get(name)
            found.update(self.rows_of(name) if row is None else (row,))
        return sorted(found)

    def rows(self, rows: Ints) -> list[tuple[object, ...]]:
        """Names and plain values of some rows, for a file."""
        if len(rows) > _MANY:
            every = self.names()
            names: list[object] = [every[row] for row in rows.tolist()]
        else:
            names = [self.name(row) for row in rows.tolist()]
        columns = [column.plain(rows) for column in self.columns]
        return list(zip(names, *columns, strict=True))
