"""The load that rates put on links, and the one check that every solver's rates must pass.

A system is described here as everywhere in `flows`: `columns` (E, F) names for each flow the
links it crosses, one entry a row; the value L (one past the last link) means "unused".

It may come in blocks: a list of columns (E_b, F_b), and of weights, for consecutive flows. Then a
few flows with many links do not make the columns of all others as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.integer]
Columns: TypeAlias = "IntArray | Sequence[IntArray]"
Weights: TypeAlias = "FloatArray | Sequence[FloatArray | None] | None"

# Sums of decimal fractions are not exact: 0.1 + 0.1 + 0.1 > 0.3.
TOLERANCE = 1e-9
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule of a set of rates.

    Parameters
    ----------
    kind
        ``"rate"``, ``"demand"``, ``"overload"`` or ``"bottleneck"``.
    index
        The link for ``"overload"``, the flow for the others.
    text
        What is wrong, with the numbers.
    """

    kind: str
    index: int
    text: str


def blocks(
    columns: Columns, weights: Weights = None
) -> Iterator[tuple[slice, IntArray, FloatArray | None]]:
    """Which flows, their columns and their weights, for each block of a system."""
    if isinstance(columns, np.ndarray):
        assert weights is None or isinstance(weights, np.ndarray)
        columns, weights = [columns], [weights]
    start = 0
    for number, some in enumerate(columns):
        end = start + (some.shape[1] if some.ndim == 2 else 0)
        yield slice(start, end), some, None if weights is None else weights[number]
        start = end


def link_load(
    n_links: int,
    columns: Columns,
    weights: Weights,
    rates: FloatArray,
    multiplicity: FloatArray | None = None,
) -> FloatArray:
    """The load of every link in the unit of the rates.

    Parameters
    ----------
    n_links
        L, the number of links.
    columns
        (E, F) links of each flow; `n_links` is "unused". Or a list of blocks.
    weights
        (E, F) share of the flow's rate on that link; None for 1 everywhere. Or a list of them.
    rates
        (F,) rate of one flow of each entry; may be infinite only where all entries are unused.
    multiplicity
        (F,) how many flows an entry stands for; None for 1.

    Returns
    -------
    (L,) float64, the sum over f of m_f w_fl x_f; 0 for links that nobody uses.

    Notes
    -----
    Costs O(E F + L).

    Examples
    --------
    Two flows share link 0, the second goes on over link 1 (2 links, so 2 is "unused"):

    >>> link_load(2, np.array([[0, 0], [2, 1]]), None, np.array([3.0, 4.0]))
    array([7., 4.])
    """
    amount = rates if multiplicity is None else rates * multiplicity
    links, entries = [], []
    for own, some, share in blocks(columns, weights):
        # np.tile takes five times as long, which shows with few flows.
        part = np.concatenate([amount[own]] * len(some)) if len(some) else amount[:0]
        links.append(some.ravel())
        entries.append(part if share is None else part * share.ravel())
    if len(links) != 1:
        links, entries = [np.concatenate(links)], [np.concatenate(entries)]
    load = np.bincount(links[0], entries[0], minlength=n_links + 1)
    # Without entries the counts are integers, weights or not.
    return load[:n_links].astype(np.float64, copy=False)


def check(
    capacity: FloatArray,
    columns: Columns,
    weights: Weights,
    rates: FloatArray,
    bottleneck: IntArray,
    *,
    demand: FloatArray | None = None,
    priority: FloatArray | None = None,
    multiplicity: FloatArray | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[Problem, ...]:
    """What is wrong with max-min rates, whoever computed them.

    Rates that pass are the max-min fair rates, within the tolerance: nothing is overloaded, and
    every flow either has its demand or crosses a full link on which no flow's level (rate over
    priority) is above its own.

    Parameters
    ----------
    capacity
        (L,) capacity of the links, in the unit of the rates; inf is unlimited.
    columns, weights, demand, priority, multiplicity
        The system, as for `gbviz.flows.maxmin.solve`.
    rates
        (F,) the rates to be judged.
    bottleneck
        (F,) for each flow the link that is said to limit it, -1 where its demand is, or where
        nothing is and the rate is inf.
    tolerance
        Relative. A near tie may be seen as a tie by the solver as well as here, so a link counts
        as full, and levels as equal, within twice this.

    Returns
    -------
    Problems found, at most 20 of a kind; empty if the rates pass.

    Examples
    --------
    Two flows share a link of 10; a third of the link lies idle and flow 0 claims no limit:

    >>> links, two = np.array([10.0]), np.array([[0, 0]])
    >>> check(links, two, None, np.array([5.0, 5.0]), np.array([0, 0]))
    ()
    >>> for problem in check(links, two, None, np.array([3.0, 4.0]), np.array([-1, 0])):
    ...     print(problem.kind, problem.index, problem.text)
    bottleneck 0 rate 3.0 is below its demand inf and no link is named
    bottleneck 1 link 0 carries 7.0 of 10.0: not full
    """
    if problems := _impossible(rates, bottleneck, capacity.size):
        return problems
    wanted = np.full(rates.size, np.inf) if demand is None else demand
    found = _over_demand(rates, wanted, tolerance)
    # A flow without limit loads only links without limit, where inf - inf would be NaN.
    finite = np.where(np.isinf(rates), 0.0, rates)
    load = link_load(capacity.size, columns, weights, finite, multiplicity)
    found += overloads(load, capacity, tolerance)
    level = finite if priority is None else finite / priority
    highest = np.zeros(capacity.size + 1)
    crosses = []
    for own, some, share in blocks(columns, weights):
        crosses.append((own, some if share is None else np.where(share > 0, some, capacity.size)))
        for links in crosses[-1][1]:
            np.maximum.at(highest, links, level[own])
    found += _short(rates, bottleneck, wanted, tolerance)
    found += _unlimited(rates, crosses, capacity)
    found += _not_bottlenecks(bottleneck, crosses, (load, capacity), (level, highest), tolerance)
    return tuple(found)


def _impossible(rates: FloatArray, bottleneck: IntArray, n_links: int) -> tuple[Problem, ...]:
    bad = np.flatnonzero(~(rates >= 0))[:_LISTED]
    found = [Problem("rate", int(f), f"rate {rates[f]} is not a rate") for f in bad]
    bad = np.flatnonzero((bottleneck < -1) | (bottleneck >= n_links))[:_LISTED]
    found += [Problem("bottleneck", int(f), f"there is no link {bottleneck[f]}") for f in bad]
    return tuple(found)


def _over_demand(rates: FloatArray, wanted: FloatArray, tolerance: float) -> list[Problem]:
    bad = np.flatnonzero(rates > wanted * (1 + tolerance))[:_LISTED]
    return [
        Problem("demand", int(f), f"rate {rates[f]} is above its demand {wanted[f]}") for f in bad
    ]


def overloads(
    load: FloatArray, capacity: FloatArray, tolerance: float = TOLERANCE
) -> list[Problem]:
    """Links (L,) whose load is above their capacity, at most 20."""
    bad = np.flatnonzero(load > capacity * (1 + tolerance))[:_LISTED]
    return [
        Problem("overload", int(i), f"load {load[i]} is above the capacity {capacity[i]}")
        for i in bad
    ]


def _short(
    rates: FloatArray, bottleneck: IntArray, wanted: FloatArray, tolerance: float
) -> list[Problem]:
    """Flows that name no link: they must have their demand."""
    bad = np.flatnonzero((bottleneck == -1) & (rates < wanted * (1 - 2 * tolerance)))[:_LISTED]
    return [
        Problem(
            "bottleneck",
            int(f),
            f"rate {rates[f]} is below its demand {wanted[f]} and no link is named",
        )
        for f in bad
    ]


def _unlimited(
    rates: FloatArray, crosses: list[tuple[slice, IntArray]], capacity: FloatArray
) -> list[Problem]:
    """Flows without limit: they must cross nothing finite."""
    finite = np.isfinite(np.append(capacity, np.inf))
    limited = np.zeros(rates.size, dtype=bool)
    for own, links in crosses:
        limited[own] = finite.take(links).any(axis=0)
    bad = np.flatnonzero(np.isinf(rates) & limited)[:_LISTED]
    return [Problem("rate", int(f), "an infinite rate on a link of finite capacity") for f in bad]


def _not_bottlenecks(
    bottleneck: IntArray,
    crosses: list[tuple[slice, IntArray]],
    filling: tuple[FloatArray, FloatArray],
    levels: tuple[FloatArray, FloatArray],
    tolerance: float,
) -> list[Problem]:
    """Flows that name a link which does not limit them."""
    (load, capacity), (level, highest) = filling, levels
    flow = np.flatnonzero(bottleneck >= 0)
    link = bottleneck.take(flow)
    slack = 1 - 2 * tolerance
    named = np.zeros(bottleneck.size, dtype=bool)
    for own, links in crosses:
        named[own] = (links == bottleneck[own]).any(axis=0)
    absent = ~named.take(flow)
    idle = load.take(link) < capacity.take(link) * slack
    lower = level.take(flow) < highest.take(link) * slack
    found = []
    for i in np.flatnonzero(absent | idle | lower)[:_LISTED]:
        f, name = int(flow[i]), int(link[i])
        if absent[i]:
            why = f"it does not cross link {name}"
        elif idle[i]:
            why = f"link {name} carries {load[name]} of {capacity[name]}: not full"
        else:
            why = f"its level {level[f]} is below {highest[name]} of another flow on link {name}"
        found.append(Problem("bottleneck", f, why))
    return found
