"""Tables: what is broken, what the fabric can do, what runs, what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gbviz.report.document import fault_rows
from gbviz.report.figure_rows import PERCENT, figure_rows, shown
from gbviz.report.job_lines import pace
from gbviz.report.outcome import JobOutcome
from gbviz.report.table import Table
from gbviz.report.words import counted, fine, number, percent, sized, stated
from gbviz.scenario.emit import inline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gbviz.cooling import LoopState
    from gbviz.engine import Snapshot
    from gbviz.engine.snapshot import TrafficImpact
    from gbviz.jobs.impact import JobImpact
    from gbviz.jobs.models import ModelPreset
    from gbviz.report.headline import Headline
    from gbviz.report.outcome import Outcome
    from gbviz.topology.catalogue import Fact
    from gbviz.topology.check import BuildCheck
    from gbviz.topology.presets import Preset
    from gbviz.topology.spec import ClusterSpec


def figure_table(snapshot: Snapshot) -> Table:
    """Key figures: base, now, delta."""
    table = Table(
        "What the fabric can do", ("figure", "base", "now", "delta", "of base"), right=(1, 2, 3, 4)
    )
    for row in figure_rows(snapshot):
        table.add(row.what, row.base, row.now, row.delta, row.share)
    return table


def fault_table(snapshot: Snapshot, most: int | None) -> Table:
    """The first causes and consequences, None for all, with what each takes down."""
    table = Table("What is broken", ("component", "state", "links", "GPUs", "NICs", "because of"))
    table.right = tuple(range(2, 5))
    for fault in fault_rows(snapshot, most):
        toll = fault["takes_down"]
        state = "failed" if fault["factor"] == 0 else f"at {stated(fault['factor'])}"
        table.add(
            fault["component"],
            state,
            *(f"{toll[key]:,}" for key in ("links", "gpus", "nics")),
            fault["because"] or "",
        )
    table.say_more(len(snapshot.faults), most)
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
    table = Table("Traffic, GB/s a flow", columns)
    table.right = tuple(range(2, 8))
    for impact in flows:
        base, post = impact.base, impact.post
        table.add(
            impact.job.name,
            impact.state,
            f"{base.flows:,}",
            f"{base.mean_GBps:,.2f}",
            f"{post.mean_GBps:,.2f}",
            f"{base.min_GBps:,.2f}",
            f"{post.min_GBps:,.2f}",
            f"{post.cut_off + post.gone:,}",
            post.bottleneck[0] if post.bottleneck else "",
        )
    return table


def job_table(jobs: Sequence[JobImpact]) -> Table:
    """Jobs that step: what they do, how much slower, what limits them, what it cost once."""
    columns = ("job", "state", "GPUs", "before", "now", "slowdown", "once", "limit")
    table = Table("Jobs", columns)
    table.right = tuple(range(2, 7))
    for impact in jobs:
        once = impact.one_off
        seconds = once.stall_s + once.lost_work_s + once.restart_s
        limit = impact.bottleneck.words if impact.bottleneck else impact.reason.get("post", "")
        table.add(
            impact.name,
            impact.state,
            f"{impact.gpus:,}",
            pace(impact, impact.base),
            pace(impact, impact.post),
            "-" if impact.slowdown is None else f"{impact.slowdown:.3f}",
            f"{number(seconds)} s" if seconds else "-",
            limit,
        )
    return table


def run_table(outcomes: Iterable[Outcome]) -> Table:
    """A line for each job of each scenario file that was run."""
    columns = ("file", "job", "state", "slowdown", "goodput", "limit", "expectations")
    table = Table("Runs", columns, right=(3, 4))
    for one in outcomes:
        kept = f"{len(one.limits) - len(one.failed)} of {len(one.limits)}" if one.limits else "-"
        for place, job in enumerate(one.jobs or [JobOutcome("-", "-", None, None, "")]):
            table.add(
                one.file if place == 0 else "",
                job.name,
                job.state,
                "-" if job.slowdown is None else f"{job.slowdown:.4f}",
                "-" if job.goodput is None else percent(job.goodput),
                job.limit or "-",
                kept if place == 0 else "",
            )
    return table


def difference_table(rows: Sequence[dict[str, Any]]) -> Table:
    """What two scenarios ask for differently."""
    table = Table("What differs", ("field", "A", "B"))
    for row in rows:
        table.add(row["where"], *(_stated(row[side]) for side in ("a", "b")))
    return table


def _stated(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else inline(value)


def compared_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Figures of two results side by side."""
    table = Table("Figures", ("figure", "base", "A", "B", "B - A"), right=(1, 2, 3, 4))
    for row in rows:
        what = ": ".join(filter(None, (row["name"] or row["group"], row["figure"])))
        base = _cell(row["base_a"])
        if row["base_b"] != row["base_a"]:
            base = f"{base} / {_cell(row['base_b'])}"
        values = [_cell(row[side]) for side in ("a", "b")]
        delta = row["delta"]
        change = "" if delta is None else f"{'+' if delta > 0 else ''}{_cell(delta)}"
        table.add(what, base, *values, change)
    return table


def _cell(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else fine(value)


def holds_back(loop: LoopState) -> bool:
    """Whether a loop slows its GPUs down, or has none that runs."""
    return loop.clock is None or loop.clock < 1


def _why_slow(loop: LoopState) -> str:
    """Why GPUs of a loop that has no other reason are slower than they could be."""
    if loop.clock is None or loop.clock >= 1:
        return ""
    if loop.heat_kw < 0.999 * loop.capacity_kw:
        return "its water or GPUs are too warm, or power is short"
    return "its GPUs make all the heat that its cooling still takes away"


def loop_table(title: str, loops: Sequence[LoopState], most: int | None) -> Table:
    """The first cooling loops, None for all."""
    columns = ("loop", "heat, kW", "capacity, kW", "supply, °C", "hottest die, °C", "clock", "why")
    table = Table(title, columns, right=(1, 2, 3, 4, 5))
    for loop in loops[:most]:
        table.add(
            loop.loop,
            f"{loop.heat_kw:,.1f}",
            f"{loop.capacity_kw:,.1f}",
            shown(loop.supply_c, "{:.1f}"),
            shown(loop.hottest_die_c, "{:.1f}"),
            shown(loop.clock, PERCENT),
            loop.reason or _why_slow(loop),
        )
    table.say_more(len(loops), most)
    return table


def headline_table(found: Iterable[Headline]) -> Table:
    """Ours beside the published figures, with sources."""
    table = Table("Headline figures", ("figure", "model", "published", "unit", "source"))
    table.right = tuple(range(1, 3))
    for line in found:
        published = "-" if line.published is None else f"{line.published:,.4g}"
        source = line.source + (f" ({line.note})" if line.note else "")
        table.add(line.what, f"{line.ours:,.6g}", published, line.unit, source)
    return table


def check_table(checks: Iterable[BuildCheck]) -> Table:
    """Build checks, passed or not."""
    table = Table("Build checks", ("check", "", "what was found"))
    for check in checks:
        table.add(check.name, "ok" if check.passed else "FAILED", check.says)
    return table


def fact_table(facts: Iterable[Fact]) -> Table:
    """Catalogue entries with unit, mark and source."""
    table = Table("Hardware catalogue", ("name", "value", "unit", "mark", "source"))
    table.right = (1,)
    for fact in facts:
        source = fact.source + (f" ({fact.note})" if fact.note else "")
        table.add(fact.name, f"{fact.value:,.12g}", fact.unit, fact.mark, source)
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
    table = Table(f"{snapshot.scenario.name}", ("", ""))
    table.headed = False
    for name, value in rows:
        table.add(name, value)
    return table


def preset_table(rows: Iterable[tuple[Preset, ClusterSpec]]) -> Table:
    """Names, sizes and descriptions of presets."""
    table = Table("Presets", ("name", "racks", "GPUs", "what it is"), right=(1, 2))
    for preset, spec in rows:
        text = f"{preset.title}: {preset.description}"
        table.add(preset.name, f"{spec.racks:,}", f"{spec.n_gpus:,}", text)
    return table


def model_table(rows: Iterable[ModelPreset]) -> Table:
    """Models that a job may name, with their published sizes."""
    columns = ("name", "weights, 10^9", "of a token", "source")
    table = Table("Models", columns, right=(1, 2))
    for model in rows:
        sizes = f"{model.total_billions:,.4g}", f"{model.active_billions:,.4g}"
        table.add(model.name, *sizes, model.source)
    return table
