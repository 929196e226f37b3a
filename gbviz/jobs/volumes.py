"""How many bytes a GPU sends in a training step, for each kind of parallelism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.jobs.collectives import cost
from gbviz.jobs.transformer import (
    head_dims,
    kv_heads,
    moe_layers,
    parameters,
    rank_parameters,
)

if TYPE_CHECKING:
    from gbviz.jobs.collectives import Op
    from gbviz.jobs.spec import Parallelism, Precision, Transformer
    from gbviz.jobs.transformer import Recompute

CHECKPOINT_BYTES = 14.0
"""Bytes a weight has in a checkpoint: itself in bf16, single-precision master and two moments."""


def gradient_buffer_bytes(weights: float, tp: int, pp: int, *, each: float = 2.0) -> float:
    """Gradients that one GPU holds and reduces.

    Examples
    --------
    GPT-3 over 8 x 8 GPUs; Alibaba HPN prints 5.5 GB.

    >>> gradient_buffer_bytes(174.6e9, 8, 8) / 1e9
    5.45625
    """
    return weights / (tp * pp) * each


def dp_collectives(
    weights: float,
    zero: int,
    *,
    gradient_bytes: float = 2.0,
    weight_bytes: float = 2.0,
    reshard: bool = True,
    microbatches: int = 1,
) -> list[tuple[Op, float]]:
    """Collectives that data parallelism runs once a step, each with its whole buffer in bytes.

    Parameters
    ----------
    weights
        Of this GPU, not sharded.
    zero
        0: gradients are all-reduced. 1, 2: reduced and scattered, new weights gathered. 3: weights
        gathered for forward and again for backward, gradients reduced and scattered.
    gradient_bytes, weight_bytes
        Of each gradient and weight as it is sent.
    reshard
        False keeps the weights that forward gathered (ZeRO 3).
    microbatches
        ZeRO 3 repeats everything for each of them; below it gradients add up on the GPU.

    Examples
    --------
    >>> dp_collectives(1e9, 0)
    [('all_reduce', 2000000000.0)]
    >>> dp_collectives(1e9, 1, gradient_bytes=4)
    [('reduce_scatter', 4000000000.0), ('all_gather', 2000000000.0)]
    """
    gradients = weights * gradient_bytes
    if zero == 0:
        return [("all_reduce", gradients)]
    gather: list[tuple[Op, float]] = [("all_gather", weights * weight_bytes)]
    once: list[tuple[Op, float]] = [("reduce_scatter", gradients), *gather]
    if zero < 3:
        return once
    return (once + gather if reshard else once) * microbatches


def dp_bytes(
    weights: float,
    ranks: int,
    zero: int = 0,
    *,
    gradient_bytes: float = 2.0,
    weight_bytes: float = 2.0,
    reshard: bool = True,
    microbatches: int = 1,
) -> float:
    """Bytes that one of `ranks` GPUs sends for them on flat rings; see `dp_collectives`.

    Examples
    --------
    >>> dp_bytes(1e9, 2), dp_bytes(1e9, 2, 1), dp_bytes(1e9, 2, 3)
    (2000000000.0, 2000000000.0, 3000000000.0)
    """
    runs = dp_collectives(
        weights,
        zero,
        gradient_bytes=gradient_bytes,
        weight_bytes=weight_bytes,
        reshard=reshard,
        microbatches=microbatches,
    )
    return sum(cost(op, ranks, size).sent_bytes for op, size in runs)


def tp_reductions(recompute: Recompute, *, sequence_parallel: bool = False) -> int:
    """All-reduces of one layer and microbatch: two forward, two backward.

    Full recomputation repeats those of forward. Sequence parallelism makes each a reduce-scatter
    and an all-gather; backward gathers the two inputs once more that each GPU keeps a part of
    only, which is as many bytes as one all-reduce.

    References
    ----------
    Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022,
    section 4.2.2.

    Examples
    --------
    >>> tp_reductions("none"), tp_reductions("full"), tp_reductions("none", sequence_parallel=True)
    (4, 6, 5)
    """
    return (6 if recompute == "full" else 4) + (1 if sequence_parallel else 0)


def tp_bytes(
    tokens: float, hidden: int, tp: int, *, reductions: int = 4, each: float = 2.0
) -> float:
    """Bytes that a tensor-parallel GPU sends in one layer and microbatch.

    Parameters
    ----------
    tokens
        Of a microbatch on this context-parallel rank: micro x seq / cp.
    hidden, tp
        Width of the model; degree.
    reductions
        See `tp_reductions`.
    each
        Bytes of an activation.

    Examples
    --------
    >>> tp_bytes(4096, 16384, 4)
    805306368.0
    """
    return reductions * cost("all_reduce", tp, tokens * hidden * each).sent_bytes


def pp_message_bytes(tokens: float, hidden: int, tp: int, *, each: float = 2.0) -> float:
    """Activations of one microbatch that a GPU hands to the next stage; its tp-th part.

    Examples
    --------
    >>> pp_message_bytes(2048, 12288, 8)
    6291456.0
    """
    return tokens * hidden * each / tp


def pp_bytes(tokens: float, hidden: int, tp: int, *, vpp: int = 1, each: float = 2.0) -> float:
    """Bytes over one pipeline boundary for a microbatch: forward and back, once a model chunk.

    Examples
    --------
    >>> pp_bytes(2048, 12288, 8, vpp=3) / pp_message_bytes(2048, 12288, 8)
    6.0
    """
    return 2 * vpp * pp_message_bytes(tokens, hidden, tp, each=each)


def cp_bytes(tokens: float, cp: int, kv_elements: float, tp: int, *, each: float = 2.0) -> float:
    """Bytes of keys and values that a context-parallel GPU gathers in one layer's forward pass.

    Parameters
    ----------
    tokens
        Of a microbatch on this rank: micro x seq / cp.
    cp, tp
        Degrees.
    kv_elements
        Numbers in the keys and values of one token, all heads: 2 x heads x size.
    each
        Bytes of each.

    Examples
    --------
    >>> cp_bytes(8192, 16, 2 * 8 * 128, 8)
    62914560.0
    """
    return (cp - 1) * tokens * kv_elements / tp * each


def ep_bytes(
    tokens: float, hidden: int, top_k: int, ep: int, *, dispatch: float = 1.0, combine: float = 2.0
) -> float:
    """Bytes that an expert-parallel GPU sends in the forward pass of one layer with experts.

    Parameters
    ----------
    tokens
        That this GPU routes.
    hidden, top_k, ep
        Width; experts that a token goes to, evenly spread; degree.
    dispatch, combine
        Bytes of a number on the way there and back.

    Examples
    --------
    >>> ep_bytes(4096, 7168, 8, 64)
    693633024.0
    """
    return tokens * hidden * top_k * (ep - 1) / ep * (dispatch + combine)


def checkpoint_bytes(weights: float, *, each: float = CHECKPOINT_BYTES) -> float:
    """Bytes of a checkpoint, once for all replicas.

    Examples
    --------
    >>> checkpoint_bytes(1e12) / 1e12
    14.0
    """
    return weights * each


@dataclass(frozen=True, slots=True)
class Volumes:
    """Bytes that an average GPU of a training job sends.

    Parameters
    ----------
    tp, cp, ep
        Of one microbatch, forward and backward, all layers of the stage.
    pp
        Of one microbatch, at each of its boundaries.
    dp, expert_dp
        Of a step, on flat rings: weights that all cp x dp ranks of a stage share; routed experts,
        shared by cp x dp / ep.
    checkpoint
        Of a checkpoint that all GPUs write together.
    """

    tp: float
    cp: float
    ep: float
    pp: float
    dp: float
    expert_dp: float
    checkpoint: float


def volumes(
    model: Transformer,
    degrees: Parallelism,
    *,
    micro: int = 1,
    seq: int | None = None,
    recompute: Recompute = "none",
    zero: int = 1,
    precision: Precision = "bf16",
    sequence_parallel: bool = True,
    gradient_bytes: float = 2.0,
    microbatches: int = 1,
) -> Volumes:
    """Bytes of each kind of parallelism of a job.

    Parameters
    ----------
    model, degrees
        Model and how it is split.
    micro, seq
        Sequences of a microbatch; tokens of each, None = the model's.
    recompute, zero
        See `tp_reductions` and `dp_collectives`. Full recomputation repeats what forward sends.
    precision
        Experts are sent 8-bit numbers unless it is ``"bf16"``, and return 16-bit ones.
    sequence_parallel
        See `tp_reductions`.
    gradient_bytes
        Of each gradient as it is reduced.
    microbatches
        Of a step; counts with ZeRO 3 only.

    Notes
    -----
    Each of the tp GPUs that share tokens routes its part of them to experts. Keys and values of
    latent attention are gathered for all heads, not compressed. Left out: sums of the loss and of
    gradient norms, gradients of tied tables between the ends of the pipeline.

    Examples
    --------
    >>> from gbviz.jobs.models import model_named
    >>> from gbviz.jobs.spec import Parallelism
    >>> sent = volumes(model_named("llama3-405b"), Parallelism(tp=4, cp=2, pp=8, dp=8, vpp=8))
    >>> round(sent.tp / 1e9, 2), round(sent.pp / 1e9, 2), round(sent.dp / 1e9, 2)
    (15.85, 0.54, 47.56)
    """
    tokens = micro * (seq or model.seq) / degrees.cp
    stage = 1 / degrees.pp
    passes = 4 if recompute == "full" else 3
    reductions = tp_reductions(recompute, sequence_parallel=sequence_parallel)
    held = rank_parameters(model, degrees)
    ranks = degrees.cp * degrees.dp

    def reduced(weights: float, copies: int) -> float:
        return dp_bytes(
            weights, copies, zero, gradient_bytes=gradient_bytes, microbatches=microbatches
        )

    return Volumes(
        tp=model.layers * stage * tp_bytes(tokens, model.hidden, degrees.tp, reductions=reductions),
        cp=passes
        * model.layers
        * stage
        * cp_bytes(tokens, degrees.cp, kv_heads(model) * sum(head_dims(model)), degrees.tp),
        ep=(passes - 1)
        * moe_layers(model)
        * stage
        * ep_bytes(
            tokens / degrees.tp,
            model.hidden,
            model.top_k,
            degrees.ep,
            dispatch=2.0 if precision == "bf16" else 1.0,
        ),
        pp=pp_bytes(tokens, model.hidden, degrees.tp, vpp=degrees.vpp) if degrees.pp > 1 else 0.0,
        dp=reduced(held.common, ranks),
        expert_dp=reduced(held.experts, max(ranks // degrees.ep, 1)),
        checkpoint=checkpoint_bytes(parameters(model).total) / degrees.gpus,
    )
