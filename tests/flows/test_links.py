"""What the solver's links are called, and how their loads spread over real cables."""

from __future__ import annotations

import numpy as np
import pytest

from gbviz.flows.links import LinkSpace, cable_links, class_links
from gbviz.routing.nvlink import nvlink_stage
from gbviz.routing.stages import stages
from gbviz.topology import build, cluster_spec
from tests.routing import CABLES, FABRICS, SWITCHES, broken, damage
from tests.slow_reference import Net

AZURE = build(cluster_spec("azure-gb300"))
PODS = FABRICS["three tiers, three pods"]


def space_of(fabric: object, *did: str | tuple[str, float], mode: str = "adaptive") -> LinkSpace:
    assert fabric in (AZURE, PODS)
    own = AZURE if fabric is AZURE else PODS
    health = broken(own, *did)
    nvlink = nvlink_stage(own, health)
    if mode in ("ecmp", "static"):
        return cable_links(own, health, nvlink)
    live = stages(own, health, "spray" if mode == "spray" else "adaptive")
    return class_links(own, health, live, nvlink)


def test_names_of_class_links() -> None:
    space = space_of(AZURE, "leaf-3~spine-7#0", "rack-1/nvswitch-0")
    start = space.starts.tolist()
    assert space.name(0) == "rack-0/tray-0/nic-0>leaf-0#0"
    assert space.name(start[1] + 5) == "leaf-1>rack-0/tray-1/nic-1#0"
    assert space.name(start[2]) == "leaf-0>35 spines"
    assert space.name(start[2] + 2 * 3 + 1) == "leaf-3>spine-7"
    assert space.name(start[3] + 2 * 3 + 1) == "spine-7>leaf-3"
    assert space.name(start[-2]) == "rack-0/tray-0/gpu-0>NVLink"
    assert space.name(start[-2] + 4_608 + 9) == "NVLink>rack-0/tray-2/gpu-1"
    # Rack 1 has its own links: 2 classes of ASICs for each of its 72 GPUs.
    assert space.name(start[-2] + 2 * 4_608 + 2 * 5) == "rack-1/tray-1/gpu-1>NVLink"
    assert space.name(start[-2] + 2 * 4_608 + 2 * 72 + 3) == "NVLink>rack-1/tray-0/gpu-1"
    assert start[-1] == len(space.capacity)


def test_names_of_core_links() -> None:
    space = space_of(PODS, "spine-2~core-1#0")
    live = space.stages
    assert live is not None
    E, start = len(live.cores), space.starts.tolist()
    names = {space.name(start[4] + E + e) for e in range(E)}  # of pod 1
    assert names == {"spine-2>core-0", "spine-2>core-1", "spine-3>2 cores"}
    assert space.name(start[5]).endswith(">spine-0")


def test_names_of_cables() -> None:
    space = space_of(PODS, mode="ecmp")
    names = [space.name(link) for link in range(int(space.starts[-2]))]
    first = PODS.tiers[0].first
    assert names == [PODS.link_name(first + link) for link in range(len(names))]


def test_links_in_words() -> None:
    did = ("leaf-3~spine-7#0", ("leaf-3~spine-9#1", 0.5), ("rack-0/tray-0/nic-0", 0.25))
    space = space_of(AZURE, *did)
    live = space.stages
    assert live is not None
    start = space.starts.tolist()
    assert space.words(0) == "rack-0/tray-0/nic-0>leaf-0#0 at 25 % of its rate"
    assert space.words(1) == "rack-0/tray-0/nic-1>leaf-1#0"
    up, down = (space.words(start[part] + 3 * live.n_classes) for part in (2, 3))
    assert up == "leaf-3 uplinks, 71 of 72 alive, 1 of them slow"
    assert down == "leaf-3 downlinks from spines, 71 of 72 alive, 1 of them slow"
    assert space.words(start[2]) == "leaf-0 uplinks, 72 of 72 alive"
    assert space.words(start[-2]) == "rack-0/tray-0/gpu-0>NVLink"
    cables = space_of(AZURE, *did, mode="static")
    slow = AZURE.tiers[1].first - AZURE.tiers[0].first + 3 * 72 + 19
    assert cables.words(slow) == "leaf-3>spine-9#1 at 50 % of its rate"
    pods = space_of(PODS, "spine-2~core-1#0")
    core = int(pods.starts[4])
    assert pods.words(core) == pods.name(core)


@pytest.mark.parametrize("mode", ["adaptive", "spray"])
def test_capacity_of_a_class_is_that_of_its_cables(mode: str) -> None:
    space = space_of(AZURE, ("leaf-0~spine-3#1", 0.5), "spine-4", mode=mode)
    own = space.capacity[space.starts[2] : space.starts[2] + 3]
    # 34 spines of 2 cables; 100 + 50 or twice the slower one; a dead spine.
    assert own.tolist() == [6_800, 150 if mode == "adaptive" else 100, 0]
    assert space.capacity[: space.starts[1]].sum() == 460_800


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("even", [False, True])
def test_full_class_links_fill_their_cables(name: str, even: bool) -> None:
    """A class link at its capacity puts no cable above its own, and by capacity fills each."""
    fabric, rng = FABRICS[name], np.random.default_rng(3)
    for _ in range(5):
        health = broken(fabric, *damage(fabric, rng, 12, (*CABLES, *SWITCHES)))
        live, net = stages(fabric, health, "spray" if even else "adaptive"), Net(fabric, health)
        space = class_links(fabric, health, live, nvlink_stage(fabric, health))
        loads = space.cable_loads(space.capacity)
        assert [load.shape for load in loads] == [(2, tier.n) for tier in fabric.tiers]
        for tier, load in zip(fabric.tiers, loads, strict=True):
            each = load.reshape(-1)
            for offset in range(2 * tier.n):
                rate = float(net.rate.get(tier.first + offset, 0))
                assert each[offset] <= rate * (1 + 1e-12)
                if not even:
                    assert each[offset] == pytest.approx(rate, rel=1e-12)
        # What is on the class links is on the cables, no more and no less.
        for part in range(0, 2 * len(fabric.tiers), 2):
            total = space.capacity[space.starts[part] : space.starts[part + 1]].sum()
            assert loads[part // 2][0].sum() == pytest.approx(total)


def test_cable_loads_of_single_cables_are_themselves() -> None:
    space = space_of(PODS, mode="static")
    load = np.arange(len(space.capacity), dtype=float)
    flat = np.concatenate([part.reshape(-1) for part in space.cable_loads(load)])
    assert (flat == load[: len(flat)]).all()
