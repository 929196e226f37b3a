"""Pictures of a report: the fabric before and after, and the racks that were hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.display.sheet import Sheet, draw_sheet
from gbviz.display.svg import svg
from gbviz.display.theme import THEMES
from gbviz.engine import evaluate, loads
from gbviz.engine.evaluate import undamaged
from gbviz.report.answer import causes_of, causes_words
from gbviz.report.hit_racks import hit_racks
from gbviz.report.words import counted

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.report.seen import Seen

_SIZE = (1000, 640)
_MOST_RACKS = 2


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with what is to be seen on it; `svgs` by theme."""

    title: str
    caption: str
    svgs: dict[str, str]


def fabric_figures(seen: Seen, after: str = "After") -> list[Figure]:
    """The map of the healthy cluster, at the worst time where that is over by the end, and now.

    Parameters
    ----------
    seen
        The states of one scenario.
    after
        What the last picture is called.
    """
    snapshot, worst = seen.snapshot, seen.worst
    before = evaluate(undamaged(snapshot.scenario))
    jobs = " with its jobs" if snapshot.scenario.jobs else ""
    found = [_figure("Before", f"The healthy cluster{jobs}.", before, "fabric")]
    if worst is not None:
        when = seen.span.words() if seen.span is not None else ""
        said = f"{when.capitalize()}. {_broken(worst)}"
        found.append(_figure("At its worst", said, worst, "fabric"))
    return [*found, _figure(after, _broken(snapshot), snapshot, "fabric")]


def rack_figures(snapshot: Snapshot) -> list[Figure]:
    """Racks that are hit in different ways, the first two of them; wholly dead ones show nothing.

    Examples
    --------
    >>> import gbviz
    >>> found = gbviz.evaluate(gbviz.preset("gb300-su").with_faults("rack-[1-2]/nvswitch-4"))
    >>> [(figure.title, figure.caption) for figure in rack_figures(found)]
    [('rack-1', 'Hit alike: rack-1 and rack-2.')]
    """
    kinds = hit_racks(snapshot)
    found = []
    for one in kinds[:_MOST_RACKS]:
        name = f"rack-{one.racks[0]}"
        found.append(_figure(name, one.words(), snapshot, name))
    return found


def more_racks(snapshot: Snapshot) -> str:
    """Racks that were hit in other ways than those on pictures, "" for none."""
    others = [f"rack-{rack}" for one in hit_racks(snapshot)[_MOST_RACKS:] for rack in one.racks]
    return f"Not shown: {counted(len(others), 'more rack')} hit in other ways." if others else ""


def _figure(title: str, caption: str, snapshot: Snapshot, view: str) -> Figure:
    now, base = loads(snapshot), loads(snapshot, base=True)
    width, height = _SIZE
    svgs = {}
    for theme in THEMES:
        sheet = Sheet(view=view, theme=theme, width=width, height=height)
        svgs[theme] = svg(draw_sheet(sheet, snapshot, now, base), f"{title}: {caption}")
    return Figure(title, caption, svgs)


def _broken(snapshot: Snapshot) -> str:
    causes = causes_of(snapshot)
    more = len(snapshot.faults) - len(causes)
    if not snapshot.faults:
        return "Nothing is broken."
    if not causes:
        return f"{counted(more, 'part')} shut down by design."
    tail = f"; {counted(more, 'part')} down because of that" if more else ""
    return f"With {causes_words(causes)}{tail}."
