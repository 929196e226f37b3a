"""What a transformer weighs and computes: parameters and FLOP, of a model and of a GPU.

Biases, norms and position embeddings are left out: less than 0.1 % of any large model.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from gbviz.jobs.spec import Parallelism, Transformer

Recompute = Literal["none", "selective", "full"]


@dataclass(frozen=True, slots=True)
class Parameters:
    """How many weights a model has, by where they sit.

    Parameters
    ----------
    embedding
        Table of input tokens; 0 where it is tied to the head.
    head
        Projection onto the vocabulary.
    layers
        All layers without their routed experts.
    experts
        All routed experts of all layers.
    active_experts
        Those of them that one token passes through.
    """

    embedding: int
    head: int
    layers: int
    experts: int
    active_experts: int

    @property
    def total(self) -> int:
        """All weights."""
        return self.embedding + self.head + self.layers + self.experts

    @property
    def active(self) -> int:
        """Weights that one token is multiplied with: the input table is looked up only."""
        return self.head + self.layers + self.active_experts


def parameters(model: Transformer) -> Parameters:
    """Weights of a model.

    Examples
    --------
    >>> from gbviz.jobs.models import model_named
    >>> parameters(model_named("llama3-405b")).total
    405849243648
    >>> mixture = parameters(model_named("deepseek-v3"))
    >>> round(mixture.total / 1e9, 1), round(mixture.active / 1e9, 1)
    (671.0, 36.6)
    """
    sparse = moe_layers(model)
    expert = _ffn(model, model.expert_ffn or model.ffn)
    always = model.hidden * model.experts + model.shared_experts * expert
    dense = (model.layers - sparse) * _ffn(model, model.ffn)
    table = model.vocab * model.hidden
    return Parameters(
        embedding=0 if model.tied_embeddings else table,
        head=table,
        layers=model.layers * attention_parameters(model) + dense + sparse * always,
        experts=sparse * model.experts * expert,
        active_experts=sparse * model.top_k * expert,
    )


def moe_layers(model: Transformer) -> int:
    """Layers with experts: all but the first `dense_layers`; 0 of a dense model."""
    return model.layers - model.dense_layers if model.experts else 0


def head_dims(model: Transformer) -> tuple[int, int]:
    """Sizes of one head's query or key, and of its value.

    Examples
    --------
    >>> from gbviz.jobs.models import model_named
    >>> head_dims(model_named("llama3-405b")), head_dims(model_named("deepseek-v3"))
    ((128, 128), (192, 128))
    """
    size = model.head_dim or model.hidden // model.heads
    if model.kv_rank is None:
        return size, size
    return size + (model.rope_dim or 0), model.v_head_dim or size


def attention_parameters(model: Transformer) -> int:
    """Weights of one layer's attention projections.

    Notes
    -----
    Latent attention: queries down to `q_rank` and up to all heads (straight up without `q_rank`);
    keys and values down to `kv_rank` and up; one shared rotary key; the output projection.

    References
    ----------
    DeepSeek-AI, DeepSeek-V2, 2024, section 2.1.
    """
    qk, value = head_dims(model)
    out = model.heads * value * model.hidden
    if model.kv_rank is None:
        return model.hidden * (model.heads * qk + kv_heads(model) * (qk + value)) + out
    queries = model.heads * qk
    up_q = model.q_rank * (model.hidden + queries) if model.q_rank else model.hidden * queries
    rope = model.rope_dim or 0
    up_kv = model.kv_rank * model.heads * (qk - rope + value)
    return up_q + model.hidden * (model.kv_rank + rope) + up_kv + out


def kv_cache_elements(model: Transformer) -> int:
    """Numbers that one token leaves in the key-value cache of one layer.

    Examples
    --------
    >>> from gbviz.jobs.models import model_named
    >>> kv_cache_elements(model_named("llama3-405b")), kv_cache_elements(model_named("deepseek-v3"))
    (2048, 576)
    """
    if model.kv_rank is not None:
        return model.kv_rank + (model.rope_dim or 0)
    return 2 * kv_heads(model) * head_dims(model)[0]


def kv_heads(model: Transformer) -> int:
    """Heads of keys and values: as many as of queries unless grouped."""
    return model.kv_heads or model.heads


def _ffn(model: Transformer, width: int) -> int:
    return (3 if model.gated else 2) * model.hidden * width


@dataclass(frozen=True, slots=True)
class ForwardFlops:
    """FLOP of one token's forward pass.

    Parameters
    ----------
    products
        Matrix products with the weights of all layers.
    scores
        Attention scores and their products with the values.
    head
        Projection onto the vocabulary.
    """

    products: float
    scores: float
    head: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.products + self.scores + self.head


def forward_flops(
    model: Transformer, seq: int | None = None, *, causal: bool = True
) -> ForwardFlops:
    """FLOP of one token's forward pass.

    Parameters
    ----------
    model
        Active experts only are counted.
    seq
        Tokens that attend to each other; None = the model's.
    causal
        True counts the half of the scores that a causal mask keeps, as fused kernels compute it;
        False all of them, as MLPerf and older papers count. At 8,192 tokens the two differ by 4 %.

    Examples
    --------
    >>> from gbviz.jobs.models import model_named
    >>> forward_flops(model_named("llama3-70b")).total * 3
    449222541312.0
    """
    counted = parameters(model)
    qk, value = head_dims(model)
    pairs = (seq or model.seq) * (0.5 if causal else 1.0)
    return ForwardFlops(
        products=2.0 * (counted.active - counted.head),
        scores=2.0 * model.layers * pairs * model.heads * (qk + value),
        head=2.0 * counted.head,
    )


def training_flops(
    model: Transformer,
    seq: int | None = None,
    *,
    recompute: Recompute = "none",
    causal: bool = True,
) -> float:
    """FLOP of one token, forward and backward.

    Parameters
    ----------
    model, seq, causal
        As in `forward_flops`.
    recompute
        What backward computes again: the scores (``"selective"``) or all layers (``"full"``).
        ``"none"`` is what MFU counts.

    Examples
    --------
    MLPerf's own constant is 21,508 TFLOP for a sequence of Llama 3.1 405B.

    >>> from gbviz.jobs.models import model_named
    >>> per_token = training_flops(model_named("llama3-405b"), causal=False)
    >>> round(per_token * 8192 / 1e12)
    21507
    """
    forward = forward_flops(model, seq, causal=causal)
    products = 4 if recompute == "full" else 3
    scores = 3 if recompute == "none" else 4
    return products * forward.products + scores * forward.scores + 3 * forward.head


@dataclass(frozen=True, slots=True)
class RankParameters:
    """Weights that one GPU holds, not sharded over data-parallel ranks.

    Parameters
    ----------
    common
        Those that all cp x dp ranks of a stage hold.
    experts
        Routed experts: cp x dp / ep ranks hold the same.
    """

    common: float
    experts: float

    @property
    def total(self) -> float:
        """All weights of the GPU."""
        return self.common + self.experts


def rank_parameters(model: Transformer, degrees: Parallelism) -> RankParameters:
    """Weights of an average GPU: tensor parallelism splits every matrix, experts included.

    Examples
    --------
    >>> from gbviz.jobs.models import model_named
    >>> from gbviz.jobs.spec import Parallelism
    >>> rank_parameters(model_named("llama3-405b"), Parallelism(tp=4, pp=8)).total / 1e9
    12.682788864
    """
    counted = parameters(model)
    ranks = degrees.tp * degrees.pp
    return RankParameters(
        common=(counted.total - counted.experts) / ranks,
        experts=counted.experts / (ranks * degrees.ep),
    )


def stage_parameters(model: Transformer, pp: int) -> list[int]:
    """Weights of each of `pp` pipeline stages.

    Layers are spread as evenly as they go, in order; the first stage holds the embedding, the last
    the head. A tied table sits on both ends where these are not the same stage.

    Examples
    --------
    >>> from gbviz.jobs.models import model_named
    >>> [round(weights / 1e9, 2) for weights in stage_parameters(model_named("llama3-8b"), 4)]
    [2.27, 1.74, 1.74, 2.27]
    """
    counted = parameters(model)
    sparse = moe_layers(model)
    attention = attention_parameters(model)
    dense_layer = attention + _ffn(model, model.ffn)
    sparse_all = counted.layers + counted.experts - (model.layers - sparse) * dense_layer
    each = [dense_layer] * (model.layers - sparse) + [sparse_all // max(sparse, 1)] * sparse
    bounds = [stage * model.layers // pp for stage in range(pp + 1)]
    stages = [sum(each[a:b]) for a, b in itertools.pairwise(bounds)]
    stages[-1] += counted.head
    stages[0] += counted.head if model.tied_embeddings and pp > 1 else counted.embedding
    return stages


def sc21_parameters(layers: int, hidden: int, vocab: int, seq: int) -> float:
    """Weights of a GPT by equation 2 of Narayanan et al., biases and positions included.

    References
    ----------
    Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using
    Megatron-LM, SC 2021.

    Examples
    --------
    >>> round(sc21_parameters(24, 2304, 51200, 2048) / 1e9, 3)
    1.652
    """
    small = 13 / (12 * hidden) + (vocab + seq) / (12 * layers * hidden)
    return 12 * layers * hidden**2 * (1 + small)


def sc21_flops(layers: int, hidden: int, vocab: int, seq: int, batch: int) -> float:
    """FLOP of a step of a GPT with full recomputation by equation 3 of Narayanan et al.

    Examples
    --------
    >>> round(sc21_flops(24, 2304, 51200, 2048, 512) / 1e15, 3)
    15.467
    """
    small = seq / (6 * hidden) + vocab / (16 * layers * hidden)
    return 96 * batch * seq * layers * hidden**2 * (1 + small)


def sc21_training_s(tokens: float, weights: float, gpus: int, flops_per_gpu: float) -> float:
    """Seconds of a whole training run by equation 4 of Narayanan et al.

    Parameters
    ----------
    tokens, weights, gpus
        Of the run, the model, the cluster.
    flops_per_gpu
        FLOP/s that a GPU reaches, recomputation counted.

    Examples
    --------
    GPT-3 on 1,024 A100 at 140 TFLOP/s; the paper prints 34 days.

    >>> round(sc21_training_s(300e9, 175e9, 1024, 140e12) / 86400, 1)
    33.9
    """
    return 8 * tokens * weights / (gpus * flops_per_gpu)
