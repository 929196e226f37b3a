"""From a scenario to its snapshot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gbviz.engine.jobs import impacts
from gbviz.engine.snapshot import FixedPoint, Snapshot, TrafficImpact
from gbviz.engine.state import State, Work, healthy_state, silent, state_of
from gbviz.faults import resolve
from gbviz.jobs.spec import TrafficSpec
from gbviz.jobs.traffic import TrafficJob
from gbviz.topology import build

if TYPE_CHECKING:
    from gbviz.engine.state import Poll
    from gbviz.faults import Fault
    from gbviz.jobs.impact import JobImpact
    from gbviz.scenario import Scenario


def evaluate(
    scenario: Scenario, at_s: float | None = None, *, poll: Poll | None = None
) -> Snapshot:
    """The steady state of a scenario, and that of its healthy cluster for comparison.

    Parameters
    ----------
    scenario
        Read from a file, or made by `preset` and its `with_...` methods.
    at_s
        Time of the faults that hold, seconds from the start; None = the end.
    poll
        Called with what comes next, before each part of the work; what it raises stops it.

    Raises
    ------
    InputError
        A selector, size or argument that cannot be used.

    Examples
    --------
    >>> import gbviz
    >>> found = evaluate(gbviz.preset("azure-gb300").with_faults("spine-3"))
    >>> found.base.bisection_GBps, found.post.bisection_GBps  # 35 of 36 spines
    (230400.0, 224000.0)
    """
    say = poll or silent
    say("building the fabric")
    fabric = build(scenario.cluster)
    causes = resolve(fabric, scenario.actions_at(at_s))
    say("the healthy cluster")
    base = healthy_state(undamaged(scenario))
    say("what the faults leave")
    now = state_of(fabric, causes, scenario, base.work, say) if causes else base
    return replace(snapshot_of(scenario, causes, base, now), at_s=at_s)


def undamaged(scenario: Scenario) -> Scenario:
    """The cluster and its jobs alone: equal for all questions that are asked about these."""
    return replace(
        scenario,
        name="",
        actions=(),
        events=(),
        description="",
        expect=(),
        duration_s=None,
        path=None,
        text=None,
    )


def snapshot_of(scenario: Scenario, causes: tuple[Fault, ...], base: State, now: State) -> Snapshot:
    """What two states of one cluster say beside each other."""
    problems = {*base.metrics.problems, *now.metrics.problems}
    for result in (*base.jobs.traffic, *now.jobs.traffic):
        problems |= set(result.problems)
    return Snapshot(
        scenario,
        build(scenario.cluster),
        (*causes, *now.consequences),
        now.health,
        now.thermal,
        base.metrics,
        now.metrics,
        _in_order(scenario, base.work, base, now),
        FixedPoint(now.jobs.shared.converged, now.jobs.shared.rounds) if now.jobs.running else None,
        tuple(sorted(problems)),
        (base.jobs, now.jobs),
        tuple(gpus for _, gpus in base.work.traffic),
    )


def _in_order(
    scenario: Scenario, work: Work, base: State, now: State
) -> tuple[JobImpact | TrafficImpact, ...]:
    """Impacts of all jobs in the order in which the scenario states them."""
    steps = iter(impacts(work.stepping, base.jobs, now.jobs))
    flows = iter(
        TrafficImpact(job, before, after)
        for (job, _), before, after in zip(
            work.traffic, base.jobs.traffic, now.jobs.traffic, strict=True
        )
    )
    return tuple(
        next(flows) if isinstance(job, TrafficJob | TrafficSpec) else next(steps)
        for job in scenario.jobs
    )
