"""Serving: what bounds it, by hand, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gbviz.errors import InputError
from gbviz.flows.router import Router, router
from gbviz.jobs.inference import (
    InferenceRun,
    Served,
    check_pools,
    inference_run,
    inference_talk,
    pools,
)
from gbviz.jobs.models import model_named
from gbviz.jobs.placement import place
from gbviz.jobs.spec import InferenceJob
from gbviz.jobs.transformer import forward_flops, parameters
from gbviz.topology import build, cluster_spec
from tests.routing import broken

EIGHT = build(cluster_spec(racks=8))
HEALTHY = router(EIGHT, broken(EIGHT), "adaptive", 0)
HBM = 8000e9 * 0.7357
SMALL = model_named("llama3-8b")


def job(prefill: dict[str, int], decode: dict[str, int], **parts: Any) -> InferenceJob:
    stated = {"kind": "inference", "name": "a", "model": "llama3-8b"}
    return InferenceJob.model_validate(stated | {"prefill": prefill, "decode": decode} | parts)


def run_of(of: InferenceJob, by: Router = HEALTHY, clock: float = 1.0) -> InferenceRun:
    gpus = place(EIGHT, [("a", of)])[0].gpus
    check_pools(of, len(gpus))
    talk = inference_talk(by, of, pools(of, gpus, by.nics.live[gpus]))
    return inference_run(by, of, talk, clock)


def alone(run: InferenceRun) -> list[float]:
    return [phase.seconds() for phase in run.phases]


def served(of: InferenceJob, by: Router = HEALTHY) -> Served:
    run = run_of(of, by)
    return run.served(alone(run))


ONE_EACH = {"racks": "rack-0", "gpus_per_rack": 2}


def test_decode_reads_weights_and_caches() -> None:
    """One GPU each: 8 B weights of half a byte and 32 caches of 2,048 + 256 tokens."""
    of = job({"gpus": 1}, {"gpus": 1, "batch": 32}, **ONE_EACH)
    found = served(of)
    cache = 32 * 2 * 8 * 128  # layers x keys and values x heads x size, a byte each
    tpot = (parameters(SMALL).total * 0.5 + 32 * 2304 * cache) / HBM
    assert found.limited_by == "HBM"
    assert found.tpot_s == pytest.approx(tpot)
    assert found.tokens_per_s == pytest.approx(32 / tpot)
    assert found.requests_per_s == pytest.approx(32 / tpot / 512)


def test_prefill_computes() -> None:
    of = job({"gpus": 1}, {"gpus": 1, "batch": 64}, output=8, efficiency=0.5, **ONE_EACH)
    found = served(of)
    pass_s = 2048 * forward_flops(SMALL, 2048).total / (15e15 * 0.5)
    assert found.limited_by == "compute"
    assert found.requests_per_s == pytest.approx(1 / pass_s)
    assert found.tokens_per_s == pytest.approx(8 / pass_s)
    assert found.ttft_s > pass_s
    slow = run_of(of, clock=0.5)
    assert slow.served(alone(slow)).requests_per_s == pytest.approx(0.5 / pass_s)


def test_tensor_parallel_exchange_over_nvlink_and_over_nics() -> None:
    """A decode of 64 tokens in 8 GPUs: 64 all-reduces of 64 x 4,096 x 2 bytes."""
    size = 64 * 4096 * 2
    near = {"gpus": 8, "tp": 8, "batch": 64}
    of = job({"gpus": 1}, near, racks="rack-0", gpus_per_rack=9)
    run = run_of(of)
    at = run.classes.index("decode")
    assert alone(run)[at] == pytest.approx(2 * 7 / 8 * size / 840e9)
    assert run.times_in_pass[at] == 64
    assert run.repeats[at] == pytest.approx(64 * 512 / 64)
    pool = {"gpus": 8, "tp": 8, "batch": 512}
    far = job({"gpus": 8, "tp": 8}, pool, gpus_per_rack=2, input=1, output=4096)
    # Rows of eight GPUs take four racks, two in each: half of 2 x 3/4 of the bytes a rail.
    wide = run_of(far)
    kind = wide.classes.index("decode")
    bytes_ = 512 * 4096 * 2
    inside, across = 2 * 1 / 2 * bytes_ / 680e9, 2 * 3 / 4 * bytes_ / 2 / 95e9
    assert alone(wide)[kind] == pytest.approx(max(inside, across) / 0.95)
    found = wide.served(alone(wide))
    assert found.limited_by == "InfiniBand"
    both = wide.decode
    assert found.tpot_s == pytest.approx(
        max(both.compute_s, both.hbm_s) + 64 * alone(wide)[kind], rel=1e-9
    )


def test_nvlink_limits_a_wide_prefill() -> None:
    """72-wide tensor parallelism of a small model: more bytes than work."""
    of = job({"gpus": 64, "tp": 64}, {"gpus": 8}, racks="rack-0", input=4096, output=1)
    assert served(of).limited_by == "NVLink"


def test_the_caches_way_is_bound_by_its_nics() -> None:
    """One prefill GPU in rack 0 feeds seven in other racks: its NIC sends every cache."""
    of = job({"gpus": 1}, {"gpus": 7, "batch": 8}, gpus_per_rack=1, output=1, efficiency=1.0)
    run = run_of(of)
    cache = 2048 * 32 * 2 * 8 * 128
    assert run.classes == ("kv",)
    assert alone(run) == pytest.approx([cache / 95e9])
    found = run.served(alone(run))
    pre = 2048 * forward_flops(SMALL, 2048).total / 15e15
    assert found.ttft_s == pytest.approx(pre + cache / 95e9)
    assert cache / 95e9 < pre
    assert found.limited_by == "compute"
    bigger = job({"gpus": 1}, {"gpus": 7, "batch": 8}, gpus_per_rack=1, output=1, kv_bytes=8)
    slow = served(bigger)
    assert slow.limited_by == "InfiniBand"
    assert slow.requests_per_s == pytest.approx(95e9 / (8 * cache))


def test_a_cache_that_never_leaves_the_rack_is_not_bound_by_infiniband() -> None:
    of = job({"gpus": 64}, {"gpus": 1, "batch": 1}, racks="rack-0", gpus_per_rack=65, output=1)
    run = run_of(of)
    assert all(len(phase.link) == 0 for phase in run.phases)
    seconds = [1.0]  # as on NVLink that is nearly dead
    assert run.served(seconds).limited_by == "NVLink"


def test_cache_of_unequal_groups_takes_all_gpus() -> None:
    """Four GPUs send to two in another rack: two NICs get half a cache each."""
    of = job({"gpus": 4, "tp": 4}, {"gpus": 4, "tp": 2}, racks="rack-[0-1]", gpus_per_rack=4)
    run = run_of(of)
    cache = 2048 * 32 * 2 * 8 * 128
    # Two decode groups take turns: each of their four NICs gets a quarter, each sender a quarter.
    assert alone(run)[-1] == pytest.approx(cache / 4 / 95e9)


def test_experts_exchange_in_their_group() -> None:
    of = job(
        {"gpus": 8, "ep": 8},
        {"gpus": 8, "ep": 8, "batch": 512},
        model="deepseek-v3",
        racks="rack-0",
        gpus_per_rack=16,
        precision="fp8",
    )
    run = run_of(of)
    at = run.classes.index("decode")
    # 64 tokens a GPU to 8 experts each: 2 bytes out and 2 back, 7/8 of them to others.
    assert alone(run)[at] == pytest.approx(7 / 8 * 64 * 7168 * 8 * 4 / 680e9)
    assert run.times_in_pass[at] == 58
    model = parameters(model_named("deepseek-v3"))
    touched = 1 - (1 - 8 / 256) ** 512
    read = model.total - model.experts + model.experts * touched
    cache = 512 * 2304 * 61 * 576
    assert run.decode.hbm_s == pytest.approx((read + cache) / 8 / HBM)


def test_memory() -> None:
    """405 B weights of half a byte: 203 GB fit 288 GB, of two bytes 811 GB do not."""
    fine = job({"gpus": 1}, {"gpus": 1}, model="llama3-405b")
    check_pools(fine, 2)
    big = job({"gpus": 1}, {"gpus": 4, "tp": 4}, model="llama3-405b", precision="bf16")
    with pytest.raises(InputError, match=r"prefill: 812 GB of weights and 1 GB of caches a GPU"):
        check_pools(big, 5)
    # A cache is 126 layers x 2,048 numbers x 2,560 tokens = 0.66 GB: 128 of them and no more.
    check_pools(job({"gpus": 1}, {"gpus": 1, "batch": 128}, model="llama3-405b"), 2)
    with pytest.raises(InputError, match="decode: 203 GB of weights and 86 GB of caches"):
        check_pools(job({"gpus": 1}, {"gpus": 1, "batch": 130}, model="llama3-405b"), 2)


@pytest.mark.parametrize(
    ("prefill", "decode", "said"),
    [
        ({"gpus": 2}, {"gpus": 1}, "prefill 2 + decode 1 = 3 GPUs, and its placement has 4"),
        ({"gpus": 2, "tp": 3}, {"gpus": 2}, "prefill: tp x ep = 3 x 1 = 3 does not divide its 2"),
        ({"gpus": 2}, {"gpus": 2, "tp": 2, "ep": 2}, "decode: tp x ep = 2 x 2 = 4"),
    ],
)
def test_sums_that_do_not_add_up(
    prefill: dict[str, int], decode: dict[str, int], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        check_pools(job(prefill, decode), 4)
    assert said in caught.value.message
    assert caught.value.where == "job a"


def test_a_lost_group_serves_no_more() -> None:
    """Two of four decode groups lost: half the tokens, the same time per token."""
    of = job({"gpus": 8}, {"gpus": 4, "batch": 8}, racks="rack-0", gpus_per_rack=12)
    before = served(of)
    hurt = router(EIGHT, broken(EIGHT, "rack-0/tray-2/gpu-[0-1]"), "adaptive", 0)
    after = served(of, hurt)
    assert before.limited_by == after.limited_by == "HBM"
    assert after.tokens_per_s == pytest.approx(before.tokens_per_s / 2)
    assert after.tpot_s == pytest.approx(before.tpot_s)


def test_steps_are_requests() -> None:
    of = job({"gpus": 1}, {"gpus": 7, "batch": 8}, gpus_per_rack=1)
    run = run_of(of)
    found = run.served(alone(run))
    assert run.step_s(alone(run)) == pytest.approx(1 / found.requests_per_s)
    assert run.step_s([np.inf] * len(run.phases)) == np.inf
