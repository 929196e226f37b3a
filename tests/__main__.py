"""`python -m tests`: every check of the project, the quickest first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent

CHECKS = (
    ("style", [BIN / "ruff", "check", "."]),
    ("format", [BIN / "ruff", "format", "--check", "."]),
    ("types", [BIN / "mypy"]),
    ("layers", [BIN / "lint-imports"]),
    # Two at a time, a file's tests together: a batch has workers of its own.
    ("tests", [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", *sys.argv[1:]]),
)


def main() -> int:
    failed = []
    for name, command in CHECKS:
        sys.stdout.write(f"== {name}\n")
        sys.stdout.flush()
        if subprocess.run([str(word) for word in command], cwd=ROOT, check=False).returncode:
            failed.append(name)
    if failed:
        sys.stdout.write(f"FAILED: {', '.join(failed)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
