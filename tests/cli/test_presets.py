from __future__ import annotations

from gbviz.jobs.models import models
from gbviz.topology.presets import presets
from tests.cli import answer, document, refusal, spawn


def test_all_are_listed_in_order() -> None:
    text = answer("presets")
    at = [text.index(f"│ {name} ") for name in presets()]
    assert at == sorted(at)
    for name, preset in presets().items():
        assert name in text
        assert preset.title.split(",")[0] in text


def test_the_document() -> None:
    found = document("presets")
    assert list(found) == ["gbviz", "format_version", "presets", "models"]
    assert [row["name"] for row in found["presets"]] == list(presets())
    for row in found["presets"]:
        assert set(row) == {"name", "title", "description", "source", "cluster", "gpus"}
        assert row["gpus"] == 72 * row["cluster"]["racks"]


def test_models_are_listed_with_their_sources() -> None:
    rows = document("presets")["models"]
    assert [row["name"] for row in rows] == list(models())
    assert all(row["source"] and row["shape"]["layers"] for row in rows)
    assert "deepseek-v3" in answer("presets")


def test_every_listed_name_works() -> None:
    for row in document("presets")["presets"]:
        healthy = answer("whatif", row["name"], "--quiet")
        assert f"{row['name']} is healthy: " in healthy
        assert f"{row['gpus']:,} GPUs" in healthy


def test_a_pipe_has_no_colours() -> None:
    assert "\x1b" not in spawn("presets", FORCE_COLOR="", TTY_COMPATIBLE="").stdout


def test_words_that_are_none() -> None:
    assert "extra argument" in refusal("presets", "azure-gb300")
    assert "--json" in refusal("presets", "--jsn")
