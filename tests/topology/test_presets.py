from __future__ import annotations

import pytest

from gbviz.errors import GbvizError, InputError
from gbviz.topology.catalogue import catalogue
from gbviz.topology.presets import Preset, parse_presets, preset_named, presets

TEXTS = 'title = "t"\ndescription = "d"\nsource = "s"\n'


@pytest.mark.parametrize("preset", presets().values(), ids=lambda preset: preset.name)
def test_every_preset_says_what_it_is(preset: Preset) -> None:
    assert preset is presets()[preset.name] is preset_named(preset.name)
    assert preset.title
    assert preset.description.endswith(".")
    assert preset.description.count(". ") == 0
    assert preset.source
    assert "/work" not in preset.source
    assert "hardware.md" not in preset.source


@pytest.mark.parametrize("preset", presets().values(), ids=lambda preset: preset.name)
def test_cluster_says_sizes_only(preset: Preset) -> None:
    assert set(preset.cluster) == {"racks", "cooling"}
    assert type(preset.cluster["racks"]) is int
    cooling = preset.cluster["cooling"]
    assert cooling["kind"] in ("hxu", "cdu")
    assert set(cooling) <= {"kind", "units", "racks_per_loop", "capacity_kw"}


@pytest.mark.parametrize(
    ("name", "racks", "gpus", "kind"),
    [
        ("azure-gb300", 64, 4_608, "hxu"),
        ("gb300-su", 8, 576, "hxu"),
        ("gb300-cdu", 64, 4_608, "cdu"),
        ("gb300-27k", 384, 27_648, "hxu"),
        ("gb300-100k", 1_440, 103_680, "hxu"),
    ],
)
def test_sizes(name: str, racks: int, gpus: int, kind: str) -> None:
    cluster = preset_named(name).cluster
    assert cluster["racks"] == racks
    assert cluster["racks"] * catalogue().value("rack.gpus") == gpus
    assert cluster["cooling"]["kind"] == kind


def test_azure_is_the_announced_cluster() -> None:
    facts = catalogue()
    assert preset_named("azure-gb300").cluster["racks"] == facts.value("headline.cluster_racks")


def test_shared_cooling_is_the_catalogues() -> None:
    cooling = preset_named("gb300-cdu").cluster["cooling"]
    assert cooling["units"] == catalogue().value("cooling.cdu_units_per_loop")
    assert cooling["racks_per_loop"] == catalogue().value("cooling.cdu_racks_per_loop")
    assert cooling["capacity_kw"] == catalogue().value("cooling.cdu_capacity_kw")


def test_only_the_large_ones_need_a_third_tier() -> None:
    most = catalogue().value("switch.two_tier_max_gpus")
    large = [p.name for p in presets().values() if 72 * p.cluster["racks"] > most]
    assert large == ["gb300-27k", "gb300-100k"]


def test_unknown_preset_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'azure-gb300'") as caught:
        preset_named("azure-gb3000")
    assert caught.value.where == "preset"
    with pytest.raises(InputError, match="choose one of: azure-gb300, gb300-su"):
        preset_named("")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[p]\n" + TEXTS, "p: must have"),
        ("[p]\n" + TEXTS + "cluster = {racks = 1}\nsize = 1", "p: must have"),
        ("[p]\n" + TEXTS.replace('"d"', "1") + "cluster = {racks = 1}", "p: description"),
        ("[p]\n" + TEXTS.replace('"s"', '""') + "cluster = {racks = 1}", "p: source"),
        ("[p]\n" + TEXTS + "cluster = {}", "p: cluster must be a table with racks"),
        ("[p]\n" + TEXTS + "cluster = 3", "p: cluster must be a table with racks"),
        ("p = 3", "p: must have"),
        ("[p]\n[p]", "presets.toml"),
    ],
)
def test_damaged_presets_are_named(text: str, what: str) -> None:
    with pytest.raises(GbvizError, match=what):
        parse_presets(text)
