"""The answer in words."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import gbviz
from gbviz.faults.actions import Action
from gbviz.jobs.spec import CollectiveJob
from gbviz.report.answer import sentence
from gbviz.report.cost import cost
from gbviz.report.fault_tree import fault_tree
from gbviz.report.figure_rows import figure_rows
from gbviz.report.page import _asked
from gbviz.report.page_tables import events_table
from gbviz.report.sheets import PERCENT, Column
from gbviz.report.tables import fault_table
from gbviz.report.text import notes, print_answer
from gbviz.report.words import counted, listed, number, percent
from gbviz.scenario.event import Event


def found(*fail: str, name: str = "gb300-su", **options: Any) -> gbviz.Snapshot:
    traffic, degrade = options.pop("traffic", ()), options.pop("degrade", {})
    scenario = gbviz.preset(name, **options).with_faults(*fail, degrade=degrade)
    return gbviz.evaluate(scenario.with_jobs(*(gbviz.traffic_job(text) for text in traffic)))


def said(*fail: str, **options: Any) -> str:
    return sentence(found(*fail, **options))


def shown(snapshot: gbviz.Snapshot, *, verbose: bool = False) -> str:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    print_answer(console, snapshot, verbose=verbose)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_nothing_broken() -> None:
    assert said() == "gb300-su is healthy: 8 racks, 576 GPUs, 8 leaves, 4 spines."
    assert said(racks=1) == "gb300-su is healthy: 1 rack, 72 GPUs, 4 leaves, 2 spines."
    assert said(name="gb300-27k").endswith("384 leaves, 384 spines, 192 cores.")


def test_one_fault() -> None:
    # Four leaves of 7,200 GB/s on each side; spine 3 of 4 has a quarter of it. All-to-all sends
    # 4/7 through the spines, what goes to the racks of the other group.
    assert said("spine-3") == (
        "With spine-3 failed, bisection falls to 75 % (21,600 of 28,800 GB/s); all-to-all,"
        " injection, NVLink and compute stay as they are; nobody is cut off."
    )
    assert ", all-to-all falls to 75 % (75 of 100 GB/s a GPU), injection" in said("leaf-0")


def test_two_and_three_faults_are_named() -> None:
    assert said("spine-3", "leaf-0").startswith("With spine-3 and leaf-0 failed, ")
    text = said("spine-3", degrade={"leaf-0~spine-1": 0.5, "leaf-1~spine-1": 0.25})
    assert text.startswith(
        "With spine-3 failed, leaf-0~spine-1 at 50 % and leaf-1~spine-1 at 25 %, "
    )


def test_many_faults_are_counted() -> None:
    assert said("spine-*").startswith("With 4 spines failed, ")
    half = {"leaf-*~spine-0": 0.5}
    assert said(degrade=half).startswith("With 8 cables degraded, ")
    assert said("leaf-0", degrade=half).startswith("With 1 leaf failed and 8 cables degraded, ")
    assert said("rack-*/tray-*/gpu-*", name="azure-gb300").startswith("With 4,608 GPUs failed, ")


def test_lost_gpus() -> None:
    assert "1 GPU is lost, " in said("rack-0/tray-0/gpu-0")
    assert "72 GPUs are lost, " in said("rack-0")
    text = said("*")
    assert "576 GPUs are lost, bisection falls to 0 % (0 of 28,800 GB/s)" in text
    assert "all-to-all has no value (no GPU is live)" in text
    assert text.endswith("; no GPU is left.")


def test_gpus_that_are_cut_off() -> None:
    alone = "rack-0/tray-0/gpu-0~rack-0/nvswitch-*"
    assert said("rack-0/tray-0/nic-0", alone).endswith("; 1 live GPU is cut off.")
    assert said("leaf-*").endswith("; 576 live GPUs are cut off.")


def test_the_gpus_of_a_hot_rack() -> None:
    text = said(degrade={"hxu-0": 0.5})
    assert text.startswith("With hxu-0 at 50 %, compute falls to 9")
    assert "bisection, all-to-all, injection and NVLink stay as they are" in text


def test_what_has_no_effect() -> None:
    assert said("rack-0/tray-0/cpu-0") == (
        "With rack-0/tray-0/cpu-0 failed, bisection, all-to-all, injection, NVLink and compute stay"
        " as they are; nobody is cut off."
    )
    assert "compute stays as it is" in said("leaf-0", "rack-0/nvswitch-0", "spine-0")


def test_a_cluster_of_one_rack_has_no_all_to_all() -> None:
    assert "all-to-all" not in said("leaf-0", racks=1)


def test_a_small_change_is_not_rounded_away() -> None:
    text = said("leaf-0~spine-0#0", name="gb300-100k")
    assert "100 %" not in text.replace("(", " ")
    assert "bisection falls to 99.99" in text


def test_cooling_too_small_by_design() -> None:
    whole = "Nothing has failed in gb300-su (8 racks, 576 GPUs, 8 leaves, 4 spines), but "
    cause = "cooling or power too small by design"
    dead = said(cooling={"capacity_kw": 1.0})
    assert dead == f"{whole}8 racks are shut down: {cause}."
    assert "but 1 rack is shut down" in said(racks=1, cooling={"capacity_kw": 1.0})
    slow = said(cooling={"capacity_kw": 100.0})
    assert slow.startswith(f"{whole}{cause} holds GPUs at ")
    assert slow.endswith(" % of their clock.")


def test_traffic_has_a_sentence_of_its_own() -> None:
    pair = "pairs:rack-0/tray-0/gpu-0>rack-1/tray-0/gpu-0"
    assert said(traffic=[pair]).endswith(f". {pair} gets 100 GB/s a flow on average.")
    half = said(traffic=[pair], degrade={"rack-0/tray-0/nic-0": 0.5})
    assert half.endswith(f". {pair} gets 50 of 100 GB/s a flow on average.")
    gone = said("rack-0", traffic=[pair])
    assert gone.endswith("gets 0 of 100 GB/s a flow on average; 1 of 1 flow gets nothing.")
    many = said("rack-0", traffic=["permutation@rack-0", "shift:72"])
    assert "; 72 of 72 flows get nothing. shift:72 gets " in many
    assert many.endswith("; 144 of 576 flows get nothing.")


def test_notes_say_what_limits_and_why() -> None:
    text = notes(found("leaf-0"))
    assert any(line.startswith("All-to-all is limited by ") for line in text)
    blocked = " ".join(notes(found("spine-0")))
    assert "Not non-blocking: leaf-" in blocked
    dead = notes(found("*"))
    assert "All-to-all: no GPU is live." in dead
    assert "Non-blocking: no NIC is live." in dead
    cut = notes(found("leaf-*"))
    assert "Cut off: rack-0/tray-0/gpu-0, rack-0/tray-0/gpu-1" in cut[-1]
    assert cut[-1].endswith(" and 572 more.")


def test_the_whole_answer() -> None:
    text = shown(found("spine-3", "hxu-1", "rack-1/tray-0", traffic=["permutation"]))
    for title in (
        "With spine-3, hxu-1 and rack-1/tray-0 failed, ",
        "What is broken",
        "What the fabric can do",
        "Traffic, GB/s a flow",
        "Cooling loops with slow or dead GPUs",
        "Conservation check: ok.",
    ):
        assert title in text
    assert "more:" not in text
    assert "\x1b" not in text


def test_long_lists_are_cut_unless_all_is_wanted() -> None:
    snapshot = found("rack-*/tray-[0-3]", "hxu-*")
    assert "and 28 more: --verbose or --json lists all" in shown(snapshot)
    assert "more:" not in shown(snapshot, verbose=True)


def test_names_that_look_like_markup_are_shown_as_they_are() -> None:
    text = shown(found("leaf-0~spine-3#1", traffic=["permutation@rack-[0,1]"]))
    assert "permutation@rack-" in text
    assert "[0,1]" in text


@given(st.floats(0, 1))
def test_percent_is_0_or_100_for_nothing_and_all_only(part: float) -> None:
    text = percent(part)
    assert text.endswith(" %")
    assert (text == "100 %") == (1 - part <= 1e-9)
    assert (text == "0 %") == (part <= 1e-9)
    assert (
        abs(float(text[:-2].removeprefix("just under ").removeprefix("just over ")) / 100 - part)
        < 1e-4
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (0.999999, "99.9999 %"),
        (1 - 2e-9, "just under 100 %"),
        (1 + 2e-9, "just over 100 %"),
        (3.1e-6, "0.0003 %"),
        (2e-9, "just over 0 %"),
        (-2e-9, "just under 0 %"),
        (1 - 1e-12, "100 %"),
        (1e-12, "0 %"),
        (-1e-12, "0 %"),
        (0.07, "7 %"),
        (12.5, "1,250 %"),
    ],
)
def test_percent_says_what_is_nearly_all_and_nearly_nothing(part: float, text: str) -> None:
    assert percent(part) == text


@pytest.mark.parametrize("factor", [0.999999, 1 - 1e-8, 1 - 1e-12])
def test_a_part_that_is_hardly_degraded_is_not_told_as_whole(factor: float) -> None:
    names = ("leaf-0~spine-0#0", "rack-1/tray-0/nic-0", "rack-2/tray-0/gpu-0", "hxu-3")
    for name in names:
        seen = found(degrade={name: factor})
        words = [
            sentence(seen).partition(",")[0],
            *(node.state for node in fault_tree(seen)),
            *(row[1] for row in fault_table(seen, None).rows),
        ]
        assert len(words) == 3
        for word in words:
            assert re.search("99[.]99|just under 100", word), word
        [standing] = (line for label, line in _asked(seen, None) if label == "from the start")
        assert re.search("99[.]99|just under 100", standing)
    events = tuple(Event(1.0, Action("degrade", name, factor)) for name in names)
    timed = replace(gbviz.preset("gb300-su"), events=events, duration_s=2.0)
    for row in events_table(timed, 9).rows:
        assert re.search("99[.]99|just under 100", row[1])


@pytest.mark.parametrize(("name", "told"), [("rack-*", True), ("leaf-*", False), ("leaf-0", False)])
def test_uplinks_that_live_though_nobody_sends_are_explained(name: str, told: bool) -> None:
    line = "Worst leaf's live uplinks: leaves and spines still run, but no NIC is left to send."
    assert (line in notes(found(name))) == told


def test_changes_are_never_0_where_there_is_one() -> None:
    healthy = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    less = healthy.with_faults(degrade={"rack-2/tray-0/nic-0": 0.999})
    line = cost("degrade", *map(gbviz.evaluate, (healthy, less)))
    assert "shift:72 -" in line
    assert not re.search("[+-]0 %|[+-]0[.]0+ %", line)
    row = figure_rows(found(degrade={"rack-2/tray-0/gpu-0": 1 - 1e-6}))[7]
    assert row.now != "100 %"
    assert row.delta not in ("0", "-0 points")


def test_sheets_tell_what_is_nearly_all_from_all() -> None:
    column = Column("clock, %", np.array([100.0, 99.96, 99.94, 0.0, 0.04, 50.0]), PERCENT)
    told = [column.text(row) for row in range(6)]
    assert told == ["100.0", "99.96", "99.9", "0.0", "0.04", "50.0"]


def test_a_job_that_is_hardly_slower_is_not_told_to_take_its_time_1_times() -> None:
    healthy = gbviz.preset("gb300-su").with_jobs(
        CollectiveJob(kind="collective", name="ring", op="all_to_all", size=1e9, racks="rack-[0-3]")
    )
    less = healthy.with_faults(degrade={"rack-2/tray-0/nic-0": 0.9998})
    assert "1.000 times" not in sentence(gbviz.evaluate(less))
    assert "1.000 times" not in cost("", *map(gbviz.evaluate, (healthy, less)))


@given(st.floats(1e-9, 99_999.0))
def test_numbers_keep_two_decimals_at_least(value: float) -> None:
    assert float(number(value).replace(",", "")) == pytest.approx(value, abs=0.0051, rel=1e-9)


@given(st.floats(1e5, 1e12))
def test_large_numbers_are_whole(value: float) -> None:
    assert "." not in number(value)
    assert float(number(value).replace(",", "")) == pytest.approx(value, abs=0.5)


def test_words() -> None:
    assert [counted(1, "leaf"), counted(0, "GPU"), counted(1234, "rack")] == [
        "1 leaf",
        "0 GPUs",
        "1,234 racks",
    ]
    assert [listed(["a"]), listed(["a", "b"])] == ["a", "a and b"]
    assert [number(0.0), number(75.0), number(1e6), number(91.164)] == [
        "0",
        "75",
        "1,000,000",
        "91.16",
    ]
