"""What a phase does at the edge of the fabric: on NVLink, on NICs, from leaf to leaf."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.columns import flow_columns
from gbviz.flows.conservation import link_load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gbviz.flows.router import Router
    from gbviz.topology.fabric import Floats, Ints

_ROUNDING = 1e-12
# Up to so many pairs of leaves are summed in a dense table.
_DENSE = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """All about a phase that does not depend on the links above the leaves, nor on their numbers.

    Parameters
    ----------
    nvlink_s
        Seconds that it takes on NVLink.
    link, load
        (n,) NIC links, with single paths all cables, and the bytes on each.
    leaves, amount
        (2, p) from and to which leaf, and the bytes that go there; with single paths none.
    inner, inner_load
        (m,) NVLink on the way to a NIC, as `_inner` numbers it, and the bytes on each.
    cut
        True where a pair has no way: the phase never ends.
    relay
        Bytes of the busiest NIC of which others carry some, and the NICs that have as many; what
        the NICs around a dead one carry for it is no faster than it was. 0 and none where all live.
    """

    nvlink_s: float
    link: Ints
    load: Floats
    leaves: Ints
    amount: Floats
    inner: Ints
    inner_load: Floats
    cut: bool
    relay: tuple[float, Ints]

    @property
    def near(self) -> bool:
        """True for a phase that stays on NVLink."""
        return not len(self.link) and not self.cut

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        arrays = (self.link, self.load, self.leaves, self.amount, self.inner, self.inner_load)
        return sum(array.nbytes for array in (*arrays, self.relay[1]))


@dataclass(frozen=True, slots=True, eq=False)
class Talk:
    """What a job's ranks say to each other: its class, as a phase, and how often in a step."""

    kind: str
    edge: Edge
    times: float


def near_edge(nvlink_s: float) -> Edge:
    """A phase that stays on NVLink."""
    none: Ints = np.zeros(0, dtype=np.int64)
    zero = np.zeros(0)
    leaves: Ints = np.zeros((2, 0), dtype=np.int64)
    return Edge(nvlink_s, none, zero, leaves, zero, none, zero, False, (0.0, none))


def far_edge(
    by: Router,
    nvlink_s: float,
    parts: Iterable[tuple[Ints, Ints, Floats]],
    counted: tuple[Floats, Ints, Floats] | None = None,
) -> Edge:
    """A phase of transfers that NICs carry.

    Parameters
    ----------
    by
        The fabric under its health.
    nvlink_s
        Seconds that the phase takes on NVLink.
    parts
        Some transfers at a time: source and target GPUs, bytes of each.
    counted
        More transfers, already added up: bytes on every NIC link, and as `leaves` and `amount`.
    """
    first = int(by.space.starts[2])
    load, own = np.zeros(len(by.space.capacity)), np.zeros(first)
    pairs: list[tuple[Ints, Floats]] = []
    if counted is not None:
        load[:first] = own[:] = counted[0]
        pairs.append(counted[1:])
    # Where nothing is relayed the NICs' own links say the same.
    whole, cut = bool(by.nics.whole and by.table.connected.all()), False
    for source, target, amount in parts:
        routed = flow_columns(by, source, target)
        rates = amount.take(routed.flow)
        load += link_load(len(load), routed.columns, routed.weights, rates)
        if routed.above is not None:
            ends = np.stack([routed.above.source, routed.above.target])
            pairs.append(_summed(by, ends, routed.leg_amounts(rates)))
        if not whole:
            own += _own_nics(by, source, target, amount)
        cut |= bool(routed.cut.any() or routed.gone.any())
    fixed = int(by.space.starts[-2] if by.single_path else first)
    link, inner = np.flatnonzero(load[:fixed]), np.flatnonzero(load[by.space.starts[-2] :])
    leaves: Ints = np.zeros((2, 0), dtype=np.int64)
    amounts = np.zeros(0)
    if pairs:
        leaves, amounts = np.concatenate([ends for ends, _ in pairs], axis=1), _joined(pairs)
    if len(pairs) > 1:
        leaves, amounts = _summed(by, leaves, amounts)
    return Edge(
        nvlink_s,
        link,
        load.take(link),
        leaves,
        amounts,
        _inner(by, inner),
        load[by.space.starts[-2] :].take(inner),
        cut,
        _relay(load, own) if not whole else (0.0, link[:0]),
    )


def _joined(pairs: list[tuple[Ints, Floats]]) -> Floats:
    return np.concatenate([amount for _, amount in pairs])


def _summed(by: Router, leaves: Ints, amount: Floats) -> tuple[Ints, Floats]:
    """Each pair of different leaves once, with the sum of its amounts."""
    n = by.live.shape.leaves
    key = leaves[0] * n + leaves[1]
    if n * n <= max(_DENSE, 4 * len(key)):
        total: Floats = np.bincount(key, amount, n * n).astype(np.float64, copy=False)
        found = np.flatnonzero(total)
        total = total.take(found)
    else:
        found, which = np.unique(key, return_inverse=True)
        total = np.bincount(which, amount, len(found)).astype(np.float64, copy=False)
    source, target = np.divmod(found, n)
    apart = np.flatnonzero(source != target)
    return np.stack([source.take(apart), target.take(apart)]), total.take(apart)


def _own_nics(by: Router, source: Ints, target: Ints, amount: Floats) -> Floats:
    """(2 NICs,) bytes of transfers on the NICs of their rails, out and in, live or not."""
    R, n = by.nics.rails, len(by.nics.leaf)
    out = source - source % R + target % R
    return np.concatenate([np.bincount(nic, amount, n) for nic in (out, target)])


def _relay(load: Floats, own: Floats) -> tuple[float, Ints]:
    """Bytes of the busiest NIC of which others carry bytes, and the NICs with as many."""
    away = np.where(own > load[: len(own)] * (1 + _ROUNDING), own, 0.0)
    most = float(away.max(initial=0.0))
    if most == 0.0:
        return 0.0, np.zeros(0, dtype=np.int64)
    return most, np.flatnonzero(away >= most * (1 - _ROUNDING))


def _inner(by: Router, link: Ints) -> Ints:
    """NVLink class links by way, GPU and class, which other damaged racks do not renumber."""
    stage, k = by.nvlink, by.nvlink.n_classes
    everyone = len(stage.slot) * stage.gpus
    of_class: Ints = np.zeros(len(link), dtype=np.int64)
    number = link.copy()
    hurt = np.flatnonzero(link >= 2 * everyone)
    if len(hurt):
        rest, of_class[hurt] = np.divmod(link[hurt] - 2 * everyone, k)
        rest, gpu = np.divmod(rest, stage.gpus)
        slot, way = np.divmod(rest, 2)
        number[hurt] = way * everyone + np.flatnonzero(stage.slot >= 0)[slot] * stage.gpus + gpu
    found: Ints = number * stage.asic_class.shape[1] + of_class
    return found


def inner_links(by: Router, inner: Ints) -> Ints:
    """The router's NVLink links, counted from the first, that `_inner` gave these numbers."""
    stage, k = by.nvlink, by.nvlink.n_classes
    everyone = len(stage.slot) * stage.gpus
    number, of_class = np.divmod(inner, stage.asic_class.shape[1])
    way, gpu = np.divmod(number, everyone)
    slot = stage.slot[gpu // stage.gpus]
    place = (slot * 2 + way) * stage.gpus + gpu % stage.gpus
    found: Ints = np.where(slot < 0, number, 2 * everyone + place * k + of_class)
    return found


def times(edge: Edge, part: float) -> Edge:
    """A phase with so many bytes for each of its bytes on the fabric.

    Counts that are multiplied last keep equal loads equal to the last bit.
    """
    most, nics = edge.relay
    return replace(
        edge,
        load=edge.load * part,
        amount=edge.amount * part,
        inner_load=edge.inner_load * part,
        relay=(most * part, nics),
    )


def together(one: Edge, two: Edge, nvlink_s: float) -> Edge:
    """Two phases at the same time: bytes on a link that both use add up."""
    cut = one.cut or two.cut
    if not len(two.link):
        return replace(one, nvlink_s=nvlink_s, cut=cut)
    if not len(one.link):
        return replace(two, nvlink_s=nvlink_s, cut=cut)
    link, load = _added((one.link, one.load), (two.link, two.load))
    inner, inner_load = _added((one.inner, one.inner_load), (two.inner, two.inner_load))
    return Edge(
        nvlink_s,
        link,
        load,
        np.concatenate([one.leaves, two.leaves], axis=1),
        np.concatenate([one.amount, two.amount]),
        inner,
        inner_load,
        cut,
        max(one.relay, two.relay, key=lambda it: it[0]),
    )


def _added(one: tuple[Ints, Floats], two: tuple[Ints, Floats]) -> tuple[Ints, Floats]:
    link, which = np.unique(np.concatenate([one[0], two[0]]), return_inverse=True)
    return link, np.bincount(which, np.concatenate([one[1], two[1]]), len(link)).astype(np.float64)
