"""Tables for a screen: what is broken, what the fabric can do, what runs, what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from gbviz.report.document import fault_rows
from gbviz.report.figure_rows import PERCENT, figure_rows, shown
from gbviz.report.job_lines import pace
from gbviz.report.words import counted, number, percent, sized
from gbviz.scenario.emit import inline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gbviz.cooling import LoopState
    from gbviz.engine import Snapshot
    from gbviz.engine.snapshot import TrafficImpact
    from gbviz.jobs.impact import JobImpact
    from gbviz.jobs.models import ModelPreset
    from gbviz.report.headline import Headline
    from gbviz.topology.catalogue import Fact
    from gbviz.topology.check import BuildCheck
    from gbviz.topology.presets import Preset
    from gbviz.topology.spec import ClusterSpec


def figure_table(snapshot: Snapshot) -> Table:
    """Key figures: base, now, delta."""
    table = _table("What the fabric can do", ("figure", "base", "now", "delta", "of base"), right=4)
    for row in figure_rows(snapshot):
        table.add_row(row.what, row.base, row.now, row.delta, row.share)
    return table


def fault_table(snapshot: Snapshot, most: int | None) -> Table:
    """The first causes and consequences, None for all, with what each takes down."""
    table = _table("What is broken", ("component", "state", "links", "GPUs", "NICs", "because of"))
    for column in table.columns[2:5]:
        column.justify = "right"
    for fault in fault_rows(snapshot, most):
        toll = fault["takes_down"]
        state = "failed" if fault["factor"] == 0 else f"at {fault['factor']:g}"
        table.add_row(
            escape(fault["component"]),
            state,
            *(f"{toll[key]:,}" for key in ("links", "gpus", "nics")),
            escape(fault["because"] or ""),
        )
    _say_more(table, len(snapshot.faults), most)
    return table


def traffic_table(flows: Sequence[TrafficImpact]) -> Table:
    """Traffic jobs: rates before and now, flows cut off."""
    columns = (
        "traffic",
        "state",
        "flows",
        "mean before",
        "mean now",
        "slowest before",
        "slowest now",
        "cut",
        "limit",
    )
    table = _table("Traffic, GB/s a flow", columns)
    for column in table.columns[2:8]:
        column.justify = "right"
    for impact in flows:
        base, post = impact.base, impact.post
        table.add_row(
            escape(impact.job.name),
            impact.state,
            f"{base.flows:,}",
            f"{base.mean_GBps:,.2f}",
            f"{post.mean_GBps:,.2f}",
            f"{base.min_GBps:,.2f}",
            f"{post.min_GBps:,.2f}",
            f"{post.cut_off + post.gone:,}",
            escape(post.bottleneck[0] if post.bottleneck else ""),
        )
    return table


def job_table(jobs: Sequence[JobImpact]) -> Table:
    """Jobs that step: what they do, how much slower, what limits them, what it cost once."""
    columns = ("job", "state", "GPUs", "before", "now", "slowdown", "once", "limit")
    table = _table("Jobs", columns)
    for column in table.columns[2:7]:
        column.justify = "right"
    for impact in jobs:
        once = impact.one_off
        seconds = once.stall_s + once.lost_work_s + once.restart_s
        limit = impact.bottleneck.words if impact.bottleneck else impact.reason.get("post", "")
        table.add_row(
            escape(impact.name),
            impact.state,
            f"{impact.gpus:,}",
            pace(impact, impact.base),
            pace(impact, impact.post),
            "-" if impact.slowdown is None else f"{impact.slowdown:.3f}",
            f"{number(seconds)} s" if seconds else "-",
            escape(limit),
        )
    return table


def run_table(rows: Iterable[tuple[str, dict[str, Any]]]) -> Table:
    """A line for each job of each scenario file that was run."""
    columns = ("file", "job", "state", "slowdown", "goodput", "limit", "expectations")
    table = _table("Runs", columns)
    for column in table.columns[3:5]:
        column.justify = "right"
    for path, found in rows:
        passed = sum(row["passed"] for row in found["expect"])
        kept = f"{passed} of {len(found['expect'])}" if found["expect"] else "-"
        for place, job in enumerate(found["jobs"] or [{}]):
            slowdown, limit = job.get("slowdown"), job.get("bottleneck") or {}
            goodput = found["totals"]["goodput"].get(job.get("name"))
            table.add_row(
                escape(path) if place == 0 else "",
                escape(job.get("name", "-")),
                job.get("state", "-"),
                "-" if slowdown is None else f"{slowdown:.4f}",
                "-" if goodput is None else percent(round(goodput, 6)),
                escape(limit.get("words") or limit.get("link") or "-"),
                kept if place == 0 else "",
            )
    return table


def difference_table(rows: Sequence[dict[str, Any]]) -> Table:
    """What two scenarios ask for differently."""
    table = _table("What differs", ("field", "A", "B"))
    for row in rows:
        table.add_row(escape(row["where"]), *(escape(_stated(row[side])) for side in ("a", "b")))
    return table


def _stated(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else inline(value)


def compared_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Figures of two results side by side."""
    table = _table("Figures", ("figure", "base", "A", "B", "B - A"), right=4)
    for row in rows:
        what = ": ".join(filter(None, (row["name"] or row["group"], row["figure"])))
        base = _cell(row["base_a"])
        if row["base_b"] != row["base_a"]:
            base = f"{base} / {_cell(row['base_b'])}"
        values = [_cell(row[side]) for side in ("a", "b")]
        delta = row["delta"]
        change = "" if delta is None else f"{'+' if delta > 0 else ''}{_cell(delta)}"
        table.add_row(escape(what), base, *map(escape, values), change)
    return table


def _cell(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else number(value)


def holds_back(loop: LoopState) -> bool:
    """Whether a loop slows its GPUs down, or has none that runs."""
    return loop.clock is None or loop.clock < 1


def loop_table(loops: Sequence[LoopState], most: int | None) -> Table:
    """The first cooling loops that hold GPUs back, None for all."""
    columns = ("loop", "heat, kW", "capacity, kW", "supply, °C", "hottest die, °C", "clock", "why")
    table = _table("Cooling loops with slow or dead GPUs", columns, right=5)
    for loop in loops[:most]:
        table.add_row(
            loop.loop,
            f"{loop.heat_kw:,.1f}",
            f"{loop.capacity_kw:,.1f}",
            shown(loop.supply_c, "{:.1f}"),
            shown(loop.hottest_die_c, "{:.1f}"),
            shown(loop.clock, PERCENT),
            loop.reason or "",
        )
    _say_more(table, len(loops), most)
    return table


def _say_more(table: Table, count: int, most: int | None) -> None:
    if most is not None and count > most:
        table.caption = f"and {count - most:,} more: --verbose or --json lists all"


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
        ("size", sized(fabric)),
        ("NVLink cables", f"{fabric.nvlink.n if fabric.nvlink else 0:,}"),
        ("fabric cables", f"{sum(tier.n for tier in fabric.tiers):,}"),
        ("non-blocking", nonblocking),
        ("injection", f"{base.injection_GBps:,.0f} GB/s"),
        ("bisection, one way", f"{base.bisection_GBps:,.0f} GB/s"),
        ("NVLink, one way", f"{base.nvlink_GBps:,.0f} GB/s"),
        ("all-to-all", shown(base.all_to_all_GBps_per_gpu, "{:,.1f} GB/s a GPU")),
    ]
    if cooling is not None:
        units = f"{fabric.count(cooling.kind):,} {cooling.kind} of {cooling.unit_kw:,.0f} kW"
        rows.append(("cooling", f"{units} on {counted(fabric.count('loop'), 'loop')}"))
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


def model_table(rows: Iterable[ModelPreset]) -> Table:
    """Models that a job may name, with their published sizes."""
    columns = ("name", "weights, 10^9", "of a token", "source")
    table = _table("Models", columns, right=2)
    for model in rows:
        sizes = f"{model.total_billions:,.4g}", f"{model.active_billions:,.4g}"
        table.add_row(model.name, *sizes, escape(model.source))
    return table


def _table(title: str, columns: tuple[str, ...], right: int = 0) -> Table:
    """A plain table; the `right` columns after the first hold numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", caption_justify="left")
    for place, name in enumerate(columns):
        justify = "right" if 1 <= place <= right else "left"
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    return table
