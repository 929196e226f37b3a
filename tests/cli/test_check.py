"""`gbviz check`, and files where presets go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli import answer, ask, document, refusal
from tests.scenario.samples import EXAMPLE, SMALL

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def right(tmp_path: Path) -> str:
    (tmp_path / "right.yaml").write_text(EXAMPLE)
    return str(tmp_path / "right.yaml")


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    (tmp_path / "wrong.yaml").write_text(SMALL + "sede: 7\nevents: [{at: 0, fail: spine-99}]\n")
    return str(tmp_path / "wrong.yaml")


def test_a_right_file(right: str) -> None:
    assert answer("check", right) == f"{right}: ok, 4,608 GPUs, 2 jobs, 4 events, 2 expectations\n"


def test_a_wrong_file(right: str, wrong: str) -> None:
    ran = ask("check", wrong, right)
    lines = ran.out.splitlines()
    assert (ran.code, ran.err) == (2, "")
    assert lines[0].startswith(f"{wrong}:3:1: sede: is not known, did you mean 'seed'?")
    assert lines[1].startswith(
        f"{wrong}:4:24: events[0].fail: there is no spine-99, here there are"
    )
    assert lines[2].startswith(f"{right}: ok")
    assert len(lines) == 3


def test_one_document(right: str, wrong: str) -> None:
    found = document("check", right)
    assert found["files"] == [{"file": right, "ok": True, "faults": [], "unlisted": 0}]
    ran = ask("check", "--json", right, wrong)
    assert ran.code == 2
    files = json.loads(ran.out)["files"]
    assert [one["ok"] for one in files] == [True, False]
    assert files[1]["faults"][0] == {
        "file": wrong,
        "line": 3,
        "column": 1,
        "path": "sede",
        "message": "is not known",
        "hint": "did you mean 'seed'?",
    }


def test_all_faults_are_in_the_document_though_twenty_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    file.write_text(SMALL + "".join(f"key{number}: 1\n" for number in range(50)))
    assert len(ask("check", str(file)).out.splitlines()) == 21
    assert len(json.loads(ask("check", "--json", str(file)).out)["files"][0]["faults"]) == 50


def test_no_file() -> None:
    ran = ask("check")
    assert ran.code == 2
    assert "Missing argument" in ran.err
    ran = ask("check", "nothing.yaml")
    assert (ran.code, ran.out) == (2, "nothing.yaml: cannot be read: No such file or directory\n")


def test_names_of_files_cannot_command_a_terminal(tmp_path: Path) -> None:
    file = tmp_path / "a\x1b[2J.yaml"
    file.write_text(SMALL)
    assert "\\x1b[2J.yaml: ok" in answer("check", str(file))
    assert "\x1b" not in ask("check", "--json", "b\x1b.yaml").out


def test_a_file_stands_where_a_preset_does(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(SMALL + "seed: 5\nrouting: spray\n")
    asked = document("info", str(file))["scenario"]
    assert (asked["seed"], asked["routing"]) == (5, "spray")
    asked = document("info", str(file), "--seed", "0", "--routing", "ecmp")["scenario"]
    assert (asked["seed"], asked["routing"]) == (0, "ecmp")
    found = document("info", str(file), "--racks", "4", "--cooling-capacity-kw", "100")
    assert found["fabric"]["racks"] == 4
    assert found["cooling"][0]["capacity_kw"] == 100


def test_a_wrong_file_where_a_preset_stands(wrong: str) -> None:
    assert "sede: is not known" in refusal("info", wrong)
