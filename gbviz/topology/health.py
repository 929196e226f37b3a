"""The mask over a fabric: what every node and link is still worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Health:
    """Factors in [0, 1]: 0 failed, 1 healthy, between degraded.

    Parameters
    ----------
    node_factor
        (N,) of the nodes. A node inside a failed one is failed.
    node_cause
        (N,) number of the fault that took the node down or degraded it, -1 for none.
    link_factor
        For each tier of the fabric (2, n), up links first, or None while all are healthy. What
        befell the link itself: a link with a failed end keeps its own factor.
    nvlink_factor
        Rack to (2, G, K) factors of its NVLink links, GPU to ASIC first; racks not named are
        healthy.
    """

    node_factor: Floats
    node_cause: Ints
    link_factor: tuple[Floats | None, ...]
    nvlink_factor: Mapping[int, Floats] = field(default_factory=dict)

    def factor(self, fabric: Fabric, kind: str) -> Floats:
        """Factors of the nodes of one kind, in the order of their numbers."""
        return self.node_factor[fabric.nodes(kind)]

    def up(self, fabric: Fabric, kind: str) -> Bools:
        """True for each node of a kind that has not failed."""
        return self.factor(fabric, kind) > 0

    def capacity(self, fabric: Fabric, tier: int) -> Floats:
        """Effective capacity of a tier's links, GB/s.

        Capacity x link factor x (0 if either end is down); a NIC's own factor counts too.

        Parameters
        ----------
        fabric
            What this is the health of.
        tier
            Which of ``fabric.tiers``.

        Returns
        -------
        Floats
            (2, n) up links, then down links; read-only.
        """
        return np.broadcast_to(self.ways(fabric, tier), (2, fabric.tiers[tier].n))

    def ways(self, fabric: Fabric, tier: int) -> Floats:
        """`capacity`, or just one row of it where both ways are the same; read-only."""
        return _ways(self, fabric, tier)

    def nvlink_capacity(self, fabric: Fabric, rack: int) -> Floats:
        """Effective NVLink capacity of one rack, GB/s: (2, G, K), GPU to ASIC first."""
        nvlink = fabric.nvlink
        assert nvlink is not None
        own = self.nvlink_factor.get(rack, np.ones((2, nvlink.gpus, nvlink.asics)))
        gpus, asics = fabric.nodes("gpu"), fabric.nodes("nvswitch")
        first_gpu, first_asic = gpus.start + rack * nvlink.gpus, asics.start + rack * nvlink.asics
        gpu = self.node_factor[first_gpu : first_gpu + nvlink.gpus] > 0
        asic = self.node_factor[first_asic : first_asic + nvlink.asics] > 0
        worth: Floats = nvlink.link_GBps * own * (gpu[:, None] & asic[None, :])
        return worth

    def damaged_nvlink(self, fabric: Fabric) -> Ints:
        """Racks whose NVLink is not whole: a GPU, an ASIC or a link of it is not."""
        nvlink = fabric.nvlink
        if nvlink is None:
            return np.zeros(0, dtype=np.int64)
        whole = np.ones(nvlink.racks, dtype=bool)
        for kind in ("gpu", "nvswitch"):
            factor = self.factor(fabric, kind)
            # Nearly always none has failed, which is quickly seen.
            if factor.min() == 0:
                whole &= (factor.reshape(nvlink.racks, -1) > 0).all(axis=1)
        whole[list(self.nvlink_factor)] = False
        return np.flatnonzero(~whole)


# Stages, metrics, strikes and the words of a bottleneck ask for the same, of a health and the last.
@lru_cache(maxsize=8)
def _ways(health: Health, fabric: Fabric, tier: int) -> Floats:
    cables = fabric.tiers[tier]
    own = health.link_factor[tier]
    node = np.minimum(
        _end(health, fabric, cables.lower, tier == 0), _end(health, fabric, cables.upper, False)
    )
    worth: Floats = np.atleast_2d(cables.capacity * (node if own is None else own * node))
    worth.setflags(write=False)
    return worth


def _end(health: Health, fabric: Fabric, nodes: Ints, degraded_counts: bool) -> Floats | np.float64:
    """What the ends of links leave of them: 0 or 1, or a NIC's factor."""
    if not len(nodes):
        return np.float64(1.0)
    kind = fabric.kind_of(int(nodes[0]))
    if health.node_factor[kind.nodes].min() == 1:
        return np.float64(1.0)
    factor = health.node_factor.take(nodes)
    return factor if degraded_counts else (factor > 0).astype(np.float64)


def healthy(fabric: Fabric) -> Health:
    """The health of a fabric in which nothing has failed.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec(racks=1))
    >>> health = healthy(fabric)
    >>> float(health.capacity(fabric, 0).sum())  # 72 NICs x 100 GB/s, up and down
    14400.0
    """
    return Health(
        np.ones(fabric.n_nodes),
        np.full(fabric.n_nodes, -1, dtype=np.int32),
        (None,) * len(fabric.tiers),
    )
