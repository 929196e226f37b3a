"""Rows as text for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# What a spreadsheet takes for the start of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows_as_csv(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Rows with a line of titles as CSV (RFC 4180); no cell can be taken for a formula.

    Parameters
    ----------
    titles
        Names of the columns.
    rows
        Texts and plain numbers; None is an empty cell. Only texts are guarded with a `'`: -1 stays
        a number.

    References
    ----------
    OWASP, CSV Injection (owasp.org/www-community/attacks/CSV_Injection).

    Examples
    --------
    >>> rows_as_csv(["job", "change"], [["=1+1", -1.5], ["a,b", None]])
    'job,change\r\n\'=1+1,-1.5\r\n"a,b",\r\n'
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_safe(title) for title in titles])
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return out.getvalue()


def rows_as_tsv(rows: Iterable[Sequence[object]]) -> str:
    r"""Rows as lines with tabs between the cells, for a clipboard.

    Examples
    --------
    >>> rows_as_tsv([["spine-3", "a\tb"], ["=x", 2]])
    "spine-3\ta b\n'=x\t2"
    """
    return "\n".join("\t".join(_flat(cell) for cell in row) for row in rows)


def _safe(cell: object) -> object:
    if cell is None:
        return ""
    # A dash alone, for what there is not, is no formula.
    formula = isinstance(cell, str) and cell.startswith(_FORMULA) and cell != "-"
    return f"'{cell}" if formula else cell


def _flat(cell: object) -> str:
    return " ".join(str(_safe(cell)).split())
