"""Which NICs carry a pair of GPUs: the rail rule, PXN, and what happens without a NIC."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health

    Connected = Callable[[Ints, Ints], Bools]


@dataclass(frozen=True, slots=True, eq=False)
class Rails:
    """The NICs that each GPU can use, by rail.

    Parameters
    ----------
    rails
        R, rails of a tray; NIC r of a tray sits on rail r and serves GPU r.
    leaf
        (n_nics,) leaf of each NIC, numbered within its kind.
    live
        (G,) GPUs that have not failed.
    send, receive
        (G, R) True where the GPU can send, or receive, through that NIC of its tray: its own NIC,
        or over NVLink that of a live GPU beside it. All False for a failed GPU.
    joined
        (G, R) True where NVLink leads both ways between the GPU and that one of its tray.
    odd
        (n,) trays whose GPUs may not all be able to use every NIC; those of all others can.
    relay
        Over how many NICs around it a GPU without its own spreads: those of its tray, or of its
        rack (`nic_loss`).
    """

    rails: int
    leaf: Ints
    live: Bools
    send: Bools
    receive: Bools
    joined: Bools
    odd: Ints
    relay: int

    @property
    def whole(self) -> bool:
        """True where every GPU can use every NIC of its tray."""
        return not len(self.odd)

    def served(self, usable: Callable[[Ints], Bools]) -> tuple[Bools, Bools]:
        """(G,) GPUs that can use some NIC, and (n_nics,) NICs that some GPU can use.

        `usable` says which GPUs of some trays (n, R, R) can use which of their NICs. Only `odd`
        ones are looked at.
        """
        gpus, nics = (np.ones((len(self.live) // self.rails, self.rails), bool) for _ in range(2))
        if len(self.odd):
            each = usable(self.odd)
            gpus[self.odd], nics[self.odd] = each.any(axis=2), each.any(axis=1)
        return gpus.reshape(-1), nics.reshape(-1)

    def by_tray(self, usable: Bools) -> Bools:
        """(trays, R, R) `send` or `receive` by tray."""
        return usable.reshape(-1, self.rails, self.rails)


def rails(
    fabric: Fabric, health: Health, nic_up: Floats, nic_down: Floats, *, by_rack: bool = False
) -> Rails:
    """The NICs that each GPU can use under one health.

    Parameters
    ----------
    fabric
        A built cluster: one NIC a GPU.
    health
        Its health.
    nic_up, nic_down
        (n_nics,) effective capacities, GB/s.
    by_rack
        True spreads the traffic of a GPU without its NIC over its rack, False over its tray.
    """
    shape, nvlink = fabric.shape, fabric.nvlink
    assert shape is not None
    assert nvlink is not None
    R = shape.rails
    live = health.up(fabric, "gpu")
    out, into = (nic_up > 0).reshape(-1, R), (nic_down > 0).reshape(-1, R)
    beside = live.reshape(-1, R)
    odd = ~(out & into & beside).all(axis=1)
    racks = health.damaged_nvlink(fabric)
    trays = nvlink.gpus // R
    odd.reshape(-1, trays)[racks] = True
    at = np.flatnonzero(odd)
    leaf, everything = _whole(fabric)
    send = receive = joined = everything
    if len(at):
        send, receive, joined = (everything.reshape(-1, R, R).copy() for _ in range(3))
        pair = beside[at, :, None] & beside[at, None, :]  # from GPU, to GPU of one tray
        for rack in racks.tolist():
            high, low = health.nvlink_capacity(fabric, rack).reshape(2, trays, R, -1) > 0
            own = np.searchsorted(at, rack * trays)
            pair[own : own + trays] &= (high[:, :, None, :] & low[:, None, :, :]).any(axis=3)
        usable = pair | (np.eye(R, dtype=bool)[None] & beside[at, :, None])
        send[at] = usable & out[at, None, :]
        receive[at] = usable.transpose(0, 2, 1) & into[at, None, :]
        joined[at] = pair & pair.transpose(0, 2, 1)
    return Rails(
        R,
        leaf,
        live,
        send.reshape(-1, R),
        receive.reshape(-1, R),
        joined.reshape(-1, R),
        at,
        relay=nvlink.gpus if by_rack else R,
    )


@lru_cache(maxsize=8)
def _whole(fabric: Fabric) -> tuple[Ints, Bools]:
    """`leaf` of `Rails`, and its `send` where nothing is wrong; read-only."""
    assert fabric.shape is not None
    leaf = (fabric.tiers[0].upper - fabric.nodes("leaf").start).astype(np.int64)
    everything = np.ones((fabric.count("gpu"), fabric.shape.rails), dtype=bool)
    for array in (leaf, everything):
        array.setflags(write=False)
    return leaf, everything


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """What F flows become on the NICs: M legs, most flows one.

    `flow` (M,) which flow, in order; `source`, `target` (M,) NIC numbers; `share` (M,) of the
    flow's rate, None where no flow has more than one leg. `cut` (F,) True for a flow that has no
    way at all, and so no leg.
    """

    flow: Ints
    source: Ints
    target: Ints
    share: Floats | None
    cut: Bools


def legs(rails: Rails, connected: Connected, source: Ints, target: Ints) -> Legs:
    """The NIC pairs that carry flows between GPUs.

    The rail of the target GPU at both ends, where both have it. Without it (NIC, cable or leaf
    dead, or no way between the leaves) evenly over the rails that both ends have, so traffic
    lands on a tray-mate's rail; without any of those, evenly over all NIC pairs that a live way
    joins.

    Parameters
    ----------
    rails
        From `rails`.
    connected
        Of two arrays of leaves, where live cables lead from one to the other; where all NICs of
        the one cannot send, or of the other receive, it may say either.
    source, target
        (F,) GPU numbers within their kind.

    Examples
    --------
    GPU 0 of the first rack to GPU 0 of the last, its own NIC dead: a third on each other NIC.

    >>> from gbviz.faults import Action, apply, resolve
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> health = apply(fabric, resolve(fabric, [Action("fail", "rack-0/tray-0/nic-0")]))
    >>> nics = rails(fabric, health, *health.capacity(fabric, 0))
    >>> anywhere = lambda a, b: np.ones(len(a), dtype=bool)
    >>> found = legs(nics, anywhere, np.array([0]), np.array([4604]))
    >>> found.source.tolist(), found.target.tolist()
    ([1, 2, 3], [4605, 4606, 4607])
    """
    R = rails.rails
    out, into = source // R * R, target // R * R
    rail = target - into
    near = out + rail
    direct = connected(rails.leaf.take(near), rails.leaf.take(target))
    if not rails.whole:
        direct = direct & rails.send.reshape(-1).take(source * R + rail)
        direct &= rails.receive.reshape(-1).take(target * R + rail)
    rest = np.flatnonzero(~direct)
    if not len(rest):
        return Legs(np.arange(len(source)), near, target, None, ~direct)
    way, *nics = _spread(rails, connected, source[rest], target[rest])
    found = way.sum(axis=1)
    legs_of = direct.astype(np.int64)
    legs_of[rest] = found
    flow = np.repeat(np.arange(len(source)), legs_of)
    # In the order of flows, as the ways of each are found.
    spread = np.flatnonzero(~direct.take(flow))
    ends = near.take(flow), target.take(flow)
    for end, some in zip(ends, nics, strict=True):
        end[spread] = some[way]
    share = None
    if found.max(initial=0) > 1:
        share = np.ones(len(flow))
        share[spread] = np.repeat(1.0 / np.maximum(found, 1), found)
    return Legs(flow, *ends, share, legs_of == 0)


def _spread(
    rails: Rails, connected: Connected, source: Ints, target: Ints
) -> tuple[Bools, Ints, Ints]:
    """Which pairs of NICs carry each flow that has no direct way, (n, pairs), and which they are.

    Over the racks where NICs are lent so far; a rack without NVLink lends none, and its GPUs send
    over what their trays have, as under any policy.
    """
    if rails.relay <= rails.rails:
        return _over_trays(rails, connected, source, target)
    way, near, far = _over_racks(rails, connected, source, target)
    alone = np.flatnonzero(~way.any(axis=1))
    if not len(alone):
        return way, near, far
    tray_way, tray_near, tray_far = _over_trays(rails, connected, source[alone], target[alone])
    more: Bools = np.zeros((len(source), tray_way.shape[1]), dtype=bool)
    more[alone] = tray_way
    ends = []
    for racks, trays in ((near, tray_near), (far, tray_far)):
        wide = np.zeros(more.shape, dtype=racks.dtype)
        wide[alone] = trays
        ends.append(np.hstack([racks, wide]))
    return np.hstack([way, more]), ends[0], ends[1]


def _over_trays(
    rails: Rails, connected: Connected, source: Ints, target: Ints
) -> tuple[Bools, Ints, Ints]:
    """Which pairs of NICs carry each flow between two trays, (n, R * R), and which these are."""
    R, n = rails.rails, len(source)
    near = np.repeat(source[:, None] // R * R + np.arange(R), R, axis=1)
    far = np.tile(target[:, None] // R * R + np.arange(R), R)
    way = (rails.send[source, :, None] & rails.receive[target, None, :]).reshape(n, -1)
    tried = np.flatnonzero(way)
    way.reshape(-1)[tried] = connected(
        rails.leaf[near.reshape(-1)[tried]], rails.leaf[far.reshape(-1)[tried]]
    )
    return way & prefer_rails(way, R), near, far


def _over_racks(
    rails: Rails, connected: Connected, source: Ints, target: Ints
) -> tuple[Bools, Ints, Ints]:
    """`_over_trays` where a GPU without its NIC spreads evenly over all NICs of its rack.

    Traffic leaves by NIC i of the one rack and lands on NIC i of the other, where both serve.
    """
    n, R = rails.relay, rails.rails
    gpus = np.arange(len(rails.live))
    linked = rails.joined.sum(axis=1) > 1
    out = linked & rails.send[gpus, gpus % R]
    into = linked & rails.receive[gpus, gpus % R]
    near = source[:, None] // n * n + np.arange(n)
    far = target[:, None] // n * n + np.arange(n)
    way = out[near] & into[far] & (linked[source] & linked[target])[:, None]
    at = np.flatnonzero(way)
    way.reshape(-1)[at] = connected(
        rails.leaf[near.reshape(-1)[at]], rails.leaf[far.reshape(-1)[at]]
    )
    return way, near, far


def prefer_rails(way: Bools, R: int) -> Bools:
    """(n, R * R) which NIC pairs to keep: those on one rail where there are any, else all."""
    same_rail = np.eye(R, dtype=bool).reshape(-1)
    aligned = (way & same_rail).any(axis=-1, keepdims=True)
    return np.where(aligned, same_rail, True)
