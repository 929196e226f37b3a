"""Flows between GPUs as columns of links: what the max-min solver takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.links import LinkSpace, cable_links, class_links
from gbviz.routing.nvlink import NVLinkStage, nvlink_columns, nvlink_stage
from gbviz.routing.paths import paths
from gbviz.routing.rails import Legs, legs, rails
from gbviz.routing.shares import connected, split
from gbviz.routing.stages import Stages, stages

if TYPE_CHECKING:
    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health


@dataclass(frozen=True, slots=True, eq=False)
class FlowColumns:
    """F flows on the links of a `LinkSpace`.

    Parameters
    ----------
    links
        What the numbers in `columns` mean.
    columns
        (E, F) link numbers; the number of links = not used.
    weights
        (E, F) share of the flow's rate on each, or None where all are 1.
    cut
        (F,) True for a flow between live GPUs that has no way.
    gone
        (F,) True for a flow whose source or target GPU has failed.
    by_fabric
        (F,) True for a flow within one rack that NVLink no longer carries, so NICs do.
    """

    links: LinkSpace
    columns: Ints
    weights: Floats | None
    cut: Bools
    gone: Bools
    by_fabric: Bools


@dataclass(slots=True)
class _Leg:
    """Columns of one set of legs while they are being put together."""

    columns: list[Ints]
    weights: list[Floats]
    links: int

    def add(self, columns: Ints, weights: Floats | float) -> None:
        """One column more, -1 = not used; a column that nobody uses is left out."""
        if (columns >= 0).any():
            self.columns.append(np.where(columns >= 0, columns, self.links))
            self.weights.append(np.broadcast_to(weights, columns.shape))


def flow_columns(
    fabric: Fabric, health: Health, mode: Mode, seed: int, source: Ints, target: Ints
) -> FlowColumns:
    """Route flows between GPUs under a health and a mode.

    Parameters
    ----------
    fabric
        A built cluster.
    health
        Its health.
    mode, seed
        Routing mode; the seed of `ecmp`'s hash.
    source, target
        (F,) GPU numbers within their kind; a GPU to itself needs no link at all.

    Notes
    -----
    One rack: NVLink. Two racks: NICs by `legs`; the NVLink steps before and after (PXN, relay)
    get columns only where they could ever be a limit: at a GPU that also ends a flow over
    NVLink, or in a rack with damaged NVLink.
    """
    live = stages(fabric, health, mode)
    nvlink = nvlink_stage(fabric, health)
    single = mode in ("ecmp", "static")
    space = (
        cable_links(fabric, health, nvlink) if single else class_links(fabric, health, live, nvlink)
    )
    nics = rails(fabric, health, live.nic_up, live.nic_down)
    inside = source // nvlink.gpus == target // nvlink.gpus
    near = np.flatnonzero(inside)
    by_nvlink, weights, joined = nvlink_columns(nvlink, source[near], target[near])
    gone = ~(nics.live[source] & nics.live[target])
    apart = np.ones(len(source), dtype=bool)
    apart[near[joined]] = False
    apart[gone] = False
    far = np.flatnonzero(apart)
    carried = legs(nics, lambda a, b: connected(live, a, b), source[far], target[far])
    leg = _Leg([], [], len(space.capacity))
    if single:
        route = paths(
            fabric, health, carried.source, carried.target, seed=seed if mode == "ecmp" else None
        )
        _path_columns(leg, space, carried, route.links)
    else:
        _class_columns(leg, space, live, nics.leaf, carried)
    keep = near[joined & ~gone[near]]
    hot = _nvlink_hot(nvlink, source[keep], target[keep], live.nic_up.max(initial=0.0) * nics.rails)
    flow_source, flow_target = source[far][carried.flow], target[far][carried.flow]
    start = int(space.starts[-2])
    _nvlink_step(leg, nvlink, hot, start, flow_source, carried.source, carried.share)
    _nvlink_step(leg, nvlink, hot, start, carried.target, flow_target, carried.share)
    cut = np.zeros(len(source), dtype=bool)
    cut[far] = carried.cut
    columns, shares = _merge(leg, carried.flow, far, len(source))
    own = joined & ~gone[near]
    return _with_nvlink(
        FlowColumns(space, columns, shares, cut, gone, inside & apart),
        near[own],
        np.where(by_nvlink[:, own] >= 0, start + by_nvlink[:, own], len(space.capacity)),
        weights[:, own],
    )


def _class_columns(leg: _Leg, space: LinkSpace, live: Stages, leaf: Ints, carried: Legs) -> None:
    """NIC, leaf, spine, core, spine, leaf, NIC: a column for each class that carries any."""
    a, b = leaf[carried.source], leaf[carried.target]
    shares = split(live, a, b)
    K, E, start = live.n_classes, len(live.cores), space.starts
    leg.add(start[0] + carried.source, carried.share)
    leg.add(start[1] + carried.target, carried.share)
    for c in range(K):
        part, used = shares.spine[c] * carried.share, shares.spine[c] > 0
        leg.add(np.where(used, start[2] + a * K + c, -1), part)
        leg.add(np.where(used, start[3] + b * K + c, -1), part)
    per_pod = live.shape.leaves_per_pod
    for e in range(E):
        part, used = shares.core[e] * carried.share, shares.core[e] > 0
        leg.add(np.where(used, start[4] + a // per_pod * E + e, -1), part)
        leg.add(np.where(used, start[5] + b // per_pod * E + e, -1), part)


def _path_columns(leg: _Leg, space: LinkSpace, carried: Legs, links: Ints) -> None:
    first = space.fabric.tiers[0].first
    leg.add(space.starts[0] + carried.source, carried.share)
    leg.add(space.starts[1] + carried.target, carried.share)
    for hop in links:
        leg.add(np.where(hop >= 0, hop - first, -1), carried.share)


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
    share: Floats,
) -> None:
    """Columns for the NVLink step between two GPUs of a tray, where it could be a limit."""
    moved = source != target
    need = np.flatnonzero(moved & (hot[0][source] | hot[1][target]))
    if not len(need):
        return
    columns, weights, _ = nvlink_columns(stage, source[need], target[need])
    half = len(columns) // 2
    for number, (column, weight) in enumerate(zip(columns, weights, strict=True)):
        wanted = hot[0][source[need]] if number < half else hot[1][target[need]]
        full, part = np.full(len(source), -1), np.zeros(len(source))
        full[need] = np.where(wanted & (column >= 0), start + column, -1)
        part[need] = weight * share[need]
        leg.add(full, part)


def _merge(leg: _Leg, flow: Ints, far: Ints, F: int) -> tuple[Ints, Floats | None]:
    """Leg columns (E, M) as flow columns; several legs of a flow come one below the other."""
    if not leg.columns:
        return np.full((0, F), leg.links), None
    columns, weights = np.stack(leg.columns), np.stack(leg.weights)
    rank = np.arange(len(flow)) - np.searchsorted(flow, flow)
    deep, E = int(rank.max(initial=0)) + 1, len(columns)
    plain = deep == 1 and bool(((weights == 1.0) | (columns == leg.links)).all())
    out = np.full((deep * E, F), leg.links)
    shares = np.zeros((0 if plain else deep * E, F))
    for depth in range(deep):
        own = rank == depth
        out[depth * E : (depth + 1) * E, far[flow[own]]] = columns[:, own]
        if not plain:
            shares[depth * E : (depth + 1) * E, far[flow[own]]] = weights[:, own]
    return out, None if plain else shares


def _with_nvlink(flows: FlowColumns, at: Ints, columns: Ints, weights: Floats) -> FlowColumns:
    """The same flows with those of one rack put on NVLink."""
    used = (columns < len(flows.links.capacity)).any(axis=1)
    columns, weights = columns[used], weights[used]
    missing = max(len(columns) - len(flows.columns), 0)
    fill = np.full((missing, flows.columns.shape[1]), len(flows.links.capacity))
    merged = np.concatenate([flows.columns, fill])
    merged[: len(columns), at] = columns
    shares = flows.weights
    if shares is None and not (weights == 1.0).all():
        shares = np.ones(flows.columns.shape)
    if shares is not None:
        shares = np.concatenate([shares, np.zeros(fill.shape)])
        shares[: len(columns), at] = weights
    return FlowColumns(flows.links, merged, shares, flows.cut, flows.gone, flows.by_fabric)
