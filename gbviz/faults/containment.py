"""What is inside what: a rack takes its trays down with it, never the other way."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gbviz.topology.fabric import Fabric

CONTAINS: dict[str, tuple[str, ...]] = {
    "rack": ("tray", "nvtray"),
    "tray": ("gpu", "nic", "cpu"),
    "nvtray": ("nvswitch",),
    "feed": ("shelf",),
    "loop": ("hxu", "cdu"),
}
_INSIDE = {inner: outer for outer, inners in CONTAINS.items() for inner in inners}


def contents(fabric: Fabric, node: int) -> list[slice]:
    """A node and everything inside it, as slices of node numbers.

    Examples
    --------
    A compute tray holds 4 GPUs, 4 NICs and 2 CPUs.

    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec(racks=1))
    >>> inside = contents(fabric, fabric.index_of("rack-0/tray-3"))
    >>> [part.stop - part.start for part in inside]
    [1, 4, 4, 2]
    """
    kind = fabric.kind_of(node)
    return _slices(fabric, kind.name, node - kind.first, 1)


def _slices(fabric: Fabric, name: str, number: int, count: int) -> list[slice]:
    kind = fabric.kinds[name]
    first = kind.first + number
    found = [slice(first, first + count)]
    for inner in CONTAINS.get(name, ()):
        if fabric.count(inner):
            each = fabric.count(inner) // kind.count
            found += _slices(fabric, inner, number * each, count * each)
    return found


def containers(fabric: Fabric, node: int) -> list[int]:
    """What a node is inside of, nearest first.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec(racks=2))
    >>> gpu = fabric.index_of("rack-1/tray-0/gpu-3")
    >>> [fabric.name(outer) for outer in containers(fabric, gpu)]
    ['rack-1/tray-0', 'rack-1']
    """
    found: list[int] = []
    kind = fabric.kind_of(node)
    number = node - kind.first
    while (outer := _INSIDE.get(kind.name)) is not None and outer in fabric.kinds:
        number //= kind.count // fabric.count(outer)
        kind = fabric.kinds[outer]
        found.append(kind.first + number)
    return found
