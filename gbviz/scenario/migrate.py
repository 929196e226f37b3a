"""Format versions: older files become newer ones step by step, newer ones are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gbviz.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CURRENT = 1
KEY = "gbviz"

Document = dict[str, Any]

# Version to the function that makes the next version of a document: pure, kept for ever. Version 1
# is the first, so there is none yet.
MIGRATIONS: dict[int, Callable[[Document], Document]] = {}


def migrated(
    document: Document,
    current: int = CURRENT,
    migrations: Mapping[int, Callable[[Document], Document]] = MIGRATIONS,
) -> Document:
    """A document in the current format version.

    Parameters
    ----------
    document
        As it was read; stays as it is.
    current, migrations
        The version to arrive at, and the steps.

    Raises
    ------
    InputError
        No format version, one that there never was, or one of a newer gbviz; `where` is the field.

    Examples
    --------
    >>> migrated({"gbviz": 1, "name": "x"})
    {'gbviz': 1, 'name': 'x'}
    >>> migrated({"gbviz": 2})
    Traceback (most recent call last):
    gbviz.errors.InputError: gbviz: was made by a newer gbviz: it has format version 2, and this \
one reads up to 1; install a newer gbviz
    """
    version = _version(document, current)
    while version < current:
        document = {**migrations[version](dict(document)), KEY: version + 1}
        version += 1
    return document


def _version(document: Document, current: int) -> int:
    if KEY not in document:
        raise InputError(
            "is missing: a file says which format version it has",
            where=KEY,
            hint=f"write '{KEY}: {current}' in the first line",
        )
    version = document[KEY]
    if isinstance(version, bool) or not isinstance(version, int):
        raise InputError(
            f"must be the format version, a whole number (got {version!r:.40})",
            where=KEY,
            hint=f"write '{KEY}: {current}'",
        )
    if version < 1:
        raise InputError(
            f"there is no format version {version}", where=KEY, hint=f"write '{KEY}: {current}'"
        )
    if version > current:
        raise InputError(
            f"was made by a newer gbviz: it has format version {version}, and this one reads up to"
            f" {current}",
            where=KEY,
            hint="install a newer gbviz",
        )
    return version
