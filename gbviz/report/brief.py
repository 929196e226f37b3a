"""The answer in three sentences: what jobs notice, what that adds up to, what the fabric loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.report.answer import causes_of, causes_words, effects_words, fabric_words
from gbviz.report.job_lines import job_lines
from gbviz.report.lasting import lasting
from gbviz.report.slower import line_words
from gbviz.report.story import stories
from gbviz.report.words import counted, listed, percent

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import JobTotal, Timeline
    from gbviz.report.worst import Span

_MOST_JOBS = 3
# GPU-hours below this are not worth words; from the other on they are said whole.
_LEAST, _ROUND = 0.05, 10.0
# Parts of the healthy work that differ by less are the same.
_SAME = 5e-5


def brief(snapshot: Snapshot) -> tuple[str, str, str]:
    """Three sentences on one state, for somebody who has ten seconds.

    Examples
    --------
    >>> import gbviz
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> for line in brief(gbviz.evaluate(scenario.with_faults("leaf-*"))):
    ...     print(line)
    With 8 leaves failed, shift:72 does not run.
    Nothing else is lost: no job has to restart or wait.
    The fabric: bisection falls to 0 % (0 of 28,800 GB/s), all-to-all falls to 0 % (0 of 100 GB/s a
    GPU), injection falls to 0 % (0 of 57,600 GB/s); NVLink and compute stay as they are; 576 live
    GPUs are cut off.
    """
    lines = job_lines(snapshot)
    told = [(line.name, line_words(snapshot, line)) for line in lines]
    return _put_together(snapshot, "", told, _once(snapshot))


def brief_over_time(
    seen: Snapshot, timeline: Timeline, calm: Timeline, span: Span | None
) -> tuple[str, str, str]:
    """Three sentences on a scenario in which time passes.

    Parameters
    ----------
    seen
        The state that the reader ought to see: the worst one, or the last.
    timeline, calm
        Of the scenario, and of the same without any fault.
    span
        When that state's faults hold; None for the end.
    """
    when = ""
    if span is not None:
        others = counted(span.others, "other fault") if span.others else ""
        when = f" {span.words()}" + (f" (and {others} at other times)" if others else "")
    return _put_together(seen, when, stories(seen, timeline), _sum(timeline, calm))


def _put_together(
    snapshot: Snapshot, when: str, told: list[tuple[str, str]], adds_up: str
) -> tuple[str, str, str]:
    causes = causes_of(snapshot)
    if not told:
        return f"{fabric_words(snapshot, when)}.", "No job runs on this cluster.", adds_up
    if not causes:
        return f"{fabric_words(snapshot)}.", f"{_jobs(told)}.", adds_up
    fabric = f"The fabric: {effects_words(snapshot)}."
    return f"With {causes_words(causes)}{when}, {_jobs(told)}.", adds_up, fabric


def _jobs(told: list[tuple[str, str]]) -> str:
    """What each job that notices anything does, and how many do not."""
    hurt = [f"{name} {words}" for name, words in told if words]
    rest = len(told) - len(hurt)
    if not hurt:
        one = len(told) == 1
        return f"{told[0][0]} runs as before" if one else f"all {len(told)} jobs run as before"
    said = hurt[:_MOST_JOBS]
    more = len(hurt) - _MOST_JOBS
    if more > 0:
        said.append(f"{counted(more, 'more job')} {'notices' if more == 1 else 'notice'} it too")
    if rest:
        said.append("the other runs as before" if rest == 1 else f"{rest} others run as before")
    return "; ".join(said)


def _once(snapshot: Snapshot) -> str:
    """What faults cost once, where no time passes in which that would show."""
    cost = [(line.name, line.once_s) for line in job_lines(snapshot)]
    said = [f"{name} loses {lasting(seconds)}" for name, seconds in cost if seconds >= 1]
    if not said:
        return "Nothing else is lost: no job has to restart or wait."
    return f"Once, {listed(said[:_MOST_JOBS])} (stalled, work since the last checkpoint, restart)."


def _sum(timeline: Timeline, calm: Timeline) -> str:
    """Goodput over the whole beside that without faults, and the GPU-hours between."""
    over = f"Over {lasting(timeline.duration_s)}"
    pairs = [
        (now, then)
        for now, then in zip(timeline.totals, calm.totals, strict=True)
        if now.goodput is not None and then.goodput is not None
    ]
    if not pairs:
        return f"{over} no job runs, so none loses anything."
    worse = [pair for pair in pairs if _kept(pair[1]) - _kept(pair[0]) > _SAME]
    if not worse:
        kept = [percent(round(_kept(now), 6)) for now, _ in pairs[:_MOST_JOBS]]
        names = listed([now.name for now, _ in pairs[:_MOST_JOBS]])
        verb = "keeps" if len(kept) == 1 else "keep"
        return f"{over} {names} {verb} {listed(kept)} of the healthy work, as without any fault."
    worse.sort(key=lambda pair: _kept(pair[0]) - _kept(pair[1]))
    said = [
        f"{now.name} keeps {percent(round(_kept(now), 6))} of its healthy work"
        f" ({percent(round(_kept(then), 6))} without faults)"
        for now, then in worse[:_MOST_JOBS]
    ]
    lost = sum(now.lost_gpu_hours - then.lost_gpu_hours for now, then in pairs)
    cost = f": the faults cost {_about(lost)} GPU-hours" if lost >= _LEAST else ""
    return f"{over} {'; '.join(said)}{cost}."


def _kept(total: JobTotal) -> float:
    return total.goodput or 0.0


def _about(value: float) -> str:
    return f"{value:,.0f}" if value >= _ROUND else f"{value:.1f}"
