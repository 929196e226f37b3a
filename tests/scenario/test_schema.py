"""The JSON Schema agrees with the reader on everything that a schema can say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from gbviz.scenario.described import described, facts_in, reached
from gbviz.scenario.emit import text_of
from gbviz.scenario.file import read
from gbviz.scenario.form import ClusterPart, CoolingPart, Form
from gbviz.scenario.schema import schema
from gbviz.scenario.yaml_subset import load_yaml
from gbviz.topology.catalogue import catalogue
from gbviz.topology.spec import ClusterSpec, CoolingSpec
from tests.scenario.samples import EXAMPLE, SMALL, documents, faults

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).parents[2] / "scenarios"
SCHEMA = schema()
CHECK = Draft202012Validator(SCHEMA)


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema() == SCHEMA


def test_the_example_keeps_it() -> None:
    assert [error.message for error in CHECK.iter_errors(load_yaml(EXAMPLE))] == []


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.name)
def test_every_example_keeps_it(file: Path) -> None:
    assert [error.message for error in CHECK.iter_errors(load_yaml(file.read_text()))] == []
    read(file)


@given(document=documents())
@settings(max_examples=60, deadline=None)
def test_right_files_keep_it(document: dict[str, Any]) -> None:
    assert [error.message for error in CHECK.iter_errors(document)] == []


@pytest.mark.parametrize(
    "text",
    [
        "sede: 7",
        "seed: -1",
        "seed: x",
        "routing: adaptve",
        "jobs: 5",
        "jobs: [{name: a}]",
        "jobs: [{name: a, kind: traffic, rack: x}]",
        "jobs: [{name: a, kind: collective, op: all_reduce}]",
        "jobs: [{name: a, kind: collective, op: all_reduce, size: 1XB}]",
        "jobs: [{name: a, kind: collective, op: all_reduce, size: 0}]",
        "jobs: [{name: a, kind: training, model: 5, parallelism: {}, batch: {global: 1}}]",
        "events: [{fail: hxu-0}]",
        "events: [{at: -1, fail: hxu-0}]",
        "events: [{at: 1week, fail: hxu-0}]",
        "events: [{at: 0}]",
        "events: [{at: 0, fail: hxu-0, repair: hxu-1}]",
        "events: [{at: 0, degrade: hxu-0}]",
        "events: [{at: 0, degrade: hxu-0, to: 2}]",
        "events: [{at: 0, restore: hxu-0}]",
        "events: [{at: 0, fail: null}]",
        "duration: 0",
        "duration: 5x",
        "expect: [{fabric: bisection, value: '>= 1'}]",
        "expect: [{fabric: live_gpus, value: 1}]",
        "expect: [{fabric: live_gpus}]",
        "expect: [{job: a, slowdwn: '<= 1'}]",
        "expect: [{value: '<= 1'}]",
    ],
)
def test_what_it_refuses_the_reader_refuses_too(text: str) -> None:
    assert list(CHECK.iter_errors(load_yaml(SMALL + text)))
    assert faults(SMALL + text)


@pytest.mark.parametrize(
    "document",
    [
        {"cluster": {"preset": "gb300-su"}},
        {"gbviz": 2, "cluster": {"preset": "gb300-su"}},
        {"gbviz": 1},
        {"gbviz": 1, "cluster": {"preset": "gb300"}},
        {"gbviz": 1, "cluster": {"racks": 8, "cooling": {"kind": "air"}}},
        {"gbviz": 1, "cluster": {"racks": 8, "port_GBps": "5s"}},
    ],
)
def test_clusters_and_versions(document: dict[str, Any]) -> None:
    assert list(CHECK.iter_errors(document))
    assert faults(text_of(document))


def test_a_variant_keeps_it() -> None:
    for document in (
        {"gbviz": 1, "extends": "base.yaml"},
        {"gbviz": 1, "extends": "base.yaml", "cluster": {"cooling": {"units": 3}}},
    ):
        assert not list(CHECK.iter_errors(document))


def _properties(part: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(part, dict):
        for name, own in part.get("properties", {}).items():
            yield f"{where}.{name}", own
    inner = part.items() if isinstance(part, dict) else enumerate(part)
    for key, one in inner:
        if isinstance(one, dict | list):
            yield from _properties(one, f"{where}.{key}")


def test_every_property_says_what_it_means() -> None:
    told = {name: own.get("description", "") for name, own in _properties(SCHEMA)}
    assert len(told) > 150
    assert [name for name, text in told.items() if len(text) <= 10] == []
    assert [name for name, text in told.items() if not text.endswith(".")] == []


def test_every_model_says_what_it_is() -> None:
    assert [name for name, own in SCHEMA["$defs"].items() if len(own["description"]) <= 10] == []


def test_defaults_of_the_catalogue_are_told() -> None:
    radix = SCHEMA["$defs"]["ClusterPart"]["properties"]["radix"]
    assert radix["default"] == 144
    assert "`switch.radix` (144 ports)" in radix["description"]


def test_every_fact_that_a_text_names_is_in_the_catalogue() -> None:
    texts = [text for model in reached(Form).values() for text in described(model).values()]
    named = [name for text in texts for name in facts_in(text)]
    assert len(set(named)) >= 10
    assert [name for name in named if name not in catalogue()] == []


def test_parts_keep_the_texts_of_what_they_stand_for() -> None:
    assert described(CoolingPart) == described(CoolingSpec)
    assert described(ClusterPart).items() > described(ClusterSpec).items()


def test_without_sources_there_are_no_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspect.getsource", lambda _: (_ for _ in ()).throw(OSError))
    assert described(CoolingPart) == {}
    Draft202012Validator.check_schema(schema())
