"""What all jobs together put on every cable: what a map is coloured by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.jobs.traffic import TrafficJob

if TYPE_CHECKING:
    from gbviz.engine.jobs import JobsState
    from gbviz.engine.snapshot import Snapshot
    from gbviz.jobs.run import Running
    from gbviz.topology.fabric import Fabric, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """Mean loads of one state: J jobs on the tiers of a fabric and on NVLink.

    Parameters
    ----------
    tiers
        For each cable tier (2, n) GB/s of all jobs together, up links first: bytes of a step over
        its time, and the rates of independent flows.
    capacity
        For each tier (2, n) effective capacity, GB/s.
    jobs
        For each job of the scenario the loads of its own, as `tiers`; zeros for one that cannot
        run.
    nvlink
        (G,) how busy each GPU's NVLink is: the part of the time in which it carries collectives,
        or the load of independent flows over its capacity, whichever is more.
    job_of_gpu
        (G,) number of the job whose ranks a GPU holds, -1 for none.
    """

    tiers: tuple[Floats, ...]
    capacity: tuple[Floats, ...]
    jobs: tuple[tuple[Floats, ...], ...]
    nvlink: Floats
    job_of_gpu: Ints

    def utilisation(self, tier: int) -> Floats:
        """(2, n) load over effective capacity of a tier's links; 0 for one that carries nothing."""
        load, room = self.tiers[tier], self.capacity[tier]
        found: Floats = np.divide(load, room, out=np.zeros_like(load), where=room > 0)
        return found


def loads(snapshot: Snapshot, *, base: bool = False) -> Loads:
    """The loads of a snapshot's state, or of its healthy cluster.

    Notes
    -----
    Some 2 ms for four jobs on 4,608 GPUs.

    Examples
    --------
    A permutation keeps every NIC of the cluster sending.

    >>> import gbviz
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> found = loads(gbviz.evaluate(scenario))
    >>> float(found.tiers[0].sum())  # 576 NICs x 100 GB/s, out and in
    115200.0
    """
    state = snapshot.states[0 if base else 1]
    fabric, space = snapshot.fabric, state.by_default.space
    nvlink = _flows_on_nvlink(fabric, state)
    owner = np.full(fabric.count("gpu"), -1)
    each: list[tuple[Floats, ...]] = []
    steps, flows = iter(range(len(state.running))), iter(range(len(state.streams)))
    for number, job in enumerate(snapshot.scenario.jobs):
        if isinstance(job, TrafficJob) or job.kind == "traffic":
            which = next(flows)
            each.append(space.cable_loads(state.streams[which]))
            own = snapshot.gpus[which]
            owner[slice(None) if own is None else own] = number
            continue
        which = next(steps)
        one = state.running[which]
        load, busy = _step_loads(state, which, one)
        each.append(state.by[which].space.cable_loads(load))
        owner[one.gpus] = number
        nvlink[one.gpus] = np.maximum(nvlink[one.gpus], busy)
    tiers = tuple(
        np.sum([job[tier] for job in each], axis=0) if each else np.zeros((2, fabric.tiers[tier].n))
        for tier in range(len(fabric.tiers))
    )
    health = state.by_default.health
    room = tuple(health.capacity(fabric, tier) for tier in range(len(fabric.tiers)))
    return Loads(tiers, room, tuple(each), nvlink, owner)


def _step_loads(state: JobsState, which: int, one: Running) -> tuple[Floats, float]:
    """Mean load (links,) of a job that steps, GB/s, and how busy it keeps its GPUs' NVLink."""
    load = np.zeros(len(state.by[which].space.capacity))
    place = state.place[which]
    if one.run is None or place < 0:
        return load, 0.0
    step, busy = float(state.shared.step_s[place]), 0.0
    if not 0 < step < np.inf:
        return load, 0.0
    for phase, times in zip(one.run.phases, one.run.repeats, strict=True):
        np.add.at(load, phase.link, phase.load * (times / step / 1e9))
        busy += phase.nvlink_s * times / step
    return load, min(busy, 1.0)


def _flows_on_nvlink(fabric: Fabric, state: JobsState) -> Floats:
    """(G,) load of independent flows over the capacity of each GPU's NVLink."""
    space, count = state.by_default.space, fabric.count("gpu")
    found = np.zeros(count)
    if not len(state.streams):
        return found
    first = int(space.starts[-2])
    load, room = state.streams.sum(axis=0)[first:], space.capacity[first:]
    used = np.divide(load, room, out=np.zeros_like(load), where=room > 0)
    found[:] = np.maximum(used[:count], used[count : 2 * count])
    stage = space.nvlink
    damaged = np.flatnonzero(stage.slot >= 0)
    if len(damaged):
        # Links of damaged racks by class: what its fullest link is, is what a GPU is.
        own = used[2 * count :].reshape(len(damaged), 2, stage.gpus, -1).max(axis=(1, 3))
        found.reshape(-1, stage.gpus)[damaged] = own[stage.slot[damaged]]
    return found
