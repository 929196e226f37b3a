"""How long a coupled phase takes: the time of its worst link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.exchange import Groups, groups
from gbviz.routing.shares import split

if TYPE_CHECKING:
    from gbviz.routing.rails import Rails
    from gbviz.routing.stages import Stages
    from gbviz.topology.fabric import Fabric, Floats, Ints


_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Phase:
    """One coupled phase on the fabric.

    Parameters
    ----------
    time_s
        Seconds for 1 GB from every sender to every receiver; inf where a pair is cut off.
    bottleneck
        Stage ("nic up", "leaf up", "core up" ...) and place of the worst link, None without load.
    cut_pairs
        Ordered GPU pairs that no way joins.
    loads
        For each stage name, (load, capacity) of its links or bundles, GB and GB/s.
    leaf_at
        (C,) number of the first leaf of the group that stands for each class of groups.
    balance
        For each tier, what its switches take in and give out, GB, in one order.
    """

    time_s: float
    bottleneck: tuple[str, tuple[int, ...]] | None
    cut_pairs: int
    loads: dict[str, tuple[Floats, Floats]]
    leaf_at: Ints
    balance: dict[str, tuple[Floats, Floats]]


def exchange_phase(fabric: Fabric, live: Stages, nics: Rails, *, joined: bool = False) -> Phase:
    """The phase in which every live GPU sends 1 GB to every live GPU of every other rack.

    Parameters
    ----------
    fabric
        A built cluster.
    live
        Its stages under a mode that spreads (`adaptive`, `spray`).
    nics
        What each GPU can use.
    joined
        True where it is known that live cables lead from every leaf with live NICs to every other.

    Notes
    -----
    20.9 million flows of 4,608 GPUs become a few classes of leaf pairs: cost grows with the number
    of classes, not of flows.
    """
    alike = groups(fabric, live, nics, joined=joined)
    between, within = _demand(alike)
    nic = _nic_loads(alike, live)
    stage, balance = _stage_loads(alike, live, between, within)
    balance["NICs"] = nic["nic up"][0].sum(keepdims=True), nic["nic down"][0].sum(keepdims=True)
    return worst_link(nic | stage, cut_pairs(alike), alike.first * nics.rails, balance)


def _demand(alike: Groups) -> tuple[Floats, Floats]:
    """(C, C, R, R) bytes between the leaves of two groups, and (C, R, R) inside one group."""
    each, table = alike.trays.sum(axis=1), alike.between
    C, R = len(each), table.sent.shape[4]
    between = np.zeros((C, C, R, R))
    for number, sent in enumerate(table.sent):
        # (C, K) trays of the source, times (K, K, R, R), times (C, K) trays of the target.
        halfway = np.tensordot(each, sent, 1)
        found = np.tensordot(halfway, each, ((1,), (1,))).transpose(0, 3, 1, 2)
        between += np.where((table.pattern == number)[:, :, None, None], found, 0.0)
    pairs = _pairs_within(alike)
    return between, np.einsum("akl,aklxy->axy", pairs, alike.within.sent[alike.within.pattern])


def _pairs_within(alike: Groups) -> Floats:
    """(C, K, K) ordered pairs of trays of one group in different racks."""
    each = alike.trays.sum(axis=1)
    together = np.matmul(alike.trays.transpose(0, 2, 1), alike.trays)
    pairs: Floats = each[:, :, None] * each[:, None, :] - together
    return pairs


def cut_pairs(alike: Groups) -> int:
    """Ordered pairs of live GPUs in different racks that no way joins."""
    far, near = alike.between, alike.within
    if not far.cut.any() and not near.cut.any():
        return 0
    each = alike.trays.sum(axis=1)
    others = alike.members[:, None] * (alike.members[None, :] - np.eye(len(each)))
    total = float((_pairs_within(alike) * near.cut[near.pattern]).sum(axis=(1, 2)) @ alike.members)
    for number, cut in enumerate(far.cut):
        total += float((np.where(far.pattern == number, others, 0.0) * (each @ cut @ each.T)).sum())
    return round(total)


def _nic_loads(alike: Groups, live: Stages) -> dict[str, tuple[Floats, Floats]]:
    """(C, slots, K, R) bytes through each NIC of a tray by where the tray is."""
    each = alike.trays.sum(axis=1)
    others = alike.members[None, :] - np.eye(len(each))  # groups of class b that one of a sees
    near = each[:, None, :] - alike.trays  # trays of the same group in other racks, (C, slots, K)
    # Both tables have the same patterns.
    own, table = alike.within.pattern, alike.between.sent
    out, into = table.sum(axis=4), table.sum(axis=3)
    sent = np.einsum("asl,aklx->askx", near, out[own])
    got = np.einsum("ask,akly->asly", near, into[own])
    for number in range(len(table)):
        seen = np.where(alike.between.pattern == number, others, 0.0)
        sent += np.tensordot(seen @ each, out[number], ((1,), (1,)))[:, None]
        back = np.where(number == alike.between.pattern.T, others, 0.0)
        got += np.tensordot(back @ each, into[number], ((1,), (0,)))[:, None]
    return {
        "nic up": (_by_nic(alike, sent), live.nic_up),
        "nic down": (_by_nic(alike, got), live.nic_down),
    }


def _by_nic(alike: Groups, load: Floats) -> Floats:
    """Load of every NIC from the load of its place."""
    trays = len(alike.tray_class)
    R, slots = load.shape[3], load.shape[1]
    per_rack = int(alike.trays[0, 0].sum())
    rack = np.arange(trays) // per_rack
    place = load[alike.group_class[rack // slots], rack % slots, alike.tray_class]
    flat: Floats = place.reshape(trays * R)
    return flat


def _stage_loads(
    alike: Groups, live: Stages, between: Floats, within: Floats
) -> tuple[dict[str, tuple[Floats, Floats]], dict[str, tuple[Floats, Floats]]]:
    """Bytes on one bundle of every class, leaf up and down, core up and down; and the balance."""
    C, R = within.shape[:2]
    pairs = _leaf_pairs(alike, between, within)
    shares = split(live, pairs.start, pairs.end)
    leaves = alike.first[:, None] * R + np.arange(R)
    pod = leaves // live.shape.leaves_per_pod
    loads, crossing = {}, {}
    for name, leaf, times, capacity in (
        ("leaf up", pairs.source, pairs.sends, live.leaf.up),
        ("leaf down", pairs.target, pairs.gets, live.leaf.down),
    ):
        parts = [np.bincount(leaf, pairs.amount * times * part, C * R) for part in shares.spine]
        load = np.stack(parts, axis=1).reshape(C, R, -1)
        loads[name] = load / live.spines, capacity[leaves]
        crossing[name] = np.zeros((live.shape.pods, live.n_classes))
        np.add.at(crossing[name], pod, load * alike.members[:, None, None])
    if len(live.cores):
        total = shares.core * pairs.amount * pairs.sends * alike.members[pairs.source // R]
        _core_loads(alike, live, total, (pairs.source // R, pairs.target // R), loads, crossing)
    balance = {"spines": (crossing["leaf up"], crossing["leaf down"])}
    if len(live.cores):
        balance["cores"] = crossing["core up"].sum(axis=0), crossing["core down"].sum(axis=0)
        for k in range(live.n_classes):
            own = live.core_owner == k
            crossing["leaf up"][:, k] += crossing["core down"][:, own].sum(axis=1)
            crossing["leaf down"][:, k] += crossing["core up"][:, own].sum(axis=1)
    return loads, balance


@dataclass(frozen=True, slots=True, eq=False)
class _LeafPairs:
    """P pairs of leaves with bytes between them.

    `source`, `target` (P,) place of the leaves among C x R; `start`, `end` (P,) leaf numbers;
    `amount` (P,) bytes of one pair; `sends` (P,) such pairs that one source leaf has, `gets` that
    one target leaf has.
    """

    source: Ints
    target: Ints
    start: Ints
    end: Ints
    amount: Floats
    sends: Floats
    gets: Floats


def _leaf_pairs(alike: Groups, between: Floats, within: Floats) -> _LeafPairs:
    C, R = within.shape[:2]
    seen = alike.members[None, :] - np.eye(C)  # groups of class b that a group of class a sees
    a, b, x, y = np.nonzero((between > 0) & (seen[:, :, None, None] > 0))
    i, u, v = np.nonzero((within > 0) & ~np.eye(R, dtype=bool))
    return _LeafPairs(
        np.concatenate([a * R + x, i * R + u]),
        np.concatenate([b * R + y, i * R + v]),
        np.concatenate([alike.first[a] * R + x, alike.first[i] * R + u]),
        np.concatenate([alike.other[b] * R + y, alike.first[i] * R + v]),
        np.concatenate([between[a, b, x, y], within[i, u, v]]),
        np.concatenate([seen[a, b], np.ones(len(i))]),
        np.concatenate([seen[b, a], np.ones(len(i))]),
    )


def _core_loads(
    alike: Groups,
    live: Stages,
    amount: Floats,
    ends: tuple[Ints, Ints],
    loads: dict[str, tuple[Floats, Floats]],
    crossing: dict[str, Floats],
) -> None:
    pods = live.shape.pods
    pod = alike.first * live.shape.rails // live.shape.leaves_per_pod
    apart = live.spines[live.core_owner] * live.cores
    for name, end, capacity in (
        ("core up", ends[0], live.core.up),
        ("core down", ends[1], live.core.down),
    ):
        crossing[name] = np.stack([np.bincount(pod[end], part, pods) for part in amount], axis=1)
        loads[name] = crossing[name] / apart, capacity


def worst_link(
    loads: dict[str, tuple[Floats, Floats]],
    cut: int,
    leaf_at: Ints,
    balance: dict[str, tuple[Floats, Floats]],
) -> Phase:
    """The phase of some loads: as long as the link with the largest load over capacity takes."""
    time, where = 0.0, None
    for name, (load, capacity) in loads.items():
        busy = load > 0
        if not busy.any():
            continue
        took = np.divide(load, capacity, out=np.full(load.shape, np.inf), where=capacity > 0)
        took = np.where(busy, took, 0.0)
        worst = np.unravel_index(int(took.argmax()), took.shape)
        if took[worst] > time * (1 + 1e-12):
            time, where = float(took[worst]), (name, tuple(int(n) for n in worst))
    took_s = np.inf if cut else time
    return Phase(took_s, where, cut, loads, leaf_at, balance)


def conserved(phase: Phase) -> tuple[str, ...]:
    """What does not add up in a phase: a link over its capacity, a switch that loses bytes."""
    problems = []
    for name, (load, capacity) in phase.loads.items():
        if phase.cut_pairs == 0 and (load > capacity * phase.time_s * (1 + _TOLERANCE)).any():
            problems.append(f"{name}: a link carries more than its capacity")
    for name, (taken, given) in phase.balance.items():
        least = _TOLERANCE * float(taken.sum())
        if not (np.abs(taken - given) <= least + _TOLERANCE * np.abs(given)).all():
            problems.append(f"{name}: bytes in and out differ")
    return tuple(problems)
