"""What legs between NICs put on the class links above their leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gbviz.flows.pieces import Entries
    from gbviz.routing.leaves import SplitTable
    from gbviz.routing.stages import Stages
    from gbviz.topology.fabric import Bools, Floats, Ints


# Shares that are multiplied at a time.
_MOST = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Above:
    """M legs from leaf to leaf on the links of leaves and spines.

    Shares depend on the classes of the two leaves, so the sum of a leaf's traffic to each class
    says all about its links: two sums over the legs, however many classes of spines there are.

    Parameters
    ----------
    live, table
        The stages, and the shares between classes of leaves.
    source, target
        (M,) leaf numbers.
    """

    live: Stages
    table: SplitTable
    source: Ints
    target: Ints

    def load(self, amount: Floats) -> Floats:
        """Loads of leaf up, leaf down, spine up and spine down links under (M,) amounts, GB/s."""
        table, own = self.table, self.table.leaves.leaf_class
        C, n = len(table.leaves.first), len(own)
        # What stays under one leaf is on no link here.
        amount = amount * (self.source != self.target)
        rise, fall = (
            np.bincount(one * C + own.take(other), amount, n * C).astype(np.float64, copy=False)
            for one, other in ((self.source, self.target), (self.target, self.source))
        )
        rise, fall = rise.reshape(n, C), fall.reshape(n, C)
        rows, K = len(self.live.leaf.up), self.live.n_classes
        leaf_up, leaf_down = np.zeros((rows, K)), np.zeros((rows, K))
        spine = table.spine.reshape(K, C, C)
        # Not all classes of spines at a time: in a large fabric the arrays would leave the cache.
        step = max(1, _MOST // (n * C))
        for k in range(0, K, step):
            some = slice(k, k + step)
            leaf_up[:n, some] = (spine[some].take(own, axis=1) * rise).sum(axis=2).T
            leaf_down[:n, some] = (
                (spine[some].swapaxes(1, 2).take(own, axis=1) * fall).sum(axis=2).T
            )
        return np.concatenate(
            [leaf_up.reshape(-1), leaf_down.reshape(-1), *self._spine_loads(rise)]
        )

    def _spine_loads(self, rise: Floats) -> tuple[Floats, Floats]:
        """Loads of spine up and spine down links from traffic of leaves to classes of leaves."""
        leaves, shape = self.table.leaves, self.live.shape
        C, E = len(leaves.first), len(self.live.cores)
        up, down = np.zeros((shape.pods, E)), np.zeros((shape.pods, E))
        if E:
            number = leaves.leaf_class[:, None] * C + np.arange(C)
            between = np.bincount(number.reshape(-1), rise.reshape(-1), C * C).reshape(C, C)
            pod = leaves.first // shape.leaves_per_pod
            for e, shares in enumerate(self.table.core.reshape(E, C, C)):
                part = between * shares
                up[:, e] = np.bincount(pod, part.sum(axis=1), shape.pods)
                down[:, e] = np.bincount(pod, part.sum(axis=0), shape.pods)
        return up.reshape(-1), down.reshape(-1)

    def entries(self, wanted: Bools) -> list[Entries]:
        """What legs put on some of the links, by class; links count from the first leaf up link.

        `wanted` says which, of the links in the order of `load`.
        """
        live, table = self.live, self.table
        rows, K, E = len(live.leaf.up), live.n_classes, len(live.cores)
        pods, per_pod = live.shape.pods, live.shape.leaves_per_pod
        starts = np.cumsum([0, rows * K, rows * K, pods * E])
        key, apart = table.key(self.source, self.target), self.source != self.target
        ends = self.source, self.target, self.source // per_pod, self.target // per_pod
        found: list[Entries] = []
        for part, (start, end) in enumerate(zip(starts.tolist(), ends, strict=True)):
            shares, width = (table.spine, K) if part < 2 else (table.core, E)
            for number in range(width):
                links = start + end * width + number
                legs = np.flatnonzero(wanted.take(links) & apart)
                share = shares[number].take(key.take(legs))
                used = np.flatnonzero(share)
                if len(used):
                    found.append((legs.take(used), links.take(legs.take(used)), share.take(used)))
        return found
