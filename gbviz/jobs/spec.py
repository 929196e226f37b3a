"""What a job is, as the user states it: values, checked field by field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from gbviz.units import Bytes, GBps, Seconds

_FROZEN = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

Count = Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
Precision = Literal["fp4", "fp8", "bf16"]
Algorithm = Literal["auto", "ring", "tree", "nvls", "hierarchical"]
NicLoss = Literal["tray", "rack", "abort"]
# No control characters: nobody means them, and files and terminals take some for commands.
_PLAIN = r"^[^\x00-\x1f\x7f-\x9f]*$"
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=_PLAIN)]
Word = Annotated[str, Field(max_length=200, pattern=_PLAIN)]
Selector = Annotated[str, Field(min_length=1, max_length=500, pattern=_PLAIN)]
# Lists in which one wrong entry is enough to be told of.
Selectors = Annotated[tuple[Selector, ...], Field(fail_fast=True, max_length=100_000)]
Pair = Annotated[str, Field(max_length=500, pattern=_PLAIN)]
Pairs = Annotated[tuple[Pair, ...], Field(fail_fast=True, max_length=100_000)]


class Placement(BaseModel):
    """Where a job runs: one of `racks`, `gpus` and `vms`; none of them is the whole cluster."""

    model_config = _FROZEN

    racks: Selector | None = None
    """Selector of racks, such as `rack-[0-31]`."""
    gpus_per_rack: Count | None = None
    """GPUs of each of these racks, whole trays first; by default all."""
    gpus: Selector | Selectors | None = None
    """Selector, or list of selectors, of GPUs, trays or racks; ranks follow their order."""
    vms: Count | None = None
    """Virtual machines of one compute tray each: the first of which no earlier job uses a GPU."""
    spares: Annotated[int, Field(ge=0, strict=True)] = 0
    """GPUs at the end of the placement that hold no rank until they replace a lost GPU."""
    order: Word = "tp-cp-ep-dp-pp"
    """Order in which ranks are laid over the GPUs, the fastest-varying dimension first."""
    nic_loss: NicLoss = "tray"
    """What a GPU without its NIC does: send by the NICs of its tray, by those of its whole rack, or
    abort the job. Traffic always sends by its tray."""


class Transformer(BaseModel):
    """A transformer's shape. Dense without `experts`; attention is grouped-query or latent."""

    model_config = _FROZEN

    layers: Count
    """Transformer layers."""
    hidden: Count
    """Width of the residual stream."""
    heads: Count
    """Attention heads, those of queries."""
    kv_heads: Count | None = None
    """Heads of keys and values (grouped-query attention); by default as many as `heads`."""
    head_dim: Count | None = None
    """Size of a head; by default `hidden` / `heads`."""
    ffn: Count
    """Inner width of the feed-forward block."""
    gated: Annotated[bool, Field(strict=True)] = True
    """Whether feed-forward blocks have a gate: three matrices (SwiGLU) instead of two."""
    vocab: Count
    """Tokens of the vocabulary."""
    seq: Count = 8192
    """Tokens of a sequence, where the job does not say."""
    tied_embeddings: Annotated[bool, Field(strict=True)] = False
    """Whether input embedding and output head are one matrix."""
    experts: Annotated[int, Field(ge=0, strict=True)] = 0
    """Routed experts of a layer; 0 = dense."""
    top_k: Annotated[int, Field(ge=0, strict=True)] = 0
    """Routed experts that a token goes to; needed with `experts`."""
    shared_experts: Annotated[int, Field(ge=0, strict=True)] = 0
    """Experts that every token goes to besides."""
    expert_ffn: Count | None = None
    """Inner width of one expert; by default `ffn`."""
    dense_layers: Annotated[int, Field(ge=0, strict=True)] = 0
    """First layers that have no experts."""
    q_rank: Count | None = None
    """Latent attention: rank through which queries go; by default straight up."""
    kv_rank: Count | None = None
    """Rank through which keys and values go; stating it makes attention multi-head latent."""
    rope_dim: Count | None = None
    """Latent attention: rotary part of a key, shared by all heads; by default none."""
    v_head_dim: Count | None = None
    """Latent attention: size of a head's value; by default that of a head."""


class Parallelism(BaseModel):
    """Degrees of parallelism. tp x cp x pp x dp must be the GPUs of the job, spares left out."""

    model_config = _FROZEN

    tp: Count = 1
    """Tensor parallelism: GPUs that share every layer; divides the heads."""
    cp: Count = 1
    """Context parallelism: GPUs that share a sequence."""
    pp: Count = 1
    """Pipeline stages."""
    dp: Count = 1
    """Data parallelism: replicas of the model."""
    ep: Count = 1
    """Expert parallelism: ranks of the cp x dp ranks of a stage that share its experts."""
    vpp: Count = 1
    """Chunks of layers of a pipeline stage (interleaving)."""

    @property
    def gpus(self) -> int:
        """Ranks of the job."""
        return self.tp * self.cp * self.pp * self.dp


class Batch(BaseModel):
    """Sequences of a training step."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    total: Count = Field(alias="global")
    """Sequences of a step, of all replicas together; a multiple of dp x micro."""
    micro: Count = 1
    """Sequences of a microbatch."""


class Checkpoint(BaseModel):
    """How often a training job saves, and what a restart takes."""

    model_config = _FROZEN

    interval: Annotated[Seconds, Field(gt=0)] = 1800.0
    """Work between two checkpoints; an abort costs half of it on average."""
    write: Annotated[Seconds, Field(ge=0)] = 60.0
    """How long writing one blocks the job."""
    restart: Annotated[Seconds, Field(ge=0)] = 600.0
    """From an abort until the job trains again."""


class TrainingJob(Placement):
    """A synchronous training run of a dense or mixture-of-experts transformer."""

    kind: Literal["training"]
    """Kind of job: `training`."""
    name: Name
    """What the job is called, unlike any other."""
    model: Word | Transformer
    """A model that `gbviz presets` lists, or the shape of your own."""
    parallelism: Parallelism
    """How the model is split over the GPUs."""
    batch: Batch
    """Sequences of a step."""
    seq: Count | None = None
    """Tokens of a sequence; by default the model's."""
    precision: Precision = "fp8"
    """Number format of the matrix products."""
    recompute: Literal["none", "selective", "full"] = "none"
    """What backward computes again instead of keeping it: nothing, attention, or whole layers."""
    zero: Annotated[int, Field(ge=0, le=3, strict=True)] = 1
    """What replicas share instead of each holding it: the optimiser (1), gradients too (2), weights
    too (3)."""
    efficiency: Annotated[float, Field(gt=0, le=1, strict=True)] | None = None
    """Part of the GPU's dense peak that matrix products reach; by default
    `training.efficiency_fp4`, `training.efficiency_fp8` or `training.efficiency_bf16`."""
    overlap: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    """Part of tensor- and context-parallel communication that compute hides; by default
    `training.overlap`."""
    checkpoint: Checkpoint = Checkpoint()
    """How often it saves, and what a restart takes."""
    tokens: Annotated[float, Field(gt=0, le=1e30, strict=True)] | None = None
    """Tokens to train on: results then say in how many days; by default it goes on."""
    detection: Annotated[Seconds, Field(ge=0)] = 30.0
    """How long the job hangs before it notices a lost GPU."""


class Pool(BaseModel):
    """One pool of an inference job: groups of tp x ep GPUs, each holding the whole model."""

    model_config = _FROZEN

    gpus: Count
    """GPUs of the pool, a multiple of tp x ep."""
    tp: Count = 1
    """Tensor parallelism within a group."""
    ep: Count = 1
    """Expert parallelism within a group."""
    batch: Count = 1
    """Requests that a group works on at once."""


class InferenceJob(Placement):
    """Serving a transformer: a prefill pool, a decode pool, and KV caches sent between them."""

    kind: Literal["inference"]
    """Kind of job: `inference`."""
    name: Name
    """What the job is called, unlike any other."""
    model: Word | Transformer
    """A model that `gbviz presets` lists, or the shape of your own."""
    prefill: Pool
    """The pool that reads prompts: the first GPUs of the placement."""
    decode: Pool
    """The pool that writes answers: the next GPUs of the placement."""
    input: Count = 2048
    """Tokens of a prompt."""
    output: Count = 512
    """Tokens of an answer."""
    precision: Precision = "fp4"
    """Number format of weights and matrix products."""
    kv_bytes: Annotated[float, Field(gt=0, le=8, strict=True)] = 1.0
    """Bytes of each number in the key-value cache."""
    efficiency: Annotated[float, Field(gt=0, le=1, strict=True)] | None = None
    """Part of the GPU's dense peak that matrix products reach; by default
    `training.efficiency_fp4`, `training.efficiency_fp8` or `training.efficiency_bf16`."""


class CollectiveJob(Placement):
    """One collective over and over, as nccl-tests runs it."""

    kind: Literal["collective"]
    """Kind of job: `collective`."""
    name: Name
    """What the job is called, unlike any other."""
    op: Literal[
        "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "send_recv"
    ]
    """Which collective."""
    size: Annotated[Bytes, Field(ge=1)]
    """The whole buffer of a rank."""
    algorithm: Algorithm = "auto"
    """How it is done. `tree` and `nvls` (reduction in the switches of one rack) are for
    `all_reduce`; `auto` takes what suits."""


class TrafficSpec(Placement):
    """Independent flows: a pattern, or a list of `GPU>GPU` pairs."""

    kind: Literal["traffic"]
    """Kind of job: `traffic`."""
    name: Name
    """What the job is called, unlike any other."""
    pattern: Word = "permutation"
    """Who sends to whom."""
    argument: Annotated[str, Field(max_length=100_000, pattern=_PLAIN)] | int | None = None
    """What the pattern takes: a number of GPUs or flows, or a GPU; by default the pattern's own."""
    pairs: Pairs | None = None
    """With `pattern: pairs`: the flows, each as `GPU>GPU`."""
    demand: Annotated[GBps, Field(gt=0)] | None = None
    """What each flow wants at most; by default as much as it can get."""


Job = Annotated[
    TrainingJob | InferenceJob | CollectiveJob | TrafficSpec, Field(discriminator="kind")
]
