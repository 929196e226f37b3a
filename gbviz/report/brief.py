"""The answer in three sentences: what jobs notice, what that adds up to, what the fabric loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.report.answer import causes_of, causes_words, effects_words, fabric_words
from gbviz.report.job_lines import job_lines
from gbviz.report.lasting import lasting
from gbviz.report.slower import line_words
from gbviz.report.story import HAD_FINISHED, finished_s, stories
from gbviz.report.words import counted, listed, percent
from gbviz.report.worst import others_than

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import Timeline
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
    others = others_than(timeline, timeline.intervals[-1].end_s) if span is None else span.others
    when = "" if span is None else f" {span.words()}"
    if others:
        when += f" (and {counted(others, 'other fault')} at other times)"
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
    done = [name for name, words in told if words == HAD_FINISHED]
    hurt = [f"{name} {words}" for name, words in told if words and name not in done]
    rest = [name for name, words in told if not words]
    said = hurt[:_MOST_JOBS]
    more = len(hurt) - _MOST_JOBS
    if more > 0:
        said.append(f"{counted(more, 'more job')} {'notices' if more == 1 else 'notice'} it too")
    if done:
        said.append(_group(done, HAD_FINISHED, HAD_FINISHED, len(told)))
    if rest:
        said.append(_group(rest, "runs as before", "run as before", len(told)))
    return "; ".join(said)


def _group(names: list[str], does: str, do: str, total: int) -> str:
    """What some of all jobs do: by name where it is one, else how many."""
    if len(names) == 1:
        return f"{names[0]} {does}"
    return f"all {total} jobs {do}" if len(names) == total else f"{len(names)} others {do}"


def _once(snapshot: Snapshot) -> str:
    """What faults cost once, where no time passes in which that would show."""
    cost = [(line.name, line.once_s) for line in job_lines(snapshot)]
    said = [f"{name} loses {lasting(seconds)}" for name, seconds in cost if seconds >= 1]
    if not said:
        return "Nothing else is lost: no job has to restart or wait."
    return f"Once, {listed(said[:_MOST_JOBS])} (stalled, work since the last checkpoint, restart)."


def _sum(timeline: Timeline, calm: Timeline) -> str:
    """What each job's time came to beside that without faults, and the GPU-hours between."""
    over = f"Over {lasting(timeline.duration_s)}"
    found = [_End.of(timeline, calm, number) for number in range(len(timeline.totals))]
    ends = [end for end in found if end is not None]
    if not ends:
        return f"{over} no job runs, so none loses anything."
    changed = [end for end in ends if end.changed]
    if not changed:
        return f"{over} {_same(ends[:_MOST_JOBS])}, as without any fault."
    changed.sort(key=lambda end: end.kept - end.kept_then)
    said = "; ".join(end.words() for end in changed[:_MOST_JOBS])
    lost = sum(end.lost_gpu_hours for end in ends)
    cost = f": the faults cost {_about(lost)} GPU-hours" if lost >= _LEAST else ""
    return f"{over} {said}{cost}."


def _same(ends: list[_End]) -> str:
    """What jobs came to that nothing has changed."""
    said = []
    if work := [end for end in ends if end.done_s is None]:
        shares = listed([percent(end.kept) for end in work])
        verb = "keeps" if len(work) == 1 else "keep"
        said = [f"{listed([end.name for end in work])} {verb} {shares} of the healthy work"]
    done = [(end.name, end.done_s) for end in ends if end.done_s is not None]
    said += [f"{name} is finished after {lasting(seconds)}" for name, seconds in done]
    return "; ".join(said)


@dataclass(frozen=True, slots=True)
class _End:
    """What a job's time came to: the share of it that was work, and when it was finished.

    Both beside those without faults; None for a job that does not finish before the end.
    """

    name: str
    kept: float
    kept_then: float
    done_s: float | None
    done_then_s: float | None
    lost_gpu_hours: float

    @classmethod
    def of(cls, timeline: Timeline, calm: Timeline, number: int) -> _End | None:
        """That of the job of a number; None where it has no goodput."""
        now, then = timeline.totals[number], calm.totals[number]
        if now.goodput is None or then.goodput is None:
            return None
        return cls(
            now.name,
            now.goodput,
            then.goodput,
            finished_s(timeline, number),
            finished_s(calm, number),
            now.lost_gpu_hours - then.lost_gpu_hours,
        )

    @property
    def changed(self) -> bool:
        return abs(self.kept - self.kept_then) > _SAME

    def words(self) -> str:
        if self.done_then_s is not None:
            when = lasting(self.done_then_s)
            if self.done_s is None:
                return f"{self.name} is not finished (after {when} without faults)"
            return f"{self.name} is finished after {lasting(self.done_s)} instead of {when}"
        now, then = (percent(share) for share in (self.kept, self.kept_then))
        verb = "keeps" if self.kept <= 1 else "does"
        return f"{self.name} {verb} {now} of its healthy work ({then} without faults)"


def _about(value: float) -> str:
    return f"{value:,.0f}" if value >= _ROUND else f"{value:.1f}"
