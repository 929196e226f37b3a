"""Proofs that a fabric is wired as it should be, taken from its arrays and not from the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gbviz.topology.fabric import Fabric, Floats, Ints, Tier
    from gbviz.topology.sizing import FatTree
    from gbviz.topology.spec import ClusterSpec


@dataclass(frozen=True, slots=True)
class BuildCheck:
    """One check of a built fabric: its name, how it went, and one sentence with the numbers."""

    name: str
    passed: bool
    says: str


def check_build(fabric: Fabric) -> list[BuildCheck]:
    """The checks of a fabric's wiring, always in the same order.

    Parameters
    ----------
    fabric
        From `build`, or from a file: then the checks that need sizes are left out.

    Returns
    -------
    list of BuildCheck
        Each passed or not, with the numbers found or the first part that breaks the rule.

    Notes
    -----
    Cost: a few sorts of the cables; 103,680 GPUs take about 0.2 s.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> checks = check_build(build(cluster_spec("azure-gb300")))
    >>> all(check.passed for check in checks)
    True
    >>> print(*(check.says for check in checks[:4]), sep="; ")
    18,432 ports have a cable, none has two; switch ports 1 to 144 of 144 are used, and port 1 of
    every NIC; every leaf has 2 cables to each of the 36 spines; each of the 64 leaves has 72
    uplinks for 72 NICs: non-blocking
    """
    checks = [_ports_once(fabric), _ports_in_range(fabric)]
    if fabric.spec is not None and fabric.shape is not None:
        checks += [_equal_share(fabric, tier) for tier in fabric.tiers[1:]]
        checks.append(_uplinks(fabric, fabric.spec, fabric.shape))
        if fabric.shape.cores:
            checks.append(_spine_balance(fabric, fabric.shape))
        checks += [_cables(fabric, fabric.shape), _one_nic_a_gpu(fabric), _nvlink(fabric)]
        checks.append(_rails(fabric, fabric.spec, fabric.shape))
    checks.append(_rates(fabric))
    return checks


def nonblocking_built(fabric: Fabric) -> tuple[bool, str]:
    """Whether the healthy fabric is non-blocking, and why.

    It is when every leaf has at least the capacity of its cabled NICs upwards, all leaf-spine
    pairs of a pod and all spine-core pairs of a core group share it evenly, and no spine has more
    capacity down than up.

    Returns
    -------
    bool, str
        The answer, and it in words with the numbers. A fabric from a file counts as blocking: the
        rule is one for fat trees.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> nonblocking_built(build(cluster_spec("azure-gb300", uplinks_per_leaf=36)))
    (False, 'no: leaf-0 has 36 uplinks for 72 NICs')
    """
    if fabric.shape is None:
        return False, "not known: this fabric is a general graph, and the rule is for fat trees"
    nics, *upper = fabric.tiers
    leaves, spines = fabric.nodes("leaf"), fabric.nodes("spine")
    need, have = _per_node(nics.upper, leaves, nics), _per_node(upper[0].lower, leaves, upper[0])
    if len(short := np.flatnonzero(have < need)):
        leaf = leaves.start + int(short[0])
        uplinks, below = int((upper[0].lower == leaf).sum()), int((nics.upper == leaf).sum())
        reason = f"{fabric.name(leaf)} has {uplinks} uplinks for {below} NICs"
        if uplinks >= below:
            reason += f", {have[short[0]]:g} GB/s for {need[short[0]]:g}"
        return False, f"no: {reason}"
    for tier in upper:
        if uneven := _uneven(fabric, tier, _pairs(fabric, tier)):
            return False, f"no: {uneven}"
    if len(upper) > 1:
        down, up = (
            _per_node(upper[0].upper, spines, upper[0]),
            _per_node(upper[1].lower, spines, upper[1]),
        )
        if len(short := np.flatnonzero(up < down)):
            name = fabric.name(spines.start + int(short[0]))
            return False, f"no: {name} has {up[short[0]]:g} GB/s up for {down[short[0]]:g} down"
    tight = int((have - need).argmin())
    name = fabric.name(leaves.start + tight)
    numbers = f"{name}: {have[tight]:g} GB/s for {need[tight]:g}"
    return True, f"yes: every leaf has the capacity of its NICs up ({numbers}), shared evenly"


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """P pairs of nodes of a tier that have cables, by lower, then upper end; each array is (P,)."""

    lower: Ints
    upper: Ints
    cables: Ints
    capacity: Floats


def _pairs(fabric: Fabric, tier: Tier) -> _Pairs:
    keys = tier.lower.astype(np.int64) * fabric.n_nodes + tier.upper
    different, which, cables = np.unique(keys, return_inverse=True, return_counts=True)
    lower, upper = np.divmod(different, fabric.n_nodes)
    capacity = np.bincount(which, weights=tier.capacity).astype(np.float64)
    return _Pairs(lower, upper, cables, capacity)


def _uneven(fabric: Fabric, tier: Tier, pairs: _Pairs) -> str:
    """Which pair of a tier has another share than the rest, "" where all have the same.

    Nodes that cables join in this tier are a group: a pod of leaves and spines, or the spines and
    cores of one core group. Each lower node must reach every upper node of its group.
    """
    low, high = tier.name.split("-")
    if not len(pairs.lower):
        return f"no {low} has a cable to a {high}"
    starts = np.flatnonzero(np.diff(pairs.lower, prepend=-1))
    reach = np.diff(np.append(starts, len(pairs.lower)))
    group = _groups(fabric, pairs, starts, reach)
    size = np.bincount(group[np.unique(pairs.upper)], minlength=fabric.n_nodes)
    wanted = size[group[pairs.upper[starts]]]
    if len(odd := np.flatnonzero(reach != wanted)):
        name, whose = fabric.name(int(pairs.lower[starts[odd[0]]])), _whose(tier)
        return (
            f"{name} has cables to {reach[odd[0]]} of the {wanted[odd[0]]} {high}s of its {whose}"
        )
    for values, unit in ((pairs.cables, "cables"), (pairs.capacity, "GB/s")):
        usual = np.median(values)
        if len(odd := np.flatnonzero(values != usual)):
            first, second = (fabric.name(int(ends[odd[0]])) for ends in (pairs.lower, pairs.upper))
            return f"{first} has {values[odd[0]]:g} {unit} to {second}, most pairs have {usual:g}"
    return ""


def _groups(fabric: Fabric, pairs: _Pairs, starts: Ints, reach: Ints) -> Ints:
    """(N,) the lowest upper node that each upper node is joined to by cables of the tier."""
    group = np.arange(fabric.n_nodes)
    while True:
        lowest = np.minimum.reduceat(group[pairs.upper], starts)
        joined = group.copy()
        np.minimum.at(joined, pairs.upper, np.repeat(lowest, reach))
        if np.array_equal(joined, group):
            return group
        group = joined


def _whose(tier: Tier) -> str:
    return "pod" if tier.name == "leaf-spine" else "group"


def _equal_share(fabric: Fabric, tier: Tier) -> BuildCheck:
    low, high = tier.name.split("-")
    pairs = _pairs(fabric, tier)
    name = f"equal {tier.name} share"
    if uneven := _uneven(fabric, tier, pairs):
        return BuildCheck(name, False, uneven)
    m, reach = int(pairs.cables[0]), int((pairs.lower == pairs.lower[0]).sum())
    cables = f"{m} cable" if m == 1 else f"{m} cables"
    whose, total = _whose(tier), fabric.count(high)
    to = f"the {reach} {high}s"
    if reach != total:
        to = f"its {whose}'s {reach} {high}s ({total:,} in all)"
    return BuildCheck(name, True, f"every {low} has {cables} to each of {to}")


def _ports_once(fabric: Fabric) -> BuildCheck:
    nodes = np.concatenate([ends for t in fabric.tiers for ends in (t.lower, t.upper)])
    ports = np.concatenate([p for t in fabric.tiers for p in (t.lower_port, t.upper_port)])
    low = int(ports.min(initial=1))
    width = int(ports.max(initial=1)) - low + 1
    keys = np.sort(nodes.astype(np.int64) * width + (ports - low))
    twice = keys[1:][keys[1:] == keys[:-1]]
    says = f"{len(keys):,} ports have a cable, none has two"
    if len(twice):
        node, port = divmod(int(twice[0]), width)
        others = len(np.unique(twice)) - 1
        says = f"{fabric.name(node)}:{port + low} has more than one cable"
        says += f", and {others:,} other ports have" if others else ""
    return BuildCheck("no port used twice", not len(twice), says)


def _ports_in_range(fabric: Fabric) -> BuildCheck:
    name = "ports within the radix"
    radix = fabric.shape.radix if fabric.shape is not None else None
    low, high = np.iinfo(np.int64).max, 0
    for number, tier in enumerate(fabric.tiers):
        for side, (ends, ports) in enumerate(
            ((tier.lower, tier.lower_port), (tier.upper, tier.upper_port))
        ):
            most = 1 if radix and (number, side) == (0, 0) else radix
            wrong = np.flatnonzero((ports < 1) | (ports > most if most else False))
            if len(wrong):
                at = int(wrong[0])
                known = f"1 to {most}" if most else "from 1 on"
                says = f"{fabric.name(int(ends[at]))}:{ports[at]} cannot be: its ports are {known}"
                return BuildCheck(name, False, says)
            if len(ports) and (number, side) != (0, 0):
                low, high = min(low, int(ports.min())), max(high, int(ports.max()))
    if not high:
        return BuildCheck(name, True, "no switch port is used")
    of = f" of {radix}" if radix else ""
    nics = ", and port 1 of every NIC" if radix else "; the file states no radix"
    return BuildCheck(name, True, f"switch ports {low} to {high}{of} are used{nics}")


def _uplinks(fabric: Fabric, spec: ClusterSpec, shape: FatTree) -> BuildCheck:
    leaves = fabric.nodes("leaf")
    nics, up = _per_node(fabric.tiers[0].upper, leaves), _per_node(fabric.tiers[1].lower, leaves)
    name, stated = "uplinks for down ports", spec.uplinks
    wrong = np.flatnonzero((up != stated) | (nics > shape.down_ports))
    if len(wrong):
        leaf = fabric.name(leaves.start + int(wrong[0]))
        says = f"{leaf} has {up[wrong[0]]:g} uplinks for {nics[wrong[0]]:g} NICs"
        says += f", not {stated} for at most {shape.down_ports}"
        return BuildCheck(name, False, says)
    least, most = int(nics.min()), int(nics.max())
    ratio = "non-blocking" if stated >= shape.down_ports else f"{shape.down_ports / stated:.4g}:1"
    below = f"{most} NICs"
    if (least, most) != (shape.down_ports, shape.down_ports):
        cabled = f"{most}" if least == most else f"{least} to {most}"
        below = f"{shape.down_ports} down ports, {cabled} with NICs"
    return BuildCheck(
        name, True, f"each of the {len(up):,} leaves has {stated} uplinks for {below}: {ratio}"
    )


def _spine_balance(fabric: Fabric, shape: FatTree) -> BuildCheck:
    spines = fabric.nodes("spine")
    down, up = _per_node(fabric.tiers[1].upper, spines), _per_node(fabric.tiers[2].lower, spines)
    # A leaf that a partly filled pod does not have leaves its ports empty on the pod's spines.
    leaves = _per_node(_pairs(fabric, fabric.tiers[1]).upper, spines)
    wrong = np.flatnonzero((down * shape.leaves_per_pod != up * leaves) | (down > up))
    name = "spine down ports for up ports"
    if len(wrong):
        spine = fabric.name(spines.start + int(wrong[0]))
        return BuildCheck(
            name, False, f"{spine} has {down[wrong[0]]:g} cables down and {up[wrong[0]]:g} up"
        )
    least, most = int(down.min()), int(down.max())
    partly = "" if least == int(up.max()) else " (a pod is partly filled)"
    span = f"{most}" if least == most else f"{least} to {most}"
    return BuildCheck(
        name,
        True,
        f"each of the {len(up):,} spines has {span} cables down{partly} and {up.max():g} up",
    )


def _cables(fabric: Fabric, shape: FatTree) -> BuildCheck:
    wanted = [fabric.count("gpu"), shape.leaves * shape.uplinks]
    wanted += [shape.spines * shape.uplinks] if shape.cores else []
    found = [tier.n for tier in fabric.tiers]
    switches = ((shape.leaves, "leaf"), (shape.spines, "spine"), (shape.cores, "core"))
    passed = found == wanted and all(fabric.count(kind) == count for count, kind in switches)
    listed = " + ".join(f"{tier.n:,} {tier.name}" for tier in fabric.tiers)
    plurals = (("leaf", "leaves"), ("spine", "spines"), ("core", "cores"))
    built = ", ".join(f"{fabric.count(kind):,} {word}" for kind, word in plurals)
    says = f"{listed} = {sum(found):,} cables on {built}"
    if not passed:
        says += ", not " + " + ".join(f"{count:,}" for count in wanted)
    return BuildCheck("cables and switches", passed, says)


def _one_nic_a_gpu(fabric: Fabric) -> BuildCheck:
    gpus, nics = fabric.kinds["gpu"], fabric.kinds["nic"]
    cables = _per_node(fabric.tiers[0].lower, nics.nodes)
    name = "one NIC a GPU"
    if len(odd := np.flatnonzero(cables != 1)):
        nic = fabric.name(nics.first + int(odd[0]))
        return BuildCheck(name, False, f"{nic} has {cables[odd[0]]:g} cables, not 1")
    same = (gpus.count, gpus.owner, gpus.per_owner) == (nics.count, nics.owner, nics.per_owner)
    says = (
        f"{gpus.count:,} GPUs and {nics.count:,} NICs, {nics.per_owner} a tray, each with one cable"
    )
    return BuildCheck(name, same, says)


def _nvlink(fabric: Fabric, chunk: int = 1 << 17) -> BuildCheck:
    nvlink, name = fabric.nvlink, "NVLink cables"
    assert nvlink is not None
    gpus, asics = fabric.kinds["gpu"], fabric.kinds["nvswitch"]
    seen = np.zeros(nvlink.n, dtype=bool)
    # A million cables at once would be slower: they do not fit into a processor's cache.
    for first in range(0, nvlink.n, chunk):
        low, high = fabric.ends(np.arange(first, min(first + chunk, nvlink.n)))
        gpu, asic = low - gpus.first, high - asics.first
        rack = asic // nvlink.asics
        if len(odd := np.flatnonzero(gpu // nvlink.gpus != rack)):
            says = f"{fabric.cable_name(first + int(odd[0]))} leaves its rack"
            return BuildCheck(name, False, says)
        seen[(gpu - rack) * nvlink.asics + asic] = True
    if len(odd := np.flatnonzero(~seen)):
        gpu_name = fabric.name(gpus.first + int(odd[0]) // nvlink.asics)
        says = f"{gpu_name} has no cable to ASIC {odd[0] % nvlink.asics} of its rack"
        return BuildCheck(name, False, says)
    each = nvlink.gpus * nvlink.asics
    counts = (nvlink.racks, nvlink.racks * nvlink.gpus, nvlink.racks * nvlink.asics)
    passed = counts == (fabric.count("rack"), gpus.count, asics.count)
    says = f"{nvlink.n:,} cables, {each:,} a rack: each of its {nvlink.gpus} GPUs has"
    return BuildCheck(name, passed, f"{says} {nvlink.asics}, one to each ASIC")


def _rails(fabric: Fabric, spec: ClusterSpec, shape: FatTree) -> BuildCheck:
    tier, nics = fabric.tiers[0], fabric.kinds["nic"]
    nic, leaf = tier.lower - nics.first, tier.upper - fabric.kinds["leaf"].first
    rail, rack = nic % nics.per_owner, nic // spec.gpus_per_rack
    wrong = np.flatnonzero(
        (leaf % shape.rails != rail) | (leaf // shape.rails != rack // shape.racks_per_group)
    )
    name = "rails"
    if len(wrong):
        ends = [fabric.name(int(ends[wrong[0]])) for ends in (tier.lower, tier.upper)]
        return BuildCheck(
            name, False, f"{ends[0]} is on {ends[1]}, which is not the leaf of its rail and group"
        )
    groups = -(-fabric.count("rack") // shape.racks_per_group)
    says = f"every NIC is on the leaf of its rail and group: {shape.rails} rails, {groups:,} groups"
    says += f" of up to {shape.racks_per_group} racks"
    return BuildCheck(name, True, says)


def _rates(fabric: Fabric) -> BuildCheck:
    spans, passed = [], True
    for tier in fabric.tiers:
        if tier.n:
            low, high = float(tier.capacity.min()), float(tier.capacity.max())
            passed &= low == high
            spans.append(
                f"{tier.name} {low:g}" if low == high else f"{tier.name} {low:g} to {high:g}"
            )
    return BuildCheck("equal rates in a tier", passed, "cables run at GB/s: " + ", ".join(spans))


def _per_node(ends: Ints, nodes: slice, tier: Tier | None = None) -> Floats:
    """Cables at each node of a slice, or their capacity in GB/s where a tier is given."""
    weights = np.ones(len(ends)) if tier is None else tier.capacity
    count = nodes.stop - nodes.start
    return np.bincount(ends - nodes.start, weights=weights, minlength=count).astype(np.float64)
