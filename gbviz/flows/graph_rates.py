"""Max-min fair rates on any switch graph, through the general path of `routing.general`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.conservation import Problem, check, link_load
from gbviz.flows.maxmin import solve
from gbviz.routing.general import SwitchGraph

if TYPE_CHECKING:
    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health


@dataclass(frozen=True, slots=True, eq=False)
class GraphRates:
    """What F flows between NICs get on a switch graph.

    `rate` (F,) GB/s, 0 for a flow without a way; `cut` (F,) those; `bottleneck` (F,) the limiting
    link, -1 for none; `load` (L,) GB/s on every link of the fabric; `problems` what the
    conservation check found.
    """

    rate: Floats
    cut: Bools
    bottleneck: Ints
    load: Floats
    problems: tuple[Problem, ...]


def graph_rates(
    fabric: Fabric,
    health: Health,
    mode: Mode,
    seed: int,
    pairs: tuple[Ints, Ints],
    demand: Floats | None = None,
) -> GraphRates:
    """The max-min fair rates of independent flows between the NICs of any fabric.

    Parameters
    ----------
    fabric
        From a graph, or built: then only NICs and switches count, no NVLink and no relay.
    health
        Its health.
    mode, seed
        Routing mode; the seed of `ecmp`'s hash.
    pairs
        (F,) source and (F,) target NIC numbers within their kind.
    demand
        (F,) GB/s that each flow wants at most, None for all it can get.

    Notes
    -----
    A NIC with several cables spreads evenly over the live ones. Each pair of switches is routed by
    itself, so cost grows with pairs times their links: for graphs that are no fat tree.
    """
    graph = SwitchGraph(fabric, health)
    nics = fabric.tiers[0]
    up, down = health.capacity(fabric, 0)
    first = fabric.nodes("nic").start
    cables: dict[int, list[int]] = {}
    for cable, nic in enumerate((nics.lower - first).tolist()):
        cables.setdefault(nic, []).append(cable)
    entries: list[dict[int, float]] = []
    for source, target in zip(*(end.tolist() for end in pairs), strict=True):
        out = [c for c in cables.get(source, []) if up[c] > 0]
        into = [c for c in cables.get(target, []) if down[c] > 0]
        entries.append(_route(graph, fabric, (out, into), (source, target), mode, seed))
    cut = np.array([not entry for entry in entries], dtype=bool)
    capacity = np.concatenate(
        [health.capacity(fabric, number).reshape(-1) for number in range(len(fabric.tiers))]
    )
    columns, weights = _columns(entries, nics.first, len(capacity))
    want = np.where(cut, 0.0, np.inf if demand is None else demand)
    found = solve(capacity, columns, weights, want)
    problems = check(capacity, columns, weights, found.rates, found.bottleneck, demand=want)
    load = np.zeros(fabric.n_links)
    load[nics.first :] = link_load(len(capacity), columns, weights, found.rates)
    bottleneck = np.where(found.bottleneck >= 0, found.bottleneck + nics.first, -1)
    return GraphRates(found.rates, cut, bottleneck, load, problems)


def _route(
    graph: SwitchGraph,
    fabric: Fabric,
    cables: tuple[list[int], list[int]],
    ends: tuple[int, int],
    mode: Mode,
    seed: int,
) -> dict[int, float]:
    """Links and shares of one flow; empty where it has no way."""
    nics = fabric.tiers[0]
    found: dict[int, float] = {}
    ways = []
    for out in cables[0]:
        for into in cables[1]:
            a, b = int(nics.upper[out]), int(nics.upper[into])
            shares: dict[int, float] | None
            if mode in ("adaptive", "spray"):
                shares = graph.shares(a, b, even=mode == "spray")
            else:
                key = (*ends, int(nics.upper_port[into]) - 1)
                path = graph.path(a, b, key=key, seed=seed if mode == "ecmp" else None)
                shares = None if path is None else dict.fromkeys(path, 1.0)
            if shares is not None:
                ways.append({nics.first + out: 1.0, nics.first + nics.n + into: 1.0} | shares)
    for way in ways:
        for link, share in way.items():
            found[link] = found.get(link, 0.0) + share / len(ways)
    return found


def _columns(entries: list[dict[int, float]], first: int, unused: int) -> tuple[Ints, Floats]:
    deep = max((len(entry) for entry in entries), default=0)
    columns = np.full((deep, len(entries)), unused)
    weights = np.zeros((deep, len(entries)))
    for flow, entry in enumerate(entries):
        columns[: len(entry), flow] = np.array(list(entry), dtype=np.int64) - first
        weights[: len(entry), flow] = list(entry.values())
    return columns, weights
