"""Jobs that meet on links: step times and mean loads, solved as a fixed point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gbviz.topology.remembered import Remembered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gbviz.jobs.phases import Phase
    from gbviz.topology.fabric import Floats, Ints

    _Put = tuple[Floats, NDArray[np.int16]]

DAMPING = 0.5
TOLERANCE = 1e-6
MOST_ROUNDS = 100


class Stepper(Protocol):
    """A job that repeats a step: its phases, how often each happens in a step, the step's time."""

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Communication phases of a step."""
        ...

    @property
    def repeats(self) -> tuple[float, ...]:
        """How often each phase happens in a step."""
        ...

    def step_s(self, seconds: Sequence[float]) -> float:
        """Seconds of a step whose phases take these seconds; inf where it never ends."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Where the fixed point came to rest.

    Parameters
    ----------
    step_s
        (J,) seconds of a step of each job; inf for one that never ends its step.
    phase_s
        For each job the seconds of its phases.
    limit
        For each job and phase the link that decides its time on the fabric, -1 for none.
    load
        (links,) mean bytes/s of all jobs together.
    converged, rounds
        Whether no step time moved by more than 1e-6 any more, and after how many rounds.
    """

    step_s: Floats
    phase_s: tuple[tuple[float, ...], ...]
    limit: tuple[tuple[int, ...], ...]
    load: Floats
    converged: bool
    rounds: int


def share(jobs: Sequence[Stepper], capacity: Floats, traffic: Floats, streams: Ints) -> Shared:
    """Step times of jobs that share links.

    A job's phase sees max(C - B, C / k) of a link: B is the mean load of all other jobs on it, k
    the number of jobs that use it. Phases of one job do not contend with each other.

    Parameters
    ----------
    jobs
        J jobs that step.
    capacity
        (links,) bytes/s of the links.
    traffic
        (links,) bytes/s that independent flows put on them.
    streams
        (links,) how many traffic jobs use them.

    Notes
    -----
    Damping 0.5, at most 100 rounds. Only links that several jobs use take part in the rounds.
    """
    if not jobs:
        return Shared(np.zeros(0), (), (), traffic, True, 0)
    loads = [_in_a_step(job.phases, job.repeats, len(capacity)) for job in jobs]
    users = streams + _users(loads)
    met = np.flatnonzero(users > 1)
    seen = _rooms(jobs, users, capacity, met)
    here, others = np.array([row.take(met) for row, _ in loads]), traffic[met]
    alone = [[phase.fabric_s() for phase in job.phases] for job in jobs]
    phase_s = [_overlapped(*both) for both in zip(jobs, alone, strict=True)]
    limit = [[link for _, link in found] for found in alone]
    step = np.array([job.step_s(times) for job, times in zip(jobs, phase_s, strict=True)])
    # A job that meets nobody takes what it takes alone.
    meets = [n for n, rooms in enumerate(seen) if any(room is not None for room in rooms)]
    first, rounds, converged = step, 0, False
    if not meets:
        rounds, converged = 1, True
    while rounds < MOST_ROUNDS and not converged:
        rounds += 1
        each = np.divide(here, step[:, None], out=np.zeros_like(here), where=step[:, None] > 0)
        total = each.sum(axis=0) + others
        fresh = first.copy()
        for number in meets:
            job, rest = jobs[number], total - each[number]
            found = [
                own if room is None else phase.fabric_s(_left(phase, room, rest))
                for phase, room, own in zip(job.phases, seen[number], alone[number], strict=True)
            ]
            limit[number] = [link for _, link in found]
            phase_s[number] = _overlapped(job, found)
            fresh[number] = job.step_s(phase_s[number])
        moved = _moved(step, fresh)
        converged = moved <= TOLERANCE
        step = fresh if converged else _damped(step, fresh)
    load, part = np.zeros(len(capacity)), np.empty(len(capacity))
    for (row, _), seconds in zip(loads, step, strict=True):
        if seconds > 0:
            np.divide(row, seconds, out=part)
            load += part
    load += traffic
    return Shared(
        step,
        tuple(tuple(times) for times in phase_s),
        tuple(tuple(links) for links in limit),
        load,
        converged,
        rounds,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Room:
    """The (m,) links of a phase that others use too.

    `which` of its own they are, their `number` among all that jobs meet on, users, capacities.
    """

    which: Ints
    number: Ints
    users: Ints
    capacity: Floats


# What jobs put on links, of some 80 jobs at 4,608 GPUs and of a few where there are more: 16 MB.
_LOADS: Remembered[_Put] = Remembered(1 << 24)


def _users(loads: Sequence[_Put]) -> NDArray[np.int16]:
    """(links,) how many jobs put something on each of some links."""
    users = loads[0][1].copy()
    for _, uses in loads[1:]:
        users += uses
    return users


def _in_a_step(phases: tuple[Phase, ...], repeats: tuple[float, ...], links: int) -> _Put:
    """(links,) bytes that phases put on them in a step, and 1 where that is any; read-only."""
    key = (phases, repeats, links)
    found = _LOADS.get(key)
    if found is None:
        load = np.zeros(links)
        for phase, times in zip(phases, repeats, strict=True):
            np.add.at(load, phase.link, phase.load * times)
        found = load, (load > 0).astype(np.int16)
        for array in found:
            array.setflags(write=False)
        _LOADS.keep(key, found, load.nbytes + found[1].nbytes)
    return found


def _overlapped(job: Stepper, found: Sequence[tuple[float, int]]) -> list[float]:
    """Seconds of the phases of a job that take these on the fabric."""
    both = zip(job.phases, found, strict=True)
    return [phase.overlapped(fabric_s) for phase, (fabric_s, _) in both]


def _rooms(
    jobs: Sequence[Stepper], users: Ints, capacity: Floats, met: Ints
) -> list[list[_Room | None]]:
    """For each phase of each job the links on which it meets others, None for none."""
    if not len(met):
        return [[None for _ in job.phases] for job in jobs]
    number_of = np.zeros(len(capacity), dtype=np.int64)
    number_of[met] = np.arange(len(met))
    return [[_room(phase, users, capacity, number_of) for phase in job.phases] for job in jobs]


def _room(phase: Phase, users: Ints, capacity: Floats, number_of: Ints) -> _Room | None:
    which = np.flatnonzero(users[phase.link] > 1)
    if not len(which):
        return None
    link = phase.link[which]
    return _Room(which, number_of[link], users[link], capacity[link])


def _left(phase: Phase, room: _Room, rest: Floats) -> Floats:
    """Bytes/s left for a phase on its links where others use them too."""
    part = np.maximum(1.0 - rest[room.number] / room.capacity, 1.0 / room.users)
    left = phase.room.copy()
    left[room.which] *= part
    return left


def _moved(before: Floats, after: Floats) -> float:
    """The largest relative change of a finite step time; inf where one became endless."""
    if (np.isfinite(before) != np.isfinite(after)).any():
        return np.inf
    finite = np.isfinite(before)
    if not finite.any():
        return 0.0
    change = np.abs(after[finite] - before[finite]) / np.maximum(before[finite], 1e-300)
    return float(change.max())


def _damped(before: Floats, after: Floats) -> Floats:
    both = np.isfinite(before) & np.isfinite(after)
    mixed = np.where(both, before, 0.0) * (1 - DAMPING) + np.where(both, after, 0.0) * DAMPING
    return np.where(both, mixed, after)
