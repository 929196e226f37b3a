"""Which GPUs jobs get, and which rank is where, against plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gbviz.errors import InputError
from gbviz.jobs.placement import Placed, place, rank_grid
from gbviz.jobs.spec import Placement
from gbviz.topology import build, cluster_spec

FOUR = build(cluster_spec(racks=4))
SIXTEEN = build(cluster_spec(racks=16))


def one(placement: Placement) -> Placed:
    return place(FOUR, [("a", placement)])[0]


def ranks(placement: Placement) -> list[int]:
    return [int(gpu) for gpu in one(placement).gpus]


def refusal(*jobs: tuple[str, Placement]) -> InputError:
    with pytest.raises(InputError) as caught:
        place(FOUR, jobs)
    return caught.value


def test_nothing_stated_is_the_whole_cluster() -> None:
    found = one(Placement())
    assert found.gpus.tolist() == list(range(288))
    assert found.spares.tolist() == []


def test_racks_and_gpus_of_each() -> None:
    assert ranks(Placement(racks="rack-[1-2]")) == list(range(72, 216))
    part = Placement(racks="rack-[0,2-3]", gpus_per_rack=5)
    assert ranks(part) == [*range(5), *range(144, 149), *range(216, 221)]
    assert ranks(Placement(gpus_per_rack=1)) == [0, 72, 144, 216]


def test_gpus_trays_and_racks_in_the_order_stated() -> None:
    listed = ("rack-1/tray-2/gpu-3", "rack-0/tray-17", "rack-3")
    tray = 72 + 2 * 4 + 3
    assert ranks(Placement(gpus=listed)) == [tray, 68, 69, 70, 71, *range(216, 288)]
    assert ranks(Placement(gpus="rack-2/tray-0/gpu-[0,2]")) == [144, 146]


def test_machines_are_the_first_trays_that_nobody_uses() -> None:
    jobs = [
        ("a", Placement(gpus="rack-0/tray-1/gpu-2")),
        ("b", Placement(vms=19)),
        ("c", Placement(vms=2)),
    ]
    _, b, c = place(FOUR, jobs)
    trays = [t for t in range(72) if t != 1]
    assert b.gpus.tolist() == [4 * t + g for t in trays[:19] for g in range(4)]
    assert c.gpus.tolist() == [4 * t + g for t in trays[19:21] for g in range(4)]


def test_288_machines_are_16_racks_of_18() -> None:
    (found,) = place(SIXTEEN, [("a", Placement(vms=288))])
    assert found.gpus.tolist() == list(range(16 * 72))
    assert np.bincount(found.gpus // 72).tolist() == [72] * 16


def test_machines_stated_before_others_do_not_look_ahead() -> None:
    error = refusal(("a", Placement(vms=1)), ("b", Placement(gpus="rack-0/tray-0/gpu-3")))
    assert "rack-0/tray-0/gpu-3 already runs a" in str(error)


def test_spares_come_from_the_end() -> None:
    found = one(Placement(racks="rack-1", spares=3))
    assert found.gpus.tolist() == list(range(72, 141))
    assert found.spares.tolist() == [141, 142, 143]


def test_two_jobs_on_one_gpu_name_both_and_the_gpu() -> None:
    error = refusal(
        ("first", Placement(racks="rack-[0-1]")), ("second", Placement(racks="rack-[1-2]"))
    )
    assert error.where == "job second"
    assert "rack-1/tray-0/gpu-0 already runs first" in error.message
    assert "71 more" in error.message


def test_a_spare_of_another_job_is_taken_too() -> None:
    error = refusal(("first", Placement(racks="rack-0", spares=1)), ("second", Placement()))
    assert "already runs first" in error.message


def test_one_gpu_twice_in_one_job_is_refused() -> None:
    error = refusal(("a", Placement(gpus=("rack-1", "rack-1/tray-2"))))
    assert error.message == "gpus names rack-1/tray-2/gpu-0 more than once"
    assert error.where == "job a"


@pytest.mark.parametrize(
    ("placement", "said"),
    [
        (Placement(racks="rack-0", gpus_per_rack=73), "a rack has 72 GPUs"),
        (Placement(vms=73), "asks for 73 virtual machines, 72 trays are free"),
        (Placement(racks="rack-0", spares=72), "72 spares leave none of its 72 GPUs"),
        (Placement(racks="rack-0", gpus="rack-1"), "states both racks and gpus"),
        (Placement(gpus="rack-0", vms=1), "states both gpus and vms"),
        (Placement(vms=1, gpus_per_rack=4), "gpus_per_rack goes with racks, not with vms"),
        (Placement(racks="leaf-0"), "racks names leaf-0, which is no rack"),
        (Placement(gpus="spine-0"), "gpus names spine-0, which is no GPU, tray or rack"),
        (Placement(gpus=()), "gpus is an empty list"),
        (Placement(racks="rack-4"), "rack-4"),
    ],
)
def test_contradictions_are_refused_with_the_job(placement: Placement, said: str) -> None:
    error = refusal(("a", placement))
    assert said in error.message
    assert error.where == "job a"


@pytest.mark.parametrize("names", list(itertools.permutations(("tp", "cp", "ep", "dp", "pp"))))
def test_the_rank_at_each_place_for_every_order(names: tuple[str, ...]) -> None:
    sizes = {"tp": 2, "cp": 3, "dp": 4, "pp": 5}
    found = rank_grid(sizes, "-".join(names))
    assert found.shape == (5, 4, 3, 2)
    seen = set()
    for pp, dp, cp, tp in itertools.product(range(5), range(4), range(3), range(2)):
        at = {"tp": tp, "cp": cp, "dp": dp, "pp": pp}
        rank, step = 0, 1
        for name in names:  # the fastest first
            if name == "ep":
                continue
            rank += at[name] * step
            step *= sizes[name]
        assert found[pp, dp, cp, tp] == rank
        seen.add(rank)
    assert seen == set(range(120))


@pytest.mark.parametrize(
    "order", ["tp-cp-dp-pp", "tp-cp-ep-dp-dp", "tp cp ep dp pp", "", "tp-cp-ep-dp-pp-tp"]
)
def test_what_is_no_order_is_refused(order: str) -> None:
    with pytest.raises(InputError, match="is not an order of tp, cp, ep, dp, pp"):
        rank_grid({"tp": 1, "cp": 1, "dp": 1, "pp": 1}, order)
