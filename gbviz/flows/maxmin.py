"""Max-min fair rates of independent flows, by filling links that are minimal locally.

The share of a link is what it has left over the weight of the flows still rising on it. Shares
only grow while flows freeze, so a link whose share is the smallest that any of its flows sees
can be filled at once, wherever in the fabric it is: thousands of links fill in one round, where
raising all rates together would fill one level a round.

References
----------
D. Bertsekas, R. Gallager: Data Networks, 2nd ed., 1992, section 6.5.2 (max-min fair rates, and
the bottleneck condition that proves them).
J. Ros, W. K. Tsai: A theory of convergence order of maxmin rate allocation and an optimal
protocol, IEEE INFOCOM 2001 (links that are minimal locally).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbviz.errors import InputError
from gbviz.flows.conservation import (
    TOLERANCE,
    Columns,
    FloatArray,
    IntArray,
    Weights,
    blocks,
    link_load,
)

BoolArray: TypeAlias = NDArray[np.bool_]

# Covers the rounding of sums, not near ties: those are for the filling to judge.
_ROUNDING = 1e-12
# With more flows than this, most of a round would go to flows that are far from freezing. Then
# only flows on the links with the lowest shares are filled: 3 times faster with 460,000 flows.
_WHOLE = 120_000
_BAND = 0.06


@dataclass(frozen=True, slots=True)
class MaxMin:
    """The max-min fair rates of F flows.

    Parameters
    ----------
    rates
        (F,) rate of a single flow of each entry, in the unit of the capacities. 0 for a flow
        that crosses a dead link; inf for one with no demand and no link of finite capacity.
    bottleneck
        (F,) int64, the link that limits each flow: full, and no flow on it has a higher level.
        -1 where the flow gets its demand, or nothing limits it and its rate is inf.
    rounds
        Filling rounds; 0 where no two flows compete for a link.
    """

    rates: FloatArray
    bottleneck: IntArray
    rounds: int


class _Flows(NamedTuple):
    """A block of flows: links they cross (E, A), loads there at level 1 (E, A), and own caps.

    Loads are None where all are 1. `number` (A,) tells which flows these are of a larger set.
    """

    columns: IntArray
    loads: FloatArray | None
    cap: FloatArray
    number: IntArray

    def take(self, which: IntArray) -> _Flows:
        loads = None if self.loads is None else self.loads.take(which, axis=1)
        columns = self.columns.take(which, axis=1)
        return _Flows(columns, loads, self.cap.take(which), self.number.take(which))


class _Filling:
    """K links being filled by blocks of flows; link K is "unused".

    Attributes
    ----------
    level, limit
        (F,) of all flows, to be lowered and named; a flow that stops at its own cap keeps both.
    rising
        Flows that have not frozen.
    rounds
        Rounds so far.
    """

    def __init__(
        self,
        capacity: FloatArray,
        links: IntArray,
        flows: list[_Flows],
        result: tuple[FloatArray, IntArray],
    ) -> None:
        self.level, self.limit = result
        self.rising = sum(block.cap.size for block in flows)
        self.rounds = 0
        self._links, self.n_links = links, links.size
        # Only where bands are cut from all flows.
        self._frozen = np.zeros(self.level.size if self.rising > _WHOLE else 0, dtype=bool)
        self._spare = np.append(capacity.take(links), np.inf)
        self._entries = self._counts([block.columns.ravel() for block in flows])

    def run(self, flows: list[_Flows]) -> None:
        """Freeze every flow; those whose shares overflowed to NaN are left."""
        left = self.rising + 1
        while _WHOLE < self.rising < left:
            left = self.rising
            low = self._lowest(flows)
            outside: FloatArray | None = None
            if any(block.loads is not None for block in flows):
                rest = [b.take(np.flatnonzero(~own)) for b, own in zip(flows, low, strict=True)]
                outside = self._load(rest, np.zeros(self.n_links + 1))
            self._fill(
                [b.take(np.flatnonzero(own)) for b, own in zip(flows, low, strict=True)], outside
            )
            rising = [np.flatnonzero(~self._frozen.take(b.number)) for b in flows]
            flows = [b.take(own) for b, own in zip(flows, rising, strict=True) if own.size]
        self._fill(flows, None)

    def _lowest(self, flows: list[_Flows]) -> list[BoolArray]:
        """True for the flows of each block that see one of the lowest shares."""
        share = self._spare / self._load(flows)
        nth = int(_BAND * np.count_nonzero(self._entries[:-1]))
        top = np.partition(share[:-1], nth)[nth] * (1 + TOLERANCE)
        return [
            np.minimum(share.take(block.columns).min(axis=0), block.cap) <= top for block in flows
        ]

    def _fill(self, flows: list[_Flows], outside: FloatArray | None) -> None:
        """Freeze flows, round by round, until no link is minimal for all of its flows.

        `flows` are all that see one of the lowest shares, so the lowest of all is among them and
        at least one freezes; `outside` is the load at level 1 of the rest, None if none counts.
        """
        while flows:
            self.rounds += 1
            share, seen = self._spare / self._load(flows, outside), []
            for block in flows:
                shares = share.take(block.columns)
                lowest = np.minimum(shares.min(axis=0), block.cap)
                equal = lowest * (1 + TOLERANCE)
                # np.flatnonzero takes twice as long, which shows with few flows.
                tight = (shares <= equal).ravel().nonzero()[0]
                seen.append((lowest, equal, tight, block.columns.ravel().take(tight)))
            # Entries of flows outside are counted too: a link that they use is never full here.
            full = self._counts([link for *_, link in seen]) == self._entries
            rest, before = [], self.rising
            for block, (lowest, equal, tight, link) in zip(flows, seen, strict=True):
                hits = full.take(link).nonzero()[0]
                flow = tight.take(hits) % block.cap.size
                own = block.cap <= equal
                self._name(block.number, flow, link.take(hits), own)
                own[flow] = True
                stops = own.nonzero()[0]
                if stops.size:
                    self._freeze(block._replace(cap=lowest).take(stops))
                if stops.size < own.size:
                    rest.append(block.take((~own).nonzero()[0]) if stops.size else block)
            if self.rising == before:
                return
            flows = rest

    def _name(self, number: IntArray, flow: IntArray, link: IntArray, own: BoolArray) -> None:
        """Name the links that flows stop at, but for those whose own cap stops them."""
        capped = number.compress(own)
        kept = self.limit.take(capped)
        self.limit[number.take(flow)] = self._links.take(link)
        self.limit[capped] = kept

    def _load(self, flows: list[_Flows], outside: FloatArray | None = None) -> FloatArray:
        """The load of each link for each level that the flows rise, and what is outside."""
        if outside is None and all(block.loads is None for block in flows):
            # Of all flows, and exact though frozen ones were subtracted: whole numbers.
            return self._entries.astype(np.float64)
        load = np.zeros(self.n_links + 1)
        for block in flows:
            loads = None if block.loads is None else block.loads.ravel()
            load += np.bincount(block.columns.ravel(), loads, minlength=self.n_links + 1)
        return load if outside is None else load + outside

    def _freeze(self, flows: _Flows) -> None:
        """Take flows out at the levels that are now their caps."""
        self.rising -= flows.cap.size
        self.level[flows.number] = flows.cap
        if self._frozen.size:
            self._frozen[flows.number] = True
        links = flows.columns.ravel()
        # np.tile takes five times as long, which shows with few flows.
        taken = np.concatenate([flows.cap] * len(flows.columns))
        if flows.loads is not None:
            taken *= flows.loads.ravel()
        self._spare -= np.bincount(links, taken, minlength=self.n_links + 1)
        # Were rounding to leave less than nothing, no share would be the lowest within tolerance.
        np.maximum(self._spare, 0.0, out=self._spare)
        self._entries -= np.bincount(links, minlength=self.n_links + 1)

    def _counts(self, links: list[IntArray]) -> IntArray:
        """How often each link is named."""
        found = np.bincount(links[0], minlength=self.n_links + 1)
        for some in links[1:]:
            found += np.bincount(some, minlength=self.n_links + 1)
        return found


def solve(
    capacity: FloatArray,
    columns: Columns,
    weights: Weights = None,
    demand: FloatArray | None = None,
    priority: FloatArray | None = None,
    multiplicity: FloatArray | None = None,
) -> MaxMin:
    """The unique max-min fair rates of flows that share links.

    No rate can grow without lowering one of an equal or smaller level, where the level of a flow
    is its rate over its priority, subject to sum over f of m_f w_fl x_f <= C_l on every link and
    x_f <= d_f for every flow.

    Parameters
    ----------
    capacity
        (L,) C_l >= 0, any unit of rate. 0 is a dead link (its flows get 0), inf no limit.
    columns
        (E, F) integers in [0, L]: the links of flow f in any order; L is "unused". A link that
        is named twice counts with the sum of its weights. Or a list of such blocks of flows.
    weights
        (E, F) w >= 0, the share of the flow's rate on that link: fractions where it is split over
        paths, 2 where it crosses twice, 0 is "unused". None for 1 everywhere. One for each block.
    demand
        (F,) d >= 0, no flow gets more; inf or None is elastic.
    priority
        (F,) > 0 and finite: flows that compete get rates in this proportion. None for 1.
    multiplicity
        (F,) m > 0 and finite, how many identical flows an entry stands for; rates are of one of
        them. None for 1.

    Returns
    -------
    Rates, bottlenecks and the number of rounds.

    Raises
    ------
    InputError
        Wrong shapes, an unknown link, NaN, values outside the ranges above, or so far from 1
        that their sums overflow (1e300).

    Notes
    -----
    A flow without a path must cross a link of capacity 0: without any link it has no limit, and
    its rate is its demand, or inf.

    Shares and caps that differ by less than 1e-9 relative count as equal, and a flow then
    freezes at the smallest it sees; rates carry that error where such near ties occur and
    nowhere else. Each round costs O(E A + L) for the A flows still rising. Hashed traffic takes
    4, 26 and about 150 rounds with 1, 10 and 100 flows a NIC; a chain of links that each wait
    for the one before takes a round a link. Loads other than 1 take up to 1.7 times as long.

    Examples
    --------
    Three flows over two links in a row, 10 GB/s each; flow 0 crosses both. Then the second link
    loses most of its capacity: flow 0 is held back by it and flow 1 gains.

    >>> line = np.array([[0, 0, 1], [1, 2, 2]])
    >>> solve(np.array([10.0, 10.0]), line).rates
    array([5., 5., 5.])
    >>> hurt = solve(np.array([10.0, 4.0]), line)
    >>> hurt.rates, hurt.bottleneck
    (array([2., 8., 2.]), array([1, 0, 1]))
    """
    capacity = _amounts("capacity", capacity, (np.size(capacity),))
    system = [
        (_known_links(some, capacity.size), share) for _, some, share in blocks(columns, weights)
    ]
    per_flow = (sum(some.shape[1] for some, _ in system),)
    if demand is not None:
        demand = _amounts("demand", demand, per_flow)
    if priority is not None:
        priority = _amounts("priority", priority, per_flow, positive=True)
    if multiplicity is not None:
        multiplicity = _amounts("multiplicity", multiplicity, per_flow, positive=True)
    # The last entry is "unused".
    bounds = np.append(capacity, np.inf)
    level, limit = np.empty(per_flow), np.empty(per_flow, dtype=np.int64)
    flows, start = [], 0
    for some, share in system:
        own = slice(start, start + some.shape[1])
        factors = [None if factor is None else factor[own] for factor in (priority, multiplicity)]
        loads = _loads(some, share, factors)
        if loads is not None and (idle := loads == 0).any():
            some, loads = np.where(idle, capacity.size, some), np.where(idle, 1.0, loads)
        _caps(bounds, some, loads, level[own], limit[own])
        flows.append((own, some, loads))
        start = own.stop
    if demand is not None:
        wanted = demand if priority is None else demand / priority
        limit[wanted <= level] = -1
        np.minimum(level, wanted, out=level)
    rounds = _compete(capacity, flows, level, limit)
    rates = level if priority is None else level * priority
    if demand is not None:
        np.minimum(rates, demand, out=rates)
    return MaxMin(rates, limit, rounds)


def _compete(
    capacity: FloatArray,
    system: list[tuple[slice, IntArray, FloatArray | None]],
    level: FloatArray,
    limit: IntArray,
) -> int:
    """Lower `level` and set `limit` of flows that compete for links; returns the rounds.

    `level` holds each flow's cap, inf only where no link is finite. A link that cannot overload
    with every flow at its cap limits none of them and is left out; so is every link of a single
    flow, whose cap counts it.
    """
    most = link_load(
        capacity.size, [some for _, some, _ in system], [share for *_, share in system], level
    )
    binding = np.flatnonzero(most > capacity * (1 + _ROUNDING))
    if not binding.size:
        return 0
    dense = np.full(capacity.size + 1, binding.size)
    dense[binding] = np.arange(binding.size)
    flows = []
    for own, columns, loads in system:
        columns = dense.take(columns)
        competes = columns < binding.size
        which = np.flatnonzero(competes.any(axis=0))
        if not which.size:
            continue
        rows = np.flatnonzero(competes.any(axis=1))
        columns = columns.take(rows, axis=0).take(which, axis=1)
        if loads is not None:
            loads = loads.take(rows, axis=0).take(which, axis=1)
        number = own.start + which
        flows.append(_Flows(columns, loads, level.take(number), number))
    filling = _Filling(capacity, binding, flows, (level, limit))
    # Shares of links on which no flow rises any more, which nobody looks at.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        filling.run(flows)
    if filling.rising:
        raise InputError("amounts are too large or too small to be added", where="capacity")
    return filling.rounds


def _caps(
    capacity: FloatArray,
    columns: IntArray,
    loads: FloatArray | None,
    level: FloatArray,
    limit: IntArray,
) -> None:
    """Set each flow's level if it were alone, and the link that limits it then, -1 for none."""
    level[:], limit[:] = np.inf, -1
    for e, links in enumerate(columns):
        alone = capacity.take(links)
        if loads is not None:
            alone /= loads[e]
        lower = alone < level
        np.copyto(level, alone, where=lower)
        np.copyto(limit, links, where=lower)


def _loads(
    columns: IntArray, weights: FloatArray | None, factors: list[FloatArray | None]
) -> FloatArray | None:
    """What each entry adds to its link for each level that its flow rises; None if always 1."""
    loads = None if weights is None else _amounts("weights", weights, columns.shape, finite=True)
    for factor in factors:
        if factor is not None:
            loads = np.broadcast_to(factor, columns.shape) if loads is None else loads * factor
    return None if loads is None or (loads == 1).all() else loads


def _known_links(columns: IntArray, n_links: int) -> IntArray:
    columns = np.asarray(columns)
    if columns.ndim != 2 or columns.dtype.kind not in "iu":
        text = f"must be whole numbers in two dimensions (got {columns.dtype}, {columns.shape})"
        raise InputError(text, where="columns")
    if columns.size and not (columns.min() >= 0 and columns.max() <= n_links):
        text = f"must be links below {n_links}, or {n_links} for unused"
        raise InputError(f"{text} (got {columns.min()} to {columns.max()})", where="columns")
    # Narrower indices would be cast again in every round.
    return np.ascontiguousarray(columns, dtype=np.int64)


def _amounts(
    name: str,
    values: FloatArray,
    shape: tuple[int, ...],
    *,
    positive: bool = False,
    finite: bool = False,
) -> FloatArray:
    """The values, checked: >= 0, or > 0 and finite where `positive`; NaN is neither."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != shape:
        raise InputError(f"must have the shape {shape} (got {values.shape})", where=name)
    lowest, highest = values.min(initial=1.0), values.max(initial=1.0)
    if not (lowest > 0 if positive else lowest >= 0):
        raise InputError(
            f"must be {'above' if positive else 'at least'} 0 (got {lowest})", where=name
        )
    if (positive or finite) and np.isinf(highest):
        raise InputError("must be finite (got inf)", where=name)
    return values
