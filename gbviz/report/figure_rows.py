"""Key figures as rows: what a table of them shows, on paper or on a screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.report.document import difference, figures
from gbviz.report.words import percent

if TYPE_CHECKING:
    from gbviz.engine import Snapshot

# Written as everywhere else in the report, unlike Python's own format.
PERCENT = "%"
# Figures that are told as a share of what they were, by the words for them.
SHARES = (
    ("bisection", "bisection_GBps"),
    ("all-to-all", "all_to_all_GBps_per_gpu"),
    ("NVLink", "nvlink_GBps"),
    ("compute", "compute_fraction"),
)
# Figure, its name and unit for people, its format.
_ROWS = (
    ("live_gpus", "live GPUs", "", "{:,.0f}"),
    ("injection_GBps", "injection", "GB/s", "{:,.0f}"),
    ("bisection_GBps", "bisection", "GB/s", "{:,.0f}"),
    ("all_to_all_GBps_per_gpu", "all-to-all", "GB/s a GPU", "{:,.2f}"),
    ("worst_pair_GBps", "worst pair", "GB/s", "{:,.2f}"),
    ("worst_leaf_uplink_fraction", "worst leaf's live uplinks", "", PERCENT),
    ("nvlink_GBps", "NVLink", "GB/s", "{:,.0f}"),
    ("compute_fraction", "compute (mean clock)", "", PERCENT),
)
_LABELS = {name: label for name, label, _, _ in _ROWS} | {"nonblocking": "non-blocking"}


def label(figure: str) -> str:
    """What people call a figure of the result document."""
    return _LABELS.get(figure, figure)


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One key figure: its name with unit, then base, now, delta and now over base in words.

    `way` is 1 where it rose, -1 where it fell, 0 where it stayed or does not exist; `reason` why
    it does not exist, or what else there is to say.
    """

    what: str
    base: str
    now: str
    delta: str
    share: str
    way: int
    reason: str = ""


def figure_rows(snapshot: Snapshot) -> list[FigureRow]:
    """Key figures in the order of interest.

    Examples
    --------
    >>> import gbviz
    >>> found = gbviz.evaluate(gbviz.preset("azure-gb300").with_faults("spine-3"))
    >>> row = figure_rows(found)[2]
    >>> row.what, row.base, row.now, row.delta, row.share, row.way
    ('bisection, GB/s', '230,400', '224,000', '-6,400', '97.22 %', -1)
    """
    base = figures(snapshot.base, snapshot.base)
    post = figures(snapshot.post, snapshot.base)
    delta = difference(base, post)
    rows = []
    for name, words, unit, form in _ROWS:
        before, after, change = base[name], post[name], delta[name]
        share = percent(after / before) if before and after is not None else "-"
        what = f"{words}, {unit}" if unit else words
        cells = (shown(before, form), shown(after, form), _change(change, form), share)
        why = snapshot.post.reason.get(name, "")
        rows.append(FigureRow(what, *cells, _way(change), why))
    yes = {True: "yes", False: "no", None: "-"}
    was, now = base["nonblocking"], post["nonblocking"]
    why = snapshot.post.nonblocking_why or ""
    way = int(bool(now)) - int(bool(was))
    rows.append(FigureRow("non-blocking", yes[was], yes[now], "", "", way, why))
    cut = len(snapshot.post.disconnected_gpus)
    before = f"{len(snapshot.base.disconnected_gpus):,}"
    more = cut - len(snapshot.base.disconnected_gpus)
    rows.append(FigureRow("GPUs cut off", before, f"{cut:,}", "", "", -_way(float(more))))
    return rows


def shown(value: float | None, form: str) -> str:
    """A figure in its format; `none` where it does not exist."""
    if value is None:
        return "none"
    return percent(value) if form == PERCENT else form.format(value)


def _change(value: float | None, form: str) -> str:
    if value is None:
        return "none"
    if abs(value) < 1e-12:
        return "0"
    sign = "+" if value > 0 else ""
    if form == PERCENT:  # of the whole, not of what it was
        said = percent(value).removesuffix(" %")
        return said if said == "0" else f"{sign if said[0].isdigit() else ''}{said} points"
    return sign + shown(value, form)


def _way(value: float | None) -> int:
    return 0 if value is None or abs(value) < 1e-12 else 1 if value > 0 else -1
