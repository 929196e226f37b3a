"""Files and what commands print, as pages show them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]


def file(name: str) -> str:
    """A file of the repository."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return f"```yaml\n{text}```"


def output(line: str) -> str:
    """A command line and what it prints, from the folder of the repository."""
    from tests.cli import ask

    before = Path.cwd()
    os.chdir(ROOT)
    try:
        ran = ask(*shlex.split(line)[1:])
    finally:
        os.chdir(before)
    text = "\n".join(row.rstrip() for row in (ran.out + ran.err).strip("\n").splitlines())
    return f"```\n$ {line}\n{text}\n```"
