"""Small fabrics of every shape and random damage on them, for tests of routing and flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbviz.faults import Action, apply, resolve
from gbviz.topology import build, cluster_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from gbviz.topology.fabric import Fabric
    from gbviz.topology.health import Health

FABRICS = {
    "two tiers, two cables a pair": build(
        cluster_spec(racks=3, trays_per_rack=2, gpus_per_tray=2, radix=8)
    ),
    "two tiers, last group part full": build(
        cluster_spec(racks=5, trays_per_rack=3, gpus_per_tray=2, radix=12)
    ),
    "two tiers, half the uplinks, three rails": build(
        cluster_spec(racks=3, trays_per_rack=2, gpus_per_tray=3, radix=8, uplinks_per_leaf=2)
    ),
    "one rail": build(cluster_spec(racks=4, trays_per_rack=3, gpus_per_tray=1, radix=6, spines=3)),
    "three tiers, three pods": build(
        cluster_spec(racks=5, trays_per_rack=2, gpus_per_tray=2, radix=8, leaves_per_pod=2)
    ),
    "three tiers, last pod part full": build(
        cluster_spec(racks=5, trays_per_rack=2, gpus_per_tray=2, radix=8, leaves_per_pod=4)
    ),
    "three tiers, two groups a pod": build(
        cluster_spec(racks=8, trays_per_rack=2, gpus_per_tray=2, radix=8, leaves_per_pod=4)
    ),
    "three tiers, three rails": build(
        cluster_spec(racks=7, trays_per_rack=2, gpus_per_tray=3, radix=12, leaves_per_pod=3)
    ),
}
SWITCHES = ("leaf", "spine", "core")
CABLES = ("cable", "half cable", "direction", "half direction", "bundle", "half bundle", "one way")
NVLINK = ("NVLink", "half NVLink", "NVLink direction", "nvswitch", "nvtray", "one-way GPU")
HOSTS = ("nic", "half nic", "nic direction", "half nic direction", "gpu", "tray")
EVERYTHING = (*CABLES, *SWITCHES, *NVLINK, *HOSTS, "nic cable", "rack")


def broken(fabric: Fabric, *did: str | tuple[str, float]) -> Health:
    """The health after some components failed, or are degraded to a factor."""
    actions = [
        Action("fail", it) if isinstance(it, str) else Action("degrade", it[0], it[1]) for it in did
    ]
    return apply(fabric, resolve(fabric, actions))


def damage(
    fabric: Fabric, rng: np.random.Generator, count: int, kinds: Sequence[str] = EVERYTHING
) -> list[str | tuple[str, float]]:
    """Random faults of some kinds, for `broken`; kinds that the fabric lacks are passed over."""
    chosen = [kinds[int(n)] for n in rng.integers(0, len(kinds), count)]
    return [fault for kind in chosen for fault in _fault(fabric, rng, kind)]


def _fault(fabric: Fabric, rng: np.random.Generator, kind: str) -> list[str | tuple[str, float]]:
    half, what = kind.startswith("half "), kind.removeprefix("half ")
    factor = float(rng.choice([0.25, 0.5, 0.75]))
    if what in ("cable", "direction", "bundle", "one way", "nic cable", "nic direction"):
        number = 0 if what.startswith("nic") else int(rng.integers(1, len(fabric.tiers)))
        link = fabric.tiers[number].first + int(rng.integers(0, 2 * fabric.tiers[number].n))
        directed = "direction" in what or what == "one way"
        name = fabric.link_name(link) if directed else fabric.cable_name(link)
        # All parallel cables of the pair.
        name = name.split("#")[0] if what in ("bundle", "one way") else name
    elif what == "one-way GPU":
        gpu = fabric.name(int(rng.integers(fabric.nodes("gpu").start, fabric.nodes("gpu").stop)))
        ends = [gpu, gpu.split("/")[0] + "/nvswitch-*"]
        name = ">".join(ends if rng.random() < 0.5 else ends[::-1])
    elif "NVLink" in what:
        assert fabric.nvlink is not None
        link = int(rng.integers(0, fabric.nvlink.end))
        name = fabric.link_name(link) if "direction" in what else fabric.cable_name(link)
    elif fabric.count(what):
        nodes = fabric.nodes(what)
        name = fabric.name(int(rng.integers(nodes.start, nodes.stop)))
    else:
        return []
    return [(name, factor)] if half else [name]
