"""Searches for garbage are rare during a run, and as they were after it."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import gbviz
from gbviz.engine.garbage import rare_garbage_searches
from gbviz.engine.run import run
from gbviz.faults.actions import Action
from gbviz.scenario.event import Event

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_the_last_of_runs_that_overlap_brings_back_what_was() -> None:
    first, second = rare_garbage_searches(), rare_garbage_searches()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == 50_000
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("own", [(0, 10, 10), (90_000, 5, 5)])
def test_who_searches_less_often_keeps_to_it(own: tuple[int, int, int]) -> None:
    gc.set_threshold(*own)
    with rare_garbage_searches():
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own


def test_a_run_that_stops_brings_back_what_was() -> None:
    seen = []

    def poll(_what: str) -> None:
        seen.append(gc.get_threshold()[0])
        raise KeyboardInterrupt

    event = Event(5.0, Action("fail", "spine-3"))
    scenario = replace(gbviz.preset("gb300-su"), events=(event,), duration_s=10.0)
    with pytest.raises(KeyboardInterrupt):
        run(scenario, poll=poll)
    assert seen == [50_000]
    assert gc.get_threshold() == (700, 10, 10)
