from __future__ import annotations

import pytest

from gbviz.topology.catalogue import catalogue
from gbviz.topology.presets import presets
from tests.cli import answer, document, refusal


@pytest.mark.parametrize("preset", presets())
def test_every_preset_passes_its_build_checks(preset: str) -> None:
    found = document("info", preset)
    assert found["scenario"]["name"] == preset
    assert found["fabric"]["nonblocking"] is True
    assert found["fabric"]["nonblocking_why"].startswith("yes: ")
    assert len(found["checks"]["build"]) > 5
    for check in found["checks"]["build"]:
        assert set(check) == {"name", "passed", "says"}
        assert check["passed"] is True, check
    assert "FAILED" not in answer("info", preset)


def test_the_seed_cluster_is_the_default() -> None:
    assert document("info") == document("info", "azure-gb300")
    assert document("info")["fabric"] | {"nonblocking_why": ""} == {
        "racks": 64,
        "gpus": 4608,
        "nics": 4608,
        "leaves": 64,
        "spines": 36,
        "cores": 0,
        "tiers": 2,
        "nvlink_cables": 82944,
        "fabric_cables": 9216,
        "nonblocking": True,
        "nonblocking_why": "",
    }


def test_headlines_are_shown_with_their_sources() -> None:
    lines = document("info")["headlines"]
    by_name = {line["what"]: line for line in lines}
    assert by_name["FP4 a rack, sparse"]["ours"] == 1.44
    assert by_name["NVLink a rack, both ways"]["published"] == 130
    for line in lines:
        assert line["source"]
        assert (line["published"] is None) == ("reason" in line)
    text = answer("info")
    assert "Headline figures" in text
    assert " 129.6 │       130 │ TB/s" in text


def test_facts_are_the_whole_catalogue() -> None:
    facts = document("info", "--facts")["facts"]
    assert [fact["name"] for fact in facts] == [fact.name for fact in catalogue()]
    assert "facts" not in document("info")
    assert "clock_power_exponent" in answer("info", "--facts")


def test_routing_and_seed() -> None:
    found = document("info", "gb300-su", "--routing", "ecmp", "--seed", "3")
    assert (found["scenario"]["routing"], found["scenario"]["seed"]) == ("ecmp", 3)
    assert found["base"] != document("info", "gb300-su", "--routing", "adaptive")["base"]


def test_a_small_cluster_reads_well() -> None:
    text = answer("info", "--racks", "1")
    assert "1 rack, 72 GPUs, 4 leaves, 2 spines" in text
    assert "1 hxu of 136 kW on 1 loop " in text
    assert "all-to-all         │ none" in text


def test_words_that_are_none() -> None:
    assert "did you mean 'gb300-su'?" in refusal("info", "gb300-sx")
    assert "choose one of: azure-gb300" in refusal("info", "nope")
    assert "nothing.json: cannot be read" in refusal("info", "nothing.json")
    assert "nothing: is not a scenario file" in refusal("info", "./nothing")
    assert "extra argument" in refusal("info", "gb300-su", "gb300-su")
    assert "--facts" in refusal("info", "--fact")


def test_help() -> None:
    text = answer("info", "--help")
    for words in (
        "Show what a cluster consists of.",
        "--facts",
        "Parts that differ",
        "Routing modes",
    ):
        assert words in text
    assert "Traffic" not in text
