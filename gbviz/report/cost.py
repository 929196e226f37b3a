"""What a change costs, in one line: one state against another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.engine.snapshot import TrafficImpact
from gbviz.report.figure_rows import SHARES
from gbviz.report.job_lines import SAME
from gbviz.report.words import number, percent

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.jobs.impact import JobImpact

_SAME = 1e-6


def cost(label: str, now: Snapshot, then: Snapshot) -> str:
    """What differs between two states of the same jobs: figures of the fabric, GPUs, jobs.

    Examples
    --------
    >>> import gbviz
    >>> healthy = gbviz.preset("azure-gb300")
    >>> print(cost("fail spine-3", *map(gbviz.evaluate, (healthy, healthy.with_faults("spine-3")))))
    fail spine-3: bisection -2.78 %
    >>> busy = healthy.with_jobs(gbviz.traffic_job("shift:72"))
    >>> print(cost("fail spine-3", *map(gbviz.evaluate, (busy, busy.with_faults("spine-3")))))
    fail spine-3: bisection -2.78 %, no job is slower
    """
    said = []
    lost = then.post.live_gpus - now.post.live_gpus
    if lost:
        said.append(f"{lost:+,} {'GPU' if abs(lost) == 1 else 'GPUs'}")
    for word, name in SHARES:
        before, after = getattr(now.post, name), getattr(then.post, name)
        if before and after is not None and abs(after / before - 1) > _SAME:
            said.append(f"{word} {_change(after / before)}")
    jobs: list[str] = []
    for was, will in zip(now.jobs, then.jobs, strict=True):
        if isinstance(was, TrafficImpact) or isinstance(will, TrafficImpact):
            jobs += _traffic(was, will)
        else:
            jobs += _step(was, will)
    said += jobs
    if now.jobs and not jobs and said:
        said.append("no job is slower")
    return f"{label}: " + (", ".join(said) or "nothing changes that is measured here")


def _traffic(was: object, will: object) -> list[str]:
    assert isinstance(was, TrafficImpact)
    assert isinstance(will, TrafficImpact)
    before, after = was.post.mean_GBps, will.post.mean_GBps
    if not before or abs(after / before - 1) <= _SAME:
        return []
    return [f"{will.job.name} {_change(after / before)} a flow"]


def _change(ratio: float) -> str:
    """A change in per cent with its sign, never 0 where there is one."""
    return f"{'+' if ratio > 1 else '-'}{percent(abs(ratio - 1))}"


def _step(was: JobImpact, will: JobImpact) -> list[str]:
    if will.slowdown is None:
        return [] if was.slowdown is None else [f"{will.name} stops"]
    if was.slowdown is None:
        return [f"{will.name} runs again"]
    said = []
    times = will.slowdown / was.slowdown
    if not 1 / SAME < times <= SAME:
        said.append(f"{will.name} takes {times:.3f} times as long")
    once = will.one_off
    spent = once.total_s
    if spent >= 1 and once != was.one_off:
        said.append(f"{will.name} loses {number(spent)} s once")
    return said
