"""NVLink as a limit of the exchange: only GPUs with few links left can be one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbviz.routing.nvlink import NVLinkStage, nvlink_columns, tray_pairs
from gbviz.routing.rails import Legs, legs

if TYPE_CHECKING:
    from gbviz.routing.rails import Connected, Rails
    from gbviz.topology.fabric import Bools, Floats, Ints


def nvlink_loads(
    stage: NVLinkStage, nics: Rails, connected: Connected, port: float
) -> tuple[Floats, Floats] | None:
    """Bytes that the exchange puts on NVLink in racks where that could be its limit.

    Parameters
    ----------
    stage
        NVLink of a cluster under its health.
    nics
        What each GPU can use.
    connected
        Of two arrays of leaves, where live cables lead from one to the other.
    port
        Rate of the fastest NIC, GB/s.

    Returns
    -------
    (load, capacity) or None
        By the class links of `stage`; None where NVLink cannot be a limit.

    Notes
    -----
    At the rate of the NICs a GPU moves at most R + 1 NICs' worth over NVLink each way. Where every
    two GPUs of a tray still have that much between them, no link of theirs fills before a NIC does.
    In other racks every flow in and out is routed: a tenth of a second a rack at 4,608 GPUs.
    """
    slots = np.flatnonzero(_short(stage, nics.rails, (nics.rails + 1) * port))
    if not len(slots):
        return None
    racks = np.flatnonzero(np.isin(stage.slot, slots))
    gpus = np.flatnonzero(nics.live)
    load = np.zeros(len(stage.capacity))
    for rack in racks.tolist():
        inside = gpus // stage.gpus == rack
        own, rest = gpus[inside], gpus[~inside]
        for source, target in ((own, rest), (rest, own)):
            start, end = np.repeat(source, len(target)), np.tile(target, len(source))
            carried = legs(nics, connected, start, end)
            _add(load, stage, carried, start[carried.flow], carried.source, rack)
            _add(load, stage, carried, carried.target, end[carried.flow], rack)
    return load, stage.capacity


def _short(stage: NVLinkStage, R: int, enough: float) -> Bools:
    """(D,) damaged racks where two GPUs of a tray have some NVLink between them, but little."""
    between = tray_pairs(stage, R)
    apart = ~np.eye(R, dtype=bool)
    few = (between > 0) & (between < enough) & apart
    return np.asarray(few.any(axis=(1, 2, 3)))


def _add(
    load: Floats, stage: NVLinkStage, carried: Legs, source: Ints, target: Ints, rack: int
) -> None:
    """Count the NVLink steps between two GPUs of a tray of one rack."""
    here = np.flatnonzero((source != target) & (source // stage.gpus == rack))
    if not len(here):
        return
    share = 1.0 if carried.share is None else carried.share[here]
    n = stage.gpus
    pairs = source[here] % n * n + target[here] % n
    amount = np.bincount(pairs, np.broadcast_to(share, pairs.shape), n * n)
    used = np.flatnonzero(amount)
    columns, weights, _ = nvlink_columns(stage, rack * n + used // n, rack * n + used % n)
    for column, weight in zip(columns, weights, strict=True):
        on = column >= 0
        load += np.bincount(column[on], (amount[used] * weight)[on], len(load))
