"""All hostile files by name: what each holds, and a piece of what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hostile.bombs import BOMBS
from tests.hostile.names import REFUSED_NAMES
from tests.hostile.texts import ENCODINGS, SYNTAX
from tests.hostile.values import CLUSTER, EXPECTED, HAPPENS, MEANING, WORK

if TYPE_CHECKING:
    from collections.abc import Callable

_MADE = (ENCODINGS, SYNTAX, MEANING, CLUSTER, HAPPENS, WORK, EXPECTED, REFUSED_NAMES)
CASES: dict[str, tuple[bytes | Callable[[], bytes], str]] = {**BOMBS}
for _kind in _MADE:
    CASES |= _kind
# Names are files: each kind has its own.
assert len(CASES) == len(BOMBS) + sum(map(len, _MADE))


def data_of(name: str) -> bytes:
    """What a hostile file holds."""
    data = CASES[name][0]
    return data if isinstance(data, bytes) else data()
