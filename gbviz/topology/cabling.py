"""Which cables run between which nodes, and which sit in which port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gbviz.topology.fabric import Bools, Fabric, Ints, NVLink, Tier

Ports = dict[int, tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """Bundles of one tier: B pairs of nodes and the C cables that run between them.

    Parameters
    ----------
    lower, upper
        (B,) node numbers of the two ends.
    up
        (C,) links from lower to upper, the cables of a pair beside each other.
    starts
        (B + 1,) where in `up` each pair begins, and C.
    back
        How many numbers further the way back of each link is.
    forth
        True where the lower ends are in the first of the two sets that were asked for.
    """

    lower: Ints
    upper: Ints
    up: Ints
    starts: Ints
    back: int
    forth: bool


def bundles_between(
    fabric: Fabric, ones: Bools, others: Bools, *, ways: bool = False
) -> Iterator[Bundles]:
    """The bundles with one end in each of two sets of nodes, in the order of their links.

    Parameters
    ----------
    fabric
        Where to look.
    ones, others
        (N,) True for the nodes of each set.
    ways
        True gives the ways from `ones` to `others`: a pair with both ends in both sets comes
        twice, once `forth` and once not. False gives every pair once, as `forth`.
    """
    sets = (ones, others), (others, ones)
    gpus, asics = fabric.nodes("gpu"), fabric.nodes("nvswitch")
    if fabric.nvlink is not None and _asked(sets, gpus, asics):
        shape = (fabric.nvlink.racks, -1)
        hits = [
            (low[gpus].reshape(shape)[:, :, None] & high[asics].reshape(shape)[:, None, :]).ravel()
            for low, high in sets
        ]
        for cables, forth in _directions(hits[0], hits[1], ways=ways):
            yield _nvlink_bundles(fabric, fabric.nvlink, cables, forth)
    for tier in fabric.tiers:
        if not tier.n:
            continue
        ends = (fabric.kind_of(int(nodes[0])).nodes for nodes in (tier.lower, tier.upper))
        if _asked(sets, *ends):
            hits = [low[tier.lower] & high[tier.upper] for low, high in sets]
            for cables, forth in _directions(hits[0], hits[1], ways=ways):
                yield _tier_bundles(tier, cables, forth)


def _asked(sets: tuple[tuple[Bools, Bools], ...], lower: slice, upper: slice) -> bool:
    """Whether any cable between two kinds may be meant; if not, none needs looking at."""
    return any(low[lower].any() and high[upper].any() for low, high in sets)


def _directions(forth: Bools, back: Bools, *, ways: bool) -> list[tuple[Ints, bool]]:
    if not ways:
        forth, back = forth | back, np.zeros(0, dtype=bool)
    both = ((np.flatnonzero(forth), True), (np.flatnonzero(back), False))
    return [(cables, way) for cables, way in both if len(cables)]


def _tier_bundles(tier: Tier, cables: Ints, forth: bool) -> Bundles:
    starts = np.flatnonzero(np.diff(tier.bundle[cables], prepend=-1))
    first = cables[starts]
    return Bundles(
        tier.lower[first],
        tier.upper[first],
        tier.first + cables,
        np.append(starts, len(cables)),
        tier.n,
        forth,
    )


def _nvlink_bundles(fabric: Fabric, nvlink: NVLink, cables: Ints, forth: bool) -> Bundles:
    lower, upper = fabric.ends(cables)
    return Bundles(lower, upper, cables, np.arange(len(cables) + 1), nvlink.n, forth)


def ports_of(fabric: Fabric, nodes: Ints) -> dict[int, Ports]:
    """What sits in the ports of some nodes.

    Returns
    -------
    dict
        Node to port number to the links of its cable, lower end first; empty ports are left out.
    """
    tables: dict[int, Ports] = {node: {} for node in nodes.tolist()}
    asked = np.zeros(fabric.n_nodes, dtype=bool)
    asked[nodes] = True
    for tier in fabric.tiers:
        for ends, ports in ((tier.lower, tier.lower_port), (tier.upper, tier.upper_port)):
            cables = np.flatnonzero(asked[ends])
            rows = zip(ends[cables].tolist(), ports[cables].tolist(), cables.tolist(), strict=True)
            for node, port, cable in rows:
                tables[node][port] = (tier.first + cable, tier.first + tier.n + cable)
    return tables


def links_at(
    cabled: Mapping[int, tuple[int, int]], ports: Iterable[int], *, name: str
) -> tuple[int, ...]:
    """The links, both ways, of the cables in some ports of a node.

    Parameters
    ----------
    cabled
        The node's part of `ports_of`.
    ports
        Port numbers; empty ones are passed over.
    name
        What these ports are called.

    Raises
    ------
    InputError
        None of the ports has a cable.
    """
    pairs = [cabled[port] for port in ports if port in cabled]
    if not pairs:
        used = sorted(cabled)
        raise InputError(
            f"{name} has no cable",
            hint=f"ports with cables: {_spans(used)}" if used else "none of its ports has one",
        )
    up, down = zip(*pairs, strict=True)
    return (*up, *down)


def _spans(numbers: list[int]) -> str:
    """Numbers as ranges.

    Examples
    --------
    >>> _spans([1, 2, 3, 7])
    '1-3, 7'
    """
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return ", ".join(f"{g[0]}-{g[-1]}" if len(g) > 1 else str(g[0]) for g in groups)
