"""All shipped scenarios as reports: time, size, memory.

`python -m tests.benchmarks.bench_batch` prints them, for one worker and for two.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gbviz.assets import scenario_paths


def main() -> None:
    paths = [str(path) for path in scenario_paths()]
    with tempfile.TemporaryDirectory() as folder:
        for workers in ("1", "2"):
            out = Path(folder) / workers
            command = [sys.executable, "-m", "gbviz", "run", *paths, "-o", str(out), "--quiet"]
            begin = time.perf_counter()
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([*command, "--workers", workers], check=True)
            wall = time.perf_counter() - begin
            cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            largest = max(path.stat().st_size for path in out.rglob("report.html"))
            print(
                f"{len(paths)} scenarios, {workers} worker(s): {wall:.1f} s wall (goal 60),"
                f" {cpu:.1f} s CPU, largest report {largest / 1e6:.2f} MB (goal 2)"
            )
            begin = time.perf_counter()
            subprocess.run([*command, "--resume"], check=True)
            print(f"  nothing to do with --resume: {time.perf_counter() - begin:.1f} s")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory of the largest process {peak:.0f} MB")


if __name__ == "__main__":
    main()
