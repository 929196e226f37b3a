"""Roughly what a training GPU must hold: weights, gradients, optimiser, activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.jobs.transformer import (
    head_dims,
    kv_cache_elements,
    kv_heads,
    moe_layers,
    rank_parameters,
)

if TYPE_CHECKING:
    from gbviz.jobs.spec import Parallelism, Transformer
    from gbviz.jobs.transformer import Recompute


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of one GPU, by use."""

    weights: float
    gradients: float
    optimiser: float
    activations: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.weights + self.gradients + self.optimiser + self.activations


def memory(
    model: Transformer,
    degrees: Parallelism,
    *,
    micro: int = 1,
    seq: int | None = None,
    microbatches: int | None = None,
    zero: int = 1,
    recompute: Recompute = "none",
    gradient_bytes: float = 2.0,
) -> Memory:
    """Roughly what a training GPU of the first stage must hold: enough to tell that it cannot fit.

    Parameters
    ----------
    model, degrees
        Model and how it is split.
    micro, seq
        Sequences of a microbatch; tokens of each, None = the model's.
    microbatches
        Of a step; None = enough to fill the pipeline.
    zero
        Shards the optimiser (1), gradients too (2), weights too (3) over ranks that hold the same.
    recompute
        ``"full"`` keeps the input of each layer and what one layer needs.
    gradient_bytes
        Of each gradient; 4 where they are summed in single precision.

    Notes
    -----
    Weights 2 bytes, optimiser 12 (master weight and two moments in single precision). Activations
    have 2 bytes and are split over tensor-parallel ranks (sequence parallelism); scores are never
    kept (fused attention), so that selective recomputation saves nothing here. A pipeline keeps
    min(pp, microbatches) microbatches, interleaving (pp - 1) / (pp vpp) more. Left out: logits,
    communication buffers, fragmentation, 8- and 4-bit copies.

    References
    ----------
    Rajbhandari et al., ZeRO, 2020; Korthikanti et al., Reducing Activation Recomputation in Large
    Transformer Models, 2022.

    Examples
    --------
    >>> from gbviz.jobs.models import model_named
    >>> from gbviz.jobs.spec import Parallelism
    >>> held = memory(model_named("llama3-405b"), Parallelism(tp=4, cp=2, pp=8, dp=8, vpp=8))
    >>> round(held.weights / 1e9, 1), round(held.total / 1e9)
    (25.4, 135)
    """
    mine = rank_parameters(model, degrees)
    ranks = degrees.cp * degrees.dp
    sharded = mine.common / ranks + mine.experts / max(ranks / degrees.ep, 1.0)
    return Memory(
        weights=2.0 * (sharded if zero >= 3 else mine.total),
        gradients=gradient_bytes * (sharded if zero >= 2 else mine.total),
        optimiser=12.0 * (sharded if zero >= 1 else mine.total),
        activations=_activation_bytes(
            model,
            degrees,
            micro * (seq or model.seq) / (degrees.cp * degrees.tp),
            min(degrees.pp, microbatches or degrees.pp),
            full=recompute == "full",
        ),
    )


def _activation_bytes(
    model: Transformer, degrees: Parallelism, tokens: float, in_flight: int, *, full: bool
) -> float:
    """Bytes that backward needs: of `tokens` of each microbatch in flight."""
    sparse = moe_layers(model)
    layers = {False: model.layers - sparse, True: sparse}
    each = {kind: _kept(model, sparse=kind) for kind, count in layers.items() if count}
    kept = sum(layers[kind] * size for kind, size in each.items())
    if full:
        kept = model.layers * model.hidden
    more = (degrees.pp - 1) / (degrees.pp * degrees.vpp) if degrees.vpp > 1 else 0.0
    held = 2.0 * tokens * kept / degrees.pp * in_flight * (1 + more)
    return held + (2.0 * tokens * max(each.values()) if full else 0.0)


def _kept(model: Transformer, *, sparse: bool) -> int:
    """Numbers of one token that one layer keeps for backward."""
    qk, value = head_dims(model)
    attention = model.heads * (qk + value) + kv_heads(model) * (qk + value)
    if model.kv_rank is not None:
        attention += (model.q_rank or 0) + kv_cache_elements(model)
    ffn = 3 if model.gated else 2
    if not sparse:
        return 4 * model.hidden + attention + ffn * model.ffn
    width = ffn * (model.expert_ffn or model.ffn)
    passed = model.top_k + model.shared_experts
    return (3 + passed) * model.hidden + attention + passed * width
