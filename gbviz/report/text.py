"""The same answers as tables on a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from gbviz.report.document import difference, figures
from gbviz.report.document import document as result_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from gbviz.engine import Snapshot
    from gbviz.report.headline import Headline
    from gbviz.topology.catalogue import Fact
    from gbviz.topology.check import BuildCheck
    from gbviz.topology.presets import Preset
    from gbviz.topology.spec import ClusterSpec

_ROWS = (
    ("live_gpus", "live GPUs", "{:,.0f}"),
    ("injection_GBps", "injection, GB/s", "{:,.0f}"),
    ("bisection_GBps", "bisection, GB/s", "{:,.0f}"),
    ("all_to_all_GBps_per_gpu", "all-to-all, GB/s a GPU", "{:,.2f}"),
    ("worst_pair_GBps", "worst pair, GB/s", "{:,.2f}"),
    ("worst_leaf_uplink_fraction", "worst leaf's uplinks", "{:.2%}"),
    ("nvlink_GBps", "NVLink, GB/s", "{:,.0f}"),
    ("compute_fraction", "compute (mean clock)", "{:.2%}"),
)
_MOST_ROWS = 20
# What the sentence speaks of, in the order of interest: word, figure, unit.
_SAID = (
    ("bisection", "bisection_GBps", "GB/s"),
    ("all-to-all", "all_to_all_GBps_per_gpu", "GB/s a GPU"),
    ("injection", "injection_GBps", "GB/s"),
    ("NVLink", "nvlink_GBps", "GB/s"),
    ("compute", "compute_fraction", ""),
)


def print_answer(console: Console, snapshot: Snapshot, *, verbose: bool = False) -> None:
    """One question's answer: a sentence, what is broken, what it does, what runs."""
    console.print(Text(sentence(snapshot), style="bold"))
    if snapshot.faults:
        console.print(fault_table(snapshot, None if verbose else _MOST_ROWS))
    console.print(figure_table(snapshot))
    for line in notes(snapshot):
        console.print(Text(line))
    if snapshot.jobs:
        console.print(job_table(snapshot))
    hot = [loop for loop in result_document(snapshot)["cooling"] if _noteworthy(loop)]
    if hot:
        console.print(loop_table(hot[: None if verbose else _MOST_ROWS]))
    checks = "; ".join(snapshot.problems) or "ok"
    console.print(Text(f"Conservation check: {checks}.", style="dim"))


def sentence(snapshot: Snapshot) -> str:
    """The answer in a sentence, with the numbers that changed.

    Examples
    --------
    >>> import gbviz
    >>> print(sentence(gbviz.evaluate(gbviz.preset("azure-gb300").with_faults("spine-3"))))
    With spine-3 failed, bisection falls to 97.22 % (224,000 of 230,400 GB/s); all-to-all,
    injection, NVLink and compute stay as they are; nobody is cut off.
    """
    base, post = snapshot.base, snapshot.post
    if not snapshot.faults:
        return f"{snapshot.scenario.name} is healthy: {_size(snapshot)}."
    lost = base.live_gpus - post.live_gpus
    changed = [f"{lost:,} GPUs are lost"] if lost else []
    same = []
    for name, attribute, unit in _SAID:
        before, after = getattr(base, attribute), getattr(post, attribute)
        if before is not None and after is None:
            changed.append(f"{name} has no value any more")
        elif before is not None and abs(after - before) <= 1e-9 * abs(before):
            same.append(name)
        elif before is not None:
            changed.append(_moved(name, before, after, unit))
    cut = len(post.disconnected_gpus)
    tail = f"{cut:,} live GPUs are cut off" if cut else "nobody is cut off"
    if same:
        tail = (
            f"{_listed(same)} {'stay as they are' if len(same) > 1 else 'stays as it is'}; {tail}"
        )
    return (
        f"With {_named(snapshot)}, "
        + "; ".join([", ".join(changed)] * bool(changed) + [tail])
        + "."
    )


def _moved(name: str, before: float, after: float, unit: str) -> str:
    """`bisection falls to 97.22 % (224,000 of 230,400 GB/s)`."""
    share = f"{100 * after / before:.2f} %" if before else "a value"
    numbers = f" ({_number(after)} of {_number(before)} {unit})" if unit else ""
    return f"{name} {'falls' if after < before else 'rises'} to {share}{numbers}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.2f}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _named(snapshot: Snapshot) -> str:
    causes = [fault for fault in snapshot.faults if fault.because is None]
    if len(causes) > 3:
        failed = sum(fault.factor == 0 for fault in causes)
        return f"{len(causes)} faults ({failed} failed, {len(causes) - failed} degraded)"
    words = [
        f"{fault.component} {'failed' if fault.factor == 0 else f'at {fault.factor:g}'}"
        for fault in causes
    ]
    return _listed(words)


def _size(snapshot: Snapshot) -> str:
    fabric = snapshot.fabric
    parts = [(fabric.count("rack"), "rack"), (fabric.count("gpu"), "GPU")]
    parts += [
        (fabric.count(k), w) for k, w in (("leaf", "leaf"), ("spine", "spine"), ("core", "core"))
    ]
    words = []
    for count, word in parts:
        if count:
            plural = "leaves" if word == "leaf" and count > 1 else word + "s" * (count > 1)
            words.append(f"{count:,} {plural}")
    return ", ".join(words)


def figure_table(snapshot: Snapshot) -> Table:
    """Key figures: base, now, delta."""
    base = figures(snapshot.base, snapshot.base)
    post = figures(snapshot.post, snapshot.base)
    delta = difference(base, post)
    table = _table("What the fabric can do", ("figure", "base", "now", "delta", "of base"), right=4)
    for name, label, form in _ROWS:
        before, after, change = base[name], post[name], delta[name]
        share = f"{after / before:.2%}" if before and after is not None else "-"
        table.add_row(
            label, _shown(before, form), _shown(after, form), _change(change, form), share
        )
    yes = {True: "yes", False: "no", None: "-"}
    table.add_row("non-blocking", yes[base["nonblocking"]], yes[post["nonblocking"]], "", "")
    cut = len(snapshot.post.disconnected_gpus)
    table.add_row("GPUs cut off", f"{len(snapshot.base.disconnected_gpus):,}", f"{cut:,}", "", "")
    return table


def _shown(value: float | None, form: str) -> str:
    return "none" if value is None else form.format(value)


def _change(value: float | None, form: str) -> str:
    if value is None:
        return "none"
    if abs(value) < 1e-12:
        return "0"
    return ("+" if value > 0 else "") + form.format(value)


def notes(snapshot: Snapshot) -> list[str]:
    """What the figures need to be understood: bottleneck, why not non-blocking, reasons."""
    post = snapshot.post
    lines = []
    if post.bottleneck and post.all_to_all_GBps_per_gpu:
        lines.append(f"All-to-all is limited by {post.bottleneck}.")
    if post.nonblocking_why:
        lines.append(f"Not non-blocking: {post.nonblocking_why}.")
    lines += [f"{name}: {why}." for name, why in post.reason.items()]
    if post.disconnected_gpus:
        first = ", ".join(post.disconnected_gpus[:4])
        more = len(post.disconnected_gpus) - 4
        lines.append(f"Cut off: {first}" + (f" and {more:,} more." if more > 0 else "."))
    return lines


def fault_table(snapshot: Snapshot, most: int | None) -> Table:
    """Causes and consequences with what each takes down."""
    table = _table("What is broken", ("component", "state", "links", "GPUs", "NICs", "because of"))
    for column in table.columns[2:5]:
        column.justify = "right"
    found = result_document(snapshot)["faults"]
    for fault in found[:most]:
        toll = fault["takes_down"]
        state = "failed" if fault["factor"] == 0 else f"at {fault['factor']:g}"
        table.add_row(
            escape(fault["component"]),
            state,
            *(f"{toll[key]:,}" for key in ("links", "gpus", "nics")),
            escape(fault["because"] or ""),
        )
    if most is not None and len(found) > most:
        table.caption = f"and {len(found) - most:,} more: --verbose or --json lists all"
    return table


def job_table(snapshot: Snapshot) -> Table:
    """Traffic jobs: rates before and now, flows cut off."""
    columns = (
        "traffic",
        "state",
        "flows",
        "mean before",
        "mean now",
        "slowest now",
        "cut",
        "limit",
    )
    table = _table("Traffic, GB/s a flow", columns)
    for column in table.columns[2:7]:
        column.justify = "right"
    for impact in snapshot.jobs:
        base, post = impact.base, impact.post
        table.add_row(
            escape(impact.job.name),
            impact.state,
            f"{base.flows:,}",
            f"{base.mean_GBps:,.2f}",
            f"{post.mean_GBps:,.2f}",
            f"{post.min_GBps:,.2f}",
            f"{post.cut_off + post.gone:,}",
            escape(post.bottleneck[0] if post.bottleneck else ""),
        )
    return table


def _noteworthy(loop: dict[str, Any]) -> bool:
    return loop["reason"] is not None or bool(loop["clock"] is not None and loop["clock"] < 1)


def loop_table(loops: list[dict[str, Any]]) -> Table:
    """Cooling loops that hold GPUs back."""
    columns = ("loop", "heat, kW", "capacity, kW", "supply, °C", "hottest die, °C", "clock", "")
    table = _table("Cooling loops with slow or dead GPUs", columns, right=5)
    for loop in loops:
        table.add_row(
            loop["loop"],
            f"{loop['heat_kw']:,.1f}",
            f"{loop['capacity_kw']:,.1f}",
            _shown(loop["supply_c"], "{:.1f}"),
            _shown(loop["hottest_die_c"], "{:.1f}"),
            _shown(loop["clock"], "{:.2%}"),
            loop["reason"] or "",
        )
    return table


def headline_table(found: Iterable[Headline]) -> Table:
    """Ours beside the published figures, with sources."""
    table = _table("Headline figures", ("figure", "model", "published", "unit", "source"))
    for column in table.columns[1:3]:
        column.justify = "right"
    for line in found:
        published = "-" if line.published is None else f"{line.published:,.4g}"
        source = line.source + (f" ({line.note})" if line.note else "")
        table.add_row(line.what, f"{line.ours:,.6g}", published, line.unit, escape(source))
    return table


def check_table(checks: Iterable[BuildCheck]) -> Table:
    """Build checks, passed or not."""
    table = _table("Build checks", ("check", "", "what was found"))
    for check in checks:
        table.add_row(check.name, "ok" if check.passed else "FAILED", escape(check.says))
    return table


def fact_table(facts: Iterable[Fact]) -> Table:
    """Catalogue entries with unit, mark and source."""
    table = _table("Hardware catalogue", ("name", "value", "unit", "mark", "source"))
    table.columns[1].justify = "right"
    for fact in facts:
        source = fact.source + (f" ({fact.note})" if fact.note else "")
        table.add_row(fact.name, f"{fact.value:,.12g}", fact.unit, fact.mark, escape(source))
    return table


def size_table(snapshot: Snapshot, nonblocking: str) -> Table:
    """What a cluster consists of and what it can do while it is healthy."""
    fabric, base = snapshot.fabric, snapshot.base
    cooling = fabric.spec.cooling if fabric.spec else None
    rows = [
        ("size", _size(snapshot)),
        ("NVLink cables", f"{fabric.nvlink.n if fabric.nvlink else 0:,}"),
        ("fabric cables", f"{sum(tier.n for tier in fabric.tiers):,}"),
        ("non-blocking", nonblocking),
        ("injection", f"{base.injection_GBps:,.0f} GB/s"),
        ("bisection, one way", f"{base.bisection_GBps:,.0f} GB/s"),
        ("NVLink, one way", f"{base.nvlink_GBps:,.0f} GB/s"),
        ("all-to-all", _shown(base.all_to_all_GBps_per_gpu, "{:,.1f} GB/s a GPU")),
    ]
    if cooling is not None:
        units = f"{fabric.count(cooling.kind):,} {cooling.kind} of {cooling.unit_kw:,.0f} kW"
        rows.append(("cooling", f"{units} on {fabric.count('loop'):,} loops"))
    table = _table(f"{snapshot.scenario.name}", ("", ""))
    table.show_header = False
    for name, value in rows:
        table.add_row(name, escape(value))
    return table


def preset_table(rows: Iterable[tuple[Preset, ClusterSpec]]) -> Table:
    """Names, sizes and descriptions of presets."""
    table = _table("Presets", ("name", "racks", "GPUs", "what it is"), right=2)
    for preset, spec in rows:
        text = f"{preset.title}: {preset.description}"
        table.add_row(preset.name, f"{spec.racks:,}", f"{spec.n_gpus:,}", escape(text))
    return table


def _table(title: str, columns: tuple[str, ...], right: int = 0) -> Table:
    """A plain table; the `right` columns after the first hold numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", caption_justify="left")
    for number, name in enumerate(columns):
        justify = "right" if 1 <= number <= right else "left"
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    return table
