"""Every number here follows from 100 GB/s a cable, 72 NICs a leaf and 1,400 W a GPU."""

from __future__ import annotations

from functools import lru_cache

import pytest

import gbviz
from gbviz.engine import Loads, Snapshot, loads
from gbviz.errors import InputError
from gbviz.report.cause import condition
from gbviz.report.explain import Explanation, cause_path, explain, facts
from gbviz.report.facts import Fact
from gbviz.report.figure_rows import figure_rows
from gbviz.report.job_lines import job_lines
from gbviz.scenario import Scenario, preset


def cluster(*fail: str, job: str = "", degrade: dict[str, float] | None = None) -> Scenario:
    scenario = preset("gb300-su").with_faults(*fail, degrade=degrade)
    return scenario.with_jobs(gbviz.traffic_job(job)) if job else scenario


@lru_cache(maxsize=16)
def answered(scenario: Scenario) -> tuple[Snapshot, Loads, Loads]:
    found = gbviz.evaluate(scenario)
    return found, loads(found), loads(found, base=True)


def said(scenario: Scenario, name: str) -> Explanation:
    return explain(*answered(scenario), name)


def facts_of(scenario: Scenario, name: str) -> dict[str, str]:
    return {fact.label: fact.value for fact in facts(*answered(scenario), name)}


class TestLoads:
    """A shift by one rack keeps every NIC sending and receiving at its full 100 GB/s."""

    def test_a_full_link_names_its_job_and_its_arithmetic(self) -> None:
        found = said(cluster(job="shift:72"), "rack-0/tray-0/nic-0~leaf-0#0")
        assert found.headline == "full: 100 %"
        assert found.sentences[0].endswith("carries 100 of 100 GB/s (100 %): shift:72 100 GB/s.")
        assert found.sentences[1] == "That is as on the healthy cluster (100 %)."
        assert found.arithmetic[0] == "100 GB/s mean load / 100 GB/s = 100 %"

    def test_two_jobs_on_a_link_add_up(self) -> None:
        scenario = cluster(job="shift:72").with_jobs(gbviz.traffic_job("shift:144"))
        found = said(scenario, "rack-0/tray-0/nic-0")
        assert "shift:72 50 GB/s and shift:144 50 GB/s" in found.sentences[0]
        assert "50 + 50 GB/s = 100 GB/s of 2 jobs" in found.arithmetic

    def test_a_lost_spine_is_in_the_arithmetic_of_an_uplink(self) -> None:
        scenario = cluster("spine-3", job="shift:288")
        spines = answered(scenario)[0].fabric.count("spine")
        uplinks, each = 72, 72 // spines
        found = said(scenario, "leaf-0>spine-0#0")
        alive = uplinks - each
        words = f"{alive} of 72 uplinks of leaf-0 alive: each carries 72/{alive} of an even share"
        assert words in found.arithmetic

    def test_a_degraded_cable_has_its_rate(self) -> None:
        found = said(cluster(degrade={"leaf-0~spine-1#0": 0.5}), "leaf-0~spine-1#0")
        assert found.headline == "at 50 % of its rate"
        assert "a fault of its own" in found.sentences[0]
        rows = facts_of(cluster(degrade={"leaf-0~spine-1#0": 0.5}), "leaf-0~spine-1#0")
        assert rows["to spine-1"] == "0 of 50 GB/s = 0 %; base 0 %"

    def test_an_idle_leaf_is_healthy(self) -> None:
        assert said(cluster(), "leaf-0").headline == "healthy, idle"


class TestFailed:
    def test_a_leaf_says_what_it_takes_down(self) -> None:
        """72 NIC cables and 72 uplinks, both ways: 288 directions."""
        found = said(cluster("leaf-3"), "leaf-3")
        assert found.headline == "failed"
        assert "It takes 288 links (both directions) and 72 NICs down with it" in found.sentences[1]
        assert "to spines: 0 GB/s of capacity left of 7,200 GB/s" in found.arithmetic

    def test_a_cable_is_down_with_its_leaf(self) -> None:
        found = said(cluster("leaf-3"), "leaf-3~spine-0#0")
        assert found.headline == "down with leaf-3"

    def test_a_cable_of_a_failed_bundle_is_down_with_it(self) -> None:
        state = condition(answered(cluster("leaf-0~spine-3"))[0], "leaf-0~spine-3#0")
        assert (state.state, state.cause) == ("down", "leaf-0~spine-3")

    def test_a_bundle_with_a_failed_cable_is_down_in_part(self) -> None:
        state = condition(answered(cluster("leaf-0~spine-3#0"))[0], "leaf-0~spine-3")
        spines = answered(cluster())[0].fabric.count("spine")
        assert (state.state, state.cause) == ("in part", "leaf-0~spine-3#0")
        assert (state.lost, state.total) == (2, 2 * 72 // spines)

    def test_a_nic_behind_a_dead_leaf_is_cut_off(self) -> None:
        found = said(cluster("leaf-1"), "rack-0/tray-0/nic-1")
        assert found.headline == "cut off by leaf-1"

    def test_a_lost_nvswitch_leaves_seventeen_parts_of_eighteen(self) -> None:
        found = said(cluster("rack-2/nvswitch-3"), "rack-2/nvswitch-3")
        words = "17 of 18 NVSwitches of rack-2 alive x 50 GB/s = 850 of 900 GB/s a GPU"
        assert words in found.arithmetic

    def test_an_nvlink_cable_is_down_with_its_switch(self) -> None:
        name = "rack-2/tray-0/gpu-0~rack-2/nvswitch-3"
        assert said(cluster("rack-2/nvswitch-3"), name).headline == "down with rack-2/nvswitch-3"


class TestHeat:
    def test_a_gpu_without_water_leads_back_to_the_cooling_unit(self) -> None:
        found = answered(cluster("hxu-5"))[0]
        gpu = "rack-5/tray-2/gpu-1"
        assert cause_path(found, gpu) == [gpu, "rack-5/tray-2", "rack-5", "loop-5", "hxu-5"]
        assert said(cluster("hxu-5"), gpu).sentences[0] == (
            f"{gpu} is down because hxu-5 has failed (by way of rack-5/tray-2, rack-5, loop-5)."
        )
        assert said(cluster("hxu-5"), "hxu-5").sentences[1] == "It takes rack-5 down with it."

    def test_a_weak_cooling_unit_slows_its_rack(self) -> None:
        found = said(cluster(degrade={"hxu-5": 0.7}), "rack-5")
        assert found.headline.startswith("slow: ")
        assert "because hxu-5 is at 70 %" in found.sentences[0]
        # 136 kW x 0.7; the loop takes up all that it can.
        assert "loop-5: 95.20 kW heat / 95.20 kW capacity = 100 %" in found.arithmetic

    def test_a_gpu_at_full_load_shows_how_hot_it_gets(self) -> None:
        rows = facts_of(cluster(), "rack-1/tray-0/gpu-0")
        assert (rows["GPU power"], rows["clock"]) == ("1,400 W", "100 %")
        assert "40 °C supply" in rows["cooling"]
        # 40 °C + 1,400 W x 0.0267 K/W
        assert rows["die"].startswith("77.")

    def test_a_degraded_gpu_has_part_of_its_clock(self) -> None:
        found = said(cluster(degrade={"rack-1/tray-0/gpu-0": 0.5}), "rack-1/tray-0/gpu-0")
        assert found.headline == "at 50 % of its clock"


KINDS = [
    "rack-1",
    "rack-1/tray-0",
    "rack-1/tray-0/gpu-0",
    "rack-1/tray-0/nic-0",
    "rack-1/tray-0/cpu-0",
    "leaf-0",
    "spine-0",
    "rack-1/nvtray-0",
    "rack-1/nvswitch-0",
    "rack-1/shelf-0",
    "rack-1/feed-a",
    "hxu-1",
    "loop-1",
    "leaf-0~spine-0#0",
    "leaf-0~spine-0",
    "leaf-0>spine-0#0",
    "leaf-0:73",
    "leaf-0/cage-37",
    "rack-1/tray-0/gpu-0~rack-1/nvswitch-0",
]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("faults", [(), "itself", ("rack-1", "leaf-0")], ids=["whole", "own", "up"])
def test_every_kind_has_words_for_every_state(name: str, faults: str | tuple[str, ...]) -> None:
    broken = (name,) if faults == "itself" else tuple(faults)
    scenario = cluster(*(one for one in broken if not one.startswith("loop")), job="shift:72")
    found = said(scenario, name)
    assert found.headline
    assert 1 <= len(found.sentences) <= 2
    assert all(sentence.endswith(".") for sentence in found.sentences)
    rows = facts(*answered(scenario), name)
    assert all(isinstance(row, Fact) and row.value for row in rows)
    assert "nan" not in found.text().lower()
    path = cause_path(answered(scenario)[0], name)
    assert path[0] == name
    assert len(set(path)) == len(path)


def test_a_third_tier_has_cores() -> None:
    """Cores stand above the spines of two pods."""
    scenario = preset("gb300-27k").with_faults("core-0")
    found, now, base = answered(scenario)
    assert explain(found, now, base, "core-0").headline == "failed"
    assert condition(found, "spine-0~core-0#0").cause == "core-0"
    labels = [fact.label for fact in facts(found, now, base, "spine-1")]
    assert "to cores" in labels
    assert "from leaves" in labels


def test_a_ticket_has_the_scenario_and_its_faults() -> None:
    text = said(cluster("leaf-3", degrade={"leaf-0~spine-1": 0.25}), "leaf-3").text()
    assert text.startswith("leaf-3: failed\nleaf-3 has failed")
    assert text.endswith("Scenario: gb300-su\nFaults: leaf-3 failed, leaf-0~spine-1 at 25 %")


def test_nothing_is_named_nothing() -> None:
    with pytest.raises(InputError):
        said(cluster(), "leaf-999")
    with pytest.raises(InputError):
        said(cluster(), "leaf-*")


def test_figures_as_rows_say_which_way_they_went() -> None:
    rows = {row.what: row for row in figure_rows(answered(cluster("rack-0"))[0])}
    live = rows["live GPUs"]
    assert (live.base, live.now, live.delta, live.way) == ("576", "504", "-72", -1)


def test_lines_of_jobs_that_are_cut_off() -> None:
    line = job_lines(answered(cluster("leaf-*", job="shift:72"))[0])[0]
    assert (line.state, line.slowdown, line.link) == ("stalled", None, "")


class TestWhatOthersFoundMisleading:
    def test_all_failed_units_of_a_loop_are_named(self) -> None:
        scenario = gbviz.preset("gb300-cdu").with_faults("cdu-0", "cdu-1")
        assert "because cdu-0 and cdu-1 have failed." in said(scenario, "rack-3").sentences[0]
        assert facts_of(scenario, "rack-3")["because of"] == "loop-0 < cdu-0 and cdu-1"
        words = said(scenario, "cdu-1").sentences[1]
        assert words == "For want of it: 32 racks slowed to 72.49 % (together with cdu-0)."
        off = said(scenario.with_faults("cdu-2", "cdu-3"), "cdu-1").sentences[1]
        assert off.startswith(
            "It takes 32 racks (together with cdu-0, cdu-2 and cdu-3) down with it"
        )

    def test_a_rack_s_power_is_told_apart_from_that_of_its_gpus(self) -> None:
        rows = facts_of(cluster(), "rack-1")
        # 72 x 1,400 W, and 35.2 kW of everything else.
        assert rows["GPU power"] == "100.80 kW"
        assert rows["rack power"] == "136 kW, GPUs included"
        assert "power" not in rows

    def test_a_dead_part_has_no_numbers_that_contradict_each_other(self) -> None:
        """Of racks 0 to 3 of its group, one shifts to another group: a quarter of its uplinks."""
        scenario = cluster("leaf-3", job="shift:72")
        rows = facts_of(scenario, "leaf-3")
        assert rows["to spines"] == "dead; carries 1,800 GB/s (25 %) on the healthy cluster"
        lines = said(scenario, "leaf-3").arithmetic
        assert "to spines: 0 GB/s of capacity left of 7,200 GB/s" in lines

    def test_asics_and_shelves_have_their_plurals(self) -> None:
        rows = facts_of(cluster(), "rack-1")
        assert "18 NVSwitch ASICs" in rows
        assert "4 power shelves" in facts_of(cluster(), "rack-1/feed-a")
