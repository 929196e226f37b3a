"""What is done to the cluster, in order, and the faults that hold afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from gbviz.errors import InputError
from gbviz.faults.apply import apply
from gbviz.faults.fault import Fault, fault_on
from gbviz.faults.standing import Standing
from gbviz.topology.remembered import Remembered
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gbviz.topology.fabric import Fabric
    from gbviz.topology.selectors import Part


@dataclass(frozen=True, slots=True)
class Action:
    """One thing done to the cluster.

    Parameters
    ----------
    verb
        `fail`, `degrade`, `repair`, or `restore` (everything is healthy again).
    selector
        Which components; "" for `restore`.
    factor
        What a degraded component is left with.
    """

    verb: Literal["fail", "degrade", "repair", "restore"]
    selector: str = ""
    factor: float = 0.0


def resolve(
    fabric: Fabric, actions: Iterable[Action], standing: Iterable[Fault] = ()
) -> tuple[Fault, ...]:
    """The faults that hold after some actions, one for each component, oldest first.

    `standing` are those that hold before them.

    A later fault on the same component replaces the earlier one. A repair of some cables of a
    failed bundle, port or cage leaves the others failed.

    Raises
    ------
    InputError
        A selector that names nothing, a part that cannot be degraded, or a repair of something
        that has no fault of its own (what it is down with is named).

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> did = [Action("fail", "leaf-0~spine-3"), Action("repair", "leaf-0~spine-3#0")]
    >>> [fault.component for fault in resolve(fabric, did)]
    ['leaf-0~spine-3#1']
    """
    found = Standing(standing)
    follow(fabric, found, actions)
    return found.faults


def follow(fabric: Fabric, standing: Standing, actions: Iterable[Action]) -> None:
    """Do some actions to what holds; `resolve` says how, and what it refuses."""
    for action in actions:
        if action.verb == "restore":
            standing.clear()
            continue
        parts = _parts(fabric, action.selector)
        if action.verb == "repair":
            _repair(fabric, standing, parts, action.selector)
            continue
        factor = action.factor if action.verb == "degrade" else 0.0
        for part in parts:
            standing.drop(part.component)
            fault = fault_on(part, factor)
            if factor < 1:
                standing.put(fault)


def _parts(fabric: Fabric, selector: str) -> tuple[Part, ...]:
    """The parts of a selector; an event's end, and every edit, asks for them again."""
    known = _known_parts(fabric)
    parts = known.get(selector)
    if parts is None:
        parts = tuple(select(fabric, selector))
        known.keep(selector, parts, sum(1 + len(part.links) for part in parts))
    return parts


@lru_cache(maxsize=4)
def _known_parts(_fabric: Fabric) -> Remembered[tuple[Part, ...]]:
    """Of one fabric the parts of selectors that were asked for last, up to some 20 MB."""
    return Remembered(1 << 16)


def _repair(fabric: Fabric, standing: Standing, parts: Sequence[Part], selector: str) -> None:
    hit = standing.touching(parts)
    if not hit:
        raise InputError(
            "has no fault to repair",
            where=repr(selector),
            hint=_down_with(fabric, standing.faults, parts) or "it is healthy",
        )
    links = {link for part in parts for link in part.links}
    for fault in hit:
        standing.drop(fault.component)
    for fault in hit:
        left = sorted(set(fault.links) - links)
        for piece in _pieces(fabric, fault, left) if left else ():
            # A cable of a failed bundle may have a worse fault of its own, which stays.
            own = standing.on(piece.component)
            if own is None or piece.factor < own.factor:
                standing.put(piece)


def _down_with(fabric: Fabric, faults: Sequence[Fault], parts: Sequence[Part]) -> str:
    """What to repair instead, where a part is down with what contains it or with an end of it."""
    failed = [fault for fault in faults if fault.factor == 0]
    cause = apply(fabric, failed).node_cause
    nodes = [(part, node) for part in parts for node in part.nodes]
    links = [(part, link) for part in parts for link in part.links]
    own = cause[np.array([node for _, node in nodes], dtype=np.int64)]
    source, target = fabric.ends(np.array([link for _, link in links], dtype=np.int64))
    found = np.concatenate((own, np.maximum(cause[source], cause[target])))
    for number in np.flatnonzero(found >= 0)[:1].tolist():
        part = [*nodes, *links][number][0]
        return f"{part.component} is down with {failed[found[number]].component}: repair that"
    return ""


def _pieces(fabric: Fabric, fault: Fault, links: list[int]) -> Iterator[Fault]:
    """What is left of a fault: whole cables where both ways are, else single directions."""
    back = fabric.reverse(np.array(links, dtype=np.int64)).tolist()
    left = set(links)
    for link, other in zip(links, back, strict=True):
        if other not in left:
            yield Fault(fabric.link_name(link), "direction", fault.factor, (), (link,))
        elif link < other:
            yield Fault(fabric.cable_name(link), "cable", fault.factor, (), (link, other))
