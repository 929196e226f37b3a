"""An inference job: prefill and decode pools, and key-value caches sent between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.jobs.edge import Talk
from gbviz.jobs.phases import collective_edge, flow_edge, lay
from gbviz.jobs.training import model_of
from gbviz.jobs.transformer import forward_flops, kv_cache_elements, moe_layers, parameters
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.flows.router import Router
    from gbviz.jobs.edge import Edge
    from gbviz.jobs.phases import Phase
    from gbviz.jobs.spec import InferenceJob, Pool, Transformer
    from gbviz.topology.fabric import Bools, Ints

_ACTIVATION_BYTES = 2.0
WEIGHT_BYTES = {"fp4": 0.5, "fp8": 1.0, "bf16": 2.0}


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass of a group through the model: seconds of compute and of memory."""

    compute_s: float
    hbm_s: float


@dataclass(frozen=True, slots=True)
class Served:
    """What an inference job delivers.

    Parameters
    ----------
    tokens_per_s
        Output tokens of all groups.
    tpot_s
        Time per output token of one request.
    ttft_s
        Time to the first token: prefill, and the cache's way to the decode pool.
    limited_by
        ``HBM``, ``compute``, ``NVLink`` or ``InfiniBand``.
    requests_per_s
        Requests that the slowest part sustains.
    """

    tokens_per_s: float
    tpot_s: float
    ttft_s: float
    limited_by: str
    requests_per_s: float


@dataclass(frozen=True, slots=True, eq=False)
class InferenceRun:
    """An inference job as a thing that steps: a step is one request of the whole job.

    Phases are, in order: tensor and expert exchange of a prefill pass, of a decode pass, and the
    cache of one request, spread over all pairs of groups. `classes` says which each is.
    """

    job: InferenceJob
    phases: tuple[Phase, ...]
    repeats: tuple[float, ...]
    classes: tuple[str, ...]
    times_in_pass: tuple[float, ...]
    prefill: _Pass
    decode: _Pass
    prefill_groups: int
    decode_groups: int
    alone_s: float

    def served(self, seconds: Sequence[float]) -> Served:
        """What the job delivers when its phases take these seconds."""
        return _served(self, tuple(seconds))

    def deliver(self, seconds: tuple[float, ...]) -> Served:
        """`served`, found afresh."""
        spent = {"prefill": 0.0, "decode": 0.0, "kv": 0.0}
        across = dict.fromkeys(spent, 0.0)
        parts = zip(self.classes, seconds, self.times_in_pass, self.phases, strict=True)
        for kind, once, often, phase in parts:
            spent[kind] += once * often
            if len(phase.link):
                across[kind] += once * often
        pre = max(self.prefill.compute_s, self.prefill.hbm_s) + spent["prefill"]
        tpot = max(self.decode.compute_s, self.decode.hbm_s) + spent["decode"]
        rates = {
            "prefill": self.prefill_groups * self.job.prefill.batch / pre,
            "decode": self.decode_groups * self.job.decode.batch / (tpot * self.job.output),
            "kv": 1 / spent["kv"] if spent["kv"] else np.inf,
        }
        slowest = min(rates, key=lambda name: rates[name])
        rate = rates[slowest]
        return Served(
            tokens_per_s=rate * self.job.output,
            tpot_s=tpot,
            ttft_s=pre + self.alone_s,
            limited_by=self._limit(slowest, spent, across),
            requests_per_s=rate,
        )

    def _limit(self, slowest: str, spent: dict[str, float], across: dict[str, float]) -> str:
        one = self.prefill if slowest == "prefill" else self.decode
        if slowest == "kv" or spent[slowest] > max(one.compute_s, one.hbm_s):
            return "InfiniBand" if across[slowest] > spent[slowest] / 2 else "NVLink"
        return "compute" if one.compute_s >= one.hbm_s else "HBM"

    def step_s(self, seconds: Sequence[float]) -> float:
        """Seconds between two requests of the whole job."""
        rate = self.served(seconds).requests_per_s
        return 1 / rate if rate > 0 else np.inf


# The same seconds are asked for where jobs share the fabric, for its figures and its pace.
@lru_cache(maxsize=8)
def _served(run: InferenceRun, seconds: tuple[float, ...]) -> Served:
    return run.deliver(seconds)


def group_size(pool: Pool) -> int:
    """GPUs that together hold the model."""
    return pool.tp * pool.ep


def pools(job: InferenceJob, gpus: Ints, alive: Bools) -> tuple[Ints, Ints]:
    """(groups, size) GPUs of the prefill and of the decode groups that are whole.

    A group with a failed GPU serves nothing. `alive` (n,) is True for live GPUs of `gpus`.
    """
    found = []
    first = 0
    for pool in (job.prefill, job.decode):
        own = slice(first, first + pool.gpus)
        rows = gpus[own].reshape(-1, group_size(pool))
        found.append(rows[alive[own].reshape(rows.shape).all(axis=1)])
        first += pool.gpus
    return found[0], found[1]


def check_pools(job: InferenceJob, gpus: int) -> None:
    """Refuse pools that do not fit their placement, or a model that does not fit its GPUs.

    Raises
    ------
    InputError
        The sum is shown.
    """
    where = f"job {job.name}"
    if job.prefill.gpus + job.decode.gpus != gpus:
        raise InputError(
            f"prefill {job.prefill.gpus:,} + decode {job.decode.gpus:,} ="
            f" {job.prefill.gpus + job.decode.gpus:,} GPUs, and its placement has {gpus:,} for"
            " them",
            where=where,
        )
    model, memory = model_of(job.model), catalogue().value("gpu.hbm_bytes")
    for name, pool in (("prefill", job.prefill), ("decode", job.decode)):
        size = group_size(pool)
        if pool.gpus % size:
            raise InputError(
                f"{name}: tp x ep = {pool.tp} x {pool.ep} = {size} does not divide its"
                f" {pool.gpus:,} GPUs",
                where=where,
            )
        weights = parameters(model).total * WEIGHT_BYTES[job.precision] / size
        length = job.input + (job.output if name == "decode" else 0)
        cache = pool.batch * length * _cache_bytes(job, model) / size
        if weights + cache > memory:
            raise InputError(
                f"{name}: {weights / 1e9:,.0f} GB of weights and {cache / 1e9:,.0f} GB of caches"
                f" a GPU are more than its {memory / 1e9:,.0f} GB",
                where=where,
                hint="use larger groups or smaller batches",
            )


def _cache_bytes(job: InferenceJob, model: Transformer) -> float:
    """Bytes that one token leaves in the cache, all layers."""
    return model.layers * kv_cache_elements(model) * job.kv_bytes


@dataclass(frozen=True, slots=True, eq=False)
class ServingTalk:
    """What the groups of an inference job say to each other.

    Parameters
    ----------
    phases
        In the order of `InferenceRun`; `times` are those in a step.
    times_in_pass
        How often each happens in one pass, or for one request.
    one_cache
        The cache of one request that a single pair of groups passes on.
    prefill_groups, decode_groups
        How many there are.
    """

    phases: tuple[Talk, ...]
    times_in_pass: tuple[float, ...]
    one_cache: Edge
    prefill_groups: int
    decode_groups: int


def inference_talk(by: Router, job: InferenceJob, groups: tuple[Ints, Ints]) -> ServingTalk:
    """Everything that the GPUs of an inference job say to each other.

    Parameters
    ----------
    by
        The fabric under its health.
    job
        What is served.
    groups
        From `pools`: at least one group of each.
    """
    model = model_of(job.model)
    prefill, decode = groups
    phases: list[Talk] = []
    times_in_pass: list[float] = []
    for kind, rows, pool, tokens, shared in (
        ("prefill", prefill, job.prefill, job.input * job.prefill.batch, job.prefill.batch),
        ("decode", decode, job.decode, job.decode.batch, job.decode.batch / job.output),
    ):
        passes = 1 / (len(rows) * shared)  # passes of one group that one request costs
        for edge, often in _exchanges(by, model, rows, pool, tokens, job):
            phases.append(Talk(kind, edge, often * passes))
            times_in_pass.append(often)
    cache = job.input * _cache_bytes(job, model)
    phases.append(Talk("kv", _cache_edge(by, prefill, decode, cache), 1.0))
    return ServingTalk(
        tuple(phases),
        (*times_in_pass, 1.0),
        _cache_edge(by, prefill[:1], decode[:1], cache),
        len(prefill),
        len(decode),
    )


def inference_run(by: Router, job: InferenceJob, talk: ServingTalk, clock: float) -> InferenceRun:
    """An inference job on the fabric under one health.

    Parameters
    ----------
    by
        The fabric under its health and routing mode.
    job
        What is served.
    talk
        What its groups say to each other.
    clock
        Of the slowest GPU.
    """
    model = model_of(job.model)
    return InferenceRun(
        job,
        tuple(lay(one.kind, by, one.edge) for one in talk.phases),
        tuple(one.times for one in talk.phases),
        tuple(one.kind for one in talk.phases),
        talk.times_in_pass,
        _pass(job, model, job.prefill, job.input * job.prefill.batch, job.input, clock),
        _pass(job, model, job.decode, job.decode.batch, job.input + job.output // 2, clock),
        talk.prefill_groups,
        talk.decode_groups,
        lay("kv", by, talk.one_cache).seconds(),
    )


def _pass(
    job: InferenceJob, model: Transformer, pool: Pool, tokens: float, length: int, clock: float
) -> _Pass:
    """One pass of some tokens, each attending to `length` others."""
    facts, size = catalogue(), group_size(pool)
    forward = forward_flops(model, length, causal=tokens > pool.batch)
    peak = facts.value(f"gpu.{job.precision}_dense_pflops") * 1e15
    efficiency = job.efficiency or facts.value(f"training.efficiency_{job.precision}")
    counted = parameters(model)
    touched = 1.0
    if model.experts:
        touched = 1 - (1 - model.top_k / model.experts) ** tokens
    weights = counted.total - counted.experts + counted.experts * touched
    read = weights * WEIGHT_BYTES[job.precision]
    if tokens == pool.batch:
        read += pool.batch * length * _cache_bytes(job, model)
    rate = facts.value("gpu.hbm_GBps") * facts.value("training.hbm_efficiency") * 1e9
    return _Pass(
        tokens * forward.total / (size * peak * efficiency * max(clock, 1e-12)),
        read / (size * rate),
    )


def _exchanges(
    by: Router,
    model: Transformer,
    rows: Ints,
    pool: Pool,
    tokens: float,
    job: InferenceJob,
) -> list[tuple[Edge, float]]:
    """What the GPUs of a group say to each other in one pass, and how often."""
    found: list[tuple[Edge, float]] = []
    shape = rows.reshape(len(rows), pool.ep, pool.tp)
    share = tokens / pool.ep
    if pool.tp > 1:
        size = share * model.hidden * _ACTIVATION_BYTES
        edge = collective_edge(by, shape.reshape(-1, pool.tp), "all_reduce", size)
        found.append((edge, 2.0 * model.layers))
    if pool.ep > 1 and model.experts:
        each = min(WEIGHT_BYTES[job.precision] * 2, 2.0) + _ACTIVATION_BYTES
        size = share / pool.tp * model.hidden * model.top_k * each
        experts = shape.transpose(0, 2, 1).reshape(-1, pool.ep)
        edge = collective_edge(by, experts, "all_to_all", size)
        found.append((edge, float(moe_layers(model))))
    return found


def _cache_edge(by: Router, prefill: Ints, decode: Ints, cache: float) -> Edge:
    """The cache of one request, spread evenly over the pairs of groups that take turns."""
    turns = int(np.lcm(len(prefill), len(decode)))
    turns = min(turns, len(prefill) * len(decode), 4 * max(len(prefill), len(decode)))
    one, two = np.arange(turns) % len(prefill), np.arange(turns) % len(decode)
    width = max(prefill.shape[1], decode.shape[1])
    source = prefill[one][:, np.arange(width) % prefill.shape[1]]
    target = decode[two][:, np.arange(width) % decode.shape[1]]
    return flow_edge(by, source.reshape(-1), target.reshape(-1), cache / (turns * width))
