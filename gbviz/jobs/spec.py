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
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Placement(BaseModel):
    """Where a job runs: one of `racks`, `gpus` and `vms`; none of them is the whole cluster.

    `racks` is a selector of racks, `gpus_per_rack` how many of each (all by default; whole trays
    first), `gpus` a selector or list of selectors of GPUs, racks or trays. `vms` is a number of
    virtual machines of one compute tray each, taken from the first rack that no earlier job uses.
    `spares` are GPUs of the placement, taken from its end, that hold no rank until one is lost.
    `order` is the order of ranks, the fastest-varying dimension first.
    """

    model_config = _FROZEN

    racks: str | None = None
    gpus_per_rack: Count | None = None
    gpus: str | tuple[str, ...] | None = None
    vms: Count | None = None
    spares: Annotated[int, Field(ge=0, strict=True)] = 0
    order: str = "tp-cp-ep-dp-pp"
    nic_loss: NicLoss = "tray"


class Transformer(BaseModel):
    """A transformer's shape. Dense without `experts`; attention is grouped-query or latent.

    With `kv_rank` attention is multi-head latent attention: queries through `q_rank`, keys and
    values through `kv_rank`, `rope_dim` of each head's key shared by all heads.
    """

    model_config = _FROZEN

    layers: Count
    hidden: Count
    heads: Count
    kv_heads: Count | None = None
    head_dim: Count | None = None
    ffn: Count
    gated: Annotated[bool, Field(strict=True)] = True
    vocab: Count
    seq: Count = 8192
    tied_embeddings: Annotated[bool, Field(strict=True)] = False
    experts: Annotated[int, Field(ge=0, strict=True)] = 0
    top_k: Annotated[int, Field(ge=0, strict=True)] = 0
    shared_experts: Annotated[int, Field(ge=0, strict=True)] = 0
    expert_ffn: Count | None = None
    dense_layers: Annotated[int, Field(ge=0, strict=True)] = 0
    q_rank: Count | None = None
    kv_rank: Count | None = None
    rope_dim: Count | None = None
    v_head_dim: Count | None = None


class Parallelism(BaseModel):
    """Degrees of tensor, context, pipeline, data and expert parallelism.

    GPUs = tp x cp x pp x dp. Experts are spread over `ep` ranks of the cp x dp ranks of a stage.
    `vpp` is the number of model chunks of a pipeline stage (interleaving).
    """

    model_config = _FROZEN

    tp: Count = 1
    cp: Count = 1
    pp: Count = 1
    dp: Count = 1
    ep: Count = 1
    vpp: Count = 1

    @property
    def gpus(self) -> int:
        """Ranks of the job."""
        return self.tp * self.cp * self.pp * self.dp


class Batch(BaseModel):
    """Sequences of a step (`global`) and of a microbatch (`micro`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    total: Count = Field(alias="global")
    micro: Count = 1


class Checkpoint(BaseModel):
    """How often a job saves, how long that blocks it, and how long a restart takes."""

    model_config = _FROZEN

    interval: Annotated[Seconds, Field(gt=0)] = 1800.0
    write: Annotated[Seconds, Field(ge=0)] = 60.0
    restart: Annotated[Seconds, Field(ge=0)] = 600.0


class TrainingJob(Placement):
    """A synchronous training run of a dense or mixture-of-experts transformer.

    `efficiency` is the part of the GPU's dense peak that its matrix products reach, `overlap` the
    part of tensor- and context-parallel communication that compute hides; None = the catalogue's.
    `tokens` is a target: the result says in how many days.
    """

    kind: Literal["training"]
    name: Name
    model: str | Transformer
    parallelism: Parallelism
    batch: Batch
    seq: Count | None = None
    precision: Precision = "fp8"
    recompute: Literal["none", "selective", "full"] = "none"
    zero: Annotated[int, Field(ge=0, le=3, strict=True)] = 1
    efficiency: Annotated[float, Field(gt=0, le=1, strict=True)] | None = None
    overlap: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    checkpoint: Checkpoint = Checkpoint()
    tokens: Annotated[float, Field(gt=0, le=1e30, strict=True)] | None = None
    detection: Annotated[Seconds, Field(ge=0)] = 30.0


class Pool(BaseModel):
    """One pool of an inference job: groups of tp x ep GPUs, each holding the whole model."""

    model_config = _FROZEN

    gpus: Count
    tp: Count = 1
    ep: Count = 1
    batch: Count = 1


class InferenceJob(Placement):
    """Serving a transformer: a prefill pool, a decode pool, and KV caches sent between them.

    The prefill pool takes the first GPUs of the placement, the decode pool the next. Requests have
    `input` and `output` tokens.
    """

    kind: Literal["inference"]
    name: Name
    model: str | Transformer
    prefill: Pool
    decode: Pool
    input: Count = 2048
    output: Count = 512
    precision: Precision = "fp4"
    kv_bytes: Annotated[float, Field(gt=0, le=8, strict=True)] = 1.0
    efficiency: Annotated[float, Field(gt=0, le=1, strict=True)] | None = None


class CollectiveJob(Placement):
    """One collective over and over, as nccl-tests runs it. `size` is the whole buffer."""

    kind: Literal["collective"]
    name: Name
    op: Literal[
        "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "send_recv"
    ]
    size: Annotated[Bytes, Field(ge=1)]
    algorithm: Algorithm = "auto"


class TrafficSpec(Placement):
    """Independent flows: a pattern, or a list of `GPU>GPU` pairs."""

    kind: Literal["traffic"]
    name: Name
    pattern: str = "permutation"
    argument: str | int | None = None
    pairs: tuple[str, ...] | None = None
    demand: Annotated[GBps, Field(gt=0)] | None = None


Job = Annotated[
    TrainingJob | InferenceJob | CollectiveJob | TrafficSpec, Field(discriminator="kind")
]
