"""Answers that were found before, as many as a budget has room for."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

Found = TypeVar("Found")


class Remembered(Generic[Found]):
    """What was asked for last, by all that it depends on; threads may share it.

    Parameters
    ----------
    most
        Those asked for longest ago are forgotten when all are larger together.

    Examples
    --------
    >>> known: Remembered[str] = Remembered(2)
    >>> for number in (1, 2, 3):
    ...     known.keep(number, str(number), size=1)
    >>> known.get(1), known.get(3), len(known)
    (None, '3', 2)
    """

    def __init__(self, most: int) -> None:
        self._most, self._size, self._lock = most, 0, Lock()
        self._known: OrderedDict[Hashable, tuple[Found, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Hashable) -> Found | None:
        """What is known under a key; None for nothing."""
        with self._lock:
            if key not in self._known:
                return None
            self._known.move_to_end(key)
            return self._known[key][0]

    def keep(self, key: Hashable, found: Found, size: int) -> None:
        """Remember an answer of some size; one that is too large for the budget stays alone."""
        with self._lock:
            self._size += size - self._known.get(key, (found, 0))[1]
            self._known[key] = found, size
            self._known.move_to_end(key)
            while self._size > self._most and len(self._known) > 1:
                self._size -= self._known.popitem(last=False)[1][1]
