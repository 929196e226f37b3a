"""The load that rates put on links, and the one check that every solver's rates must pass.

A system is described here as everywhere in `flows`: `columns` (E, F) names for each flow the
links it crosses, one entry a row; the value L (one past the last link) means "unused".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.integer]

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


def link_load(
    n_links: int,
    columns: IntArray,
    weights: FloatArray | None,
    rates: FloatArray,
    multiplicity: FloatArray | None = None,
) -> FloatArray:
    """The load of every link in the unit of the rates.

    Parameters
    ----------
    n_links
        L, the number of links.
    columns
        (E, F) links of each flow; `n_links` is "unused".
    weights
        (E, F) share of the flow's rate on that link; None for 1 everywhere.
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
    entries = np.broadcast_to(amount, columns.shape) if weights is None else weights * amount
    load = np.bincount(columns.ravel(), entries.ravel(), minlength=n_links + 1)
    # Without entries the counts are integers, weights or not.
    return load[:n_links].astype(np.float64, copy=False)


def check(
    capacity: FloatArray,
    columns: IntArray,
    weights: FloatArray | None,
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
    found += _overloads(load, capacity, tolerance)
    level = finite if priority is None else finite / priority
    crosses = columns if weights is None else np.where(weights > 0, columns, capacity.size)
    highest = _highest_level(capacity.size, crosses, level)
    found += _unlimited(rates, bottleneck, wanted, crosses, capacity, tolerance)
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


def _overloads(load: FloatArray, capacity: FloatArray, tolerance: float) -> list[Problem]:
    bad = np.flatnonzero(load > capacity * (1 + tolerance))[:_LISTED]
    return [
        Problem("overload", int(i), f"load {load[i]} is above the capacity {capacity[i]}")
        for i in bad
    ]


def _highest_level(n_links: int, crosses: IntArray, level: FloatArray) -> FloatArray:
    highest = np.zeros(n_links + 1)
    for links in crosses:
        np.maximum.at(highest, links, level)
    return highest


def _unlimited(
    rates: FloatArray,
    bottleneck: IntArray,
    wanted: FloatArray,
    crosses: IntArray,
    capacity: FloatArray,
    tolerance: float,
) -> list[Problem]:
    """Flows that name no link: they must have their demand, or cross nothing finite."""
    free = bottleneck == -1
    short = np.flatnonzero(free & (rates < wanted * (1 - 2 * tolerance)))[:_LISTED]
    found = [
        Problem(
            "bottleneck",
            int(f),
            f"rate {rates[f]} is below its demand {wanted[f]} and no link is named",
        )
        for f in short
    ]
    finite_link = np.isfinite(np.append(capacity, np.inf)).take(crosses).any(axis=0)
    bad = np.flatnonzero(np.isinf(rates) & finite_link)[:_LISTED]
    found += [Problem("rate", int(f), "an infinite rate on a link of finite capacity") for f in bad]
    return found


def _not_bottlenecks(
    bottleneck: IntArray,
    crosses: IntArray,
    filling: tuple[FloatArray, FloatArray],
    levels: tuple[FloatArray, FloatArray],
    tolerance: float,
) -> list[Problem]:
    """Flows that name a link which does not limit them."""
    (load, capacity), (level, highest) = filling, levels
    flow = np.flatnonzero(bottleneck >= 0)
    link = bottleneck.take(flow)
    slack = 1 - 2 * tolerance
    absent = ~(crosses.take(flow, axis=1) == link).any(axis=0)
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
