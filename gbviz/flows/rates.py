"""Max-min fair rates of flows between GPUs, and the load of every link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.columns import FlowColumns, flow_columns
from gbviz.flows.conservation import Problem, check, overloads
from gbviz.flows.maxmin import MaxMin, solve
from gbviz.flows.router import router

if TYPE_CHECKING:
    from gbviz.flows.router import Router
    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health

# A link that is filled to the last bit is not overloaded.
_ROUNDING = 1 + 1e-12
_ATTEMPTS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """What F flows get.

    Parameters
    ----------
    flows
        Their columns; ``flows.links`` tells what the link numbers mean.
    rate
        (F,) GB/s; 0 for a flow without a way.
    bottleneck
        (F,) link of ``flows.links`` that limits each flow, -1 where its demand does or it is cut.
    cut
        (F,) flows between live GPUs that no live way joins.
    gone
        (F,) flows whose source or target GPU has failed.
    load
        (links,) GB/s on each link of ``flows.links``.
    problems
        What the conservation check found; empty = the rates are right.
    """

    flows: FlowColumns
    rate: Floats
    bottleneck: Ints
    cut: Bools
    gone: Bools
    load: Floats
    problems: tuple[Problem, ...]


def flow_rates(
    fabric: Fabric,
    health: Health,
    mode: Mode,
    seed: int,
    pairs: tuple[Ints, Ints],
    demand: Floats | None = None,
) -> Rates:
    """The max-min fair rates of independent flows between GPUs.

    Parameters
    ----------
    fabric
        A built cluster.
    health
        Its health.
    mode, seed
        Routing mode; the seed of `ecmp`'s hash.
    pairs
        (F,) source and (F,) target GPU numbers within their kind.
    demand
        (F,) GB/s that each flow wants at most, None for all it can get.

    Examples
    --------
    All 72 GPUs of leaf 0 send to leaf 4 over 35 of 36 spines: 7,000 GB/s for 72 of them.

    >>> from gbviz.faults import Action, apply, resolve
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> health = apply(fabric, resolve(fabric, [Action("fail", "spine-3")]))
    >>> rail_0 = np.arange(72) * 4
    >>> found = flow_rates(fabric, health, "adaptive", 0, (rail_0, rail_0 + 4 * 288))
    >>> float(found.rate.min().round(4)), found.problems
    (97.2222, ())
    """
    return rates_on(router(fabric, health, mode, seed), pairs, demand)


def rates_on(
    by: Router,
    pairs: tuple[Ints, Ints],
    demand: Floats | None = None,
    capacity: Floats | None = None,
) -> Rates:
    """`flow_rates` on a fabric that is ready to route, or on the part of it that others leave.

    Parameters
    ----------
    by
        The fabric under its health and routing mode.
    pairs, demand
        As for `flow_rates`.
    capacity
        (links,) GB/s that these flows may use of each of the router's links, None for all.
    """
    source, target = pairs
    flows = flow_columns(by, source, target)
    capacity = flows.links.capacity if capacity is None else capacity
    flows, found, load = fill(flows, demand, capacity)
    want = None if demand is None else demand[flows.flow]
    problems = check(
        capacity, flows.columns, flows.weights, found.rates, found.bottleneck, demand=want
    )
    # Links without columns are none of the solver's, so they are judged by their loads.
    problems = problems or tuple(overloads(load, capacity))
    rate, bottleneck = np.zeros(len(source)), np.full(len(source), -1)
    rate[flows.flow], bottleneck[flows.flow] = found.rates, found.bottleneck
    return Rates(flows, rate, bottleneck, flows.cut, flows.gone, load, problems)


def fill(
    flows: FlowColumns, demand: Floats | None = None, capacity: Floats | None = None
) -> tuple[FlowColumns, MaxMin, Floats]:
    """The max-min fair rates of flows, and the load of every link.

    Parameters
    ----------
    flows
        From `flow_columns`.
    demand, capacity
        (F,) GB/s that each flow wants at most and (links,) GB/s of each link; None for no limit
        and for what the links have.

    Returns
    -------
    The flows with columns for all links that matter, their rates, and the (links,) loads.

    Notes
    -----
    Rates that are max-min fair beside some of the links, and fit on all others, are max-min fair
    beside all: each flow has its bottleneck, nothing is overloaded, and only one set of rates has
    both. So links above the leaves become limits when rates without them would overload them.
    Seldom are more than two attempts needed; the last takes all of these links.
    """
    capacity = flows.links.capacity if capacity is None else capacity
    found, load = _solved(flows, demand, capacity)
    if flows.above is None:
        return flows, found, load
    own = slice(int(flows.links.starts[2]), int(flows.links.starts[6]))
    limits = np.zeros(own.stop - own.start, dtype=bool)
    for attempt in range(_ATTEMPTS):
        over = (load[own] > capacity[own] * _ROUNDING) & ~limits
        if not over.any():
            break
        more = over if attempt < _ATTEMPTS - 1 else ~limits
        flows, limits = flows.with_limits(more), limits | more
        found, load = _solved(flows, demand, capacity)
    return flows, found, load


def _solved(flows: FlowColumns, demand: Floats | None, capacity: Floats) -> tuple[MaxMin, Floats]:
    want = None if demand is None else demand.take(flows.flow)
    found = solve(capacity, flows.columns, flows.weights, want)
    return found, flows.load(found.rates)
