"""Scenario files: what they mean, and everything that is wrong with one at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings

import gbviz
from gbviz.errors import ScenarioError
from gbviz.faults import Action
from gbviz.jobs.spec import CollectiveJob, TrainingJob
from gbviz.scenario.emit import text_of
from gbviz.scenario.event import Event
from gbviz.scenario.expect import Expectation
from gbviz.scenario.file import read
from gbviz.topology import cluster_spec
from tests.scenario.samples import (
    EXAMPLE,
    SMALL,
    documents,
    faults,
    scenario,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_example_of_the_interface_page() -> None:
    found = scenario(EXAMPLE)
    assert found.name == "One spine lost during pre-training"
    assert found.description.startswith("What a spine costs")
    assert found.cluster == cluster_spec("azure-gb300", uplinks_per_leaf=72)
    assert (found.routing, found.seed, found.nvlink_policy) == ("adaptive", 7, "adaptive")
    assert found.duration_s == 7200
    assert found.actions == ()
    training, collective = found.jobs
    assert isinstance(training, TrainingJob)
    assert training.parallelism.gpus == 2048
    assert training.checkpoint.interval == 1800
    assert isinstance(collective, CollectiveJob)
    assert collective.size == 1e9
    assert found.events == (
        Event(0.0, Action("fail", "spine-3")),
        Event(600.0, Action("degrade", "leaf-5~spine-7#0", 0.5)),
        Event(720.0, Action("fail", "hxu-9"), 1200.0),
        Event(3600.0, Action("repair", "spine-3")),
    )
    assert found.expect == (
        Expectation("job", "llama-405b", "slowdown", "<=", 1.1),
        Expectation("fabric", "bisection_fraction", "value", ">=", 0.95),
    )
    assert found.text == EXAMPLE
    assert str(found.path) == "case.yaml"


def test_the_least_that_a_file_holds(tmp_path: Path) -> None:
    file = tmp_path / "least.yaml"
    file.write_text(SMALL)
    found = gbviz.load(file)
    assert (found.name, found.cluster) == ("least", cluster_spec("gb300-su"))
    assert (found.jobs, found.events, found.expect, found.end_s) == ((), (), (), 0.0)
    assert found.actions_at() == ()


def test_yaml_and_json_say_the_same() -> None:
    text = (
        '{"gbviz": 1, "name": "x", "cluster": {"racks": 8}, "events": [{"at": 5, "fail": "hxu-1"}]}'
    )
    one, other = scenario(text, "a.json"), scenario(text, "a.yaml")
    assert one == other
    assert one.sha256() == other.sha256()


@pytest.mark.parametrize(
    ("cluster", "same"),
    [
        ("{preset: gb300-cdu, racks: 32}", {"preset": "gb300-cdu", "racks": 32}),
        (
            "{preset: gb300-cdu, cooling: {units: 3, capacity_kw: 1.5MW}}",
            {
                "racks": 64,
                "cooling": {"kind": "cdu", "units": 3, "racks_per_loop": 32, "capacity_kw": 1500.0},
            },
        ),
        (
            "{preset: gb300-cdu, cooling: {kind: hxu, set_point_c: 35C}}",
            {"racks": 64, "cooling": {"kind": "hxu", "set_point_c": 35.0}},
        ),
        ("{racks: 4, port_GBps: 400Gb/s}", {"racks": 4, "port_GBps": 50.0}),
        ("{racks: 4, uplinks_per_leaf: null}", {"racks": 4}),
    ],
)
def test_clusters(cluster: str, same: dict[str, Any]) -> None:
    found = scenario(f"gbviz: 1\ncluster: {cluster}\n").cluster
    assert found == cluster_spec(same.pop("preset", None), **same)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing.yaml", "nothing.yaml: cannot be read: No such file or directory"),
        ("folder.yaml", "is a folder, not a file"),
        ("pipe.yaml", "is a pipe or device, not a file"),
        ("text.txt", "is not a scenario file, name it .yaml, .yml, .json"),
        ("exampel.yaml", "did you mean"),
        ("a\0.yaml", "is not a name that a file can have"),
        ("x" * 300 + ".yaml", "cannot be read"),
    ],
)
def test_files_that_cannot_be_read(name: str, says: str, tmp_path: Path) -> None:
    import os

    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "text.txt").write_text(SMALL)
    (tmp_path / "example.yaml").write_text(SMALL)
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(ScenarioError) as caught:
        read(f"{tmp_path}/{name}")
    assert says in str(caught.value)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.yaml"
    with file.open("wb") as stream:
        stream.truncate(2**40)
    with pytest.raises(ScenarioError, match="is larger than 32 MiB"):
        read(file)


@given(document=documents())
@settings(max_examples=60, deadline=None)
def test_right_files_are_read(document: dict[str, Any]) -> None:
    late = [row for row in document.get("events", []) if "duration" in document]
    assume(all(float(row["at"][:-1]) <= 900 for row in late))
    found = scenario(text_of(document))
    assert len(found.jobs) == len(document.get("jobs", []))
    assert len(found.events) == len(document.get("events", []))
    assert found.seed == document.get("seed", 0)


@pytest.mark.parametrize(
    ("operator", "holds"),
    [("<=", (1, 1, 0)), (">=", (0, 1, 1)), ("<", (1, 0, 0)), (">", (0, 0, 1))],
)
def test_limits_of_expectations(operator: Any, holds: tuple[int, int, int]) -> None:
    one = Expectation("job", "a", "slowdown", operator, 1.5)
    assert tuple(one.holds(value) for value in (1.0, 1.5, 2.0)) == holds
    assert not one.holds(math.nan)
    assert str(one) == f"job a: slowdown {operator} 1.5"


def test_nan_keeps_no_limit() -> None:
    for operator in ("==", "!="):
        assert not Expectation("job", "a", "slowdown", operator, 1.0).holds(math.nan)
    assert Expectation("job", "a", "slowdown", "!=", 1.0).holds(2.0)
    assert Expectation("job", "a", "slowdown", "==", 1.0).holds(1.0)


def test_several_limits_on_one_subject() -> None:
    text = "jobs: [{name: a, kind: traffic}]\n"
    text += "expect: [{job: a, slowdown: '<=1', min_GBps: '> 5e1'}]\n"
    assert [(one.metric, one.limit) for one in scenario(SMALL + text).expect] == [
        ("slowdown", 1.0),
        ("min_GBps", 50.0),
    ]


def test_five_thousand_events() -> None:
    rows = [
        {"at": number, "fail": f"leaf-{number % 64}~spine-{number % 36}#{number % 2}", "for": 600}
        for number in range(5000)
    ]
    text = text_of({"gbviz": 1, "cluster": {"preset": "azure-gb300"}, "events": rows})
    assert len(scenario(text).events) == 5000
    rows[4000]["fail"] = "spine-36"
    (fault,) = faults(text_of({"gbviz": 1, "cluster": {"preset": "azure-gb300"}, "events": rows}))
    assert (fault.line, fault.path) == (4 + 4000 + 1, "events[4000].fail")
