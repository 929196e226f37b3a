"""Plots over time: long names, ids of their own, the same bytes."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

import gbviz
from gbviz.engine.run import run
from gbviz.faults.actions import Action
from gbviz.report.plots import Plot, time_plots
from gbviz.scenario.event import Event

_SVG = "{http://www.w3.org/2000/svg}"


def plotted(*names: str, factor: float = 0.0) -> list[Plot]:
    jobs = [replace(gbviz.traffic_job("shift:72"), name=name) for name in names]
    action = Action("degrade", "leaf-0~*", factor) if factor else Action("fail", "leaf-0")
    scenario = replace(
        gbviz.preset("gb300-su").with_jobs(*jobs),
        events=(Event(60.0, action),),
        duration_s=600.0,
    )
    return time_plots(run(scenario))


def texts(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in ET.fromstring(svg).iter(f"{_SVG}text")]


@pytest.mark.parametrize("letter", ["W", "界", "i"])
def test_long_names_leave_room_for_the_curves(letter: str) -> None:
    # A warning of Matplotlib that it found no room would fail here.
    names = [f"{letter * 90}-{end}-{letter * 90}" for end in ("a", "b")]
    plots = plotted(*names)
    for plot in plots[:2]:
        named = [text for text in texts(plot.svg) if letter * 3 in text]
        assert len(set(named)) == 2
        # What the legend calls them, the caption calls them.
        assert all(name in plot.caption for name in named)


def test_eight_jobs_with_long_names_have_room() -> None:
    plot = plotted(*(f"{n}{'W' * 150}" for n in range(9)))[0]
    assert sum("WW" in text for text in texts(plot.svg)) == 8


def test_no_id_is_in_two_plots_and_each_reference_is_to_its_own() -> None:
    seen: set[str] = set()
    for plot in plotted("a", "b"):
        own = [one.attrib["id"] for one in ET.fromstring(plot.svg).iter() if "id" in one.attrib]
        assert len(set(own)) == len(own)
        assert not seen & set(own)
        seen |= set(own)
        meant = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', plot.svg)
        assert meant
        assert {"".join(one) for one in meant} <= set(own)


def test_a_name_that_looks_like_svg_is_only_a_name() -> None:
    name = 'url(#x) id="y" #0101ff'
    assert name in texts(plotted(name)[0].svg)


def test_captions_tell_what_is_nearly_all_from_all() -> None:
    speed, goodput = plotted("a", factor=0.9997)[:2]
    assert speed.caption == "a 99.995 to 100 %"
    assert goodput.caption == "a 99.996 % at the end"


def test_a_long_time_has_commas() -> None:
    healthy = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    plots = time_plots(run(replace(healthy, duration_s=109500 * 86400.0)))
    assert all("100,000" in texts(plot.svg) for plot in plots)


def test_the_same_run_has_the_same_plots() -> None:
    assert plotted("a", "b") == plotted("a", "b")
