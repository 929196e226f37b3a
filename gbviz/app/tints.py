"""Colours of an answer, found once for all views that show it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gbviz.display.shades import shades

if TYPE_CHECKING:
    from gbviz.app.answer import Answer
    from gbviz.display.shades import Look, Shades


@lru_cache(maxsize=2)
def tints(answer: Answer, look: Look) -> Shades:
    """The shades of an answer; those of the last two looks are remembered."""
    return shades(answer.snapshot, answer.loads, answer.base, look)
