"""All jobs of a scenario together, on the healthy cluster and under the present faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.jobs.bottleneck import bottleneck
from gbviz.jobs.impact import JobImpact, OneOff, one_off, state_of
from gbviz.jobs.run import Running, SteppingJob, figures, pace, start
from gbviz.jobs.sharing import Shared, share
from gbviz.jobs.traffic import TrafficJob, TrafficResult, traffic_results
from gbviz.jobs.training import TrainingRun

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from gbviz.flows.router import Router
    from gbviz.jobs.placement import Placed
    from gbviz.jobs.sharing import Stepper
    from gbviz.topology.fabric import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class JobsState:
    """All jobs under one health.

    `by` the router of each stepping job (its `nic_loss` decides), `running` the jobs, `shared`
    where the fixed point of those that run came to rest, `place` of each job among these (-1 for
    one that cannot run), `traffic` the results of the traffic jobs and `streams` (jobs, links) the
    GB/s that each of these puts on every link of `by_default`, the router of jobs without a policy.
    """

    by: tuple[Router, ...]
    running: tuple[Running, ...]
    shared: Shared
    place: tuple[int, ...]
    traffic: tuple[TrafficResult, ...]
    streams: Floats
    by_default: Router


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """All jobs that step under one health, each by itself; see `JobsState` for the fields."""

    by: tuple[Router, ...]
    running: tuple[Running, ...]
    by_default: Router


def prepared(
    by: Router,
    clock: Floats,
    jobs: Sequence[tuple[SteppingJob, Placed]],
    given_up: Mapping[int, Ints] | None = None,
) -> Prepared:
    """Every job that steps on what is left of its placement.

    Parameters
    ----------
    by
        The fabric under its health, where traffic spreads over trays.
    clock
        (G,) clock of each GPU.
    jobs
        Jobs with their placements.
    given_up
        GPUs that a job, by its number, goes on without though they live.
    """
    lost = given_up or {}
    none: Ints = np.zeros(0, dtype=np.int64)
    each = routers(by, jobs)
    running = [
        start(own, job, at, without(clock, lost.get(number, none)))
        for number, (own, (job, at)) in enumerate(zip(each, jobs, strict=True))
    ]
    return Prepared(each, tuple(running), by)


def routers(by: Router, jobs: Sequence[tuple[SteppingJob, Placed]]) -> tuple[Router, ...]:
    """The router of each job, by its `nic_loss`, from that where traffic spreads over trays."""
    over_racks = by.over_racks()
    return tuple(over_racks if job.nic_loss == "rack" else by for job, _ in jobs)


def without(clock: Floats, gpus: Ints) -> Floats:
    """Clocks (G,) for a job that goes on without some GPUs."""
    if not len(gpus):
        return clock
    left = clock.copy()
    left[gpus] = 0.0
    return left


def jobs_state(
    found: Prepared,
    traffic: Sequence[tuple[TrafficJob, Ints | None]],
    idle: Collection[int] = (),
) -> JobsState:
    """Every job's times and rates where they share the fabric.

    Parameters
    ----------
    found
        The jobs that step.
    traffic
        Patterns of flows.
    idle
        Numbers of jobs that do not step now, though they could: they load nothing.
    """
    running, capacity = found.running, found.by_default.space.capacity * 1e9
    able = [n for n, one in enumerate(running) if one.run is not None and n not in idle]
    steppers = [run for n in able if (run := running[n].run) is not None]
    streams = np.zeros((0, len(capacity)))
    shared = _shared(steppers, capacity, streams)
    results: tuple[TrafficResult, ...] = ()
    if traffic:
        alone = _users(steppers, len(capacity))
        results, streams = traffic_results(found.by_default, traffic, shared.load / 1e9, alone)
        shared = _shared(steppers, capacity, streams)
    place = [-1] * len(running)
    for position, number in enumerate(able):
        place[number] = position
    return JobsState(found.by, running, shared, tuple(place), results, streams, found.by_default)


def _shared(steppers: Sequence[Stepper], capacity: Floats, streams: Floats) -> Shared:
    """The fixed point of the jobs that step, beside independent flows (jobs, links), GB/s."""
    if not len(streams):
        return share(steppers, capacity, np.zeros(len(capacity)), np.zeros(len(capacity), np.int64))
    rates = streams.sum(axis=0) * 1e9
    return share(steppers, capacity, rates, (streams > 0).sum(axis=0))


def _users(steppers: Sequence[Stepper], links: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(links,) how many of the jobs load each link."""
    users = np.zeros(links, dtype=np.int64)
    for run in steppers:
        own = [phase.link for phase in run.phases]
        if own:
            users[np.unique(np.concatenate(own))] += 1
    return users


def impacts(
    jobs: Sequence[tuple[SteppingJob, Placed]], base: JobsState, post: JobsState
) -> list[JobImpact]:
    """What the faults do to each job that steps."""
    was = figures_of(jobs, base)
    return [
        _impact(number, job, (base, was[number]), post, strikes=post is not base)
        for number, (job, _) in enumerate(jobs)
    ]


def lasting_impact(
    number: int,
    job: SteppingJob,
    healthy: tuple[JobsState, dict[str, object] | None],
    post: JobsState,
) -> JobImpact:
    """One job of `impacts` without what they cost once.

    `healthy` are the base and what the job reports there. Of `post` only the router of the job,
    the job itself, and its times and limits where jobs share the fabric count.
    """
    return _impact(number, job, healthy, post, strikes=False)


def figures_of(
    jobs: Sequence[tuple[SteppingJob, Placed]], state: JobsState
) -> list[dict[str, object] | None]:
    """What each job that steps reports; None for one that does not step."""
    return [_figures(number, job, state) for number, (job, _) in enumerate(jobs)]


def _impact(
    number: int,
    job: SteppingJob,
    healthy: tuple[JobsState, dict[str, object] | None],
    post: JobsState,
    *,
    strikes: bool,
) -> JobImpact:
    base, was = healthy
    before, now = base.running[number], post.running[number]
    values = _figures(number, job, post)
    slowdown, reason = None, {}
    if was is None:
        reason["base"] = before.why
    if values is None:
        reason["post"] = reason["slowdown"] = now.why or "it does not step now"
    if was is not None and values is not None:
        new, old = pace(job, values), pace(job, was)
        slowdown = old / new if new > 0 else None
        if old == 0:
            slowdown = 1.0  # It takes no time, then as now.
    cost = OneOff()
    if strikes:
        cost = one_off(job, (base.by[number], before), (post.by[number], now))
    limit = None
    at = post.place[number]
    if now.run is not None and at >= 0:
        limit = bottleneck(post.by[number], now.run, post.shared.phase_s[at], post.shared.limit[at])
    shrunk = now.survivors.lost > now.survivors.replaced
    return JobImpact(
        name=job.name,
        kind=job.kind,
        state=state_of(slowdown, shrunk),
        uses_fabric=before.run is not None and any(len(p.link) for p in before.run.phases),
        gpus=len(now.gpus),
        lost_gpus=now.survivors.lost,
        replaced_gpus=now.survivors.replaced,
        base=was,
        post=values,
        slowdown=slowdown,
        bottleneck=limit,
        one_off=cost,
        reason=reason,
        extra={"dp": now.run.dp} if isinstance(now.run, TrainingRun) else {},
    )


def _figures(number: int, job: SteppingJob, state: JobsState) -> dict[str, object] | None:
    at = state.place[number]
    if at < 0:
        return None
    return figures(job, state.running[number], state.shared.phase_s[at])
