"""JSON as strictly as our YAML: no key twice, no NaN, nothing deep, nothing endless."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from gbviz.scenario.strict import (
    MOST_DEPTH,
    MOST_VALUES,
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

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# What starts a value, and strings, also one that never ends, so that nothing is looked at twice.
_STARTS = re.compile(r'[,\[{]|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_LITERAL = re.compile(r"[-+.A-Za-z0-9]+")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
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
        pair, more than 32 levels or 2 million values; each with line and column.

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
    return locate(_tokens(text, Refusals("")), paths)


def _check_count(text: str, refused: Refusals) -> None:
    """Refuse very many values before any is made: a megabyte of `[],` would take 20 to hold."""
    # The outermost value, and one more for each of these signs outside of strings.
    if 1 + text.count(",") + text.count("[") + text.count("{") <= MOST_VALUES:
        return
    starts = (match for match in _STARTS.finditer(text) if match[0][0] != '"')
    if (one_more := next(islice(starts, MOST_VALUES - 1, None), None)) is not None:
        refused.check_size(*place_in(text, one_more.start()), 0, MOST_VALUES + 1)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
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


def _tokens(text: str, refused: Refusals) -> Iterator[Token]:
    """A text that is JSON as steps; what JSON readers let pass is noted as refused.

    Brackets, commas and colons are not checked: that is the reader's part, before or after.
    """
    places = _Places(text)
    stack: list[set[str] | None] = []
    at, values, expects_key = 0, 0, False
    end = len(text)
    while (at := _after_space(text, at)) < end:
        sign = text[at]
        line, column = places.of(at)
        if sign in "]}":
            if stack:
                stack.pop()
                yield Token("end", line, column)
            at += 1
            continue
        if sign in ",:":
            expects_key = sign == "," and bool(stack) and stack[-1] is not None
            at += 1
            continue
        match = _STRING.match(text, at) or _LITERAL.match(text, at)
        if expects_key and match is not None:
            key = _string(match[0], refused, line, column)
            _check_key(key, stack[-1], refused, line, column)
            yield Token("key", line, column, key)
            at, expects_key = match.end(), False
            continue
        values += 1
        refused.check_size(line, column, len(stack) + (sign in "[{"), values)
        if sign in "[{":
            stack.append(set() if sign == "{" else None)
            expects_key = sign == "{"
            yield Token("map" if sign == "{" else "list", line, column)
            at += 1
        elif match is None:
            return
        else:
            _check_scalar(match[0], refused, line, column)
            yield Token("scalar", line, column)
            at = match.end()


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


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


def _string(text: str, refused: Refusals, line: int, column: int) -> str:
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(found, str):
        return ""
    if half_a_pair(found):
        refused.add(line, column, "text holds half of a surrogate pair")
    return found


def _check_key(key: str, seen: set[str] | None, refused: Refusals, line: int, column: int) -> None:
    if seen is None:
        return
    if key in seen:
        refused.add(line, column, f"duplicate key {key[:60]!r}", "keep one of them")
    seen.add(key)


def _check_scalar(text: str, refused: Refusals, line: int, column: int) -> None:
    if text.startswith('"'):
        _string(text, refused, line, column)
    elif text in _ENDLESS:
        refused.add(line, column, f"{text} is not a finite number", "write a number")
    elif text not in ("true", "false", "null"):
        try:
            (whole if text.lstrip("-").isdecimal() else finite)(text)
        except RefusedScalar as why:
            refused.add(line, column, *why.args)
        except ValueError:
            return
