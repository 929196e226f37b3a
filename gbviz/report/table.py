"""A table as plain values: a screen and a page each draw it in their way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gbviz.errors import printable

if TYPE_CHECKING:
    import rich.table


_SCREEN = "--verbose or --json lists all"


@dataclass(slots=True)
class Table:
    """Rows of texts under heads.

    Parameters
    ----------
    title
        What it shows.
    columns
        Heads.
    right
        Numbers of the columns that hold numbers.
    rows
        Cells, as many as there are heads.
    caption
        What else there is to say, "" for nothing.
    headed
        Whether its heads are shown.

    Examples
    --------
    >>> table = Table("Racks", ("rack", "GPUs"), right=(1,))
    >>> table.add("rack-0", "72")
    >>> table.rows
    [('rack-0', '72')]
    """

    title: str
    columns: tuple[str, ...]
    right: tuple[int, ...] = ()
    rows: list[tuple[str, ...]] = field(default_factory=list)
    caption: str = ""
    headed: bool = True

    def add(self, *cells: str) -> None:
        """Add a row."""
        self.rows.append(cells)

    def say_more(self, count: int, most: int | None, where: str = _SCREEN) -> None:
        """Say how many of `count` rows are left out after the first `most`, and who has them."""
        if most is not None and count > most:
            self.caption = f"and {count - most:,} more: {where}"

    def __rich__(self) -> rich.table.Table:
        """The table on a screen; nothing in it is taken for markup, or breaks a line."""
        # Rich takes longer to import than an answer takes to compute.
        from rich.markup import escape
        from rich.table import Table as OnScreen

        table = OnScreen(
            title=escape(printable(self.title)),
            title_justify="left",
            title_style="bold",
            caption=escape(self.caption) if self.caption else None,
            caption_justify="left",
            show_header=self.headed,
        )
        for place, name in enumerate(self.columns):
            justify = "right" if place in self.right else "left"
            table.add_column(escape(printable(name)), justify=justify, overflow="fold")  # type: ignore[arg-type]
        for row in self.rows:
            table.add_row(*(escape(printable(cell)) for cell in row))
        return table
