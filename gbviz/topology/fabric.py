"""The fabric as read-only arrays: what exists, whatever its health."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gbviz.errors import InputError

if TYPE_CHECKING:
    from gbviz.topology.names import Names
    from gbviz.topology.sizing import FatTree
    from gbviz.topology.spec import ClusterSpec

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of node: a slice of the node numbers.

    `owner` is the kind that its names start with, "" at the top; `per_owner` how many each has.
    """

    name: str
    first: int
    count: int
    owner: str = ""
    per_owner: int = 0

    @property
    def nodes(self) -> slice:
        """The node numbers of this kind."""
        return slice(self.first, self.first + self.count)


@dataclass(frozen=True, slots=True)
class Tier:
    """The cables between two kinds of node.

    Cable ``c`` of a tier is the directed link ``first + c`` from `lower` to `upper`, and
    ``first + n + c`` back: each direction is a slice, and the reverse of a link is `n` away.

    Parameters
    ----------
    lower, upper
        (n,) node numbers of the two ends.
    lower_port, upper_port
        (n,) port numbers at the two ends, 1-based.
    capacity
        (n,) GB/s in one direction.
    bundle
        (n,) first cable of the same pair: parallel cables are adjacent and share a number.
    """

    name: str
    first: int
    lower: Ints
    upper: Ints
    lower_port: Ints
    upper_port: Ints
    capacity: Floats
    bundle: Ints

    @property
    def n(self) -> int:
        """Cables in this tier."""
        return len(self.lower)

    @property
    def end(self) -> int:
        """The first link number after this tier."""
        return self.first + 2 * self.n


@dataclass(frozen=True, slots=True)
class NVLink:
    """The NVLink cables of all racks, by arithmetic: GPU ``g`` of a rack to each of its ASICs.

    Cable ``(rack, g, k)`` is number ``(rack * gpus + g) * asics + k`` and link `k` of the GPU; a
    million of them need no arrays while they are healthy.
    """

    racks: int
    gpus: int
    asics: int
    link_GBps: float  # noqa: N815 the unit's own capitals

    @property
    def n(self) -> int:
        """NVLink cables in the cluster."""
        return self.racks * self.gpus * self.asics

    @property
    def end(self) -> int:
        """The first link number after the NVLink links (they come first)."""
        return 2 * self.n


@dataclass(frozen=True, slots=True, eq=False)
class Fabric:
    """Everything that a cluster is made of: N nodes and L directed links.

    Nodes are ordered by kind and links by tier, so that each is a slice: NVLink first, then
    NIC-leaf, leaf-spine and spine-core. Nothing here changes when something fails: health is a
    mask beside it.

    Parameters
    ----------
    spec, shape
        What was asked for and the fat tree it led to; None for a fabric from a switch graph.
    kinds
        Name of a kind to its slice of nodes.
    nvlink
        The NVLink tier, None where the fabric has none or its source does not say.
    tiers
        The cable tiers, lowest first. ``tiers[0]`` holds the NIC cables.
    names
        Node numbers to names and back.
    level
        (N,) height of a switch (0 NIC, 1 leaf, 2 spine, 3 core), or None in a general graph where
        no way is up.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> fabric.count("gpu"), fabric.count("leaf"), fabric.count("spine")
    (4608, 64, 36)
    >>> fabric.name(fabric.index_of("rack-3/tray-17/gpu-2"))
    'rack-3/tray-17/gpu-2'
    """

    spec: ClusterSpec | None
    shape: FatTree | None
    kinds: dict[str, Kind]
    nvlink: NVLink | None
    tiers: tuple[Tier, ...]
    names: Names
    level: NDArray[np.int8] | None = field(repr=False)

    @property
    def n_nodes(self) -> int:
        """N, all nodes of all kinds."""
        return sum(kind.count for kind in self.kinds.values())

    @property
    def n_links(self) -> int:
        """L, directed links: NVLink and cables, two a cable."""
        return self.tiers[-1].end

    def count(self, kind: str) -> int:
        """How many nodes of a kind there are, 0 for a kind that this fabric lacks."""
        return self.kinds[kind].count if kind in self.kinds else 0

    def nodes(self, kind: str) -> slice:
        """The node numbers of a kind, an empty slice for one that this fabric lacks."""
        return self.kinds[kind].nodes if kind in self.kinds else slice(0, 0)

    def name(self, node: int) -> str:
        """The name of a node."""
        return self.names.name(node)

    def names_of(self, nodes: Ints) -> list[str]:
        """The names of many nodes, in their order; for thousands far faster than one by one."""
        return self.names.names_of(nodes)

    def index_of(self, name: str) -> int:
        """The number of a node.

        Raises
        ------
        InputError
            No node has that name; the nearest one is suggested.
        """
        return self.names.index_of(name)

    def kind_of(self, node: int) -> Kind:
        """The kind of a node."""
        for kind in self.kinds.values():
            if kind.first <= node < kind.first + kind.count:
                return kind
        raise InputError(f"there is no node number {node}")

    def tier(self, name: str) -> Tier:
        """A cable tier by name: "nic-leaf", "leaf-spine", "spine-core" or "switch"."""
        return next(tier for tier in self.tiers if tier.name == name)

    def ends(self, links: Ints) -> tuple[Ints, Ints]:
        """Source and target node of each directed link, shapes as `links`."""
        links = np.asarray(links, dtype=np.int64)
        source, target = np.empty_like(links), np.empty_like(links)
        if self.nvlink is not None:
            mask = links < self.nvlink.end
            low, high = _nvlink_ends(self, links[mask] % self.nvlink.n)
            up = links[mask] < self.nvlink.n
            source[mask], target[mask] = np.where(up, low, high), np.where(up, high, low)
        for tier in self.tiers:
            mask = (links >= tier.first) & (links < tier.end)
            cable = (links[mask] - tier.first) % tier.n
            up = links[mask] < tier.first + tier.n
            low, high = tier.lower[cable], tier.upper[cable]
            source[mask], target[mask] = np.where(up, low, high), np.where(up, high, low)
        return source, target

    def reverse(self, links: Ints) -> Ints:
        """The links of the same cables the other way, shapes as `links`."""
        links = np.asarray(links, dtype=np.int64)
        out = links.copy()
        if self.nvlink is not None:
            mask = links < self.nvlink.end
            out[mask] = (links[mask] + self.nvlink.n) % self.nvlink.end
        for tier in self.tiers:
            mask = (links >= tier.first) & (links < tier.end)
            out[mask] = tier.first + (links[mask] - tier.first + tier.n) % (2 * tier.n)
        return out

    def link_name(self, link: int) -> str:
        """The name of a directed link, `leaf-0>spine-3#1`."""
        if not 0 <= link < self.n_links:
            raise InputError(f"there is no link number {link}")
        source, target = self.ends(np.array([link]))
        number = self._number_in_bundle(link)
        return f"{self.name(int(source[0]))}>{self.name(int(target[0]))}#{number}"

    def cable_name(self, link: int) -> str:
        """The name of the cable that a directed link is one way of, `leaf-0~spine-3#1`."""
        low, high = self.ends(np.array([min(link, int(self.reverse(np.array([link]))[0]))]))
        number = self._number_in_bundle(link)
        return f"{self.name(int(low[0]))}~{self.name(int(high[0]))}#{number}"

    def _number_in_bundle(self, link: int) -> int:
        for tier in self.tiers:
            if tier.first <= link < tier.end:
                cable = (link - tier.first) % tier.n
                return cable - int(tier.bundle[cable])
        return 0


def _nvlink_ends(fabric: Fabric, cables: Ints) -> tuple[Ints, Ints]:
    """GPU and ASIC nodes of NVLink cables."""
    nvlink = fabric.nvlink
    assert nvlink is not None
    gpu, asic = cables // nvlink.asics, cables % nvlink.asics
    rack = gpu // nvlink.gpus
    first_gpu, first_asic = fabric.kinds["gpu"].first, fabric.kinds["nvswitch"].first
    return first_gpu + gpu, first_asic + rack * nvlink.asics + asic
