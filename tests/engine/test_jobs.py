"""All jobs of a scenario together: before and after faults, and beside each other."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest

from gbviz.engine import evaluate
from gbviz.engine.snapshot import Snapshot, TrafficImpact
from gbviz.jobs import sharing
from gbviz.jobs.impact import JobImpact, OneOff
from gbviz.jobs.spec import CollectiveJob, InferenceJob, TrafficSpec, TrainingJob
from gbviz.routing.modes import MODES, Mode
from gbviz.scenario import Scenario
from gbviz.topology import cluster_spec

EIGHT = cluster_spec(racks=8)
AnyJob = TrainingJob | InferenceJob | CollectiveJob | TrafficSpec


def training(name: str = "train", **parts: Any) -> TrainingJob:
    stated = {
        "kind": "training",
        "name": name,
        "model": "llama3-8b",
        "parallelism": {"tp": 4, "dp": 4, "pp": 4},
        "batch": {"global": 64},
        "racks": "rack-[0-7]",
        "gpus_per_rack": 8,
    }
    return TrainingJob.model_validate(stated | parts)


def collective(name: str, **parts: Any) -> CollectiveJob:
    stated = {"kind": "collective", "name": name, "op": "all_to_all", "size": 1e9}
    return CollectiveJob.model_validate(stated | parts)


def traffic(name: str = "flows", **parts: Any) -> TrafficSpec:
    return TrafficSpec.model_validate({"kind": "traffic", "name": name} | parts)


def serving(name: str = "serve", **parts: Any) -> InferenceJob:
    stated = {"prefill": {"gpus": 8, "tp": 4}, "decode": {"gpus": 16, "tp": 4, "batch": 8}}
    kind = {"kind": "inference", "name": name, "model": "llama3-8b"}
    return InferenceJob.model_validate(kind | stated | parts)


def scenario(*jobs: AnyJob, mode: Mode = "adaptive") -> Scenario:
    return Scenario("x", EIGHT, routing=mode, jobs=jobs)


def trays(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"rack-{r}/tray-[{first}-{last}]" for r in range(8))


MIX = (
    training(),
    collective("exchange", gpus=trays(4, 7)),
    serving(gpus=tuple(f"rack-{r}/tray-8" for r in range(6))),
    traffic(pattern="shift", argument=9, gpus=trays(9, 12)),
)


def stepping(found: Snapshot, number: int = 0) -> JobImpact:
    job = found.jobs[number]
    assert isinstance(job, JobImpact)
    return job


def flowing(found: Snapshot, number: int = 0) -> TrafficImpact:
    job = found.jobs[number]
    assert isinstance(job, TrafficImpact)
    return job


@pytest.mark.parametrize("mode", MODES)
def test_without_faults_now_is_the_base(mode: Mode) -> None:
    found = evaluate(scenario(*MIX, mode=mode))
    assert found.fixed_point is not None
    assert found.fixed_point.converged
    assert found.problems == ()
    for number in range(3):
        one = stepping(found, number)
        assert one.base == one.post
        assert (one.state, one.slowdown, one.one_off) == ("running", 1.0, OneOff())
        assert (one.lost_gpus, one.replaced_gpus, one.reason) == (0, 0, {})
    assert flowing(found, 3).base is flowing(found, 3).post


@pytest.mark.parametrize("fault", ["rack-7/tray-17", "rack-7/tray-17/nic-2"])
def test_a_fault_where_nobody_works_changes_nothing(fault: str) -> None:
    found = evaluate(scenario(*MIX).with_faults(fault))
    for number in range(3):
        one = stepping(found, number)
        assert one.post == one.base
        assert (one.state, one.one_off) == ("running", OneOff())
    assert flowing(found, 3).base == flowing(found, 3).post


def test_the_same_twice_is_the_same_to_the_bit() -> None:
    hurt = scenario(*MIX).with_faults("leaf-1", "rack-2/tray-0/gpu-1", "rack-5/nvtray-3")
    one, two = evaluate(hurt), evaluate(hurt)
    for a, b in zip(one.jobs, two.jobs, strict=True):
        if isinstance(a, JobImpact):
            assert dataclasses.asdict(a) == dataclasses.asdict(b)
        else:
            assert a == b


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[1::5])
def test_jobs_in_another_order_are_the_same_jobs(order: tuple[int, ...]) -> None:
    faults = ("leaf-1", "rack-2/tray-0/gpu-1", "spine-2")
    found = evaluate(scenario(*MIX).with_faults(*faults))
    turned = evaluate(scenario(*(MIX[n] for n in order)).with_faults(*faults))
    for place, number in enumerate(order):
        one, two = found.jobs[number], turned.jobs[place]
        if isinstance(one, TrafficImpact):
            assert isinstance(two, TrafficImpact)
            assert two.post.total_GBps == pytest.approx(one.post.total_GBps, rel=1e-6)
            continue
        assert isinstance(two, JobImpact)
        assert (two.name, two.state, two.gpus, two.one_off) == (
            one.name,
            one.state,
            one.gpus,
            one.one_off,
        )
        assert two.slowdown == pytest.approx(one.slowdown, rel=1e-6)
        assert one.post is not None
        assert two.post is not None
        for key, value in one.post.items():
            same = value if isinstance(value, str | dict) else pytest.approx(value, rel=1e-5)
            assert isinstance(value, dict) or two.post[key] == same


def test_traffic_has_what_a_stepping_job_leaves_and_its_half_at_least() -> None:
    """A ring of one GPU a rack fills their NICs at 95 of 100; flows from mates share NIC 0.

    GPUs 1 of the trays send to GPUs 0 of the next racks: PXN takes them out by NIC 0.
    """
    ring = collective(
        "ring", op="all_reduce", gpus=tuple(f"rack-{r}/tray-0/gpu-0" for r in range(8))
    )
    mates = tuple(f"rack-{r}/tray-0/gpu-1" for r in range(8))
    pairs = tuple(f"rack-{r}/tray-0/gpu-1>rack-{(r + 1) % 8}/tray-0/gpu-0" for r in range(8))
    flows = traffic(pairs=pairs, gpus=mates)
    found = evaluate(scenario(ring, flows))
    alone = evaluate(scenario(flows))
    assert flowing(alone).post.min_GBps == pytest.approx(100)
    assert flowing(found, 1).post.min_GBps == pytest.approx(50)
    quiet = evaluate(scenario(ring))
    size, time = 1e9, 2 * 7 / 8 * 1e9 / 95e9
    assert stepping(quiet).post == {
        "time_s": pytest.approx(time),
        "algbw_GBps": pytest.approx(size / time / 1e9),
        "busbw_GBps": pytest.approx(95),
    }
    busy = stepping(found).post
    assert busy is not None
    assert busy["time_s"] == pytest.approx(2 * time)


def test_a_light_stepping_job_leaves_most() -> None:
    """Its ring takes part of the time: 100 GB/s less its mean load, not the half."""
    gpus = tuple(f"rack-{r}/tray-0" for r in range(8))
    job = training(
        parallelism={"tp": 4, "dp": 8},
        batch={"global": 512},
        gpus=gpus,
        racks=None,
        gpus_per_rack=None,
    )
    pairs = tuple(f"rack-{r}/tray-1/gpu-0>rack-{(r + 1) % 8}/tray-0/gpu-0" for r in range(8))
    flows = traffic(pairs=pairs, gpus=tuple(f"rack-{r}/tray-1/gpu-0" for r in range(8)))
    alone = evaluate(scenario(job))
    found = evaluate(scenario(job, flows))
    step = stepping(alone).post
    assert step is not None
    weights = 8.03e9 / 4  # bytes: 4 a weight, 7/8 of them, through each NIC
    mean = 7 / 8 * 4 * weights / step["step_s"] / 1e9
    assert flowing(found, 1).post.min_GBps == pytest.approx(100 - mean, rel=1e-3)


@pytest.mark.parametrize("mode", MODES)
def test_jobs_on_rails_of_their_own_do_not_meet(mode: Mode) -> None:
    one, two = (
        collective(f"job-{g}", gpus=tuple(f"rack-{r}/tray-[0-1]/gpu-{g}" for r in range(4)))
        for g in (0, 1)
    )
    alone = stepping(evaluate(scenario(one, mode=mode)))
    both = evaluate(scenario(one, two, mode=mode))
    for number in (0, 1):
        assert stepping(both, number).post == pytest.approx(alone.post)


@pytest.mark.parametrize("mode", MODES)
def test_two_jobs_out_of_one_nic(mode: Mode) -> None:
    """GPUs 0 and 1 of a tray send to rail 0, both by NIC 0: each sees 100 - 95 / x of 100."""
    gpu = "rack-{}/tray-0/gpu-{}"
    one = collective("one", gpus=(gpu.format(0, 0), gpu.format(1, 0)))
    two = collective("two", gpus=(gpu.format(0, 1), gpu.format(2, 0)))
    found = evaluate(scenario(one, two, mode=mode))
    for number in (0, 1):
        post, limit = stepping(found, number).post, stepping(found, number).bottleneck
        assert post is not None
        assert limit is not None
        assert post["time_s"] == pytest.approx(1.95 * 0.5e9 / 95e9, rel=1e-5)
        assert limit.link == "rack-0/tray-0/nic-0>leaf-0#0"


def test_a_fault_of_one_job_is_felt_by_the_other_only_where_they_meet() -> None:
    near = collective("near", racks="rack-[0-3]", gpus_per_rack=8)
    far = collective("far", racks="rack-[4-7]", gpus_per_rack=8)
    found = evaluate(scenario(near, far).with_faults("rack-0/tray-0/nic-0"))
    assert stepping(found, 0).slowdown == pytest.approx(4 / 3)
    assert stepping(found, 1).slowdown == 1.0


def test_not_coming_to_rest_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "MOST_ROUNDS", 1)
    ring = collective(
        "ring", op="all_reduce", gpus=tuple(f"rack-{r}/tray-0/gpu-0" for r in range(8))
    )
    mates = tuple(f"rack-{r}/tray-0/gpu-1" for r in range(8))
    pairs = tuple(f"rack-{r}/tray-0/gpu-1>rack-{(r + 1) % 8}/tray-0/gpu-0" for r in range(8))
    hurt = scenario(ring, traffic(pairs=pairs, gpus=mates), mode="spray").with_faults("spine-1")
    found = evaluate(hurt).fixed_point
    assert found is not None
    assert (found.converged, found.rounds) == (False, 1)


def test_a_job_that_cannot_run_frees_its_links() -> None:
    one = collective("one", gpus=trays(0, 0), nic_loss="abort")
    found = evaluate(
        scenario(one, collective("two", gpus=trays(1, 1))).with_faults("rack-0/tray-0/nic-1")
    )
    assert (stepping(found, 0).state, stepping(found, 0).slowdown) == ("aborted", None)
    assert stepping(found, 1).state == "running"
    assert stepping(found, 0).reason["slowdown"] == stepping(found, 0).reason["post"]
