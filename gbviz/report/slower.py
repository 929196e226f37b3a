"""How much slower a job is, and what makes it so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.report.answer import apart
from gbviz.report.job_lines import LEAST_ONCE_S, SAME
from gbviz.report.words import counted, listed, percent
from gbviz.units import lasting

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.report.job_lines import JobLine
    from gbviz.topology.fabric import Ints


def once_and_now(snapshot: Snapshot, line: JobLine) -> str:
    """What faults do to a job when they strike, and what it does from then on; "" for nothing.

    Examples
    --------
    >>> import gbviz
    >>> from gbviz.jobs.spec import CollectiveJob
    >>> from gbviz.report.job_lines import job_lines
    >>> job = CollectiveJob(name="c", kind="collective", op="all_reduce", size="1GB")
    >>> found = gbviz.evaluate(gbviz.preset("gb300-su").with_jobs(job).with_faults("leaf-0"))
    >>> once_and_now(found, job_lines(found)[0])
    'stops for 30 s, then runs as before'
    """
    words, once = line_words(snapshot, line), line.one_off
    if line.slowdown is None or line.once_s < LEAST_ONCE_S:
        return words
    said = f"stops for {lasting(once.stall_s + once.restart_s)}"
    if once.lost_work_s >= 1:
        said += f" and loses {lasting(once.lost_work_s)} of work (on average)"
    return f"{said}, then {words or f'runs as before{spares_words(line)}'}"


def spares_words(line: JobLine) -> str:
    """Said of a job some of whose GPUs have spares in their places."""
    spares = line.replaced_gpus
    return f" with {counted(spares, 'spare')} in place" if spares else ""


def line_words(snapshot: Snapshot, line: JobLine, how_long: str = "") -> str:
    """What a job does in a state, after its name; "" where it runs as on the healthy cluster.

    Parameters
    ----------
    snapshot, line
        The state, and the job in it.
    how_long
        Said of its slowness, such as ` for a while`.

    Examples
    --------
    >>> import gbviz
    >>> from gbviz.report.job_lines import job_lines
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> found = gbviz.evaluate(scenario.with_faults("leaf-3"))
    >>> print(line_words(found, job_lines(found)[0]))
    takes 1.185 times as long, 84.38 GB/s a flow instead of 100.00 GB/s a flow on average (slowest
    flow limited by leaf-0>rack-1/tray-0/nic-0#0)
    """
    if line.slowdown is None:
        return "does not run" + (f": {line.limit}" if line.limit else "")
    if line.slowdown <= SAME:
        return _as_fast(snapshot, line, how_long)
    why = slower_by(snapshot, line)
    tail = f" ({why})" if why else ""
    times = f"takes {line.slowdown:.3f} times as long{how_long}{spares_words(line)}"
    return f"{times}, {_moved(line)}{tail}"


def _as_fast(snapshot: Snapshot, line: JobLine, how_long: str) -> str:
    """What a job that is no slower does; "" where that is what it did on the healthy cluster."""
    fewer = line.lost_gpus - line.replaced_gpus
    speed = work_speed(snapshot, line)
    if fewer > 0:
        did = "as fast as before"
        if not 1 / SAME <= speed <= SAME:
            did = f"at {percent(speed)} of its healthy work"
        return f"goes on{how_long} with {counted(fewer, 'GPU')} fewer, {did}"
    if speed > SAME:
        return f"is faster{how_long}, {_moved(line)}"
    return ""


def _moved(line: JobLine) -> str:
    """Its pace now and before; that of flows is their mean."""
    average = " on average" if line.kind == "traffic" else ""
    return f"{line.now} instead of {line.before}{average}"


def work_speed(snapshot: Snapshot, line: JobLine) -> float:
    """Work that a job does a second in a state, of what it does on the healthy cluster.

    It is the healthy time over the time now; but a collective of fewer GPUs moves less in that.

    Examples
    --------
    >>> import gbviz
    >>> from gbviz.jobs.spec import CollectiveJob
    >>> from gbviz.report.job_lines import job_lines
    >>> job = CollectiveJob(name="c", kind="collective", op="all_reduce", size="1MB")
    >>> found = gbviz.evaluate(gbviz.preset("gb300-su").with_jobs(job).with_faults("rack-1"))
    >>> line = job_lines(found)[0]
    >>> line.gpus, round(line.slowdown * work_speed(found, line), 9)
    (504, 0.875)
    """
    if line.slowdown is None:
        return 0.0
    part = 1.0
    if line.kind == "collective":
        part = line.gpus / len(_healthy_ranks(snapshot, line))
    return part / line.slowdown


def _healthy_ranks(snapshot: Snapshot, line: JobLine) -> Ints:
    """GPUs of the ranks that a job that steps has on the healthy cluster."""
    names = [impact.name for impact in apart(snapshot)[1]]
    return snapshot.states[0].running[names.index(line.name)].gpus


def slower_by(snapshot: Snapshot, line: JobLine) -> str:
    """What makes a job slower: fewer GPUs, slower ones, else the link that limits it."""
    if line.kind == "traffic":
        return line.limit
    said, had = [], _healthy_ranks(snapshot, line)
    fewer = line.lost_gpus - line.replaced_gpus
    if fewer > 0:
        # Ranks go in whole groups: with one GPU its group's others have nothing to do.
        idle = len(had) - line.gpus - fewer
        more = f", and {idle:,} more idle with them" if idle > 0 else ""
        said.append(f"{counted(fewer, 'GPU')} fewer{more}")
    clock = snapshot.thermal.clock[had]
    clock = clock[clock > 0]
    # Collectives are as fast on slow GPUs.
    if line.kind != "collective" and len(clock) and clock.min() < 1 - 1e-9:
        said.append(f"its slowest GPU at {percent(float(clock.min()))} of its clock")
    return listed(said) if said else line.limit
