"""The one family of errors that users see, and how near misses are suggested."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_SHOWN = 20


class GbvizError(Exception):
    """Root of every error that gbviz raises on purpose; its text is for people."""


class InputError(GbvizError):
    """Something the user wrote cannot be used: it says where and what to do.

    Parameters
    ----------
    message
        What is wrong, in one sentence.
    where
        The place: an option, a field's path, a file with line and column. Empty if obvious.
    hint
        What to do instead. Empty if the message already says it.

    Examples
    --------
    >>> print(InputError("must be at least 1 (got 0)", where="racks"))
    racks: must be at least 1 (got 0)
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        self.message, self.where, self.hint = message, where, hint
        text = f"{where}: {message}" if where else message
        super().__init__(f"{text}; {hint}" if hint else text)


class FabricError(GbvizError):
    """A fabric that breaks its own rules: a port used twice, a radix exceeded."""


@dataclass(frozen=True, slots=True)
class FileFault:
    """One thing that is wrong in a file.

    Parameters
    ----------
    file
        The file, as the user named it.
    line, column
        Where, counted from 1; 0 where the file as a whole is meant.
    path
        The field, such as `jobs[0].batch.micro`; "" for the whole file.
    message
        What is wrong.
    hint
        What to do instead, "" if the message says it.

    Examples
    --------
    >>> print(FileFault("a.yaml", 3, 1, "sed", "is not known", "did you mean 'seed'?"))
    a.yaml:3:1: sed: is not known, did you mean 'seed'?
    """

    file: str
    line: int
    column: int
    path: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        text = ": ".join(part for part in (place, self.path, self.message) if part)
        return printable(f"{text}, {self.hint}" if self.hint else text)


class ScenarioError(GbvizError):
    """A file that cannot be used: everything that is wrong with it, at once.

    Parameters
    ----------
    faults
        At least one, in the order of the file.
    unlisted
        How many more are known of than `faults` holds.
    """

    def __init__(self, faults: Sequence[FileFault], unlisted: int = 0) -> None:
        self.faults, self.unlisted = tuple(faults), unlisted
        shown = [str(fault) for fault in self.faults[:MOST_SHOWN]]
        rest = len(self.faults) - len(shown) + unlisted
        if rest:
            # Nobody looks further once there are too many to list.
            least = "at least " if unlisted else ""
            shown.append(f"and {least}{rest:,} more fault{'s' if rest > 1 else ''}")
        super().__init__("\n".join(shown))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[tuple[FileFault, ...], int]]:
        # Exceptions travel between processes as their text alone otherwise.
        return type(self), (self.faults, self.unlisted)


def printable(text: str) -> str:
    r"""A text on one line that no terminal takes for a command: what cannot be shown is spelt out.

    Examples
    --------
    >>> print(printable("spine\x1b[2J\n"))
    spine\x1b[2J\n
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


# Soft hyphen, zero widths but for those that join emoji, separators of lines, directions, marks of
# order and language, what is no character, and control characters of the second kind.
_HIDDEN = re.compile(
    "[\x80-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)


def spelt_out(text: str) -> str:
    r"""Lines for a screen, in which what hides, or turns the direction of others, is spelt out.

    Colours of a terminal stay, so the text must hold no control characters but ours: names in files
    may hold none.

    Examples
    --------
    >>> print(spelt_out("a\u202eb\nc"))
    a\u202eb
    c
    """
    return _HIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)


def nearest(word: str, choices: Iterable[str], *, cutoff: float = 0.5) -> str | None:
    """The choice most like `word`, or None where nothing is near.

    Examples
    --------
    >>> nearest("azure-gb30", ["gb300-su", "azure-gb300"])
    'azure-gb300'
    >>> nearest("xyz", ["azure-gb300"]) is None
    True
    """
    found = difflib.get_close_matches(word, list(choices), n=1, cutoff=cutoff)
    return found[0] if found else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """`did you mean X?` for the nearest choice, or the choices themselves where none is near.

    Examples
    --------
    >>> did_you_mean("adaptve", ["adaptive", "static"])
    "did you mean 'adaptive'?"
    >>> did_you_mean("q", ["adaptive", "static"])
    'choose one of: adaptive, static'
    """
    listed = list(choices)
    found = nearest(word, listed)
    return f"did you mean {found!r}?" if found else "choose one of: " + ", ".join(listed)
