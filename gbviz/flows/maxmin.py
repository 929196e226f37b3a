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
from typing import NamedTuple

import numpy as np

from gbviz.errors import InputError
from gbviz.flows.conservation import TOLERANCE, FloatArray, IntArray, link_load

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
    """A flows: the links they cross (E, A), their loads there at level 1 (E, A), and own caps.

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
    """K links being filled by F flows; link K is "unused".

    Attributes
    ----------
    level
        (F,) level at which a flow froze, NaN while it rises.
    limit
        (F,) link that froze it, K where its own cap did.
    rounds
        Rounds so far.
    """

    def __init__(self, capacity: FloatArray, flows: _Flows) -> None:
        n_flows, self.n_links = flows.cap.size, capacity.size
        self.level = np.full(n_flows, np.nan)
        self.limit = np.full(n_flows, self.n_links)
        self.rounds = 0
        self._spare = np.append(capacity, np.inf)
        self._entries = np.bincount(flows.columns.ravel(), minlength=self.n_links + 1)

    def run(self, flows: _Flows) -> None:
        """Freeze every flow; those whose shares overflowed to NaN are left."""
        left = flows.cap.size + 1
        while _WHOLE < flows.cap.size < left:
            left = flows.cap.size
            band, rest = self._split(flows)
            outside = None if flows.loads is None else self._load(flows.take(rest))
            self._fill(flows.take(band), outside)
            flows = flows.take(np.flatnonzero(np.isnan(self.level.take(flows.number))))
        self._fill(flows, None)

    def _split(self, flows: _Flows) -> tuple[IntArray, IntArray]:
        """The flows that see one of the lowest shares, and the rest."""
        share = self._spare / self._load(flows)
        nth = int(_BAND * np.count_nonzero(self._entries[:-1]))
        top = np.partition(share[:-1], nth)[nth] * (1 + TOLERANCE)
        low = np.minimum(share.take(flows.columns).min(axis=0), flows.cap) <= top
        return np.flatnonzero(low), np.flatnonzero(~low)

    def _fill(self, flows: _Flows, outside: FloatArray | IntArray | None) -> None:
        """Freeze flows, round by round, until no link is minimal for all of its flows.

        `flows` are all that see one of the lowest shares, so the lowest of all is among them and
        at least one freezes; `outside` is the load at level 1 of the rest, None if none counts.
        """
        while flows.cap.size:
            self.rounds += 1
            load = self._load(flows) if outside is None else self._load(flows) + outside
            seen = (self._spare / load).take(flows.columns)
            lowest = np.minimum(seen.min(axis=0), flows.cap)
            equal = lowest * (1 + TOLERANCE)
            tight = np.flatnonzero(seen <= equal)
            link = flows.columns.ravel().take(tight)
            # Entries of flows outside are counted too: a link that they use is never full here.
            full = np.bincount(link, minlength=self.n_links + 1) == self._entries
            hits = np.flatnonzero(full.take(link))
            flow = tight.take(hits) % flows.cap.size
            self.limit[flows.number.take(flow)] = link.take(hits)
            frozen = flows.cap <= equal
            self.limit[flows.number.compress(frozen)] = self.n_links
            frozen[flow] = True
            rest = np.flatnonzero(~frozen)
            if rest.size == flows.cap.size:
                return
            self._freeze(flows.take(np.flatnonzero(frozen)), lowest.compress(frozen))
            flows = flows.take(rest)

    def _load(self, flows: _Flows) -> FloatArray | IntArray:
        """The load of each link for each level that the flows rise."""
        if flows.loads is None:
            # Of all flows, and exact though frozen ones were subtracted: whole numbers.
            return self._entries
        columns, loads = flows.columns.ravel(), flows.loads.ravel()
        return np.bincount(columns, loads, minlength=self.n_links + 1)

    def _freeze(self, flows: _Flows, level: FloatArray) -> None:
        self.level[flows.number] = level
        links = flows.columns.ravel()
        # np.tile takes five times as long, which shows with few flows.
        taken = np.concatenate([level] * len(flows.columns))
        if flows.loads is not None:
            taken *= flows.loads.ravel()
        self._spare -= np.bincount(links, taken, minlength=self.n_links + 1)
        # Were rounding to leave less than nothing, no share would be the lowest within tolerance.
        np.maximum(self._spare, 0.0, out=self._spare)
        self._entries -= np.bincount(links, minlength=self.n_links + 1)


def solve(
    capacity: FloatArray,
    columns: IntArray,
    weights: FloatArray | None = None,
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
        is named twice counts with the sum of its weights.
    weights
        (E, F) w >= 0, the share of the flow's rate on that link: fractions where it is split over
        paths, 2 where it crosses twice, 0 is "unused". None for 1 everywhere.
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
    columns = _known_links(columns, capacity.size)
    per_flow = columns.shape[1:]
    if demand is not None:
        demand = _amounts("demand", demand, per_flow)
    if priority is not None:
        priority = _amounts("priority", priority, per_flow, positive=True)
    loads = _loads(columns, weights, priority, multiplicity)
    if loads is not None and (idle := loads == 0).any():
        columns, loads = np.where(idle, capacity.size, columns), np.where(idle, 1.0, loads)
    level, limit = _caps(capacity, columns, loads)
    if demand is not None:
        wanted = demand if priority is None else demand / priority
        limit[wanted <= level] = -1
        np.minimum(level, wanted, out=level)
    rounds = _compete(capacity, columns, loads, level, limit)
    rates = level if priority is None else level * priority
    if demand is not None:
        np.minimum(rates, demand, out=rates)
    return MaxMin(rates, limit, rounds)


def _compete(
    capacity: FloatArray,
    columns: IntArray,
    loads: FloatArray | None,
    level: FloatArray,
    limit: IntArray,
) -> int:
    """Lower `level` and set `limit` of flows that compete for links; returns the rounds.

    `level` holds each flow's cap, inf only where no link is finite. A link that cannot overload
    with every flow at its cap limits none of them and is left out; so is every link of a single
    flow, whose cap counts it.
    """
    most = link_load(capacity.size, columns, loads, level)
    binding = np.flatnonzero(most > capacity * (1 + _ROUNDING))
    if not binding.size:
        return 0
    dense = np.full(capacity.size + 1, binding.size)
    dense[binding] = np.arange(binding.size)
    columns = dense.take(columns)
    competes = columns < binding.size
    rows, rivals = np.flatnonzero(competes.any(axis=1)), np.flatnonzero(competes.any(axis=0))
    columns = columns.take(rows, axis=0).take(rivals, axis=1)
    if loads is not None:
        loads = loads.take(rows, axis=0).take(rivals, axis=1)
    flows = _Flows(columns, loads, level.take(rivals), np.arange(rivals.size))
    filling = _Filling(capacity.take(binding), flows)
    # Shares of links on which no flow rises any more, which nobody looks at.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        filling.run(flows)
    if np.isnan(filling.level).any():
        raise InputError("amounts are too large or too small to be added", where="capacity")
    level[rivals] = filling.level
    by_link = np.flatnonzero(filling.limit < binding.size)
    limit[rivals.take(by_link)] = binding.take(filling.limit.take(by_link))
    return filling.rounds


def _caps(
    capacity: FloatArray, columns: IntArray, loads: FloatArray | None
) -> tuple[FloatArray, IntArray]:
    """The level of each flow if it were alone, and the link that limits it then, -1 for none."""
    n_flows, capacity = columns.shape[1], np.append(capacity, np.inf)
    level, limit = np.full(n_flows, np.inf), np.full(n_flows, -1)
    for e, links in enumerate(columns):
        alone = capacity.take(links)
        if loads is not None:
            alone /= loads[e]
        lower = alone < level
        np.copyto(level, alone, where=lower)
        np.copyto(limit, links, where=lower)
    return level, limit


def _loads(
    columns: IntArray,
    weights: FloatArray | None,
    priority: FloatArray | None,
    multiplicity: FloatArray | None,
) -> FloatArray | None:
    """What each entry adds to its link for each level that its flow rises; None if always 1."""
    loads = None if weights is None else _amounts("weights", weights, columns.shape, finite=True)
    if multiplicity is not None:
        multiplicity = _amounts("multiplicity", multiplicity, columns.shape[1:], positive=True)
    for factor in (priority, multiplicity):
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
