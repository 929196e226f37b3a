"""Any job under one health: what it runs on, and the figures that it reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gbviz.errors import InputError
from gbviz.jobs.collectives import algbw, busbw
from gbviz.jobs.edge import Talk
from gbviz.jobs.inference import (
    InferenceRun,
    ServingTalk,
    inference_run,
    inference_talk,
    pools,
)
from gbviz.jobs.phases import collective_edge, lay
from gbviz.jobs.spec import CollectiveJob, InferenceJob, Parallelism, TrainingJob
from gbviz.jobs.survivors import Survivors, replace_failed, shrink
from gbviz.jobs.training import TrainingRun, training_run, training_talk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.flows.router import Router
    from gbviz.jobs.phases import Phase
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
        The job as a thing that steps, None where it cannot run or nobody asked (`outline`).
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

    @property
    def able(self) -> bool:
        """Whether it can run."""
        return not self.why


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A job on what is left of its placement: all but its clock and the links above leaves.

    Parameters
    ----------
    job
        What runs.
    gpus, survivors, why
        As for `Running`.
    talk
        What its ranks say to each other, None where it cannot run.
    shape
        The degrees in force of a training job.
    """

    job: SteppingJob
    gpus: Ints
    survivors: Survivors
    why: str
    talk: tuple[Talk, ...] | ServingTalk | None = None
    shape: Parallelism | None = None


def plan(by: Router, job: SteppingJob, placed: Placed, live: Bools) -> Plan:
    """How a job arranges itself on the GPUs that it has left.

    Parameters
    ----------
    by
        The fabric under its health.
    job, placed
        What runs and where it was put.
    live
        (G,) True for GPUs that it may use.

    Notes
    -----
    It depends on the GPUs of the placement that are live, and on what of their racks is hurt; on
    the rest of the fabric only where paths are single, or where leaves are cut off.
    """
    gpus, left, why, parts = _arranged(job, placed, live)
    why = why or _barred(by, job, gpus)
    if why:
        return Plan(job, gpus, left, why)
    shape = parts if isinstance(parts, Parallelism) else None
    talk: tuple[Talk, ...] | ServingTalk
    if isinstance(job, TrainingJob):
        assert shape is not None
        talk = training_talk(by, job, gpus, shape)
    elif isinstance(job, InferenceJob):
        assert isinstance(parts, tuple)
        talk = inference_talk(by, job, parts)
    else:
        edge = collective_edge(by, gpus[None], job.op, job.size, algorithm=job.algorithm)
        talk = (Talk("collective", edge, 1.0),)
    said = talk.phases if isinstance(talk, ServingTalk) else talk
    if any(one.edge.cut for one in said):
        return Plan(job, gpus, left, "some of its GPUs have no way to each other")
    return Plan(job, gpus, left, "", talk, shape)


def outline(by: Router, job: SteppingJob, placed: Placed, live: Bools) -> Running | None:
    """What `start` finds but for the phases: on which GPUs a job is, and whether it can run.

    None where only its phases tell: where leaves are cut off, paths are single, or one of its GPUs
    can use no NIC.
    """
    gpus, left, why, _ = _arranged(job, placed, live)
    why = why or _barred(by, job, gpus)
    return Running(None, gpus, left, why) if why or _surely_joined(by, gpus) else None


def _surely_joined(by: Router, gpus: Ints) -> bool:
    """Whether each of some live GPUs certainly has a way to each other."""
    nics = by.nics
    if by.single_path or not by.reaches_all or nics.relay > nics.rails:
        return False
    return nics.whole or all(
        bool(usable[gpus].any(axis=1).all()) for usable in (nics.send, nics.receive)
    )


def _arranged(
    job: SteppingJob, placed: Placed, live: Bools
) -> tuple[Ints, Survivors, str, Parallelism | tuple[Ints, Ints] | None]:
    """GPUs, survivors, why a job cannot run for lack of GPUs, and its degrees or its pools."""
    left = replace_failed(placed, live)
    none: Ints = np.zeros(0, dtype=np.int64)
    if isinstance(job, TrainingJob):
        kept = shrink(job, left, live)
        if kept is None:
            return none, left, "no replica of the model has all its GPUs", None
        return kept[0], left, "", kept[1]
    if isinstance(job, InferenceJob):
        groups = pools(job, left.gpus, live[left.gpus])
        if not len(groups[0]) or not len(groups[1]):
            return none, left, "no prefill or no decode group has all its GPUs", None
        return np.concatenate([rows.reshape(-1) for rows in groups]), left, "", groups
    gpus = left.gpus[live[left.gpus]]
    return gpus, left, "" if len(gpus) else "none of its GPUs is live", None


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
    planned = plan(by, job, placed, by.nics.live & (clock > 0))
    return begin(by, planned, slowest(planned, clock))


def begin(by: Router, planned: Plan, clock: float) -> Running:
    """A job at work as it was planned.

    Parameters
    ----------
    by
        The fabric under its health.
    planned
        From `plan`.
    clock
        Of the slowest of its GPUs.
    """
    job, talk = planned.job, planned.talk
    run: TrainingRun | InferenceRun | CollectiveRun | None
    if talk is None:
        run = None
    elif isinstance(talk, ServingTalk):
        assert isinstance(job, InferenceJob)
        run = inference_run(by, job, talk, clock)
    elif isinstance(job, TrainingJob):
        assert planned.shape is not None
        run = training_run(by, job, talk, planned.shape, clock)
    else:
        assert isinstance(job, CollectiveJob)
        phases = tuple(lay(one.kind, by, one.edge) for one in talk)
        run = CollectiveRun(job, len(planned.gpus), phases)
    return Running(run, planned.gpus, planned.survivors, planned.why)


def slowest(planned: Plan, clock: Floats) -> float:
    """The clock of the slowest GPU of a job, of (G,) clocks; 1 for a job without any."""
    return float(clock[planned.gpus].min()) if len(planned.gpus) else 1.0


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
