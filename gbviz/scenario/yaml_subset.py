"""A strict subset of YAML 1.2, read from libyaml's events: no surprises, no bombs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import yaml
from yaml.reader import Reader
from yaml.scanner import Scanner

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
    from collections.abc import Callable, Iterable, Iterator


class Parser(Protocol):
    """What turns text into events."""

    def get_event(self) -> Any:
        """The next event; a StreamEndEvent is the last."""
        ...


class PureParser(Reader, Scanner, yaml.parser.Parser):
    """PyYAML's own parser, for a PyYAML without libyaml: the same subset, at a tenth the speed."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


try:
    from yaml._yaml import CParser
except ImportError:
    PARSER: Callable[[str], Parser] = PureParser
else:
    PARSER = CParser

_NOT_YAML = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_GUESSED = frozenset(
    form
    for word in ("yes", "no", "on", "off", "y", "n")
    for form in (word, word.capitalize(), word.upper())
)
_TRUE = ("yes", "on", "y")
_NUMERIC = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_ENDLESS = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_NO_KEY = object()
# A word of a line as people see it, and signs in it that YAML takes for its own.
_WORD = re.compile(r"[^\s,'\"]+")
_SIGNS, _LONGEST = frozenset("[]*"), 60
# Keys are counted too, and each takes longer than in JSON: fewer, so that none waits for long.
MOST_VALUES = 250_000
_MORE = "a JSON file may hold more"


def scalar(text: str) -> str | int | float | bool | None:
    """What an unquoted scalar stands for, by the core schema of YAML 1.2.

    Raises
    ------
    RefusedScalar
        A word that YAML 1.1 took for a truth value, a number that is not finite, or too long.

    References
    ----------
    YAML 1.2.2, section 10.3.2, tag resolution of the core schema.

    Examples
    --------
    >>> scalar("010"), scalar("0x10"), scalar("1e3"), scalar("~"), scalar("12:30:45")
    (10, 16, 1000.0, None, '12:30:45')
    """
    if text[:1] not in _NUMERIC:
        if text in _WORDS:
            return _WORDS[text]
        if text in _GUESSED:
            meant = "true" if text.lower() in _TRUE else "false"
            raise RefusedScalar(
                f"an unquoted {text} is a truth value to some readers and text to others",
                f'write {meant}, or "{text}" for the text',
            )
        return text
    if _INTEGER.fullmatch(text) or _OTHER_BASE.fullmatch(text):
        return whole(text, base=0 if text[:2] in ("0o", "0x") else 10)
    if _FLOAT.fullmatch(text):
        return finite(text)
    if _ENDLESS.fullmatch(text):
        raise RefusedScalar(f"{text} is not a finite number", "write a number")
    return text


def load_yaml(text: str, file: str = "<text>") -> Any:
    """The values of a YAML text: dicts, lists, texts, numbers, truth values, None.

    Parameters
    ----------
    text
        Already decoded.
    file
        What to call it in messages.

    Raises
    ------
    ScenarioError
        Anything that is not part of the subset, each with line and column: anchors, aliases, tags,
        merge keys, directives, second documents, keys twice or not text, unquoted yes, no, on and
        off, .nan and .inf, more than 32 levels or 250,000 values and keys.

    Examples
    --------
    >>> load_yaml("{seed: 7, racks: 'rack-[0-3]', at: 10min}")
    {'seed': 7, 'racks': 'rack-[0-3]', 'at': '10min'}
    """
    refused = Refusals(file)
    found = _Builder(refused).build(events_of(text, refused))
    refused.raise_if_any()
    return found


def locate_yaml(text: str, paths: Iterable[Path]) -> dict[Path, Mark]:
    """Where fields stand in a YAML text that `load_yaml` has accepted."""
    return locate(_tokens(events_of(text, Refusals(""))), paths)


def events_of(text: str, refused: Refusals) -> Iterator[Any]:
    """All events of a text; what the parser cannot read is refused at its place."""
    if wrong := _NOT_YAML.search(text):
        _refuse_character(text, wrong.start(), refused)
    parser = None
    try:
        parser = PARSER(text)
        event = parser.get_event()
        while not isinstance(event, yaml.StreamEndEvent):
            yield event
            event = parser.get_event()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        parts = [part for part in (error.context, error.problem) if part]
        refused.stop(
            line, column, "cannot be read as YAML: " + ", ".join(parts), _advice(text, mark)
        )
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        mark = parser.get_mark() if isinstance(parser, PureParser) else None
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        refused.stop(line, column, f"cannot be read as YAML: {str(error).partition(chr(10))[0]}")


def _refuse_character(text: str, index: int, refused: Refusals) -> NoReturn:
    line, column = place_in(text, index)
    refused.stop(line, column, f"the character U+{ord(text[index]):04X} is not allowed")


def _advice(text: str, mark: Any) -> str:
    """Advice where a tab was taken for indentation, or a selector for YAML's own signs."""
    lines = text.splitlines()
    line = lines[mark.line] if mark is not None and mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "indent with spaces, not tabs"
    words = (word for word in _WORD.finditer(line) if word.start() <= mark.column <= word.end())
    word = next((found[0].rstrip("}") for found in words), "")
    return f'put it in quotes: "{word}"' if _SIGNS & set(word) and len(word) <= _LONGEST else ""


class _Builder:
    """Builds dicts and lists from events; one use."""

    def __init__(self, refused: Refusals) -> None:
        self.refused = refused
        self.values = 0
        self.documents = 0
        self.found: Any = None
        self.stack: list[tuple[Any, Any]] = []
        self.box: Any = None
        self.key: Any = _NO_KEY

    def build(self, events: Iterator[Any]) -> Any:
        """The value of the whole text."""
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._check(event)
                self._scalar(event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._check(event)
                self._open({} if kind is yaml.MappingStartEvent else [], event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self.box, self.key = self.stack.pop()
            elif kind is yaml.AliasEvent:
                self._add(event, "aliases (*) are not allowed", "write the value again")
                self._put(None, event)
            elif kind is yaml.DocumentStartEvent:
                self._document(event)
        if not self.documents:
            self.refused.stop(1, 1, "the file is empty")
        return self.found

    def _add(self, event: Any, message: str, hint: str = "") -> None:
        mark = event.start_mark
        self.refused.add(mark.line + 1, mark.column + 1, message, hint)

    def _check_size(self, event: Any) -> None:
        mark = event.start_mark
        place = mark.line + 1, mark.column + 1
        self.refused.check_size(*place, len(self.stack), self.values, MOST_VALUES, _MORE)

    def _document(self, event: Any) -> None:
        mark = event.start_mark
        self.documents += 1
        if self.documents > 1:
            self.refused.stop(mark.line + 1, mark.column + 1, "a second document is not allowed")
        if event.version is not None or event.tags:
            self._add(event, "directives (%) are not allowed", "leave the line out")

    def _check(self, event: Any) -> None:
        self.values += 1
        if event.anchor is not None:
            self._add(event, "anchors (&) are not allowed", "write values where they are used")
        if event.tag is not None:
            self._add(event, "tags (!) are not allowed", "leave the tag out, quote text")
        if self.values > MOST_VALUES:
            self._check_size(event)

    def _scalar(self, event: Any) -> None:
        value = event.value
        plain = not event.style
        is_key = type(self.box) is dict and self.key is _NO_KEY
        if plain:
            if is_key and value == "<<":
                self._add(event, "merge keys (<<) are not allowed", "write the fields themselves")
            try:
                value = scalar(value)
            except RefusedScalar as why:
                self._add(event, *why.args)
        elif half_a_pair(value):
            self._add(event, "text holds half of a surrogate pair")
        if is_key:
            self._key(value, event)
        else:
            self._put(value, event)

    def _key(self, value: Any, event: Any) -> None:
        if not isinstance(value, str):
            self._add(event, "keys are text", f'quote it: "{event.value[:40]}"')
            value = event.value
        if value in self.box:
            self._add(event, f"duplicate key {value[:60]!r}", "keep one of them")
        if len(self.box) >= MOST_KEYS:
            self.refused.too_wide(event.start_mark.line + 1, event.start_mark.column + 1)
        self.key = value

    def _put(self, value: Any, event: Any) -> None:
        if type(self.box) is dict:
            if self.key is _NO_KEY:
                self._key("", event)
                return
            self.box[self.key] = value
            self.key = _NO_KEY
        elif self.box is None:
            self.found = value
        else:
            self.box.append(value)

    def _open(self, box: Any, event: Any) -> None:
        if type(self.box) is dict and self.key is _NO_KEY:
            mark = event.start_mark
            self.refused.stop(
                mark.line + 1, mark.column + 1, "keys are text, not lists or mappings"
            )
        self._put(box, event)
        self.stack.append((self.box, self.key))
        if len(self.stack) > MOST_DEPTH:
            self._check_size(event)
        self.box, self.key = box, _NO_KEY


def _tokens(events: Iterator[Any]) -> Iterator[Token]:
    """The same text as steps, for `locate`."""
    stack: list[list[bool]] = []
    for event in events:
        mark = event.start_mark
        place = (mark.line + 1, mark.column + 1)
        if isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
            yield Token("end", place)
        elif isinstance(event, yaml.NodeEvent):
            # [in a mapping, the next scalar is a key]
            if stack and stack[-1][0]:
                stack[-1][1] = not stack[-1][1]
                if not stack[-1][1]:
                    yield Token("key", place, getattr(event, "value", ""))
                    continue
            if isinstance(event, yaml.CollectionStartEvent):
                is_map = isinstance(event, yaml.MappingStartEvent)
                stack.append([is_map, is_map])
                yield Token("map" if is_map else "list", place)
            else:
                yield Token("scalar", place)
