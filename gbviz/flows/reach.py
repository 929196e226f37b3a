"""Which GPUs are cut off from the rest."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gbviz.routing.rails import Rails
    from gbviz.routing.stages import Stages
    from gbviz.topology.fabric import Bools, Fabric, Ints
    from gbviz.topology.health import Health


@lru_cache(maxsize=4)
def leaf_islands(live: Stages) -> Ints:
    """(leaves,) number of the island that each leaf is in: leaves that live links join both ways.

    Cost: a few passes over leaves x spine classes; kept, as many faults leave stages as they are.
    """
    shape, K, E = live.shape, live.n_classes, len(live.cores)
    rows, none = shape.pods * shape.leaves_per_pod, shape.pods * shape.leaves_per_pod
    leaf = np.arange(rows)
    low = (np.minimum(live.leaf.up, live.leaf.down) > 0).reshape(shape.pods, -1, K)
    high = np.minimum(live.core.up, live.core.down) > 0
    while True:
        spine = np.where(low, leaf.reshape(shape.pods, -1, 1), none).min(axis=1)
        if E:
            core = np.where(high, spine[:, live.core_owner], none).min(axis=0)
            down = np.where(high, core, none)
            for e in range(E):
                k = live.core_owner[e]
                spine[:, k] = np.minimum(spine[:, k], down[:, e])
        best = np.where(low, spine[:, None, :], none).min(axis=2).reshape(-1)
        joined = np.minimum(leaf, best)
        if (joined == leaf).all():
            return leaf[: shape.leaves]
        leaf = joined


def cut_off(fabric: Fabric, health: Health, live: Stages, nics: Rails) -> Bools:
    """(G,) True for a live GPU that cannot reach the largest part of the cluster.

    A GPU is reached through NICs that it can both send and receive through: its own, or over
    NVLink those of its tray. Parts that share a tray count as one. Where live GPUs are in one rack
    only, NVLink joins them, and a GPU is cut off when neither NVLink nor a NIC serves it.

    Parameters
    ----------
    fabric, health
        A built cluster and its health.
    live
        Stages of the damaged fabric.
    nics
        What each GPU can use.
    """
    R, trays = nics.rails, len(nics.live) // nics.rails
    send, receive = nics.by_tray(nics.send), nics.by_tray(nics.receive)
    served, tray_has = nics.served(lambda trays: send[trays] & receive[trays])
    by_rack = nics.live.reshape(fabric.count("rack"), -1)
    racks = np.flatnonzero(by_rack.any(axis=1))
    if len(racks) <= 1:
        alone = by_rack & ~served.reshape(by_rack.shape)
        for rack in racks.tolist():
            alone[rack] &= ~_linked(fabric, health, rack)
        return np.asarray(alone.reshape(-1) & (nics.live.sum() > 1))
    island = leaf_islands(live)[nics.leaf]
    own = island[tray_has]
    if len(own) and (own == own[0]).all():
        return np.asarray(nics.live & ~served)
    usable = nics.send & nics.receive
    part = _parts(island.reshape(trays, R), tray_has.reshape(trays, R), len(live.leaf.up))
    of_gpu = np.where(usable, np.repeat(part[island].reshape(trays, R), R, axis=0), -1)
    seen = of_gpu.max(axis=1)
    counted = np.bincount(seen[nics.live & (seen >= 0)], minlength=1)
    main = int(counted.argmax())
    lost: Bools = nics.live & ~(of_gpu == main).any(axis=1)
    return lost


def _parts(island: Ints, has: Bools, size: int) -> Ints:
    """(size,) for each island the part it belongs to: islands with a NIC of one tray are joined."""
    part = np.arange(size)
    while True:
        lowest = np.where(has, part[island], size).min(axis=1)
        new = part.copy()
        np.minimum.at(new, island[has], np.repeat(lowest, has.shape[1]).reshape(has.shape)[has])
        new = new[new]
        if (new == part).all():
            return part
        part = new


def _linked(fabric: Fabric, health: Health, rack: int) -> Bools:
    """(GPUs of a rack,) True where NVLink leads to another live GPU of the rack and back."""
    out, into = (health.nvlink_capacity(fabric, rack) > 0).astype(np.float64)
    there = out @ into.T > 0
    both = there & there.T & ~np.eye(len(there), dtype=bool)
    linked: Bools = both.any(axis=1)
    return linked
