"""`gbviz compare`: scenarios, presets and result folders, side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gbviz.units import percent
from tests.cli import answer, ask, refusal

if TYPE_CHECKING:
    from pathlib import Path

JOB = "  - {name: a, kind: collective, op: all_to_all, size: 1GB, racks: 'rack-[0-3]'}"
TEXT = """gbviz: 1
cluster: {{preset: gb300-su}}
jobs:
{job}
events:
{events}
duration: 1h
"""


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(TEXT.format(job=JOB, events="  - {at: 0s, fail: spine-0}"))
    both = "  - {at: 0s, fail: spine-0}\n  - {at: 10min, fail: leaf-0}"
    two.write_text(TEXT.format(job=JOB, events=both))
    return one, two


def compared(*args: object) -> dict[str, Any]:
    found = json.loads(answer("compare", *map(str, args), "--json"))
    assert isinstance(found, dict)
    return found


def rows(found: dict[str, Any]) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["group"], row["name"], row["figure"]): row for row in found["figures"]}


def test_every_figure_of_both(pair: tuple[Path, Path]) -> None:
    found = compared(*pair)
    assert found["differs"] == [
        {
            "where": "events",
            "a": None,
            "b": {"at": "10min", "fail": "leaf-0"},
            "reason": {"a": "not stated"},
        }
    ]
    figures = rows(found)
    one, two = (json.loads(answer("run", str(path), "--json")) for path in pair)
    row = figures["fabric", "", "all_to_all_GBps_per_gpu"]
    assert (row["base_a"], row["a"], row["b"]) == (
        one["base"]["all_to_all_GBps_per_gpu"],
        one["post"]["all_to_all_GBps_per_gpu"],
        two["post"]["all_to_all_GBps_per_gpu"],
    )
    # By the four NICs of a tray on three rails.
    assert figures["job", "a", "slowdown"]["b"] == pytest.approx(4 / 3)
    goodput = figures["totals", "a", "goodput"]
    assert goodput["delta"] == two["totals"]["goodput"]["a"] - one["totals"]["goodput"]["a"]
    for row in found["figures"]:
        gone = {side for side in ("base_a", "base_b", "a", "b", "delta") if row[side] is None}
        assert set(row.get("reason", {})) == gone


def test_a_folder_says_what_its_file_says(pair: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = pair
    ask("run", str(one), str(two), "-o", str(tmp_path / "out"))
    same = compared(tmp_path / "out/one", one)
    assert same["differs"] == []
    assert all(row["a"] == row["b"] for row in same["figures"])
    assert (
        compared(tmp_path / "out/one", tmp_path / "out/two")["figures"]
        == (compared(one, two)["figures"])
    )
    assert "Both ask the same." in answer("compare", str(one), str(tmp_path / "out/one"))


def test_jobs_go_by_name_and_what_one_lacks_is_said(pair: tuple[Path, Path]) -> None:
    one, two = pair
    job = "\n" + JOB.replace("a,", "b,", 1).replace("[0-3]", "[4-7]")
    two.write_text(one.read_text().replace("\nevents", f"{job}\nevents"))
    found = compared(one, two)
    [row] = found["differs"]
    assert (row["where"], row["a"]) == ("jobs.b", None)
    flow = rows(found)["job", "b", "busbw_GBps"]
    assert flow["a"] is None
    assert flow["delta"] is None
    assert flow["reason"]["a"] == "this result has no such figure"


def test_presets_and_the_table(pair: tuple[Path, Path]) -> None:
    found = compared("gb300-su", "azure-gb300")
    assert rows(found)["fabric", "", "live_gpus"]["delta"] == 4608 - 576
    shown = answer("compare", *map(str, pair))
    assert "events" in shown
    assert "a: slowdown" in shown
    assert "a: slowdown" not in answer("compare", str(pair[0]), str(pair[0]))


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("result.json", "{", "no JSON"),
        ("result.json", "[" * 100_000, "no JSON"),
        ("result.json", '{"runs": []}', "is not a result"),
        ("result.json", None, "No such file"),
        ("scenario.yaml", None, "No such file"),
        ("scenario.yaml", "gbviz: 9", "scenario.yaml:1"),
    ],
)
def test_a_folder_that_is_none(
    name: str, text: str | None, says: str, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    ask("run", str(pair[0]), "-o", str(tmp_path / "out"))
    path = tmp_path / "out/one" / name
    path.unlink()
    if text is not None:
        path.write_text(text)
    message = refusal("compare", str(path.parent), str(pair[1]))
    assert says in message
    assert name in message


def test_a_folder_of_many(pair: tuple[Path, Path], tmp_path: Path) -> None:
    ask("run", *map(str, pair), "-o", str(tmp_path / "out"))
    message = refusal("compare", str(tmp_path / "out"), str(pair[0]))
    assert f"choose one of the folders in it: {tmp_path / 'out'}/NAME" in message


def test_the_verdict_stands_first(pair: tuple[Path, Path], tmp_path: Path) -> None:
    """Goodput of one and the other, from their own results."""
    page = tmp_path / "both.html"
    ran = ask("compare", *map(str, pair), "-o", str(page))
    [first, second] = (
        json.loads(answer("run", str(path), "--json"))["totals"]["goodput"]["a"] for path in pair
    )
    said = (
        f"a keeps {percent(first)} of its healthy work in A, {percent(second)} in B:"
        f" {100 * (first - second):.2f} points less."
    )
    assert first > second
    assert said in " ".join(ran.out.split())
    assert said in page.read_text()
    assert "as much in B" in answer("compare", str(pair[0]), str(pair[0]))
    assert "They have no job in common." in answer("compare", "gb300-su", "gb300-cdu")


def test_the_verdict_on_sides_that_last_differently(tmp_path: Path) -> None:
    """One has no time at all; one ends with a job that does not run; one lasts longer."""
    events = "  - {at: 1min, fail: leaf-0}"
    texts = {
        "still": TEXT.format(job=JOB, events=events).replace("duration: 1h\n", ""),
        "hour": TEXT.format(job=JOB, events=events),
        "day": TEXT.format(job=JOB, events=events).replace("1h", "1d"),
        "dead": TEXT.format(job=JOB.replace("size", "nic_loss: abort, size"), events=events),
        "none": "gbviz: 1\ncluster: {preset: gb300-su}\njobs:\n" + JOB + "\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)

    def verdict(a: str, b: str) -> str:
        said = answer("compare", str(tmp_path / f"{a}.yaml"), str(tmp_path / f"{b}.yaml"))
        return " ".join(said.partition("What differs")[0].split("a ", 1)[-1].split())

    assert "times as long as healthy in A, 1.000 times as long" in verdict("hour", "none")
    assert "points more, but over 1 h and 1 d." in verdict("hour", "day")
    assert "in B it is aborted at the end" in verdict("hour", "dead")
    assert verdict("still", "hour")


def test_a_name_that_is_nothing() -> None:
    assert "did you mean" in refusal("compare", "azure-gb30", "gb300-su")
