"""A copy of a job on racks that are free. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.app.job_fields import Values, free_racks, selector_of
from gbviz.errors import GbvizError
from gbviz.jobs.placement import place
from gbviz.jobs.traffic import TrafficJob
from gbviz.scenario.document import document
from gbviz.topology import build

if TYPE_CHECKING:
    from gbviz.scenario import Scenario

_PLACES = ("racks", "gpus", "vms")


@dataclass(frozen=True, slots=True)
class Twin:
    """A copy of a job.

    `values` are its fields as a file holds them, `racks` where it is put, None where it needs more
    racks than are free; `needed` and `free` count racks.
    """

    values: Values
    racks: str | None
    needed: int
    free: int


def job_twin(scenario: Scenario, number: int) -> Twin:
    """A copy of a scenario's job under another name, on the first racks that no job uses.

    Examples
    --------
    >>> from gbviz.jobs.spec import CollectiveJob
    >>> from gbviz.scenario import preset
    >>> fields = {"kind": "collective", "op": "all_reduce", "size": 1e9}
    >>> ring = CollectiveJob(name="ring", racks="rack-[0-2]", **fields)
    >>> twin = job_twin(preset("gb300-su").with_jobs(ring), 0)
    >>> twin.values["name"], twin.racks, twin.free
    ('ring 2', 'rack-[3-5]', 5)
    """
    values: Values = dict(document(scenario)["jobs"][number])
    needed, free = _racks_of(scenario, number), free_racks(scenario)
    racks = selector_of(free[:needed]) if 0 < needed <= len(free) else None
    for name in _PLACES:
        values.pop(name, None)
    values["name"] = twin_name(scenario, str(values["name"]))
    if racks is not None:
        values["racks"] = racks
    return Twin(values, racks, needed, len(free))


def twin_name(scenario: Scenario, name: str) -> str:
    """A name like a job's that no job of the scenario has."""
    taken = {job.name for job in scenario.jobs}
    return next(f"{name} {n}" for n in range(2, len(taken) + 3) if f"{name} {n}" not in taken)


def _racks_of(scenario: Scenario, number: int) -> int:
    """How many racks a job has GPUs in; all of them where that cannot be said."""
    job, fabric = scenario.jobs[number], build(scenario.cluster)
    if isinstance(job, TrafficJob):
        return fabric.count("rack")
    try:
        placed = place(fabric, [(job.name, job)])[0]
    except GbvizError:
        return fabric.count("rack")
    held = np.concatenate([placed.gpus, placed.spares])
    return len(np.unique(held * fabric.count("rack") // fabric.count("gpu")))
