"""Jobs of either kind, those that step and those of flows, as lines of one table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gbviz.engine.snapshot import TrafficImpact
from gbviz.jobs.impact import OneOff
from gbviz.report.words import listed, number

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.jobs.impact import JobImpact

# A cost of less than this, a mere reroute, is not worth an alarm.
LEAST_ONCE_S = 1.0
# What two columns of every table of jobs mean.
SLOWDOWN = "time now over time on the healthy cluster"
ONCE = "what the faults cost once: stalled, work lost, restart"
# Slowdowns up to this are what rounding leaves.
SAME = 1.0005
_MS = 1e-3


@dataclass(frozen=True, slots=True)
class JobLine:
    """One job: before and now in its own unit, time now over then, and what limits it.

    `slowdown` is None where it does not run; `link` is the name of the link that limits it, as
    `JobImpact.bottleneck` gives it, "" for none; `limit` says it in words, or why it cannot run.
    `short` is `now` for a narrow column, `one_off` what the faults cost it once, `lost_gpus` and
    `replaced_gpus` its failed GPUs and the spares in their places.
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
    short: str
    one_off: OneOff = field(default_factory=OneOff)
    lost_gpus: int = 0
    replaced_gpus: int = 0

    @property
    def once_s(self) -> float:
        """Seconds that the faults cost it once, all parts together."""
        return self.one_off.total_s

    @property
    def hurt(self) -> bool:
        """Whether it is slower, does not run, runs on fewer GPUs, or has lost time once."""
        slower = self.slowdown is None or self.slowdown > SAME
        return slower or self.state != "running" or self.once_s > LEAST_ONCE_S


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
    return in_ms(values["time_s"])


def in_ms(seconds: float) -> str:
    """A time of a collective: milliseconds, microseconds where these would hide what differs.

    Examples
    --------
    >>> in_ms(0.011080), in_ms(2.134e-6)
    ('11.080 ms', '2.134 µs')
    """
    return f"{1e3 * seconds:,.3f} ms" if seconds >= _MS else f"{1e6 * seconds:,.3f} µs"


def short_pace(impact: JobImpact, values: dict[str, Any] | None) -> str:
    """`pace` for a narrow column: `2.29 s`, `572k tok/s`, `9.70 ms`."""
    if values is None:
        return "-"
    if impact.kind == "training":
        return f"{figures_3(values['step_s'])} s"
    if impact.kind == "inference":
        return f"{figures_3(values['tokens_per_s'])} tok/s"
    return f"{figures_3(1e3 * values['time_s'])} ms"


def figures_3(value: float) -> str:
    """A number in three figures, with k and M for thousands and millions.

    Examples
    --------
    >>> [figures_3(value) for value in (2.2931, 99.999, 572123.0, 9996.0, 1.5e6, 0.0042, 0.0)]
    ['2.29', '100', '572k', '10.0k', '1.50M', '0.0042', '0.00']
    """
    for size, sign in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size * 0.9995:
            return figures_3(value / size) + sign
    if 0 < abs(value) < 0.01:
        return f"{value:.3g}"
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{digits}f}"


def once_words(one_off: OneOff) -> str:
    """What faults cost once, part by part; "" for nothing.

    Examples
    --------
    >>> once_words(OneOff(30.0, 0.0, 600.0))
    '30 s stalled and 600 s to restart'
    """
    parts = (
        (one_off.stall_s, "stalled"),
        (one_off.lost_work_s, "of work lost (half a checkpoint interval, on average)"),
        (one_off.restart_s, "to restart"),
    )
    said = [f"{number(seconds)} s {words}" for seconds, words in parts if seconds]
    return listed(said) if said else ""


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
        short_pace(impact, impact.post),
        impact.one_off,
        impact.lost_gpus,
        impact.replaced_gpus,
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
        f"{figures_3(post.mean_GBps)} GB/s",
    )
