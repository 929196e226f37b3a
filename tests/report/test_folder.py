"""The folders that a run writes, read back as other programs would."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gbviz.errors import InputError
from gbviz.report.junit import Suite, junit, limits_of
from gbviz.report.shelf import folder_names, save_folder
from tests.cli import ask, refusal

TEXT = """gbviz: 1
name: "=cmd() <b>"
cluster: {preset: gb300-su}
jobs:
  - {name: "-a", kind: collective, op: all_to_all, size: 1GB, racks: 'rack-[0-3]'}
events:
  - {at: 10min, fail: leaf-0}
duration: 20min
expect:
  - {job: "-a", slowdown: "<= 1.1"}
  - {fabric: live_gpus, value: "== 576"}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "leaf.yaml"
    path.write_text(TEXT)
    return path


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_file_says_the_same_as_the_answer(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = ask("run", str(scenario), "-o", str(out), "--json")
    assert ran.code == 1
    folder = out / "leaf"
    assert sorted(path.name for path in folder.iterdir()) == [
        "jobs.csv",
        "junit.xml",
        "links.csv",
        "made.json",
        "report.html",
        "result.json",
        "scenario.yaml",
        "timeline.csv",
    ]
    found = json.loads((folder / "result.json").read_text())
    assert found == json.loads(ran.out)
    [job] = table(folder / "jobs.csv")
    # A name that a spreadsheet would take for a formula is guarded.
    assert job["name"] == "'-a"
    assert float(job["slower"]) == pytest.approx(4 / 3)
    links = {row["name"]: row for row in table(folder / "links.csv")}
    # 8 racks with 72 NICs and 8 leaves with 72 up links each.
    assert len(links) == 2 * 8 * 72
    dead = links["rack-0/tray-0/nic-0~leaf-0#0"]
    assert dead["state"] == "down"
    assert float(dead["GB/s"]) == 0.0
    rows = table(folder / "timeline.csv")
    assert [float(row["end_s"]) for row in rows] == [one["end_s"] for one in found["timeline"]]
    assert rows[0]["'-a: state"] == "running"


def test_junit_has_a_test_for_each_expectation(scenario: Path, tmp_path: Path) -> None:
    ask("run", str(scenario), "-o", str(tmp_path))
    root = ET.parse(tmp_path / "leaf/junit.xml").getroot()
    [suite] = root
    assert suite.attrib == {"name": "=cmd() <b>", "tests": "2", "failures": "1"}
    slow, live = suite
    assert slow.attrib == {"classname": "leaf.yaml", "name": "job -a: slowdown <= 1.1"}
    assert [one.attrib["message"] for one in slow] == ["found 1.33333"]
    assert list(live) == []


def test_the_same_bytes_on_rerun(scenario: Path, tmp_path: Path) -> None:
    def files() -> dict[str, bytes]:
        ask("run", str(scenario), "-o", str(tmp_path / "out"))
        return {path.name: path.read_bytes() for path in (tmp_path / "out/leaf").iterdir()}

    assert files() == files()


def test_files_of_one_name_do_not_meet(scenario: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    twin = other / "Leaf.yml"
    twin.write_text(TEXT.replace("leaf-0", "leaf-1"))
    ask("run", str(scenario), str(twin), "-o", str(tmp_path / "out"))
    faults = [
        json.loads((tmp_path / "out" / name / "result.json").read_text())["faults"]
        for name in ("leaf", "Leaf-2")
    ]
    assert [rows[0]["component"] for rows in faults] == ["leaf-0", "leaf-1"]


def test_a_bad_file_leaves_the_others(scenario: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("gbviz: 2\n")
    ran = ask("run", str(bad), str(scenario), "-o", str(tmp_path / "out"))
    assert ran.code == 2
    assert "bad.yaml:1" in ran.err
    assert [path.name for path in (tmp_path / "out").glob("*/")] == ["leaf"]


def test_a_folder_that_cannot_be(scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    said = refusal("run", str(scenario), "-o", str(tmp_path / "taken"))
    assert "taken" in said
    assert "-o" in said
    assert (tmp_path / "taken").read_text() == "mine"
    with pytest.raises(InputError, match="cannot be made"):
        save_folder(tmp_path / "a\0b", {})


@pytest.mark.parametrize(
    ("stems", "names"),
    [
        (["a", "a", "A"], ["a", "a-2", "A-3"]),
        (["a-2", "a", "a"], ["a-2", "a", "a-3"]),
        (["...", "-"], ["scenario", "scenario-2"]),
        (["con", "com1.x"], ["con-", "com1.x-"]),
        (["\U0001f525 hot", "über"], ["hot", "über"]),
        (["x" * 200], ["x" * 100]),
    ],
)
def test_names_of_folders(stems: list[str], names: list[str]) -> None:
    assert folder_names([Path(f"{stem}.yaml") for stem in stems]) == names


def test_junit_holds_no_character_that_xml_cannot() -> None:
    row = {"expect": "a\x00\x1b[31m", "value": None, "passed": False, "reason": "\ud800 gone"}
    suite = ET.fromstring(junit([Suite("\x07 & <", "b\ufffe", limits_of([row]))]))[0]
    assert suite.attrib["name"] == "\ufffd & <"
    assert suite[0].attrib["name"] == "a\ufffd\ufffd[31m"
    assert suite[0][0].attrib["message"] == "found no value: \ufffd gone"
