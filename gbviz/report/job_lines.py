"""Jobs of either kind, those that step and those of flows, as lines of one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gbviz.engine.snapshot import TrafficImpact

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.jobs.impact import JobImpact


@dataclass(frozen=True, slots=True)
class JobLine:
    """One job: before and now in its own unit, time now over then, and what limits it.

    `slowdown` is None where it does not run; `link` is the name of the link that limits it, as
    `JobImpact.bottleneck` gives it, "" for none; `limit` says it in words, or why it cannot run.
    """

    name: str
    kind: str
    state: str
    gpus: int
    before: str
    now: str
    slowdown: float | None
    limit: str
    link: str


def job_lines(snapshot: Snapshot) -> list[JobLine]:
    """All jobs in the order of the scenario.

    Examples
    --------
    >>> import gbviz
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> line = job_lines(gbviz.evaluate(scenario))[0]
    >>> line.name, line.state, line.gpus, line.now, line.slowdown
    ('shift:72', 'running', 576, '100.00 GB/s a flow', 1.0)
    """
    lines, flows = [], iter(snapshot.gpus)
    for impact in snapshot.jobs:
        if isinstance(impact, TrafficImpact):
            own = next(flows)
            gpus = snapshot.fabric.count("gpu") if own is None else len(own)
            lines.append(_traffic(impact, gpus))
        else:
            lines.append(_stepping(impact))
    return lines


def pace(impact: JobImpact, values: dict[str, Any] | None) -> str:
    """The figure that people know a job by."""
    if values is None:
        return "-"
    if impact.kind == "training":
        return f"{values['step_s']:.3f} s a step"
    if impact.kind == "inference":
        return f"{values['tokens_per_s']:,.0f} tokens/s"
    return f"{1e3 * values['time_s']:,.3f} ms"


def _stepping(impact: JobImpact) -> JobLine:
    limit = impact.bottleneck
    return JobLine(
        impact.name,
        impact.kind,
        impact.state,
        impact.gpus,
        pace(impact, impact.base),
        pace(impact, impact.post),
        impact.slowdown,
        limit.words if limit else impact.reason.get("post", ""),
        (limit.link or "") if limit else "",
    )


def _traffic(impact: TrafficImpact, gpus: int) -> JobLine:
    base, post = impact.base, impact.post
    link = post.bottleneck[0] if post.bottleneck else ""
    return JobLine(
        impact.job.name,
        "traffic",
        impact.state,
        gpus,
        f"{base.mean_GBps:,.2f} GB/s a flow",
        f"{post.mean_GBps:,.2f} GB/s a flow",
        base.total_GBps / post.total_GBps if post.total_GBps else None,
        f"slowest flow limited by {link}" if link else "",
        link,
    )
