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
    from collections.abc import Sequence

    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Bools, Fabric, Floats
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
    fastest_GBps
        What the fastest NIC sends, 0 without any.
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
    fastest_GBps: float  # noqa: N815 the unit's own capitals

    @property
    def single_path(self) -> bool:
        """True where each flow takes one path."""
        return self.mode in ("ecmp", "static")

    def over_racks(self) -> Router:
        """The same with the traffic of a GPU without its NIC spread over its rack."""
        return replace(self, nics=replace(self.nics, relay=self.nvlink.gpus))


def router(
    fabric: Fabric,
    health: Health,
    mode: Mode,
    seed: int,
    *,
    by_rack: bool = False,
    known: Router | None = None,
) -> Router:
    """Prepare to route flows on a built cluster under one health.

    Parameters
    ----------
    fabric, health, mode, seed
        As for `Router`.
    by_rack
        True spreads the traffic of a GPU without its NIC over its rack instead of its tray.
    known
        A router of another health: parts that are the same here are taken from it.
    """
    before = None
    if known is not None and (known.fabric, known.mode) == (fabric, mode):
        before = known
    if before is not None and _same_cables(before, health):
        live, table = before.live, before.table
    else:
        live = stages(fabric, health, mode)
        table = None
    nics, nvlink = None, None
    if before is not None and _same_racks(before, health):
        nvlink = before.nvlink
        if _same_nics(before, live, by_rack=by_rack):
            nics = before.nics
    nvlink = nvlink or nvlink_stage(fabric, health)
    nics = nics or rails(fabric, health, live.nic_up, live.nic_down, by_rack=by_rack)
    table = table or split_table(live, leaf_classes(live, nics))
    if mode in ("ecmp", "static"):
        space = cable_links(fabric, health, nvlink)
    else:
        space = class_links(fabric, health, live, nvlink)
    same = before is not None and before.nvlink is nvlink and before.nics is nics
    return Router(
        fabric,
        health,
        mode,
        seed,
        live,
        nvlink,
        nics,
        table,
        space,
        before.hurt if before is not None and same else _hurt(nvlink, nics),
        _reaches_all(table),
        float(live.nic_up.max(initial=0.0)),
    )


def _same_cables(before: Router, health: Health) -> bool:
    """Whether NICs, switches and cables are as they were."""
    was, kinds = before.health, ("nic", "leaf", "spine", "core")
    return _same_nodes(before.fabric, kinds, was, health) and all(
        _equal(*both) for both in zip(was.link_factor, health.link_factor, strict=True)
    )


def _same_racks(before: Router, health: Health) -> bool:
    """Whether GPUs and NVLink are as they were."""
    was, now = before.health.nvlink_factor, health.nvlink_factor
    return (
        _same_nodes(before.fabric, ("gpu", "nvswitch"), before.health, health)
        and was.keys() == now.keys()
        and all(_equal(own, now[rack]) for rack, own in was.items())
    )


def _same_nics(before: Router, live: Stages, *, by_rack: bool) -> bool:
    """Whether the same NICs are there as were, at whatever rate."""
    old, new = before.live, live
    return (before.nics.relay > before.nics.rails) == by_rack and all(
        _equal(was > 0, now > 0)
        for was, now in ((old.nic_up, new.nic_up), (old.nic_down, new.nic_down))
    )


def _same_nodes(fabric: Fabric, kinds: Sequence[str], was: Health, now: Health) -> bool:
    return all(_equal(was.factor(fabric, kind), now.factor(fabric, kind)) for kind in kinds)


def _equal(was: Floats | Bools | None, now: Floats | Bools | None) -> bool:
    if was is None or now is None:
        return was is now
    return was is now or np.array_equal(was, now)


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
