"""A timeline that remembers nothing from moment to moment is the same to the last bit."""

from __future__ import annotations

import random
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gbviz.engine import downs, metrics, stage
from gbviz.engine.run import run
from gbviz.faults.actions import Action
from gbviz.flows import exchange
from gbviz.flows.router import router
from gbviz.jobs import impact
from gbviz.scenario import Scenario
from gbviz.scenario.event import Event
from gbviz.topology import cluster_spec
from gbviz.topology.remembered import Remembered
from tests.engine.test_afresh import RANGES, jobs

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.routing.modes import Mode

KINDS = (
    "leaf-{leaf}~spine-{spine}#{two}",
    "leaf-{leaf}",
    "spine-{spine}",
    "rack-{rack}/nvswitch-{tray}",
    "rack-{rack}/tray-{tray}/nic-{four}",
    "rack-{rack}/tray-{tray}/gpu-{four}",
    "rack-{rack}/feed-a",
    "hxu-{rack}",
)


def day(rng: random.Random, count: int) -> tuple[Event, ...]:
    """Faults of all kinds; some come back after seconds, to states that were there before."""
    found = []
    for _ in range(count):
        numbers = {name: rng.randrange(most) for name, most in RANGES.items()}
        selector = rng.choice(KINDS).format(**numbers)
        lasts = rng.choice([10.0, 60.0, 600.0, 7200.0])
        found.append(Event(rng.uniform(0, 86400.0), Action("fail", selector), for_s=lasts))
    return tuple(found)


def plain(value: Any) -> Any:
    """A value with all that it holds, floats by their bits."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if is_dataclass(value) and not isinstance(value, Scenario):
        return [plain(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value.hex() if isinstance(value, float) else value


def forget_all(patch: pytest.MonkeyPatch) -> None:
    """Let everything be found afresh whenever it is asked for."""

    def afresh(_self: object, _kind: str, _key: object, find: Callable[[], Any], *_: object) -> Any:
        return find()

    patch.setattr(stage.Stage, "_once", afresh)
    patch.setattr(stage, "router", lambda *given, known: router(*given))  # noqa: ARG005
    patch.setattr(Remembered, "get", lambda *_: None)
    patch.setattr(downs, "_under", lambda *_: object())
    for module, name in (
        (metrics, "bisection"),
        (metrics, "blocking"),
        (exchange, "_tray_classes"),
        (exchange, "_whole_pairs"),
        (impact, "_dead_nics"),
        (impact, "_lost_cables"),
    ):
        patch.setattr(module, name, getattr(module, name).__wrapped__)


@pytest.mark.parametrize(
    ("seed", "mode", "nic_loss"), [(1, "adaptive", "tray"), (2, "spray", "rack")]
)
def test_without_memory_a_timeline_is_the_same(
    seed: int, mode: Mode, nic_loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = day(random.Random(seed), 25)
    asked = replace(
        Scenario("x", cluster_spec(racks=8), routing=mode, jobs=jobs(nic_loss)),
        events=events,
        duration_s=86400.0,
    )
    known, again = run(asked), run(asked)
    with monkeypatch.context() as patch:
        forget_all(patch)
        afresh = run(asked)
    assert len(known.intervals) > 60
    for name in ("intervals", "moments", "totals", "problems"):
        assert plain(getattr(known, name)) == plain(getattr(again, name))
        assert plain(getattr(known, name)) == plain(getattr(afresh, name))
