"""What the intervals of a timeline add up to, job by job."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from gbviz.engine.timeline import JobSpan, JobTotal
from gbviz.jobs.spec import CollectiveJob, InferenceJob, TrafficSpec, TrainingJob
from gbviz.jobs.traffic import TrafficJob

if TYPE_CHECKING:
    from gbviz.engine.job_clock import JobClock
    from gbviz.engine.jobs import JobsState
    from gbviz.jobs.impact import JobImpact
    from gbviz.jobs.traffic import TrafficResult
    from gbviz.scenario import Scenario

_GB = 1e9
_WAITS = {
    "reroute": "waits for new routes",
    "path": "waits for a NIC that does not answer",
    "cut": "waits for a way that is gone",
    "gpu": "waits for a GPU that is gone",
}
_HOUR_S = 3600.0


class Tally:
    """Adds up time, work and deliveries of every job.

    Parameters
    ----------
    scenario
        Its jobs, in their order.
    base
        The jobs on the healthy cluster.
    clocks
        Of the jobs that step.
    sending
        How many GPUs each job of independent flows has.
    """

    def __init__(
        self, scenario: Scenario, base: JobsState, clocks: list[JobClock], sending: list[int]
    ) -> None:
        self._jobs, self._base, self._clocks = scenario.jobs, base, clocks
        self._sending = sending
        self._tokens_per_s = [0.0] * len(clocks)
        self._bytes = [0.0] * len(base.traffic)
        self._useful = [0.0] * len(base.traffic)

    def aim(self, impacts: list[JobImpact]) -> None:
        """Learn what the healthy jobs deliver, and tell those with a target when they have it."""
        for number, (clock, one) in enumerate(zip(self._clocks, impacts, strict=True)):
            job = clock.job
            if one.base is not None and "tokens_per_s" in one.base:
                self._tokens_per_s[number] = float(one.base["tokens_per_s"])
            if isinstance(job, TrainingJob) and job.tokens is not None and one.base is not None:
                clock.target_s = job.tokens / float(one.base["tokens_per_s"])

    def rates(self, impacts: list[JobImpact], clocks: list[JobClock]) -> list[float]:
        """Work of the healthy job a second of each job that steps; 0 for those that wait.

        A collective of fewer GPUs may well be over sooner, but does less: it counts by its GPUs.
        """
        found = []
        for one, clock, healthy in zip(impacts, clocks, self._base.running, strict=True):
            rate = 1.0 / one.slowdown if clock.steps and one.slowdown else 0.0
            if isinstance(clock.job, CollectiveJob):
                rate *= one.gpus / len(healthy.gpus)
            found.append(rate)
        return found

    def pass_time(self, seconds: float, rates: list[float], jobs: JobsState) -> None:
        """Let time pass in which nothing changes."""
        for clock, rate in zip(self._clocks, rates, strict=True):
            clock.advance(seconds, rate)
        for number, result in enumerate(jobs.traffic):
            whole = self._base.traffic[number].total_GBps
            self._bytes[number] += result.total_GBps * _GB * seconds
            self._useful[number] += seconds * (result.total_GBps / whole if whole else 0.0)

    def spans(
        self, jobs: JobsState, impacts: list[JobImpact], rates: list[float]
    ) -> tuple[JobSpan, ...]:
        """Every job as it is now, in the order of the scenario."""
        steps = iter(range(len(self._clocks)))
        flows = iter(range(len(jobs.traffic)))
        found = []
        for job in self._jobs:
            if isinstance(job, TrafficJob | TrafficSpec):
                which = next(flows)
                found.append(
                    _traffic_span(
                        job.name,
                        self._base.traffic[which],
                        jobs.traffic[which],
                        self._useful[which],
                    )
                )
            else:
                number = next(steps)
                found.append(_span(self._clocks[number], impacts[number], rates[number]))
        return tuple(found)

    def totals(self, duration_s: float) -> tuple[JobTotal, ...]:
        """What became of each job's time, in the order of the scenario."""
        steps = iter(range(len(self._clocks)))
        flows = iter(range(len(self._base.traffic)))
        found = []
        for job in self._jobs:
            if isinstance(job, TrafficJob | TrafficSpec):
                found.append(self._traffic_total(next(flows), job.name, duration_s))
            else:
                found.append(self._total(next(steps)))
        return tuple(found)

    def _total(self, number: int) -> JobTotal:
        clock = self._clocks[number]
        own = asdict(clock.account)
        ranks = len(self._base.running[number].gpus)
        # Spares are held as well, and do nothing.
        gpus = ranks + clock.job.spares
        held_s = clock.held_s
        useful = clock.account.useful_s
        counts = isinstance(clock.job, TrainingJob | InferenceJob)
        return JobTotal(
            name=clock.job.name,
            kind=clock.job.kind,
            goodput=useful / held_s if held_s > 0 else None,
            gpu_hours=gpus * held_s / _HOUR_S,
            lost_gpu_hours=max(gpus * held_s - ranks * useful, 0.0) / _HOUR_S,
            tokens=useful * self._tokens_per_s[number] if counts else None,
            bytes=None,
            **own,
        )

    def _traffic_total(self, which: int, name: str, duration_s: float) -> JobTotal:
        useful, gpus = self._useful[which], self._sending[which]
        return JobTotal(
            name=name,
            kind="traffic",
            goodput=useful / duration_s if duration_s > 0 else None,
            useful_s=useful,
            lost_work_s=0.0,
            checkpoint_s=0.0,
            stalled_s=0.0,
            restarting_s=0.0,
            aborted_s=0.0,
            finished_s=0.0,
            aborts=0,
            gpu_hours=gpus * duration_s / _HOUR_S,
            lost_gpu_hours=gpus * max(duration_s - useful, 0.0) / _HOUR_S,
            bytes=self._bytes[which],
        )


def _span(clock: JobClock, impact: JobImpact, rate: float) -> JobSpan:
    """A job that steps: how it is, and why."""
    name = clock.job.name
    if clock.phase == "running":
        words = impact.bottleneck.words if impact.bottleneck else ""
        return JobSpan(name, impact.state, rate, impact.gpus, words, clock.account.useful_s)
    waits = {
        "stalled": _WAITS.get(clock.waits_for, ""),
        "restarting": "starts from its last checkpoint",
        "aborted": impact.reason.get("post", "cannot run"),
        "finished": "has all its tokens",
    }
    return JobSpan(name, clock.phase, 0.0, 0, waits[clock.phase], clock.account.useful_s)


def _traffic_span(name: str, base: TrafficResult, now: TrafficResult, kept_s: float) -> JobSpan:
    """A pattern of flows: it goes on with what gets through."""
    speed = now.total_GBps / base.total_GBps if base.total_GBps else 0.0
    state = "stalled" if speed == 0 else "degraded" if speed < 1 - 1e-9 else "running"
    limit = now.bottleneck[0] if now.bottleneck else ""
    return JobSpan(name, state, speed, 0, limit, kept_s)
