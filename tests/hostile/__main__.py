"""`python -m tests.hostile`: every hostile file by `gbviz check` in a process of its own, measured.

For releases: it takes minutes. Each file must be refused with exit code 2 (or be right, with 0),
without a traceback, within 2 s of processor time and 300 MB of memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MOST_S, MOST_MB = 2.0, 300.0
_WORST = 8


@dataclass(frozen=True, slots=True)
class Found:
    """What one file cost, and what is wrong with how it was taken."""

    name: str
    cpu_s: float
    wall_s: float
    mb: float
    wrong: str


def check(name: str, file: str, code: int, says: str) -> Found:
    """One file, checked in a process of its own."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "gbviz", "check", file],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        out = process.stdout.read().decode("utf-8", "replace")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - start
    cpu_s, mb = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    faults = {
        f"exit code {process.returncode}": process.returncode != code,
        "a traceback": "Traceback" in out,
        f"does not say {says!r}": says not in out and says != "case",
        "characters that a terminal may take for commands": any(
            not line.isprintable() for line in out.splitlines()
        ),
        f"{cpu_s:.1f} s": cpu_s > MOST_S,
        f"{mb:.0f} MB": mb > MOST_MB,
    }
    wrong = ", ".join(what for what, so in faults.items() if so)
    return Found(name, cpu_s, wall_s, mb, wrong)


def write(folder: Path) -> None:
    """Write all files, and a list of them with what is to come of each."""
    from tests.hostile.cases import CASES, data_of
    from tests.hostile.right import RIGHT
    from tests.hostile.trees import TREES, planted

    rows: list[tuple[str, str, int, str]] = []
    for name, (_, says) in CASES.items():
        (folder / name).write_bytes(data_of(name))
        rows.append((name, str(folder / name), 2, says))
    for name, (data, _) in RIGHT.items():
        (folder / name).write_bytes(data)
        rows.append((name, str(folder / name), 0, ": ok, "))
    for name, (_, says) in TREES.items():
        file = planted(name, folder / f"tree-{name}")
        rows.append((f"tree {name}", str(file), 2 if says else 0, says or ": ok, "))
    (folder / "list").write_text(json.dumps(rows))


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        # By another process: what this one holds would count as memory of those that it starts.
        maker = f"from tests.hostile.__main__ import *; write(Path({place!r}))"
        subprocess.run([sys.executable, "-c", maker], check=True)
        rows = json.loads((Path(place) / "list").read_text())
        found = [check(*row) for row in rows]
    for title, key in (("longest", "cpu_s"), ("largest", "mb")):
        sys.stdout.write(f"{title}:\n")
        for one in sorted(found, key=lambda one: -getattr(one, key))[:_WORST]:
            line = f"  {one.cpu_s:5.2f} s (wall {one.wall_s:5.2f} s) {one.mb:4.0f} MB  {one.name}"
            sys.stdout.write(f"{line}\n")
    wrong = [one for one in found if one.wrong]
    for one in wrong:
        sys.stdout.write(f"WRONG {one.name}: {one.wrong}\n")
    sys.stdout.write(f"{len(found)} files, {len(wrong)} wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
