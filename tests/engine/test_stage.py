"""What a stage remembers of power and heat is what is found afresh, with the faults that did it."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
import pytest

import gbviz
from gbviz.cooling import start, steady, world_of
from gbviz.engine.stage import Stage
from gbviz.faults import resolve
from gbviz.faults.actions import Action

if TYPE_CHECKING:
    from gbviz.cooling import Thermal

# Racks 0 and 1 lose one feed of two: their GPUs are capped. Units and second feeds take racks down.
KINDS = ("hxu-{}", "rack-{}/feed-a", "rack-{}/feed-b", "rack-{}/tray-0/gpu-0", "leaf-{}")


def same(some: Thermal, other: Thermal) -> None:
    for field in fields(some):
        mine, fresh = getattr(some, field.name), getattr(other, field.name)
        assert np.array_equal(mine, fresh), field.name


@pytest.mark.parametrize("seed", range(4))
def test_a_settled_state_names_the_faults_of_its_own_list(seed: int) -> None:
    stage = Stage(gbviz.preset("gb300-su"))
    rng = random.Random(seed)
    names = [kind.format(rack) for kind in KINDS for rack in range(2)]
    downs = 0
    for _ in range(40):
        # The same parts in other orders and beside others: other numbers, the same heat.
        chosen = [Action("fail", name) for name in rng.sample(names, rng.randrange(6))]
        health = stage.health(resolve(stage.fabric, chosen))
        found = stage.steady(health, None)
        same(found, steady(stage.fabric, health, None))
        downs += int(found.rack_down.any())
        state = start(stage.fabric, health)
        mine, fresh = stage.world(health, None, state), world_of(stage.fabric, health, None, state)
        assert np.array_equal(mine.target.clock, fresh.target.clock)
        assert np.array_equal(mine.target.die_c, fresh.target.die_c)
        assert np.array_equal(mine.plate_c, fresh.plate_c)
        assert np.array_equal(mine.powerless, fresh.powerless)
    assert 0 < downs < 40
