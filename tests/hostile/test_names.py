"""Odd names do nothing in any output: they stand there as themselves, or spelt out."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from unicodedata import category
from xml.etree import ElementTree as ET

import pytest
from pydantic import ValidationError

import gbviz
from gbviz.errors import GbvizError, printable
from gbviz.jobs.spec import TrafficSpec
from gbviz.jobs.traffic import TrafficJob
from gbviz.scenario.file import read
from gbviz.scenario.save import save
from tests.cli import Ran, ask
from tests.hostile.names import NAMES

if TYPE_CHECKING:
    from pathlib import Path


# Those of the names that hide, or change how others are read; those that join emoji do not.
HIDDEN = {
    sign
    for name in NAMES.values()
    for sign in name
    if not sign.isprintable() and category(sign) not in ("Co", "Zs") and sign != "\u200d"
}


def _seen(text: str) -> list[str]:
    """Lines in which something is not spelt out, and control characters."""
    return [line for line in text.splitlines() if HIDDEN & set(line) or "\x1b" in line]


def _file(folder: Path, name: str, jobs: list[str]) -> Path:
    """A scenario of this name with jobs of these names, each with a limit."""
    file = folder / "odd.json"
    rows = [{"name": job, "kind": "traffic", "vms": 1} for job in jobs]
    limits = [{"job": job, "slowdown": "<= 0.5"} for job in jobs]
    document = {"gbviz": 1, "name": name, "description": name, "jobs": rows, "expect": limits}
    events = [{"at": 60, "fail": "leaf-0", "for": 60}]
    fields = {"cluster": {"preset": "gb300-su"}, "events": events, "duration": 300}
    file.write_text(json.dumps(document | fields), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran, Ran]:
    """One scenario in which every job has an odd name: its folder, and what was printed."""
    folder = tmp_path_factory.mktemp("names")
    file = _file(folder, "odd", [*NAMES.values()])
    shown = ask("run", "--verbose", str(file), "-o", str(folder / "out"))
    return folder / "out" / "odd", shown, ask("run", "--json", str(file))


def test_there_are_forty() -> None:
    assert len(set(NAMES.values())) >= 40


def test_the_screen_shows_lines_only(ran: tuple[Path, Ran, Ran]) -> None:
    _, shown, _ = ran
    assert shown.code == 1
    assert len(HIDDEN) > 10
    assert _seen(shown.out) == _seen(shown.err) == []
    assert "Traceback" not in shown.out + shown.err
    # Nothing was taken for markup of the table.
    assert "[link=https://" in shown.out
    assert "[bold red]" in shown.out


def test_the_document_holds_them_to_the_letter(ran: tuple[Path, Ran, Ran]) -> None:
    folder, _, answered = ran
    for text in (answered.out, (folder / "result.json").read_text(encoding="utf-8")):
        assert [job["name"] for job in json.loads(text)["jobs"]] == [*NAMES.values()]


def test_tables_start_no_formula(ran: tuple[Path, Ran, Ran]) -> None:
    folder, _, _ = ran
    with (folder / "jobs.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    told = [row["job"] if "job" in row else row["name"] for row in rows]
    formulas = ("=", "+", "-", "@")
    assert told == [f"'{n}" if n.startswith(formulas) else n for n in NAMES.values()]
    assert [name for name in told if name.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def test_junit_can_be_read(ran: tuple[Path, Ran, Ran]) -> None:
    folder, _, _ = ran
    tests = ET.parse(folder / "junit.xml").getroot().findall(".//testcase")
    told = [test.get("name", "") for test in tests]
    assert len(told) == len(NAMES)
    assert f"job {NAMES['cdata']}: slowdown <= 0.5" in told


class _Tags(HTMLParser):
    """What a browser would make of a page: tags and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.calls: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.calls += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_runs_nothing(ran: tuple[Path, Ran, Ran]) -> None:
    page = ran[0] / "report.html"
    if not page.exists():
        pytest.skip("this version writes no page")
    found = _Tags()
    found.feed(page.read_text(encoding="utf-8"))
    assert not found.tags & {"script", "iframe", "object", "embed", "link"}
    assert found.calls == []
    assert NAMES["script"] in found.text


def test_the_saved_scenario_is_the_same(ran: tuple[Path, Ran, Ran]) -> None:
    names = [job.name for job in read(ran[0] / "scenario.yaml").jobs]
    assert names == [*NAMES.values()]


@pytest.mark.parametrize("kind", ["emoji", "override", "no-character", "script", "markup", "up"])
def test_a_scenario_of_such_a_name(kind: str, tmp_path: Path) -> None:
    name = NAMES[kind]
    file = _file(tmp_path, name, ["a"])
    shown = ask("run", str(file), "-o", str(tmp_path / "out"))
    compared = ask("compare", str(tmp_path / "out" / "odd"), str(file))
    assert (shown.code, compared.code) == (1, 0)
    assert _seen(shown.out) == _seen(compared.out) == []
    folder = tmp_path / "out" / "odd"
    assert json.loads((folder / "result.json").read_text("utf-8"))["scenario"]["name"] == name
    assert read(folder / "scenario.yaml").name == name
    suite = ET.parse(folder / "junit.xml").getroot()[0]
    assert suite.get("name") == name.replace("\uffff", "\ufffd").replace("\ufffe", "\ufffd")
    # Nothing was written but where it belongs.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["odd.json", "out"]


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_short_answer_about_such_a_name(name: str, tmp_path: Path) -> None:
    asked = ask("whatif", str(_file(tmp_path, name, ["a"])), "--quiet")
    assert (asked.code, asked.err, _seen(asked.out)) == (0, "", [])


@pytest.mark.parametrize(
    "name", ["a\0b", "a\nb", "\x1b[2J", "\x9b", "\x7f", "\ud83d", "x" * 201, ""]
)
def test_names_from_python_are_refused_before_they_are_saved(name: str, tmp_path: Path) -> None:
    scenario = gbviz.preset("gb300-su")
    for suffix in (".yaml", ".json"):
        file = tmp_path / f"a{suffix}"
        with pytest.raises(GbvizError):
            save(gbviz.Scenario(name, scenario.cluster), file)
        assert not file.exists()
    with pytest.raises(ValidationError):
        TrafficSpec(name=name, kind="traffic")


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "\x1b[2J", "\x9b", "\x7f", "\ud83d"])
def test_jobs_of_the_command_line_are_saved_with_their_names_spelt_out(
    name: str, tmp_path: Path
) -> None:
    worked = gbviz.preset("gb300-su").with_jobs(TrafficJob(name, "permutation"))
    save(worked, tmp_path / "a.yaml")
    assert [job.name for job in read(tmp_path / "a.yaml").jobs] == [printable(name)]
    odd = gbviz.preset("gb300-su").with_jobs(TrafficJob("a", "permutation", racks=name))
    with pytest.raises(GbvizError):
        save(odd, tmp_path / "b.yaml")
