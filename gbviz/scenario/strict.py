"""What the readers of YAML and JSON have in common: limits, positions, refusals."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from gbviz.errors import FileFault, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# A file at any of these limits is read or refused within 2 s and 300 MB.
MOST_BYTES = 32 * 2**20
MOST_DEPTH = 32
# Of one mapping: no model has as many fields, but each job may have a total with a limit.
MOST_KEYS = 10_000
# Longer ones cost quadratic time to read, and no quantity needs them.
MOST_DIGITS = 30
MOST_NUMBER = 100
MOST_REFUSALS = 100
# Very many faults come from one mistake: beyond these nobody looks for more.
MOST_FAULTS = 200

Path = tuple[str | int, ...]

_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a value stands, and its key: line and column, counted from 1.

    An item of a list has no key: both are the place of the item.
    """

    key: tuple[int, int]
    value: tuple[int, int]


class Token(NamedTuple):
    """One step through a text: a container opens or closes, a key, a scalar.

    `at` is its place: a line and column, or where in the text it begins, as `locate` is told.
    """

    what: Literal["map", "list", "end", "key", "scalar"]
    at: Any
    key: str = ""


@dataclass(slots=True)
class Refusals:
    """What is wrong with a text so far; reading goes on until there are too many."""

    file: str
    faults: list[FileFault] = field(default_factory=list)

    def add(self, line: int, column: int, message: str, hint: str = "") -> None:
        """Note one thing; gives up where there are very many."""
        self.faults.append(FileFault(self.file, line, column, "", message, hint))
        if len(self.faults) >= MOST_REFUSALS:
            self.raise_if_any()

    def stop(self, line: int, column: int, message: str, hint: str = "") -> NoReturn:
        """Note one thing after which nothing can be read."""
        self.faults.append(FileFault(self.file, line, column, "", message, hint))
        raise ScenarioError(self.faults)

    def raise_if_any(self) -> None:
        """Raise all that was noted."""
        if self.faults:
            raise ScenarioError(self.faults)

    def check_size(
        self, line: int, column: int, depth: int, values: int, most: int, hint: str = ""
    ) -> None:
        """Stop where a text is too deep or holds more than `most` values."""
        if depth > MOST_DEPTH:
            self.stop(line, column, f"is nested more than {MOST_DEPTH} deep")
        if values > most:
            self.stop(line, column, f"holds more than {most:,} values", hint)

    def too_wide(self, line: int, column: int) -> NoReturn:
        """Stop at a key of a mapping that has too many."""
        self.stop(line, column, f"is one of more than {MOST_KEYS:,} keys")


def decoded(data: bytes, file: str) -> str:
    """The text of a file.

    Raises
    ------
    ScenarioError
        Too large, or not UTF-8; the first wrong byte is named.

    Examples
    --------
    >>> decoded(b"seed: 7", "a.yaml")
    'seed: 7'
    """
    refused = Refusals(file)
    if len(data) > MOST_BYTES:
        refused.stop(0, 0, f"is larger than {MOST_BYTES // 2**20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        refused.stop(
            line, column, f"byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8"
        )


def place_in(text: str, index: int) -> tuple[int, int]:
    r"""Line and column of a character, counted from 1.

    Examples
    --------
    >>> place_in("ab\ncd", 4)
    (2, 2)
    """
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


class RefusedScalar(Exception):  # noqa: N818 a message on its way to a place
    """A number or word that is not part of the subset: what is wrong, and what to write."""


def whole(text: str, base: int = 10) -> int:
    """The integer that a text spells."""
    if len(text) > MOST_DIGITS:
        raise RefusedScalar(
            f"an integer of more than {MOST_DIGITS} digits is too long", "quote it if it is text"
        )
    return int(text, base)


def finite(text: str) -> float:
    """The number that a text spells."""
    if len(text) > MOST_NUMBER:
        raise RefusedScalar(
            f"a number of more than {MOST_NUMBER} digits is too long", "quote it if it is text"
        )
    number = float(text)
    if math.isinf(number):
        raise RefusedScalar(f"{text[:40]} is too large", "numbers end at 1.8e308")
    return number


def half_a_pair(text: str) -> bool:
    """Whether a text holds half of a surrogate pair, which no file can store."""
    return not text.isascii() and _HALF.search(text) is not None


def locate(
    tokens: Iterator[Token],
    paths: Iterable[Path],
    place: Callable[[Any], tuple[int, int]] = tuple,
) -> dict[Path, Mark]:
    """Where some fields stand in a text that has been read before.

    Parameters
    ----------
    tokens
        The text, step by step.
    paths
        Which fields; those that are not in the text are left out.
    place
        Line and column of a token's `at`.
    """
    wanted = {path[:end] for path in paths for end in range(len(path) + 1)}
    found: dict[Path, Mark] = {}
    stack: list[_Open] = []
    for token in tokens:
        if token.what == "end":
            stack.pop()
        elif token.what == "key":
            stack[-1].at, stack[-1].key = token.key, token.at
        else:
            path, key = stack[-1].enter(token.at) if stack else ((), token.at)
            if path in wanted:
                found[path] = Mark(place(key), place(token.at))
                if len(found) == len(wanted):
                    break
            if token.what != "scalar":
                stack.append(_Open(path if path in wanted else None))
    return found


@dataclass(slots=True)
class _Open:
    """A container that is being walked: its path where a wanted field may be inside, else None."""

    path: Path | None
    at: str | int = 0
    key: Any = None

    def enter(self, place: Any) -> tuple[Path | None, Any]:
        """The next value's path, and the place of its key."""
        path = None if self.path is None else (*self.path, self.at)
        if not isinstance(self.at, int):
            return path, self.key
        self.at += 1
        return path, place
