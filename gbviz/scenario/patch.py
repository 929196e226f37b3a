"""Change a YAML text to say something else, leaving comments, order and spacing as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from gbviz.errors import ScenarioError
from gbviz.scenario.emit import after_key, inline, item, quoted, text_of
from gbviz.scenario.tree import tree
from gbviz.scenario.yaml_subset import load_yaml

if TYPE_CHECKING:
    from gbviz.scenario.tree import Node

Document = dict[str, Any]

_GAP = re.compile(" +(?=#)")


class _Stuck(Exception):  # noqa: N818 never leaves this file
    """Something cannot be changed in place: what contains it is written anew."""


def patched(text: str, new: Document) -> str | None:
    r"""A text that says something else, with all that did not change to the letter.

    Parameters
    ----------
    text
        Accepted by `load_yaml`: a mapping.
    new
        What it is to say.

    Returns
    -------
    str or None
        None where the text cannot be changed in place.

    Notes
    -----
    Comments inside of what is taken away or written anew go with it; those above and below stay.

    Examples
    --------
    >>> print(patched("gbviz: 1  # version\nseed: 7   # any\n", {"gbviz": 1, "seed": 8}), end="")
    gbviz: 1  # version
    seed: 8   # any
    """
    old = load_yaml(text)
    edits = _Edits(text)
    root = tree(text)
    try:
        _map(edits, root, old, new)
    except _Stuck:
        return None
    found = edits.applied()
    try:
        same = load_yaml(found) == new
    except ScenarioError:
        return None
    return found if same else None


@dataclass(slots=True)
class _Edits:
    """Pieces of a text to be replaced."""

    text: str
    pieces: list[tuple[int, int, str]] = field(default_factory=list)

    def applied(self) -> str:
        """The text with every piece replaced."""
        found, at = [], 0
        for start, end, new in sorted(self.pieces, key=lambda piece: piece[:2]):
            if start < at:
                # Lines below one that was taken away: they begin where it ended.
                new = new.removeprefix("\n") + "\n"
            found += [self.text[at:start], self._ended(new)]
            at = max(at, end)
        return "".join(found) + self.text[at:]

    def _ended(self, new: str) -> str:
        return new.replace("\n", "\r\n") if "\r\n" in self.text else new

    def line_start(self, at: int) -> int:
        """Where the line of a place begins."""
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Where the line of a place ends: before its line break, or at the end of the text."""
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if self.text[at:end].endswith("\r") else end

    def column(self, at: int) -> int:
        """The column of a place, counted from 0."""
        return at - self.line_start(at)

    def put(self, start: int, end: int, new: str) -> None:
        """Replace a piece; a comment behind it keeps its column where there is room."""
        gap = _GAP.match(self.text, end)
        if gap is not None:
            room = len(gap[0]) - (len(new) - (end - start))
            end, new = gap.end(), new + " " * max(room, 1)
        self.pieces.append((start, end, new))

    def take_lines(self, start: int, end: int) -> None:
        """Take away the whole lines from one place to another, where nothing else is on them."""
        first, last = self.line_start(start), self.line_end(end)
        rest = self.text[end:last].strip()
        if self.text[first:start].strip() or (rest and not rest.startswith("#")):
            raise _Stuck
        after = self.text.find("\n", last)
        self.pieces.append((first, len(self.text) if after < 0 else after + 1, ""))

    def add_lines(self, after: int, lines: list[str]) -> None:
        """Add lines below the line of a place."""
        at = self.line_end(after)
        rest = self.text[after:at].strip()
        if rest and not rest.startswith("#"):
            raise _Stuck
        self.pieces.append((at, at, "".join(f"\n{line}" for line in lines)))


def _value(edits: _Edits, node: Node, old: Any, new: Any) -> None:
    """Change one value, where it stands."""
    if _same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict) and old and new:
        _map(edits, node, old, new)
    elif isinstance(old, list) and isinstance(new, list) and old and new:
        _list(edits, node, old, new)
    elif node.is_flow:
        space = " " if node.start == node.end else ""
        edits.put(node.start, node.end, space + inline(new))
    else:
        raise _Stuck


def _same(old: Any, new: Any) -> bool:
    return bool(old == new) and isinstance(old, bool) == isinstance(new, bool)


def _map(edits: _Edits, node: Node, old: Document, new: Document) -> None:
    if node.is_flow and set(old) != set(new):
        _flow_map(edits, node, old, new)
        return
    for key, value in node.entries:
        if key.key not in new:
            edits.take_lines(key.start, value.end)
            continue
        kept = len(edits.pieces)
        try:
            if not node.is_flow and value.is_flow and not old[key.key] and _has_parts(new[key.key]):
                # `jobs: []` becomes a list on lines of its own.
                raise _Stuck
            _value(edits, value, old[key.key], new[key.key])
        except _Stuck:
            if node.is_flow:
                raise
            del edits.pieces[kept:]
            _anew(edits, key, value, new[key.key])
    _added(edits, node, old, new)


def _has_parts(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _anew(edits: _Edits, key: Node, value: Node, new: Any) -> None:
    """Write all that stands after a key; a comment on the key's own line stays."""
    start = edits.text.index(":", key.end) + 1
    text = after_key(new, edits.column(key.start))
    if text.startswith("\n") and value.start > edits.line_end(start):
        start = edits.line_end(start)
    edits.pieces.append((start, max(value.end, start), text))


def _added(edits: _Edits, node: Node, old: Document, new: Document) -> None:
    """Add keys to a mapping on lines, each below the one before it in the new order."""
    if set(new) <= set(old):
        return
    column = edits.column(node.entries[0][0].start)
    spans = {key.key: value.end if value.end > key.end else key.end for key, value in node.entries}
    kept = [key for key in spans if key in new]
    if not kept:
        raise _Stuck
    below: dict[str, list[str]] = {}
    last = kept[0]
    for key, value in new.items():
        if key in spans:
            last = key
        else:
            line = f"{' ' * column}{quoted(key)}:{after_key(value, column)}"
            below.setdefault(last, []).append(line)
    for key, lines in below.items():
        edits.add_lines(spans[key], lines)


def _flow_map(edits: _Edits, node: Node, old: Document, new: Document) -> None:
    """Write a mapping in brackets anew from the pieces of it that stay."""
    pieces = {key.key: edits.text[key.start : value.end] for key, value in node.entries}
    parts = [
        pieces[key] if key in old and _same(old[key], value) else f"{quoted(key)}: {inline(value)}"
        for key, value in new.items()
    ]
    edits.put(node.start, node.end, "{" + ", ".join(parts) + "}")


def _list(edits: _Edits, node: Node, old: list[Any], new: list[Any]) -> None:
    if node.is_flow:
        _flow_list(edits, node, old, new)
        return
    dashes = [_dash(edits, one) for one in node.items]
    column = edits.column(dashes[0])
    lines: dict[int, list[str]] = {}
    last = -1
    for before, after in _pairs(old, new):
        if after is None:
            edits.take_lines(dashes[before or 0], node.items[before or 0].end)
        elif before is None:
            lines.setdefault(last, []).append(item(new[after], column))
        else:
            kept = len(edits.pieces)
            try:
                _value(edits, node.items[before], old[before], new[after])
                last = before
            except _Stuck:
                del edits.pieces[kept:]
                edits.take_lines(dashes[before], node.items[before].end)
                lines.setdefault(last, []).append(item(new[after], column))
    for above, added in lines.items():
        if above < 0:
            start = edits.line_start(dashes[0])
            edits.pieces.append((start, start, "".join(f"{line}\n" for line in added)))
        else:
            edits.add_lines(node.items[above].end, added)


def _dash(edits: _Edits, node: Node) -> int:
    """Where the dash of an item stands; it must be the first on the item's line."""
    start = edits.line_start(node.start)
    before = edits.text[start : node.start]
    if before.strip() != "-":
        raise _Stuck
    return start + before.index("-")


def _flow_list(edits: _Edits, node: Node, old: list[Any], new: list[Any]) -> None:
    """Write a list in brackets anew from the pieces of it that stay."""
    parts = [
        inline(new[after])
        if before is None or not _same(old[before], new[after])
        else edits.text[node.items[before].start : node.items[before].end]
        for before, after in _pairs(old, new)
        if after is not None
    ]
    edits.put(node.start, node.end, "[" + ", ".join(parts) + "]")


def _pairs(old: list[Any], new: list[Any]) -> list[tuple[int | None, int | None]]:
    """Which item became which: places in the old and the new list, None where it is in one only."""
    found: list[tuple[int | None, int | None]] = []
    names = [[_identity(one) for one in values] for values in (old, new)]
    matcher = SequenceMatcher(None, names[0], names[1], autojunk=False)
    for kind, first, last, start, stop in matcher.get_opcodes():
        paired = last - first if kind == "equal" else 0
        if kind == "replace" and last - first == stop - start:
            alike = all(
                isinstance(a, dict) and isinstance(b, dict) and a.get("name") == b.get("name")
                for a, b in zip(old[first:last], new[start:stop], strict=True)
            )
            paired = last - first if alike else 0
        found += [(first + n, start + n) for n in range(paired)]
        found += [(number, None) for number in range(first + paired, last)]
        found += [(None, number) for number in range(start + paired, stop)]
    return found


def _identity(value: Any) -> str:
    """What makes an item the same one after a change: its name, or all of it."""
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return f"name {value['name']}"
    return text_of(value) if isinstance(value, dict) else inline(value)
