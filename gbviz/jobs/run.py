"""Any job under one health: what it runs on, and the figures that it reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gbviz.errors import InputError
from gbviz.jobs.collectives import algbw, busbw
from gbviz.jobs.inference import InferenceRun, inference_run, pools
from gbviz.jobs.phases import Phase, collective
from gbviz.jobs.spec import CollectiveJob, InferenceJob, TrainingJob
from gbviz.jobs.survivors import Survivors, replace_failed, shrink
from gbviz.jobs.training import TrainingRun, training_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.flows.router import Router
    from gbviz.jobs.placement import Placed
    from gbviz.topology.fabric import Bools, Floats, Ints

SteppingJob = TrainingJob | InferenceJob | CollectiveJob
Figures = dict[str, Any]

_DAY_S = 86400.0


@dataclass(frozen=True, slots=True, eq=False)
class CollectiveRun:
    """One collective over and over."""

    job: CollectiveJob
    ranks: int
    phases: tuple[Phase, ...]
    repeats: tuple[float, ...] = (1.0,)
    classes: tuple[str, ...] = ("collective",)

    def step_s(self, seconds: Sequence[float]) -> float:
        """Seconds of one collective."""
        return seconds[0]


@dataclass(frozen=True, slots=True, eq=False)
class Running:
    """A job under one health.

    Parameters
    ----------
    run
        The job as a thing that steps, None where it cannot run.
    gpus
        (n,) GPUs that it uses.
    survivors
        What became of its failed GPUs.
    why
        Why it cannot run, "" where it can.
    """

    run: TrainingRun | InferenceRun | CollectiveRun | None
    gpus: Ints
    survivors: Survivors
    why: str = field(default="")


def start(by: Router, job: SteppingJob, placed: Placed, clock: Floats) -> Running:
    """A job on what is left of its placement.

    Parameters
    ----------
    by
        The fabric under its health.
    job, placed
        What runs and where it was put.
    clock
        (G,) clock of each GPU, 0 for one that is off.
    """
    live = by.nics.live & (clock > 0)
    left = replace_failed(placed, live)
    none: Ints = np.zeros(0, dtype=np.int64)
    run: TrainingRun | InferenceRun | CollectiveRun
    if isinstance(job, TrainingJob):
        kept = shrink(job, left, live)
        if kept is None:
            return Running(None, none, left, "no replica of the model has all its GPUs")
        gpus: Ints = kept[0]
        why = _barred(by, job, gpus)
        run = training_run(by, job, gpus, kept[1], float(clock[gpus].min()))
    elif isinstance(job, InferenceJob):
        groups = pools(job, left.gpus, live[left.gpus])
        if not len(groups[0]) or not len(groups[1]):
            return Running(None, none, left, "no prefill or no decode group has all its GPUs")
        gpus = np.concatenate([rows.reshape(-1) for rows in groups])
        why = _barred(by, job, gpus)
        run = inference_run(by, job, groups, float(clock[gpus].min()))
    else:
        gpus = left.gpus[live[left.gpus]]
        if not len(gpus):
            return Running(None, none, left, "none of its GPUs is live")
        why = _barred(by, job, gpus)
        how = job.algorithm
        phase = collective("collective", by, gpus[None], job.op, job.size, algorithm=how)
        run = CollectiveRun(job, len(gpus), (phase,))
    if not why and any(phase.cut for phase in run.phases):
        why = "some of its GPUs have no way to each other"
    return Running(None if why else run, gpus, left, why)


def check_collective(job: CollectiveJob, gpus: Ints, per_rack: int) -> None:
    """Refuse an algorithm that the collective does not have.

    Raises
    ------
    InputError
        A tree or the switches' reduction of anything but an all-reduce, or over several racks.
    """
    where = f"job {job.name}"
    if job.algorithm in ("tree", "nvls") and job.op != "all_reduce":
        raise InputError(
            f"{job.op} has no algorithm {job.algorithm!r}",
            where=where,
            hint="choose one of: auto, ring, hierarchical",
        )
    if job.algorithm == "nvls" and len(np.unique(gpus // per_rack)) > 1:
        raise InputError(
            "the switches reduce within one rack, and its GPUs are in several",
            where=where,
            hint="choose one of: auto, ring, tree, hierarchical",
        )


def _barred(by: Router, job: SteppingJob, gpus: Ints) -> str:
    """Why a job that gives up without a NIC cannot run, "" where it can."""
    if job.nic_loss != "abort":
        return ""
    own: Bools = by.nics.send[gpus, gpus % by.nics.rails]
    own = own & by.nics.receive[gpus, gpus % by.nics.rails]
    if own.all():
        return ""
    name = by.fabric.name(by.fabric.nodes("gpu").start + int(gpus[~own][0]))
    return f"{name} has no NIC and nic_loss is abort"


def figures(job: SteppingJob, running: Running, seconds: Sequence[float]) -> Figures:
    """What a job reports under the keys of its kind."""
    run = running.run
    if isinstance(run, TrainingRun):
        step = run.times(seconds)
        found: Figures = {
            "step_s": step.step_s,
            "tokens_per_s": step.tokens_per_s,
            "mfu": step.mfu,
            "exposed_s": dict(step.exposed_s),
            "compute_s": step.compute_s,
            "bubble_s": step.bubble_s,
            "optimiser_s": run.base.optimiser_s,
            "fixed_s": run.base.fixed_s,
        }
        assert isinstance(job, TrainingJob)
        if job.tokens is not None:
            found["days_to_target"] = job.tokens / step.tokens_per_s / _DAY_S
        return found
    if isinstance(run, InferenceRun):
        served = run.served(seconds)
        return {
            "tokens_per_s": served.tokens_per_s,
            "tpot_s": served.tpot_s,
            "ttft_s": served.ttft_s,
            "limited_by": served.limited_by,
            "requests_per_s": served.requests_per_s,
        }
    assert isinstance(run, CollectiveRun)
    time = seconds[0]
    if time <= 0:
        return {"time_s": time, "algbw_GBps": None, "busbw_GBps": None}
    return {
        "time_s": time,
        "algbw_GBps": algbw(run.job.size, time),
        "busbw_GBps": busbw(run.job.op, run.ranks, run.job.size, time),
    }


def pace(job: SteppingJob, values: Figures) -> float:
    """What a slowdown compares: the more the faster."""
    if isinstance(job, CollectiveJob):
        return 1 / values["time_s"] if values["time_s"] > 0 else 0.0
    return float(values["tokens_per_s"])
