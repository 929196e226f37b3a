"""The answer in a sentence: what is broken, what the fabric loses, what that costs each job."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gbviz.engine.snapshot import TrafficImpact
from gbviz.report.facts import kind_in, kind_words
from gbviz.report.job_lines import SAME
from gbviz.report.words import counted, listed, number, percent, sized, stated
from gbviz.units import lasting

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.faults import Fault
    from gbviz.jobs.impact import JobImpact

_MOST_NAMED = 3
# What the sentence speaks of, in the order of interest: word, figure, unit.
_SAID = (
    ("bisection", "bisection_GBps", "GB/s"),
    ("all-to-all", "all_to_all_GBps_per_gpu", "GB/s a GPU"),
    ("injection", "injection_GBps", "GB/s"),
    ("NVLink", "nvlink_GBps", "GB/s"),
    ("compute", "compute_fraction", ""),
)


def sentence(snapshot: Snapshot) -> str:
    """The answer in a sentence, with the numbers that changed, and one for each traffic.

    Examples
    --------
    >>> import gbviz
    >>> print(sentence(gbviz.evaluate(gbviz.preset("azure-gb300").with_faults("spine-3"))))
    With spine-3 failed, bisection falls to 97.22 % (224,000 of 230,400 GB/s); all-to-all,
    injection, NVLink and compute stay as they are; nobody is cut off.
    """
    flows, steps = apart(snapshot)
    if not snapshot.faults:  # Nothing has happened that they could run as before.
        steps = [impact for impact in steps if impact.state != "running"]
    said = [_step(impact) for impact in steps] + [_traffic(impact) for impact in flows]
    return " ".join([f"{fabric_words(snapshot)}.", *said])


def fabric_words(snapshot: Snapshot, when: str = "") -> str:
    """What is broken and what the fabric loses by it, without a full stop.

    Parameters
    ----------
    snapshot
        The state spoken of.
    when
        Said after what is broken, such as ` from 0:10:00 to 0:40:00`.
    """
    causes = causes_of(snapshot)
    if not causes:
        return _undamaged(snapshot)
    return f"With {causes_words(causes)}{when}, {effects_words(snapshot)}"


def causes_of(snapshot: Snapshot) -> list[Fault]:
    """The faults that are not because of another."""
    return [fault for fault in snapshot.faults if fault.because is None]


def apart(snapshot: Snapshot) -> tuple[list[TrafficImpact], list[JobImpact]]:
    """Jobs of independent flows, and jobs that step."""
    flows = [impact for impact in snapshot.jobs if isinstance(impact, TrafficImpact)]
    return flows, [impact for impact in snapshot.jobs if not isinstance(impact, TrafficImpact)]


def _step(impact: JobImpact) -> str:
    """What the faults cost a job that steps."""
    name = impact.name
    if impact.slowdown is None:
        return f"{name} cannot run: {impact.reason.get('post', impact.reason.get('base', ''))}."
    seconds = impact.one_off.total_s
    text = f"{name} loses {lasting(seconds)} once, then" if seconds >= 1 else name
    fewer = impact.lost_gpus - impact.replaced_gpus
    if fewer > 0 and impact.slowdown <= SAME:
        text += f" goes on with {counted(fewer, 'GPU')} fewer"
    elif impact.state == "running" or 1 / SAME < impact.slowdown <= SAME:
        text += " runs as before"
    else:
        text += f" takes {impact.slowdown:.3f} times as long"
    if impact.replaced_gpus:
        text += f" with {counted(impact.replaced_gpus, 'spare')} in place"
    return f"{text}."


def _undamaged(snapshot: Snapshot) -> str:
    """Nothing has failed; still, cooling or power may be too small for the racks."""
    name, size = snapshot.scenario.name, sized(snapshot.fabric)
    clock = snapshot.post.compute_fraction
    down = [fault for fault in snapshot.faults if fault.part == "rack"]
    if down:
        verb = "is" if len(down) == 1 else "are"
        but = f"{counted(len(down), 'rack')} {verb} shut down: {down[0].because}"
    elif clock < 1:
        but = f"cooling or power too small by design holds GPUs at {percent(clock)} of their clock"
    else:
        return f"{name} is healthy: {size}"
    return f"Nothing has failed in {name} ({size}), but {but}"


def effects_words(snapshot: Snapshot) -> str:
    """What the fabric loses, and what stays: `bisection falls to 75 % (...); nobody is cut off`."""
    base, post = snapshot.base, snapshot.post
    lost = base.live_gpus - post.live_gpus
    changed = [f"{counted(lost, 'GPU')} {'is' if lost == 1 else 'are'} lost"] if lost else []
    same = []
    for name, attribute, unit in _SAID:
        before, after = getattr(base, attribute), getattr(post, attribute)
        if before is None:
            continue
        if after is None:
            why = post.reason.get(attribute)
            changed.append(f"{name} has no value" + (f" ({why})" if why else ""))
        elif abs(after - before) <= 1e-9 * abs(before):
            same.append(name)
        else:
            changed.append(_moved(name, before, after, unit))
    tail = [", ".join(changed)] if changed else []
    if same:
        tail.append(f"{listed(same)} {'stays as it is' if len(same) == 1 else 'stay as they are'}")
    return "; ".join([*tail, _cut_off(snapshot)])


def _cut_off(snapshot: Snapshot) -> str:
    cut = len(snapshot.post.disconnected_gpus)
    if cut:
        return f"{counted(cut, 'live GPU')} {'is' if cut == 1 else 'are'} cut off"
    return "nobody is cut off" if snapshot.post.live_gpus else "no GPU is left"


def _moved(name: str, before: float, after: float, unit: str) -> str:
    """`bisection falls to 97.22 % (224,000 of 230,400 GB/s)`."""
    share = percent(after / before) if before else "a value"
    numbers = f" ({number(after)} of {number(before)} {unit})" if unit else ""
    return f"{name} {'falls' if after < before else 'rises'} to {share}{numbers}"


def causes_words(causes: list[Fault]) -> str:
    """`spine-3 and leaf-0 failed and leaf-1~spine-7 at 50 %`; of many how many of each kind."""
    failed = [fault for fault in causes if fault.factor == 0]
    degraded = [fault for fault in causes if fault.factor > 0]
    if len(causes) > _MOST_NAMED:
        groups = ((failed, "failed"), (degraded, "degraded"))
        words = [f"{_kinds(faults)} {state}" for faults, state in groups if faults]
    else:
        words = [f"{listed([fault.component for fault in failed])} failed"] if failed else []
        words += [f"{fault.component} at {stated(fault.factor)}" for fault in degraded]
    return listed(words)


def _kinds(faults: list[Fault]) -> str:
    """`18 spines and 4 NICs`."""
    counts = Counter(kind_words(kind_in(fault.component)) for fault in faults)
    return listed([counted(count, kind) for kind, count in counts.items()])


def _traffic(impact: TrafficImpact) -> str:
    """What a pattern's flows get, and how many of them get nothing."""
    before, after = impact.base.mean_GBps, impact.post.mean_GBps
    of = "" if abs(after - before) <= 1e-9 * before else f" of {number(before)}"
    text = f"{impact.job.name} gets {number(after)}{of} GB/s a flow on average"
    lost = impact.post.cut_off + impact.post.gone
    if lost:
        verb = "gets" if lost == 1 else "get"
        text += f"; {lost:,} of {counted(impact.base.flows, 'flow')} {verb} nothing"
    return f"{text}."
