"""The answer in three sentences: what is lost, what jobs notice, what it adds up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.engine import loads
from gbviz.report.answer import fabric_words
from gbviz.report.job_lines import SAME, job_lines, once_words
from gbviz.report.lasting import lasting
from gbviz.report.words import counted, listed, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import JobTotal, Timeline
    from gbviz.report.job_lines import JobLine

_MOST_JOBS = 3
# GPU-hours below this are not worth words; seconds and hours from 10 on are said whole.
_LEAST, _ROUND = 0.05, 10.0


def brief(snapshot: Snapshot, timeline: Timeline | None, when: str = "") -> tuple[str, str, str]:
    """Three sentences for somebody who has ten seconds.

    Parameters
    ----------
    snapshot
        The state that the reader ought to see: the worst one, or the last.
    timeline
        Of the scenario; None for one in which no time passes.
    when
        That state holds, such as `from 0:10:00 to 0:40:00`; "" for the end.

    Returns
    -------
    tuple
        What is broken and what the fabric loses; what that does to the jobs; what it adds up to.

    Examples
    --------
    >>> import gbviz
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> found = gbviz.evaluate(scenario.with_faults("leaf-*"))
    >>> for line in brief(found, None)[1:]:
    ...     print(line)
    shift:72 does not run.
    Nothing but this is lost: no job restarts or waits.
    """
    return (
        f"{fabric_words(snapshot, f' {when}' if when else '')}.",
        _jobs(snapshot, "Meanwhile " if when else ""),
        _once(snapshot) if timeline is None else _totals(timeline),
    )


def _jobs(snapshot: Snapshot, meanwhile: str) -> str:
    lines = job_lines(snapshot)
    if not lines:
        return "No job runs on this cluster, so none is slower."
    slow = [line for line in lines if line.slowdown is None or line.slowdown > SAME]
    slow.sort(key=lambda line: line.slowdown or float("inf"), reverse=True)
    rest = len(lines) - len(slow)
    if not slow:
        again = " once it has restarted" if any(line.one_off.restart_s for line in lines) else ""
        who = f"{lines[0].name} runs" if len(lines) == 1 else f"all {len(lines)} jobs run"
        return f"{meanwhile}{who} as fast as on the healthy cluster{again}."
    said = [_slow(snapshot, line) for line in slow[:_MOST_JOBS]]
    more = len(slow) - _MOST_JOBS
    if more > 0:
        said.append(f"{counted(more, 'more job')} {'is' if more == 1 else 'are'} slower too")
    if rest:
        said.append(f"{'the other runs' if rest == 1 else f'the other {rest} run'} as before")
    return f"{meanwhile}{'; '.join(said)}."


def _slow(snapshot: Snapshot, line: JobLine) -> str:
    if line.slowdown is None:
        return f"{line.name} does not run" + (f": {line.limit}" if line.limit else "")
    why = slower_by(snapshot, line)
    return (
        f"{line.name} takes {line.slowdown:.3f} times as long, {line.now} instead of {line.before}"
    ) + (f" ({why})" if why else "")


def slower_by(snapshot: Snapshot, line: JobLine) -> str:
    """What makes a job slower: fewer GPUs, slower ones, else the link that limits it."""
    said = []
    fewer = line.lost_gpus - line.replaced_gpus
    if fewer > 0:
        said.append(f"{counted(fewer, 'GPU')} fewer")
    clocks = _clocks(snapshot, line.name)
    if clocks and min(clocks) < 1 - 1e-9:
        said.append(f"its slowest GPU at {percent(round(min(clocks), 4))} of its clock")
    return listed(said) if said else line.limit


def _clocks(snapshot: Snapshot, name: str) -> list[float]:
    """Clocks of the live GPUs that held a job on the healthy cluster."""
    number = [job.name for job in snapshot.scenario.jobs].index(name)
    clock = snapshot.thermal.clock[loads(snapshot, base=True).job_of_gpu == number]
    found: list[float] = clock[clock > 0].tolist()
    return found


def _once(snapshot: Snapshot) -> str:
    """What faults cost once, where no time passes in which that would show."""
    cost = [(line.name, once_words(line.one_off)) for line in job_lines(snapshot)]
    said = [f"{name} loses {words}" for name, words in cost if words]
    if not said:
        return "Nothing but this is lost: no job restarts or waits."
    return f"Once, {listed(said[:_MOST_JOBS])}."


def _totals(timeline: Timeline) -> str:
    """Goodput over the whole, and where the rest went."""
    over = f"Over {lasting(timeline.duration_s)}"
    known = [total for total in timeline.totals if total.goodput is not None]
    if not known:
        return f"{over} nothing runs, so nothing is lost."
    known.sort(key=lambda total: total.goodput or 0.0)
    said = [_total(total) for total in known[:_MOST_JOBS]]
    more = len(known) - _MOST_JOBS
    if more > 0:
        said.append(f"{counted(more, 'more job')} at least {percent(_kept(known[_MOST_JOBS]))}")
    lost = sum(total.lost_gpu_hours for total in timeline.totals)
    hours = f"; {_about(lost)} GPU-hours do no useful work" if lost >= _LEAST else ""
    return f"{over} {'; '.join(said)}{hours}."


def _total(total: JobTotal) -> str:
    lost = list(_where(total))
    tail = f" ({listed(lost)})" if lost else ""
    return f"{total.name} keeps {percent(_kept(total))} of its healthy work{tail}"


def _kept(total: JobTotal) -> float:
    assert total.goodput is not None
    return round(total.goodput, 6)


def _where(total: JobTotal) -> Iterator[str]:
    for seconds, words in (
        (total.stalled_s, "stalled"),
        (total.lost_work_s, "of work lost"),
        (total.restarting_s, "restarting"),
        (total.checkpoint_s, "writing checkpoints"),
        (total.aborted_s, "stopped"),
    ):
        if seconds >= 1:
            yield f"{lasting(seconds)} {words}"


def _about(value: float) -> str:
    return f"{value:,.0f}" if value >= _ROUND else f"{value:.1f}"
