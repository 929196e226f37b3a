"""Fabrics as graphs: to NetworkX, and from a list of hosts, switches and cables."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from gbviz.errors import InputError, nearest
from gbviz.topology.fabric import Fabric, Kind, Tier
from gbviz.topology.health import healthy
from gbviz.topology.names import ListedNames

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gbviz.topology.fabric import Floats, Ints
    from gbviz.topology.health import Health

_CABLED = ("nic", "leaf", "spine", "core", "switch")
_NVLINKED = ("gpu", "nvswitch")


def to_networkx(
    fabric: Fabric, health: Health | None = None, *, nvlink: bool = False
) -> nx.DiGraph[str]:
    """A directed graph of the nodes that have cables, with one edge for each bundle and way.

    Parameters
    ----------
    fabric
        What there is.
    health
        What is left of it; None = all of it.
    nvlink
        True adds GPUs, NVSwitch ASICs and the NVLink links between them. Nothing joins a GPU to
        its NIC: a fabric does not know how fast PCIe is.

    Returns
    -------
    networkx.DiGraph
        Nodes by name, with `kind` and `up` (False for a failed one, which keeps no edges). Edges
        with `capacity` (GB/s one way, all live cables of the pair together) and `cables` (how many
        are live that way). Dead links are left out; an edge of none is too.

    Notes
    -----
    Cost: about 4 us an edge; NVLink of 4,608 GPUs makes 165,888 of them.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> graph = to_networkx(build(cluster_spec("azure-gb300")))
    >>> graph.edges["leaf-0", "spine-3"]
    {'capacity': 200.0, 'cables': 2}
    >>> graph.nodes["spine-3"]
    {'kind': 'spine', 'up': True}
    """
    health = healthy(fabric) if health is None else health
    graph: nx.DiGraph[str] = nx.DiGraph()
    names: dict[int, str] = {}
    for kind in fabric.kinds.values():
        if kind.name in _CABLED or (nvlink and kind.name in _NVLINKED):
            numbers = range(kind.first, kind.first + kind.count)
            spelt = fabric.names_of(np.array(numbers, dtype=np.int64))
            names.update(zip(numbers, spelt, strict=True))
            rows = zip(spelt, health.up(fabric, kind.name).tolist(), strict=True)
            graph.add_nodes_from((name, {"kind": kind.name, "up": up}) for name, up in rows)
    for number, tier in enumerate(fabric.tiers):
        graph.add_edges_from(_edges(names, tier, health.capacity(fabric, number)))
    if nvlink and fabric.nvlink is not None:
        graph.add_edges_from(_nvlink_edges(fabric, names, health))
    return graph


def _edges(
    names: dict[int, str], tier: Tier, capacity: Floats
) -> Iterator[tuple[str, str, dict[str, float]]]:
    """The bundles of a tier that carry anything, each way."""
    starts = np.flatnonzero(np.diff(tier.bundle, prepend=-1))
    if not len(starts):
        return
    low, high = tier.lower[starts].tolist(), tier.upper[starts].tolist()
    for way, (sources, targets) in zip(capacity, ((low, high), (high, low)), strict=True):
        total = np.add.reduceat(way, starts).tolist()
        live = np.add.reduceat(way > 0, starts, dtype=np.int64).tolist()
        for source, target, rate, cables in zip(sources, targets, total, live, strict=True):
            if cables:
                yield names[source], names[target], {"capacity": rate, "cables": cables}


def _nvlink_edges(
    fabric: Fabric, names: dict[int, str], health: Health
) -> Iterator[tuple[str, str, dict[str, float]]]:
    assert fabric.nvlink is not None
    first_gpu, first_asic = fabric.nodes("gpu").start, fabric.nodes("nvswitch").start
    for rack in range(fabric.nvlink.racks):
        gpu, asic = first_gpu + rack * fabric.nvlink.gpus, first_asic + rack * fabric.nvlink.asics
        for way, capacity in enumerate(health.nvlink_capacity(fabric, rack)):
            for g, k in zip(*(index.tolist() for index in np.nonzero(capacity)), strict=True):
                ends = names[gpu + g], names[asic + k]
                source, target = ends[::-1] if way else ends
                yield source, target, {"capacity": float(capacity[g, k]), "cables": 1}


def from_graph(
    hosts: Sequence[str],
    switches: Sequence[str],
    cables: Sequence[tuple[str, str, float]],
    ports: Sequence[tuple[int, int]] | None = None,
) -> Fabric:
    """A general fabric: hosts and switches by name, and the cables between them.

    Parameters
    ----------
    hosts
        Names of the hosts' network ports; they become nodes of kind "nic".
    switches
        Names of the switches.
    cables
        Two names and GB/s one way, for each cable; parallel cables are repeated. A host may have
        several, also to several switches.
    ports
        The port numbers at the two ends of each cable, in the order of its names; None numbers the
        ports of every node from 1, in the order of the cables.

    Returns
    -------
    Fabric
        With ``tiers[0]`` "nic-leaf" (host to switch) and ``tiers[1]`` "switch" (the node that is
        listed first is the lower one), cables by their ends and then as they came. It has no
        spec, shape, NVLink or levels.

    Raises
    ------
    InputError
        A name that is not known or there twice, a cable from a node to itself or between two
        hosts, a rate that is not a finite number above 0, a port used twice: with the number of
        the cable, from 0.

    Examples
    --------
    Two hosts on one switch each, and two cables between the switches.

    >>> cables = [("a", "s", 100.0), ("t", "b", 100.0), ("s", "t", 50.0), ("t", "s", 50.0)]
    >>> fabric = from_graph(["a", "b"], ["s", "t"], cables)
    >>> [(tier.name, tier.n) for tier in fabric.tiers], fabric.link_name(5)
    ([('nic-leaf', 2), ('switch', 2)], 's>t#1')
    """
    listed = (*hosts, *switches)
    numbers = _numbered(listed)
    ends, rates = _checked(cables, listed, numbers, len(hosts))
    at_port = _ports(ends, listed, ports)
    # The end with the lower number is the lower end: hosts come before switches.
    turned = ends[:, 0] > ends[:, 1]
    ends[turned], at_port[turned] = ends[turned, ::-1], at_port[turned, ::-1]
    first = 0
    tiers = []
    to_host = ends[:, 0] < len(hosts)
    for name, mine in (("nic-leaf", to_host), ("switch", ~to_host)):
        tiers.append(_tier(name, first, ends[mine], at_port[mine], rates[mine]))
        first = tiers[-1].end
    kinds = {
        "nic": Kind("nic", 0, len(hosts)),
        "switch": Kind("switch", len(hosts), len(switches)),
    }
    return Fabric(None, None, kinds, None, tuple(tiers), ListedNames(listed, numbers), None)


def _numbered(listed: tuple[str, ...]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, name in enumerate(listed):
        if not name:
            raise InputError(f"node {number} has no name", where="nodes")
        if numbers.setdefault(name, number) != number:
            raise InputError(f"there are two nodes called {name!r}", where="nodes")
    return numbers


def _checked(
    cables: Sequence[tuple[str, str, float]],
    listed: tuple[str, ...],
    numbers: dict[str, int],
    n_hosts: int,
) -> tuple[Ints, Floats]:
    """(C, 2) nodes and (C,) GB/s of the cables."""
    ends = np.zeros((len(cables), 2), dtype=np.int64)
    rates = np.zeros(len(cables))
    for number, (first, second, rate) in enumerate(cables):
        where = f"cable {number}"
        for side, name in enumerate((first, second)):
            if name not in numbers:
                found = nearest(name, listed[:1000])
                hint = f"did you mean {found!r}?" if found else ""
                raise InputError(f"there is no node {name!r}", where=where, hint=hint)
            ends[number, side] = numbers[name]
        if first == second:
            raise InputError(f"runs from {first!r} to itself", where=where)
        if max(ends[number]) < n_hosts:
            raise InputError(f"joins two hosts, {first!r} and {second!r}", where=where)
        rates[number] = _rate(rate, where)
    return ends, rates


def _rate(value: object, where: str) -> float:
    if not isinstance(value, bool) and isinstance(value, Real):
        try:
            rate = float(value)
        except OverflowError:
            rate = math.inf
        if math.isfinite(rate) and rate > 0:
            return rate
    raise InputError("its rate must be a finite number of GB/s above 0", where=where)


def _ports(ends: Ints, listed: tuple[str, ...], ports: Sequence[tuple[int, int]] | None) -> Ints:
    """(C, 2) port numbers at the ends of the cables."""
    if ports is not None and len(ports) != len(ends):
        raise InputError(f"{len(ports)} pairs of ports for {len(ends)} cables", where="ports")
    numbered = np.zeros_like(ends)
    used: dict[int, int] = {}
    taken: dict[tuple[int, int], int] = {}
    for number, pair in enumerate(ends.tolist()):
        for side, node in enumerate(pair):
            used[node] = port = used.get(node, 0) + 1 if ports is None else ports[number][side]
            if not 1 <= port < 2**31:
                raise InputError(f"port numbers start at 1 (got {port})", where=f"cable {number}")
            if (other := taken.setdefault((node, port), number)) != number:
                raise InputError(
                    f"port {port} of {listed[node]!r} is that of cable {other}",
                    where=f"cable {number}",
                )
            numbered[number, side] = port
    return numbered


def _tier(name: str, first: int, ends: Ints, ports: Ints, rates: Floats) -> Tier:
    """Cables ordered by their ends, so that parallel ones are adjacent."""
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, ports, rates = ends[order], ports[order], rates[order]
    new = np.ones(len(ends), dtype=bool)
    new[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    bundle = np.flatnonzero(new)[np.cumsum(new) - 1]
    columns = [_frozen(column) for column in (*ends.T, *ports.T, bundle)]
    rates.flags.writeable = False
    return Tier(name, first, columns[0], columns[1], columns[2], columns[3], rates, columns[4])


def _frozen(values: Ints) -> Ints:
    array = np.ascontiguousarray(values, dtype=np.int32)
    array.flags.writeable = False
    return array
