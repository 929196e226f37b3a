from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

import gbviz.topology.catalogue as catalogue_module
import gbviz.topology.presets as presets_module
from gbviz.assets import asset_path
from gbviz.errors import GbvizError
from gbviz.topology.catalogue import Fact, catalogue, parse_catalogue

HOURS_A_YEAR = 8760
SECTIONS = [
    "rack",
    "gpu",
    "nvlink",
    "nic",
    "switch",
    "cooling",
    "routing",
    "collectives",
    "training",
    "failures",
    "headline",
]
PARTS = [
    "gpu",
    "gpu_swap",
    "nic",
    "nic_leaf_link",
    "leaf_spine_link",
    "switch",
    "nvlink",
    "nvswitch_tray",
    "cooling_unit",
    "power_feed",
    "compute_tray",
    "software",
]
ENTRY = '{value = 1, unit = "W", mark = "assumed", source = "why"}'


def value(name: str) -> float:
    return catalogue().value(name)


@pytest.mark.parametrize("fact", catalogue(), ids=lambda fact: fact.name)
def test_every_fact_says_what_it_is_and_where_from(fact: Fact) -> None:
    assert math.isfinite(fact.value)
    assert fact.unit.strip() == fact.unit != ""
    assert fact.mark in ("sourced", "derived", "assumed")
    assert len(fact.source) > 8 or fact.mark == "derived"
    assert "gbps" not in fact.name.replace("GBps", "")
    for text in (fact.source, fact.note):
        assert "/work" not in text
        assert ".md " not in text
    if fact.mark == "derived":
        assert (
            any(c.isdigit() for c in fact.source) or "afr" in fact.source or "trace" in fact.source
        )


UNITS = {
    "_w": "W",
    "_kw": "kW",
    "_c": "°C",
    "_s": "s",
    "_h": "h",
    "_l": "L",
    "_m": "m",
    "_GBps": "GB/s",
    "_bytes": "bytes",
    "_pflops": "PFLOP/s",
    "_eflops": "EFLOP/s",
    "_tb": "TB",
    "_tb_s": "TB/s",
    "_mhz": "MHz",
    "_gbit_s": "Gb/s",
    "_k_per_w": "K/W",
    "_j_per_k": "J/K",
    "_per_m": "s/m",
    "_per_m3": "kg/m³",
    "_per_min": "L/min",
    "_per_kw": "L/(min kW)",
    "_per_kg_k": "J/(kg K)",
    "_per_rack": "L",
    "afr": "1/year",
    "afr_low": "1/year",
    "afr_high": "1/year",
}


@pytest.mark.parametrize("fact", catalogue(), ids=lambda fact: fact.name)
def test_units_agree_with_names(fact: Fact) -> None:
    ending = max((end for end in UNITS if fact.name.endswith(end)), key=len, default=None)
    if ending is not None:
        assert fact.unit == UNITS[ending]
    elif fact.unit not in ("GB/s", "1", "tries"):
        assert fact.unit.isalpha(), "a count names what it counts"


def test_sections_are_all_there() -> None:
    assert {fact.name.split(".")[0] for fact in catalogue()} == set(SECTIONS)
    for name in SECTIONS:
        assert catalogue().section(name)
    assert set(catalogue().section("headline")) >= {"rack_fp4_sparse_pflops", "cluster_gpus"}


def test_names_are_unique_and_mapping_works() -> None:
    facts = list(catalogue())
    assert len({fact.name for fact in facts}) == len(facts) == len(catalogue())
    assert all(catalogue()[fact.name] is fact and fact.name in catalogue() for fact in facts)
    assert catalogue() is catalogue()


def test_nothing_can_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        catalogue()["gpu.power_max_w"].value = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        catalogue().facts["x"] = catalogue()["gpu.power_max_w"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rack.compute_trays", 18),
        ("rack.gpus_per_tray", 4),
        ("rack.cpus_per_tray", 2),
        ("rack.nics_per_tray", 4),
        ("rack.nvswitch_trays", 9),
        ("rack.asics_per_nvswitch_tray", 2),
        ("rack.power_shelves", 8),
        ("rack.shelf_kw", 33),
        ("rack.power_typical_kw", 136),
        ("rack.power_max_kw", 142),
        ("gpu.power_max_w", 1400),
        ("gpu.power_idle_w", 200),
        ("gpu.die_throttle_c", 87),
        ("gpu.die_slowdown_c", 89),
        ("gpu.die_shutdown_c", 92),
        ("gpu.r_eff_k_per_w", 0.0267),
        ("nvlink.collective_GBps", 680),
        ("nvlink.nvls_busbw_GBps", 840),
        ("nic.line_GBps", 100),
        ("nic.efficiency", 0.95),
        ("switch.radix", 144),
        ("cooling.hxu_capacity_kw", 136),
        ("cooling.cdu_capacity_kw", 1368),
        ("cooling.liquid_share", 0.9),
        ("cooling.supply_set_point_c", 40),
        ("routing.reroute_s", 0.003),
        ("collectives.eta_x", 0.95),
    ],
)
def test_defaults_that_the_model_is_specified_with(name: str, expected: float) -> None:
    assert value(name) == expected


def test_counts_of_a_rack() -> None:
    trays = value("rack.compute_trays")
    assert value("rack.gpus") == trays * value("rack.gpus_per_tray") == 72
    assert value("rack.nics") == trays * value("rack.nics_per_tray") == 72
    assert value("rack.cpus") == trays * value("rack.cpus_per_tray") == 36
    asics = value("rack.nvswitch_trays") * value("rack.asics_per_nvswitch_tray")
    assert value("rack.nvswitch_asics") == asics == value("nvlink.links_per_gpu")
    assert value("rack.nvlink_cables") == value("rack.gpus") * value("nvlink.links_per_gpu") == 1296
    above, below = value("rack.trays_above_nvswitches"), value("rack.trays_below_nvswitches")
    assert above + below == trays


def test_power_of_a_rack() -> None:
    gpus_kw = value("rack.gpus") * value("gpu.power_max_w") / 1000
    assert value("rack.power_without_gpus_kw") == pytest.approx(
        value("rack.power_typical_kw") - gpus_kw, rel=1e-12
    )
    one_feed = value("rack.power_shelves") / value("rack.feeds") * value("rack.shelf_kw")
    assert value("rack.power_one_feed_kw") == one_feed == 132
    assert one_feed < value("rack.power_typical_kw") < value("rack.power_max_kw")


def test_rates_and_memory_of_a_rack() -> None:
    gpus = value("rack.gpus")
    assert value("rack.fp4_sparse_pflops") == gpus * value("gpu.fp4_sparse_pflops") == 1440
    assert value("rack.fp4_dense_pflops") == gpus * value("gpu.fp4_dense_pflops") == 1080
    assert value("rack.hbm_tb") == pytest.approx(gpus * value("gpu.hbm_bytes") / 1e12, rel=1e-12)
    for kind in ("fp8", "bf16", "tf32"):
        assert value(f"gpu.{kind}_sparse_pflops") == 2 * value(f"gpu.{kind}_dense_pflops")


def test_nvlink_adds_up() -> None:
    links, link = value("nvlink.links_per_gpu"), value("nvlink.link_GBps")
    assert links * link == value("nvlink.gpu_GBps") == 900
    assert value("nvlink.asic_ports") == value("rack.gpus") * links / value("rack.nvswitch_asics")
    both_ways = 2 * value("rack.gpus") * value("nvlink.gpu_GBps") / 1000
    assert both_ways == pytest.approx(129.6)
    assert round(both_ways) == value("rack.nvlink_total_tb_s")
    assert value("nvlink.nvls_busbw_low_GBps") <= value("nvlink.nvls_busbw_GBps")
    assert value("nvlink.nvls_busbw_GBps") <= value("nvlink.nvls_busbw_high_GBps")


def test_switch_and_nic_add_up() -> None:
    radix = value("switch.radix")
    assert value("switch.cages") == radix / value("switch.ports_per_cage")
    assert value("switch.racks_per_leaf_group") == radix / 2 / value("rack.compute_trays") == 4
    assert value("switch.two_tier_max_gpus") == radix**2 / 2
    assert value("switch.port_GBps") == value("nic.line_GBps")
    assert math.floor(100 * 381.8 / 400) / 100 == value("nic.efficiency")


def test_effective_resistance_is_its_parts_and_half_the_coolant_rise() -> None:
    litres_s = value("cooling.flow_gpu_l_per_min") / 60
    heat_rate = (
        litres_s
        * value("cooling.coolant_density_kg_per_m3")
        / 1000
        * value("cooling.coolant_heat_capacity_j_per_kg_k")
    )
    parts = value("cooling.r_die_plate_k_per_w") + value("cooling.r_plate_coolant_k_per_w")
    assert value("gpu.r_eff_k_per_w") == pytest.approx(parts + 1 / (2 * heat_rate), abs=5e-7)


def test_die_limits_rise_and_a_healthy_gpu_is_below_them() -> None:
    limits = [value(f"gpu.die_{name}_c") for name in ("throttle", "slowdown", "shutdown")]
    assert limits == [38 + 49, 38 + 49 + 2, 38 + 49 + 5]
    rise = value("gpu.power_max_w") * value("gpu.r_eff_k_per_w")
    assert value("cooling.supply_set_point_c") + rise == pytest.approx(77.38)
    assert value("cooling.supply_limit_c") + rise < limits[0]


def test_cooling_capacity_covers_the_heat_with_one_unit_out() -> None:
    rack_kw = value("rack.power_typical_kw") * value("cooling.liquid_share")
    heat = value("cooling.cdu_racks_per_loop") * rack_kw
    assert heat == pytest.approx(3916.8)
    assert (value("cooling.cdu_units_per_loop") - 1) * value("cooling.cdu_capacity_kw") >= heat
    assert value("cooling.hxu_capacity_kw") >= rack_kw


def test_liquid_of_a_rack() -> None:
    assert value("cooling.rack_liquid_l") == pytest.approx(
        18 * 0.778 + 9 * 0.175 + 17.7 + 0.311, abs=0.05
    )


def test_timeout_and_reroute() -> None:
    tries, base = value("routing.ib_retries"), value("routing.ib_timeout_base_s")
    total = tries * base * 2 ** value("routing.ib_timeout_exponent")
    assert value("routing.ib_timeout_s") == pytest.approx(total, rel=1e-12)
    assert round(total, 2) == 30.06
    assert value("routing.reroute_s") == pytest.approx(15 / 5000)
    assert value("routing.subnet_manager_min_s") < value("routing.subnet_manager_max_s") == 20
    assert value("routing.subnet_manager_max_s") < total


def test_measured_cross_rack_efficiency() -> None:
    assert value("collectives.eta_x_2_racks") == pytest.approx(40.3 / 42.1, abs=0.005)
    assert value("collectives.eta_x_20_racks") == pytest.approx(40.3 / 84.6, abs=0.005)


def test_training_efficiency() -> None:
    fp8, fp4 = value("gpu.fp8_dense_pflops"), value("gpu.fp4_dense_pflops")
    # Of matrix products alone, so above what the whole published step reaches.
    assert 2.646 / fp8 < value("training.efficiency_fp8") < 0.75
    assert 3.575 / fp4 < value("training.efficiency_fp4") < 0.75


def test_failure_table_is_complete() -> None:
    found = catalogue().section("failures")
    assert list(dict.fromkeys(name.partition(".")[0] for name in found)) == PARTS


@pytest.mark.parametrize("part", PARTS)
def test_rates_and_mtbf_are_one_figure(part: str) -> None:
    facts = catalogue().section(f"failures.{part}")
    # Both are printed with two or three digits; the worst of them, 0.17 for 0.175, is 3 % off.
    assert facts["mtbf_h"].value == pytest.approx(HOURS_A_YEAR / facts["afr"].value, rel=0.031)
    if "afr_low" in facts:
        assert facts["afr_low"].value <= facts["afr"].value <= facts["afr_high"].value


@pytest.mark.parametrize("part", PARTS)
def test_repair_times_can_be_lognormal(part: str) -> None:
    facts = catalogue().section(f"failures.{part}")
    restarts_only = part in ("gpu", "software")
    assert ("repair_mean_h" in facts) is not restarts_only
    if "repair_median_h" in facts:
        assert 0 < facts["repair_median_h"].value < facts["repair_mean_h"].value


@pytest.mark.parametrize(
    ("name", "stops", "units"),
    [
        ("gpu.afr", 148 + 72 + 19 + 17, 16_384),
        ("nic.afr_low", 7, 16_384),
        ("nic_leaf_link.afr_high", 35, 16_384),
        ("compute_tray.afr", 46, 2_048),
        ("software.afr", 63, 16_384),
    ],
)
def test_rates_from_llama_3(name: str, stops: int, units: int) -> None:
    assert value(f"failures.{name}") == pytest.approx(stops / (units * 54) * 365, rel=0.006)


@pytest.mark.parametrize(
    ("name", "faults"), [("gpu_swap.afr", 158), ("nic.afr_high", 30), ("nic_leaf_link.afr", 40)]
)
def test_rates_from_the_trace(name: str, faults: int) -> None:
    assert value(f"failures.{name}") == pytest.approx(faults / (382.2 * 8), rel=0.01)


def test_other_ranges() -> None:
    low, high = value("failures.switch.afr_low"), value("failures.switch.afr_high")
    assert low == pytest.approx(0.00051 * 12, rel=0.03)
    assert high == pytest.approx(0.02 * 4)
    assert math.sqrt(low * high) == pytest.approx(0.022, abs=0.0005)
    assert value("failures.nic_leaf_link.afr_low") == pytest.approx(0.00057 * 12, rel=0.01)
    assert value("failures.cooling_unit.afr_low") == HOURS_A_YEAR / 100_000
    assert value("failures.cooling_unit.afr_high") == HOURS_A_YEAR / 20_000


def test_headline_figures_agree_with_the_parts() -> None:
    for kind in ("sparse", "dense"):
        assert value(f"headline.rack_fp4_{kind}_pflops") == value(f"rack.fp4_{kind}_pflops")
    assert value("headline.rack_fast_memory_tb") == value("rack.fast_memory_tb")
    assert value("headline.rack_nvlink_tb_s") == value("rack.nvlink_total_tb_s")
    assert value("headline.rack_gpus") == value("rack.gpus")
    assert value("headline.rack_cpus") == value("rack.cpus")
    assert value("headline.rack_vms") == value("rack.compute_trays")
    assert value("headline.gpu_network_gbit_s") / 8 == value("nic.line_GBps")
    racks = math.ceil(value("headline.cluster_gpus_over") / value("rack.gpus"))
    assert value("headline.cluster_racks") == racks == 64
    assert value("headline.cluster_gpus") == racks * value("rack.gpus") == 4608
    for kind in ("sparse", "dense"):
        eflops = racks * value(f"rack.fp4_{kind}_pflops") / 1000
        printed = value(f"headline.cluster_fp4_{kind}_eflops")
        assert math.floor(10 * eflops) / 10 == printed


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(GbvizError, match=r"did you mean 'gpu\.power_max_w'"):
        catalogue()["gpu.power_max"]
    with pytest.raises(GbvizError, match="did you mean 'cooling'"):
        catalogue().section("coolin")
    with pytest.raises(GbvizError, match=r"no section 'rack\.compute_trays'"):
        catalogue().section("rack.compute_trays")
    assert "gpu.power_max" not in catalogue()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[a]\nb = " + ENTRY.replace("1,", "nan,"), r"a\.b: value must be a finite number"),
        ("[a]\nb = " + ENTRY.replace("1,", "inf,"), r"a\.b: value must be a finite number"),
        ("[a]\nb = " + ENTRY.replace("1,", "true,"), r"a\.b: value must be a finite number"),
        ("[a]\nb = " + ENTRY.replace("1,", '"1",'), r"a\.b: value must be a finite number"),
        (f"[a]\nb = {ENTRY.replace('1,', '1' + '0' * 400 + ',')}", r"a\.b: value must be a finite"),
        ("[a]\nb = " + ENTRY.replace('unit = "W", ', ""), r"a\.b: lacks unit"),
        ("[a]\nb = {}", r"a\.b: lacks value, unit, mark, source"),
        ("[a]\nb = " + ENTRY.replace("W", " "), r"a\.b: unit must be a text"),
        ("[a]\nb = " + ENTRY.replace("why", ""), r"a\.b: source must be a text"),
        ("[a]\nb = " + ENTRY.replace("assumed", "guessed"), r"a\.b: mark must be one of"),
        ("[a]\nb = " + ENTRY.replace("source", "origin"), r"a\.b: lacks source"),
        ("[a]\nb = " + ENTRY.replace("}", ', colour = "red"}'), r"a\.b: has an unknown key"),
        ("[a]\nb = 3", r"a\.b: must be a table"),
        ("a = 3", "a: must be a table"),
        (f"[a]\nb = {ENTRY}\nb = {ENTRY}", "catalogue.toml: Cannot overwrite"),
        ("[a", "catalogue.toml"),
    ],
)
def test_damaged_entries_are_named(text: str, what: str) -> None:
    with pytest.raises(GbvizError, match=what):
        parse_catalogue(text)


def test_nested_tables_make_dotted_names() -> None:
    facts = parse_catalogue(f"[a.b]\nc = {ENTRY}\n[a]\nd = {ENTRY}")
    assert [fact.name for fact in facts] == ["a.b.c", "a.d"]
    assert set(facts.section("a")) == {"b.c", "d"}


def test_file_is_plain() -> None:
    text = asset_path("catalogue.toml").read_text(encoding="utf-8")
    assert "hardware.md" not in text
    assert "\t" not in text


def test_import_is_light() -> None:
    # By path, so that what the package imports beside them does not count.
    code = """
import runpy, sys
for path in sys.argv[1:]:
    runpy.run_path(path)
print([m for m in ("numpy", "pydantic", "networkx", "rich") if m in sys.modules])
"""
    paths = [module.__file__ for module in (catalogue_module, presets_module)]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, paths)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
