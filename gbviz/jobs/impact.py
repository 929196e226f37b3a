"""What the present faults do to a job, against the same job on the healthy fabric."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gbviz.jobs.spec import TrainingJob
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from gbviz.flows.router import Router
    from gbviz.jobs.bottleneck import Bottleneck
    from gbviz.jobs.run import Figures, Running, SteppingJob
    from gbviz.topology.fabric import Bools, Fabric, Ints
    from gbviz.topology.health import Health

State = Literal["running", "degraded", "stalled", "aborted", "restarting", "finished"]

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class OneOff:
    """What the faults cost once, seconds: stalled, work lost since the last checkpoint, restart."""

    stall_s: float = 0.0
    lost_work_s: float = 0.0
    restart_s: float = 0.0

    @property
    def total_s(self) -> float:
        """All of it together."""
        return self.stall_s + self.lost_work_s + self.restart_s


@dataclass(frozen=True, slots=True)
class JobImpact:
    """One job before and after.

    Parameters
    ----------
    name, kind
        Of the job.
    state
        In the steady state: `running`, `degraded`, or `aborted` where it cannot run.
    uses_fabric
        False for a job that never leaves NVLink.
    gpus
        GPUs that hold its ranks now.
    lost_gpus, replaced_gpus
        Failed GPUs that held ranks, and how many of these a spare replaced.
    base, post
        Its figures on the healthy fabric and now; None where it cannot run.
    slowdown
        Time now over time then; None where it cannot run.
    bottleneck
        What limits it now, None where it cannot run.
    one_off
        What the faults cost once.
    reason
        Figure to why it is None.
    """

    name: str
    kind: str
    state: State
    uses_fabric: bool
    gpus: int
    lost_gpus: int
    replaced_gpus: int
    base: Figures | None
    post: Figures | None
    slowdown: float | None
    bottleneck: Bottleneck | None
    one_off: OneOff
    reason: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


Strike = Literal["", "gpu", "cut", "path", "reroute"]


def what_struck(
    before: tuple[Router, Running], now: tuple[Router, Running], *, gpus: bool = True
) -> Strike:
    """What the difference between two states does to a job at the moment that it comes.

    Parameters
    ----------
    before, now
        The fabric, and the job on it.
    gpus
        Whether GPUs count, or only the ways between them.

    Returns
    -------
    str
        `gpu`: a GPU that held a rank is gone. `cut`: no way is left, or the job does not go on
        without its NIC. `path`: a NIC, cable or leaf that it used is gone. `reroute`: a cable
        between switches that it used is. "" where nothing that it used is gone.
    """
    if not before[1].able:
        return ""
    if gpus and _gone(before[1].gpus, now[1].gpus):
        return "gpu"
    if not now[1].able:
        return "cut"
    if before[1].run is None:
        return ""
    phases = before[1].run.phases
    dead = _dead_nics(before[0], now[0])
    if dead is not None and any(dead.take(phase.link).any() for phase in phases):
        return "path"
    if not _lost_between_switches(before, now[0]):
        return ""
    first, last = int(before[0].space.starts[2]), int(before[0].space.starts[-2])
    between = any(((phase.link >= first) & (phase.link < last)).any() for phase in phases)
    return "reroute" if between else ""


def _gone(before: Ints, now: Ints) -> bool:
    """Whether a GPU that held a rank does so no more: spares in use count, idle ranks do not."""
    return not np.array_equal(before, now) and not np.isin(before, now).all()


def one_off(
    job: SteppingJob, before: tuple[Router, Running], now: tuple[Router, Running]
) -> OneOff:
    """What the faults cost a job at the moment they strike.

    A failed GPU or tray aborts it after the detection delay; a dead NIC, cable or leaf on a path
    that it used, after the transport's timeout, as where no way is left. Both cost the work since
    the last checkpoint, half an interval on average, and a restart. A dead spine or cable between
    switches costs a reroute.
    """
    facts, struck = catalogue(), what_struck(before, now)
    lost_work = restart = detection = 0.0
    if isinstance(job, TrainingJob):
        lost_work, restart = job.checkpoint.interval / 2, job.checkpoint.restart
        detection = job.detection
    if struck == "gpu":
        return OneOff(detection, lost_work, restart)
    if struck in ("cut", "path"):
        return OneOff(facts.value("routing.ib_timeout_s"), lost_work, restart)
    return OneOff(facts.value("routing.reroute_s")) if struck == "reroute" else OneOff()


def _lost_between_switches(before: tuple[Router, Running], now: Router) -> bool:
    """Whether a cable from a leaf that the job uses has gone, or one between spines and cores."""
    by, running = before
    assert running.run is not None
    leaves, higher = _lost_cables(by.fabric, by.health, now.health)
    if higher or not leaves.any():
        return higher
    start = int(by.space.starts[1])
    return any(
        leaves[by.nics.leaf[phase.link[phase.link < start]]].any() for phase in running.run.phases
    )


@lru_cache(maxsize=2)
def _dead_nics(before: Router, now: Router) -> Bools | None:
    """(links,) which NICs are dead and were not, None for none; remembered for all jobs."""
    first = int(before.space.starts[2])
    was, left = before.space.capacity[:first], now.space.capacity[:first]
    dead = np.zeros(len(before.space.capacity), dtype=bool)
    dead[:first] = (was > 0) & (left == 0)
    return dead if dead.any() else None


@lru_cache(maxsize=4)
def _lost_cables(fabric: Fabric, before: Health, now: Health) -> tuple[Bools, bool]:
    """(leaves,) which lost a cable to a spine, and whether any above spines is lost.

    Remembered for all jobs that one change strikes.
    """
    lost = [
        (before.capacity(fabric, tier) > 0) & (now.capacity(fabric, tier) == 0)
        for tier in range(1, len(fabric.tiers))
    ]
    leaves: Bools = lost[0].reshape(2, fabric.count("leaf"), -1).any(axis=(0, 2))
    return leaves, any(bool(one.any()) for one in lost[1:])


def state_of(slowdown: float | None, shrunk: bool) -> State:
    """The state of a job in the steady state."""
    if slowdown is None:
        return "aborted"
    return "degraded" if slowdown > 1 + _SAME or shrunk else "running"
