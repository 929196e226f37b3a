"""Collectives on the fabric: what a phase puts on each link, and how long that takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.above import Above
from gbviz.jobs.edge import Edge, far_edge, inner_links, near_edge, times, together
from gbviz.jobs.exchange import (
    countable,
    counted_loads,
    most_in_a_rack,
    rack_pairs,
    tray_pairs,
)
from gbviz.jobs.known import KNOWN
from gbviz.routing.nvlink import nvlink_columns
from gbviz.topology.catalogue import catalogue
from gbviz.topology.remembered import Remembered

if TYPE_CHECKING:
    from gbviz.flows.router import Router
    from gbviz.jobs.collectives import Op
    from gbviz.jobs.spec import Algorithm
    from gbviz.topology.fabric import Bools, Floats, Ints


_ONE_WAY = ("broadcast", "reduce", "send_recv")


@dataclass(frozen=True, slots=True, eq=False)
class Phase:
    """One coupled phase of a job.

    Parameters
    ----------
    name
        What it is for: "dp", "tp", "pp" ...
    nvlink_s
        Seconds that it takes on NVLink.
    link, load
        (n,) links of the router's space that leave racks, and the bytes on each.
    room
        (n,) what each of those links carries for it with nobody else there, bytes/s: efficiency
        times effective capacity.
    eta
        What the slower of NVLink and fabric reaches where both are needed, 1 where one is.
    cut
        True where a pair has no way: the phase never ends.
    relay
        Seconds that the busiest NIC would take for the bytes of its own GPUs, and its link; what
        the NICs around a dead one carry for it is no faster than it was. (0, -1) where all live.
    """

    name: str
    nvlink_s: float
    link: Ints
    load: Floats
    room: Floats
    eta: float
    cut: bool
    relay: tuple[float, int] = (0.0, -1)

    def fabric_s(self, room: Floats | None = None) -> tuple[float, int]:
        """Seconds on the fabric, and the link that decides it (-1 for none).

        Parameters
        ----------
        room
            (n,) bytes/s left for this job on each link, None for all of it.
        """
        return _alone(self) if room is None else _longest(self, room)

    def seconds(self) -> float:
        """Seconds that the phase takes with nobody else there."""
        return self.overlapped(self.fabric_s()[0])

    def overlapped(self, fabric_s: float) -> float:
        """Seconds that the phase takes where the fabric takes so many, beside NVLink."""
        return max(self.nvlink_s, fabric_s) / (self.eta if fabric_s > 0 else 1.0)


def _longest(phase: Phase, room: Floats) -> tuple[float, int]:
    """`Phase.fabric_s` where its links have so much room."""
    if phase.cut:
        return np.inf, -1
    if not len(phase.link):
        return 0.0, -1
    took = phase.load / room
    worst = int(took.argmax())
    return max((float(took[worst]), int(phase.link[worst])), phase.relay, key=lambda it: it[0])


# Where jobs share the fabric, and what limits them, ask for the same few phases.
@lru_cache(maxsize=32)
def _alone(phase: Phase) -> tuple[float, int]:
    """`Phase.fabric_s` with nobody else there."""
    return _longest(phase, phase.room)


# Phases that were laid last, of all fabrics together, with the edges that they keep: up to 32 MB.
LAID: Remembered[Phase] = Remembered(1 << 25)
_OBJECT_BYTES = 1000


def flow_phase(name: str, by: Router, source: Ints, target: Ints, amount: Floats | float) -> Phase:
    """The phase of some transfers between GPUs at the same time.

    Parameters
    ----------
    name
        What it is for.
    by
        The fabric under its health.
    source, target
        (F,) GPU numbers.
    amount
        (F,) or one number, bytes of each transfer.
    """
    return lay(name, by, flow_edge(by, source, target, amount))


def flow_edge(by: Router, source: Ints, target: Ints, amount: Floats | float) -> Edge:
    """`flow_phase` without the links above leaves."""
    facts = ("flows", np.asarray(amount, dtype=np.float64).tobytes())
    return KNOWN.edge(by, (source, target), facts, lambda: _flows(by, source, target, amount))


def _flows(by: Router, source: Ints, target: Ints, amount: Floats | float) -> Edge:
    each: Floats = np.broadcast_to(np.asarray(amount, dtype=np.float64), source.shape)
    own = (source != target) & (each > 0)
    source, target, each = source[own], target[own], each[own]
    inside = source // by.nvlink.gpus == target // by.nvlink.gpus
    nvlink_s, joined = nvlink_seconds(by, source[inside], target[inside], each[inside])
    # What NVLink no longer joins goes by the fabric, like traffic between racks.
    far = ~inside
    far[np.flatnonzero(inside)[~joined]] = True
    if not far.any():
        return near_edge(nvlink_s)
    return far_edge(by, nvlink_s, [(source[far], target[far], each[far])])


def lay(name: str, by: Router, edge: Edge) -> Phase:
    """A phase on the links that its fabric has now.

    Where paths are not single it depends on the stages alone, and on NVLink only where it touches
    that. Clocks, and faults elsewhere, leave these as they are (`router`), and so the phase.
    """
    if by.single_path:
        return _laid(name, by, edge)
    key: tuple[object, ...] = (name, edge)
    if not edge.near:
        key = (*key, by.live, by.table, by.nvlink if len(edge.inner) else None)
    found = LAID.get(key)
    if found is None:
        found = _laid(name, by, edge)
        LAID.keep(key, found, _OBJECT_BYTES + edge.n_bytes + 3 * found.link.nbytes)
    return found


def _laid(name: str, by: Router, edge: Edge) -> Phase:
    if edge.near:
        return Phase(name, edge.nvlink_s, edge.link, edge.load, edge.load, 1.0, cut=False)
    facts, start, capacity = catalogue(), by.space.starts, by.space.capacity
    links, loads = [edge.link], [edge.load]
    if len(edge.amount):
        above = Above(by.live, by.table, *edge.leaves).load(edge.amount)
        used = np.flatnonzero(above)
        links.append(start[2] + used)
        loads.append(above.take(used))
    link = np.concatenate(links)
    room = facts.value("nic.efficiency") * capacity.take(link)
    if len(edge.inner):
        inner = start[-2] + inner_links(by, edge.inner)
        part = facts.value("nvlink.collective_GBps") / facts.value("nvlink.gpu_GBps")
        link, room = np.append(link, inner), np.append(room, part * capacity.take(inner))
        loads.append(edge.inner_load)
    relay, (most, nics) = (0.0, -1), edge.relay
    if most:
        rate = facts.value("nic.efficiency") * float(by.fabric.tiers[0].capacity.max()) * 1e9
        # Of equals the weakest.
        relay = most / rate, int(nics[capacity.take(nics).argmin()])
    both = edge.nvlink_s > 0 and len(link) > 0
    eta = facts.value("collectives.eta_x") if both else 1.0
    load = np.concatenate(loads)
    return Phase(name, edge.nvlink_s, link, load, room * 1e9, eta, edge.cut, relay)


def nvlink_seconds(by: Router, source: Ints, target: Ints, amount: Floats) -> tuple[float, Bools]:
    """Seconds that transfers within racks take on NVLink, and which have a way there.

    Whole racks: the busiest GPU's bytes out or in over its rate. Damaged racks: the busiest link.
    """
    facts = catalogue()
    part = facts.value("nvlink.collective_GBps") / facts.value("nvlink.gpu_GBps")
    columns, weights, joined = nvlink_columns(by.nvlink, source, target)
    if not len(source):
        return 0.0, joined
    load = np.zeros(len(by.nvlink.capacity))
    for column, weight in zip(columns, weights, strict=True):
        on = column >= 0
        load += np.bincount(column[on], (amount * weight)[on], len(load))
    busy = np.flatnonzero(load)
    if not len(busy):
        return 0.0, joined
    return float((load[busy] / (part * by.nvlink.capacity[busy] * 1e9)).max()), joined


def live_nvlink(by: Router, gpus: Ints) -> Floats:
    """Part of each GPU's NVLink that is live, the slower way."""
    stage = by.nvlink
    G = len(stage.slot) * stage.gpus
    found = np.ones(len(gpus))
    slot = stage.slot[gpus // stage.gpus]
    hurt = np.flatnonzero(slot >= 0)
    if len(hurt):
        rate = (stage.share * stage.asics[:, None, None, :]).sum(axis=3).min(axis=1)
        found[hurt] = rate[slot[hurt], gpus[hurt] % stage.gpus] / stage.capacity[0]
    assert len(by.nics.live) == G
    return found


def collective(
    name: str, by: Router, groups: Ints, op: Op, size: float, *, algorithm: Algorithm = "auto"
) -> Phase:
    """The phase of one collective in many groups at the same time.

    Parameters
    ----------
    name
        What it is for.
    by
        The fabric under its health.
    groups
        (n, k) GPU numbers, a group a row.
    op
        Which collective.
    size
        Bytes of the whole buffer: output of an all-gather, input of a reduce-scatter; of an
        all-to-all what each rank sends, its own part included.
    algorithm
        `auto` as below; `ring` takes flat rings everywhere, `hierarchical` rings within racks and
        on rails, `nvls` the switches' reduction, `tree` a double tree, in which every rank sends
        twice the buffer.

    Notes
    -----
    Within a rack rings on NVLink, and the switches' own reduction for an all-reduce of 8 or more
    GPUs. Over racks with equal numbers of members: reduce-scatter on NVLink, rings on the rails,
    all-gather on NVLink, overlapped. Otherwise one flat ring.
    """
    return lay(name, by, collective_edge(by, groups, op, size, algorithm=algorithm))


def collective_edge(
    by: Router, groups: Ints, op: Op, size: float, *, algorithm: Algorithm = "auto"
) -> Edge:
    """`collective` without the links above leaves."""
    facts = (op, float(size), algorithm)
    return KNOWN.edge(by, (groups,), facts, lambda: _collective(by, groups, op, size, algorithm))


def _collective(by: Router, groups: Ints, op: Op, size: float, algorithm: Algorithm) -> Edge:
    n, k = groups.shape
    if k == 1 or size == 0 or n == 0:
        return near_edge(0.0)
    if op == "all_to_all":
        return _all_to_all(by, groups, size)
    rounds = 2.0 if op == "all_reduce" else 1.0
    if algorithm == "tree":
        rounds *= k / (k - 1)
    rack = groups // by.nvlink.gpus
    if (rack == rack[:, :1]).all():
        return _within(by, groups, op, size, rounds=rounds, algorithm=algorithm)
    order = np.argsort(rack, axis=1, kind="stable")
    groups, rack = np.take_along_axis(groups, order, 1), np.take_along_axis(rack, order, 1)
    per_rack = _members(rack)
    if op in _ONE_WAY:
        return _flows(by, *_ring(groups, closed=False), size)
    if per_rack == 0 or algorithm == "ring":
        return _flat_rings(by, groups, rounds * (k - 1) / k * size)
    local = groups.reshape(-1, per_rack)
    rails = groups.reshape(n, -1, per_rack).transpose(0, 2, 1).reshape(-1, k // per_rack)
    racks = k // per_rack
    across = _flows(by, *_ring(rails), rounds * (racks - 1) / racks * size / per_rack)
    if per_rack == 1:
        return across
    inside = _flows(by, *_ring(local), rounds * (per_rack - 1) / per_rack * size)
    return together(across, inside, across.nvlink_s + inside.nvlink_s)


def _within(
    by: Router,
    groups: Ints,
    op: Op,
    size: float,
    *,
    rounds: float,
    algorithm: Algorithm,
) -> Edge:
    """A collective whose groups each stay in one rack."""
    k = groups.shape[1]
    amount = size if op in _ONE_WAY else rounds * (k - 1) / k * size
    ring = _flows(by, *_ring(groups, closed=op not in _ONE_WAY), amount)
    switches = algorithm == "nvls" or (algorithm == "auto" and k >= _NVLS_FROM)
    if op != "all_reduce" or not switches or not ring.near:
        return ring
    live = live_nvlink(by, groups.reshape(-1)).min()
    switched = amount / (catalogue().value("nvlink.nvls_busbw_GBps") * 1e9 * live)
    best = switched if algorithm == "nvls" else min(ring.nvlink_s, switched)
    return near_edge(best)


# NCCL does not let the switches reduce in small groups: no gain was measured at 4 or 5 GPUs.
_NVLS_FROM = 8


def _ring(groups: Ints, *, closed: bool = True) -> tuple[Ints, Ints]:
    """Each member sends to the next; in a closed ring the last to the first."""
    if closed:
        return groups.reshape(-1), np.roll(groups, -1, axis=1).reshape(-1)
    return groups[:, :-1].reshape(-1), groups[:, 1:].reshape(-1)


def _flat_rings(by: Router, groups: Ints, amount: float) -> Edge:
    """Flat rings, as for groups with unequal numbers of members in their racks.

    Each ring visits rack after rack; as many rings as the smallest rack has members share the
    bytes, and each crosses to the next rack by NICs of its own.
    """
    members, start = groups.reshape(-1), _starts(groups // by.nvlink.gpus)
    of = start // groups.shape[1]
    head = np.flatnonzero(np.diff(of, prepend=-1))  # the first rack of each group
    rings = np.minimum.reduceat(np.diff(start, append=groups.size), head)[of]
    ahead = np.append(start[1:], 0)
    ahead[np.append(head[1:], len(start)) - 1] = start[head]
    number = np.arange(rings.sum()) - np.repeat(np.cumsum(rings) - rings, rings)
    source, target = (members[np.repeat(first, rings) + number] for first in (start, ahead))
    across = _flows(by, source, target, np.repeat(amount / rings, rings))
    local, near = _ring(groups)
    inside = local // by.nvlink.gpus == near // by.nvlink.gpus
    within = _flows(by, local[inside], near[inside], amount)
    return together(across, within, across.nvlink_s + within.nvlink_s)


def _members(rack: Ints) -> int:
    """Members that every group has in each of its racks; 0 where these differ. Rows are sorted."""
    run = np.diff(_starts(rack), append=rack.size)
    return int(run[0]) if (run == run[0]).all() else 0


def _starts(rack: Ints) -> Ints:
    """Where, row after row, the members in one rack begin."""
    new = np.concatenate([np.ones((len(rack), 1), bool), rack[:, 1:] != rack[:, :-1]], axis=1)
    return np.flatnonzero(new)


def _all_to_all(by: Router, groups: Ints, size: float) -> Edge:
    """Each rank sends an equal part of `size` to every rank of its group, itself included."""
    part = size / groups.shape[1]
    simple = countable(by, groups)
    rate = catalogue().value("nvlink.collective_GBps") * 1e9
    within = most_in_a_rack(by, groups) * part / rate
    counted = counted_loads(by, groups, simple)
    found = times(far_edge(by, within, tray_pairs(by, groups, simple), counted), part)
    pairs = list(rack_pairs(by, groups))
    if not pairs:
        return found
    source, target = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    inside = _flows(by, source, target, part)
    return together(found, inside, max(found.nvlink_s, inside.nvlink_s))
