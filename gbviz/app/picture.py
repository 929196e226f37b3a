"""Pictures for the command line: Qt is looked for first, and loaded only then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gbviz.app.preflight import preflight
from gbviz.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from gbviz.display.draw import DrawList


def paint_file(draw: DrawList, path: Path) -> None:
    """Write a draw list to a PNG or SVG file, without a display.

    Raises
    ------
    InputError
        Qt is not installed, or a library that it needs; another suffix, or a file that cannot be
        written.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    problem = preflight()
    if problem is not None:
        hint = f"{problem.hint}, or write a .svg, which needs none of this"
        raise InputError(problem.message, where="picture", hint=hint)
    from gbviz.app.export import draw_to_file

    draw_to_file(draw, path)
