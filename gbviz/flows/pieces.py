"""Columns of flows, put together from their legs, their NVLink, and links that few of them use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from gbviz.topology.fabric import Floats, Ints

# Single entries: which leg (X,), its link (X,), and the share of the flow's rate there (X,).
Entries: TypeAlias = "tuple[Ints, Ints, Floats]"


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """What the columns of F flows are made of; the link number `unused` means none.

    Parameters
    ----------
    n_flows, unused
        F, and the number of links.
    rows, owner, share
        Of M legs between NICs: links (R, M) that all of the leg crosses, flow (M,), and share (M,)
        of the flow's rate, None where no flow has several legs.
    near, inner, inner_share
        Of P flows over NVLink: flow (P,), links out and in (2 k, P), and shares on them.
    more
        Links that only some legs cross.
    """

    n_flows: int
    unused: int
    rows: Ints
    owner: Ints
    share: Floats | None
    near: Ints
    inner: Ints
    inner_share: Floats
    more: list[Entries]


def assemble(pieces: Pieces) -> tuple[Ints, list[Ints], list[Floats | None], Ints]:
    """Flow of each column, columns and weights in blocks, and column of each leg.

    Flows with one leg, or one class of NVLink links, and no entries of their own make the first
    block, all others the second.
    """
    wide = np.zeros(pieces.n_flows, dtype=bool)
    if pieces.share is not None:
        wide[pieces.owner[pieces.share != 1.0]] = True
    for leg, _, _ in pieces.more:
        wide[pieces.owner[leg]] = True
    half = len(pieces.inner) // 2
    split = (pieces.inner_share[::half] != 1.0).any(axis=0)
    wide[pieces.near[split]] = True
    of_wide = wide.take(pieces.owner)
    narrow = np.flatnonzero(~of_wide)
    within = np.flatnonzero(~split)
    first = np.full((len(pieces.rows), len(narrow) + len(within)), pieces.unused)
    pieces.rows.take(narrow, axis=1, out=first[:, : len(narrow)])
    first[:2, len(narrow) :] = pieces.inner[::half, within]
    many = np.flatnonzero(wide)
    flow = np.concatenate([pieces.owner.take(narrow), pieces.near.take(within), many])
    column = np.empty(pieces.n_flows, dtype=np.int64)
    column[flow] = np.arange(len(flow))
    columns: list[Ints] = [first]
    weights: list[Floats | None] = [None]
    if len(many):
        number, link, share = _entries(pieces, np.flatnonzero(of_wide), np.flatnonzero(split))
        links, shares = _packed(column.take(number) - first.shape[1], link, share, pieces.unused)
        columns.append(links)
        weights.append(shares)
    return flow, columns, weights, column.take(pieces.owner)


def _entries(pieces: Pieces, legs: Ints, inner: Ints) -> Entries:
    """All entries of some legs and of some flows over NVLink, by flow."""
    flow = pieces.owner.take(legs)
    share = np.ones(len(legs)) if pieces.share is None else pieces.share.take(legs)
    found = [(flow, row.take(legs), share) for row in pieces.rows]
    found += [(pieces.owner.take(leg), link, part) for leg, link, part in pieces.more]
    if len(inner):
        flow = pieces.near.take(inner)
        for row, part in zip(pieces.inner, pieces.inner_share, strict=True):
            found.append((flow, row.take(inner), part.take(inner)))
    flow, link, part = (np.concatenate(some) for some in zip(*found, strict=True))
    used = np.flatnonzero(link < pieces.unused)
    return flow.take(used), link.take(used), part.take(used)


def _packed(number: Ints, link: Ints, share: Floats, unused: int) -> tuple[Ints, Floats | None]:
    """Entries of columns 0, 1, ... one below the other; shares None where all are 1."""
    order = np.argsort(number, kind="stable")
    number = number.take(order)
    deep = np.bincount(number)
    rank = np.arange(len(number)) - (np.cumsum(deep) - deep).take(number)
    columns = np.full((int(deep.max()), len(deep)), unused)
    columns[rank, number] = link.take(order)
    if (share == 1.0).all():
        return columns, None
    shares = np.ones(columns.shape)
    shares[rank, number] = share.take(order)
    return columns, shares
