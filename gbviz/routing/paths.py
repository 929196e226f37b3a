"""One live path a flow: `ecmp` by a stable hash, `static` by D-mod-k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.routing.stages import group_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.topology.fabric import Bools, Fabric, Ints
    from gbviz.topology.health import Health

Rows = tuple["Bools", "Ints"]


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The cables that each of F flows takes between its leaves.

    `links` is (hops, F): directed link numbers, leaf up first; -1 where a flow needs no such hop
    (one leaf, or one pod). `connected` is False where no live path is left.
    """

    links: Ints
    connected: Bools


def stable_hash(source: Ints, target: Ints, seed: int, hop: int) -> Ints:
    """A hash of flow ends, the same on every machine and run (splitmix64 rounds).

    Returns
    -------
    Ints
        Shape of `source`, int64, 0 or more.

    Examples
    --------
    >>> stable_hash(np.array([1]), np.array([2]), 7, 0).tolist()
    [5968867748145726050]
    """
    state = np.full(len(source), seed & (2**64 - 1), dtype=np.uint64)
    words = (source, target, np.full_like(source, hop))
    with np.errstate(over="ignore"):
        for word in words:
            state = state + word.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = state ^ (state >> np.uint64(31))
    return (state >> np.uint64(1)).astype(np.int64)


def pick(live: Rows, leads: list[Rows], index: Ints) -> tuple[Ints, Ints]:
    """The cable each flow takes at a switch: number ``index mod n`` of the n that will do.

    Parameters
    ----------
    live
        Table (R, U) of live cables by switch, in port order, and (F,) row of each flow.
    leads
        Tables (Q, U / w) of what still leads to the target, w neighbouring cables alike, and
        (F,) rows; a cable must satisfy all of them.
    index
        (F,) 0 or more.

    Returns
    -------
    cable, n
        (F,) column of `live`, -1 where none will do; (F,) how many would.

    Notes
    -----
    Equal rows are one class, so a healthy fabric sorts a single row, whatever its size.
    """
    key = np.zeros(len(index), dtype=np.int64)
    classes: list[tuple[Bools, int]] = []
    for table, row in (live, *leads):
        of_row, first = group_columns([table.T.astype(np.float64)])
        key = key * len(first) + of_row[row]
        classes.append((table[first], len(first)))
    present, combination = _compact(key, int(np.prod([n for _, n in classes])))
    width = live[0].shape[1]
    usable = np.ones((len(present), width), dtype=bool)
    rest = present
    for table, n in reversed(classes):
        rest, own = np.divmod(rest, n)
        usable &= np.repeat(table[own], width // table.shape[1], axis=1)
    order = np.argsort(~usable, axis=1, kind="stable")
    count = usable.sum(axis=1)[combination]
    cable = order[combination, index % np.maximum(count, 1)]
    return np.where(count > 0, cable, -1), count


def _compact(key: Ints, size: int) -> tuple[Ints, Ints]:
    """The distinct keys in order, and which of them each is."""
    if size > 4 * len(key) + 1024:
        present, inverse = np.unique(key, return_inverse=True)
        return present, inverse
    seen = np.zeros(size, dtype=bool)
    seen[key] = True
    present = np.flatnonzero(seen)
    place = np.zeros(size, dtype=np.int64)
    place[present] = np.arange(len(present))
    return present, place[key]


def paths(fabric: Fabric, health: Health, source: Ints, target: Ints, *, seed: int | None) -> Paths:
    """The cables that flows between NICs take.

    Parameters
    ----------
    fabric
        A built fat tree.
    health
        Its health.
    source, target
        (F,) NIC numbers within their kind.
    seed
        Of the hash (`ecmp`), or None for D-mod-k (`static`): the destination's port decides at
        the first and last hop. At hops between it is the destination's place among all that come
        over one spine, m of each leaf: leaf number x m + port mod m.

    References
    ----------
    Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life
    fat trees", CCIT report 776, Technion, 2010.

    Examples
    --------
    NIC 0 to NIC 5 of the next tray: rail 1, port 2 of its leaf, so cable 1 up and down.

    >>> from gbviz.topology import build, cluster_spec
    >>> from gbviz.topology.health import healthy
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> found = paths(fabric, healthy(fabric), np.array([0]), np.array([5]), seed=None)
    >>> [fabric.link_name(link) for link in found.links[:, 0]]
    ['leaf-0>spine-0#1', 'spine-0>leaf-1#1']
    """
    shape = fabric.shape
    assert shape is not None
    nics = fabric.tiers[0]
    leaf = nics.upper - fabric.nodes("leaf").start
    a, b = leaf[source].astype(np.int64), leaf[target].astype(np.int64)
    port = nics.upper_port[target].astype(np.int64) - 1
    crossing = a != b

    def index(hop: int, last: bool) -> Ints:
        if seed is not None:
            return stable_hash(source, target, seed, hop)
        return port if hop == 0 or last else b * shape.m + port % shape.m

    live = health.capacity(fabric, 1) > 0
    up, down = live.reshape(2, shape.leaves, shape.uplinks)
    falls = down.reshape(shape.leaves, shape.spines_per_pod, shape.m)
    leads: list[Rows] = [(np.asarray(falls.any(axis=2)), b)]
    if shape.cores:
        return _three_tiers(fabric, health, (a, b, crossing), up, falls, leads, index)
    cable, _ = pick((up, a), leads, index(0, False))
    spine = cable // shape.m
    last = _last_hop(falls, b, spine, index(1, True))
    tier = fabric.tiers[1]
    found = crossing & (cable >= 0)
    links = np.stack(
        [
            tier.first + a * shape.uplinks + cable,
            tier.first + tier.n + b * shape.uplinks + spine * shape.m + last,
        ]
    )
    return Paths(np.where(found, links, -1), ~crossing | found)


def _last_hop(falls: Bools, row: Ints, column: Ints, index: Ints) -> Ints:
    """Which of the parallel cables of a bundle (rows, columns, m) each flow comes down on."""
    rows, columns, m = falls.shape
    flat = falls.reshape(rows * columns, m)
    cable, _ = pick((flat, row * columns + np.maximum(column, 0)), [], index)
    return np.maximum(cable, 0)


def _three_tiers(
    fabric: Fabric,
    health: Health,
    ends: tuple[Ints, Ints, Bools],
    up: Bools,
    falls: Bools,
    leads: list[Rows],
    index: Callable[[int, bool], Ints],
) -> Paths:
    shape = fabric.shape
    assert shape is not None
    a, b, crossing = ends
    pods, S, C, q = shape.pods, shape.spines_per_pod, shape.cores_per_group, shape.q
    high = (health.capacity(fabric, 2) > 0).reshape(2, pods, S, C, q)
    rise, fall = np.asarray(high.any(axis=4))
    both = (rise[:, None] & fall[None, :]).any(axis=3) | np.eye(pods, dtype=bool)[:, :, None]
    from_pod, to_pod = a // shape.leaves_per_pod, b // shape.leaves_per_pod
    far = crossing & (from_pod != to_pod)
    reach = both.reshape(pods * pods, S)
    cable, _ = pick((up, a), [*leads, (reach, from_pod * pods + to_pod)], index(0, False))
    spine = np.maximum(cable, 0) // shape.m
    near, beyond = from_pod * S + spine, to_pod * S + spine
    climb, _ = pick(
        (high[0].reshape(pods * S, C * q), near),
        [(fall.reshape(pods * S, C), beyond)],
        index(1, False),
    )
    core = np.maximum(climb, 0) // q
    drop = _last_hop(high[1].reshape(pods * S, C, q), beyond, core, index(2, False))
    # The last hop is a flow's fourth, or its second where it stays in its pod.
    last = _last_hop(falls, b, spine, np.where(far, index(3, True), index(1, True)))
    low, top = fabric.tiers[1], fabric.tiers[2]
    found = crossing & (cable >= 0)
    links = np.stack(
        [
            np.where(found, low.first + a * shape.uplinks + cable, -1),
            np.where(found & far, top.first + near * C * q + climb, -1),
            np.where(found & far, top.first + top.n + beyond * C * q + core * q + drop, -1),
            np.where(found, low.first + low.n + b * shape.uplinks + spine * shape.m + last, -1),
        ]
    )
    return Paths(links, ~crossing | found)
