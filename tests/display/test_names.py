"""Long names where there is little room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbviz
from gbviz.display.draw import Text, text_width
from gbviz.display.legend import legend
from gbviz.display.names import short_names, shortened
from gbviz.display.shades import Look
from gbviz.display.sheet import Sheet, draw_sheet
from gbviz.display.theme import DARK
from gbviz.engine import loads
from gbviz.jobs.spec import CollectiveJob
from tests.display.cases import overview, where

_NAMES = st.lists(st.text("aW… (2)界", min_size=1, max_size=40), max_size=6, unique=True)


@given(_NAMES, st.floats(40, 200))
def test_short_names_fit_and_differ(names: list[str], room: float) -> None:
    found = short_names(names, 10.0, room)
    assert len(set(found)) == len(found) == len(names)
    for name, short in zip(names, found, strict=True):
        if text_width(name, 10.0) <= room:
            assert short == name
        else:
            assert text_width(short, 10.0) <= room + text_width(" (2)", 10.0)


def test_both_ends_of_a_name_stay() -> None:
    assert shortened("train-llama-2024-" + 60 * "x" + "-b", 10.0, 100.0) == "train-ll…xxxxxx-b"
    assert shortened("train", 10.0, 3.0) == ""


def test_letters_of_full_width_are_as_wide_as_they_are_high() -> None:
    assert text_width("界" * 10, 10.0) >= 100.0
    # Bold ones of the widest Latin letter as well.
    assert text_width("W" * 10, 10.0) >= 100.0


@pytest.fixture
def two() -> gbviz.Snapshot:
    """Two jobs whose names differ in the middle."""
    jobs = [
        CollectiveJob(
            kind="collective",
            name=f"train-{60 * 'W'}-{letter}-{60 * 'W'}-end",
            op="all_reduce",
            size=1e9,
            racks=f"rack-[{racks}]",
        )
        for letter, racks in (("a", "0-3"), ("b", "4-7"))
    ]
    return gbviz.evaluate(gbviz.preset("gb300-su").with_jobs(*jobs))


def test_a_legend_tells_jobs_with_long_names_apart(two: gbviz.Snapshot) -> None:
    items = legend(Look(DARK, colour_by="job"), overview(where("su"), 1600), two)
    named = [item.text for item in items if isinstance(item, Text) and "train" in item.text]
    assert len(set(named)) == len(named) == 2
    assert all(text.partition(" (")[0].endswith("end") for text in named)


def test_pictures_tell_jobs_with_long_names_apart(two: gbviz.Snapshot) -> None:
    now = loads(two)
    drawn = draw_sheet(Sheet(width=1000, height=640), two, now, now)
    named = {item.text for item in drawn.items if isinstance(item, Text) and "train" in item.text}
    assert len(named) == 2


@pytest.mark.parametrize(("width", "job"), [(1000, False), (1900, True)])
def test_a_rack_with_a_long_job_still_says_how_it_is(
    two: gbviz.Snapshot, width: int, job: bool
) -> None:
    now = loads(two)
    rack = draw_sheet(Sheet(view="rack-0", width=width, height=1000), two, now, now)
    title = next(
        item.text for item in rack.items if isinstance(item, Text) and "rack-0" in item.text
    )
    assert "hottest die" in title
    assert ("train" in title) == job
