"""Selectors: text such as `leaf-[0,4,8]~spine-*#0` to the parts that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.topology.cabling import bundles_between, links_at, ports_of
from gbviz.topology.names import BuiltNames, ListedNames, label, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gbviz.topology.cabling import Bundles, Ports
    from gbviz.topology.fabric import Bools, Fabric, Ints, Kind

MOST_PARTS = 120_000
_LONGEST = 500
_SIGNS = (("~", "cable"), (">", "direction"))
_CABLED = ("nic", "leaf", "spine", "core", "switch")
_PORT_HINT = "ports are those of NICs, leaves, spines and cores"
# The twin-port module of a switch cage carries two ports (catalogue: switch.ports_per_cage).
_PORTS_PER_CAGE = 2
_PORT = re.compile(r"(?P<node>.+?)(?::(?P<port>[^:/]+)|/cage-(?P<cage>[^/]+))")

NodeSet = list[tuple["Kind", "Ints"]]


@dataclass(frozen=True, slots=True)
class Part:
    """One component that a selector named.

    `nodes` are the nodes that it is (one or none), `links` the directed links that it is. `kind`
    is the node's kind, or "cable", "direction", "port" or "cage".
    """

    component: str
    kind: str
    nodes: tuple[int, ...] = ()
    links: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Labels:
    """The numbers that stand in one place of a name: `first` to `last`, and how to say so."""

    kind: str
    first: int
    last: int
    says: str

    def missing(self, text: str) -> str:
        """What to say of a number that is not there."""
        joint = {"cable": " #", "port": " ", "cage": " "}.get(self.kind, "-")
        return f"there is no {self.kind}{joint}{text}"


def select(fabric: Fabric, text: str) -> list[Part]:
    """The parts that a selector names, in the order of their numbers.

    Parameters
    ----------
    fabric
        Where to look.
    text
        A component's name, with globs (`spine-*`), ranges (`rack-[0-3]`) and lists
        (`leaf-[0,4,8]`) in place of numbers. `A~B` is every parallel cable of the pair, `A~B#1`
        one of them, `A>B` one direction, `leaf-0:73` a port and `leaf-0/cage-37` a transceiver.
        An end `*` is every node that is cabled to the other end. In a fabric from a file a name
        to the letter comes first, whatever signs it holds.

    Raises
    ------
    InputError
        The selector cannot be read, or names nothing; the nearest name is suggested.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> [part.component for part in select(fabric, "spine-[0-1]")]
    ['spine-0', 'spine-1']
    >>> len(select(fabric, "leaf-0~spine-3")[0].links)  # two cables, two directions
    4
    >>> len(select(fabric, "leaf-0~*"))  # 72 NICs and 36 spines
    108
    """
    names = fabric.names
    if isinstance(names, ListedNames) and text in names.numbers:
        return _node_parts(fabric, _by_kind(fabric, [names.numbers[text]]))
    text = text.strip()
    if not text or len(text) > _LONGEST:
        raise InputError(f"a selector has 1 to {_LONGEST} characters (got {len(text)})")
    if not text.isprintable():
        raise InputError(f"{text!r} has characters that no name has")
    if isinstance(names, BuiltNames) and "," in re.sub(r"\[[^\]]*\]", "", text):
        raise InputError(
            "names several parts with a comma",
            where=repr(text),
            hint="separate them with spaces, or write a list of numbers: leaf-[0,4]",
        )
    try:
        if isinstance(names, ListedNames):
            parts = _listed_parts(fabric, names, text)
        else:
            parts = _built_parts(fabric, text)
    except InputError as error:
        raise InputError(error.message, where=repr(text), hint=error.hint) from None
    if not parts:
        raise InputError("matches no component", where=repr(text))
    return parts


def _built_parts(fabric: Fabric, text: str) -> list[Part]:
    for sign, kind in _SIGNS:
        if sign in text:
            first, _, rest = text.partition(sign)
            second, hash_, which = rest.partition("#")
            if not first or not second or set("~>#") & set(first + second):
                raise InputError(f"a cable has two ends, 'A{sign}B'")
            return _cables(fabric, (first, second), kind, which if hash_ else None)
    if match := _PORT.fullmatch(text):
        word = "port" if match["cage"] is None else "cage"
        return _ports(fabric, nodes_named(fabric, match["node"]), word, match[word])
    return _node_parts(fabric, nodes_named(fabric, text))


def _listed_parts(fabric: Fabric, names: ListedNames, text: str) -> list[Part]:
    """Parts of a fabric from a file, whose names may hold any sign: `~`, `>`, `:` or `#`."""
    for sign, kind in _SIGNS:
        splits = _listed_ends(names, text, sign)
        # Of several ways to read it, the first with a cable between the two ends.
        cabled = (ends for ends in splits if _between(fabric, ends[:2], kind))
        if splits:
            ends = next(cabled, splits[0])
            return _cables(fabric, ends[:2], kind, ends[2])
    if hits := names.matching(text):
        return _node_parts(fabric, _by_kind(fabric, hits))
    node, _, port = text.rpartition(":")
    if hits := names.matching(node):
        return _ports(fabric, _by_kind(fabric, hits), "port", port)
    for sign, _ in _SIGNS:
        for end in text.split(sign) if text.count(sign) == 1 else ():
            nodes_named(fabric, end.partition("#")[0] or end)
    return _node_parts(fabric, nodes_named(fabric, text))


def _listed_ends(names: ListedNames, text: str, sign: str) -> list[tuple[str, str, str | None]]:
    """Ways to read `A~B#1` as two ends and a cable number; the more of it are names the better."""
    found: list[tuple[str, str, str | None]] = []
    for at in (at for at, letter in enumerate(text) if letter == sign):
        first, rest = text[:at], text[at + 1 :]
        second, hash_, which = rest.rpartition("#")
        found += [(first, rest, None), (first, second, which)] if hash_ else [(first, rest, None)]
    found.sort(key=lambda ends: -((ends[0] in names.numbers) + (ends[1] in names.numbers)))
    # Each glob goes over all names, so that only the most likely splits are tried.
    likely = [ends for ends in found if all(_may_name(names, end) for end in ends[:2])][:4]
    return [ends for ends in likely if all(names.matching(end) for end in ends[:2])]


def _may_name(names: ListedNames, text: str) -> bool:
    return text in names.numbers or bool(set("*?[") & set(text))


def _limit(count: int) -> None:
    if count > MOST_PARTS:
        raise InputError(
            f"names {count:,} components, more than {MOST_PARTS:,}",
            hint="name what contains them instead",
        )


def _node_parts(fabric: Fabric, found: NodeSet) -> list[Part]:
    _limit(sum(len(numbers) for _, numbers in found))
    parts: list[Part] = []
    for kind, numbers in found:
        nodes = kind.first + numbers
        pairs = zip(fabric.names_of(nodes), nodes.tolist(), strict=True)
        parts += [Part(name, kind.name, (node,)) for name, node in pairs]
    return parts


def nodes_named(fabric: Fabric, text: str) -> NodeSet:
    """The nodes that a pattern names, as numbers within their kinds."""
    if isinstance(fabric.names, ListedNames):
        return _by_kind(fabric, fabric.names.matching(text) or [fabric.index_of(text)])
    assert isinstance(fabric.names, BuiltNames)
    found: list[tuple[Kind | None, Ints]] = [(None, np.zeros(1, dtype=np.int64))]
    before = ""
    for segment in text.split("/"):
        deeper: list[tuple[Kind | None, Ints]] = []
        for owner, numbers in found:
            deeper += _children(fabric, segment, owner, numbers)
        if not deeper:
            hint = fabric.names.suggestion(segment, found[0][0], before)
            raise InputError("no such component", hint=hint)
        found = deeper
        before += f"{segment}/"
    return [(kind, numbers) for kind, numbers in found if kind is not None and len(numbers)]


def _by_kind(fabric: Fabric, nodes: Iterable[int]) -> NodeSet:
    listed = np.array(sorted(nodes), dtype=np.int64)
    split = []
    for kind in fabric.kinds.values():
        low, high = np.searchsorted(listed, (kind.first, kind.first + kind.count))
        split.append((kind, listed[low:high] - kind.first))
    return [(kind, numbers) for kind, numbers in split if len(numbers)]


def _children(
    fabric: Fabric, segment: str, owner: Kind | None, numbers: Ints
) -> list[tuple[Kind | None, Ints]]:
    here = owner.name if owner else ""
    word, dash, pattern = segment.partition("-")
    if segment == "*":
        word, pattern = "*", "*"
    elif not dash:
        return []
    found: list[tuple[Kind | None, Ints]] = []
    lacking: list[InputError] = []
    for kind in fabric.kinds.values():
        if kind.owner != here or not kind.count or not fnmatchcase(kind.name, word):
            continue
        last = (kind.per_owner if owner else kind.count) - 1
        first_name, last_name = (f"{kind.name}-{label(kind.name, n)}" for n in (0, last))
        says = f"there are {first_name} to {last_name}" if last else f"there is {first_name}"
        try:
            own = matching_numbers(Labels(kind.name, 0, last, f"here {says}"), pattern)
        except InputError as error:
            # Of the kinds that a glob names, some may have no such number.
            lacking.append(error)
            continue
        _limit(len(numbers) * len(own))
        all_numbers = numbers[:, None] * kind.per_owner + own[None, :] if owner else own[None, :]
        found.append((kind, all_numbers.ravel()))
    if lacking and not found:
        raise lacking[0]
    return found


def matching_numbers(labels: Labels, pattern: str) -> Ints:
    """The numbers that a pattern names: `7`, `*`, `1*`, `[0-3]`, `[0,4,8]`.

    Examples
    --------
    >>> racks = Labels("rack", 0, 12, "here there are rack-0 to rack-12")
    >>> matching_numbers(racks, "[0-2,7]").tolist(), matching_numbers(racks, "1?").tolist()
    ([0, 1, 2, 7], [10, 11, 12])
    """
    if pattern == "*":
        return np.arange(labels.first, labels.last + 1)
    if pattern.startswith("[") and pattern.endswith("]"):
        pieces = [_span(labels, piece.strip()) for piece in pattern[1:-1].split(",")]
        return np.unique(np.concatenate(pieces))
    if set(pattern) & set("*?"):
        every = range(labels.first, labels.last + 1)
        hits = [n for n in every if fnmatchcase(label(labels.kind, n), pattern)]
        if not hits:
            raise InputError(f"no {labels.kind} number is like {pattern!r}", hint=labels.says)
        return np.array(hits)
    return np.array([_number(labels, pattern)])


def _span(labels: Labels, piece: str) -> Ints:
    low, dash, high = piece.partition("-")
    first = _number(labels, low)
    last = _number(labels, high) if dash else first
    if last < first:
        raise InputError(f"the range {piece!r} runs backwards", hint=f"write {high}-{low}")
    return np.arange(first, last + 1)


def _number(labels: Labels, text: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) > 9 and text[0] != "0":
        raise InputError(labels.missing(text), hint=labels.says)
    number = number_of(labels.kind, text)
    if number is None:
        raise InputError(f"{text!r} is not a {labels.kind} number", hint=labels.says)
    if not labels.first <= number <= labels.last:
        raise InputError(labels.missing(text), hint=labels.says)
    if text != label(labels.kind, number):
        raise InputError(
            f"numbers have no leading zeros (got {text!r})", hint=f"write {number} instead"
        )
    return number


def _cables(fabric: Fabric, ends: tuple[str, str], kind: str, which: str | None) -> list[Part]:
    found = _between(fabric, ends, kind)
    if not found:
        hint = _neighbours(fabric, ends[0]) or _neighbours(fabric, ends[1])
        raise InputError(f"no cable runs between {ends[0]!r} and {ends[1]!r}", hint=hint)
    _limit(sum(len(bundles.lower) for bundles in found))
    parts = [part for bundles in found for part in _bundle_parts(fabric, bundles, kind, which)]
    if not parts:
        # No pair has that cable: the widest says which there are.
        widest = max(found, key=lambda bundles: int(np.diff(bundles.starts).max()))
        name, size = _widest(fabric, widest)
        matching_numbers(_cable_labels(name, size), which or "")
    return parts


def _between(fabric: Fabric, ends: tuple[str, str], kind: str) -> list[Bundles]:
    ones, others = (_mask(fabric, end) for end in ends)
    return list(bundles_between(fabric, ones, others, ways=kind == "direction"))


def _mask(fabric: Fabric, end: str) -> Bools:
    if end == "*":
        return np.ones(fabric.n_nodes, dtype=bool)
    mask = np.zeros(fabric.n_nodes, dtype=bool)
    for kind, numbers in nodes_named(fabric, end):
        mask[kind.first + numbers] = True
    return mask


def _neighbours(fabric: Fabric, end: str, most: int = 3) -> str:
    """What the nodes of one end are cabled to, "" where they are to nothing."""
    far: list[str] = []
    count = 0
    for bundles in _between(fabric, (end, "*"), "direction"):
        nodes = bundles.upper if bundles.forth else bundles.lower
        count += len(nodes)
        far += fabric.names_of(nodes[: most - len(far)]) if len(far) < most else []
    if not far:
        return ""
    if count > most:
        return f"{end} has cables to {count:,} others: {far[0]}, {far[1]} and so on"
    return f"{end} has cables to " + " and ".join(far)


def _cable_labels(name: str, size: int) -> Labels:
    says = f"{name} has cables #0 to #{size - 1}" if size > 1 else f"{name} has cable #0"
    return Labels("cable", 0, size - 1, says)


def _widest(fabric: Fabric, bundles: Bundles) -> tuple[str, int]:
    """Name and number of cables of the widest pair."""
    sizes = np.diff(bundles.starts)
    at = int(sizes.argmax())
    names = [fabric.name(int(ends[at])) for ends in (bundles.lower, bundles.upper)]
    return "~".join(names), int(sizes[at])


def _bundle_parts(fabric: Fabric, bundles: Bundles, kind: str, which: str | None) -> Iterator[Part]:
    sign = "~" if kind == "cable" else ">"
    low, high = fabric.names_of(bundles.lower), fabric.names_of(bundles.upper)
    pairs = zip(low, high, strict=True) if bundles.forth else zip(high, low, strict=True)
    up, starts, back = bundles.up.tolist(), bundles.starts.tolist(), bundles.back
    chosen = _chosen(bundles, which)
    for number, (source, target) in enumerate(pairs):
        cables = up[starts[number] : starts[number + 1]]
        name = f"{source}{sign}{target}"
        if which is None:
            yield Part(name, kind, (), _ways(cables, back, kind, bundles.forth))
            continue
        for own in chosen[len(cables)]:
            links = _ways(cables[own : own + 1], back, kind, bundles.forth)
            yield Part(f"{name}#{own}", kind, (), links)


def _ways(cables: list[int], back: int, kind: str, forth: bool) -> tuple[int, ...]:
    """Links of some cables: both ways, or the one that was asked for."""
    if kind == "cable":
        return (*cables, *[link + back for link in cables])
    return tuple(cables) if forth else tuple([link + back for link in cables])


def _chosen(bundles: Bundles, which: str | None) -> dict[int, list[int]]:
    """For each width of a pair the numbers that a pattern names, none where it lacks them."""
    chosen: dict[int, list[int]] = {}
    for size in np.unique(np.diff(bundles.starts)).tolist() if which is not None else ():
        try:
            chosen[size] = matching_numbers(_cable_labels("", size), which or "").tolist()
        except InputError:
            chosen[size] = []
    return chosen


def _ports(fabric: Fabric, found: NodeSet, word: str, pattern: str) -> list[Part]:
    cabled = [(kind, numbers) for kind, numbers in found if kind.name in _CABLED]
    if not cabled:
        raise InputError(f"a {found[0][0].name} has no ports with cables", hint=_PORT_HINT)
    parts: list[Part] = []
    for kind, numbers in cabled:
        nodes = kind.first + numbers
        tables = ports_of(fabric, nodes)
        names = fabric.names_of(nodes)
        ports = _n_ports(fabric, kind, tables)
        size = 1 if word == "port" or ports == 1 else _PORTS_PER_CAGE
        own = matching_numbers(_port_labels(names[0], word, ports // size), pattern).tolist()
        _limit(len(parts) + len(numbers) * len(own))
        glob = bool(set("*?") & set(pattern))
        for name, table in zip(names, tables.values(), strict=True):
            parts += _ports_of(name, table, word, own, size, glob)
    return parts


def _n_ports(fabric: Fabric, kind: Kind, tables: dict[int, Ports]) -> int:
    """Ports of a node; a file that does not say so has those with cables."""
    if fabric.shape is not None:
        return fabric.shape.radix if kind.name != "nic" else 1
    return max((max(table, default=1) for table in tables.values()), default=1)


def _port_labels(name: str, word: str, last: int) -> Labels:
    return Labels(
        word, 1, last, f"{name} has {word}s 1 to {last}" if last > 1 else f"{name} has {word} 1"
    )


def _ports_of(
    name: str, table: Ports, word: str, numbers: list[int], size: int, glob: bool
) -> Iterator[Part]:
    joint = ":" if word == "port" else "/cage-"
    for number in numbers:
        ports = range(size * (number - 1) + 1, size * number + 1)
        if glob and not any(port in table for port in ports):
            continue
        port = f"{name}{joint}{number}"
        yield Part(port, word, (), links_at(table, ports, name=port))
