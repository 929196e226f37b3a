"""Files and what commands print, as pages show them."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]


def file(name: str) -> str:
    """A file of the repository."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return f"```yaml\n{text}```"


def piece(words: str) -> str:
    """Some sections of a scenario file, by their keys."""
    name, *keys = words.split()
    text = (ROOT / name).read_text(encoding="utf-8")
    sections = re.findall(r"^(\w+)(:.*\n(?:[ #].*\n)*)", text, re.MULTILINE)
    shown = "".join(f"{key}{rest}" for key, rest in sections if key in keys)
    assert len([key for key, _ in sections if key in keys]) == len(keys), words
    return f"```yaml\n{shown}```"


def output(line: str) -> str:
    """A command line and what it prints, from the folder of the repository.

    In front may stand how many lines are shown; or `/A/B/`, the words with which the first line
    begins that is shown, and the first that is not any more.
    """
    from tests.cli import ask

    shown, _, rest = line.partition(" ")
    shown, line = ("", line) if shown == "gbviz" else (shown, rest)
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        ran = ask(*shlex.split(line)[1:])
    finally:
        os.chdir(before)
    rows = _part([row.rstrip() for row in (ran.out + ran.err).strip("\n").splitlines()], shown)
    text = "\n".join(rows)
    return f"```\n$ {line}\n{text}\n```"


def _part(rows: list[str], shown: str) -> list[str]:
    """Those rows that are shown, with dots for the others."""
    start, stop = 0, len(rows)
    if shown.startswith("/"):
        first, last = shown.strip("/").split("/")
        start = next(number for number, row in enumerate(rows) if row.startswith(first))
        stop = next(n for n, row in enumerate(rows) if n > start and row.startswith(last))
    elif shown:
        stop = min(int(shown), stop)
    above, below = ["..."] * (start > 0), ["..."] * (stop < len(rows))
    return [*above, *rows[start:stop], *below]
