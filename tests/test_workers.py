"""Processes that do work, die of it, and lose nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gbviz.workers import Died, Done, each


def square(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 4:
        os._exit(7)
    if number == 5:
        raise ValueError("five")
    return number * number


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_death_costs_one_task(workers: int) -> None:
    found = {one.number: one for one in each(square, range(12), workers)}
    assert sorted(found) == list(range(12))
    dead = {number: one.why for number, one in found.items() if isinstance(one, Died)}
    assert sorted(dead) == [3, 4, 5]
    assert "SIGKILL" in dead[3]
    assert "code 7" in dead[4]
    assert "ValueError: five" in dead[5]
    for number, one in found.items():
        assert isinstance(one, Died) or one.value == number * number


def test_no_task_no_process() -> None:
    assert list(each(square, [], 2)) == []


def slow(number: int) -> int:
    time.sleep(60 if number else 0)
    return os.getpid()


def test_who_leaves_early_leaves_no_process_behind() -> None:
    for one in each(slow, range(3), 2):
        assert isinstance(one, Done)
        pid = one.value
        break
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


_DRIVER = """
import os, sys
from gbviz.workers import each
from tests.test_workers import tell
if __name__ == "__main__":
    list(each(tell, [sys.argv[1]] * 2, 2))
"""


def tell(folder: str) -> None:
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)


def test_workers_end_with_a_driver_that_was_killed(tmp_path: Path) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(_DRIVER)
    seen = tmp_path / "seen"
    seen.mkdir()
    root = str(Path(__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, str(driver), str(seen)], env=os.environ | {"PYTHONPATH": root}
    ) as one:
        until = time.monotonic() + 30
        while len(list(seen.iterdir())) < 2:
            assert time.monotonic() < until
            time.sleep(0.05)
        one.kill()
    pids = [int(path.name) for path in seen.iterdir()]
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() and _runs(pid) for pid in pids):
        assert time.monotonic() < until, "a worker outlived its driver"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
