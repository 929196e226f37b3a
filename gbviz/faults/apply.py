"""Faults on a fabric become its health; what a fault takes down is counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.faults.containment import containers, contents
from gbviz.topology.health import Health, healthy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.faults.fault import Fault
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints


def apply(fabric: Fabric, faults: Sequence[Fault]) -> Health:
    """The health of a fabric under some faults.

    Where several faults meet on one part, the worst counts, and the first of those is its cause.

    Parameters
    ----------
    fabric
        Stays as it is.
    faults
        From `resolve`.

    Examples
    --------
    >>> from gbviz.faults import Action, resolve
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> health = apply(fabric, resolve(fabric, [Action("fail", "spine-3")]))
    >>> up, down = health.capacity(fabric, 1)
    >>> float(up.sum())  # 64 leaves x 70 cables x 100 GB/s
    448000.0
    """
    start = healthy(fabric)
    factor, cause = start.node_factor, start.node_cause
    tiers: list[Floats | None] = list(start.link_factor)
    nvlink: dict[int, Floats] = {}
    for number, fault in enumerate(faults):
        for node in fault.nodes:
            for part in contents(fabric, node):
                worse = factor[part] > fault.factor
                cause[part][worse] = number
                factor[part][worse] = fault.factor
        if fault.links:
            _apply_links(fabric, fault.links, fault.factor, tiers, nvlink)
    return Health(factor, cause, tuple(tiers), nvlink)


def _apply_links(
    fabric: Fabric,
    links: tuple[int, ...],
    factor: float,
    tiers: list[Floats | None],
    nvlink: dict[int, Floats],
) -> None:
    by_tier, inside = _places(fabric, links)
    for number, own in by_tier:
        array = tiers[number] = _or_ones(tiers[number], (2, fabric.tiers[number].n))
        flat = array.reshape(-1)
        flat[own] = np.minimum(flat[own], factor)
    if fabric.nvlink is None:
        return
    shape = (2, fabric.nvlink.gpus, fabric.nvlink.asics)
    for rack, way, gpu, asic in inside:
        array = nvlink[rack] = _or_ones(nvlink.get(rack), shape)
        array[way, gpu, asic] = min(array[way, gpu, asic], factor)


# Along a timeline a fault is applied again at every change while it stands.
@lru_cache(maxsize=256)
def _places(
    fabric: Fabric, links: tuple[int, ...]
) -> tuple[list[tuple[int, Ints]], list[tuple[int, int, int, int]]]:
    """Where some directed links are: in each tier of the fabric that has any, and on NVLink.

    There by rack, way, GPU and ASIC.
    """
    every: Ints = np.array(links, dtype=np.int64)
    by_tier = []
    for number, tier in enumerate(fabric.tiers):
        own = every[(every >= tier.first) & (every < tier.end)] - tier.first
        if len(own):
            by_tier.append((number, own))
    inside = []
    if fabric.nvlink is not None:
        for link in every[every < fabric.nvlink.end].tolist():
            way, cable = divmod(link, fabric.nvlink.n)
            gpu, asic = divmod(cable, fabric.nvlink.asics)
            rack, gpu = divmod(gpu, fabric.nvlink.gpus)
            inside.append((rack, way, gpu, asic))
    return by_tier, inside


def _or_ones(array: Floats | None, shape: tuple[int, ...]) -> Floats:
    return np.ones(shape) if array is None else array


@dataclass(frozen=True, slots=True)
class Toll:
    """What one fault takes down, itself included: directed links, GPUs, NICs.

    A NIC counts when it can no longer send, or no longer receive: it is dead, or its cable (the
    last of them, where it has several) or leaf is.
    """

    links: int = 0
    gpus: int = 0
    nics: int = 0


def takes_down(fabric: Fabric, fault: Fault) -> Toll:
    """What one fault alone takes down; nothing for a degraded part, which still runs.

    Examples
    --------
    64 leaves with 2 cables each to a spine, both ways: 256 links.

    >>> from gbviz.faults import Action, resolve
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> takes_down(fabric, resolve(fabric, [Action("fail", "spine-3")])[0])
    Toll(links=256, gpus=0, nics=0)
    """
    if fault.factor > 0:
        return Toll()
    if fabric.shape is not None and not fault.links:
        return _counted(fabric, fault)
    down = np.zeros(fabric.n_nodes, dtype=bool)
    for node in fault.nodes:
        for part in contents(fabric, node):
            down[part] = True
    own = np.array(sorted(fault.links), dtype=np.int64)
    links = _nvlink_down(fabric, down) + int(np.sum(own < _nvlink_end(fabric)))
    nics = down[fabric.nodes("nic")]
    for tier in fabric.tiers:
        dead = np.tile(down[tier.lower] | down[tier.upper], (2, 1))
        dead.reshape(-1)[own[(own >= tier.first) & (own < tier.end)] - tier.first] = True
        links += int(dead.sum())
        if tier is fabric.tiers[0]:
            nics = nics | _cut_off(fabric, dead)
    return Toll(links, int(down[fabric.nodes("gpu")].sum()), int(nics.sum()))


@lru_cache(maxsize=8)
def _degrees(fabric: Fabric) -> tuple[Ints, Ints]:
    """(N,) cables of each node, and NIC cables of each node."""
    total = np.zeros(fabric.n_nodes, dtype=np.int64)
    for tier in fabric.tiers:
        total += np.bincount(tier.lower, minlength=fabric.n_nodes)
        total += np.bincount(tier.upper, minlength=fabric.n_nodes)
    nics = np.bincount(fabric.tiers[0].upper, minlength=fabric.n_nodes)
    return total, nics


def _counted(fabric: Fabric, fault: Fault) -> Toll:
    """`takes_down` of nodes of a built cluster, where no cable joins two parts of one container."""
    total, nics = _degrees(fabric)
    nvlink = fabric.nvlink
    assert nvlink is not None
    found = dict.fromkeys(("links", "gpu", "nic", "nvswitch"), 0)
    for node in fault.nodes:
        for part in contents(fabric, node):
            kind = fabric.kind_of(part.start).name
            found["links"] += 2 * int(total[part].sum())
            found["nic"] += int(nics[part].sum())
            if kind in found:
                found[kind] += part.stop - part.start
    gpus, asics = found["gpu"], found["nvswitch"]
    # GPUs and ASICs that fall together are those of whole racks.
    both = gpus * asics // (len(fault.nodes) or 1) if gpus and asics else 0
    found["links"] += 2 * (gpus * nvlink.asics + asics * nvlink.gpus - both)
    return Toll(found["links"], gpus, found["nic"])


def _cut_off(fabric: Fabric, dead: Bools) -> Bools:
    """NICs that have cables, and none of them left to send on or none to receive on."""
    nic = fabric.tiers[0].lower - fabric.nodes("nic").start
    count = fabric.count("nic")
    cables = np.bincount(nic, minlength=count)
    up, down = (np.bincount(nic, weights=way, minlength=count) for way in ~dead)
    cut: Bools = (cables > 0) & ((up == 0) | (down == 0))
    return cut


def _nvlink_end(fabric: Fabric) -> int:
    return fabric.nvlink.end if fabric.nvlink is not None else 0


def _nvlink_down(fabric: Fabric, down: Bools) -> int:
    """Directed NVLink links with a dead end."""
    if fabric.nvlink is None:
        return 0
    gpus = down[fabric.nodes("gpu")].reshape(fabric.nvlink.racks, -1).sum(axis=1)
    asics = down[fabric.nodes("nvswitch")].reshape(fabric.nvlink.racks, -1).sum(axis=1)
    dead = gpus * fabric.nvlink.asics + asics * fabric.nvlink.gpus - gpus * asics
    return 2 * int(dead.sum())


def why_down(fabric: Fabric, faults: Sequence[Fault]) -> list[str | None]:
    """For each fault, the other fault that its component is down with anyway, or None.

    A fault on a tray of a failed rack is the rack's consequence as well; so is one on a cable of
    a failed leaf, and one on a cable of a failed bundle or transceiver.
    """
    failed = {node: f.component for f in faults if f.factor == 0 for node in f.nodes}
    widest: dict[int, Fault] = {}
    for fault in faults:
        for link in fault.links if fault.factor == 0 else ():
            if link not in widest or len(fault.links) > len(widest[link].links):
                widest[link] = fault
    answers: list[str | None] = []
    for fault in faults:
        if fault.because is not None:
            answers.append(fault.because)
            continue
        ends = set(np.ravel(fabric.ends(np.array(fault.links, dtype=np.int64))).tolist())
        above = {o for node in (*fault.nodes, *ends) for o in containers(fabric, node)} | ends
        node_fault = next((failed[node] for node in sorted(above) if node in failed), None)
        answers.append(node_fault or _wider(fault, widest))
    return answers


def _wider(fault: Fault, widest: dict[int, Fault]) -> str | None:
    """The failed bundle, port or transceiver that all links of a fault are part of."""
    other = widest.get(fault.links[0]) if fault.links else None
    if other is None or not set(fault.links) < set(other.links):
        return None
    return other.component
