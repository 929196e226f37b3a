"""A training job on the fabric: its phases, and the time of its step."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.jobs.edge import Talk
from gbviz.jobs.groups import groups
from gbviz.jobs.memory import memory
from gbviz.jobs.models import model_named
from gbviz.jobs.phases import collective_edge, flow_edge, lay
from gbviz.jobs.spec import Transformer
from gbviz.jobs.step import (
    StepInputs,
    StepTime,
    dp_window_s,
    elementwise_s,
    optimiser_s,
    step_time,
)
from gbviz.jobs.transformer import (
    head_dims,
    kv_heads,
    moe_layers,
    rank_parameters,
    training_flops,
)
from gbviz.jobs.volumes import dp_collectives, pp_message_bytes, tp_reductions
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.flows.router import Router
    from gbviz.jobs.phases import Phase
    from gbviz.jobs.spec import Parallelism, TrainingJob
    from gbviz.topology.fabric import Ints

_ACTIVATION_BYTES = 2.0
_DISPATCH_BYTES = {"fp4": 1.0, "fp8": 1.0, "bf16": 2.0}


def model_of(model: str | Transformer) -> Transformer:
    """A job's model, by name or as stated."""
    return model if isinstance(model, Transformer) else model_named(model)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRun:
    """A training job as a thing that steps (see `sharing.Stepper`).

    `classes` names the class of communication of each phase: tp, cp, ep, pp or dp. `base` are the
    step's inputs without communication, `dp` the replicas in force, `filled` the part of
    their microbatches that holds the global batch.
    """

    phases: tuple[Phase, ...]
    repeats: tuple[float, ...]
    classes: tuple[str, ...]
    base: StepInputs
    dp: int
    filled: float

    def times(self, seconds: Sequence[float]) -> StepTime:
        """The step whose phases take these seconds."""
        return _times(self, tuple(seconds))

    def step_s(self, seconds: Sequence[float]) -> float:
        """Seconds of a step."""
        return self.times(seconds).step_s


# The same step is asked for where jobs share the fabric, and for its figures and its pace.
@lru_cache(maxsize=16)
def _times(run: TrainingRun, seconds: tuple[float, ...]) -> StepTime:
    total = dict.fromkeys(("tp", "cp", "ep", "pp", "dp"), 0.0)
    for kind, once, often in zip(run.classes, seconds, run.repeats, strict=True):
        total[kind] += once * often
    counts = run.base.microbatches
    found = step_time(
        _replaced(
            run.base,
            tp_s=total["tp"] / counts,
            cp_s=total["cp"] / counts,
            ep_s=total["ep"] / counts,
            pp_s=total["pp"] / counts * catalogue().value("training.pp_exposed"),
            dp_s=total["dp"],
        )
    )
    # Where replicas were lost the last microbatch of some is padding, which is no useful work.
    return replace(found, mfu=found.mfu * run.filled)


def _replaced(inputs: StepInputs, **parts: float) -> StepInputs:
    values = {name: getattr(inputs, name) for name in StepInputs.__slots__}
    return StepInputs(**(values | parts))


def microbatches(job: TrainingJob, shape: Parallelism) -> int:
    """Microbatches of a pipeline in a step; more than planned where replicas were lost.

    Examples
    --------
    >>> from gbviz.jobs.spec import Parallelism, TrainingJob
    >>> job = TrainingJob.model_validate({"kind": "training", "name": "a", "model": "llama3-8b",
    ...     "parallelism": {"dp": 4}, "batch": {"global": 64, "micro": 2}})
    >>> microbatches(job, job.parallelism), microbatches(job, Parallelism(dp=3))
    (8, 11)
    """
    return math.ceil(job.batch.total / (shape.dp * job.batch.micro))


def training_run(
    by: Router, job: TrainingJob, talk: Sequence[Talk], shape: Parallelism, clock: float
) -> TrainingRun:
    """A training job on the fabric under one health.

    Parameters
    ----------
    by
        The fabric under its health and routing mode.
    job
        What is trained.
    talk
        What its ranks say to each other, from `training_talk`.
    shape
        Degrees in force: those of the job, with fewer replicas where some were lost.
    clock
        Of the slowest GPU, as a share of the maximum.

    Raises
    ------
    InputError
        A model that nobody knows.
    """
    facts, model = catalogue(), model_of(job.model)
    seq = job.seq or model.seq
    counts = microbatches(job, shape)
    tokens = job.batch.micro * seq / shape.cp
    ranks = shape.tp * shape.cp * shape.pp
    per_microbatch = job.batch.micro * seq / ranks
    flops = per_microbatch * training_flops(model, seq, recompute=job.recompute)
    counted = per_microbatch * training_flops(model, seq)
    peak = facts.value(f"gpu.{job.precision}_dense_pflops") * 1e15
    efficiency = job.efficiency or facts.value(f"training.efficiency_{job.precision}")
    hbm = facts.value("gpu.hbm_GBps") * facts.value("training.hbm_efficiency")
    weights = rank_parameters(model, shape)
    hbm_s = elementwise_s(
        tokens, model.hidden, model.layers / shape.pp, shape.tp, hbm, recompute=job.recompute
    )
    slow = max(clock, 1e-12)
    backward = 2 / 3 * (flops / (peak * efficiency * slow) + hbm_s)
    replicas = shape.dp * shape.cp if job.zero else 1
    experts = max(replicas // shape.ep, 1)
    updated = weights.common / replicas + weights.experts / experts
    base = StepInputs(
        flops=flops,
        model_flops=counted,
        peak_flops=peak,
        efficiency=efficiency,
        microbatches=counts,
        tokens=float(job.batch.total * seq),
        clock=clock,
        pp=shape.pp,
        vpp=shape.vpp,
        hbm_s=hbm_s,
        overlap=facts.value("training.overlap") if job.overlap is None else job.overlap,
        window_s=dp_window_s(backward, counts, shape.pp, shape.vpp)
        * facts.value("training.dp_overlap"),
        optimiser_s=optimiser_s(updated, hbm),
        fixed_s=facts.value("training.fixed_s"),
    )
    filled = job.batch.total / (counts * shape.dp * job.batch.micro)
    return TrainingRun(
        tuple(lay(one.kind, by, one.edge) for one in talk),
        tuple(one.times for one in talk),
        tuple(one.kind for one in talk),
        base,
        shape.dp,
        filled,
    )


def training_talk(by: Router, job: TrainingJob, gpus: Ints, shape: Parallelism) -> tuple[Talk, ...]:
    """Everything that a job's ranks say to each other in a step.

    Parameters
    ----------
    by
        The fabric under its health.
    job
        What is trained.
    gpus
        (ranks,) GPU of each rank.
    shape
        Degrees in force.
    """
    model, counts, who = (
        model_of(job.model),
        microbatches(job, shape),
        groups(gpus, shape, job.order),
    )
    tokens = job.batch.micro * (job.seq or model.seq) / shape.cp
    layers = model.layers / shape.pp
    wide = tokens * model.hidden * _ACTIVATION_BYTES
    forwards = 2 if job.recompute == "full" else 1
    found: list[Talk] = []
    if shape.tp > 1:
        often = tp_reductions(job.recompute, sequence_parallel=True) * layers * counts
        found.append(Talk("tp", collective_edge(by, who.tp, "all_reduce", wide), often))
    if shape.cp > 1:
        kept = kv_heads(model) * sum(head_dims(model))  # keys and values, latent ones unfolded
        size = tokens * shape.cp * kept / shape.tp * _ACTIVATION_BYTES
        # Forward gathers keys and values; backward gathers them again and scatters gradients.
        often = (forwards + 2) * layers * counts
        found.append(Talk("cp", collective_edge(by, who.cp, "all_gather", size), often))
    if shape.ep > 1 and model.experts:
        each = _DISPATCH_BYTES[job.precision] + _ACTIVATION_BYTES
        size = tokens / shape.tp * model.hidden * model.top_k * each
        often = (forwards + 1) * moe_layers(model) / shape.pp * counts
        found.append(Talk("ep", collective_edge(by, who.ep, "all_to_all", size), often))
    if shape.pp > 1:
        message = pp_message_bytes(tokens, model.hidden, shape.tp)
        # Activations forward and gradients back cross at the same time, the other way round.
        one, two = who.pp[:, 0], who.pp[:, 1]
        both = np.concatenate([one, two]), np.concatenate([two, one])
        found.append(Talk("pp", flow_edge(by, *both, message), shape.vpp * counts))
    weights = rank_parameters(model, shape)
    for holders, held in ((who.dp, weights.common), (who.expert_dp, weights.experts)):
        if holders.shape[1] > 1 and held:
            runs = dp_collectives(held, job.zero, microbatches=counts)
            # Scatters and gathers take rings of the same links: one phase of all their bytes.
            op, size = runs[0][0], sum(size for _, size in runs)
            found.append(Talk("dp", collective_edge(by, holders, op, size), 1.0))
    return tuple(found)


def check_shape(job: TrainingJob, ranks: int) -> None:
    """Refuse a job whose numbers contradict each other.

    Raises
    ------
    InputError
        Degrees that do not multiply to its GPUs, or do not divide what they must; the sum is shown.
    """
    shape, where = job.parallelism, f"job {job.name}"
    if shape.gpus != ranks:
        raise InputError(
            f"tp x cp x pp x dp = {shape.tp} x {shape.cp} x {shape.pp} x {shape.dp} ="
            f" {shape.gpus:,} ranks, and its placement has {ranks:,} GPUs for them",
            where=where,
        )
    if job.batch.total % (shape.dp * job.batch.micro):
        raise InputError(
            f"a global batch of {job.batch.total:,} is no multiple of dp x micro ="
            f" {shape.dp} x {job.batch.micro} = {shape.dp * job.batch.micro:,}",
            where=where,
        )
    if (shape.cp * shape.dp) % shape.ep:
        raise InputError(
            f"ep {shape.ep} does not divide cp x dp = {shape.cp} x {shape.dp} ="
            f" {shape.cp * shape.dp:,}",
            where=where,
        )
    check_memory(job)


def check_memory(job: TrainingJob) -> None:
    """Refuse a job that no GPU can hold, even if it computes every activation twice.

    Raises
    ------
    InputError
        It says what a GPU would hold; or there is no model of that name.
    """
    held = memory(
        model_of(job.model),
        job.parallelism,
        micro=job.batch.micro,
        seq=job.seq,
        zero=job.zero,
        recompute="full",
    )
    room = catalogue().value("gpu.hbm_bytes")
    if held.total > room:
        parts = ("weights", "gradients", "optimiser", "activations")
        listed = " + ".join(f"{name} {getattr(held, name) / 1e9:,.0f}" for name in parts)
        raise InputError(
            f"a GPU would hold {listed} = {held.total / 1e9:,.0f} GB, and has {room / 1e9:,.0f}",
            where=f"job {job.name}",
            hint="raise tp, pp, ep or zero",
        )
