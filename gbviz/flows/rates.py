"""Max-min fair rates of flows between GPUs, and the load of every link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.columns import FlowColumns, flow_columns
from gbviz.flows.conservation import Problem, check
from gbviz.flows.maxmin import solve
from gbviz.flows.router import router

if TYPE_CHECKING:
    from gbviz.flows.router import Router
    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health


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
    flows = flow_columns(by, source, target, bounded=capacity is not None)
    want = None if demand is None else demand[flows.flow]
    capacity = flows.links.capacity if capacity is None else capacity
    found = solve(capacity, flows.columns, flows.weights, want)
    load = flows.load(found.rates)
    problems = check(
        capacity, flows.columns, flows.weights, found.rates, found.bottleneck, demand=want
    )
    rate, bottleneck = np.zeros(len(source)), np.full(len(source), -1)
    rate[flows.flow], bottleneck[flows.flow] = found.rates, found.bottleneck
    return Rates(flows, rate, bottleneck, flows.cut, flows.gone, load, problems)
