"""The answer in three sentences: what jobs notice, what that adds up to, what the fabric loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.report.answer import causes_of, causes_words, effects_words, fabric_words
from gbviz.report.job_lines import job_lines
from gbviz.report.pace import finished_s
from gbviz.report.slower import once_and_now
from gbviz.report.story import FINISHES, HAD_FINISHED, stories
from gbviz.report.words import counted, listed, percent
from gbviz.report.worst import others_than
from gbviz.units import lasting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import Interval, JobSpan, Timeline
    from gbviz.faults import Fault
    from gbviz.report.worst import Span

_MOST_JOBS, _MOST_OTHERS = 3, 2
# GPU-hours below this are not worth words; from the other on they are said whole.
_LEAST, _ROUND = 0.05, 10.0


def brief(snapshot: Snapshot, now: Interval | None = None) -> tuple[str, str, str]:
    """Three sentences on one state, for somebody who has ten seconds.

    Parameters
    ----------
    snapshot
        The state as it settles.
    now
        The interval of a timeline that it is of, which knows what jobs do just then; None for none.

    Examples
    --------
    >>> import gbviz
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> for line in brief(gbviz.evaluate(scenario.with_faults("leaf-*"))):
    ...     print(line)
    With 8 leaves failed, shift:72 does not run.
    No job loses anything once.
    The fabric: bisection falls to 0 % (0 of 28,800 GB/s), all-to-all falls to 0 % (0 of 100 GB/s a
    GPU), injection falls to 0 % (0 of 57,600 GB/s); NVLink and compute stay as they are; 576 live
    GPUs are cut off.
    """
    lines = job_lines(snapshot)
    told = [(line.name, once_and_now(snapshot, line)) for line in lines]
    if now is not None:
        told = [
            (name, _just_now(job) or words)
            for job, (name, words) in zip(now.jobs, told, strict=True)
        ]
    done = [name for name, words in told if words == HAD_FINISHED]
    return _put_together(snapshot, "", told, _once(snapshot, done))


def _just_now(job: JobSpan) -> str:
    """What a job does that does not run at a moment; "" for one that runs."""
    if job.state == "finished":
        return HAD_FINISHED
    if job.state in ("running", "degraded"):
        return ""
    return f"is {job.state}" + (f" ({job.words})" if job.words else "")


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
    when = "" if span is None else f" {span.words()}"
    when += _others(*others_than(timeline, timeline.duration_s if span is None else span.at_s))
    # As a reader sees them.
    settled, end = (
        (one.live_gpus, percent(one.compute_fraction))
        for one in (seen.post, timeline.intervals[-1].metrics)
    )
    warm = span is None and settled != end
    fabric = "The fabric, once heat has settled" if warm else "The fabric"
    return _put_together(seen, when, stories(seen, timeline), _sum(timeline, calm), fabric)


def _others(meanwhile: list[Fault], elsewhere: list[Fault]) -> str:
    """What else is broken for a part of the time that is spoken of, and at other times."""
    few = len(meanwhile) + len(elsewhere) <= _MOST_OTHERS
    said = [
        f"{when} {causes_words(some) if few else counted(len(some), 'other fault')}"
        for when, some in (("meanwhile", meanwhile), ("at other times", elsewhere))
        if some
    ]
    return f" ({'; '.join(said)})" if said else ""


def _put_together(
    snapshot: Snapshot,
    when: str,
    told: list[tuple[str, str]],
    adds_up: str,
    subject: str = "The fabric",
) -> tuple[str, str, str]:
    causes = causes_of(snapshot)
    if not told:
        hint = "Name the jobs that run here, and it is told what they lose."
        return f"{fabric_words(snapshot, when)}.", "No job runs on this cluster.", hint
    if not causes:
        said = _jobs(told, "runs at full speed", "run at full speed")
        if len(told) > 1 and not any(words for _, words in told):
            said = said.capitalize()
        return f"{fabric_words(snapshot)}.", f"{said}.", adds_up
    fabric = f"{subject}: {effects_words(snapshot)}."
    return f"With {causes_words(causes)}{when}, {_jobs(told)}.", adds_up, fabric


def _jobs(
    told: list[tuple[str, str]], does: str = "runs as before", do: str = "run as before"
) -> str:
    """What each job that notices anything does, and how many do not."""
    calm = {HAD_FINISHED: HAD_FINISHED, FINISHES: "finish as before", "": do}
    hurt = [f"{name} {words}" for name, words in told if words not in calm]
    said = hurt[:_MOST_JOBS]
    if len(hurt) > _MOST_JOBS:
        said.append(_more(len(hurt) - _MOST_JOBS))
    for words, of_many in calm.items():
        names = [name for name, its in told if its == words]
        if names:
            said.append(_group(names, words or does, of_many, len(told)))
    return "; ".join(said)


def _more(count: int) -> str:
    return f"{counted(count, 'more job')} {'notices' if count == 1 else 'notice'} it too"


def _group(names: list[str], does: str, do: str, total: int) -> str:
    """What some of all jobs do: by name where it is one, else how many."""
    if len(names) == 1:
        return f"{names[0]} {does}"
    if len(names) < total:
        return f"{len(names)} others {do}"
    return f"{'both' if total == 2 else f'all {total}'} jobs {do}"


def _once(snapshot: Snapshot, done: Sequence[str] = ()) -> str:
    """What faults cost once, where no time passes in which that would show; not jobs `done`."""
    cost = [(one.name, one.once_s) for one in job_lines(snapshot) if one.name not in done]
    said = [f"{name} loses {lasting(seconds)}" for name, seconds in cost if seconds >= 1]
    if not said:
        return "No job loses anything once."
    return f"Once, when the faults strike, {listed(said[:_MOST_JOBS])}."


def _sum(timeline: Timeline, calm: Timeline) -> str:
    """What each job's time came to beside that without faults, and the GPU-hours between."""
    over = f"Over {lasting(timeline.duration_s)}"
    found = [_End.of(timeline, calm, number) for number in range(len(timeline.totals))]
    ends = [end for end in found if end is not None]
    if not ends:
        return f"{over} no job runs."
    changed = [end for end in ends if end.changed]
    if not changed:
        return f"{over} {_same(ends)}, as without any fault."
    changed.sort(key=lambda end: end.kept - end.kept_then)
    said = "; ".join(end.words() for end in changed[:_MOST_JOBS])
    if len(changed) > _MOST_JOBS:
        said += f"; {_more(len(changed) - _MOST_JOBS)}"
    lost = sum(end.lost_gpu_hours for end in ends)
    cost = f": the faults cost {_about(lost)} GPU-hours" if lost >= _LEAST else ""
    return f"{over} {said}{cost}{' in all' if cost and len(ends) > 1 else ''}."


def _same(ends: list[_End]) -> str:
    """What jobs came to that nothing has changed."""
    said = []
    if work := [end for end in ends if end.done_s is None]:
        said = _keepers(work)
    done = [(end.name, end.done_s) for end in ends if end.done_s is not None]
    said += [f"{name} is finished after {lasting(seconds)}" for name, seconds in done[:_MOST_JOBS]]
    if len(done) > _MOST_JOBS:
        said.append(f"{len(done) - _MOST_JOBS} more are finished too")
    return "; ".join(said)


def _keepers(work: list[_End]) -> list[str]:
    """Who keeps how much: by name, of many from how much to how much."""
    whose: dict[str, list[str]] = {}
    for end in work:
        whose.setdefault(percent(end.kept), []).append(end.name)
    if len(work) > _MOST_JOBS:
        least, most = (percent(pick(end.kept for end in work)) for pick in (min, max))
        shares = least if least == most else f"{least} to {most}"
        return [f"{len(work)} jobs keep {shares} of the healthy work"]
    said = [
        f"{listed(names)} {'keeps' if len(names) == 1 else 'keep'} {share}"
        for share, names in whose.items()
    ]
    return [f"{listed(said)} of the healthy work"]


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
    saves: bool = False

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
            saves=then.checkpoint_s > 0,
        )

    @property
    def changed(self) -> bool:
        """Whether a reader sees a difference, in the share or in what it cost."""
        differs = percent(self.kept) != percent(self.kept_then)
        return differs or abs(self.lost_gpu_hours) >= _LEAST

    def words(self) -> str:
        if self.done_then_s is not None:
            when = lasting(self.done_then_s)
            if self.done_s is None:
                return f"{self.name} is not finished (after {when} without faults)"
            after = lasting(self.done_s)
            if after == when:  # as far as two units say
                later = f"{lasting(self.done_s - self.done_then_s)} later than without faults"
                return f"{self.name} is finished {later}, after {after}"
            return f"{self.name} is finished after {after} instead of {when}"
        now, then = _apart(self.kept, self.kept_then)
        verb = "keeps" if self.kept <= 1 else "does"
        why = ", with its checkpoints" if self.saves else ""
        return f"{self.name} {verb} {now} of its healthy work ({then} without faults{why})"


def _apart(one: float, other: float) -> tuple[str, str]:
    """Two shares in so many decimals that they read as different, six at most.

    Examples
    --------
    >>> _apart(0.9677, 0.98), _apart(0.96771, 0.967718)
    (('96.77 %', '98 %'), ('96.771 %', '96.772 %'))
    """
    for decimals in range(2, 7):
        said = percent(one, decimals), percent(other, decimals)
        if said[0] != said[1]:
            break
    return said


def _about(value: float) -> str:
    return f"{value:,.0f}" if value >= _ROUND else f"{value:.1f}"
