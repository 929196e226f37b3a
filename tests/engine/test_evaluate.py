"""Scenarios evaluated: base beside post, what follows from faults, and what repairs bring back."""

from __future__ import annotations

import numpy as np
import pytest

import gbviz
from gbviz.engine import evaluate
from gbviz.engine.metrics import Metrics
from gbviz.engine.snapshot import Snapshot, TrafficImpact
from gbviz.errors import InputError
from gbviz.jobs import traffic_job
from gbviz.routing.modes import MODES, Mode
from gbviz.scenario import Scenario, preset
from gbviz.topology import build, cluster_spec
from tests.routing import CABLES, NVLINK, SWITCHES, damage

AZURE = preset("azure-gb300")
SMALL = Scenario("small", cluster_spec(racks=3, trays_per_rack=2, gpus_per_tray=2, radix=8), seed=5)


def fields(found: Metrics) -> dict[str, object]:
    return {name: getattr(found, name) for name in Metrics.__slots__}


def test_base_and_post() -> None:
    found = evaluate(AZURE.with_faults("spine-3"))
    assert (found.base.bisection_GBps, found.post.bisection_GBps) == (230_400, 224_000)
    assert found.base.all_to_all_GBps_per_gpu == pytest.approx(100)
    assert found.post.all_to_all_GBps_per_gpu == pytest.approx(100)
    assert [fault.component for fault in found.faults] == ["spine-3"]
    assert found.problems == ()
    lost = evaluate(AZURE.with_faults("leaf-0"))
    assert lost.post.injection_GBps == 453_600
    assert lost.post.all_to_all_GBps_per_gpu == pytest.approx(75)
    assert lost.base is not lost.post


def test_nothing_broken_is_the_base_itself() -> None:
    found = evaluate(AZURE)
    assert found.post is found.base
    assert found.faults == ()
    assert found.base.compute_fraction == 1
    assert (found.thermal.clock == 1).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(3))
def test_repairing_everything_gives_the_base_exactly(mode: Mode, seed: int) -> None:
    fabric = build(SMALL.cluster)
    kinds = (*CABLES, *SWITCHES, *NVLINK, "nic", "tray", "hxu")
    did = damage(fabric, np.random.default_rng(seed), 8, kinds)
    fail = [fault for fault in did if isinstance(fault, str)]
    degrade = dict(fault for fault in did if not isinstance(fault, str))
    base = SMALL.with_routing(mode)
    hurt = base.with_faults(*fail, degrade=degrade)
    assert fields(evaluate(hurt).post) != fields(evaluate(base).base)
    for healed in (hurt.restored(), repaired(hurt)):
        found = evaluate(healed)
        assert found.faults == ()
        assert fields(found.post) == fields(found.base) == fields(evaluate(base).base)


def repaired(scenario: Scenario) -> Scenario:
    """With what is still broken repaired, one by one."""
    while faults := evaluate(scenario).faults:
        cause = next(fault for fault in faults if fault.because is None)
        scenario = scenario.with_repairs(cause.component)
    return scenario


def test_the_same_twice_is_the_same() -> None:
    hurt = AZURE.with_faults("spine-3", "leaf-9", degrade={"leaf-0~spine-7": 0.5})
    assert fields(evaluate(hurt).post) == fields(evaluate(hurt).post)


def test_cooling_shuts_a_rack_down_and_says_because_of_what() -> None:
    found = evaluate(AZURE.with_faults("hxu-5"))
    assert [(f.component, f.because) for f in found.faults] == [
        ("hxu-5", None),
        ("rack-5", "hxu-5"),
    ]
    assert found.post.live_gpus == 4_536
    assert found.post.compute_fraction == pytest.approx(63 / 64)
    # Its NICs are gone as with a failed rack.
    gone = evaluate(AZURE.with_faults("rack-5"))
    assert found.post.injection_GBps == gone.post.injection_GBps == 453_600
    assert found.post.bisection_GBps == gone.post.bisection_GBps
    assert found.post.all_to_all_GBps_per_gpu == gone.post.all_to_all_GBps_per_gpu


def test_clocks_count_as_compute() -> None:
    found = evaluate(AZURE.with_faults(degrade={"rack-0/tray-0/gpu-0": 0.5}))
    assert found.post.live_gpus == 4_608
    assert found.post.compute_fraction == pytest.approx(1 - 0.5 / 4_608)
    # Two of four CDUs lost: 32 racks at a clock of 0.725 (02-model, section 7).
    warm = evaluate(preset("gb300-cdu").with_faults("cdu-[0-1]"))
    assert warm.post.compute_fraction == pytest.approx((1 + 0.725) / 2, abs=5e-4)
    assert warm.post.all_to_all_GBps_per_gpu == pytest.approx(100)


def test_nvlink_policies() -> None:
    """A lost ASIC takes a full-bandwidth partition down; a lost link parks its GPU."""
    asic, link = "rack-0/nvswitch-3", "rack-0/tray-0/gpu-0~rack-0/nvswitch-3"
    strict = AZURE.with_nvlink_policy("full-bandwidth")
    assert evaluate(AZURE.with_faults(asic)).post.nvlink_GBps == 4_147_200 - 72 * 50
    assert evaluate(strict.with_faults(asic)).post.nvlink_GBps == 4_147_200 - 64_800
    assert evaluate(strict.with_faults(asic)).post.live_gpus == 4_608
    assert evaluate(AZURE.with_faults(link)).post.live_gpus == 4_608
    parked = evaluate(strict.with_faults(link)).post
    assert (parked.live_gpus, parked.nvlink_GBps) == (4_607, 4_147_200 - 900)


def traffic(found: Snapshot) -> list[TrafficImpact]:
    return [job for job in found.jobs if isinstance(job, TrafficImpact)]


def test_jobs_before_and_after() -> None:
    leaf_out = ",".join(
        f"rack-{r}/tray-{t}/gpu-0>rack-{r + 4}/tray-{t}/gpu-0" for r in range(4) for t in range(18)
    )
    jobs = (traffic_job(f"pairs:{leaf_out}"), traffic_job("shift:72@rack-[8-9]"))
    found = evaluate(AZURE.with_jobs(*jobs).with_faults("spine-3"))
    assert [job.state for job in found.jobs] == ["degraded", "running"]
    one, two = traffic(found)
    assert one.base.min_GBps == pytest.approx(100)
    assert one.post.min_GBps == pytest.approx(7_000 / 72)
    assert one.post.total_GBps == pytest.approx(7_000)
    assert two.post.total_GBps == pytest.approx(14_400)
    dead = evaluate(AZURE.with_jobs(*jobs).with_faults("rack-[8-9]"))
    assert [job.state for job in dead.jobs] == ["running", "stalled"]


def test_modes_and_seeds_reach_the_jobs() -> None:
    job = traffic_job("permutation")
    totals = {}
    for mode in MODES:
        for seed in (1, 2):
            found = evaluate(SMALL.with_routing(mode).with_seed(seed).with_jobs(job))
            totals[mode, seed] = traffic(found)[0].base.total_GBps
    assert totals["adaptive", 1] == pytest.approx(totals["spray", 1])
    assert totals["ecmp", 1] <= totals["adaptive", 1] + 1e-9
    # Another seed is another permutation as well as another hash.
    assert len({round(total, 6) for total in totals.values()}) > 2


@pytest.mark.parametrize(
    ("did", "names"),
    [("leaf-64", "leaf-0 to leaf-63"), ("spina-3", "spine"), ("leaf-0~core-1", "core")],
)
def test_faults_on_what_is_not_there(did: str, names: str) -> None:
    with pytest.raises(InputError, match=names):
        evaluate(AZURE.with_faults(did))


def test_snapshot_as_a_graph() -> None:
    found = evaluate(AZURE.with_faults("spine-3", degrade={"leaf-0~spine-7#0": 0.5}))
    graph = found.to_networkx()
    assert not graph.has_edge("leaf-0", "spine-3")
    assert graph.edges["leaf-0", "spine-7"]["capacity"] == 150
    assert gbviz.evaluate is evaluate
