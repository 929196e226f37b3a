"""Plots over the time of a scenario, as SVG in the colours of the page around them."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from gbviz.display.draw import text_width
from gbviz.display.names import short_names
from gbviz.display.theme import DARK
from gbviz.errors import printable
from gbviz.topology.catalogue import catalogue
from gbviz.units import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from gbviz.engine.timeline import Timeline
    from gbviz.topology.fabric import Floats

_INCHES = (5.4, 2.5)
# Drawn with colours that nothing else has, which then become the page's: one plot for all themes.
_COLOURS = {
    "text": "#010101",
    "dim": "#010102",
    "line": "#010103",
    "accent": "#010104",
    "over": "#010105",
    "warm": "#010106",
    **{f"job-{number}": f"#0101{0x10 + number:02x}" for number in range(len(DARK.jobs))},
}
_NAMES = {colour: name for name, colour in _COLOURS.items()}
_STYLE: Any = {
    "text.parse_math": False,  # a $ in a name is a $
    "svg.fonttype": "none",
    "svg.hashsalt": "gbviz",  # the same plot has the same bytes
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _COLOURS["line"],
    "axes.titlecolor": _COLOURS["text"],
    "axes.labelcolor": _COLOURS["dim"],
    "xtick.color": _COLOURS["line"],
    "ytick.color": _COLOURS["line"],
    "xtick.labelcolor": _COLOURS["dim"],
    "ytick.labelcolor": _COLOURS["dim"],
    "text.color": _COLOURS["text"],
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "legend.labelcolor": _COLOURS["text"],
}
_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
# Times from here on are written with commas.
_LONG = 10_000
_DASHES = ("-", "--", ":", "-.")
# More jobs or marks than these hide one another.
_MOST_NAMED, _MOST_MARKS = 8, 60
# Points across for a name in a legend, and for one where two stand side by side.
_NAME, _HALF = 190.0, 130.0
_TAG, _ID, _MEANT = "<[^>]+>", r' id="([^"]*)"', r'(?:url\(|href=")#([^)"]+)'


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot and what it shows, for those who cannot see it."""

    title: str
    caption: str
    svg: str


def time_plots(timeline: Timeline) -> list[Plot]:
    """Job speed, goodput so far, load of the NICs, and temperature, over time.

    Examples
    --------
    >>> import gbviz
    >>> from dataclasses import replace
    >>> from gbviz.engine.run import run
    >>> scenario = gbviz.preset("gb300-su").with_faults("hxu-2")
    >>> made = run(replace(scenario, duration_s=600.0))
    >>> [plot.title for plot in time_plots(made)]  # no job runs
    ['Hottest die, °C']
    """
    of_jobs = [_speeds(timeline), _goodputs(timeline), _load(timeline)] if timeline.totals else []
    return [*of_jobs, *_heat(timeline)]


def _speeds(timeline: Timeline) -> Plot:
    curves = [
        (name, np.array([100 * one.jobs[number].speed for one in timeline.intervals]))
        for number, name in enumerate(_names(timeline))
    ]
    title = "Job speed, % of the healthy job"
    return _plot(timeline, title, curves, (0.0, _top(curves)), _words(curves, "%"))


def _goodputs(timeline: Timeline) -> Plot:
    curves = []
    for number, name in enumerate(_names(timeline)):
        curves.append((name, 100 * np.array(timeline.goodputs(number))))
    title = "Goodput so far, %"
    ends = ", ".join(
        f"{name} {percent(values[-1] / 100, 1)} at the end" for name, values in curves[:4]
    )
    return _plot(timeline, title, curves, (0.0, _top(curves)), ends, stairs=False)


def _top(curves: Sequence[tuple[str, Floats]]) -> float:
    """Room for 100 %, and for jobs that some fault makes faster."""
    return 1.08 * max(100.0, *(float(values.max()) for _, values in curves))


def _load(timeline: Timeline) -> Plot:
    load = np.array([100 * one.nic_load for one in timeline.intervals])
    title = "Load of the NICs, %"
    curves = [("mean of all live NICs", load)]
    top = min(max(1.25 * float(load.max()), 1.0), 108.0)
    return _plot(timeline, title, curves, (0.0, top), _words(curves, "%"), colours=("accent",))


def _heat(timeline: Timeline) -> list[Plot]:
    """Nothing where temperatures are not known."""
    hot = [one.hottest_die_c for one in timeline.intervals]
    if all(value is None for value in hot):
        return []
    values = np.array([np.nan if value is None else value for value in hot])
    supply = [
        float(one.supply_c.max()) if len(one.supply_c) else np.nan for one in timeline.intervals
    ]
    curves = [("hottest die", values), ("warmest supply", np.array(supply))]
    limit = catalogue().value("gpu.die_throttle_c")
    top = max(limit, float(np.nanmax(values))) + 6
    said = f"{_words(curves, '°C')}; GPUs throttle at {limit:g} °C"
    plot = _plot(timeline, "Hottest die, °C", curves, (0.0, top), said, limit, ("over", "accent"))
    return [plot]


def _names(timeline: Timeline) -> list[str]:
    """Of the jobs, as legend and caption have room for them."""
    names = [printable(total.name) for total in timeline.totals]
    return short_names(names, _STYLE["legend.fontsize"], _NAME)


def _plot(
    timeline: Timeline,
    title: str,
    curves: Sequence[tuple[str, Floats]],
    span: tuple[float, float],
    caption: str,
    limit: float | None = None,
    colours: tuple[str, ...] = (),
    *,
    stairs: bool = True,
) -> Plot:
    unit, word = next(u for u in _UNITS if timeline.duration_s >= 2 * u[0] or u[0] == 1)
    edges = np.array([(one.start_s, one.end_s) for one in timeline.intervals]) / unit
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # Texts stay texts: the reader's browser has the signs that our font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        figure = Figure(figsize=_INCHES, layout="constrained")
        axes = figure.add_subplot()
        for number, (name, values) in enumerate(curves):
            colour = _COLOURS[colours[number] if colours else f"job-{number % len(DARK.jobs)}"]
            dash = _DASHES[number % len(_DASHES)]
            x, y = edges.ravel(), np.repeat(values, 2)
            if not stairs:
                x, y = np.append(edges[0, 0], edges[:, 1]), np.append(values[0], values)
            label = name if number < _MOST_NAMED else "_"
            axes.plot(x, y, color=colour, linestyle=dash, linewidth=1.6, label=label)
        if limit is not None:
            axes.axhline(limit, color=_COLOURS["warm"], linewidth=1, linestyle=":")
            end = timeline.duration_s / unit
            axes.text(
                end, limit, "throttle", color=_COLOURS["warm"], size=8, va="bottom", ha="right"
            )
        _mark(axes, timeline, unit)
        axes.set(title=title, xlabel=f"time, {word}", ylim=span)
        if timeline.duration_s / unit >= _LONG:
            axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlim(0, max(timeline.duration_s / unit, 1e-9))
        axes.grid(axis="y", color=_COLOURS["line"], linewidth=0.5)
        if len(curves) > 1 or not colours:
            wide = max(text_width(name, _STYLE["legend.fontsize"]) for name, _ in curves)
            axes.legend(loc="best", ncols=2 if wide <= _HALF else 1)
        out = StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata=dict.fromkeys(_SAID))
    own = title.partition(",")[0].lower().replace(" ", "-")
    return Plot(title, caption, _in_page(out.getvalue(), own))


_SAID = ("Creator", "Date", "Format", "Type")


def _mark(axes: Axes, timeline: Timeline, unit: float) -> None:
    """A thin line where something happens, unless that is nearly everywhere."""
    times = [one.start_s / unit for one in timeline.intervals if one.events and one.start_s > 0]
    for time in times if len(times) <= _MOST_MARKS else ():
        axes.axvline(time, color=_COLOURS["dim"], linewidth=0.6, alpha=0.5)


def _words(curves: Sequence[tuple[str, Floats]], unit: str) -> str:
    """The least and the most of each curve."""
    said = []
    for name, values in curves[:_MOST_NAMED]:
        known = values[~np.isnan(values)]
        if len(known):
            said.append(f"{name} {_span(float(known.min()), float(known.max()), unit)}")
    return ", ".join(said)


def _span(least: float, most: float, unit: str) -> str:
    """From where to where a curve goes, or where it stays."""
    if unit == "%":
        ends = [percent(value / 100, 1).removesuffix(" %") for value in (least, most)]
    else:
        ends = [f"{value:.1f}" for value in (least, most)]
    return f"{' to '.join(dict.fromkeys(ends))} {unit}"


def _in_page(text: str, own: str) -> str:
    """The `<svg>` element alone, with the page's colours, as wide as there is room.

    Of its ids those that it refers to stay, with `own` before them: a page has several plots.
    """
    found = text[text.index("<svg") :]
    found = re.sub(r"<metadata>.*?</metadata>", "", found, count=1, flags=re.DOTALL)
    found = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", found, count=1)
    found = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", found, count=1)
    meant = {one for tag in re.findall(_TAG, found) for one in re.findall(_MEANT, tag)}

    def told(tag: re.Match[str]) -> str:
        named = re.sub(_ID, lambda one: f' id="{own}-{one[1]}"' if one[1] in meant else "", tag[0])
        named = re.sub(_MEANT, lambda one: one[0].replace("#", f"#{own}-", 1), named)
        return re.sub("#0101[0-9a-f]{2}", lambda one: f"var(--{_NAMES[one[0]]})", named)

    # Within tags alone: what stands between them may be the name of a job.
    return re.sub(_TAG, told, found)
