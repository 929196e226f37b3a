"""What there is to know of a job: what it does, what faults cost it, where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbviz.report.facts import Fact
from gbviz.report.job_lines import LEAST_ONCE_S, SAME, JobLine, job_lines, once_words
from gbviz.report.places import selectable
from gbviz.report.words import counted, number

if TYPE_CHECKING:
    from gbviz.engine import Loads, Snapshot


def job_line(snapshot: Snapshot, name: str) -> JobLine | None:
    """The job of a name, None where there is none."""
    return next((line for line in job_lines(snapshot) if line.name == name), None)


def job_headline(line: JobLine) -> str:
    """What faults do to a job, in a few words.

    Examples
    --------
    >>> import gbviz
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> job_headline(job_lines(gbviz.evaluate(scenario))[0])
    'running as on the healthy cluster'
    >>> job_headline(job_lines(gbviz.evaluate(scenario.with_faults("leaf-*")))[0])
    'stalled'
    """
    if line.slowdown is None:
        return line.state
    if line.slowdown > SAME:
        said = f"{line.state}: takes {line.slowdown:.3f} times as long"
    elif line.state == "running":
        said = "running as on the healthy cluster"
    else:
        said = f"{line.state}, as fast as on the healthy cluster"
    if line.once_s > LEAST_ONCE_S:
        return f"{said}, after {line.once_s:,.0f} s lost once"
    return said


def job_facts(snapshot: Snapshot, base: Loads, line: JobLine) -> list[Fact]:
    """What there is to know of a job, in the order of interest.

    Parameters
    ----------
    snapshot
        The cluster as it is.
    base
        The loads of the healthy cluster: its GPUs are where the job was put.
    line
        The job.
    """
    never = "never ends" if line.slowdown is None else f"{line.slowdown:.3f}"
    once = f"{number(line.once_s)} s: {once_words(line.one_off)}"
    found = [
        Fact("kind", line.kind),
        Fact("state", line.state),
        Fact("now", line.now),
        Fact("healthy", line.before),
        Fact("slower", never),
        Fact("once", once if line.once_s else "nothing lost"),
    ]
    if line.limit:
        found.append(Fact("limit", line.limit))
    cables = selectable(snapshot.fabric, line.link) if line.link else ()
    if cables:
        found.append(Fact("at", ", ".join(cables), cables))
    found.append(Fact("GPUs", _gpus(line)))
    return [*found, *_where(snapshot, base, line)]


def _gpus(line: JobLine) -> str:
    said = f"{line.gpus:,}"
    if line.lost_gpus:
        said += (
            f"; {counted(line.lost_gpus, 'GPU')} lost, {line.replaced_gpus:,} replaced by spares"
        )
    return said


def _where(snapshot: Snapshot, base: Loads, line: JobLine) -> list[Fact]:
    names = [job.name for job in snapshot.scenario.jobs]
    own = np.flatnonzero(base.job_of_gpu == names.index(line.name))
    each = max(snapshot.fabric.count("gpu") // max(snapshot.fabric.count("rack"), 1), 1)
    racks = np.unique(own // each).tolist()
    if not racks:
        return []
    first, last = f"rack-{racks[0]}", f"rack-{racks[-1]}"
    if len(racks) == 1:
        return [Fact("runs on", first, (first,))]
    gaps = len(racks) <= racks[-1] - racks[0]
    words = f"{counted(len(racks), 'rack')}, {first} to {last}" + (", with gaps" if gaps else "")
    return [Fact("runs on", words, (first, last))]


def job_cost(line: JobLine) -> str:
    """What faults cost a job, in one line with all numbers.

    Examples
    --------
    >>> import gbviz
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> print(job_cost(job_lines(gbviz.evaluate(scenario.with_faults("leaf-3")))[0]))
    shift:72: degraded, takes 1.185 times as long (84.38 GB/s a flow, healthy 100.00 GB/s a flow);
    limit: slowest flow limited by leaf-0>rack-1/tray-0/nic-0#0
    """
    slow = "does not run" if line.slowdown is None else f"takes {line.slowdown:.3f} times as long"
    if line.slowdown is not None and 1 / SAME <= line.slowdown <= SAME:
        slow = "as fast as before"
    parts = [f"{line.name}: {line.state}, {slow} ({line.now}, healthy {line.before})"]
    if line.once_s:
        seconds = number(line.once_s)
        parts.append(f"{seconds} s lost once ({once_words(line.one_off)})")
    if line.lost_gpus:
        parts.append(_gpus(line).partition("; ")[2])
    if line.limit:
        parts.append(f"limit: {line.limit}")
    return "; ".join(parts)
