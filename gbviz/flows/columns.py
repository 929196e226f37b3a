"""Flows between GPUs as columns of links: what the max-min solver takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.conservation import link_load
from gbviz.routing.nvlink import NVLinkStage, nvlink_columns
from gbviz.routing.paths import paths
from gbviz.routing.rails import Legs, legs

if TYPE_CHECKING:
    from gbviz.flows.links import LinkSpace
    from gbviz.flows.router import Router
    from gbviz.routing.leaves import LeafClasses, SplitTable
    from gbviz.routing.stages import Stages
    from gbviz.topology.fabric import Bools, Floats, Ints


# A link that its NICs fill to the last bit is no limit beside them.
_ROUNDING = 1 + 1e-12


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
        (E, U) link numbers; the number of links = not used.
    weights
        (E, U) share of the flow's rate on each, or None where all are 1.
    cut
        (F,) True for a flow between live GPUs that has no way.
    gone
        (F,) True for a flow whose source or target GPU has failed.
    by_fabric
        (F,) True for a flow within one rack that NVLink no longer carries, so NICs do.
    slack
        Links that can never be a limit, since all NICs behind them together cannot fill them: they
        have loads but no columns. For each, which column (M,), link (M,) and share (M,) or None.
    """

    links: LinkSpace
    flow: Ints
    columns: Ints
    weights: Floats | None
    cut: Bools
    gone: Bools
    by_fabric: Bools
    slack: tuple[tuple[Ints | slice, Ints, Floats | None], ...]

    def load(self, rates: Floats) -> Floats:
        """(links,) load of every link under (U,) rates, links without columns included."""
        n = len(self.links.capacity)
        total = link_load(n, self.columns, self.weights, rates)
        for column, link, share in self.slack:
            amount = rates[column] if share is None else rates[column] * share
            total += np.bincount(link, amount, n + 1)[:n]
        return total


@dataclass(slots=True)
class _Leg:
    """Columns of one set of legs while they are being put together; weights None = all 1."""

    columns: list[Ints]
    weights: list[Floats | None]
    slack: list[tuple[Ints, Floats | None]]
    unused: int
    bounded: bool

    def add(
        self,
        columns: Ints,
        weights: Floats | None = None,
        used: Bools | None = None,
        *,
        tight: bool = True,
    ) -> None:
        """One column more; not one that nobody uses, nor (but for its load) one never tight."""
        if used is not None:
            if not used.any():
                return
            columns = np.where(used, columns, self.unused)
        if not tight and not self.bounded:
            self.slack.append((columns, weights))
            return
        self.columns.append(columns)
        self.weights.append(weights)


def flow_columns(by: Router, source: Ints, target: Ints, *, bounded: bool = False) -> FlowColumns:
    """Route flows between GPUs.

    Parameters
    ----------
    by
        The fabric under its health and routing mode.
    source, target
        (F,) GPU numbers within their kind; a GPU to itself crosses its NVLink out and in.
    bounded
        True where others use links too, so that any link may be a limit and needs a column.

    Notes
    -----
    One rack: NVLink. Two racks: NICs by `legs`; the NVLink steps before and after (PXN, relay)
    get columns only where they could ever be a limit: at a GPU that also ends a flow over
    NVLink, or in a rack with damaged NVLink.
    """
    live, nvlink, nics, space = by.live, by.nvlink, by.nics, by.space
    inside = source // nvlink.gpus == target // nvlink.gpus
    near = np.flatnonzero(inside)
    by_nvlink, weights, joined = nvlink_columns(nvlink, source[near], target[near])
    gone = ~(nics.live[source] & nics.live[target])
    apart = np.ones(len(source), dtype=bool)
    apart[near[joined]] = False
    apart[gone] = False
    far = np.flatnonzero(apart)
    carried = legs(nics, by.table.joined, source[far], target[far])
    leg = _Leg([], [], [], len(space.capacity), bounded)
    if by.single_path:
        seed = by.seed if by.mode == "ecmp" else None
        route = paths(by.fabric, by.health, carried.source, carried.target, seed=seed)
        _path_columns(leg, space, carried, route.links)
    else:
        _class_columns(leg, space, by.table, nics.leaf, carried)
    keep = near[joined & ~gone[near]]
    hot = _nvlink_hot(nvlink, source[keep], target[keep], live.nic_up.max(initial=0.0) * nics.rails)
    flow_source, flow_target = source[far][carried.flow], target[far][carried.flow]
    start = int(space.starts[-2])
    _nvlink_step(leg, nvlink, hot, start, flow_source, carried.source, carried.share)
    _nvlink_step(leg, nvlink, hot, start, carried.target, flow_target, carried.share)
    cut = np.zeros(len(source), dtype=bool)
    cut[far] = carried.cut
    own = np.flatnonzero(joined & ~gone[near])
    intra = by_nvlink[:, own], weights[:, own], start
    first, columns, shares = _merge(leg, carried, intra)
    of_leg: Ints | slice = slice(0, len(carried.flow))
    if carried.share is not None:
        of_leg = np.cumsum(np.diff(carried.flow, prepend=-1) > 0) - 1
    return FlowColumns(
        space,
        np.concatenate([far[carried.flow[first]], near[own]]),
        columns,
        shares,
        cut,
        gone,
        inside & apart,
        tuple((of_leg, link, share) for link, share in leg.slack),
    )


def _class_columns(
    leg: _Leg, space: LinkSpace, table: SplitTable, leaf: Ints, carried: Legs
) -> None:
    """NIC, leaf, spine, core, spine, leaf, NIC: a column for each class that could be a limit."""
    live, start, leaves = space.stages, space.starts, table.leaves
    assert live is not None
    a, b = leaf.take(carried.source), leaf.take(carried.target)
    key = table.key(a, b)
    apart = a != b
    K, E, own = live.n_classes, len(live.cores), carried.share
    leg.add(start[0] + carried.source, own)
    leg.add(start[1] + carried.target, own)
    for c in live.live_classes.tolist():
        tight = _tight_leaves(live, leaves, table.spine[c], c)
        part, used = _part(table.spine[c], key, apart, own)
        leg.add(start[2] + a * K + c, part, used, tight=tight[0])
        leg.add(start[3] + b * K + c, part, used, tight=tight[1])
    per_pod = live.shape.leaves_per_pod
    for e in range(E):
        tight = _tight_cores(live, leaves, table.core[e], e)
        part, used = _part(table.core[e], key, apart, own)
        leg.add(start[4] + a // per_pod * E + e, part, used, tight=tight[0])
        leg.add(start[5] + b // per_pod * E + e, part, used, tight=tight[1])


def _part(
    shares: Floats, key: Ints, apart: Bools, own: Floats | None
) -> tuple[Floats | None, Bools]:
    """Each leg's share on a class (None where it is all of it), and who uses it at all."""
    some = shares > 0
    used = apart if some.all() else apart & some.take(key)
    if own is None and bool((shares[some] == 1.0).all()):
        return None, used
    part = shares.take(key)
    return part if own is None else part * own, used


def _tight_leaves(live: Stages, leaves: LeafClasses, shares: Floats, k: int) -> tuple[bool, bool]:
    """Whether the NICs of any leaf could overload its links to a class of spines, up or down."""
    C = len(leaves.first)
    most = shares.reshape(C, C)
    up, down = (b[leaves.first, k] * live.spines[k] for b in (live.leaf.up, live.leaf.down))
    return (
        bool((leaves.sends * most.max(axis=1) > up * _ROUNDING).any()),
        bool((leaves.gets * most.max(axis=0) > down * _ROUNDING).any()),
    )


def _tight_cores(live: Stages, leaves: LeafClasses, shares: Floats, e: int) -> tuple[bool, bool]:
    """Whether the NICs of any pod could overload its spines' links to a class of cores."""
    C, pods = len(leaves.first), live.shape.pods
    most, pod = shares.reshape(C, C), leaves.first // live.shape.leaves_per_pod
    links = live.spines[live.core_owner[e]] * live.cores[e]
    up = np.bincount(pod, leaves.members * leaves.sends * most.max(axis=1), pods)
    down = np.bincount(pod, leaves.members * leaves.gets * most.max(axis=0), pods)
    return (
        bool((up > live.core.up[:, e] * links * _ROUNDING).any()),
        bool((down > live.core.down[:, e] * links * _ROUNDING).any()),
    )


def _path_columns(leg: _Leg, space: LinkSpace, carried: Legs, links: Ints) -> None:
    first, own = space.fabric.tiers[0].first, carried.share
    leg.add(space.starts[0] + carried.source, own)
    leg.add(space.starts[1] + carried.target, own)
    for hop in links:
        leg.add(hop - first, own, hop >= 0)


def _nvlink_hot(stage: NVLinkStage, source: Ints, target: Ints, nics: float) -> tuple[Bools, Bools]:
    """GPUs whose NVLink out, or in, could be a limit for traffic on its way to or from a NIC."""
    gpus = len(stage.slot) * stage.gpus
    tight = stage.capacity[0] < 2 * nics
    out, into = np.full(gpus, tight), np.full(gpus, tight)
    out[source], into[target] = True, True
    hurt = np.repeat(stage.slot >= 0, stage.gpus)
    return out | hurt, into | hurt


def _nvlink_step(
    leg: _Leg,
    stage: NVLinkStage,
    hot: tuple[Bools, Bools],
    start: int,
    source: Ints,
    target: Ints,
    share: Floats | None,
) -> None:
    """Columns for the NVLink step between two GPUs of a tray, where it could be a limit."""
    out, into = hot[0].take(source), hot[1].take(target)
    need = np.flatnonzero((source != target) & (out | into))
    if not len(need):
        return
    columns, weights, _ = nvlink_columns(stage, source[need], target[need])
    half = len(columns) // 2
    whole = share is None and stage.n_classes == 1
    for number, (column, weight) in enumerate(zip(columns, weights, strict=True)):
        wanted = (out if number < half else into)[need] & (column >= 0)
        full = np.full(len(source), leg.unused)
        full[need[wanted]] = start + column[wanted]
        part = None if whole else np.zeros(len(source))
        if part is not None:
            part[need] = weight if share is None else weight * share[need]
        if wanted.any():
            leg.add(full, part)


def _merge(
    leg: _Leg, carried: Legs, intra: tuple[Ints, Floats, int]
) -> tuple[Ints | slice, Ints, Floats | None]:
    """Leg columns (M,) and those of flows over NVLink as the columns of flows.

    Several legs of a flow come one below the other. Also returns the first leg of each flow.
    """
    flow, deep = carried.flow, 1
    first: Ints | slice = slice(0, len(flow))
    if carried.share is not None:
        first = np.flatnonzero(np.diff(flow, prepend=-1) > 0)
        rank = np.arange(len(flow)) - np.repeat(first, np.diff(first, append=len(flow)))
        place = np.cumsum(rank == 0) - 1
        deep = int(rank.max(initial=0)) + 1
    columns, weights, start = intra
    used = (columns >= 0).any(axis=1)
    columns, weights = columns[used], weights[used]
    M = len(flow) if deep == 1 else len(place) and int(place[-1]) + 1
    E = max(deep * len(leg.columns), len(columns))
    out = np.full((E, M + columns.shape[1]), leg.unused)
    out[: len(columns), M:] = np.where(columns >= 0, start + columns, leg.unused)
    plain = all(weight is None for weight in leg.weights) and bool((weights == 1.0).all())
    shares = None if plain else np.zeros(out.shape)
    if shares is not None:
        shares[: len(columns), M:] = weights
    for depth in range(deep):
        own: Ints | slice = slice(None) if deep == 1 else np.flatnonzero(rank == depth)
        at: Ints | slice = slice(0, M) if deep == 1 else place[own]
        for e, (column, weight) in enumerate(zip(leg.columns, leg.weights, strict=True)):
            row = depth * len(leg.columns) + e
            out[row, at] = column[own]
            if shares is not None:
                shares[row, at] = 1.0 if weight is None else weight[own]
    return first, out, shares
