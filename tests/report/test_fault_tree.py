from __future__ import annotations

import gbviz
from gbviz.report.fault_tree import fault_tree


def test_faults_of_their_own_are_not_put_under_one_that_covers_them() -> None:
    """Mending hxu-5 would not mend the GPU, which failed by itself."""
    scenario = gbviz.preset("gb300-su").with_faults("rack-5/tray-0/gpu-1", "hxu-5")
    tree = fault_tree(gbviz.evaluate(scenario))
    assert [(node.component, node.also) for node in tree] == [
        ("rack-5/tray-0/gpu-1", "rack-5"),
        ("hxu-5", ""),
    ]
    assert [node.component for node in tree[1].consequences] == ["rack-5"]


def test_a_cable_of_a_failed_leaf_stays_a_cause() -> None:
    scenario = gbviz.preset("gb300-su").with_faults("leaf-3", "leaf-3~spine-0#0")
    tree = fault_tree(gbviz.evaluate(scenario))
    assert [(node.component, node.also) for node in tree] == [
        ("leaf-3", ""),
        ("leaf-3~spine-0#0", "leaf-3"),
    ]


def test_cooling_units_say_which_racks_they_slow() -> None:
    scenario = gbviz.preset("gb300-cdu").with_faults("cdu-0", "cdu-1")
    tree = fault_tree(gbviz.evaluate(scenario))
    # 2 of 4 units of 1,368 kW for 32 racks; racks of the other loop run on.
    assert [node.slows for node in tree] == [
        "32 racks slowed to 72.49 % (together with cdu-1)",
        "32 racks slowed to 72.49 % (together with cdu-0)",
    ]
    one = fault_tree(gbviz.evaluate(gbviz.preset("gb300-cdu").with_faults("cdu-0")))
    assert one[0].slows == ""


def test_every_dead_unit_of_a_loop_says_that_its_racks_are_off() -> None:
    scenario = gbviz.preset("gb300-cdu").with_faults(*(f"cdu-{n}" for n in range(4)))
    tree = fault_tree(gbviz.evaluate(scenario))
    assert tree[0].slows == "32 racks shut down (together with cdu-1, cdu-2 and cdu-3)"
    assert [node.slows[:18] for node in tree] == ["32 racks shut down"] * 4
    apart = gbviz.preset("gb300-cdu").with_faults("cdu-0", "cdu-1", "cdu-2", "cdu-3", "cdu-4")
    assert fault_tree(gbviz.evaluate(apart))[4].slows == ""


def test_a_shutdown_is_told_of_what_brings_it() -> None:
    """Cooling shuts the rack down; the feed alone would slow it."""
    scenario = gbviz.preset("gb300-su").with_faults("hxu-0", "rack-0/feed-a")
    nodes = {node.component: node for node in fault_tree(gbviz.evaluate(scenario))}
    assert nodes["hxu-0"].slows == "rack-0 shut down"
    assert nodes["rack-0/feed-a"].slows == ""


def test_a_feed_says_what_it_costs_its_rack() -> None:
    tree = fault_tree(gbviz.evaluate(gbviz.preset("gb300-su").with_faults("rack-3/feed-a")))
    # 4 of 8 shelves x 33 kW = 132 kW for a rack of 136 kW.
    assert tree[0].slows == "rack-3 slowed to 97.66 %"


def test_a_gpu_that_is_degraded_itself_is_not_slowed_by_a_harmless_unit() -> None:
    scenario = gbviz.preset("gb300-cdu").with_faults("cdu-0", degrade={"rack-0/tray-0/gpu-0": 0.5})
    tree = fault_tree(gbviz.evaluate(scenario))
    assert [node.slows for node in tree] == ["", ""]
