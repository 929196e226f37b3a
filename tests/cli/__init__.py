"""The command line as its users meet it: words in; exit code, output and messages out."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from gbviz.cli.main import run

# For a shell's line.
GBVIZ = f"{sys.executable} -m gbviz"


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command line gave."""

    code: int
    out: str
    err: str


def ask(*args: str) -> Ran:
    """One command line in this process, where nobody sees colours."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(args)
    return Ran(code, out.getvalue(), err.getvalue())


def answer(*args: str) -> str:
    """The output of a command line that must go well, without a message."""
    ran = ask(*args)
    assert (ran.code, ran.err) == (0, ""), (args, ran.err)
    return ran.out


def document(command: str, *args: str) -> dict[str, Any]:
    """The JSON document of a command line; NaN and infinities are no JSON."""
    found = json.loads(answer(command, "--json", *args), parse_constant=_no_number)
    assert isinstance(found, dict)
    return found


def refusal(*args: str) -> str:
    """The message of a command line that must be refused, without output."""
    ran = ask(*args)
    assert (ran.code, ran.out) == (2, ""), (args, ran)
    assert ran.err.startswith("gbviz: ")
    assert "Traceback" not in ran.err
    return ran.err


def spawn(*args: str, code: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """One command line, or some Python, in a process of its own."""
    command = ["-c", code] if code else ["-m", "gbviz"]
    return subprocess.run(
        [sys.executable, *command, *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | env,
        check=False,
        timeout=60,
    )


def shell(command: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell, such as one with pipes; Python buffers its output as usual."""
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": ""} | env,
        check=False,
        timeout=60,
    )


def _no_number(text: str) -> float:
    raise AssertionError(f"{text} in a JSON document")
