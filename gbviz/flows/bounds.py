"""What the damaged fabric can carry at best: bisection, worst pair, non-blocking or not.

Faults inside racks leave stages as they are (`router`): what was found for the last is kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.maxflow import max_flow

if TYPE_CHECKING:
    from gbviz.routing.leaves import LeafClasses, SplitTable
    from gbviz.routing.rails import Rails
    from gbviz.routing.stages import Stages
    from gbviz.topology.fabric import Floats, Ints

_SLACK = 1e-9


@lru_cache(maxsize=4)
def bisection(live: Stages, leaves: LeafClasses) -> float:
    """Maximum flow from the NICs of the first half of the leaves to those of the second, GB/s.

    Any way through live links counts, also one that no routing mode would take. Equal leaves,
    spines and cores carry equal parts of some maximum flow, so each class is one node.

    Parameters
    ----------
    live
        Stages that split by capacity, so that a bundle's capacity is the sum of its cables.
    leaves
        From `leaf_classes`.
    """
    C, K, E, pods = len(leaves.first), live.n_classes, len(live.cores), live.shape.pods
    source, sink = 0, 1
    leaf, spine = 2, 2 + C
    core = spine + pods * K
    edges: list[tuple[int, int, float]] = []
    rise, fall = live.leaf.up[leaves.first].tolist(), live.leaf.down[leaves.first].tolist()
    for c in range(C):
        pod = int(leaves.first[c]) // live.shape.leaves_per_pod
        many = float(leaves.members[c])
        if leaves.upper[c]:
            edges.append((leaf + c, sink, many * float(leaves.gets[c])))
        else:
            edges.append((source, leaf + c, many * float(leaves.sends[c])))
        for k in range(K):
            at, times = spine + pod * K + k, many * float(live.spines[k])
            edges.append((leaf + c, at, times * rise[c][k]))
            edges.append((at, leaf + c, times * fall[c][k]))
    for pod in range(pods):
        for e in range(E):
            k = int(live.core_owner[e])
            times = float(live.spines[k] * live.cores[e])
            at = spine + pod * K + k
            edges.append((at, core + e, times * float(live.core.up[pod, e])))
            edges.append((core + e, at, times * float(live.core.down[pod, e])))
    return max_flow(core + E, edges, source, sink)


@lru_cache(maxsize=4)
def blocking(live: Stages, table: SplitTable) -> tuple[int, str] | None:
    """Why the fabric cannot carry every admissible traffic, None where it can.

    Admissible: no NIC is asked to send or receive more than it can. The split is that of
    `adaptive`; the worst demand on each link is found by filling its best customers first.

    Returns
    -------
    (int, str) or None
        A leaf and what is wrong there. For core links the worst demand is an upper bound, so a
        damaged three-tier fabric may be called blocking that could just be carried.
    """
    leaves = table.leaves
    short = _short_of_uplinks(live, leaves)
    if short is not None:
        return short
    C = len(leaves.first)
    a, b = leaves.pairs()
    alone = (a == b) & (leaves.members[a] == 1)
    apart = ~alone & ~table.connected & (leaves.sends[a] > 0) & (leaves.gets[b] > 0)
    if apart.any():
        c = int(a[apart.argmax()])
        return int(leaves.first[c]), "no live way leads from it to some other leaf with live NICs"
    many = leaves.members - np.eye(C)
    for k in range(live.n_classes):
        part = np.where(alone, 0.0, table.spine[k] / live.spines[k]).reshape(C, C)
        for way, own, far, share, room in (
            ("up", leaves.sends, leaves.gets, part, live.leaf.up),
            ("down", leaves.gets, leaves.sends, part.T, live.leaf.down),
        ):
            worst = _fullest(share, many * far, own)
            over = worst > room[leaves.first, k] * (1 + _SLACK)
            if over.any():
                c = int(np.flatnonzero(over)[0])
                return int(leaves.first[c]), (
                    f"a bundle {way} could be asked for {worst[c]:,.0f} of"
                    f" {room[leaves.first[c], k]:,.0f} GB/s"
                )
    return _short_of_cores(live, leaves, table.core.reshape(-1, C, C))


def _short_of_uplinks(live: Stages, leaves: LeafClasses) -> tuple[int, str] | None:
    if len(leaves.leaf_class) == 1:
        return None
    for way, need, far, bundles in (
        ("send", leaves.sends, leaves.gets, live.leaf.up),
        ("receive", leaves.gets, leaves.sends, live.leaf.down),
    ):
        room = (bundles[leaves.first] * live.spines).sum(axis=1)
        # NICs may be asked for no more than those of all other leaves take or give.
        asked = np.minimum(need, (leaves.members * far).sum() - far)
        short = np.flatnonzero(room < asked * (1 - _SLACK))
        if len(short):
            worst = int(short[np.argmin(room[short] / need[short])])
            return int(leaves.first[worst]), (
                f"its live uplinks take {room[worst]:,.0f} GB/s,"
                f" its live NICs {way} {need[worst]:,.0f}"
            )
    return None


def _fullest(part: Floats, amount: Floats, limit: Floats) -> Floats:
    """(C,) the most that one link is asked for: customers with the largest part first.

    `part` (C, C) of a customer's traffic, `amount` (C, C) its size, `limit` (C,) all together.
    """
    order = np.argsort(-part, axis=1, kind="stable")
    part, amount = np.take_along_axis(part, order, 1), np.take_along_axis(amount, order, 1)
    before = np.cumsum(amount, axis=1) - amount
    used = np.clip(limit[:, None] - before, 0.0, amount)
    worst: Floats = (used * part).sum(axis=1)
    return worst


def _short_of_cores(live: Stages, leaves: LeafClasses, part: Floats) -> tuple[int, str] | None:
    pod = leaves.first // live.shape.leaves_per_pod
    for e in range(len(live.cores)):
        apart = live.spines[live.core_owner[e]] * live.cores[e]
        for own, table, room in (
            (leaves.sends, part[e], live.core.up[:, e]),
            (leaves.gets, part[e].T, live.core.down[:, e]),
        ):
            asked = own * leaves.members * table.max(axis=1) / apart
            load = np.bincount(pod, asked, live.shape.pods)
            over = np.flatnonzero(load > room * (1 + _SLACK))
            if len(over):
                leaf = int(over[0]) * live.shape.leaves_per_pod
                return leaf, (
                    f"a bundle of its pod's spines to a core could be asked for"
                    f" {load[over[0]]:,.0f} of {room[over[0]]:,.0f} GB/s"
                )
    return None


def worst_pair(live: Stages, table: SplitTable, nics: Rails) -> float:
    """The rate of the worst NIC pair with the fabric to itself, GB/s; inf without NICs.

    The smallest of: a live NIC's rate out or in, and what the shares of any two leaves with live
    NICs let through. NICs that no GPU can use, those of failed GPUs, do not count. Pairs that no
    way joins are not seen here: they are counted elsewhere.
    """
    leaves = table.leaves
    rate, busy_ends = float("inf"), []
    for capacity, usable in ((live.nic_up, nics.send), (live.nic_down, nics.receive)):
        _, used = nics.served(nics.by_tray(usable).__getitem__)
        rate = min(rate, float(capacity[used].min(initial=np.inf)))
        of_class = leaves.leaf_class[nics.leaf[used]]
        busy_ends.append(np.bincount(of_class, minlength=len(leaves.first)) > 0)
    a, b = leaves.pairs()
    busy = busy_ends[0][a] & busy_ends[1][b] & ((a != b) | (leaves.members[a] > 1))
    for part, room in _parts(live, table, leaves.first[a], leaves.first[b]):
        used = busy & (part > 0)
        each = np.divide(room, part, out=np.full(part.shape, np.inf), where=used)
        rate = min(rate, float(each.min(initial=np.inf)))
    return rate


def _parts(live: Stages, table: SplitTable, start: Ints, end: Ints) -> list[tuple[Floats, Floats]]:
    """Shares, and the room of all members together, of spine classes and of core classes."""
    up, down = live.leaf.up.T.take(start, axis=1), live.leaf.down.T.take(end, axis=1)
    found = [(table.spine, np.minimum(up, down) * live.spines[:, None])]
    if len(live.cores):
        pods = start // live.shape.leaves_per_pod, end // live.shape.leaves_per_pod
        members = live.spines[live.core_owner] * live.cores
        up, down = live.core.up.T.take(pods[0], axis=1), live.core.down.T.take(pods[1], axis=1)
        found.append((table.core, np.minimum(up, down) * members[:, None]))
    return found
