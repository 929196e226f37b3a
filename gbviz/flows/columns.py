"""Flows between GPUs as columns of links: what the max-min solver takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.above import Above
from gbviz.flows.conservation import link_load
from gbviz.flows.pieces import Pieces, assemble
from gbviz.routing.nvlink import NVLinkStage, nvlink_columns
from gbviz.routing.paths import paths
from gbviz.routing.rails import legs

if TYPE_CHECKING:
    from gbviz.flows.links import LinkSpace
    from gbviz.flows.pieces import Entries
    from gbviz.flows.router import Router
    from gbviz.topology.fabric import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class FlowColumns:
    """F flows on the links of a `LinkSpace`.

    Parameters
    ----------
    links
        What the numbers in `columns` mean.
    flow
        (U,) which flow each column is; a flow that is not here has no way, or a failed end.
    columns
        Blocks (E, U) of link numbers; the number of links = not used. First the flows that have
        just one way in and one out, then those with more links, so that these few do not make
        the columns of all others as long.
    weights
        For each block (E, U) share of the flow's rate on each, or None where all are 1.
    cut
        (F,) True for a flow between live GPUs that has no way.
    gone
        (F,) True for a flow whose source or target GPU has failed.
    by_fabric
        (F,) True for a flow within one rack that NVLink no longer carries, so NICs do.
    pieces
        What the columns were put together from.
    leg_column
        (M,) column of each leg between NICs.
    above
        What legs put on the links above their leaves, None where each flow has one path. These
        links have loads, but columns only where they turn out to be a limit (`with_limits`).
    """

    links: LinkSpace
    flow: Ints
    columns: list[Ints]
    weights: list[Floats | None]
    cut: Bools
    gone: Bools
    by_fabric: Bools
    pieces: Pieces
    leg_column: Ints
    above: Above | None

    def load(self, rates: Floats) -> Floats:
        """(links,) load of every link under (U,) rates, links without columns included."""
        total = link_load(len(self.links.capacity), self.columns, self.weights, rates)
        if self.above is not None:
            start = self.links.starts
            total[start[2] : start[6]] = self.above.load(self.leg_amounts(rates))
        return total

    def leg_amounts(self, rates: Floats) -> Floats:
        """(M,) what each leg between NICs carries under (U,) rates."""
        amounts = rates.take(self.leg_column)
        if self.pieces.share is not None:
            amounts *= self.pieces.share
        return amounts

    def with_limits(self, limits: Bools) -> FlowColumns:
        """The same flows with entries also for some of the links above the leaves.

        `limits` tells which, from the first leaf up link to the last spine down link. Columns may
        come in another order.
        """
        assert self.above is not None
        start = int(self.links.starts[2])
        more, share = list(self.pieces.more), self.pieces.share
        for leg, link, part in self.above.entries(limits):
            more.append((leg, start + link, part if share is None else part * share.take(leg)))
        pieces = replace(self.pieces, more=more)
        flow, columns, weights, leg_column = assemble(pieces)
        return replace(
            self,
            flow=flow,
            columns=columns,
            weights=weights,
            pieces=pieces,
            leg_column=leg_column,
        )


def flow_columns(by: Router, source: Ints, target: Ints) -> FlowColumns:
    """Route flows between GPUs.

    Parameters
    ----------
    by
        The fabric under its health and routing mode.
    source, target
        (F,) GPU numbers within their kind; a GPU to itself crosses its NVLink out and in.

    Notes
    -----
    One rack: NVLink. Two racks: NICs by `legs`; the NVLink steps before and after (PXN, relay)
    get columns only where they could ever be a limit: at a GPU that also ends a flow over
    NVLink, or in a rack with damaged NVLink. Links above leaves get none yet: where traffic
    spreads, NICs are nearly always the limit (`gbviz.flows.rates.fill`).
    """
    nvlink, nics, space = by.nvlink, by.nics, by.space
    inside = source // nvlink.gpus == target // nvlink.gpus
    near = np.flatnonzero(inside)
    by_nvlink, weights, joined = nvlink_columns(nvlink, source[near], target[near])
    gone = ~(nics.live.take(source) & nics.live.take(target))
    apart = ~inside
    apart[near[~joined]] = True
    apart &= ~gone
    far = np.flatnonzero(apart)
    carried = legs(nics, by.table.joined, source.take(far), target.take(far))
    rows, above = [space.starts[0] + carried.source, space.starts[1] + carried.target], None
    unused = len(space.capacity)
    if by.single_path:
        seed = by.seed if by.mode == "ecmp" else None
        route = paths(by.fabric, by.health, carried.source, carried.target, seed=seed)
        first = by.fabric.tiers[0].first
        rows += [np.where(hop >= 0, hop - first, unused) for hop in route.links]
    else:
        leaf = nics.leaf
        above = Above(by.live, by.table, leaf.take(carried.source), leaf.take(carried.target))
    kept = np.flatnonzero(joined & ~gone[near])
    near, by_nvlink = near[kept], by_nvlink[:, kept]
    strongest = by.live.nic_up.max(initial=0.0) * nics.rails
    hot = _nvlink_hot(nvlink, source[near], target[near], strongest)
    owner, start = far.take(carried.flow), int(space.starts[-2])
    before = _nvlink_step(space, hot, source.take(owner), carried.source, carried.share)
    after = _nvlink_step(space, hot, carried.target, target.take(owner), carried.share)
    pieces = Pieces(
        len(source),
        unused,
        np.stack(rows),
        owner,
        carried.share,
        near,
        np.where(by_nvlink >= 0, start + by_nvlink, unused),
        weights[:, kept],
        before + after,
    )
    flow, columns, shares, leg_column = assemble(pieces)
    cut = np.zeros(len(source), dtype=bool)
    cut[far] = carried.cut
    return FlowColumns(
        space, flow, columns, shares, cut, gone, inside & apart, pieces, leg_column, above
    )


def _nvlink_hot(stage: NVLinkStage, source: Ints, target: Ints, nics: float) -> tuple[Bools, Bools]:
    """GPUs whose NVLink out, or in, could be a limit for traffic on its way to or from a NIC."""
    gpus = len(stage.slot) * stage.gpus
    tight = stage.capacity[0] < 2 * nics
    out, into = np.full(gpus, tight), np.full(gpus, tight)
    out[source], into[target] = True, True
    if len(stage.share):
        hurt = np.repeat(stage.slot >= 0, stage.gpus)
        out |= hurt
        into |= hurt
    return out, into


def _nvlink_step(
    space: LinkSpace,
    hot: tuple[Bools, Bools],
    source: Ints,
    target: Ints,
    share: Floats | None,
) -> list[Entries]:
    """Entries for the NVLink step between two GPUs of a tray, where it could be a limit."""
    moved = np.flatnonzero(source != target)
    source, target = source.take(moved), target.take(moved)
    out, into = hot[0].take(source), hot[1].take(target)
    need = np.flatnonzero(out | into)
    if not len(need):
        return []
    stage, found = space.nvlink, []
    columns, weights, _ = nvlink_columns(stage, source[need], target[need])
    half = len(columns) // 2
    for number, (column, weight) in enumerate(zip(columns, weights, strict=True)):
        wanted = (out if number < half else into)[need] & (column >= 0)
        leg, part = moved[need[wanted]], weight[wanted]
        link = space.starts[-2] + column[wanted]
        found.append((leg, link, part if share is None else part * share[leg]))
    return found
