"""Figures of a result that stand in boxes, as one list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def flat(values: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values, those in boxes with the box's name in front; reasons are left out.

    Examples
    --------
    >>> list(flat({"step_s": 2.0, "exposed_s": {"tp": 0.5}, "reason": "none"}))
    [('step_s', 2.0), ('exposed_s.tp', 0.5)]
    """
    for key, value in values.items():
        if key == "reason":
            continue
        if isinstance(value, dict):
            yield from flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def is_number(value: Any) -> bool:
    """Whether a value is a number; yes and no are none.

    Examples
    --------
    >>> is_number(1), is_number(0.5), is_number(True), is_number(None)
    (True, True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)
