"""The exchange of all with all where every flow has one path: `ecmp` and `static`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.exchange import Groups, groups
from gbviz.flows.phase import Phase, cut_pairs, worst_link
from gbviz.routing.paths import paths

if TYPE_CHECKING:
    from gbviz.routing.rails import Rails
    from gbviz.routing.stages import Stages
    from gbviz.topology.fabric import Fabric, Floats, Ints
    from gbviz.topology.health import Health

MOST_FLOWS = 25_000_000


def path_phase(
    fabric: Fabric, health: Health, live: Stages, nics: Rails, *, seed: int | None
) -> Phase | None:
    """The all-to-all phase with one path for each pair of NICs; None where these are too many.

    Parameters
    ----------
    fabric, health
        A built cluster and its health.
    live, nics
        Its stages, and what each GPU can use.
    seed
        Of the hash (`ecmp`), or None for `static`.

    Notes
    -----
    Every NIC pair is routed by itself, rack by rack: about a second for 4,608 GPUs.
    """
    nic_pairs = len(nics.leaf) * (len(nics.leaf) // nics.rails)
    if nic_pairs > MOST_FLOWS:
        return None
    alike = groups(fabric, live, nics)
    tier = fabric.tiers[0]
    load = np.zeros(fabric.n_links - tier.first)
    for rack in range(fabric.count("rack")):
        source, target, amount = _rack_sends(alike, rack, fabric.count("rack"))
        load[: tier.n] += np.bincount(source, amount, tier.n)
        load[tier.n : 2 * tier.n] += np.bincount(target, amount, tier.n)
        for hop in paths(fabric, health, source, target, seed=seed).links:
            used = hop >= 0
            load += np.bincount(hop[used] - tier.first, amount[used], len(load))
    loads, balance = {}, {}
    for number, cables in enumerate(fabric.tiers):
        low = cables.first - tier.first
        up, down = load[low : low + 2 * cables.n].reshape(2, -1)
        loads[f"link {cables.name}"] = (
            np.concatenate([up, down]),
            health.capacity(fabric, number).reshape(-1),
        )
        balance[cables.name] = up.sum(keepdims=True), down.sum(keepdims=True)
    return worst_link(_numbered(loads), cut_pairs(alike), alike.first * nics.rails, balance)


def _numbered(loads: dict[str, tuple[Floats, Floats]]) -> dict[str, tuple[Floats, Floats]]:
    """All links as one stage, so that a place is a link number after NVLink's."""
    load, capacity = zip(*loads.values(), strict=True)
    return {"link": (np.concatenate(load), np.concatenate(capacity))}


def _rack_sends(alike: Groups, rack: int, racks: int) -> tuple[Ints, Ints, Floats]:
    """NIC pairs with bytes between them, from the trays of one rack to all other racks."""
    slots, trays = alike.trays.shape[1], len(alike.tray_class)
    per_rack = trays // racks
    group = alike.group_class[np.arange(trays) // per_rack // slots]
    own = np.arange(rack * per_rack, (rack + 1) * per_rack)
    other = np.concatenate([np.arange(own[0]), np.arange(own[-1] + 1, trays)])
    a, k = group[own][:, None], alike.tray_class[own][:, None]
    b, j = group[other][None], alike.tray_class[other][None]
    same = (own // per_rack // slots)[:, None] == (other // per_rack // slots)[None]
    within = alike.within.sent[alike.within.pattern[a], k, j]
    between = alike.between.sent[alike.between.pattern[a, b], k, j]
    sent = np.where(same[:, :, None, None], within, between)
    tray, to, x, y = np.nonzero(sent)
    R = sent.shape[2]
    return own[tray] * R + x, other[to] * R + y, sent[tray, to, x, y]
