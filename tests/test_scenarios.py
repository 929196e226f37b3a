"""The shipped scenarios: each asks a question, runs, and keeps what it says is right."""

from __future__ import annotations

from pathlib import Path

import pytest

import gbviz
from gbviz.report.document import document

FILES = sorted((Path(__file__).parent.parent / "scenarios").glob("*.yaml"))


def test_there_are_at_least_twelve() -> None:
    assert len(FILES) >= 18


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_opens_with_what_to_look_at(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = [line for line in lines[:4] if line.startswith("#")]
    assert "?" in comment[0] or "." in comment[0]
    assert any("Look at" in line for line in comment)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_keeps_its_expectations(path: Path) -> None:
    scenario = gbviz.load(path)
    timeline = gbviz.run(scenario)
    assert timeline.problems == ()
    found = document(gbviz.evaluate(scenario), timeline=timeline)
    assert found["expect"], "a scenario says what is right"
    assert [row for row in found["expect"] if not row["passed"]] == []
    assert found["checks"]["conservation"] == "ok"
    fixed = found["checks"]["fixed_point"]
    assert fixed["converged"] in (True, None)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_breaks_something(path: Path) -> None:
    scenario = gbviz.load(path)
    times = [event.at_s for event in scenario.events]
    assert any(gbviz.evaluate(scenario, at_s).faults for at_s in times)
