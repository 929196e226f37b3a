"""`gbviz run` as its users meet it: good files, bad ones, and both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli import answer, ask, document, refusal

if TYPE_CHECKING:
    from pathlib import Path

JOB = "{name: a, kind: collective, op: all_to_all, size: 1GB, racks: 'rack-[0-3]'}"
GOOD = f"""gbviz: 1
cluster: {{preset: gb300-su}}
jobs:
  - {JOB}
events:
  - {{at: 10min, fail: leaf-0}}
"""


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    return path


def failing(tmp_path: Path) -> Path:
    path = tmp_path / "failing.yaml"
    path.write_text(GOOD + 'expect:\n  - {job: a, slowdown: "<= 1.1"}\n')
    return path


def test_one_file_is_one_document(good: Path) -> None:
    found = document("run", str(good))
    [job] = found["jobs"]
    # Each GPU of rack 0 lost the NIC of its rail: three NICs carry what four did.
    assert job["slowdown"] == pytest.approx(4 / 3)
    assert job["state"] == "degraded"
    assert (job["one_off"]["stall_s"], job["lost_gpus"]) == (pytest.approx(30.06, abs=0.01), 0)
    assert "1.3333" in answer("run", str(good))


def test_several_files_are_a_list(good: Path) -> None:
    found = document("run", str(good), str(good))
    assert len(found["runs"]) == 2
    assert found["runs"][0]["jobs"] == document("run", str(good))["jobs"]


def test_before_the_fault_nothing_is_wrong(good: Path) -> None:
    [job] = document("run", str(good), "--at", "5min")["jobs"]
    assert (job["slowdown"], job["state"]) == (1.0, "running")


def test_what_holds_then_is_what_whatif_says(good: Path) -> None:
    asked = document("whatif", "gb300-su", "--fail", "leaf-0")
    assert document("run", str(good))["post"] == asked["post"]


def test_an_expectation_that_fails(tmp_path: Path) -> None:
    path = failing(tmp_path)
    ran = ask("run", str(path))
    assert ran.code == 1
    assert f"{path}: expected job a: slowdown <= 1.1, found 1.33333" in ran.err
    # Expectations are of the end.
    assert ask("run", str(path), "--at", "5min").code == 0


def test_a_bad_file_does_not_stop_the_others(good: Path, tmp_path: Path) -> None:
    bad, none = tmp_path / "bad.yaml", tmp_path / "none.yaml"
    bad.write_text(GOOD.replace("leaf-0", "leaf-999"))
    ran = ask("run", str(bad), str(none), str(good), str(failing(tmp_path)), "--json")
    assert ran.code == 2
    assert f"{bad}:6:" in ran.err
    assert str(none) in ran.err
    assert [len(one["expect"]) for one in json.loads(ran.out)["runs"]] == [0, 1]


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (JOB.replace("op:", "algorithm: nvls, op:"), "has no algorithm 'nvls'"),
        ("{name: s, kind: traffic, pattern: shift, racks: rack-0}", "to itself"),
    ],
)
def test_what_run_refuses_check_refuses(tmp_path: Path, job: str, says: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(GOOD.replace(JOB, job))
    for command in ("check", "run"):
        ran = ask(command, str(path))
        assert ran.code == 2
        assert f"{path}:4:" in ran.err + ran.out
        assert says in ran.err + ran.out


def test_a_preset_has_no_times() -> None:
    assert "--at: goes with a scenario file" in refusal("whatif", "gb300-su", "--at", "5s")
