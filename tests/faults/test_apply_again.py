"""What is remembered of a fault's links and of a health's cables is what is found afresh."""

from __future__ import annotations

import numpy as np
import pytest

from gbviz.faults.apply import _places, apply
from gbviz.topology.health import _ways
from tests.routing import FABRICS, broken, damage


@pytest.mark.parametrize("name", FABRICS)
def test_faults_applied_again(name: str) -> None:
    fabric = FABRICS[name]
    rng = np.random.default_rng(5)
    for count in (1, 3, 6):
        did = damage(fabric, rng, count)
        first = broken(fabric, *did)
        again = broken(fabric, *did)
        _places.cache_clear()
        _ways.cache_clear()
        fresh = broken(fabric, *did)
        for health in (first, again):
            assert np.array_equal(health.node_factor, fresh.node_factor)
            assert np.array_equal(health.node_cause, fresh.node_cause)
            assert health.nvlink_factor.keys() == fresh.nvlink_factor.keys()
            for rack, own in fresh.nvlink_factor.items():
                assert np.array_equal(health.nvlink_factor[rack], own)
            for tier in range(len(fabric.tiers)):
                mine, other = health.link_factor[tier], fresh.link_factor[tier]
                if mine is None or other is None:
                    assert mine is other
                else:
                    assert np.array_equal(mine, other)
                assert np.array_equal(health.ways(fabric, tier), fresh.ways(fabric, tier))
                assert not health.ways(fabric, tier).flags.writeable


def test_faults_do_not_write_into_what_is_remembered() -> None:
    fabric = FABRICS["two tiers, two cables a pair"]
    before = broken(fabric, "leaf-0~spine-1#0").link_factor[1]
    broken(fabric, ("leaf-0~spine-1#0", 0.5))
    after = broken(fabric, "leaf-0~spine-1#0").link_factor[1]
    assert before is not None
    assert after is not None
    assert np.array_equal(before, after)
    assert apply(fabric, ()).link_factor[1] is None
