"""Every hostile file is refused in words, with its place, before anybody loses patience."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from gbviz.errors import ScenarioError
from gbviz.scenario.file import read
from tests.cli import ask, spawn
from tests.hostile.cases import CASES, data_of
from tests.hostile.right import RIGHT
from tests.hostile.trees import TREES, planted

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

MOST_S = 2.0


def test_there_are_enough() -> None:
    assert len(CASES) + len(RIGHT) + len(TREES) >= 600


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str, tmp_path: Path) -> None:
    says = CASES[name][1]
    file = tmp_path / name
    file.write_bytes(data_of(name))
    start = time.process_time()
    with pytest.raises(ScenarioError) as caught:
        read(file)
    # Time of this process, since other work on the machine is not the file's fault.
    assert time.process_time() - start < MOST_S
    told = str(caught.value)
    assert says in told or says == "case"
    assert all(
        line.startswith(str(file)) for line in told.splitlines() if " more fault" not in line
    )
    assert len(told) < 20_000
    assert "\n" not in told or told.isascii() or all(map(str.isprintable, told.splitlines()))
    assert all(
        len(fault.path) < 1000 and len(fault.message) < 1000 for fault in caught.value.faults
    )
    lines = [fault.line for fault in caught.value.faults]
    assert all(line > 0 for line in lines)
    assert len(caught.value.faults) <= 200


@pytest.mark.parametrize("name", ["billion-laughs.yaml", "override.yaml", "bad-utf8.yaml"])
def test_the_command_line_says_the_same(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(data_of(name))
    ran = ask("check", str(file))
    assert ran.code == 2
    assert CASES[name][1] in ran.out
    assert "Traceback" not in ran.out + ran.err


# What a process says of itself: what others say counts what had it in hand before.
_MEASURED = """
import re, sys, time
from pathlib import Path
from gbviz.cli.main import run
code = run(["check", sys.argv[1]])
most = re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]
print(code, time.process_time(), int(most) / 1024)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc here")  # noqa: PTH110
@pytest.mark.parametrize("name", ["megabytes.yaml", "all-gpus-often.yaml", "wide-last.json"])
def test_the_worst_in_processes_of_their_own(name: str, tmp_path: Path) -> None:
    """`python -m tests.hostile` does so with all."""
    file = tmp_path / name
    file.write_bytes(data_of(name))
    ran = spawn(str(file), code=_MEASURED)
    told, last = ran.stdout.rstrip().rsplit("\n", 1)
    code, seconds, megabytes = map(float, last.split())
    assert (code, ran.stderr) == (2, "")
    assert CASES[name][1] in told
    # Start and imports are in it, and the time of a machine that does other work besides.
    assert seconds < 2 * MOST_S
    assert megabytes < 300


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no devices here")  # noqa: PTH110
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "/proc/self/mem", "/etc/shadow"])
def test_links_to_what_is_no_file(target: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.symlink_to(target)
    with pytest.raises(ScenarioError):
        read(file)


@pytest.mark.parametrize("limit", [2**26 + 1, 2**40])
def test_files_of_any_size(limit: int, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    with file.open("wb") as stream:
        stream.truncate(limit)
    with pytest.raises(ScenarioError, match="is larger than 32 MiB"):
        read(file)


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str, tmp_path: Path) -> None:
    data, values = RIGHT[name]
    file = tmp_path / name
    file.write_bytes(data)
    scenario = read(file)
    found = {path: _value(scenario, path) for path in values}
    assert found == values
    assert not [value for value in found.values() if str(value).startswith("-0")]
    ran = ask("check", str(file))
    assert (ran.code, ran.err) == (0, "")
    assert ": ok, " in ran.out


def _value(scenario: Any, path: str) -> Any:
    for part in path.split("."):
        scenario = scenario[int(part)] if part.isdecimal() else getattr(scenario, part)
    return scenario


@pytest.mark.parametrize("name", TREES)
def test_files_that_lead_to_others(name: str, tmp_path: Path) -> None:
    file = planted(name, tmp_path)
    says = TREES[name][1]
    start = time.process_time()
    if not says:
        assert read(file).cluster.racks == 8
        return
    with pytest.raises(ScenarioError) as caught:
        read(file)
    assert time.process_time() - start < MOST_S
    told = str(caught.value)
    assert says in told
    assert told.startswith(str(tmp_path))
    assert all(map(str.isprintable, told.splitlines()))
