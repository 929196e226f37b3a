"""Everything about routing that depends on the fabric's health alone, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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

    @property
    def single_path(self) -> bool:
        """True where each flow takes one path."""
        return self.mode in ("ecmp", "static")


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
    return Router(fabric, health, mode, seed, live, nvlink, nics, table, space)
