"""What an evaluation found: the answer to a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

    from gbviz.cooling import Thermal
    from gbviz.engine.jobs import JobsState
    from gbviz.engine.metrics import Metrics
    from gbviz.faults import Fault
    from gbviz.jobs import TrafficJob, TrafficResult
    from gbviz.jobs.impact import JobImpact
    from gbviz.scenario import Scenario
    from gbviz.topology.fabric import Fabric, Ints
    from gbviz.topology.health import Health


@dataclass(frozen=True, slots=True)
class TrafficImpact:
    """What the flows of one traffic job get from the healthy cluster and from this one."""

    job: TrafficJob
    base: TrafficResult
    post: TrafficResult

    @property
    def state(self) -> str:
        """`running`, `degraded`, or `stalled` where no flow moves."""
        if self.post.total_GBps == 0 and self.base.total_GBps > 0:
            return "stalled"
        worse = self.post.total_GBps < self.base.total_GBps * (1 - 1e-9)
        slower = self.post.min_GBps < self.base.min_GBps * (1 - 1e-9)
        return "degraded" if worse or slower else "running"


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """How jobs that share links came to rest: whether, and after how many rounds."""

    converged: bool
    rounds: int


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The steady state of a scenario beside that of its healthy cluster.

    Parameters
    ----------
    scenario, fabric
        What was asked.
    faults
        Causes in the order they were made, then consequences (racks shut down), with `because`.
    health, thermal
        The masks and clocks under those faults.
    base, post
        Metrics of the healthy cluster and of this one.
    jobs
        What the faults do to each job, in the order of the scenario.
    fixed_point
        How jobs that step came to rest, None without such jobs.
    problems
        What the conservation check found; empty = everything adds up.
    states
        The jobs on the healthy cluster, and now: what `loads` spreads over the cables.
    gpus
        GPUs of each traffic job, None for all.
    at_s
        The time that it is of, seconds from the start; None for the end.
    """

    scenario: Scenario
    fabric: Fabric
    faults: tuple[Fault, ...]
    health: Health
    thermal: Thermal
    base: Metrics
    post: Metrics
    jobs: tuple[JobImpact | TrafficImpact, ...]
    fixed_point: FixedPoint | None
    problems: tuple[str, ...]
    states: tuple[JobsState, JobsState]
    gpus: tuple[Ints | None, ...]
    at_s: float | None = None

    def to_networkx(self, *, nvlink: bool = False) -> nx.DiGraph[str]:
        """The damaged fabric as a graph: bundles with their live capacity, GB/s.

        Examples
        --------
        >>> import gbviz
        >>> found = gbviz.evaluate(gbviz.preset("gb300-su").with_faults("spine-3"))
        >>> found.to_networkx().has_edge("leaf-0", "spine-3")
        False
        """
        # NetworkX takes longer to import than a whole evaluation takes to run.
        from gbviz.topology.graph import to_networkx

        return to_networkx(self.fabric, self.health, nvlink=nvlink)
