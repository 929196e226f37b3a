"""Routing on any switch graph: the same modes as on fat trees, one switch at a time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.routing.paths import stable_hash

if TYPE_CHECKING:
    from gbviz.topology.fabric import Fabric
    from gbviz.topology.health import Health

Shares = dict[int, float]


@dataclass(frozen=True, slots=True)
class Hop:
    """The live cables from one switch to another, in port order: link numbers and GB/s."""

    to: int
    links: tuple[int, ...]
    rates: tuple[float, ...]


class SwitchGraph:
    """The live switches and cables of a fabric, and the ways between its switches.

    Parameters
    ----------
    fabric
        Built, or from a graph. Where switches have levels, traffic goes up and then down, never up
        again; without levels any shortest live path counts.
    health
        Its health.
    """

    def __init__(self, fabric: Fabric, health: Health) -> None:
        self.level = fabric.level
        self.first_switch = int(min(fabric.tiers[0].upper, default=0))
        self.parallel = fabric.shape.m if fabric.shape is not None else 1
        self.out: dict[int, list[Hop]] = {}
        for number, tier in enumerate(fabric.tiers[1:], start=1):
            up, down = health.capacity(fabric, number)
            ports = (tier.lower_port, tier.upper_port)
            ends = (tier.lower, tier.upper)
            for way, rates in ((0, up), (1, down)):
                first = tier.first + way * tier.n
                self._add(ends[way], ends[1 - way], ports[way], rates, first)
        self._ways: dict[int, tuple[dict[int, int], dict[int, list[Hop]]]] = {}
        self._splits: dict[int, dict[int, list[float]]] = {}

    def _add(
        self,
        source: np.ndarray[tuple[int], np.dtype[np.integer]],
        target: np.ndarray[tuple[int], np.dtype[np.integer]],
        port: np.ndarray[tuple[int], np.dtype[np.integer]],
        rates: np.ndarray[tuple[int], np.dtype[np.float64]],
        first: int,
    ) -> None:
        """Group the live cables of one direction by the pair that they join."""
        order = np.lexsort((port, target, source))
        order = order[rates[order] > 0]
        pair = np.stack([source[order], target[order]])
        starts = np.flatnonzero(np.any(np.diff(pair, prepend=-1), axis=0))
        for group in np.split(order, starts[1:]) if len(order) else []:
            hop = Hop(
                int(target[group[0]]),
                tuple((first + group).tolist()),
                tuple(rates[group].tolist()),
            )
            self.out.setdefault(int(source[group[0]]), []).append(hop)

    def ways(self, target: int) -> tuple[dict[int, int], dict[int, list[Hop]]]:
        """Steps to a switch from every switch that leads there, and the next hops of each."""
        if target not in self._ways:
            self._ways[target] = self._plain(target) if self.level is None else self._tiers(target)
        return self._ways[target]

    def _into(self, wanted: int = 0) -> dict[int, list[int]]:
        """For each switch those with a live cable to it; up only (1), down only (-1) or all (0)."""
        into: dict[int, list[int]] = {}
        for source, hops in self.out.items():
            for hop in hops:
                if not wanted or self._rise(source, hop.to) == wanted:
                    into.setdefault(hop.to, []).append(source)
        return into

    def _rise(self, source: int, target: int) -> int:
        assert self.level is not None
        return int(np.sign(int(self.level[target]) - int(self.level[source])))

    def _plain(self, target: int) -> tuple[dict[int, int], dict[int, list[Hop]]]:
        steps = _breadth_first(self._into(), {target: 0})
        return steps, self._next(steps)

    def _tiers(self, target: int) -> tuple[dict[int, int], dict[int, list[Hop]]]:
        """Down as soon as a switch has a way down, else up."""
        falling = _breadth_first(self._into(-1), {target: 0})
        steps = _breadth_first(self._into(1), falling)
        following = self._next(steps)
        for node, hops in following.items():
            way = -1 if node in falling else 1
            following[node] = [hop for hop in hops if self._rise(node, hop.to) == way]
        return steps, following

    def _next(self, steps: dict[int, int]) -> dict[int, list[Hop]]:
        return {
            node: [h for h in self.out.get(node, ()) if steps.get(h.to, -1) == away - 1]
            for node, away in steps.items()
        }

    def shares(self, source: int, target: int, *, even: bool) -> Shares | None:
        """The share of a pair's traffic on each directed link; None where no way is left.

        Evenly, each live cable that leads there counts the same at every switch. Otherwise a
        switch splits in proportion to what each next hop can carry to the point where all its ways
        meet again (its immediate post-dominator), and parallel cables in proportion to their rates.
        On a fat tree these are the rules of `shares.split`.
        """
        steps, following = self.ways(target)
        if source not in steps:
            return None
        found: Shares = {}
        amount = {source: 1.0}
        for node in sorted(steps, key=lambda n: -steps[n]):
            here = amount.get(node, 0.0)
            if here == 0 or node == target:
                continue
            hops = following[node]
            for hop, part in zip(hops, self._parts(node, target, hops, even), strict=True):
                amount[hop.to] = amount.get(hop.to, 0.0) + here * part
                weights = [1.0] * len(hop.links) if even else hop.rates
                total = sum(weights)
                for link, weight in zip(hop.links, weights, strict=True):
                    found[link] = here * part * weight / total
        return found

    def _parts(self, node: int, target: int, hops: list[Hop], even: bool) -> list[float]:
        if even:
            cables = sum(len(hop.links) for hop in hops)
            return [len(hop.links) / cables for hop in hops]
        if target not in self._splits:
            self._splits[target] = self._carried(target)
        return self._splits[target][node]

    def _carried(self, target: int) -> dict[int, list[float]]:
        """For each switch, how it splits over its next hops on the way to a target."""
        steps, following = self.ways(target)
        meet: dict[int, int] = {}
        depth = {target: 0}
        carry = {target: float("inf")}
        parts: dict[int, list[float]] = {}
        for node in sorted(steps, key=lambda n: steps[n]):
            if node == target:
                continue
            hops = following[node]
            point = hops[0].to
            for hop in hops[1:]:
                point = _common(point, hop.to, meet, depth)
            meet[node], depth[node] = point, depth[point] + 1
            each = [min(sum(h.rates), _narrowest(h.to, point, meet, carry)) for h in hops]
            carry[node] = sum(each)
            parts[node] = [one / carry[node] for one in each]
        return parts

    def path(
        self, source: int, target: int, *, key: tuple[int, int, int], seed: int | None
    ) -> list[int] | None:
        """The links of one flow's single path; None where no way is left.

        `key` is (source NIC, target NIC, target port from 0). With a seed a stable hash chooses at
        each switch, without one D-mod-k: the port at the first and last hop, the number of the
        target switch between (on a fat tree as in `paths`).
        """
        steps, following = self.ways(target)
        if source not in steps:
            return None
        links: list[int] = []
        node = source
        while node != target:
            choice = [(link, hop.to) for hop in following[node] for link in hop.links]
            hop_number = len(links)
            if seed is not None:
                ends = np.array([key[0]]), np.array([key[1]])
                index = int(stable_hash(*ends, seed, hop_number)[0])
            elif hop_number == 0 or steps[node] == 1:
                index = key[2]
            else:
                index = (target - self.first_switch) * self.parallel + key[2] % self.parallel
            link, node = choice[index % len(choice)]
            links.append(link)
        return links


def _breadth_first(into: dict[int, list[int]], start: dict[int, int]) -> dict[int, int]:
    """Steps from every node to the nearest start, whose own steps count on."""
    steps = dict(start)
    queue = deque(sorted(start, key=lambda n: start[n]))
    while queue:
        node = queue.popleft()
        for before in into.get(node, ()):
            if before not in steps:
                steps[before] = steps[node] + 1
                queue.append(before)
    return steps


def _common(one: int, two: int, meet: dict[int, int], depth: dict[int, int]) -> int:
    """The first point that all ways from both nodes pass."""
    while one != two:
        if depth[one] >= depth[two]:
            one = meet[one]
        else:
            two = meet[two]
    return one


def _narrowest(node: int, point: int, meet: dict[int, int], carry: dict[int, float]) -> float:
    """What can be carried from a node to a point that all its ways pass."""
    least = float("inf")
    while node != point:
        least = min(least, carry[node])
        node = meet[node]
    return least
