"""Leaves of equal state taken together, and the shares between every two classes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.routing.shares import split
from gbviz.routing.stages import each_once, group_columns

if TYPE_CHECKING:
    from gbviz.routing.rails import Rails
    from gbviz.routing.stages import Stages
    from gbviz.topology.fabric import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class LeafClasses:
    """Leaves with equal NICs and equal bundles, of one pod and one half, taken together.

    Parameters
    ----------
    leaf_class
        (leaves,) class of each leaf.
    first, other
        (C,) a leaf of each class, and another of it (the same one where it is alone).
    members
        (C,) leaves in each class.
    upper
        (C,) True for the second half of the leaves, by number.
    sends, gets
        (C,) GB/s that the live NICs of one leaf can send, and receive.
    """

    leaf_class: Ints
    first: Ints
    other: Ints
    members: Floats
    upper: Bools
    sends: Floats
    gets: Floats

    def pairs(self) -> tuple[Ints, Ints]:
        """(C * C,) source and target class of every ordered pair of classes."""
        C = np.arange(len(self.first))
        return np.repeat(C, len(C)), np.tile(C, len(C))


def leaf_classes(live: Stages, nics: Rails) -> LeafClasses:
    """The classes of a fabric's leaves."""
    leaves = live.shape.leaves
    number = np.arange(leaves)
    sends = np.bincount(nics.leaf, live.nic_up, leaves).astype(np.float64)
    gets = sends
    if live.nic_down is not live.nic_up:
        gets = np.bincount(nics.leaf, live.nic_down, leaves).astype(np.float64)
    upper = number >= leaves // 2
    rows = np.stack([upper, number // live.shape.leaves_per_pod, sends, gets])
    bundles = each_once(live.leaf.arrays(), lambda array: array[:leaves].T)
    leaf_class, first = group_columns([rows.astype(np.float64), *bundles])
    other = first.copy()
    other[leaf_class] = number
    members = np.bincount(leaf_class).astype(np.float64)
    return LeafClasses(leaf_class, first, other, members, upper[first], sends[first], gets[first])


@dataclass(frozen=True, slots=True, eq=False)
class SplitTable:
    """`split` between every two classes of leaves: a leaf and another leaf.

    Parameters
    ----------
    connected
        (C * C,) by source class times C plus target class.
    spine, core
        (K, C * C) and (E, C * C) shares.
    """

    leaves: LeafClasses
    connected: Bools
    spine: Floats
    core: Floats

    def key(self, source: Ints, target: Ints) -> Ints:
        """Where in the table the pairs of some leaves are; a leaf with itself is not meant."""
        own = self.leaves.leaf_class
        return own.take(source) * len(self.leaves.first) + own.take(target)

    def joined(self, source: Ints, target: Ints) -> Bools:
        """True where live cables lead from leaf to leaf; a leaf always leads to itself.

        Of leaves with no NIC that sends, or receives, it may say either.
        """
        busy = (self.leaves.sends > 0)[:, None] & (self.leaves.gets > 0)
        if (self.connected | ~busy.reshape(-1)).all():
            return np.ones(len(source), dtype=bool)
        found: Bools = (source == target) | self.connected.take(self.key(source, target))
        return found


def split_table(live: Stages, leaves: LeafClasses) -> SplitTable:
    """The shares between all classes of leaves.

    Notes
    -----
    Cost grows with the square of the number of classes: 1 or 2 a pod and one for each damaged leaf.
    """
    a, b = leaves.pairs()
    shares = split(live, leaves.first[a], np.where(a == b, leaves.other[b], leaves.first[b]))
    return SplitTable(leaves, shares.connected, shares.spine, shares.core)
