"""Everything about routing that depends on the fabric's health alone, computed once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.links import LinkSpace, cable_links, class_links
from gbviz.routing.leaves import SplitTable, leaf_classes, split_table
from gbviz.routing.nvlink import NVLinkStage, nvlink_stage
from gbviz.routing.rails import Rails, rails
from gbviz.routing.stages import Stages, stages

if TYPE_CHECKING:
    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Fabric
    from gbviz.topology.health import Health


@dataclass(frozen=True, slots=True, eq=False)
class Router:
    """A fabric under one health and routing mode, ready to route any flows.

    Parameters
    ----------
    fabric, health, mode, seed
        What it was made of; the seed is that of `ecmp`'s hash.
    live, nvlink
        The stages of fabric and NVLink.
    nics
        What each GPU can use.
    table
        Shares between classes of leaves.
    space
        What link numbers mean: single cables for `ecmp` and `static`, class links otherwise.
    hurt
        Rack to all that makes its NVLink, and its GPUs and NICs, differ from those of a whole rack;
        NVLink b"" where it is whole. A NIC counts as there or not, whatever its rate.
    reaches_all
        True where every leaf with live NICs reaches every other.
    """

    fabric: Fabric
    health: Health
    mode: Mode
    seed: int
    live: Stages
    nvlink: NVLinkStage
    nics: Rails
    table: SplitTable
    space: LinkSpace
    hurt: dict[int, tuple[bytes, bytes]]
    reaches_all: bool

    @property
    def single_path(self) -> bool:
        """True where each flow takes one path."""
        return self.mode in ("ecmp", "static")

    def over_racks(self) -> Router:
        """The same with the traffic of a GPU without its NIC spread over its rack."""
        return replace(self, nics=replace(self.nics, relay=self.nvlink.gpus))


def router(
    fabric: Fabric, health: Health, mode: Mode, seed: int, *, by_rack: bool = False
) -> Router:
    """Prepare to route flows on a built cluster under one health.

    `by_rack` spreads the traffic of a GPU without its NIC over its rack instead of its tray.
    """
    live = stages(fabric, health, mode)
    nvlink = nvlink_stage(fabric, health)
    nics = rails(fabric, health, live.nic_up, live.nic_down, by_rack=by_rack)
    table = split_table(live, leaf_classes(live, nics))
    if mode in ("ecmp", "static"):
        space = cable_links(fabric, health, nvlink)
    else:
        space = class_links(fabric, health, live, nvlink)
    hurt, reaches_all = _hurt(nvlink, nics), _reaches_all(table)
    return Router(fabric, health, mode, seed, live, nvlink, nics, table, space, hurt, reaches_all)


def _hurt(nvlink: NVLinkStage, nics: Rails) -> dict[int, tuple[bytes, bytes]]:
    """`hurt` of `Router`."""
    racks = len(nvlink.slot)
    odd = nvlink.slot >= 0
    rows = [some.reshape(racks, -1) for some in (nics.live, nics.send, nics.receive, nics.joined)]
    if not nics.whole:
        for row in rows:
            odd = odd | ~row.all(axis=1)
    found = {}
    for rack in np.flatnonzero(odd).tolist():
        slot, links = int(nvlink.slot[rack]), b""
        if slot >= 0:
            classes = int(np.count_nonzero(nvlink.asics[slot]))
            links = nvlink.share[slot, :, :, :classes].tobytes()
            links += nvlink.asics[slot, :classes].tobytes()
        found[rack] = links, b"".join(row[rack].tobytes() for row in rows)
    return found


def _reaches_all(table: SplitTable) -> bool:
    """`reaches_all` of `Router`."""
    leaves = table.leaves
    busy = (leaves.sends > 0) | (leaves.gets > 0)
    apart = ~table.connected.reshape(len(busy), -1) & busy[:, None] & busy
    return not apart.any()
