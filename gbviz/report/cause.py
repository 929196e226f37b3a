"""Why a component is not what it should be: its state, and the way to the fault behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from gbviz.faults.containment import containers
from gbviz.report.places import gpus_of, part_named

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.faults import Fault
    from gbviz.topology.fabric import Fabric
    from gbviz.topology.selectors import Part

State = Literal["failed", "down", "degraded", "slow", "in part", "up"]


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of a component.

    Parameters
    ----------
    state
        `failed` by a fault of its own, `down` with something else, `degraded` by a fault of its
        own, `slow` for want of cooling or power, `in part` where parts of it are down, or `up`.
    factor
        What is left of it: 0 to 1; the slowest clock of its GPUs where it is slow.
    cause
        The component whose fault is behind it, "" for none or for its own.
    lost, total
        GPUs, or links, of it that are down, and how many it has.
    """

    state: State
    factor: float = 1.0
    cause: str = ""
    lost: int = 0
    total: int = 0


def condition(snapshot: Snapshot, name: str) -> Condition:
    """The state of a component and what is behind it.

    Examples
    --------
    >>> import gbviz
    >>> found = gbviz.evaluate(gbviz.preset("azure-gb300").with_faults("hxu-9", "spine-3"))
    >>> condition(found, "rack-9/tray-0/gpu-1")
    Condition(state='down', factor=0.0, cause='hxu-9', lost=0, total=0)
    >>> condition(found, "leaf-0~spine-3#1").cause
    'spine-3'
    """
    part = part_named(snapshot.fabric, name)
    return _of_links(snapshot, part) if part.links else _of_node(snapshot, part)


def _of_node(snapshot: Snapshot, part: Part) -> Condition:
    node, health = part.nodes[0], snapshot.health
    factor, number = float(health.node_factor[node]), int(health.node_cause[node])
    if factor < 1:
        fault = snapshot.faults[number] if number >= 0 else None
        own = fault is not None and fault.component == part.component and fault.because is None
        if own:
            return Condition("failed" if factor == 0 else "degraded", factor)
        cause = "" if fault is None else fault.because or fault.component
        return Condition("down", factor, cause)
    return _inside(snapshot, part) or Condition("up")


def _inside(snapshot: Snapshot, part: Part) -> Condition | None:
    """What is wrong inside a whole component, None for nothing."""
    gpus = gpus_of(snapshot.fabric, part)
    if part.kind not in ("rack", "tray", "gpu", "loop", "hxu", "cdu", "feed", "shelf"):
        return None
    clock = snapshot.thermal.clock[gpus]
    total, live = len(clock), clock > 0
    lost = total - int(live.sum())
    slowest = float(clock[live].min()) if lost < total else 0.0
    if part.kind in ("feed", "shelf", "hxu", "cdu") and not lost:
        return None  # It works itself; its racks say whether that is enough.
    first = snapshot.fabric.nodes("gpu").start + gpus.start
    if lost:
        at = first + int(np.flatnonzero(~live)[0])
        return Condition("in part", lost=lost, total=total, cause=_cause_of(snapshot, at))
    if slowest < 1:
        at = first + int(clock.argmin())
        cause = _cause_of(snapshot, at) or shortage(snapshot, gpus.start)
        return Condition("slow", slowest, cause)
    return None


def _cause_of(snapshot: Snapshot, node: int) -> str:
    """The component whose fault took a node down, "" where none did."""
    number = int(snapshot.health.node_cause[node]) if node >= 0 else -1
    if number < 0:
        return ""
    fault = snapshot.faults[number]
    return fault.because or fault.component


def shortage(snapshot: Snapshot, gpu: int) -> str:
    """The first of `shortages`, "" where there is none."""
    return next(iter(shortages(snapshot, gpu)), "")


def shortages(snapshot: Snapshot, gpu: int) -> list[str]:
    """The faulty cooling units of a GPU's loop, else what is faulty of its rack's power.

    Examples
    --------
    >>> import gbviz
    >>> shortages(gbviz.evaluate(gbviz.preset("gb300-cdu").with_faults("cdu-0", "cdu-1")), 5)
    ['cdu-0', 'cdu-1']
    """
    fabric, health = snapshot.fabric, snapshot.health
    if fabric.spec is None or not fabric.count("loop"):
        return []
    rack = gpu * fabric.count("rack") // fabric.count("gpu")
    cooling = fabric.spec.cooling
    for kind, owner in ((cooling.kind, rack // cooling.racks_in_loop), ("shelf", rack)):
        owners = fabric.count("loop") if kind == cooling.kind else fabric.count("rack")
        each = fabric.count(kind) // owners
        nodes = fabric.nodes(kind).start + owner * each + np.arange(each)
        hurt = nodes[health.node_factor[nodes] < 1]
        if len(hurt):
            causes = [_cause_of(snapshot, int(node)) for node in hurt]
            return [cause for cause in dict.fromkeys(causes) if cause]
    return []


def _of_links(snapshot: Snapshot, part: Part) -> Condition:
    fabric = snapshot.fabric
    worth = np.array([_worth(snapshot, link) for link in part.links])
    dead = worth == 0
    own = [f for f in snapshot.faults if f.links and set(f.links) & set(part.links)]
    least = float(worth.min())
    if least == 1:
        return Condition("up")
    cause = _behind(own, part)
    if dead.all():
        end = _dead_end(snapshot, part.links[0])
        if any(fault.factor == 0 for fault in own):
            return Condition("down" if cause else "failed", 0.0, cause)
        return Condition("down", 0.0, _cause_of(snapshot, end))
    if dead.any():
        if not own:
            cause = _cause_of(snapshot, _dead_end(snapshot, part.links[int(dead.argmax())]))
        return Condition("in part", least, cause, int(dead.sum()), len(dead))
    if not own:  # What is left is the NIC at its end.
        cause = _cause_of(snapshot, int(fabric.ends(np.array(part.links[:1]))[0][0]))
    return Condition("degraded", least, cause)


def _behind(own: list[Fault], part: Part) -> str:
    """The worst fault on a part's links, "" where it is the part's own."""
    worst = min(own, key=lambda fault: fault.factor, default=None)
    if worst is None or any(fault.component == part.component for fault in own):
        return ""
    return worst.component


def _dead_end(snapshot: Snapshot, link: int) -> int:
    ends = np.concatenate(snapshot.fabric.ends(np.array([link])))
    dead = ends[snapshot.health.node_factor[ends] == 0]
    return int(dead[0]) if len(dead) else -1


def _worth(snapshot: Snapshot, link: int) -> float:
    """Effective capacity of a link over its nominal one."""
    fabric, health = snapshot.fabric, snapshot.health
    for number, tier in enumerate(fabric.tiers):
        if tier.first <= link < tier.end:
            way, cable = divmod(link - tier.first, tier.n)
            return float(health.capacity(fabric, number)[way, cable] / tier.capacity[cable])
    nvlink = fabric.nvlink
    assert nvlink is not None
    way, cable = divmod(link, nvlink.n)
    gpu, asic = divmod(cable, nvlink.asics)
    rack, gpu = divmod(gpu, nvlink.gpus)
    room = health.nvlink_capacity(fabric, rack)
    return float(room[way, gpu, asic] / nvlink.link_GBps)


def cause_path(snapshot: Snapshot, name: str) -> list[str]:
    """The way from a component to the fault that is behind its state; itself alone without one.

    Examples
    --------
    >>> import gbviz
    >>> found = gbviz.evaluate(gbviz.preset("azure-gb300").with_faults("hxu-9"))
    >>> cause_path(found, "rack-9/tray-0/gpu-1")
    ['rack-9/tray-0/gpu-1', 'rack-9/tray-0', 'rack-9', 'loop-9', 'hxu-9']
    """
    fabric = snapshot.fabric
    part, cause = part_named(fabric, name), condition(snapshot, name).cause
    if not cause:
        return [name]
    path = [name]
    node = part.nodes[0] if part.nodes else _dead_end(snapshot, part.links[0])
    if not part.nodes and node >= 0 and cause != fabric.name(node):
        path.append(fabric.name(node))
    if node >= 0:
        outer = [(fabric.name(one), one) for one in containers(fabric, node)]
        down = snapshot.health.node_factor
        path += [other for other, one in outer if other == cause or down[one] == 0]
    path += _between(fabric, path[-1], cause)
    return path if path[-1] == cause else [*path, cause]


def _between(fabric: Fabric, last: str, cause: str) -> list[str]:
    """The loop between a rack and the cooling unit that shut it down."""
    kind = cause.partition("-")[0]
    if kind not in ("hxu", "cdu") or "rack-" not in last or not fabric.count("loop"):
        return []
    rack = fabric.index_of(last.split("/")[0])
    assert fabric.spec is not None
    loop = rack // fabric.spec.cooling.racks_in_loop
    name = fabric.name(fabric.nodes("loop").start + loop)
    return [name] if cause != name else []
