"""JSON as strictly as our YAML: no key twice, no NaN, nothing deep, nothing endless."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from gbviz.scenario.strict import (
    MOST_DEPTH,
    MOST_KEYS,
    Mark,
    Path,
    Refusals,
    RefusedScalar,
    Token,
    finite,
    half_a_pair,
    locate,
    place_in,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_VALUES = 500_000
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+'
# What starts a value, and strings, also one that never ends, so that nothing is looked at twice.
_STARTS = re.compile(rf'[,\[{{]|{_STRING}(?:"|\\?\Z)', re.DOTALL)
# A text in pieces: what opens, what closes, and strings, numbers and words.
_BETWEEN = re.compile(r"[ \t\n\r,:]*")
_PIECE = re.compile(rf'([\[{{])|([\]}}])|({_STRING}(?:"|\\?\Z)|[-+.A-Za-z0-9]++)', re.DOTALL)
_OPENS, _CLOSES = 1, 2
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_HALF_A_PAIR = "text holds half of a surrogate pair"
_ENDLESS = ("NaN", "Infinity", "-Infinity")


class _Refused(Exception):  # noqa: N818 never leaves this file
    """Something that JSON readers let pass: where it stands is looked for afterwards."""


def load_json(text: str, file: str = "<text>") -> Any:
    """The values of a JSON text.

    Parameters
    ----------
    text
        Already decoded.
    file
        What to call it in messages.

    Raises
    ------
    ScenarioError
        Not JSON, a key twice, NaN or Infinity, a number too long or too large, half of a surrogate
        pair, more than 32 levels or 500,000 values; each with line and column.

    Examples
    --------
    >>> load_json('{"seed": 7}')
    {'seed': 7}
    """
    refused = Refusals(file)
    _check_count(text, refused)
    try:
        found = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_int=whole,
            parse_float=finite,
        )
    except json.JSONDecodeError as error:
        if not text.strip():
            refused.stop(1, 1, "the file is empty")
        message = f"cannot be read as JSON: {error.msg}"
        refused.stop(error.lineno, error.colno, message, _advice(text, error.pos))
    except (_Refused, RefusedScalar, RecursionError):
        _find(text, refused)
        refused.stop(1, 1, "cannot be read as JSON")
    if _is_deep(found) or _SURROGATE.search(text):
        _find(text, refused)
    return found


def locate_json(text: str, paths: Iterable[Path]) -> dict[Path, Mark]:
    """Where fields stand in a JSON text that `load_json` has accepted."""
    return locate(_tokens(text), paths, _Places(text).of)


def _check_count(text: str, refused: Refusals) -> None:
    """Refuse very many values before any is made: a megabyte of `[],` would take 20 to hold."""
    # The outermost value, and one more for each of these signs outside of strings.
    if 1 + text.count(",") + text.count("[") + text.count("{") <= MOST_VALUES:
        return
    starts = (match for match in _STARTS.finditer(text) if match[0][0] != '"')
    if (one_more := next(islice(starts, MOST_VALUES - 1, None), None)) is not None:
        refused.check_size(*place_in(text, one_more.start()), 0, MOST_VALUES + 1, MOST_VALUES)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs) or len(pairs) > MOST_KEYS:
        raise _Refused
    return found


def _refuse(_text: str) -> NoReturn:
    raise _Refused


def _advice(text: str, index: int) -> str:
    """What usually stands where JSON ends to be JSON."""
    before, rest = text[max(index - 80, 0) : index].rstrip(), text[index : index + 80]
    closes = rest.lstrip(", \t\r\n")[:1] in ("}", "]")
    if closes and (rest.startswith(",") or before.endswith(",")):
        return "no comma may stand before a closing bracket"
    if rest[:1] in ("#", "'") or rest.startswith("//"):
        return "JSON has no comments and no single quotes; .yaml files have"
    return ""


def _is_deep(found: Any) -> bool:
    """Whether containers are nested deeper than is allowed."""
    level = [found] if isinstance(found, dict | list) else []
    for _ in range(MOST_DEPTH):
        inside = (box.values() if isinstance(box, dict) else box for box in level)
        level = [inner for box in inside for inner in box if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _find(text: str, refused: Refusals) -> None:
    """Go through a text step by step, and raise what is wrong with it."""
    for _ in _tokens(text, refused):
        pass
    refused.raise_if_any()


def _tokens(text: str, refused: Refusals | None = None) -> Iterator[Token]:
    """A text that is JSON as steps; what JSON readers let pass is noted as refused.

    Brackets, commas and colons are not checked: that is the reader's part, before or after.
    """
    stack: list[set[str] | None] = []
    places, values, expects_key = _Places(text), 0, False
    for match in _pieces(text):
        at, kind, piece = match.start(), match.lastindex, match[0]
        if kind == _CLOSES:
            if not stack:
                continue
            stack.pop()
            yield Token("end", at)
        elif expects_key and kind != _OPENS:
            key = _string(piece)
            if refused is not None:
                _check_key(key, stack[-1], refused, places, at)
            yield Token("key", at, key)
            expects_key = False
            continue
        else:
            values += 1
            deeper = len(stack) + (kind == _OPENS)
            if refused is not None and (deeper > MOST_DEPTH or values > MOST_VALUES):
                refused.check_size(*places.of(at), deeper, values, MOST_VALUES)
            if kind == _OPENS:
                stack.append(set() if piece == "{" else None)
                yield Token("map" if piece == "{" else "list", at)
            else:
                if refused is not None:
                    _check_scalar(piece, refused, places, at)
                yield Token("scalar", at)
        expects_key = bool(stack) and stack[-1] is not None


def _pieces(text: str) -> Iterator[re.Match[str]]:
    """All pieces; what is none is passed over sign by sign, so that none is looked at twice."""
    at, end = 0, len(text)
    while True:
        space = _BETWEEN.match(text, at)
        at = space.end() if space is not None else at
        if at >= end:
            return
        match = _PIECE.match(text, at)
        if match is None:
            at += 1
        else:
            yield match
            at = match.end()


class _Places:
    """Line and column of places that come in order."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.line, self.start = text, 0, 1, 0

    def of(self, index: int) -> tuple[int, int]:
        """Line and column of a character not before the last one asked for."""
        lines = self.text.count("\n", self.at, index)
        if lines:
            self.line += lines
            self.start = self.text.rfind("\n", self.at, index) + 1
        self.at = index
        return self.line, index - self.start + 1


def _string(text: str) -> str:
    """What a string in quotes says; "" where it is none."""
    if "\\" not in text:
        return text[1:-1]
    try:
        return str(json.loads(text))
    except ValueError:
        return ""


def _check_key(
    key: str, seen: set[str] | None, refused: Refusals, places: _Places, at: int
) -> None:
    if half_a_pair(key):
        refused.add(*places.of(at), _HALF_A_PAIR)
    if seen is None:
        return
    if key in seen:
        refused.add(*places.of(at), f"duplicate key {key[:60]!r}", "keep one of them")
    seen.add(key)
    if len(seen) > MOST_KEYS:
        refused.too_wide(*places.of(at))


def _check_scalar(piece: str, refused: Refusals, places: _Places, at: int) -> None:
    if piece.startswith('"'):
        if half_a_pair(_string(piece)):
            refused.add(*places.of(at), _HALF_A_PAIR)
    elif piece in _ENDLESS:
        refused.add(*places.of(at), f"{piece} is not a finite number", "write a number")
    elif piece not in ("true", "false", "null"):
        try:
            (whole if piece.lstrip("-").isdecimal() else finite)(piece)
        except RefusedScalar as why:
            refused.add(*places.of(at), *why.args)
        except ValueError:
            return
