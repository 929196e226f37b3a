"""Plain loops over exact fractions: what the fast code must equal.

Nothing here is shared with gbviz, and nothing is optimised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gbviz.topology.fabric import Fabric
    from gbviz.topology.health import Health


def maxmin(
    caps: Mapping[Any, Fraction] | Sequence[Fraction],
    flows: Sequence[Mapping[Any, Fraction]],
    dem: Sequence[Fraction | None] | None = None,
    phi: Sequence[Fraction] | None = None,
) -> list[Fraction]:
    """Max-min fair rates by progressive filling: raise all, stop who must, go on with the rest.

    Parameters
    ----------
    caps
        Link to capacity, or a list of capacities where links are numbers.
    flows
        For each flow, link to weight.
    dem
        For each flow its demand or None; None if no flow has one.
    phi
        For each flow how fast it rises, None if all rise alike.

    Raises
    ------
    ValueError
        A flow without demand crosses no link.
    """
    capacity = dict(caps) if isinstance(caps, Mapping) else dict(enumerate(caps))
    demand = list(dem) if dem is not None else [None] * len(flows)
    speed = list(phi) if phi is not None else [Fraction(1)] * len(flows)
    rate = [Fraction(0)] * len(flows)
    rising = set(range(len(flows)))
    while rising:
        ends: list[tuple[Fraction, set[int]]] = []
        for link, cap in capacity.items():
            users = {f for f in rising if flows[f].get(link, 0)}
            if users:
                spare = cap - sum(rate[f] * flows[f].get(link, 0) for f in range(len(flows)))
                ends.append((spare / sum(speed[f] * flows[f][link] for f in users), users))
        for f in rising:
            wanted = demand[f]
            if wanted is not None:
                ends.append(((wanted - rate[f]) / speed[f], {f}))
        if not ends:
            raise ValueError(f"nothing limits flows {sorted(rising)}")
        step = min(time for time, _ in ends)
        for f in rising:
            rate[f] += speed[f] * step
        for time, users in ends:
            if time == step:
                rising -= users
    return rate


class Net:
    """The live links of a built fabric one by one, and what each routing mode makes of them.

    Links have the fabric's own numbers. Written from the rules of routing alone: ways are found
    by walking cables up and down, never by arithmetic on pods, positions or classes.
    """

    def __init__(self, fabric: Fabric, health: Health) -> None:
        self.fabric, self.health = fabric, health
        self.rate: dict[int, Fraction] = {}
        self.out: dict[int, dict[int, list[int]]] = {}
        self.port: dict[int, int] = {}
        self.nic_link: dict[int, tuple[int, int, int, int]] = {}
        self._ways: dict[tuple[int, int], list[list[int]]] = {}
        self._shares: dict[tuple[int, int, str], dict[int, Fraction]] = {}
        self._nvlink: dict[tuple[int, int], dict[int, Fraction]] = {}
        for number, tier in enumerate(fabric.tiers):
            for cable in range(tier.n):
                ends = int(tier.lower[cable]), int(tier.upper[cable])
                ports = int(tier.lower_port[cable]), int(tier.upper_port[cable])
                if number == 0:
                    links = tier.first + cable, tier.first + tier.n + cable
                    nic = ends[0] - fabric.nodes("nic").start
                    self.nic_link[nic] = (*links, ends[1], ports[1])
                for way in (0, 1):
                    self._wire(number, way, cable, ends if way == 0 else ends[::-1], ports[way])

    def _wire(self, number: int, way: int, cable: int, ends: tuple[int, int], port: int) -> None:
        tier, own = self.fabric.tiers[number], self.health.link_factor[number]
        rate = Fraction(float(tier.capacity[cable]))
        if own is not None:
            rate *= Fraction(float(own[way, cable]))
        for end in ends:
            worth = Fraction(float(self.health.node_factor[end]))
            # A NIC runs at part of its rate, a switch is whole or dead.
            rate *= worth if number == 0 and end == int(tier.lower[cable]) else worth > 0
        link = tier.first + way * tier.n + cable
        if rate > 0:
            self.rate[link], self.port[link] = rate, port
            self.out.setdefault(ends[0], {}).setdefault(ends[1], []).append(link)

    def alive(self, kind: str, number: int) -> bool:
        return bool(self.health.node_factor[self.fabric.nodes(kind).start + number] > 0)

    def bundle(self, source: int, target: int) -> Fraction:
        """What all live cables from one switch to another carry."""
        return sum((self.rate[link] for link in self.out[source][target]), Fraction(0))

    def _next(self, node: int, rise: int) -> list[int]:
        level = self.fabric.level
        assert level is not None
        return [n for n in self.out.get(node, {}) if int(level[n]) - int(level[node]) == rise]

    def ways(self, source: int, target: int) -> list[list[int]]:
        """All shortest live ways from leaf to leaf, up and then down, as switches."""
        if (source, target) not in self._ways:
            spines = self._next(source, 1)
            found = [[source, s, target] for s in spines if target in self.out.get(s, {})]
            if not found:
                found = [
                    [source, s, core, t, target]
                    for s in spines
                    for core in self._next(s, 1)
                    for t in self._next(core, -1)
                    if target in self.out.get(t, {})
                ]
            self._ways[source, target] = found
        return self._ways[source, target]

    def joined(self, source: int, target: int) -> bool:
        return source == target or bool(self.ways(source, target))

    def spray(self, source: int, target: int) -> dict[int, Fraction]:
        """Shares of a leaf pair: at each switch evenly over live cables that still lead there."""
        share: dict[int, Fraction] = {}
        ways = self.ways(source, target)
        here = {source: Fraction(1)}
        for step in range(len(ways[0]) - 1):
            there: dict[int, Fraction] = {}
            for node, amount in here.items():
                following = {way[step + 1] for way in ways if way[step] == node}
                cables = [link for n in following for link in self.out[node][n]]
                for n in following:
                    for link in self.out[node][n]:
                        share[link] = amount / len(cables)
                        there[n] = there.get(n, Fraction(0)) + amount / len(cables)
            here = there
        return share

    def adaptive(self, source: int, target: int) -> dict[int, Fraction]:
        """Shares of a leaf pair in proportion to what the ways can carry.

        First over spines by min(up, sum over cores of min(up, down), down), then over cores.
        """
        share: dict[int, Fraction] = {}
        by_spine: dict[int, list[list[int]]] = {}
        for way in self.ways(source, target):
            by_spine.setdefault(way[1], []).append(way)
        carry: dict[int, Fraction] = {}
        for spine, ways in by_spine.items():
            assert len({way[-2] for way in ways}) == 1, "a spine leads down by one spine"
            carry[spine] = min(self.bundle(source, spine), self.bundle(ways[0][-2], target))
            if len(ways[0]) == 5:
                over = sum((self._over_core(way) for way in ways), Fraction(0))
                carry[spine] = min(carry[spine], over)
        for spine, ways in by_spine.items():
            part = carry[spine] / sum(carry.values())
            self._spread(share, part, source, spine)
            self._spread(share, part, ways[0][-2], target)
            if len(ways[0]) == 5:
                over = sum((self._over_core(way) for way in ways), Fraction(0))
                for way in ways:
                    own = part * self._over_core(way) / over
                    self._spread(share, own, way[1], way[2])
                    self._spread(share, own, way[2], way[3])
        return share

    def _over_core(self, way: list[int]) -> Fraction:
        return min(self.bundle(way[1], way[2]), self.bundle(way[2], way[3]))

    def _spread(self, share: dict[int, Fraction], part: Fraction, source: int, target: int) -> None:
        """Over parallel cables in proportion to their rates."""
        total = self.bundle(source, target)
        for link in self.out[source][target]:
            share[link] = share.get(link, Fraction(0)) + part * self.rate[link] / total

    def path(self, source: int, target: int, seed: int | None) -> list[int]:
        """The cables between the leaves of two NICs: by D-mod-k, or by a hash with a seed."""
        node, end = self.nic_link[source][2], self.nic_link[target][2]
        port = self.nic_link[target][3] - 1
        leaf = end - self.fabric.nodes("leaf").start
        assert self.fabric.shape is not None
        m = self.fabric.shape.m
        ways, links = self.ways(node, end), list[int]()
        while node != end:
            step = len(links)
            following = {way[step + 1] for way in ways if way[step] == node}
            cables = [link for n in following for link in self.out[node][n]]
            cables.sort(key=lambda link: self.port[link])
            if seed is not None:
                index = splitmix(source, target, seed, step)
            else:
                index = port if step == 0 or end in following else leaf * m + port % m
            links.append(cables[index % len(cables)])
            node = next(n for n in following if links[-1] in self.out[node][n])
            ways = [way for way in ways if way[step + 1] == node]
        return links

    def shares(self, source: int, target: int, mode: str) -> dict[int, Fraction]:
        """Shares of a joined leaf pair under a mode that spreads."""
        key = source, target, mode
        if key not in self._shares:
            rule = self.spray if mode == "spray" else self.adaptive
            self._shares[key] = {} if source == target else rule(source, target)
        return self._shares[key]

    def nvlink(self, source: int, target: int) -> dict[int, Fraction]:
        """Shares of two GPUs of one rack on NVLink links; none where no ASIC joins them."""
        if (source, target) not in self._nvlink:
            self._nvlink[source, target] = self._over_asics(source, target)
        return self._nvlink[source, target]

    def _over_asics(self, source: int, target: int) -> dict[int, Fraction]:
        """Over the ASICs that both reach, in proportion to the smaller of the two links."""
        tier = self.fabric.nvlink
        assert tier is not None
        carry = {}
        for asic in range(tier.asics):
            out, into = self.nvlink_rate(0, source, asic), self.nvlink_rate(1, target, asic)
            if min(out, into) > 0:
                carry[asic] = min(out, into)
        share = {}
        for asic, amount in carry.items():
            share[source * tier.asics + asic] = amount / sum(carry.values())
            share[tier.n + target * tier.asics + asic] = amount / sum(carry.values())
        return share

    def nvlink_rate(self, way: int, gpu: int, asic: int) -> Fraction:
        """GB/s of one NVLink link, GPU to ASIC with way 0; also kept in `rate`."""
        tier = self.fabric.nvlink
        assert tier is not None
        rack, within = divmod(gpu, tier.gpus)
        rate = Fraction(float(tier.link_GBps))
        if rack in self.health.nvlink_factor:
            rate *= Fraction(float(self.health.nvlink_factor[rack][way, within, asic]))
        rate *= self.alive("gpu", gpu) and self.alive("nvswitch", rack * tier.asics + asic)
        self.rate[way * tier.n + gpu * tier.asics + asic] = rate
        return rate

    def legs(self, source: int, target: int) -> list[tuple[int, int, Fraction]]:
        """NIC pairs that carry two GPUs of different trays, and their shares; none if cut off.

        The target's rail at both ends; without it evenly over the rails that both ends have;
        without any, evenly over all NIC pairs that a live way joins.
        """
        assert self.fabric.spec is not None
        R = self.fabric.spec.gpus_per_tray
        out, into = (range(gpu - gpu % R, gpu - gpu % R + R) for gpu in (source, target))
        ways = []
        for x in out:
            for y in into:
                can = self.nic_link[x][0] in self.rate and self.nic_link[y][1] in self.rate
                near = self.alive("gpu", source) if x == source else bool(self.nvlink(source, x))
                far = self.alive("gpu", target) if y == target else bool(self.nvlink(y, target))
                if can and near and far and self.joined(self.nic_link[x][2], self.nic_link[y][2]):
                    ways.append((x, y))
        rails = [(x, y) for x, y in ways if x % R == y % R]
        own = [(x, y) for x, y in rails if y == target]
        chosen = own or rails or ways
        return [(x, y, Fraction(1, len(chosen))) for x, y in chosen]

    def pieces(
        self, source: int, target: int, mode: str, seed: int
    ) -> list[tuple[Fraction, Mapping[int, Fraction]]]:
        """What a flow between two live GPUs is made of: parts of it, and the shares of each part.

        Nothing where it has no way.
        """
        assert self.fabric.nvlink is not None
        one = Fraction(1)
        if source // self.fabric.nvlink.gpus == target // self.fabric.nvlink.gpus:
            direct = self.nvlink(source, target)
            if direct:
                return [(one, direct)]
        found: list[tuple[Fraction, Mapping[int, Fraction]]] = []
        for x, y, part in self.legs(source, target):
            found.append((part, {self.nic_link[x][0]: one, self.nic_link[y][1]: one}))
            found += [(part, self.nvlink(source, x))] if x != source else []
            found += [(part, self.nvlink(y, target))] if y != target else []
            if mode in ("ecmp", "static"):
                links = self.path(x, y, seed if mode == "ecmp" else None)
                found.append((part, dict.fromkeys(links, one)))
            else:
                ends = self.nic_link[x][2], self.nic_link[y][2]
                found.append((part, self.shares(*ends, mode)))
        return found

    def flow(self, source: int, target: int, mode: str, seed: int) -> dict[int, Fraction]:
        """The share of a flow between two live GPUs on each link; empty where it has no way."""
        found: dict[int, Fraction] = {}
        for part, share in self.pieces(source, target, mode, seed):
            for link, weight in share.items():
                found[link] = found.get(link, Fraction(0)) + part * weight
        return found


def splitmix(source: int, target: int, seed: int, step: int) -> int:
    """The hash of a flow's ends, in whole numbers modulo 2^64."""
    state = seed
    for word in (source, target, step):
        state = (state + word + 0x9E3779B97F4A7C15) % 2**64
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) % 2**64
        state ^= state >> 31
    return state >> 1


def all_to_all(net: Net, mode: str, seed: int) -> tuple[dict[int, float], int]:
    """Bytes on each link when every live GPU sends 1 to every live one of other racks; pairs cut.

    The sum over all pairs of GPUs, one by one.
    """
    assert net.fabric.nvlink is not None
    per_rack = net.fabric.nvlink.gpus
    live = [gpu for gpu in range(net.fabric.count("gpu")) if net.alive("gpu", gpu)]
    load: dict[int, float] = {}
    cut = 0
    for source in live:
        for target in live:
            if source // per_rack == target // per_rack:
                continue
            pieces = net.pieces(source, target, mode, seed)
            cut += not pieces
            for part, share in pieces:
                for link, weight in share.items():
                    load[link] = load.get(link, 0.0) + float(part) * float(weight)
    return load, cut


def flow_rates(
    net: Net, pairs: Sequence[tuple[int, int]], mode: str, seed: int
) -> tuple[list[Fraction], list[bool], list[bool]]:
    """Max-min rates of flows between GPUs on single links; which are cut off, which have failed."""
    gone = [not (net.alive("gpu", s) and net.alive("gpu", t)) for s, t in pairs]
    shares = [
        {} if dead else net.flow(s, t, mode, seed) for (s, t), dead in zip(pairs, gone, strict=True)
    ]
    cut = [not share and not dead for share, dead in zip(shares, gone, strict=True)]
    moving = [share for share in shares if share]
    used = {link: net.rate[link] for share in moving for link in share}
    solved = iter(maxmin(used, moving) if moving else [])
    return [next(solved) if share else Fraction(0) for share in shares], cut, gone
