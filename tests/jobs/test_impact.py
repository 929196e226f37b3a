"""What faults cost a job once and from then on."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from gbviz.engine import evaluate
from gbviz.jobs.impact import JobImpact, OneOff, state_of
from gbviz.jobs.spec import CollectiveJob, InferenceJob, TrainingJob
from gbviz.scenario import Scenario
from gbviz.topology import cluster_spec

CLUSTER = cluster_spec(racks=8)
TIMEOUT = 7 * 4.096e-6 * 2**20


def training(**parts: Any) -> TrainingJob:
    """Eight replicas, each in one rack: gradients are reduced over leaves, and within racks."""
    stated = {
        "kind": "training",
        "name": "a",
        "model": "llama3-8b",
        "parallelism": {"tp": 2, "dp": 8},
        "batch": {"global": 64},
        "racks": "rack-[0-7]",
        "gpus_per_rack": 2,
    }
    return TrainingJob.model_validate(stated | parts)


def collective(**parts: Any) -> CollectiveJob:
    stated = {"kind": "collective", "name": "a", "op": "all_to_all", "size": 1e9}
    return CollectiveJob.model_validate(stated | parts)


def impact(
    job: TrainingJob | CollectiveJob | InferenceJob,
    *fail: str,
    degrade: dict[str, float] | None = None,
) -> JobImpact:
    scenario = Scenario("x", CLUSTER, jobs=(job,)).with_faults(*fail, degrade=degrade)
    found = evaluate(scenario).jobs[0]
    assert isinstance(found, JobImpact)
    return found


def test_the_timeout() -> None:
    assert pytest.approx(30.064771072) == TIMEOUT


@pytest.mark.parametrize(
    "fault", ["rack-3/tray-0/nic-1", "rack-3/tray-0/nic-1~leaf-1", "leaf-1", "leaf-5"]
)
def test_what_dies_on_a_path_in_use_costs_a_restart(fault: str) -> None:
    found = impact(training(), fault).one_off
    assert found.stall_s == pytest.approx(TIMEOUT)
    assert (found.lost_work_s, found.restart_s) == (900, 600)


def test_the_checkpoint_says_what_is_lost() -> None:
    job = training(checkpoint={"interval": 100.0, "restart": 7.0}, detection=3.0)
    link = impact(job, "rack-0/tray-0/nic-0").one_off
    assert dataclasses.astuple(link) == pytest.approx((TIMEOUT, 50, 7))
    gpu = impact(job, "rack-0/tray-0/gpu-0").one_off
    assert gpu == OneOff(3.0, 50.0, 7.0)


@pytest.mark.parametrize("fault", ["rack-3/tray-0/nic-2", "rack-3/tray-5", "leaf-2", "leaf-7"])
def test_what_nobody_uses_costs_nothing(fault: str) -> None:
    """GPUs 0 and 1 of tray 0 use rails 0 and 1 only."""
    found = impact(training(), fault)
    if not fault.startswith("leaf"):
        assert found.one_off == OneOff()
    assert found.state == "running"
    assert found.slowdown == pytest.approx(1)
    assert found.one_off.lost_work_s == 0


@pytest.mark.parametrize("fault", ["rack-3/tray-0/gpu-1", "rack-3/tray-0", "rack-3"])
def test_a_lost_gpu_costs_detection_and_a_restart(fault: str) -> None:
    found = impact(training(), fault)
    assert found.one_off == OneOff(30.0, 900.0, 600.0)
    assert found.state == "degraded"
    assert (found.gpus, found.extra) == (14, {"dp": 7})


def test_a_spare_steps_in() -> None:
    job = training(
        gpus_per_rack=3, spares=8, parallelism={"tp": 2, "dp": 8}, order="dp-tp-cp-ep-pp"
    )
    found = impact(job, "rack-0/tray-0/gpu-1")
    assert (found.lost_gpus, found.replaced_gpus, found.gpus) == (1, 1, 16)
    assert found.one_off.restart_s == 600
    assert found.extra == {"dp": 8}


def test_switches_between_leaves_only_reroute() -> None:
    for fault in ("spine-0", "leaf-0~spine-0", "leaf-0~spine-0#1"):
        found = impact(training(), fault)
        assert found.one_off == OneOff(stall_s=0.003)
        assert found.state == "running"  # two GPUs a rack are far from filling the spines


def test_a_job_that_does_not_cross_spines_does_not_feel_them() -> None:
    """Racks 0 to 3 share their leaves."""
    found = impact(training(racks="rack-[0-3]", parallelism={"tp": 2, "dp": 4}), "spine-0")
    assert found.uses_fabric
    assert found.one_off == OneOff()


def test_a_slow_cable_is_no_outage() -> None:
    found = impact(collective(), degrade={"rack-0/tray-0/nic-0": 0.5})
    assert found.one_off == OneOff()
    assert found.state == "degraded"
    assert found.slowdown == pytest.approx(2)
    assert found.bottleneck is not None
    assert found.bottleneck.link == "rack-0/tray-0/nic-0>leaf-0#0"


def test_inside_one_rack_the_fabric_is_not_used() -> None:
    job = training(racks="rack-0", gpus_per_rack=16)
    found = impact(job, "leaf-0", "spine-1", "rack-0/tray-0/nic-[0-3]")
    assert not found.uses_fabric
    assert (found.state, found.one_off) == ("running", OneOff())
    assert found.slowdown == pytest.approx(1)
    assert impact(training(), "spine-1").uses_fabric


@pytest.mark.parametrize(
    ("policy", "state"), [("tray", "aborted"), ("rack", "degraded"), ("abort", "aborted")]
)
def test_all_nics_of_a_tray(policy: str, state: str) -> None:
    found = impact(collective(nic_loss=policy), "rack-0/tray-0/nic-[0-3]")
    assert found.state == state
    assert (found.slowdown is None) == (state == "aborted")
    if policy == "tray":
        assert found.reason["post"] == "some of its GPUs have no way to each other"
    if policy == "abort":
        assert found.reason["post"] == "rack-0/tray-0/gpu-0 has no NIC and nic_loss is abort"


@pytest.mark.parametrize("fault", ["rack-0/nvtray-*", "rack-[0-1]/nvtray-*"])
def test_a_rack_without_nvlink_sends_by_its_own_nics_under_any_policy(fault: str) -> None:
    """It lends no NICs; no NIC is lost, so the policy on lost NICs changes nothing."""
    tray, rack = (impact(collective(nic_loss=policy), fault) for policy in ("tray", "rack"))
    assert tray.slowdown is not None
    assert rack.slowdown == pytest.approx(tray.slowdown)


@pytest.mark.parametrize(
    ("policy", "slowdown"), [("tray", 4 / 3), ("rack", 68 / 67.9), ("abort", None)]
)
def test_one_nic(policy: str, slowdown: float | None) -> None:
    found = impact(collective(nic_loss=policy), "rack-0/tray-0/nic-0")
    if slowdown is None:
        assert (found.state, found.post, found.bottleneck) == ("aborted", None, None)
        assert found.base is not None
    else:
        assert found.slowdown == pytest.approx(slowdown, rel=0.05 if policy == "rack" else 1e-9)
        assert found.state == "degraded"


def test_a_leaf_lost_is_four_thirds_for_the_exchange() -> None:
    found = impact(collective(), "leaf-0")
    assert found.slowdown == pytest.approx(4 / 3)
    assert found.base is not None
    assert found.post is not None
    assert found.post["busbw_GBps"] == pytest.approx(found.base["busbw_GBps"] * 3 / 4)


def test_other_kinds_lose_no_work() -> None:
    found = impact(collective(), "rack-0/tray-0/nic-0").one_off
    assert dataclasses.astuple(found) == pytest.approx((TIMEOUT, 0, 0))
    pools = {"prefill": {"gpus": 4}, "decode": {"gpus": 4}}
    stated = {"kind": "inference", "name": "a", "model": "llama3-8b", "gpus_per_rack": 1}
    serving = InferenceJob.model_validate(stated | pools)
    lost = impact(serving, "rack-7/tray-0")
    assert lost.one_off == OneOff()
    assert lost.slowdown == pytest.approx(4 / 3)


def test_states() -> None:
    assert state_of(None, shrunk=True) == "aborted"
    assert state_of(1.0, shrunk=False) == "running"
    assert state_of(1.0 + 1e-12, shrunk=False) == "running"
    assert state_of(1.01, shrunk=False) == "degraded"
    assert state_of(1.0, shrunk=True) == "degraded"
    assert state_of(0.9, shrunk=False) == "running"


def test_a_job_that_is_cut_in_two_waits_for_the_timeout() -> None:
    """No spine is left: there is nothing to reroute to."""
    found = impact(training(), "spine-*")
    assert found.state == "aborted"
    assert found.one_off.stall_s == pytest.approx(TIMEOUT)
    assert (found.one_off.lost_work_s, found.one_off.restart_s) == (900, 600)


OPS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "send_recv")


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(
    "fault", ["rack-4/tray-0/nic-0", "leaf-4", "leaf-4~spine-*", "spine-[0-2]"]
)
def test_one_gpu_a_rack_goes_no_faster_around_its_nic(op: str, fault: str) -> None:
    """Three idle NICs beside a dead one carry for its GPU what that NIC did, not three times."""
    job = collective(op=op, racks="rack-[3-4]", gpus_per_rack=1)
    found = impact(job, fault)
    assert found.slowdown == pytest.approx(1, rel=1e-12)
    assert found.bottleneck is not None
    around = found.bottleneck.words.endswith("other NICs carry for it what one could")
    assert around == (not fault.startswith("spine"))


@pytest.mark.parametrize("op", OPS)
def test_a_fault_that_takes_no_gpu_makes_no_job_faster(op: str) -> None:
    rng = np.random.default_rng(3)
    kinds = ("rack-{}/tray-{}/nic-{}", "leaf-{}~spine-{}", "spine-{}", "leaf-{}")
    for gpus_per_rack in (1, 2, 5, 72):
        job = collective(op=op, racks="rack-[2-5]", gpus_per_rack=gpus_per_rack)
        for _ in range(6):
            fail = [
                kinds[kind].format(*rng.integers(0, (4, 4, 4)).tolist())
                for kind in rng.integers(0, len(kinds), 3)
            ]
            found = impact(job, *fail)
            assert found.slowdown is not None
            assert found.slowdown >= 1 - 1e-9, fail
