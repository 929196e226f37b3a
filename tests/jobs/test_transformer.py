from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.jobs.memory import memory
from gbviz.jobs.models import model_named
from gbviz.jobs.spec import Parallelism, Transformer
from gbviz.jobs.transformer import (
    Recompute,
    attention_parameters,
    forward_flops,
    head_dims,
    kv_cache_elements,
    parameters,
    rank_parameters,
    sc21_flops,
    sc21_parameters,
    sc21_training_s,
    stage_parameters,
    training_flops,
)
from tests.oracle_cases import agrees, exact

MODES: tuple[Recompute, ...] = ("none", "selective", "full")
STARTS = ("llama", "sc21_eq")

dense = st.builds(
    Transformer,
    layers=st.integers(1, 200),
    hidden=st.integers(1, 64).map(lambda n: 128 * n),
    heads=st.sampled_from([1, 8, 64]),
    kv_heads=st.sampled_from([None, 1, 8]),
    head_dim=st.sampled_from([None, 64, 128]),
    ffn=st.integers(1, 200_000),
    gated=st.booleans(),
    vocab=st.integers(1, 300_000),
    seq=st.integers(1, 200_000),
    tied_embeddings=st.booleans(),
)
sparse = st.builds(
    lambda model, experts, top_k, shared, width, first: model.model_copy(
        update={
            "experts": experts,
            "top_k": min(top_k, experts),
            "shared_experts": shared,
            "expert_ffn": width,
            "dense_layers": min(first, model.layers),
        }
    ),
    dense,
    st.integers(1, 256),
    st.integers(1, 8),
    st.integers(0, 2),
    st.sampled_from([None, 2048]),
    st.integers(0, 5),
)
latent = st.builds(
    lambda model, q, kv, rope, value: model.model_copy(
        update={"q_rank": q, "kv_rank": kv, "rope_dim": rope, "v_head_dim": value}
    ),
    sparse,
    st.sampled_from([None, 1536]),
    st.integers(1, 1024),
    st.sampled_from([None, 64]),
    st.sampled_from([None, 96]),
)
any_model = dense | sparse | latent
shapes = st.builds(
    Parallelism,
    tp=st.sampled_from([1, 2, 8]),
    cp=st.sampled_from([1, 4]),
    pp=st.integers(1, 16),
    dp=st.sampled_from([8, 64]),
    ep=st.sampled_from([1, 8]),
    vpp=st.integers(1, 4),
)


def gpt(layers: int, hidden: int, vocab: int, seq: int) -> Transformer:
    return Transformer(
        layers=layers,
        hidden=hidden,
        heads=1,
        ffn=4 * hidden,
        gated=False,
        vocab=vocab,
        seq=seq,
        tied_embeddings=True,
    )


def llama(said: dict[str, Any]) -> Transformer:
    return Transformer(
        layers=said["L"],
        hidden=said["h"],
        ffn=said["ff"],
        heads=said["nh"],
        kv_heads=said["nkv"],
        vocab=said["V"],
        gated=said["swiglu"],
        seq=said.get("seq", 8192),
    )


def ours(case: dict[str, Any]) -> float:
    name, said = case["id"], case["inputs"]
    if name == "llama405_params":
        return parameters(llama(said)).total
    if name == "llama70_flop_per_token":
        return training_flops(llama(said), causal=said["causal"])
    if "eq2" in name:
        return sc21_parameters(said["L"], said["h"], said["V"], said["s"]) / 1e9
    if "eq3" in name:
        return sc21_flops(said["L"], said["h"], said["V"], said["s"], said["B"])
    return sc21_training_s(said["T"], said["P"], said["n"], said["X"]) / 86400


@pytest.mark.parametrize(
    "case", exact("training_flops_bytes", *STARTS), ids=lambda case: case["id"]
)
def test_oracle(case: dict[str, Any]) -> None:
    assert agrees(case, ours(case))


def test_published_flop_per_token() -> None:
    """Model FLOP over tokens of Megatron-Bridge's tables (25.11, 26.06): causal, no recompute."""
    published = {"deepseek-v3": 1088e12 / 4357, "qwen3-235b-a22b": 907e12 / 6131}
    for name, flops in published.items():
        assert training_flops(model_named(name), 4096) == pytest.approx(flops, rel=0.005)
    flops = training_flops(model_named("llama3-405b"), 8192)
    assert flops == pytest.approx(2646e12 / 1048, rel=0.001)


def test_conventions_differ_by_four_percent_at_8k() -> None:
    model = model_named("llama3-405b")
    ratio = training_flops(model, 8192, causal=False) / training_flops(model, 8192)
    assert ratio == pytest.approx(1.04, abs=0.003)
    far = training_flops(model, 131072, causal=False) / training_flops(model, 131072)
    assert far > 1.35


def test_latent_attention_by_hand() -> None:
    """DeepSeek-V3: 7168 to 1536 to 128 heads of 192, 7168 to 512 + 64, 512 to 128 x 256, out."""
    model = model_named("deepseek-v3")
    by_hand = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    assert attention_parameters(model) == by_hand == 187_105_280
    assert head_dims(model) == (192, 128)
    assert forward_flops(model, 4096, causal=False).scores == 61 * 2 * 4096 * 128 * (192 + 128)
    straight = model.model_copy(update={"q_rank": None})
    assert attention_parameters(straight) - by_hand == 7168 * 128 * 192 - 1536 * (7168 + 128 * 192)


def test_derived_defaults() -> None:
    short = {"layers": 2, "hidden": 512, "heads": 8, "ffn": 2048, "vocab": 1000}
    plain = Transformer.model_validate(short)
    spelt = Transformer.model_validate({**short, "kv_heads": 8, "head_dim": 64})
    assert parameters(plain) == parameters(spelt)
    assert forward_flops(plain) == forward_flops(spelt)
    assert kv_cache_elements(plain) == 2 * 8 * 64
    narrow = plain.model_copy(update={"experts": 4, "top_k": 1, "expert_ffn": None})
    assert parameters(narrow).experts == 2 * 4 * 3 * 512 * 2048


def test_every_expert_active_is_a_dense_model_with_routers() -> None:
    model = model_named("mixtral-8x22b")
    everyone = parameters(model.model_copy(update={"top_k": 8}))
    assert everyone.active_experts == everyone.experts
    one = parameters(model.model_copy(update={"experts": 1, "top_k": 1}))
    plain = parameters(model.model_copy(update={"experts": 0, "top_k": 0}))
    assert one.total - plain.total == 56 * 6144


@given(any_model)
def test_parameters_add_up(model: Transformer) -> None:
    counted = parameters(model)
    assert counted.active <= counted.total
    assert counted.total - counted.active == (
        counted.embedding + counted.experts - counted.active_experts
    )
    forward = forward_flops(model)
    assert forward.products + forward.head == pytest.approx(2 * counted.active)
    assert forward.total == forward.products + forward.scores + forward.head


@given(any_model, st.integers(1, 20))
def test_stages_hold_the_whole_model(model: Transformer, pp: int) -> None:
    stages = stage_parameters(model, pp)
    table = model.vocab * model.hidden if model.tied_embeddings and pp > 1 else 0
    assert len(stages) == pp
    assert sum(stages) == parameters(model).total + table


@given(any_model, shapes)
def test_ranks_hold_their_part(model: Transformer, degrees: Parallelism) -> None:
    held = rank_parameters(model, degrees)
    whole = held.common + held.experts * degrees.ep
    assert whole * degrees.tp * degrees.pp == pytest.approx(parameters(model).total)
    assert held.total == held.common + held.experts


@given(any_model, st.sampled_from(MODES))
def test_recomputation_adds_and_causality_saves(model: Transformer, mode: Recompute) -> None:
    plain, again = training_flops(model), training_flops(model, recompute=mode)
    forward = forward_flops(model)
    assert plain == pytest.approx(3 * forward.total)
    extra = {"none": 0.0, "selective": forward.scores, "full": forward.products + forward.scores}
    assert again - plain == pytest.approx(extra[mode], rel=1e-6, abs=plain * 1e-12)
    whole = forward_flops(model, causal=False)
    assert whole.scores == 2 * forward.scores
    assert (whole.products, whole.head) == (forward.products, forward.head)
    assert forward_flops(model, 2 * model.seq).scores == 2 * forward.scores


@given(st.integers(1, 200), st.integers(1, 200), st.integers(1, 60_000), st.integers(1, 4096))
def test_equation_3_counts_what_we_count(layers: int, width: int, vocab: int, seq: int) -> None:
    hidden = 128 * width
    flops = training_flops(gpt(layers, hidden, vocab, seq), recompute="full", causal=False)
    assert sc21_flops(layers, hidden, vocab, seq, 3) == pytest.approx(3 * seq * flops)


def test_equation_2_adds_biases_and_positions() -> None:
    total = parameters(gpt(128, 25600, 51200, 2048)).total
    assert sc21_parameters(128, 25600, 51200, 2048) == pytest.approx(total, rel=2e-4)


def test_memory_by_hand() -> None:
    """Llama 3.1 405B, tp 4, cp 2, pp 8: 12.68 G weights; a token keeps 260,096 numbers a layer."""
    degrees = Parallelism(tp=4, cp=2, pp=8, dp=8, vpp=8)
    held = memory(model_named("llama3-405b"), degrees)
    weights = 405_849_243_648 / 32
    assert held.weights == pytest.approx(2 * weights)
    assert held.gradients == pytest.approx(2 * weights)
    assert held.optimiser == pytest.approx(12 * weights / 16)
    kept = 4 * 16384 + 128 * 256 + 8 * 256 + 3 * 53248
    tokens = 8192 / 2 / 4
    assert held.activations == pytest.approx(2 * tokens * kept * 126 * (1 + 7 / 64))


def test_activations_of_a_gpt_are_those_of_korthikanti() -> None:
    """34 bytes a token and unit of width without dropout's two masks: 32."""
    held = memory(gpt(10, 1024, 51200, 2048), Parallelism())
    assert held.activations == pytest.approx(32 * 10 * 2048 * 1024)


@given(any_model, shapes, st.sampled_from(MODES), st.integers(1, 64))
def test_what_saves_memory(
    model: Transformer, degrees: Parallelism, mode: Recompute, count: int
) -> None:
    stages = [memory(model, degrees, zero=zero) for zero in range(4)]
    totals = [held.total for held in stages]
    assert totals == sorted(totals, reverse=True)
    assert len({held.activations for held in stages}) == 1
    full = memory(model, degrees, recompute="full")
    assert full.weights == stages[1].weights
    some = memory(model, degrees, microbatches=count, recompute=mode)
    more = memory(model, degrees, microbatches=count + 1, recompute=mode)
    assert 0 < some.activations <= more.activations
    assert memory(model, degrees, micro=2).activations == pytest.approx(2 * stages[1].activations)
    assert memory(model, degrees, gradient_bytes=4, zero=0).gradients == 2 * stages[0].gradients


def test_full_recomputation_keeps_the_inputs_of_layers() -> None:
    model = gpt(10, 1024, 51200, 2048)
    held = memory(model, Parallelism(), recompute="full")
    assert held.activations == pytest.approx(2048 * 1024 * (2 * 10 + 32))
    experts = model_named("deepseek-v3")
    degrees = Parallelism(pp=2, dp=128, ep=32)
    assert (
        memory(experts, degrees, recompute="full").activations
        < memory(experts, degrees).activations / 10
    )
