"""The racks that faults hit, those that are hit alike taken together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.report.words import counted, listed

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.topology.fabric import Floats

# What stands in a rack and can be seen in a picture of it.
_KINDS = ("gpu", "nic", "cpu", "tray", "nvtray", "nvswitch", "feed", "shelf")
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class HitRacks:
    """Racks of which the same is left.

    Parameters
    ----------
    racks
        Their numbers, ascending.
    off
        Whether nothing in them runs.
    """

    racks: tuple[int, ...]
    off: bool

    def words(self) -> str:
        """Which racks, those after the first few as a number.

        Examples
        --------
        >>> HitRacks((5,), off=False).words(), HitRacks((5, 6, 9), off=True).words()
        ('No other rack is hit like rack-5.',
         'Hit alike: rack-5, rack-6 and rack-9. Nothing runs in them.')
        """
        named = [f"rack-{number}" for number in self.racks[:_MOST_NAMED]]
        more = len(self.racks) - _MOST_NAMED
        named += [counted(more, "more rack")] if more > 0 else []
        alone = len(named) == 1
        said = f"No other rack is hit like {named[0]}." if alone else f"Hit alike: {listed(named)}."
        return said + (f" Nothing runs in {'it' if alone else 'them'}." if self.off else "")


def hit_racks(snapshot: Snapshot) -> list[HitRacks]:
    """Racks in which something has failed, is slow or has lost NVLink, worst kind of damage first.

    Racks that are wholly off come last: there is little to see in them. Racks are alike where as
    many parts of each kind are left, their clocks are the same, and the same NVLink is.

    Examples
    --------
    >>> import gbviz
    >>> scenario = gbviz.preset("gb300-su").with_faults("rack-[1-2]/nvswitch-4", "rack-6")
    >>> [(one.racks, one.off) for one in hit_racks(gbviz.evaluate(scenario))]
    [((1, 2), False), ((6,), True)]
    """
    left = _left(snapshot)
    hit = np.flatnonzero((left < left.max(axis=0)).any(axis=1) | (left[:, -2:] < 1).any(axis=1))
    groups: dict[tuple[float, ...], list[int]] = {}
    for rack in hit.tolist():
        groups.setdefault(tuple(left[rack].tolist()), []).append(rack)
    found = [(key, HitRacks(tuple(racks), off=key[0] == 0)) for key, racks in groups.items()]
    found.sort(key=lambda one: (one[1].off, one[0], one[1].racks))
    return [one for _, one in found]


def _left(snapshot: Snapshot) -> Floats:
    """(R, n) of each rack: GPUs that run, parts of each kind, mean clock, share of NVLink."""
    fabric, health, racks = snapshot.fabric, snapshot.health, snapshot.fabric.count("rack")
    clock = snapshot.thermal.clock.reshape(racks, -1)
    whole = [
        health.factor(fabric, kind).reshape(racks, -1).sum(axis=1)
        for kind in _KINDS
        if fabric.count(kind) and fabric.count(kind) % racks == 0
    ]
    nvlink = np.ones(racks)
    for rack in health.damaged_nvlink(fabric).tolist():
        room = health.nvlink_capacity(fabric, rack)
        nvlink[rack] = room.sum() / (room.size * fabric.nvlink.link_GBps if fabric.nvlink else 1)
    runs, mean = (clock > 0).sum(axis=1), np.round(clock.mean(axis=1), 6)
    return np.column_stack([runs, *whole, _sent(snapshot), mean, nvlink])


def _sent(snapshot: Snapshot) -> Floats:
    """(R,) GB/s that the NICs of each rack can send: a dead leaf leaves them whole, and useless."""
    fabric, racks = snapshot.fabric, snapshot.fabric.count("rack")
    nics = fabric.nodes("nic")
    if not fabric.tiers or nics.stop == nics.start:
        return np.zeros(racks)
    rack = (fabric.tiers[0].lower - nics.start) * racks // (nics.stop - nics.start)
    room = snapshot.health.capacity(fabric, 0)[0]
    sent: Floats = np.bincount(rack, room, racks).astype(np.float64)
    return sent
