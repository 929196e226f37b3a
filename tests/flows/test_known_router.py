"""A router that takes over parts of an earlier one is the same as one that does not."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gbviz.cooling import steady
from gbviz.engine.metrics import metrics
from gbviz.flows.router import router
from gbviz.topology import build, cluster_spec
from tests.routing import broken

if TYPE_CHECKING:
    from gbviz.routing.modes import Mode

EIGHT = build(cluster_spec(racks=8))
PODS = build(cluster_spec(racks=8, leaves_per_pod=4))
PARTS = (
    "leaf-0~spine-1#0",
    "leaf-3>spine-1",
    "spine-1",
    "leaf-2",
    "rack-0/tray-0/nic-1",
    "rack-1/tray-3/gpu-2",
    "rack-1/nvswitch-4",
    "rack-7/tray-0",
    "rack-7",
    "*/tray-1/nic-0",
)


def same(one: Any, two: Any) -> bool:
    """Whether two values are equal to the last bit, fabrics and healths aside."""
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and one.shape == two.shape and bool((one == two).all())
    if is_dataclass(one):
        names = [f.name for f in fields(one) if f.name not in ("fabric", "health")]
        return all(same(getattr(one, name), getattr(two, name)) for name in names)
    if isinstance(one, Mapping):
        return list(one) == list(two) and all(same(one[key], two[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two)


@pytest.mark.parametrize("mode", ["adaptive", "spray", "static"])
@pytest.mark.parametrize("seed", range(4))
def test_parts_of_an_earlier_router_are_those_of_a_fresh_one(mode: Mode, seed: int) -> None:
    rng = random.Random(seed)
    for fabric in (EIGHT, PODS):
        known, taken = None, 0
        failed: set[str] = set()
        for _ in range(12):
            failed ^= {rng.choice(PARTS)}
            health = broken(fabric, *sorted(failed))
            by_rack = rng.random() < 0.2
            fresh = router(fabric, health, mode, 0, by_rack=by_rack)
            found = router(fabric, health, mode, 0, by_rack=by_rack, known=known)
            assert same(found, fresh)
            thermal = steady(fabric, health)
            assert same(metrics(found, thermal), metrics(fresh, thermal))
            if known is not None:
                taken += (found.live is known.live) + (found.nvlink is known.nvlink)
                taken += found.nics is known.nics
            known = found
        assert taken > 3


def test_nothing_is_taken_from_another_fabric_or_mode() -> None:
    whole = router(EIGHT, broken(EIGHT), "adaptive", 0)
    for fabric, mode in ((PODS, "adaptive"), (EIGHT, "spray")):
        found = router(fabric, broken(fabric), mode, 0, known=whole)  # type: ignore[arg-type]
        assert found.live is not whole.live
        assert found.nics is not whole.nics
        assert same(found, router(fabric, broken(fabric), mode, 0))  # type: ignore[arg-type]
