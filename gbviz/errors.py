"""The one family of errors that users see, and how near misses are suggested."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


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
