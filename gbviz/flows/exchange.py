"""The exchange of all with all, as one coupled phase over groups of equal trays and leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.routing.rails import prefer_rails
from gbviz.routing.shares import connected
from gbviz.routing.stages import each_once, group_columns

if TYPE_CHECKING:
    from gbviz.routing.rails import Rails
    from gbviz.routing.stages import Stages
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class TrayTable:
    """What two trays exchange when every live GPU sends every other 1 byte.

    It depends on the two tray classes and on which leaves of the two groups live cables join; the
    latter are few patterns, so tables are kept by pattern and not by pair of groups. Some patterns
    may be those of other pairs only.

    Parameters
    ----------
    pattern
        Pattern of each pair of groups (C, C), or of each group with itself (C,).
    sent
        (patterns, K, K, R, R) bytes from the NIC on rail x of a tray to that on rail y of another.
    cut
        (patterns, K, K) GPU pairs that no way joins.
    """

    pattern: Ints
    sent: Floats
    cut: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Leaf groups and trays with equal ones taken together.

    A leaf group is R leaves, one a rail, and the racks under them. Groups of one pod whose trays,
    NICs and leaves are in the same state form a class.

    Parameters
    ----------
    group_class
        (groups,) class of each leaf group.
    first, other
        (C,) a group of each class, and another of the same class (the same one where it is alone).
    members
        (C,) groups in each class.
    tray_class
        (trays,) class of each compute tray: trays whose GPUs can use the same NICs.
    trays
        (C, slots, K) trays of each tray class in each rack of a group of the class.
    between, within
        What trays of two groups exchange, and trays of one group.
    """

    group_class: Ints
    first: Ints
    other: Ints
    members: Floats
    tray_class: Ints
    trays: Floats
    between: TrayTable
    within: TrayTable


def groups(fabric: Fabric, live: Stages, nics: Rails, *, joined: bool = False) -> Groups:
    """Which leaf groups and trays are alike under one health.

    Parameters
    ----------
    fabric
        A built cluster.
    live
        Its stages under the routing mode.
    nics
        What each GPU can use.
    joined
        True where it is known that live cables lead from every leaf with live NICs to every other.
    """
    shape, spec = fabric.shape, fabric.spec
    assert shape is not None
    assert spec is not None
    R, slots = shape.rails, shape.racks_per_group
    n_groups, per_rack = shape.leaves // R, spec.trays_per_rack
    tray_class, kinds = _tray_classes(nics)
    K = len(kinds[0])
    rack_trays = np.zeros((n_groups * slots, per_rack), dtype=np.int64) - 1
    rack_trays[: spec.racks] = tray_class.reshape(spec.racks, per_rack)
    signature = [
        (np.arange(n_groups) * R // shape.leaves_per_pod)[None].astype(np.float64),
        *each_once(live.leaf.arrays(), lambda rows: rows[: shape.leaves].reshape(n_groups, -1).T),
        rack_trays.reshape(n_groups, -1).T.astype(np.float64),
        *each_once(
            (live.nic_up, live.nic_down),
            lambda nic: _by_group(nic, n_groups, slots * per_rack * R).T,
        ),
    ]
    group_class, first = group_columns(signature)
    members = np.bincount(group_class)
    last = np.zeros(len(first), dtype=np.int64)
    last[group_class] = np.arange(n_groups)
    own = rack_trays.reshape(n_groups, slots, per_rack)[first]
    trays = (own[..., None] == np.arange(K)).sum(axis=2).astype(np.float64)
    rows = np.repeat(np.arange(len(first)), len(first)), np.tile(np.arange(len(first)), len(first))
    ends = np.append(first[rows[0]], first), np.append(last[rows[1]], first)
    ways = None if joined else _joined(live, _busy(live, nics), *ends, R)
    pairs = len(rows[0])
    table = _whole_table(nics, len(ends[0])) if ways is None else _table(kinds, ways, R)
    between = table.pattern[:pairs].reshape(len(first), len(first))
    return Groups(
        group_class,
        first,
        last,
        members.astype(np.float64),
        tray_class,
        trays,
        TrayTable(between, table.sent, table.cut),
        TrayTable(table.pattern[pairs:], table.sent, table.cut),
    )


def _by_group(nic: Floats, n_groups: int, width: int) -> Floats:
    """NIC values by leaf group, missing racks of the last group as -1."""
    full = np.full(n_groups * width, -1.0)
    full[: len(nic)] = nic
    return full.reshape(n_groups, width)


@lru_cache(maxsize=4)
def _tray_classes(nics: Rails) -> tuple[Ints, tuple[Bools, Bools, Bools]]:
    """Class of each tray, and (K, R, R), (K, R, R), (K, R) send, receive, live of each class."""
    R = nics.rails
    trays = len(nics.live) // R
    rows = [some.reshape(trays, -1) for some in (nics.send, nics.receive, nics.live)]
    odd = nics.odd[~np.concatenate([row[nics.odd] for row in rows], axis=1).all(axis=1)]
    classes: Ints = np.zeros(trays, dtype=np.int64)
    first: Ints = np.zeros(0, dtype=np.int64)
    if len(odd):
        packed = np.packbits(np.concatenate([row[odd] for row in rows], axis=1), axis=1)
        _, at, of_odd = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        first, classes[odd] = odd[at], of_odd.reshape(-1)
    if len(odd) < trays:
        whole = np.ones(trays, dtype=bool)
        whole[odd] = False
        classes[whole] = len(first)
        first = np.append(first, whole.argmax())
    send, receive, live = (
        row[first].reshape(len(first), *shape)
        for row, shape in zip(rows, ((R, R), (R, R), (R,)), strict=True)
    )
    return classes, (send, receive, live)


def _busy(live: Stages, nics: Rails) -> Bools:
    """(2, leaves) True for leaves with a NIC that sends, and with one that receives."""
    busy = np.zeros((2, live.shape.leaves), dtype=bool)
    for way, nic in zip(busy, (live.nic_up, live.nic_down), strict=True):
        way[nics.leaf[nic > 0]] = True
    return busy


def _joined(live: Stages, busy: Bools, source: Ints, target: Ints, R: int) -> Bools | None:
    """(P, R * R) which leaves of some ordered pairs of groups are joined, None for all.

    Of leaves that are not `busy` it does not matter what joins them, and not to ask saves patterns.
    """
    P = len(source)
    rail = np.arange(R)
    a = np.broadcast_to((source[:, None] * R + rail)[:, :, None], (P, R, R)).reshape(-1)
    b = np.broadcast_to((target[:, None] * R + rail)[:, None, :], (P, R, R)).reshape(-1)
    joined = connected(live, a, b) | ~(busy[0].take(a) & busy[1].take(b))
    return None if joined.all() else joined.reshape(P, R * R)


def _table(kinds: tuple[Bools, Bools, Bools], joined: Bools, R: int) -> TrayTable:
    """The table for some ordered pairs of groups; `pattern` in their order."""
    pattern, first = group_columns([joined.T.astype(np.float64)])
    found = [_tray_pairs(kinds, one, R) for one in joined[first]]
    return TrayTable(pattern, *(np.stack(each) for each in zip(*found, strict=True)))


def _whole_table(nics: Rails, pairs: int) -> TrayTable:
    """`_table` where all leaves are joined."""
    sent, cut = _whole_pairs(nics)
    return TrayTable(np.zeros(pairs, dtype=np.int64), sent[None], cut[None])


@lru_cache(maxsize=4)
def _whole_pairs(nics: Rails) -> tuple[Floats, Floats]:
    """`_tray_pairs` where all leaves are joined; kept, as many faults leave NICs as they are."""
    return _tray_pairs(_tray_classes(nics)[1], np.ones(nics.rails**2, dtype=bool), nics.rails)


def _tray_pairs(kinds: tuple[Bools, Bools, Bools], joined: Bools, R: int) -> tuple[Floats, Floats]:
    """What trays of each two classes exchange when each live GPU sends each 1.

    (K, K, R, R) bytes between their NICs, and (K, K) pairs cut off. The rules are those of
    `rails.legs`.
    """
    send, receive, live = kinds
    K = len(live)
    way = send[:, None, :, None, :, None] & receive[None, :, None, :, None, :]
    way = way.reshape(K, K, R, R, R * R) & joined
    way &= prefer_rails(way, R)
    own = np.arange(R) * (R + 1)  # the target's rail at both ends
    direct = way[..., np.arange(R), own]
    way = np.where(direct[..., None], np.arange(R * R) == own[:, None], way)
    pairs = live[:, None, :, None] & live[None, :, None, :]
    ways = way.sum(axis=4)
    share = (way & pairs[..., None]) / np.maximum(ways, 1)[..., None]
    cut = ((ways == 0) & pairs).sum(axis=(2, 3)).astype(np.float64)
    return share.sum(axis=(2, 3)).reshape(K, K, R, R), cut
