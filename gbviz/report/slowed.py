"""What cooling units and power feeds that fail do to racks: slow them down, or shut them down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.report.places import gpus_of, part_named
from gbviz.report.words import counted, listed, percent

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.topology.fabric import Bools

_POWER = ("feed", "shelf")
_KINDS = ("hxu", "cdu", "loop", *_POWER)
_SAME = 1e-9
_MOST_NAMED = 3


def slow_words(snapshot: Snapshot, name: str) -> str:
    """What the racks that a cooling unit or power feed serves suffer now, "" for nothing.

    Examples
    --------
    >>> import gbviz
    >>> found = gbviz.evaluate(gbviz.preset("gb300-cdu").with_faults("cdu-0", "cdu-1"))
    >>> slow_words(found, "cdu-1")
    '32 racks slowed to 72.49 % (together with cdu-0)'
    >>> slow_words(gbviz.evaluate(gbviz.preset("gb300-su").with_faults("hxu-3")), "hxu-3")
    'rack-3 shut down'
    """
    try:
        part = part_named(snapshot.fabric, name)
    except InputError:
        return ""
    gpus, fabric, thermal = gpus_of(snapshot.fabric, part), snapshot.fabric, snapshot.thermal
    if part.kind not in _KINDS or thermal.absent or gpus.start >= gpus.stop:
        return ""
    each = fabric.count("gpu") // fabric.count("rack")
    racks = slice(gpus.start // each, gpus.stop // each)
    off = np.flatnonzero(_shut_down(snapshot, part.kind)[racks]) + racks.start
    clock = thermal.clock[gpus].reshape(-1, each)
    whole = snapshot.health.node_factor[fabric.nodes("gpu")][gpus].reshape(-1, each)
    slow = ((clock > 0) & (clock < whole - _SAME)).any(axis=1)
    held = np.flatnonzero(slow) + racks.start
    said = (
        [f"{_racks(held.tolist())} slowed to {percent(_least(clock[slow]))}"] if len(held) else []
    )
    said += [f"{_racks(off.tolist())} shut down"] if len(off) else []
    if not said:
        return ""
    others = _others(snapshot, name, part.kind, gpus)
    if len(others) > _MOST_NAMED:
        others = [*others[: _MOST_NAMED - 1], f"{len(others) - _MOST_NAMED + 1} more"]
    return listed(said) + (f" (together with {listed(others)})" if others else "")


def _shut_down(snapshot: Snapshot, kind: str) -> Bools:
    """(R,) racks that are down because of cooling, or because of power, as that part is of."""
    found: Bools = np.zeros(snapshot.fabric.count("rack"), dtype=bool)
    kinds = {fault.component: fault.part for fault in snapshot.faults if fault.because is None}
    first = snapshot.fabric.nodes("rack").start
    for fault in snapshot.faults:
        if fault.part == "rack" and fault.because is not None:
            power = kinds.get(fault.because, kind) in _POWER
            found[fault.nodes[0] - first] = power == (kind in _POWER)
    return found


def _others(snapshot: Snapshot, name: str, kind: str, gpus: slice) -> list[str]:
    """What else of cooling, or of power, is broken that serves some of the same racks.

    Which of them does it is not told: they do it together.
    """
    found = []
    for fault in snapshot.faults:
        alike = fault.part in _KINDS and (fault.part in _POWER) == (kind in _POWER)
        if alike and fault.component != name:
            own = gpus_of(snapshot.fabric, part_named(snapshot.fabric, fault.component))
            if max(own.start, gpus.start) < min(own.stop, gpus.stop):
                found.append(fault.component)
    return found


def _least(clock: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    return float(clock[clock > 0].min())


def _racks(numbers: list[int]) -> str:
    return f"rack-{numbers[0]}" if len(numbers) == 1 else counted(len(numbers), "rack")
