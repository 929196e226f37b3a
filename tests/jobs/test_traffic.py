"""Traffic jobs: what people write, which flows it means, and what the flows get."""

from __future__ import annotations

import numpy as np
import pytest

from gbviz.errors import InputError
from gbviz.flows.rates import flow_rates
from gbviz.flows.router import router
from gbviz.jobs.traffic import PATTERNS, TrafficJob, TrafficResult, flows_of, traffic_job
from gbviz.jobs.traffic import traffic_results as results
from gbviz.topology import Fabric, build, cluster_spec
from tests.routing import broken

AZURE = build(cluster_spec("azure-gb300"))
SMALL = build(cluster_spec(racks=3, trays_per_rack=2, gpus_per_tray=2, radix=8))


def result(fabric: Fabric, text: str, *did: str, seed: int = 0) -> TrafficResult:
    """What one job gets with the fabric to itself."""
    by = router(fabric, broken(fabric, *did), "adaptive", seed)
    links = len(by.space.capacity)
    found, streams = results(
        by, [(traffic_job(text), None)], np.zeros(links), np.zeros(links, dtype=np.int64)
    )
    assert streams.shape == (1, links)
    assert len(found) == 1
    assert found[0].problems == ()
    return found[0]


def pairs(fabric: Fabric, text: str, seed: int = 0) -> list[tuple[int, int]]:
    source, target = flows_of(fabric, traffic_job(text), seed)
    return list(zip(source.tolist(), target.tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("permutation", ("permutation", "", "")),
        ("random-pairs:100", ("random-pairs", "100", "")),
        ("shift:-4@rack-[0-1]", ("shift", "-4", "rack-[0-1]")),
        ("incast: rack-0/tray-0/gpu-1 @ rack-1 ", ("incast", "rack-0/tray-0/gpu-1", "rack-1")),
    ],
)
def test_spelling(text: str, expected: tuple[str, str, str]) -> None:
    job = traffic_job(text)
    assert (job.pattern, job.argument, job.racks) == expected
    assert traffic_job(job.spelt()).spelt() == job.spelt()


def test_flows_by_pattern() -> None:
    gpus = set(range(12))
    assert len(pairs(SMALL, "all-to-all")) == 12 * 11
    assert {s for s, _ in pairs(SMALL, "permutation")} == gpus
    assert len(pairs(SMALL, "random-pairs:7")) == 7
    assert len(pairs(SMALL, "random-pairs")) == 12
    assert pairs(SMALL, "shift:5")[:3] == [(0, 5), (1, 6), (2, 7)]
    assert pairs(SMALL, "shift")[0] == (0, 4)  # one rack's worth
    assert pairs(SMALL, "shift:-1")[0] == (0, 11)
    assert {t for _, t in pairs(SMALL, "incast")} == {0}
    assert pairs(SMALL, "incast:rack-1/tray-0/gpu-1@rack-0") == [(n, 5) for n in range(4)]
    assert len(pairs(SMALL, "bisection")) == 12
    own = (
        "pairs: rack-0/tray-0/gpu-0>rack-2/tray-1/gpu-1, rack-1/tray-1/gpu-0 > rack-0/tray-0/gpu-1"
    )
    assert pairs(SMALL, own) == [(0, 11), (6, 1)]


def test_racks_take_part_as_named() -> None:
    found = pairs(SMALL, "all-to-all@rack-[0,2]")
    assert {s for s, _ in found} == {0, 1, 2, 3, 8, 9, 10, 11}
    assert len(found) == 8 * 7


def test_the_seed_decides_random_patterns() -> None:
    for text in ("permutation", "bisection", "random-pairs:9"):
        assert pairs(SMALL, text, 1) == pairs(SMALL, text, 1) != pairs(SMALL, text, 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("permutatoin", "permutation"),
        ("permutation:3", "takes no argument"),
        ("all-to-all:3", "takes no argument"),
        ("shift:x", "whole number"),
        ("shift:1.5", "whole number"),
        ("shift:0", "to itself"),
        ("shift:12", "to itself"),
        ("random-pairs:0", "flows"),
        ("random-pairs:-1", "flows"),
        ("random-pairs:9999999", "3,000,000"),
        ("incast:rack-0/tray-0/gpu-9", "gpu"),
        ("incast:leaf-0", "not a GPU"),
        ("incast:rack-7/tray-0/gpu-0", "rack"),
        ("all-to-all@leaf-0", "other things than racks"),
        ("all-to-all@rack-9", "rack"),
        ("pairs", "GPU>GPU"),
        ("pairs:rack-0/tray-0/gpu-0", "GPU>GPU"),
        ("pairs:rack-0/tray-0/gpu-0>rack-0/tray-0/gpu-0", "to itself"),
        ("pairs:rack-0/tray-0/gpu-0>spine-0", "not a GPU"),
    ],
)
def test_what_cannot_be_used_says_so(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        flows_of(SMALL, traffic_job(text), 0)


def test_every_pattern_can_be_written_without_argument_but_pairs() -> None:
    for pattern in PATTERNS:
        if pattern != "pairs":
            assert len(pairs(SMALL, pattern)) > 0


def test_a_shift_by_a_rack_is_full_rate() -> None:
    found = result(AZURE, "shift")
    assert (found.flows, found.cut_off, found.gone, found.by_fabric) == (4_608, 0, 0, 0)
    assert found.min_GBps == found.mean_GBps == pytest.approx(100)
    assert found.total_GBps == pytest.approx(460_800)
    assert found.bottleneck is not None
    name, load, capacity = found.bottleneck
    assert "nic" in name
    assert load == pytest.approx(capacity) == 100


def test_the_slowest_flow_names_its_link() -> None:
    # Racks 0 to 3 to racks 4 to 7: leaf 0 lacks three of its 36 spines, 6,600 GB/s for 72 flows.
    found = result(AZURE, "shift:288@rack-[0-7]", "leaf-0>spine-[3-5]")
    assert found.min_GBps == pytest.approx(6_600 / 72)
    assert found.total_GBps == pytest.approx(576 * 100 - 600)
    assert found.bottleneck is not None
    # The same 33 spines lead down to leaf 4: as full.
    assert found.bottleneck[0] in ("leaf-0>33 spines", "33 spines>leaf-4")
    assert found.bottleneck[1] == pytest.approx(6_600)
    assert found.bottleneck[2] == 6_600


def test_flows_without_a_way_and_of_failed_gpus_count_as_zero() -> None:
    # Each GPU of rack 0 sends to the same place in rack 1.
    found = result(AZURE, "shift:72@rack-[0-1]", "rack-0/tray-0/nic-*", "rack-1/tray-1/gpu-0")
    # Cut off: 4 flows out of tray 0 of rack 0, and 4 into it. Gone: one into, one out of the GPU.
    assert (found.cut_off, found.gone) == (8, 2)
    assert found.min_GBps == 0
    assert found.mean_GBps == pytest.approx(found.total_GBps / 144)
    assert found.bottleneck is not None
    assert found.bottleneck[1] > 0
    dead = result(AZURE, "shift:72@rack-[0-1]", "rack-0")
    assert (dead.gone, dead.total_GBps, dead.bottleneck) == (144, 0, None)


def test_a_rack_without_nvlink_uses_the_fabric() -> None:
    found = result(AZURE, "shift:4@rack-0", "rack-0/nvswitch-*")
    assert found.by_fabric == 72
    assert found.min_GBps == pytest.approx(100)
    assert result(AZURE, "shift:4@rack-0").min_GBps == pytest.approx(900)


def test_a_result_is_the_summary_of_its_flows() -> None:
    health = broken(SMALL, "spine-0", "rack-1/tray-0/nic-0")
    source, target = flows_of(SMALL, traffic_job("random-pairs:30"), 4)
    rate = flow_rates(SMALL, health, "adaptive", 4, (source, target)).rate
    found = result(SMALL, "random-pairs:30", "spine-0", "rack-1/tray-0/nic-0", seed=4)
    assert found.min_GBps == rate.min()
    assert found.mean_GBps == pytest.approx(rate.mean())
    assert found.total_GBps == pytest.approx(rate.sum())


def test_jobs_share_what_there_is() -> None:
    """Two incasts to one GPU, from two racks and from one: 144 and 72 flows at one NIC."""
    by = router(AZURE, broken(AZURE), "adaptive", 0)
    links = len(by.space.capacity)
    jobs = [
        (traffic_job(f"incast:rack-0/tray-0/gpu-0@{r}"), None) for r in ("rack-[1-2]", "rack-3")
    ]
    found, streams = results(by, jobs, np.zeros(links), np.zeros(links, dtype=np.int64))
    assert [one.min_GBps for one in found] == pytest.approx([100 / 216] * 2)
    assert [one.total_GBps for one in found] == pytest.approx([144 / 2.16, 72 / 2.16])
    into = int(by.space.starts[1])
    assert streams[:, into] == pytest.approx([144 / 2.16, 72 / 2.16])


def test_a_demand_is_the_most_a_flow_gets() -> None:
    by = router(SMALL, broken(SMALL), "adaptive", 0)
    links = len(by.space.capacity)
    job = TrafficJob("slow", "shift", "4", demand=12.5)
    found, _ = results(by, [(job, None)], np.zeros(links), np.zeros(links, dtype=np.int64))
    assert (found[0].min_GBps, found[0].total_GBps) == (12.5, 150.0)
    assert found[0].bottleneck is None


def test_other_jobs_leave_less_but_at_least_a_fair_part() -> None:
    by = router(SMALL, broken(SMALL), "adaptive", 0)
    load, users = np.zeros(len(by.space.capacity)), np.zeros(len(by.space.capacity), dtype=np.int64)
    nic = int(by.space.starts[0])
    job = (traffic_job("pairs:rack-0/tray-0/gpu-0>rack-2/tray-0/gpu-0"), None)
    for busy, left in ((30.0, 70.0), (95.0, 50.0)):
        load[nic], users[nic] = busy, 1
        found, _ = results(by, [job], load, users)
        assert found[0].min_GBps == pytest.approx(left)
        assert found[0].problems == ()
