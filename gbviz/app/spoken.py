"""Parts as people name them: `gpu 3`, `leaf-7 port 73`, `pod 5`. No Qt."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from gbviz.errors import InputError
from gbviz.topology.names import label, number_of
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.topology.fabric import Fabric, Kind

_PAIR = re.compile(r"([a-z]{2,})[\s-]*([0-9]+|[ab](?![a-z]))?")
_QUERY = re.compile(rf"{_PAIR.pattern}(?:[\s/:]*{_PAIR.pattern})*")
_PORTS = {"port": "{}:{}", "cage": "{}/cage-{}", "transceiver": "{}/cage-{}"}
# What people say for kinds that the cluster calls otherwise.
_ALSO = {"asic": "nvswitch", "cooling": "loop", "power": "feed", "node": "tray"}
_COOLING = ("hxu", "cdu")
# Racks, and parts of one rack, that are offered.
_MOST_RACKS, _MOST_PARTS = 8, 24


def spoken(query: str, fabric: Fabric, rack: int = 0) -> list[tuple[str, str]]:
    """What a query may name, as names or selectors with what to show; the likeliest first.

    Parameters
    ----------
    query
        Words with numbers, with spaces, dashes or slashes between them.
    fabric
        A built one; in one from a file nothing is found.
    rack
        The rack that parts of racks are looked for in first.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("gb300-27k"))
    >>> [spoken(query, fabric, 9)[0][0] for query in ("gpu 6", "leaf-7 port 73", "feed")]
    ['rack-9/tray-1/gpu-2', 'leaf-7:73', 'rack-9/feed-a']
    >>> spoken("pod 5", fabric)
    [('rack-[120-143]', 'pod 5: rack-[120-143]')]
    """
    text = query.lower().strip()
    if fabric.shape is None or not _QUERY.fullmatch(text):
        return []
    pairs = [(match[1], match[2] or "") for match in _PAIR.finditer(text)]
    if pairs[0][0] in ("pod", "pods"):
        return _pods(fabric, pairs[0][1]) if len(pairs) == 1 else []
    if len(pairs) == 2 and pairs[1][0] in _PORTS:
        name = _PORTS[pairs[1][0]].format("-".join(pairs[0]), pairs[1][1] or "*")
        return [(name, name)] if _names(fabric, name) else []
    if len(pairs) > 1 and pairs[0][0] == "rack" and pairs[0][1]:
        rack, pairs = int(pairs[0][1]), pairs[-1:]
        racks: list[int] = [rack]
    else:
        racks = list(dict.fromkeys([rack, *range(min(_MOST_RACKS, fabric.count("rack")))]))
    if len(pairs) > 1:
        return []
    found = _parts(fabric, *pairs[0], racks)
    return [(name, name) for name in found if _names(fabric, name)]


def _names(fabric: Fabric, name: str) -> bool:
    try:
        return bool(select(fabric, name))
    except InputError:
        return False


def _pods(fabric: Fabric, number: str) -> list[tuple[str, str]]:
    """The racks of a pod, or of each."""
    shape = fabric.shape
    assert shape is not None
    each = shape.leaves_per_pod // shape.rails * shape.racks_per_group
    found = []
    for pod in range(shape.pods):
        last = min((pod + 1) * each, fabric.count("rack")) - 1
        if (not number or pod == _whole(number)) and pod * each <= last:
            racks = f"rack-[{pod * each}-{last}]"
            found.append((racks, f"pod {pod}: {racks}"))
    return found[:_MOST_PARTS]


def _parts(fabric: Fabric, word: str, number: str, racks: list[int]) -> Iterator[str]:
    """Parts of a kind: of each rack the one of a number, else those of the first rack."""
    kind = _kind(fabric, word)
    if kind is None:
        return
    if not kind.owner:
        if word != kind.name:  # What bears its own name is found by that.
            numbers = [number] if number else map(str, range(min(kind.count, _MOST_PARTS)))
            yield from (f"{kind.name}-{one}" for one in numbers)
        return
    if number:
        names = (_inside(fabric, kind, number, rack) for rack in racks)
        yield from (name for name in names if name)
        return
    each = kind.count // fabric.count("rack")
    yield from itertools.islice(
        (_inside(fabric, kind, label(kind.name, one), racks[0]) for one in range(each)), _MOST_PARTS
    )


def _kind(fabric: Fabric, word: str) -> Kind | None:
    """The kind that a word, or the beginning of one, speaks of."""
    word = _ALSO.get(word, word)
    if word in _COOLING:
        word = next((one for one in _COOLING if one in fabric.kinds), word)
    words = (word, word.removesuffix("s"))
    for kind in fabric.kinds.values():
        if kind.count and kind.name in words:
            return kind
    starts = [k for k in fabric.kinds.values() if len(word) > 2 and k.name.startswith(word)]
    return next((kind for kind in starts if kind.count), None)


def _inside(fabric: Fabric, kind: Kind, text: str, rack: int) -> str:
    """The part of a number in a rack, counted through its trays; "" where there is none."""
    number = number_of(kind.name, text)
    if number is None or number >= kind.count // fabric.count("rack"):
        return ""
    pieces: list[str] = []
    while kind.owner:
        number, own = divmod(number, kind.per_owner)
        pieces.append(f"{kind.name}-{label(kind.name, own)}")
        kind = fabric.kinds[kind.owner]
    return "/".join([f"rack-{rack}", *reversed(pieces)])


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() else -1
