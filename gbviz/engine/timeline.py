"""A scenario through time: intervals in which nothing changes, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gbviz.cooling import Thermal
    from gbviz.engine.metrics import Metrics
    from gbviz.faults import Fault
    from gbviz.scenario import Scenario
    from gbviz.topology.fabric import Floats, Ints


@dataclass(frozen=True, slots=True)
class JobSpan:
    """A job during an interval.

    Parameters
    ----------
    name, state
        Of the job: `running`, `degraded`, `stalled`, `restarting`, `aborted` or `finished`.
    speed
        Work that it does a second, of what the healthy job does; 0 while it waits.
    gpus
        GPUs that hold its ranks, 0 while it does not run.
    words
        What limits it, or what it waits for.
    kept_s
        Work that counts so far, at the interval's end, in seconds of the healthy job.
    """

    name: str
    state: str
    speed: float
    gpus: int
    words: str
    kept_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """From one change to the next.

    Parameters
    ----------
    start_s, end_s
        Seconds from the start of the scenario.
    events
        What happened at its beginning, in words.
    metrics
        What the fabric can do meanwhile.
    jobs
        Every job, in the order of the scenario.
    hottest_die_c, slowest_clock
        At its end, of GPUs with power; None without any, or where cooling is not known.
    supply_c
        (O,) °C of the water of each loop at its end.
    nic_load
        Mean load of all NICs that send, of what the live ones could.
    """

    start_s: float
    end_s: float
    events: tuple[str, ...]
    metrics: Metrics
    jobs: tuple[JobSpan, ...]
    hottest_die_c: float | None
    slowest_clock: float | None
    supply_c: Floats
    nic_load: float


@dataclass(frozen=True, slots=True)
class JobTotal:
    """What became of a job's time.

    Parameters
    ----------
    name, kind
        Of the job.
    goodput
        Work that counts over what the healthy job would have done in all the time without ever
        stopping; writing checkpoints counts as lost. None for a scenario without duration.
    useful_s, lost_work_s
        Work kept, and work done and lost again, in seconds of the healthy job.
    checkpoint_s, stalled_s, restarting_s, aborted_s, finished_s
        Seconds spent so.
    aborts
        How often it aborted.
    gpu_hours
        Hours of GPUs that it held, used or not; its spares are among them.
    lost_gpu_hours
        Those that did no useful work.
    tokens, bytes
        Delivered: tokens of training and inference, bytes of independent flows; None for others.
    """

    name: str
    kind: str
    goodput: float | None
    useful_s: float
    lost_work_s: float
    checkpoint_s: float
    stalled_s: float
    restarting_s: float
    aborted_s: float
    finished_s: float
    aborts: int
    gpu_hours: float
    lost_gpu_hours: float
    tokens: float | None = None
    bytes: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """What an interval can be evaluated from again, to look at it.

    Parameters
    ----------
    causes, consequences
        Faults that hold, and racks that they have shut down.
    given_up
        For each job that steps the GPUs that it goes on without.
    waiting, vacant
        Numbers of the jobs that do not step, and of those among them whose GPUs are idle.
    thermal
        Power, temperatures and clocks where these have not settled yet, else None.
    """

    causes: tuple[Fault, ...]
    consequences: tuple[Fault, ...]
    given_up: tuple[Ints, ...]
    waiting: frozenset[int]
    vacant: frozenset[int]
    thermal: Thermal | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """What happens to a scenario from its start to its end; a moment for every interval."""

    scenario: Scenario
    intervals: tuple[Interval, ...]
    moments: tuple[Moment, ...]
    totals: tuple[JobTotal, ...]
    problems: tuple[str, ...] = field(default=())

    @property
    def duration_s(self) -> float:
        """How long it lasts."""
        return self.intervals[-1].end_s if self.intervals else 0.0

    def at(self, time_s: float) -> Interval:
        """The interval that a time lies in; the last one for times past the end."""
        return self.intervals[self.number_at(time_s)]

    def goodputs(self, number: int) -> list[float]:
        """Goodput of a job up to the end of each interval; as it was once the job is finished."""
        found, held_s = [], 0.0
        for one in self.intervals:
            job = one.jobs[number]
            if job.state != "finished":
                held_s = one.end_s
            found.append(job.kept_s / held_s if held_s > 0 else 0.0)
        return found

    def number_at(self, time_s: float) -> int:
        """The number of the interval that a time lies in."""
        low, high = 0, len(self.intervals) - 1
        while low < high:
            middle = (low + high) // 2
            if time_s < self.intervals[middle].end_s:
                high = middle
            else:
                low = middle + 1
        return low
