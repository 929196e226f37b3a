"""What a job goes on with: spares, fewer replicas, whole groups, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gbviz.engine import evaluate
from gbviz.flows.router import router
from gbviz.jobs.groups import groups
from gbviz.jobs.impact import JobImpact
from gbviz.jobs.inference import InferenceRun, pools
from gbviz.jobs.placement import Placed, place
from gbviz.jobs.run import start
from gbviz.jobs.spec import CollectiveJob, InferenceJob, Parallelism, TrainingJob
from gbviz.jobs.survivors import Survivors, replace_failed, shrink
from gbviz.jobs.training import TrainingRun
from gbviz.scenario import Scenario
from gbviz.topology import build, cluster_spec
from tests.routing import broken

if TYPE_CHECKING:
    from gbviz.topology.fabric import Ints

EIGHT = build(cluster_spec(racks=8))
ORDERS = ["tp-cp-ep-dp-pp", "dp-tp-pp-ep-cp", "pp-dp-cp-tp-ep"]


def training(shape: Parallelism, **parts: Any) -> TrainingJob:
    stated = {"model": "llama3-8b", "batch": {"global": 96}} | parts
    return TrainingJob.model_validate(
        {"kind": "training", "name": "a", "parallelism": shape} | stated
    )


def live_but(*dead: int, n: int = 576) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    live = np.ones(n, dtype=bool)
    live[list(dead)] = False
    return live


def test_spares_step_in_where_gpus_failed() -> None:
    placed = Placed(np.arange(10, 16), np.array([30, 31, 32]))
    found = replace_failed(placed, live_but(11, 15, 30))
    assert found.gpus.tolist() == [10, 31, 12, 13, 14, 32]
    assert (found.lost, found.replaced) == (2, 2)
    short = replace_failed(placed, live_but(10, 11, 12, 13))
    assert short.gpus.tolist() == [30, 31, 32, 13, 14, 15]
    assert (short.lost, short.replaced) == (4, 3)
    spare = replace_failed(placed, live_but(31))
    assert (spare.gpus.tolist(), spare.lost, spare.replaced) == ([*range(10, 16)], 0, 0)
    assert placed.gpus.tolist() == [*range(10, 16)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(10))
def test_replicas_that_lost_a_gpu_are_given_up(order: str, seed: int) -> None:
    """The pipelines that stay are exactly the whole ones, with the same neighbours."""
    rng = np.random.default_rng(seed)
    shape = Parallelism(tp=2, cp=3, dp=4, pp=2)
    gpus = rng.permutation(576)[:48]
    dead = rng.choice(gpus, 1 + seed % 4, replace=False).tolist()
    job = training(shape, order=order)
    found = shrink(job, Survivors(gpus, len(dead), 0), live_but(*dead))
    before = replicas(gpus, shape, order)
    whole = [replica for replica in before if not replica & set(dead)]
    if found is None:
        assert not whole
        return
    kept, left = found
    assert left == Parallelism(tp=2, cp=3, dp=len(whole), pp=2)
    assert replicas(kept, left, order) == whole
    was, now = groups(gpus, shape, order), groups(kept, left, order)
    for name in ("tp", "cp", "pp"):
        intact = {tuple(row) for row in getattr(was, name).tolist() if set(row) <= set(kept)}
        assert {tuple(row) for row in getattr(now, name).tolist()} == intact


def replicas(gpus: Ints, shape: Parallelism, order: str) -> list[set[int]]:
    """GPUs of each replica, by counters of which the first of the order turns fastest."""
    found: list[set[int]] = [set() for _ in range(shape.dp)]
    sizes = shape.model_dump()
    for rank, gpu in enumerate(gpus.tolist()):
        rest, at = rank, {}
        for name in order.split("-"):
            if name != "ep":
                rest, at[name] = divmod(rest, sizes[name])
        found[at["dp"]].add(gpu)
    return found


def test_experts_need_a_number_of_replicas_that_they_divide() -> None:
    job = training(Parallelism(dp=8, ep=4))
    found = shrink(job, Survivors(np.arange(8), 1, 0), live_but(2))
    assert found is not None
    assert (found[1].dp, found[0].tolist()) == (4, [0, 1, 3, 4])
    wide = training(Parallelism(cp=2, dp=4, ep=4))
    found = shrink(wide, Survivors(np.arange(8), 1, 0), live_but(0))
    assert found is not None
    assert (found[1].dp, found[0].tolist()) == (2, [2, 3, 4, 5])
    none = training(Parallelism(dp=8, ep=8))
    assert shrink(none, Survivors(np.arange(8), 1, 0), live_but(2)) is None


def test_microbatches_go_up_and_the_work_is_the_same() -> None:
    job = training(Parallelism(tp=4, dp=8), racks="rack-0", gpus_per_rack=32)
    placed = place(EIGHT, [("a", job)])[0]
    by = router(EIGHT, broken(EIGHT, "rack-0/tray-1/gpu-2"), "adaptive", 0)
    found = start(by, job, placed, np.ones(576))
    assert isinstance(found.run, TrainingRun)
    assert (found.run.dp, len(found.gpus), found.run.base.microbatches) == (7, 28, 14)
    assert found.run.base.tokens == 96 * 8192
    assert set(found.gpus.tolist()) == set(range(32)) - {4, 5, 6, 7}


def test_nothing_left() -> None:
    job = training(Parallelism(tp=4, dp=1), racks="rack-0", gpus_per_rack=4)
    placed = place(EIGHT, [("a", job)])[0]
    by = router(EIGHT, broken(EIGHT, "rack-0/tray-0/gpu-2"), "adaptive", 0)
    found = start(by, job, placed, np.ones(576))
    assert (found.run, len(found.gpus)) == (None, 0)
    assert found.why == "no replica of the model has all its GPUs"
    spared = training(Parallelism(tp=4, dp=1), racks="rack-0", gpus_per_rack=5, spares=1)
    again = start(by, spared, place(EIGHT, [("a", spared)])[0], np.ones(576))
    assert again.gpus.tolist() == [0, 1, 4, 3]
    assert again.run is not None


def test_a_gpu_whose_clock_is_nil_has_failed() -> None:
    job = training(Parallelism(dp=4), racks="rack-0", gpus_per_rack=4)
    clock = np.ones(576)
    clock[1] = 0
    by = router(EIGHT, broken(EIGHT), "adaptive", 0)
    found = start(by, job, place(EIGHT, [("a", job)])[0], clock)
    assert found.gpus.tolist() == [0, 2, 3]


def test_a_collective_goes_on_with_the_rest() -> None:
    job = CollectiveJob(kind="collective", name="a", op="all_reduce", size=1e9, racks="rack-0")
    placed = place(EIGHT, [("a", job)])[0]
    by = router(EIGHT, broken(EIGHT, "rack-0/tray-0"), "adaptive", 0)
    found = start(by, job, placed, np.ones(576))
    assert found.gpus.tolist() == list(range(4, 72))
    gone = router(EIGHT, broken(EIGHT, "rack-0"), "adaptive", 0)
    assert start(gone, job, placed, np.ones(576)).why == "none of its GPUs is live"


def test_a_group_that_lost_a_gpu_serves_nothing() -> None:
    job = InferenceJob.model_validate(
        {
            "kind": "inference",
            "name": "a",
            "model": "llama3-8b",
            "prefill": {"gpus": 8, "tp": 4},
            "decode": {"gpus": 8, "tp": 2},
            "racks": "rack-0",
            "gpus_per_rack": 16,
        }
    )
    prefill, decode = pools(job, np.arange(16), live_but(3, 10, 13)[:16])
    assert prefill.tolist() == [[4, 5, 6, 7]]
    assert decode.tolist() == [[8, 9], [14, 15]]
    placed = place(EIGHT, [("a", job)])[0]
    half = router(EIGHT, broken(EIGHT, "rack-0/tray-0/gpu-3"), "adaptive", 0)
    found = start(half, job, placed, np.ones(576))
    assert isinstance(found.run, InferenceRun)
    assert (found.run.prefill_groups, found.run.decode_groups) == (1, 4)
    none = router(EIGHT, broken(EIGHT, "rack-0/tray-[0-1]/gpu-0"), "adaptive", 0)
    gone = start(none, job, placed, np.ones(576))
    assert (gone.run, gone.why) == (None, "no prefill or no decode group has all its GPUs")


def test_a_rack_that_cooling_shuts_down_takes_its_replica() -> None:
    job = training(Parallelism(tp=8, dp=9, pp=2), batch={"global": 72}, racks="rack-[4-5]")
    scenario = Scenario("hot", cluster_spec(racks=8), jobs=(job,))
    found = evaluate(scenario.with_faults("hxu-5"))
    assert [f.component for f in found.faults] == ["hxu-5", "rack-5"]
    impact = found.jobs[0]
    assert isinstance(impact, JobImpact)
    assert impact.state == "aborted"  # a stage each: no replica is whole
    split = training(Parallelism(tp=8, dp=18), batch={"global": 72}, racks="rack-[4-5]")
    shrunk = evaluate(
        Scenario("hot", cluster_spec(racks=8), jobs=(split,)).with_faults("hxu-5")
    ).jobs[0]
    assert isinstance(shrunk, JobImpact)
    assert (shrunk.state, shrunk.gpus, shrunk.lost_gpus, shrunk.extra) == (
        "degraded",
        72,
        72,
        {"dp": 9},
    )
    assert shrunk.slowdown is not None
    assert 1 < shrunk.slowdown < 2  # twice the microbatches, and what a step costs once
