"""All-to-all inside many groups at once: whole trays by counting, damaged ones pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbviz.routing.nvlink import tray_pairs as between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.flows.router import Router
    from gbviz.topology.fabric import Bools, Floats, Ints

# Pairs that are routed at a time: enough to vectorise, few enough for memory.
_MOST_PAIRS = 500_000


def countable(by: Router, groups: Ints) -> Bools:
    """(n, k) members whose transfers to one another can be counted without looking at pairs.

    Their racks have whole NVLink and their trays all NICs, so that the target's rail alone says
    which NIC carries a pair; or their group stays in one rack with whole NVLink. Leaves must all
    be joined, and the routing must spread: a hashed pair has a path of its own.
    """
    busy = by.table.leaves.sends > 0
    joined = by.table.connected.reshape(len(busy), -1)[busy][:, busy]
    if by.single_path or not joined.all():
        return np.zeros(groups.shape, dtype=bool)
    R = by.nics.rails
    usable = by.nics.send & by.nics.receive & by.nics.joined
    trays = np.repeat(usable.all(axis=1).reshape(-1, R).all(axis=1), R)
    whole = trays & np.repeat(by.nvlink.slot < 0, by.nvlink.gpus)
    rack = groups // by.nvlink.gpus
    local = (rack == rack[:, :1]).all(axis=1) & (by.nvlink.slot[rack[:, 0]] < 0)
    found: Bools = whole[groups] | local[:, None]
    return found


def counted_loads(by: Router, groups: Ints, simple: Bools) -> tuple[Floats, Ints, Floats]:
    """What the exchange among countable members puts on NICs, and from leaf to leaf.

    Parameters
    ----------
    by
        The fabric under its health.
    groups, simple
        (n, k) GPU numbers, and which of them are `countable`: each sends 1 to each other one of
        its group in another rack.

    Returns
    -------
    load, leaves, amount
        (NIC links,) transfers; (2, p) source and target leaf, and (p,) transfers between these.

    Notes
    -----
    A NIC sends, for each member in its tray, as many as the group has members on its rail in other
    racks; a leaf pair carries members of the one's racks times members on the other. No pair is
    looked at: 2,048 GPUs take a millisecond.
    """
    n = len(groups)
    R, start = by.nics.rails, by.space.starts
    per_group = by.live.shape.racks_per_group
    of, gpu = np.nonzero(simple)[0], groups[simple]
    rack, rail, tray = gpu // by.nvlink.gpus, gpu % R, gpu // R
    racks = len(by.nvlink.slot)
    place = (of * racks + rack) * R + rail
    by_rack = np.bincount(place, minlength=n * racks * R).astype(np.float64).reshape(n, racks, R)
    on_rail = by_rack.sum(axis=1)
    away = on_rail[of] - by_rack[of, rack]  # (n k, R) members on each rail in other racks
    by_tray = [np.bincount(tray, away[:, r], int(start[1]) // R) for r in range(R)]
    others = on_rail.sum(axis=1)[of] - by_rack.sum(axis=2)[of, rack]
    got = np.bincount(gpu, others, int(start[1]))
    load: Floats = np.append(np.stack(by_tray, axis=1), got).astype(np.float64, copy=False)
    areas = by.live.shape.leaves // R
    padded = np.zeros((n, areas * per_group, R))
    padded[:, :racks] = by_rack
    by_area = padded.reshape(n, areas, per_group, R).sum(axis=2)
    apart = np.tensordot(by_area.sum(axis=2), by_area, ((0,), (0,)))  # (areas, areas, R)
    apart[np.arange(areas), np.arange(areas)] = 0.0
    one, two, on = np.nonzero(apart)
    return load, np.stack([one * R + on, two * R + on]), apart[one, two, on]


def tray_pairs(by: Router, groups: Ints, simple: Bools) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Transfers between racks that were not counted: source, target, how many; part by part.

    GPUs of one tray use the same NICs where NVLink joins all of them: one stands for all. Not where
    NVLink between two of them could be a limit: each has steps of its own there.
    """
    kept: list[tuple[Ints, Ints, Floats]] = []
    pairs = 0
    for part in _pairs_by_group(by, groups, simple):
        if kept and pairs + len(part[0]) > _MOST_PAIRS:
            yield _merged(kept)
            kept, pairs = [], 0
        kept.append(part)
        pairs += len(part[0])
    if kept:
        yield _merged(kept)


def _merged(parts: list[tuple[Ints, Ints, Floats]]) -> tuple[Ints, Ints, Floats]:
    source, target, times = zip(*parts, strict=True)
    return np.concatenate(source), np.concatenate(target), np.concatenate(times)


def _pairs_by_group(by: Router, groups: Ints, simple: Bools) -> Iterator[tuple[Ints, Ints, Floats]]:
    """`tray_pairs`, in smaller parts."""
    left = ~simple.all(axis=1)
    if not left.any():
        return
    R, joined = by.nics.rails, _joined(by)
    for group, counted in zip(groups[left], simple[left], strict=True):
        stands = np.where(joined[group], group // R * R, group)
        _, first, times = np.unique(stands, return_index=True, return_counts=True)
        odd = ~counted[first]
        for which, targets in ((odd, group), (~odd, group[~counted])):
            at = np.flatnonzero(which)
            step = max(1, _MOST_PAIRS // max(1, len(targets)))
            for begin in range(0, len(at) if len(targets) else 0, step):
                few = at[begin : begin + step]
                source = np.repeat(group[first[few]], len(targets))
                target = np.tile(targets, len(few))
                apart = source // by.nvlink.gpus != target // by.nvlink.gpus
                many = np.repeat(times[few], len(targets))[apart].astype(np.float64)
                yield source[apart], target[apart], many


def rack_pairs(by: Router, groups: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Ordered pairs of different members in one rack whose NVLink is damaged, group by group."""
    for group in groups[(by.nvlink.slot[groups // by.nvlink.gpus] >= 0).any(axis=1)]:
        rack = group // by.nvlink.gpus
        for one in np.unique(rack[by.nvlink.slot[rack] >= 0]):
            here = group[rack == one]
            source, target = np.repeat(here, len(here)), np.tile(here, len(here))
            yield source[source != target], target[source != target]


def most_in_a_rack(by: Router, groups: Ints) -> int:
    """The most transfers of one member to others of its group in one rack of whole NVLink."""
    rack = groups // by.nvlink.gpus
    key = np.arange(len(groups))[:, None] * len(by.nvlink.slot) + rack
    here = np.unique(key[by.nvlink.slot[rack] < 0], return_counts=True)[1]
    return int(here.max(initial=1)) - 1


def _joined(by: Router) -> Bools:
    """(G,) GPUs of trays where NVLink carries R + 1 NICs' worth between every two."""
    R, hurt = by.nics.rails, np.flatnonzero(by.nvlink.slot >= 0)
    trays = np.ones((len(by.nvlink.slot), by.nvlink.gpus // R), dtype=bool)
    ample = between(by.nvlink, R) >= (R + 1) * by.live.nic_up.max(initial=0.0)
    trays[hurt] = ample.all(axis=(2, 3))[by.nvlink.slot[hurt]]
    return np.repeat(trays.reshape(-1), R)
