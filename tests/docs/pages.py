"""The pages of docs/, in which parts are made from the code between two comments.

A part begins with `<!-- made: MAKER WORDS -->` and ends with `<!-- end -->`; the rest is written by
hand. `python -m tests.docs` makes all parts again.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docs import commands, fields, outputs

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))

_PART = re.compile(r"(<!-- made: ([a-z]+)(?: ([^\n]*?))? -->\n)(.*?)(<!-- end -->)", re.DOTALL)

MAKERS: dict[str, Callable[[str], str]] = {
    "fields": fields.table,
    "quantities": fields.quantities,
    "words": fields.words,
    "facts": fields.facts,
    "command": commands.command,
    "commands": commands.overview,
    "parts": commands.parts,
    "file": outputs.file,
    "output": outputs.output,
    "piece": outputs.piece,
}


def made(text: str) -> str:
    """A page with all its parts made again."""
    return _PART.sub(lambda part: f"{part[1]}\n{MAKERS[part[2]](part[3] or '')}\n\n{part[5]}", text)


def fences(text: str) -> list[tuple[str, str]]:
    """The language and the text of every fenced block of a page."""
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
