"""From a cluster's sizes to its fabric: nodes, cables, ports."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.topology.catalogue import catalogue
from gbviz.topology.fabric import Fabric, Ints, Kind, NVLink, Tier
from gbviz.topology.names import BuiltNames
from gbviz.topology.sizing import FatTree, fat_tree

if TYPE_CHECKING:
    from gbviz.topology.spec import ClusterSpec

MOST_GPUS = 1_000_000


@lru_cache(maxsize=8)
def build(spec: ClusterSpec) -> Fabric:
    """The fabric of a spec; the same object for the same spec.

    Cables are numbered in port order: NIC ``i``'s cable is cable ``i`` of its tier, the up cables
    of leaf ``l`` are ``l U ... l U + U - 1``, those of a spine likewise.

    Parameters
    ----------
    spec
        Sizes.

    Returns
    -------
    Fabric
        Read-only arrays; 4,608 GPUs take about 1 MB, 103,680 about 30 MB.

    Raises
    ------
    InputError
        The parts do not fit (see `fat_tree`), or more than a million GPUs are asked for.

    References
    ----------
    Port rules derived from NVIDIA DGX SuperPOD B300 XDR reference architecture (RA-11339-001).

    Examples
    --------
    >>> from gbviz.topology.spec import ClusterSpec
    >>> fabric = build(ClusterSpec(racks=64))
    >>> [tier.n for tier in fabric.tiers], fabric.nvlink.n
    ([4608, 4608], 82944)
    """
    if spec.n_gpus > MOST_GPUS:
        raise InputError(f"{spec.n_gpus:,} GPUs are more than {MOST_GPUS:,}", where="racks")
    shape = fat_tree(spec)
    kinds = _kinds(spec, shape)
    nvlink = NVLink(
        spec.racks,
        spec.gpus_per_rack,
        kinds["nvswitch"].per_owner,
        catalogue().value("nvlink.link_GBps"),
    )
    nics = _nic_tier(spec, shape, kinds, nvlink.end)
    tiers = [nics, _spine_tier(spec, shape, kinds, nics.end)]
    if shape.cores:
        tiers.append(_core_tier(spec, shape, kinds, tiers[-1].end))
    level = np.zeros(sum(kind.count for kind in kinds.values()), dtype=np.int8)
    for height, name in enumerate(("leaf", "spine", "core"), start=1):
        level[kinds[name].nodes] = height
    level.flags.writeable = False
    return Fabric(spec, shape, kinds, nvlink, tuple(tiers), BuiltNames(kinds), level)


def _kinds(spec: ClusterSpec, shape: FatTree) -> dict[str, Kind]:
    facts = catalogue()
    trays, racks = spec.trays_per_rack, spec.racks
    nvtrays = int(facts.value("rack.nvswitch_trays"))
    asics = nvtrays * int(facts.value("rack.asics_per_nvswitch_tray"))
    cooling = spec.cooling
    loops = -(-racks // cooling.racks_in_loop)
    # owner's kind, how many an owner has, how many at the top
    rows: list[tuple[str, str, int]] = [
        ("rack", "", racks),
        ("tray", "rack", trays),
        ("gpu", "tray", spec.gpus_per_tray),
        ("nic", "tray", spec.gpus_per_tray),
        ("cpu", "tray", int(facts.value("rack.cpus_per_tray"))),
        ("nvtray", "rack", nvtrays),
        ("nvswitch", "rack", asics),
        ("feed", "rack", int(facts.value("rack.feeds"))),
        ("shelf", "rack", int(facts.value("rack.power_shelves"))),
        ("leaf", "", shape.leaves),
        ("spine", "", shape.spines),
        ("core", "", shape.cores),
        (cooling.kind, "", loops * cooling.units_per_loop),
        ("loop", "", loops),
    ]
    kinds: dict[str, Kind] = {}
    first = 0
    for name, owner, each in rows:
        count = kinds[owner].count * each if owner else each
        kinds[name] = Kind(name, first, count, owner, each if owner else 0)
        first += count
    return kinds


def _nic_tier(spec: ClusterSpec, shape: FatTree, kinds: dict[str, Kind], first: int) -> Tier:
    """NIC i of a tray to its rail's leaf; down port 18 (rack mod 4) + tray + 1."""
    nic = np.arange(kinds["nic"].count)
    tray, rail = np.divmod(nic, shape.rails)
    rack, tray = np.divmod(tray, spec.trays_per_rack)
    group, slot = np.divmod(rack, shape.racks_per_group)
    lower = kinds["nic"].first + nic
    upper = kinds["leaf"].first + shape.rails * group + rail
    port = spec.trays_per_rack * slot + tray + 1
    ends = (lower, upper, np.ones_like(nic), port)
    return _tier("nic-leaf", first, ends, spec.port_GBps, 1)


def _spine_tier(spec: ClusterSpec, shape: FatTree, kinds: dict[str, Kind], first: int) -> Tier:
    """Leaf l of a pod to its spines: leaf port 73 + m s + j, spine port m l + j + 1."""
    leaf, up = np.divmod(np.arange(shape.leaves * shape.uplinks), shape.uplinks)
    spine, j = np.divmod(up, shape.m)
    pod, in_pod = np.divmod(leaf, shape.leaves_per_pod)
    lower = kinds["leaf"].first + leaf
    upper = kinds["spine"].first + pod * shape.spines_per_pod + spine
    ends = (lower, upper, shape.down_ports + 1 + up, shape.m * in_pod + j + 1)
    return _tier("leaf-spine", first, ends, spec.port_GBps, shape.m)


def _core_tier(spec: ClusterSpec, shape: FatTree, kinds: dict[str, Kind], first: int) -> Tier:
    """Spine i of a pod to core group i: spine port 73 + q c + j, core port q pod + j + 1."""
    spine, up = np.divmod(np.arange(shape.spines * shape.uplinks), shape.uplinks)
    core, j = np.divmod(up, shape.q)
    pod, group = np.divmod(spine, shape.spines_per_pod)
    lower = kinds["spine"].first + spine
    upper = kinds["core"].first + group * shape.cores_per_group + core
    ends = (lower, upper, shape.down_ports + 1 + up, shape.q * pod + j + 1)
    return _tier("spine-core", first, ends, spec.port_GBps, shape.q)


def _tier(
    name: str, first: int, ends: tuple[Ints, Ints, Ints, Ints], capacity: float, parallel: int
) -> Tier:
    lower, upper, lower_port, upper_port = ends
    number = np.arange(len(lower))
    return Tier(
        name,
        first,
        _frozen(lower),
        _frozen(upper),
        _frozen(lower_port),
        _frozen(upper_port),
        np.broadcast_to(np.float64(capacity), len(lower)),
        _frozen(number - number % parallel),
    )


def _frozen(values: Ints) -> Ints:
    array = values.astype(np.int32)
    array.flags.writeable = False
    return array
