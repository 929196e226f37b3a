"""What limits a job, as a link with numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.jobs.inference import InferenceRun
from gbviz.jobs.training import TrainingRun
from gbviz.units import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.flows.router import Router
    from gbviz.jobs.run import CollectiveRun

_NAMES = {
    "tp": "tensor-parallel all-reduce",
    "cp": "context-parallel all-gather",
    "ep": "expert exchange",
    "pp": "pipeline transfer",
    "dp": "data-parallel reduction",
    "prefill": "prefill exchange",
    "decode": "decode exchange",
    "kv": "key-value cache transfer",
    "collective": "collective",
}


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What limits a job.

    `phase` is a class of communication, `compute` where none is exposed; `link` the link that
    decides it, None on NVLink or for compute; loads and capacities are GB/s while the phase runs.
    """

    phase: str
    link: str | None
    load_GBps: float | None  # noqa: N815 the unit's own capitals
    capacity_GBps: float | None  # noqa: N815
    words: str


def bottleneck(
    by: Router,
    run: TrainingRun | InferenceRun | CollectiveRun,
    seconds: Sequence[float],
    limit: Sequence[int],
) -> Bottleneck:
    """What limits a job whose phases take these seconds and are decided by these links."""
    number = _worst_phase(run, seconds)
    if number is None:
        return Bottleneck("compute", None, None, None, _not_communication(run, seconds))
    kind, phase, link = run.classes[number], run.phases[number], limit[number]
    what = _what(run, kind, seconds)
    if (
        link < 0
        or phase.nvlink_s > seconds[number] * phase.eta * (1 + 1e-9)
        or (phase.nvlink_s >= phase.fabric_s()[0] and phase.nvlink_s >= seconds[number] * phase.eta)
    ):
        return Bottleneck(kind, None, None, None, f"{what} limited by NVLink")
    if (phase.fabric_s()[0], link) == phase.relay:
        name = by.space.name(link)
        words = f"{what} limited by {name}: other NICs carry for it what one could"
        return Bottleneck(kind, name, None, None, words)
    at = int(np.flatnonzero(phase.link == link)[0])
    load = float(phase.load[at]) / seconds[number] / 1e9
    capacity = float(by.space.capacity[link])
    name = by.space.name(link)
    return Bottleneck(kind, name, load, capacity, f"{what} limited by {by.space.words(link)}")


def _what(
    run: TrainingRun | InferenceRun | CollectiveRun, kind: str, seconds: Sequence[float]
) -> str:
    """A class of communication; of a step also how much of it that is, after compute if less."""
    if not isinstance(run, TrainingRun):
        return _NAMES[kind]
    times = run.times(seconds)
    compute, own = (part / times.step_s for part in (times.compute_s, times.exposed_s[kind]))
    if compute <= own:
        return f"{_NAMES[kind]}, {percent(own, 0)} of a step,"
    return f"compute, {percent(compute, 0)} of a step, then {_NAMES[kind]}, {percent(own, 0)},"


def _worst_phase(
    run: TrainingRun | InferenceRun | CollectiveRun, seconds: Sequence[float]
) -> int | None:
    """The phase that costs most of what is exposed; None where nothing is."""
    spent = [once * often for once, often in zip(seconds, run.repeats, strict=True)]
    if isinstance(run, TrainingRun):
        exposed = run.times(seconds).exposed_s
        kind = max(exposed, key=lambda name: exposed[name])
        if exposed[kind] <= 0:
            return None
        spent = [s if c == kind else -1.0 for s, c in zip(spent, run.classes, strict=True)]
    elif isinstance(run, InferenceRun):
        served = run.served(seconds)
        if served.limited_by in ("HBM", "compute"):
            return None
        across = served.limited_by == "InfiniBand"
        spent = [
            s if (len(p.link) > 0) == across else -1.0
            for s, p in zip(spent, run.phases, strict=True)
        ]
    worst = int(np.argmax(spent)) if spent else -1
    return worst if worst >= 0 and spent[worst] > 0 else None


def _not_communication(
    run: TrainingRun | InferenceRun | CollectiveRun, seconds: Sequence[float]
) -> str:
    if isinstance(run, InferenceRun):
        return f"limited by {run.served(seconds).limited_by}, not by communication"
    return "compute: all communication is hidden"
