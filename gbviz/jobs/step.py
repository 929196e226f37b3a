"""How long a synchronous training step takes, from the times of its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.jobs.collectives import transfer_s

if TYPE_CHECKING:
    from gbviz.jobs.transformer import Recompute

HBM_ACCESSES = 184.0
"""Times that a layer's activations cross memory in a step with full recomputation (fitted)."""

OPTIMISER_BYTES = 16.0
"""Bytes that the optimiser moves for each weight that it updates."""


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What one step of a job consists of, on its slowest GPU.

    Parameters
    ----------
    flops
        FLOP that the GPU executes for one microbatch, recomputation included.
    peak_flops
        Dense peak of the GPU, FLOP/s.
    efficiency
        Share of the peak that its matrix products reach, in (0, 1].
    microbatches
        Of each pipeline.
    tokens
        Of a step, all GPUs together.
    model_flops
        FLOP of a microbatch that MFU counts, without recomputation; None = `flops`.
    clock
        Share of the maximum clock, in [0, 1]; slows what compute bounds, not what memory bounds.
    pp, vpp
        Pipeline stages; model chunks of each.
    hbm_s
        Seconds that memory-bound operations of a microbatch take.
    tp_s, cp_s, ep_s, pp_s
        Seconds of communication of a microbatch; of `pp_s` what the schedule does not hide.
    overlap
        Share of `tp_s` and `cp_s` that compute hides, in [0, 1].
    dp_s, window_s
        Seconds of data-parallel communication of the step; compute that can hide it.
    optimiser_s, fixed_s
        Seconds of the optimiser, and of all else once a step.
    """

    flops: float
    peak_flops: float
    efficiency: float
    microbatches: int
    tokens: float
    model_flops: float | None = None
    clock: float = 1.0
    pp: int = 1
    vpp: int = 1
    hbm_s: float = 0.0
    tp_s: float = 0.0
    cp_s: float = 0.0
    ep_s: float = 0.0
    pp_s: float = 0.0
    overlap: float = 0.0
    dp_s: float = 0.0
    window_s: float = 0.0
    optimiser_s: float = 0.0
    fixed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StepTime:
    """How long a step takes and where it goes.

    `compute_s`, `exposed_s`, `bubble_s`, and the inputs' `optimiser_s` and `fixed_s` add up to
    `step_s`.

    Parameters
    ----------
    step_s
        Seconds of a step; inf where a part never ends.
    microbatch_s
        Seconds of one microbatch in one stage.
    compute_s
        Seconds of compute and memory in all microbatches, the bubble not counted.
    bubble_s
        Seconds that a GPU waits for the pipeline to fill and drain.
    exposed_s
        Seconds of communication that nothing hides: ``tp``, ``cp``, ``ep``, ``pp``, ``dp``.
    tokens_per_s
        Tokens of all GPUs; 0 where the step never ends.
    mfu
        Model FLOP over what the GPU could do at its peak.
    """

    step_s: float
    microbatch_s: float
    compute_s: float
    bubble_s: float
    exposed_s: dict[str, float]
    tokens_per_s: float
    mfu: float


def step_time(inputs: StepInputs) -> StepTime:
    """Time of one step.

    Notes
    -----
    A stage's microbatch takes its compute, memory and exposed communication one after the other;
    the pipeline adds (pp - 1) / vpp microbatches, data-parallel communication what exceeds its
    window. Left out: stages of unequal work, loss of clock and stragglers within the step.

    References
    ----------
    Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using
    Megatron-LM, SC 2021, section 2.2 (the pipeline's bubble).

    Examples
    --------
    Eight microbatches of 1 s in four stages: 8 + 3 s, and 1 of 2 s of gradients hidden.

    >>> step_time(StepInputs(1e15, 1e15, 1.0, 8, 8e6, pp=4, dp_s=2, window_s=1)).step_s
    12.0

    Three seconds of which half could be hidden, but only behind one second of compute:

    >>> step_time(StepInputs(1e15, 1e15, 1.0, 1, 8e6, tp_s=3, overlap=0.5)).step_s
    3.0
    """
    counts = inputs.microbatches
    compute = (
        transfer_s(inputs.flops, inputs.peak_flops * inputs.efficiency * inputs.clock / 1e9)
        + inputs.hbm_s
    )
    # Nothing is hidden behind more compute than there is: links would carry more than they can.
    both = inputs.tp_s + inputs.cp_s
    shown = 1 - min(inputs.overlap, compute / both if both else 1.0)
    exposed = {
        "tp": _times(shown, inputs.tp_s),
        "cp": _times(shown, inputs.cp_s),
        "ep": inputs.ep_s,
    }
    microbatch_s = compute + sum(exposed.values())
    exposed["pp"] = inputs.pp_s
    exposed = {name: counts * seconds for name, seconds in exposed.items()}
    exposed["dp"] = exposed_s(inputs.dp_s, inputs.window_s)
    bubble_s = (inputs.pp - 1) / inputs.vpp * microbatch_s if inputs.pp > 1 else 0.0
    step_s = (
        counts * compute + bubble_s + sum(exposed.values()) + inputs.optimiser_s + inputs.fixed_s
    )
    counted = inputs.flops if inputs.model_flops is None else inputs.model_flops
    return StepTime(
        step_s=step_s,
        microbatch_s=microbatch_s,
        compute_s=counts * compute,
        bubble_s=bubble_s,
        exposed_s=exposed,
        tokens_per_s=inputs.tokens / step_s,
        mfu=counted * counts / (step_s * inputs.peak_flops),
    )


def _times(share: float, seconds: float) -> float:
    """Their product; what never ends cannot be hidden."""
    return share * seconds if math.isfinite(seconds) else seconds


def exposed_s(comm_s: float, window_s: float, ratio: float = 1.0) -> float:
    """Seconds of communication that compute does not hide.

    Parameters
    ----------
    comm_s
        Seconds that it takes at full bandwidth.
    window_s
        Seconds of compute that it can run beside.
    ratio
        Bandwidth that is left, in [0, 1].

    Examples
    --------
    >>> exposed_s(2.0, 1.5), exposed_s(2.0, 1.5, 0.5), exposed_s(2.0, 1.5, 0.0)
    (0.5, 2.5, inf)
    """
    if comm_s == 0:
        return 0.0
    return max(0.0, comm_s / ratio - window_s) if ratio > 0 else math.inf


def bubble_ratio(pp: int, vpp: int, microbatches: int) -> float:
    """Time that a pipeline idles over the time that it works.

    Examples
    --------
    >>> bubble_ratio(8, 1, 16)
    0.4375
    """
    return (pp - 1) / (vpp * microbatches)


def bubble_fraction(pp: int, vpp: int, microbatches: int) -> float:
    """Share of all time that a pipeline idles.

    Examples
    --------
    >>> bubble_fraction(5, 1, 4)
    0.5
    """
    return (pp - 1) / (vpp * microbatches + pp - 1)


def dp_window_s(backward_s: float, microbatches: int, pp: int = 1, vpp: int = 1) -> float:
    """Seconds of backward that run beside the reduction of gradients.

    Parameters
    ----------
    backward_s
        Of one microbatch in one stage.
    microbatches, pp, vpp
        Of a pipeline; its stages; model chunks of a stage.

    Notes
    -----
    Gradients are final in the last microbatch that a model chunk sees. Without interleaving that
    leaves one backward. With it, backward goes through min(pp, microbatches) microbatches chunk by
    chunk, so that all but the last chunk's are reduced while the others run.

    Examples
    --------
    >>> dp_window_s(0.1, 64, 8), round(dp_window_s(0.1, 64, 8, 8), 3)
    (0.1, 0.7)
    """
    return backward_s * max(1.0, min(pp, microbatches) * (vpp - 1) / vpp)


def elementwise_s(
    tokens: float,
    hidden: int,
    layers: float,
    tp: int,
    hbm_GBps: float,
    *,
    recompute: Recompute = "none",
    sequence_parallel: bool = True,
    accesses: float = HBM_ACCESSES,
) -> float:
    """Seconds that memory-bound operations of one microbatch take in a stage.

    Parameters
    ----------
    tokens
        Of the microbatch on this context-parallel rank.
    hidden, layers
        Width; layers of the stage.
    tp
        Tensor-parallel degree. Sequence parallelism splits all operations over it, without it
        norms and residuals stay whole: 0.3 of them.
    hbm_GBps
        What memory delivers.
    recompute
        ``"full"`` makes four passes of three.
    accesses
        See `HBM_ACCESSES`.

    Examples
    --------
    >>> elementwise_s(1e6, 1000, 10, 1, 1000.0, recompute="full", accesses=100)
    2.0
    """
    split = 1 / tp if sequence_parallel else 0.3 + 0.7 / tp
    passes = 1.0 if recompute == "full" else 0.75
    return transfer_s(accesses * passes * split * layers * tokens * hidden * 2, hbm_GBps)


def optimiser_s(weights: float, hbm_GBps: float) -> float:
    """Seconds to update weights: those of this GPU, or its share where the optimiser is sharded.

    Examples
    --------
    >>> optimiser_s(1e9, 8000.0)
    0.002
    """
    return transfer_s(OPTIMISER_BYTES * weights, hbm_GBps)


def flops_s(flops: float, gpus: int, flops_per_gpu: float) -> float:
    """Seconds of FLOP over GPUs that each reach so many FLOP/s; inf at 0.

    Examples
    --------
    >>> flops_s(1e18, 10, 1e14)
    1000.0
    """
    return transfer_s(flops, gpus * flops_per_gpu / 1e9)


def tokens_per_gpu_s(tokens: float, gpu_hours: float) -> float:
    """Tokens that a GPU got through in a second, from those of a run and its GPU hours.

    Examples
    --------
    DeepSeek-V3: 14.8 T tokens in 2.664 M hours.

    >>> round(tokens_per_gpu_s(14.8e12, 2.664e6), 1)
    1543.2
    """
    return tokens / (gpu_hours * 3600)
