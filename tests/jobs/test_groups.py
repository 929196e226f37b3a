"""Who talks to whom, against loops over the coordinates of every rank."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.jobs.groups import Groups, groups
from gbviz.jobs.spec import Parallelism

if TYPE_CHECKING:
    from gbviz.topology.fabric import Ints

DIMENSIONS = ("tp", "cp", "ep", "dp", "pp")
Place = dict[str, int]


def places(shape: Parallelism, order: str) -> list[Place]:
    """The coordinates of each rank: counters, the first of the order turning fastest."""
    names = [name for name in order.split("-") if name != "ep"]
    sizes = shape.model_dump()
    found = []
    for rank in range(shape.gpus):
        rest, at = rank, {}
        for name in names:
            rest, at[name] = divmod(rest, sizes[name])
        found.append(at)
    return found


def together(at: list[Place], gpus: list[int], *same: str) -> set[frozenset[int]]:
    """Sets of GPUs whose ranks agree in some coordinates."""
    found: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for place, gpu in zip(at, gpus, strict=True):
        found[tuple(place[name] for name in same)].add(gpu)
    return {frozenset(group) for group in found.values()}


def sets(rows: Ints) -> set[frozenset[int]]:
    found = {frozenset(row) for row in rows.tolist()}
    assert len(found) == len(rows)
    assert all(len(group) == rows.shape[1] for group in found)
    return found


def random_case(seed: int) -> tuple[Parallelism, str, list[int]]:
    rng = np.random.default_rng(seed)
    tp, cp, dp, pp = (int(n) for n in rng.integers(1, 5, 4))
    divisors = [n for n in range(1, cp * dp + 1) if cp * dp % n == 0]
    shape = Parallelism(
        tp=tp, cp=cp, dp=dp, pp=pp, ep=int(rng.choice(divisors)), vpp=int(rng.integers(1, 4))
    )
    order = "-".join(rng.permutation(DIMENSIONS))
    return shape, order, rng.permutation(1000)[: shape.gpus].tolist()


def found_in(shape: Parallelism, order: str, gpus: list[int]) -> Groups:
    return groups(np.array(gpus), shape, order)


@pytest.mark.parametrize("seed", range(40))
def test_members_of_every_group(seed: int) -> None:
    shape, order, gpus = random_case(seed)
    found, at = found_in(shape, order, gpus), places(shape, order)
    for place in at:
        place["replica"] = place["dp"] * shape.cp + place["cp"]
        place["block"], place["expert"] = divmod(place["replica"], shape.ep)
    assert sets(found.tp) == together(at, gpus, "cp", "dp", "pp")
    assert sets(found.cp) == together(at, gpus, "tp", "dp", "pp")
    assert sets(found.dp) == together(at, gpus, "tp", "pp")
    assert sets(found.ep) == together(at, gpus, "tp", "pp", "block")
    assert sets(found.expert_dp) == together(at, gpus, "tp", "pp", "expert")


@pytest.mark.parametrize("seed", range(40))
def test_neighbours_in_the_pipeline(seed: int) -> None:
    shape, order, gpus = random_case(seed)
    at = places(shape, order)
    rank = {tuple(place[n] for n in ("tp", "cp", "dp", "pp")): r for r, place in enumerate(at)}
    pairs = []
    for r, place in enumerate(at):
        stage = place["pp"] + 1
        if stage == shape.pp:
            if shape.vpp == 1 or shape.pp == 1:
                continue
            stage = 0
        other = rank[place["tp"], place["cp"], place["dp"], stage]
        pairs.append((gpus[r], gpus[other]))
    assert sorted(map(tuple, found_in(shape, order, gpus).pp.tolist())) == sorted(pairs)


@pytest.mark.parametrize("seed", range(20))
def test_experts_lie_within_the_replicas_and_cross_them_once(seed: int) -> None:
    shape, order, gpus = random_case(seed)
    found = found_in(shape, order, gpus)
    holders = sets(found.dp)
    for group in sets(found.ep):
        assert sum(group <= other for other in holders) == 1
    for ep, copies in itertools.product(sets(found.ep), sets(found.expert_dp)):
        one_stage = any(ep <= other and copies <= other for other in holders)
        assert len(ep & copies) == one_stage


def test_by_hand() -> None:
    shape = Parallelism(tp=2, cp=2, dp=2, pp=2, ep=4, vpp=2)
    found = groups(np.arange(16), shape, "tp-cp-ep-dp-pp")
    assert found.tp[0].tolist() == [0, 1]
    assert found.cp[0].tolist() == [0, 2]
    assert found.dp.tolist() == [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]
    assert found.ep.tolist() == found.dp.tolist()
    assert found.expert_dp.shape == (16, 1)
    assert found.pp.tolist() == [[n, n + 8] for n in range(8)] + [[n + 8, n] for n in range(8)]
