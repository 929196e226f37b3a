"""Reports as pages: what a reader sees, what a hostile name cannot do, and their bytes."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

import gbviz
from gbviz.assets import scenario_paths
from gbviz.faults.actions import Action
from gbviz.report.page import report_page
from gbviz.report.seen import answer_of
from gbviz.scenario.event import Event
from gbviz.scenario.file import load

if TYPE_CHECKING:
    from pathlib import Path

    from gbviz.scenario import Scenario

_VOID = {"meta", "br", "image"}
# Of browsers: what would fetch something or run something.
_ACTIVE = {"script", "iframe", "object", "embed", "link", "base", "form"}


class Page(HTMLParser):
    """What a page says, and whether its elements close as they should."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(scenario: Scenario, at_s: float | None = None) -> str:
    return report_page(*answer_of(scenario, at_s))


@pytest.mark.parametrize("path", scenario_paths(), ids=lambda path: path.stem)
def test_every_shipped_scenario_has_a_whole_page(path: Path) -> None:
    text = page_of(load(path))
    assert len(text.encode()) < 2_000_000
    page = Page(text)
    assert not {tag for tag, _ in page.tags} & _ACTIVE
    assert not re.search(r"""(?:href|src)=["']?(?:https?:|//|file:)""", text)
    ids = [attributes["id"] or "" for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    meant = set(re.findall(r"url\(#([^)]+)\)", text))
    for _, attributes in page.tags:
        refers = [attributes.get(key) or "" for key in ("href", "xlink:href")]
        meant |= {value[1:] for value in refers if value.startswith("#")}
    assert meant <= set(ids)
    assert all(len(number) < 18 for number in re.findall(r"\d+\.\d+", page.text))
    assert "nan" not in page.text.lower().split()
    pictures = sum(tag == "svg" and "viewbox" in attributes for tag, attributes in page.tags)
    assert pictures >= 4


def test_the_answer_stands_first() -> None:
    spine = gbviz.preset("azure-gb300").with_faults("spine-3")
    text = Page(page_of(spine)).text
    assert text.index("bisection falls to 97.22 %") < text.index("What was asked")
    assert "No job runs on this cluster" in text


def test_faults_that_are_over_by_the_end_are_shown_at_their_worst() -> None:
    hour = Event(600.0, Action("fail", "spine-3"), for_s=1800.0)
    scenario = replace(gbviz.preset("gb300-su"), events=(hour,), duration_s=3600.0)
    text = Page(page_of(scenario)).text
    assert "With spine-3 failed from 0:10:00 to 0:40:00, bisection falls to 75 %" in text
    assert "At its worst." in text
    # 28,800 GB/s before and after, three of four spines between.
    assert re.search(r"bisection, GB/s 28,800 21,600 28,800 -7,200 75 %", text)
    # Another time that was asked for is shown alone.
    early = Page(page_of(scenario, 60.0)).text
    assert "At its worst" not in early
    assert "At 0:01:00." in early
    assert "none was judged" in early


HOSTILE = "</text><script>alert(1)</script>\"' {{ 7*7 }} $x_1$ \u202e\x1b[31m & [red]"


def test_a_hostile_name_is_only_a_name() -> None:
    job = gbviz.traffic_job("shift:72")
    scenario = replace(
        gbviz.preset("gb300-su").with_jobs(replace(job, name=HOSTILE)),
        name=HOSTILE,
        description=HOSTILE,
        events=(Event(60.0, Action("fail", "leaf-0")),),
        duration_s=600.0,
    )
    text = page_of(scenario)
    page = Page(text)
    assert not {tag for tag, _ in page.tags} & _ACTIVE
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_the_same_scenario_has_the_same_bytes() -> None:
    scenario = gbviz.preset("gb300-su").with_faults("leaf-0", "rack-1/nvswitch-4", "hxu-3")
    assert page_of(scenario) == page_of(scenario)


@pytest.mark.parametrize("name", ["gb300-27k", "gb300-cdu"])
def test_large_clusters_have_pages_of_a_usual_size(name: str) -> None:
    scenario = gbviz.preset(name).with_faults("rack-[0-30]", "spine-[1-9]", "rack-40/nvswitch-*")
    text = page_of(scenario)
    assert len(text.encode()) < 2_000_000
    Page(text)


def test_a_long_list_of_events_is_cut_and_said_to_be() -> None:
    events = tuple(Event(float(n), Action("fail", f"spine-{n % 4}"), for_s=0.5) for n in range(300))
    text = page_of(replace(gbviz.preset("gb300-su"), events=events, duration_s=400.0))
    assert "more, see the exact scenario" in text
    assert "timeline.csv has all" in text


def test_a_page_by_itself_speaks_of_no_files_beside_it() -> None:
    scenario = gbviz.preset("gb300-cdu").with_faults("cdu-*")
    assert "links.csv" in page_of(scenario)
    assert "links.csv" not in report_page(*answer_of(scenario), alone=True)


def test_no_loop_that_runs_is_no_least_clock() -> None:
    text = Page(page_of(gbviz.preset("azure-gb300").with_faults("hxu-*"))).text
    assert "and 52 more" in text
    assert "no GPU is left" in text


def test_a_short_death_is_not_told_as_running_as_before() -> None:
    dead = Event(3600.0, Action("fail", "rack-*"), for_s=300.0)
    scenario = replace(
        gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72")),
        events=(dead,),
        duration_s=86400.0,
    )
    told = answer_of(scenario)[0].answer[0]
    assert "shift:72 stops for 5 min" in told
    # Slow at the end for less than a hundredth of the whole is slow all the same.
    late = replace(scenario, events=(Event(86000.0, Action("fail", "leaf-3")),))
    assert "takes 1.185 times as long" in answer_of(late)[0].answer[0]


def test_long_names_of_jobs_are_short_where_there_is_little_room() -> None:
    names = [f"{'W' * 99}{letter}{'W' * 99}" for letter in "ab"]
    jobs = [replace(gbviz.traffic_job("shift:72"), name=name) for name in names]
    scenario = replace(
        gbviz.preset("gb300-su").with_jobs(*jobs),
        events=(Event(60.0, Action("fail", "leaf-0")),),
        duration_s=600.0,
    )
    text = page_of(scenario)
    tiles = text.partition('<div class="tiles">')[2].partition("<nav")[0]
    assert "WWW…WWW" in tiles
    assert not any(name in tiles for name in names)
    heads = re.findall(r"<th scope=\"col\"[^>]*>(W+…W+[^<]*)</th>", text)
    assert len(set(heads)) == 2
    # In full where there is room.
    assert all(name in text for name in names)
