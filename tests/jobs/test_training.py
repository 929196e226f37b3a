"""The step of a training job on the fabric, put together by hand from its phases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gbviz.errors import InputError
from gbviz.flows.router import Router, router
from gbviz.jobs.models import model_named
from gbviz.jobs.placement import place
from gbviz.jobs.run import figures, start
from gbviz.jobs.spec import Parallelism, TrainingJob, Transformer
from gbviz.jobs.training import TrainingRun, check_shape, microbatches, training_run, training_talk
from gbviz.jobs.volumes import volumes
from gbviz.topology import build, cluster_spec
from tests.routing import broken

EIGHT = build(cluster_spec(racks=8))
HEALTHY = router(EIGHT, broken(EIGHT), "adaptive", 0)
HBM = 8000e9 * 0.7357
TINY = Transformer(layers=4, hidden=1024, heads=8, ffn=4096, gated=False, vocab=32000, seq=2048)
SPARSE = Transformer(
    layers=4, hidden=1024, heads=8, ffn=4096, vocab=32000, seq=2048, experts=8, top_k=2
)
PEAK = {"fp4": 15e15, "fp8": 5e15, "bf16": 2.5e15}


def job(**parts: Any) -> TrainingJob:
    stated = {"kind": "training", "name": "a", "model": TINY, "batch": {"global": 64}} | parts
    if isinstance(stated["parallelism"], dict):
        stated["parallelism"] = Parallelism(**stated["parallelism"])
    return TrainingJob.model_validate(stated)


def run_of(of: TrainingJob, by: Router = HEALTHY, clock: float = 1.0) -> TrainingRun:
    gpus = place(EIGHT, [("a", of)])[0].gpus
    talk = training_talk(by, of, gpus, of.parallelism)
    return training_run(by, of, talk, of.parallelism, clock)


def alone(run: TrainingRun) -> list[float]:
    return [phase.seconds() for phase in run.phases]


def test_one_gpu_only_computes() -> None:
    found = run_of(job(parallelism={}, gpus="rack-0/tray-0/gpu-0", efficiency=0.5))
    assert found.phases == ()
    # Per token 3 x (2 x (4 x h^2 + 2 x 4 h^2 ) x layers + 2 x s x h x layers + 2 x h x V).
    h, layers, seq, vocab = 1024, 4, 2048, 32000
    token = 3 * (2 * 12 * h * h * layers + 2 * seq * h * layers + 2 * h * vocab)
    compute = token * seq / (PEAK["fp8"] * 0.5)
    memory = 184 * 0.75 * layers * seq * h * 2 / HBM
    weights = 12 * h * h * layers + 2 * h * vocab
    step = 64 * (compute + memory) + 16 * weights / HBM + 0.255
    assert found.step_s([]) == pytest.approx(step, rel=1e-12)
    times = found.times([])
    assert times.tokens_per_s == pytest.approx(64 * seq / step)
    assert times.mfu == pytest.approx(64 * seq * token / (step * PEAK["fp8"]))


def test_step_by_hand() -> None:
    """tp 2 and cp 2 in a tray, dp 4 and pp 2 over racks of 8 GPUs."""
    shape = {"tp": 2, "cp": 2, "dp": 4, "pp": 2, "vpp": 2}
    of = job(
        parallelism=shape, racks="rack-[0-3]", gpus_per_rack=8, efficiency=0.5, overlap=0.25, zero=1
    )
    found = run_of(of)
    times = alone(found)
    assert found.classes == ("tp", "cp", "pp", "dp")
    h, layers, tokens, counts = 1024, 2, 1024, 16
    wide = tokens * h * 2
    tp, cp, pp, dp = times
    # Two GPUs of a tray: a ring on NVLink.
    assert tp == pytest.approx(wide / 680e9)
    assert found.repeats[0] == 5 * layers * counts
    # Keys and values of 2,048 tokens, half the heads each; half of them sent.
    assert cp == pytest.approx(2048 * 2 * h / 2 * 2 / 2 / 680e9)
    assert found.repeats[1] == 3 * layers * counts
    # Ranks 0-15 are a stage: two racks. Both ways at once and the way back of interleaving.
    assert pp == pytest.approx(2 * wide / 2 / 95e9)
    assert found.repeats[2] == 2 * counts
    # Eight holders in two racks: gradients and weights of 2 bytes, scattered and gathered.
    held = (12 * h * h * 4 + 2 * h * 32000) / 4
    assert dp == pytest.approx(max(3 / 4 * 4 * held / 680e9, 1 / 2 * held / 95e9) / 0.95)
    run = found.times(times)
    token = 3 * (2 * 12 * h * h * 4 + 2 * 2048 * h * 4 + 2 * h * 32000)
    compute = token * 2048 / 8 / (PEAK["fp8"] * 0.5)
    memory = 184 * 0.75 / 2 * layers * tokens * h * 2 / HBM
    shown = 0.75 * (5 * layers * tp + 3 * layers * cp)
    window = 2 / 3 * (compute + memory) * max(1, 2 * 1 / 2)
    step = (
        (counts + 1 / 2) * (compute + memory + shown)
        + max(0.0, dp - window)
        + 16 * held / 8 / HBM
        + 0.255
    )
    assert run.step_s == pytest.approx(step, rel=1e-9)
    assert run.exposed_s["dp"] == pytest.approx(max(0.0, dp - window))


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("name", ["llama3-8b", "deepseek-v3"])
def test_bytes_are_those_of_the_volumes(name: str, recompute: Any) -> None:
    """One GPU a rack: all goes by NICs, so seconds x 95 GB/s are the bytes that each sends."""
    model = model_named(name)
    for shape, kind in (
        (Parallelism(tp=8), "tp"),
        (Parallelism(cp=8), "cp"),
        (Parallelism(dp=8), "dp"),
        (Parallelism(dp=8, ep=8), "ep"),
    ):
        of = job(
            model=model, parallelism=shape, gpus_per_rack=1, recompute=recompute, precision="bf16"
        )
        if kind == "ep" and not model.experts:
            continue
        found = run_of(of)
        sent = volumes(
            model, shape, recompute=recompute, precision="bf16", zero=1, sequence_parallel=True
        )
        counts = microbatches(of, shape)
        bytes_ = sum(
            95e9 * once * often
            for k, once, often in zip(found.classes, alone(found), found.repeats, strict=True)
            if k == kind
        )
        want = {
            "tp": counts * sent.tp,
            "cp": counts * sent.cp,
            "ep": counts * sent.ep,
            "dp": sent.dp + sent.expert_dp,
        }[kind]
        assert bytes_ == pytest.approx(want, rel=1e-9), kind


def test_pipeline_bytes() -> None:
    """In the middle of a pipeline a GPU sends ahead and back in every chunk."""
    for vpp in (1, 3):
        shape = Parallelism(pp=8, vpp=vpp)
        found = run_of(job(model="llama3-8b", parallelism=shape, gpus_per_rack=1))
        sent = volumes(model_named("llama3-8b"), shape).pp
        assert alone(found)[0] * found.repeats[0] * 95e9 == pytest.approx(64 * sent)


def test_experts_move_between_their_ranks() -> None:
    """8 experts over dp 8 in one rack: 7/8 of two copies of each token, out in 8 and back in 16."""
    found = run_of(
        job(model=SPARSE, parallelism={"dp": 8, "ep": 8}, racks="rack-0", gpus_per_rack=8)
    )
    assert found.classes == ("ep", "dp")
    assert alone(found)[0] == pytest.approx(7 / 8 * 2048 * 1024 * 2 * 3 / 680e9)
    assert found.repeats[0] == 2 * 4 * 8
    # Experts are on one rank each: gradients of the rest only.
    rest = 4 * (4 * 1024**2 + 1024 * 8) + 2 * 1024 * 32000
    assert alone(found)[1] == pytest.approx(7 / 8 * 4 * rest / 680e9)


def test_mlperf_row_of_gb300() -> None:
    """Llama 3.1 405B on 512 GPUs, NVFP4, MLPerf Training v5.1: 13.14 s."""
    of = job(
        model="llama3-405b",
        parallelism={"tp": 2, "cp": 2, "pp": 8, "dp": 16, "vpp": 8},
        batch={"global": 1152},
        racks="rack-[0-7]",
        gpus_per_rack=64,
        precision="fp4",
    )
    found = run_of(of)
    assert microbatches(of, of.parallelism) == 72
    assert found.step_s(alone(found)) == pytest.approx(13.14, rel=0.13)


def test_clock_slows_compute_alone() -> None:
    of = job(parallelism={"tp": 4, "dp": 2}, racks="rack-[0-1]", gpus_per_rack=4, efficiency=0.5)
    full, half = run_of(of), run_of(of, clock=0.5)
    one, two = full.times(alone(full)), half.times(alone(half))
    assert alone(half) == alone(full)
    flops_s = full.base.flops * full.base.microbatches / (full.base.peak_flops * 0.5)
    assert two.compute_s - one.compute_s == pytest.approx(flops_s)
    assert two.exposed_s["tp"] == one.exposed_s["tp"]
    assert half.base.hbm_s == full.base.hbm_s
    assert half.base.window_s > full.base.window_s


def test_the_slowest_gpu_sets_the_pace() -> None:
    of = job(parallelism={"dp": 8}, racks="rack-0", gpus_per_rack=8)
    placed = place(EIGHT, [("a", of)])[0]
    clock = np.ones(576)
    clock[5] = 0.7
    found = start(HEALTHY, of, placed, clock)
    assert isinstance(found.run, TrainingRun)
    assert found.run.base.clock == 0.7


def test_days_to_a_target() -> None:
    of = job(parallelism={"dp": 8}, racks="rack-0", gpus_per_rack=8, tokens=1e12)
    found = start(HEALTHY, of, place(EIGHT, [("a", of)])[0], np.ones(576))
    assert isinstance(found.run, TrainingRun)
    seconds = alone(found.run)
    values = figures(of, found, seconds)
    step = found.run.step_s(seconds)
    assert values["days_to_target"] == pytest.approx(1e12 / (64 * 2048) * step / 86400)


@pytest.mark.parametrize(
    ("parts", "ranks", "said"),
    [
        (
            {"parallelism": {"tp": 2, "dp": 4}},
            9,
            "2 x 1 x 1 x 4 = 8 ranks, and its placement has 9",
        ),
        ({"parallelism": {"dp": 3}}, 3, "64 is no multiple of dp x micro = 3 x 1 = 3"),
        (
            {"parallelism": {"dp": 8}, "batch": {"global": 64, "micro": 3}},
            8,
            "no multiple of dp x micro = 8 x 3 = 24",
        ),
        (
            {"parallelism": {"cp": 2, "dp": 4, "ep": 3}},
            8,
            "ep 3 does not divide cp x dp = 2 x 4 = 8",
        ),
    ],
)
def test_sums_that_do_not_add_up(parts: dict[str, Any], ranks: int, said: str) -> None:
    with pytest.raises(InputError) as caught:
        check_shape(job(**parts), ranks)
    assert said in caught.value.message
    assert caught.value.where == "job a"
    fine = job(parallelism={"cp": 2, "dp": 4, "ep": 8})
    check_shape(fine, 8)
