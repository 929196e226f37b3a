from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.jobs.models import model_named
from gbviz.jobs.spec import Parallelism, Transformer
from gbviz.jobs.transformer import parameters
from gbviz.jobs.volumes import (
    checkpoint_bytes,
    cp_bytes,
    dp_bytes,
    dp_collectives,
    ep_bytes,
    gradient_buffer_bytes,
    pp_bytes,
    pp_message_bytes,
    tp_bytes,
    tp_reductions,
    volumes,
)
from tests.jobs.test_transformer import any_model, shapes
from tests.oracle_cases import agrees, exact

STARTS = ("hpn", "dp_", "zero3", "tp_", "ep_", "cp_", "ckpt")


def ours(case: dict[str, Any]) -> float:
    name, said = case["id"], case["inputs"]
    if name == "hpn_table3_dp_bytes":
        return gradient_buffer_bytes(
            said["P"], said["tp"], said["pp"], each=said["bytes_per_param"]
        )
    if name == "hpn_table3_pp_bytes":
        tokens = said["b"] * said["s"]
        return pp_message_bytes(tokens, said["h"], said["tp"], each=said["bytes"])
    if name == "dp_allreduce_bytes_sent_405B":
        local = said["P"] / (said["tp"] * said["pp"])
        return dp_bytes(local, said["dp_cp"], gradient_bytes=said["grad_bytes"])
    if name == "zero3_bytes_405B":
        each = said["bytes"]
        local = said["P"] / (said["tp"] * said["pp"])
        return dp_bytes(local, said["D"], 3, gradient_bytes=each, weight_bytes=each)
    if name == "tp_bytes_layer":
        tokens = said["b"] * said["s"] / said["cp"]
        return tp_bytes(tokens, said["h"], said["tp"], each=said["bytes"])
    if name == "ep_a2a_bytes":
        ways = {"dispatch": said["bytes_dispatch"], "combine": said["bytes_combine"]}
        return ep_bytes(said["tok"], said["h"], said["topk"], said["ep"], **ways)
    if name == "cp_allgather_kv_bytes":
        elements = 2 * said["nkv"] * said["hd"]
        return cp_bytes(said["tok_local"], said["cp"], elements, said["tp"], each=said["bytes"])
    return checkpoint_bytes(said["P"], each=said["bytes_per_param"])


@pytest.mark.parametrize(
    "case", exact("training_flops_bytes", *STARTS), ids=lambda case: case["id"]
)
def test_oracle(case: dict[str, Any]) -> None:
    assert agrees(case, ours(case))


def test_every_exact_training_case_has_a_test() -> None:
    """This file, test_transformer and test_step share the file's cases."""
    elsewhere = ("llama", "sc21", "deepseek", "bubble", "overlap")
    covered = exact("training_flops_bytes", *STARTS) + exact("training_flops_bytes", *elsewhere)
    assert len(covered) == len(exact("training_flops_bytes")) == 35


@given(st.integers(2, 10_000), st.floats(1e6, 1e12))
def test_sharding_stages(ranks: int, weights: float) -> None:
    reduced = dp_bytes(weights, ranks)
    assert dp_bytes(weights, ranks, 1) == dp_bytes(weights, ranks, 2) == pytest.approx(reduced)
    assert dp_bytes(weights, ranks, 3) == pytest.approx(1.5 * reduced)
    assert dp_bytes(weights, ranks, 3, reshard=False) == pytest.approx(reduced)
    assert dp_bytes(weights, ranks, 3, microbatches=4) == pytest.approx(6 * reduced)
    assert dp_bytes(weights, ranks, 1, microbatches=4) == pytest.approx(reduced)
    # Gradients in single precision.
    assert dp_bytes(weights, ranks, gradient_bytes=4) == pytest.approx(2 * reduced)
    assert dp_bytes(weights, ranks, 1, gradient_bytes=4) == pytest.approx(1.5 * reduced)


def test_collectives_by_stage() -> None:
    names = [[op for op, _ in dp_collectives(1e9, zero)] for zero in range(4)]
    assert names[0] == ["all_reduce"]
    assert names[1] == names[2] == ["reduce_scatter", "all_gather"]
    assert names[3] == ["reduce_scatter", "all_gather", "all_gather"]


@given(st.floats(1.0, 1e6), st.integers(1, 100_000), st.integers(1, 72))
def test_one_rank_sends_nothing(tokens: float, hidden: int, ranks: int) -> None:
    assert tp_bytes(tokens, hidden, 1) == cp_bytes(tokens, 1, hidden, ranks) == 0
    assert ep_bytes(tokens, hidden, 8, 1) == dp_bytes(hidden, 1) == dp_bytes(hidden, 1, 3) == 0
    assert tp_bytes(2 * tokens, hidden, ranks) == pytest.approx(2 * tp_bytes(tokens, hidden, ranks))


def test_reductions_of_a_layer() -> None:
    assert tp_reductions("selective") == 4
    assert tp_reductions("full", sequence_parallel=True) == 7
    assert tp_bytes(1, 100, 2, reductions=6) == 1.5 * tp_bytes(1, 100, 2)


def test_a_job_by_hand() -> None:
    """MLPerf's 405B on GB200: tp 4, cp 2, pp 8 of eight chunks, dp 8; 4,096 tokens a GPU."""
    sent = volumes(model_named("llama3-405b"), Parallelism(tp=4, cp=2, pp=8, dp=8, vpp=8))
    layers = 126 / 8
    assert sent.tp == pytest.approx(layers * 5 * 2 * 3 / 4 * 4096 * 16384 * 2)
    assert sent.cp == pytest.approx(layers * 3 * 4096 * 2 * 8 * 128 / 4 * 2)
    assert sent.pp == pytest.approx(16 * 4096 * 16384 * 2 / 4)
    assert sent.dp == pytest.approx(15 / 16 * 405_849_243_648 / 32 * 4)
    assert sent.ep == sent.expert_dp == 0
    assert sent.checkpoint == pytest.approx(14 * 405_849_243_648 / 512)


def test_a_mixture_by_hand() -> None:
    """DeepSeek-V3 on pp 2, dp 128, ep 32: 29 layers with experts a stage, 4,096 tokens."""
    degrees = Parallelism(pp=2, dp=128, ep=32)
    sent = volumes(model_named("deepseek-v3"), degrees, precision="fp8")
    there_and_back = 4096 * 7168 * 8 * 31 / 32 * (1 + 2)
    assert sent.ep == pytest.approx(29 * 2 * there_and_back)
    wide = volumes(model_named("deepseek-v3"), degrees)
    assert wide.ep == pytest.approx(sent.ep * 4 / 3)
    experts = 58 * 256 * 3 * 7168 * 2048 / (2 * 32)
    assert sent.expert_dp == pytest.approx(3 / 4 * experts * 4)
    assert sent.tp == sent.cp == 0


@given(any_model, shapes, st.integers(1, 4))
def test_what_scales_with_what(model: Transformer, degrees: Parallelism, micro: int) -> None:
    one, more = (volumes(model, degrees, micro=count) for count in (1, micro))
    for name in ("tp", "cp", "ep", "pp"):
        assert getattr(more, name) == pytest.approx(micro * getattr(one, name))
    assert (more.dp, more.expert_dp) == (one.dp, one.expert_dp)
    assert (one.tp > 0) == (degrees.tp > 1)
    assert (one.cp > 0) == (degrees.cp > 1)
    assert (one.pp > 0) == (degrees.pp > 1)
    again = volumes(model, degrees, recompute="full")
    assert again.cp == pytest.approx(one.cp * 4 / 3)
    assert again.tp == pytest.approx(one.tp * 7 / 5)
    assert again.ep == pytest.approx(one.ep * 3 / 2)
    assert one.checkpoint * degrees.gpus == pytest.approx(14 * parameters(model).total)


def test_interleaving_sends_once_a_chunk() -> None:
    assert pp_bytes(100, 10, 2, vpp=4) == 8 * pp_message_bytes(100, 10, 2)
