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

    A number in front is how many lines are shown.
    """
    from tests.cli import ask

    first, _, rest = line.partition(" ")
    most, line = (int(first), rest) if first.isdecimal() else (None, line)
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        ran = ask(*shlex.split(line)[1:])
    finally:
        os.chdir(before)
    rows = [row.rstrip() for row in (ran.out + ran.err).strip("\n").splitlines()]
    if most is not None and len(rows) > most:
        rows = [*rows[:most], "..."]
    text = "\n".join(rows)
    return f"```\n$ {line}\n{text}\n```"
