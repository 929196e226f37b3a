"""Where a component's traffic is: its links, what they carry now and what they carried."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.faults.containment import contents
from gbviz.topology.selectors import Part, select

if TYPE_CHECKING:
    from gbviz.engine import Loads
    from gbviz.topology.fabric import Fabric, Floats, Ints

# Utilisation above which a link is called busy, and full.
BUSY, FULL = 0.85, 0.95
# Loads below this are what rounding leaves.
LEAST_GBPS = 1e-6
_PLURAL = {"nic": "NICs", "leaf": "leaves", "spine": "spines", "core": "cores"}


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Links of one tier in one direction that belong together.

    `tier` is the number of the tier, `way` 0 for up and 1 for down, `cables` (n,) numbers within
    the tier.
    """

    label: str
    tier: int
    way: int
    cables: Ints

    def load(self, loads: Loads) -> float:
        """GB/s on all of its links together."""
        return float(loads.tiers[self.tier][self.way, self.cables].sum())

    def capacity(self, loads: Loads) -> float:
        """Effective GB/s of all of its links together."""
        return float(loads.capacity[self.tier][self.way, self.cables].sum())

    def alive(self, loads: Loads) -> int:
        """How many of its links carry anything at all."""
        return int((loads.capacity[self.tier][self.way, self.cables] > 0).sum())

    def worst(self, loads: Loads) -> tuple[float, int]:
        """Utilisation of its fullest link, and which cable that is."""
        used = self.utilisations(loads)
        at = int(used.argmax())
        return float(used[at]), int(self.cables[at])

    def utilisations(self, loads: Loads) -> Floats:
        """(n,) load over effective capacity of each of its links, 0 for a dead one."""
        load = loads.tiers[self.tier][self.way, self.cables]
        room = loads.capacity[self.tier][self.way, self.cables]
        used: Floats = np.divide(load, room, out=np.zeros(len(load)), where=room > 0)
        return used

    def shares(self, loads: Loads, cable: int | None = None) -> list[tuple[int, float]]:
        """Jobs by number with GB/s on these links, or on one of them; the largest first."""
        which = self.cables if cable is None else np.array([cable])
        found = [
            (number, float(job[self.tier][self.way, which].sum()))
            for number, job in enumerate(loads.jobs)
        ]
        found = [(number, load) for number, load in found if load > LEAST_GBPS]
        return sorted(found, key=lambda pair: -pair[1])


@lru_cache(maxsize=512)
def part_named(fabric: Fabric, name: str) -> Part:
    """The component of a name.

    Raises
    ------
    InputError
        The name names nothing, or several.
    """
    found = select(fabric, name)
    if len(found) != 1:
        raise InputError(f"names {len(found):,} components", where=repr(name))
    return found[0]


@lru_cache(maxsize=512)
def ways_of(fabric: Fabric, name: str) -> tuple[Way, ...]:
    """The links that a component's traffic takes, by direction; () for one without cables.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> [(way.label, len(way.cables)) for way in ways_of(fabric, "leaf-3")]
    [('from NICs', 72), ('to NICs', 72), ('to spines', 72), ('from spines', 72)]
    >>> [(way.label, len(way.cables)) for way in ways_of(fabric, "rack-0/tray-0/gpu-2")]
    [('to leaves', 1), ('from leaves', 1)]
    """
    part = part_named(fabric, name)
    if part.links:
        return _of_links(fabric, part.links)
    nodes = _cabled(fabric, part)
    found: list[Way] = []
    for number, tier in enumerate(fabric.tiers):
        for ends, others, upper in ((tier.lower, tier.upper, 0), (tier.upper, tier.lower, 1)):
            cables = np.flatnonzero((ends >= nodes.start) & (ends < nodes.stop))
            if len(cables):
                far = _PLURAL.get(fabric.kind_of(int(others[cables[0]])).name, "others")
                words = ("to", "from") if upper == 0 else ("from", "to")
                found += [Way(f"{words[way]} {far}", number, way, cables) for way in (0, 1)]
    return tuple(found)


def _cabled(fabric: Fabric, part: Part) -> slice:
    """The nodes whose cables count as a part's: the NICs inside it, or itself."""
    node = part.nodes[0]
    if part.kind == "gpu":
        nic = fabric.nodes("nic").start + node - fabric.nodes("gpu").start
        return slice(nic, nic + 1)
    if part.kind in ("nic", "leaf", "spine", "core", "switch"):
        return slice(node, node + 1)
    nics = fabric.nodes("nic")
    inside = [s for s in contents(fabric, node) if nics.start <= s.start < nics.stop]
    return inside[0] if inside else slice(0, 0)


def _of_links(fabric: Fabric, links: tuple[int, ...]) -> tuple[Way, ...]:
    listed = np.array(links, dtype=np.int64)
    found: list[Way] = []
    for number, tier in enumerate(fabric.tiers):
        own = listed[(listed >= tier.first) & (listed < tier.end)] - tier.first
        for way in (0, 1):
            cables = own[own // tier.n == way] % tier.n
            if len(cables):
                source, target = tier.lower[cables[0]], tier.upper[cables[0]]
                far = fabric.name(int(target if way == 0 else source))
                found.append(Way(f"to {far}", number, way, cables))
    return tuple(found)


def cable_of(fabric: Fabric, way: Way, cable: int) -> str:
    """The name of a cable of a way, `leaf-0~spine-3#1`."""
    return fabric.cable_name(fabric.tiers[way.tier].first + cable)


def gpus_of(fabric: Fabric, part: Part) -> slice:
    """Numbers of the GPUs that a component is, holds, cools or powers; empty for a switch."""
    first, total = fabric.nodes("gpu").start, fabric.count("gpu")
    per_rack = total // fabric.count("rack")
    if not part.nodes:
        return slice(0, 0)
    node = part.nodes[0]
    number = node - fabric.kind_of(node).first
    if part.kind in ("hxu", "cdu", "loop") and fabric.spec is not None:
        cooling = fabric.spec.cooling
        loop = number if part.kind == "loop" else number // cooling.units_per_loop
        each = cooling.racks_in_loop * per_rack
        return slice(loop * each, min((loop + 1) * each, total))
    if part.kind in ("feed", "shelf", "nvtray", "nvswitch"):
        rack = number * fabric.count("rack") // fabric.count(part.kind)
        return slice(rack * per_rack, (rack + 1) * per_rack)
    if part.kind == "nic":
        return slice(number, number + 1)
    gpus = fabric.nodes("gpu")
    inside = [s for s in contents(fabric, node) if gpus.start <= s.start < gpus.stop]
    return slice(inside[0].start - first, inside[0].stop - first) if inside else slice(0, 0)


def selectable(fabric: Fabric, link: str) -> tuple[str, ...]:
    """What to select for a link as a bottleneck names it: the cable, else the ends that exist.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> selectable(fabric, "rack-3/tray-1/nic-0>leaf-0#0"), selectable(fabric, "leaf-4>36 spines")
    (('rack-3/tray-1/nic-0~leaf-0#0',), ('leaf-4',))
    >>> selectable(fabric, "NVLink>rack-0/tray-1/gpu-2"), selectable(fabric, "3 spines>2 cores")
    (('rack-0/tray-1/gpu-2',), ())
    """
    try:
        part = part_named(fabric, link)
    except InputError:
        return tuple(end for end in link.split(">") if _exists(fabric, end))
    return (fabric.cable_name(part.links[0]) if len(part.links) == 1 else part.component,)


def _exists(fabric: Fabric, name: str) -> bool:
    try:
        fabric.index_of(name)
    except InputError:
        return False
    return True
