"""What a timeline remembers, and what is shared between questions, is what is found afresh."""

from __future__ import annotations

import random
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest

from gbviz.engine import evaluate
from gbviz.engine.run import run
from gbviz.faults.actions import Action
from gbviz.jobs import phases
from gbviz.jobs.impact import JobImpact
from gbviz.jobs.known import KnownEdges
from gbviz.jobs.spec import CollectiveJob, InferenceJob, TrainingJob
from gbviz.scenario import Scenario
from gbviz.scenario.event import Event
from gbviz.topology import cluster_spec

if TYPE_CHECKING:
    from gbviz.engine.snapshot import Snapshot
    from gbviz.routing.modes import Mode

HOUR_S = 3600.0
KINDS = (
    "leaf-{leaf}~spine-{spine}#{two}",
    "leaf-{leaf}>spine-{spine}",
    "spine-{spine}",
    "rack-{rack}/nvswitch-{tray}",
    "rack-{rack}/tray-{tray}/nic-{four}",
    "rack-{free}/tray-{tray}/gpu-{four}",
    "rack-{free}/tray-{tray}",
)
RANGES = {"leaf": 8, "spine": 4, "two": 2, "rack": 8, "tray": 18, "four": 4}


def jobs(nic_loss: str) -> tuple[TrainingJob | InferenceJob | CollectiveJob, ...]:
    """Three jobs on racks 0 to 5; racks 6 and 7 are free."""
    many = {"nic_loss": nic_loss}
    return (
        TrainingJob.model_validate(
            {
                "kind": "training",
                "name": "train",
                "model": "llama3-8b",
                "parallelism": {"tp": 4, "dp": 16, "pp": 4},
                "batch": {"global": 64},
                "racks": "rack-[0-3]",
                "gpus_per_rack": 64,
            }
            | many
        ),
        InferenceJob.model_validate(
            {
                "kind": "inference",
                "name": "serve",
                "model": "llama3-8b",
                "racks": "rack-4",
                "prefill": {"gpus": 24, "tp": 4},
                "decode": {"gpus": 48, "tp": 4, "batch": 8},
            }
            | many
        ),
        CollectiveJob.model_validate(
            {
                "kind": "collective",
                "name": "exchange",
                "op": "all_to_all",
                "size": 1e9,
                "gpus": ["rack-5", "rack-3/tray-17"],
            }
            | many
        ),
    )


def day(rng: random.Random, count: int) -> tuple[Event, ...]:
    found = []
    for _ in range(count):
        numbers = {name: rng.randrange(most) for name, most in RANGES.items()}
        selector = rng.choice(KINDS).format(free=rng.choice((6, 7)), **numbers)
        lasts = rng.choice([600.0, HOUR_S, 3 * HOUR_S])
        found.append(Event(rng.uniform(0, 24 * HOUR_S), Action("fail", selector), for_s=lasts))
    return tuple(sorted(found, key=lambda event: event.at_s))


def afresh(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> Snapshot:
    with monkeypatch.context() as patch:
        patch.setattr(phases, "KNOWN", KnownEdges())
        return evaluate(scenario)


@pytest.mark.parametrize(
    ("seed", "mode", "nic_loss"),
    [(1, "adaptive", "tray"), (2, "spray", "rack"), (3, "adaptive", "rack"), (4, "ecmp", "tray")],
)
def test_a_timeline_has_the_figures_of_its_standing_faults(
    seed: int, mode: Mode, nic_loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    events = day(rng, 24 if mode != "ecmp" else 8)
    plain = Scenario("x", cluster_spec(racks=8), routing=mode, jobs=jobs(nic_loss))
    monkeypatch.setattr(phases, "KNOWN", KnownEdges())
    made = run(replace(plain, events=events, duration_s=24 * HOUR_S))
    compared = 0
    for interval in made.intervals:
        at = interval.start_s
        standing = [
            event.action
            for event in events
            if event.at_s <= at < event.at_s + (event.for_s or 0.0) and event.action.selector
        ]
        if any(job.state not in ("running", "degraded") for job in interval.jobs):
            continue
        now = afresh(replace(plain, actions=tuple(standing)), monkeypatch)
        assert asdict(interval.metrics) == asdict(now.post)
        for span, job in zip(interval.jobs, now.jobs, strict=True):
            assert isinstance(job, JobImpact)
            assert job.slowdown is not None
            assert (span.name, span.state, span.gpus) == (job.name, job.state, job.gpus)
            assert span.speed == 1 / job.slowdown
            assert job.bottleneck is None or span.words == job.bottleneck.words
        compared += 1
    assert compared >= len(made.intervals) // 3


def test_questions_do_not_leak_into_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same jobs, faults and shapes under other modes, policies, seeds and sizes."""
    rng = random.Random(7)
    specs = (cluster_spec(racks=8), cluster_spec(racks=9))
    faults = (
        "rack-3/tray-17/nic-1",
        "rack-5/nvswitch-3",
        "leaf-0~spine-1#0",
        "rack-1/tray-0/gpu-1",
    )
    modes: tuple[tuple[Mode, int], ...] = (("adaptive", 0), ("spray", 0), ("ecmp", 1), ("ecmp", 2))
    asked = [
        Scenario("x", spec, routing=mode, seed=seed, jobs=jobs(nic_loss)).with_faults(*faults[:few])
        for spec in specs
        for mode, seed in modes
        for nic_loss in ("tray", "rack", "abort")
        for few in (0, 1, 4)
    ]
    asked = rng.sample(asked, 16)
    shared = [evaluate(one) for one in asked]
    for one, found in zip(asked, shared, strict=True):
        alone = afresh(one, monkeypatch)
        assert asdict(found.post) == asdict(alone.post)
        for a, b in zip(found.jobs, alone.jobs, strict=True):
            assert isinstance(a, JobImpact)
            assert isinstance(b, JobImpact)
            assert asdict(a) == asdict(b)
