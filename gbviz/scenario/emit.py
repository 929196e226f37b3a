"""Values as YAML text of our strict subset: the way a person would write a scenario."""

from __future__ import annotations

import re
from typing import Any

from gbviz.scenario.strict import RefusedScalar
from gbviz.scenario.yaml_subset import scalar

_INDENT = 2
_WIDE = 96
# Letters, digits and signs that mean nothing to any YAML reader where they stand here.
_PLAIN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_./~>*+()-]|(?<=[^ ])#| (?=[A-Za-z0-9_(]))*")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def text_of(document: dict[str, Any]) -> str:
    """A whole document.

    Examples
    --------
    >>> print(text_of({"gbviz": 1, "events": [{"at": "10min", "fail": "spine-3"}]}), end="")
    gbviz: 1
    events:
      - {at: 10min, fail: spine-3}
    """
    if not document:
        return "{}\n"
    return "".join(f"{quoted(key)}:{after_key(value, 0)}\n" for key, value in document.items())


def after_key(value: Any, indent: int) -> str:
    """What stands after a key and its colon.

    Parameters
    ----------
    value
        The key's value.
    indent
        The key's column, counted from 0.
    """
    if isinstance(value, dict) and value and (indent == 0 or not _fits(value, indent)):
        lines = (f"{quoted(key)}:{after_key(one, indent + _INDENT)}" for key, one in value.items())
        return "".join(f"\n{' ' * (indent + _INDENT)}{line}" for line in lines)
    if isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        return "".join(f"\n{item(one, indent + _INDENT)}" for one in value)
    return f" {inline(value)}"


def item(value: Any, indent: int) -> str:
    """One item of a list on lines of its own, with its dash at a column counted from 0."""
    dash = " " * indent + "- "
    if not isinstance(value, dict) or not value or _fits(value, indent):
        return dash + inline(value)
    lines = [f"{quoted(key)}:{after_key(one, indent + 2)}" for key, one in value.items()]
    return dash + f"\n{' ' * (indent + 2)}".join(lines)


def inline(value: Any) -> str:
    """A value on one line.

    Examples
    --------
    >>> inline({"at": 0.5, "fail": "rack-[0-3]", "on": [1, True, None]})
    '{at: 0.5, fail: "rack-[0-3]", "on": [1, true, null]}'
    """
    if isinstance(value, dict):
        pairs = (f"{quoted(key)}: {inline(one)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(inline(one) for one in value) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return quoted(str(value))


def quoted(text: str) -> str:
    """A text, in quotes where it would not be read as that text without them.

    Examples
    --------
    >>> quoted("leaf-0~spine-3#1"), quoted("no"), quoted("10")
    ('leaf-0~spine-3#1', '"no"', '"10"')
    """
    if _PLAIN.fullmatch(text):
        try:
            if scalar(text) == text:
                return text
        except RefusedScalar:
            pass
    return '"' + "".join(_escaped(sign) for sign in text) + '"'


def _escaped(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign.isprintable():
        return sign
    code = ord(sign)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _fits(value: dict[str, Any], indent: int) -> bool:
    """Whether a mapping holds nothing nested and goes on one line."""
    nested = any(isinstance(one, dict | list) and one for one in value.values())
    return not nested and len(inline(value)) + indent <= _WIDE
