"""Names of nodes, made from numbers and read back, without a table of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from fnmatch import translate
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gbviz.errors import InputError, nearest

if TYPE_CHECKING:
    from gbviz.topology.fabric import Ints, Kind

_SEGMENT = re.compile(r"([a-z]+)-(0|[1-9][0-9]{0,8}|[a-z])")
_FEEDS = "ab"
_COOLING = ("hxu", "cdu")
_RANGE = re.compile(r"\[([0-9]+(?:[-,][0-9]+)*)\]")
_GLOB = frozenset("*?[")
# From so many names on, sorting them out costs less than spelling each.
_MANY = 32
# Each * of a pattern with ranges may stand for any run of letters: three are tried in no time.
_MOST_STARS = 3
# A suggestion compares names letter by letter; a long list of long ones would take seconds.
_MOST_COMPARED, _LONGEST_COMPARED = 1000, 80


class Names(Protocol):
    """How a fabric's nodes are called."""

    def name(self, node: int) -> str:
        """The name of a node."""
        ...

    def names_of(self, nodes: Ints) -> list[str]:
        """The names of many nodes, in their order."""
        ...

    def index_of(self, name: str) -> int:
        """The node of a name; InputError with the nearest name where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class ListedNames:
    """Names as a file gave them, for fabrics from a switch graph."""

    listed: tuple[str, ...]
    numbers: dict[str, int]

    def name(self, node: int) -> str:
        """The name of a node."""
        return self.listed[node]

    def names_of(self, nodes: Ints) -> list[str]:
        """The names of many nodes, in their order."""
        return [self.listed[node] for node in nodes.tolist()]

    def index_of(self, name: str) -> int:
        """The node of a name."""
        try:
            return self.numbers[name]
        except KeyError:
            hint = self.suggestion(name)
            raise InputError(f"there is no component {name!r}", hint=hint) from None

    def suggestion(self, name: str) -> str:
        """The nearest name, "" where none is near."""
        if len(name) > _LONGEST_COMPARED:
            return ""
        alike = [other for other in self.listed if abs(len(other) - len(name)) <= 2]
        # Of too many, those that begin alike the longest.
        alike.sort(key=lambda other: _first_difference(other, name), reverse=True)
        found = nearest(name, alike[:_MOST_COMPARED])
        return f"did you mean {found!r}?" if found else ""

    def matching(self, text: str) -> list[int]:
        """The nodes that a text names: a name to the letter, else a glob or ranges over all names.

        Raises
        ------
        InputError
            A range runs backwards, or too many `*` stand beside one.

        Examples
        --------
        >>> names = ListedNames(("a1", "a2", "a10"), {"a1": 0, "a2": 1, "a10": 2})
        >>> names.matching("a[2-10]"), names.matching("a1*")
        ([1, 2], [0, 2])
        """
        if text in self.numbers:
            return [self.numbers[text]]
        if not _GLOB & set(text):
            return []
        pattern, ranges = _numbered(text) if _RANGE.search(text) else (translate(text), [])
        match = re.compile(pattern, re.DOTALL).fullmatch
        found = ((node, match(name)) for node, name in enumerate(self.listed))
        return [
            node
            for node, hit in found
            if hit and all(_within(hit[n], spans) for n, spans in enumerate(ranges, start=1))
        ]


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _numbered(text: str) -> tuple[str, list[list[tuple[int, int]]]]:
    """A pattern with ranges as a regular expression and what the number in each group may be."""
    pattern, ranges = "", []
    pieces = _RANGE.split(text)
    if text.count("*") > _MOST_STARS:
        raise InputError(f"at most {_MOST_STARS} '*' may stand beside a range")
    for number, piece in enumerate(pieces):
        if number % 2 == 0:
            pattern += re.escape(piece).replace(r"\*", ".*").replace(r"\?", ".")
            continue
        # Beside a * a number is a whole one: *[1-3] is not the 2 of 12.
        before, after = pieces[number - 1][-1:], pieces[number + 1][:1]
        whole = ("(?<![0-9])" if before == "*" else "", "(?![0-9])" if after == "*" else "")
        pattern += f"{whole[0]}([0-9]+){whole[1]}"
        ranges.append([_ends_of(span) for span in piece.split(",")])
    return pattern, ranges


def _ends_of(span: str) -> tuple[int, int]:
    low, _, high = span.partition("-")
    if not all(number.isdecimal() and len(number) < 10 for number in (low, high or low)):
        raise InputError(f"the range {span!r} cannot be read")
    if int(high or low) < int(low):
        raise InputError(f"the range {span!r} runs backwards", hint=f"write {high}-{low}")
    return int(low), int(high or low)


def _within(digits: str, spans: list[tuple[int, int]]) -> bool:
    number = int(digits) if len(digits) < 19 else -1
    return any(low <= number <= high for low, high in spans)


@dataclass(frozen=True, slots=True)
class BuiltNames:
    """The names of a built cluster: `rack-3/tray-17/gpu-2`, 0-based and unpadded.

    A node's name is its kind and its number within its owner, after the owner's name.
    """

    kinds: dict[str, Kind]

    def name(self, node: int) -> str:
        """The name of a node.

        Examples
        --------
        >>> from gbviz.topology import build, cluster_spec
        >>> build(cluster_spec(racks=2)).name(1)
        'rack-1'
        """
        listed = list(self.kinds.values())
        kind = listed[bisect_right([k.first for k in listed], node) - 1]
        number = node - kind.first
        if not 0 <= number < kind.count:
            raise InputError(f"there is no node number {node}")
        return self._spell(kind, number)

    def _spell(self, kind: Kind, number: int) -> str:
        if not kind.owner:
            return f"{kind.name}-{number}"
        owner = self._spell(self.kinds[kind.owner], number // kind.per_owner)
        return f"{owner}/{kind.name}-{label(kind.name, number % kind.per_owner)}"

    def names_of(self, nodes: Ints) -> list[str]:
        """The names of many nodes, in their order: an owner is spelt once for all its parts."""
        if len(nodes) < _MANY:
            return [self.name(node) for node in nodes.tolist()]
        different, which = np.unique(nodes, return_inverse=True)
        names: list[str] = []
        edges = [(kind.first, kind.first + kind.count) for kind in self.kinds.values()]
        spans = np.searchsorted(different, edges).tolist()
        for kind, (low, high) in zip(self.kinds.values(), spans, strict=True):
            if low < high:
                names += self._spell_all(kind, different[low:high] - kind.first)
        return [names[number] for number in which.tolist()]

    def _spell_all(self, kind: Kind, numbers: Ints) -> list[str]:
        """Names of the nodes of one kind, by numbers that rise."""
        if not kind.owner:
            return [f"{kind.name}-{number}" for number in numbers.tolist()]
        owners, which = np.unique(numbers // kind.per_owner, return_inverse=True)
        before = self._spell_all(self.kinds[kind.owner], owners)
        after = [f"/{kind.name}-{label(kind.name, number)}" for number in range(kind.per_owner)]
        pairs = zip(which.tolist(), (numbers % kind.per_owner).tolist(), strict=True)
        return [before[owner] + after[number] for owner, number in pairs]

    def index_of(self, name: str) -> int:
        """The node of a name."""
        owner: Kind | None = None
        number = 0
        before = ""
        for segment in name.split("/"):
            match = _SEGMENT.fullmatch(segment)
            kind = self.kinds.get(match[1]) if match else None
            here = owner.name if owner else ""
            if match is None or kind is None or kind.owner != here or not kind.count:
                raise InputError(
                    f"there is no component {name!r}", hint=self.suggestion(segment, owner, before)
                )
            own = number_of(kind.name, match[2])
            most = kind.per_owner if owner else kind.count
            if own is None or own >= most:
                raise InputError(
                    f"there is no component {name!r}",
                    hint=f"{kind.name} numbers end at {label(kind.name, most - 1)} here",
                )
            number, owner = number * kind.per_owner + own if owner else own, kind
            before += f"{segment}/"
        assert owner is not None
        return owner.first + number

    def suggestion(self, segment: str, owner: Kind | None, before: str = "") -> str:
        """What to write where a segment names nothing.

        Parameters
        ----------
        segment
            The segment.
        owner
            The kind that it is written inside of, None at the top.
        before
            The name up to there, with its last slash.
        """
        word, _, tail = segment.partition("-")
        kind = self.kinds.get(word)
        if kind is not None and kind.count and kind.owner != (owner.name if owner else ""):
            return f"did you mean '{self._full_form(kind, tail, owner, before)}'?"
        if word == "core" and kind is not None and not kind.count:
            return "this fabric has no cores: it has two tiers"
        if word in _COOLING and kind is None:
            used = self.kinds[_COOLING[1 - _COOLING.index(word)]]
            first, last = f"{used.name}-0", f"{used.name}-{used.count - 1}"
            span = first if first == last else f"{first} to {last}"
            return f"this cluster has no {word}: it is cooled by {span}"
        here = owner.name if owner else ""
        kinds = {kind.name: kind for kind in self.kinds.values() if kind.owner == here}
        choices = [kind.name for kind in kinds.values() if kind.count]
        if not choices:
            return f"a {here} has no parts with names"
        found = nearest(word, choices)
        if found is None:
            return "names here start with one of: " + ", ".join(f"{name}-" for name in choices)
        most = kinds[found].per_owner if owner else kinds[found].count
        own = number_of(found, tail)
        if tail != "*" and (own is None or own >= most or label(found, own) != tail):
            tail = label(found, 0)
        return f"did you mean '{before}{found}-{tail}'?"

    def _full_form(self, kind: Kind, tail: str, owner: Kind | None, before: str) -> str:
        """A part's name with what it is inside of; its number runs on from owner to owner."""
        above: list[Kind] = []
        outer = self.kinds.get(kind.owner)
        while outer is not None:
            above.append(outer)
            outer = self.kinds.get(outer.owner)
        while owner is not None and owner not in above:
            owner = self.kinds.get(owner.owner)
            before = before[:-1].rpartition("/")[0]
            before += "/" if before else ""
        chain = [kind, *above[: above.index(owner) if owner in above else len(above)]]
        if tail == "*":
            return before + "/".join(f"{part.name}-*" for part in reversed(chain))
        number = number_of(kind.name, tail) or 0
        pieces = []
        for part in chain:
            rest, own = divmod(number, part.per_owner) if part.owner else (0, number)
            pieces.append(f"{part.name}-{label(part.name, own)}")
            number = rest
        top = chain[-1]
        if number or (not top.owner and own >= top.count):
            return self._full_form(kind, label(kind.name, 0), owner, before)
        return before + "/".join(reversed(pieces))


def label(kind: str, number: int) -> str:
    """How a number is written in a name: feeds are letters, all else counts from 0.

    Examples
    --------
    >>> label("feed", 1), label("gpu", 1)
    ('b', '1')
    """
    return _FEEDS[number] if kind == "feed" else str(number)


def number_of(kind: str, text: str) -> int | None:
    """The number that a label stands for, None where it stands for none.

    Examples
    --------
    >>> number_of("feed", "b"), number_of("feed", "ab"), number_of("gpu", "12")
    (1, None, 12)
    """
    if kind == "feed":
        return _FEEDS.index(text) if len(text) == 1 and text in _FEEDS else None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
