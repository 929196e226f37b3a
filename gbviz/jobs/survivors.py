"""What is left of a job once GPUs have failed: spares step in, replicas or groups are given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.jobs.placement import rank_grid

if TYPE_CHECKING:
    from gbviz.jobs.placement import Placed
    from gbviz.jobs.spec import Parallelism, TrainingJob
    from gbviz.topology.fabric import Bools, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Survivors:
    """GPUs that a job goes on with.

    Parameters
    ----------
    gpus
        (n,) GPU of each rank, spares in the place of failed ones.
    lost, replaced
        Failed GPUs that held ranks, and how many of those a spare replaced.
    """

    gpus: Ints
    lost: int
    replaced: int


def replace_failed(placed: Placed, live: Bools) -> Survivors:
    """Live spares in the place of failed GPUs, in order, as far as there are any.

    Examples
    --------
    >>> from gbviz.jobs.placement import Placed
    >>> job = Placed(np.array([0, 1, 2]), np.array([3]))
    >>> replace_failed(job, np.array([True, False, True, True])).gpus.tolist()
    [0, 3, 2]
    """
    gpus = placed.gpus.copy()
    failed = np.flatnonzero(~live[gpus])
    spares = placed.spares[live[placed.spares]][: len(failed)]
    gpus[failed[: len(spares)]] = spares
    return Survivors(gpus, len(failed), len(spares))


def shrink(job: TrainingJob, survivors: Survivors, live: Bools) -> tuple[Ints, Parallelism] | None:
    """The ranks and degrees of a training job without the replicas that lost a GPU.

    Further replicas are given up until experts can be spread over what is left. None where no
    replica is whole.
    """
    shape, gpus = job.parallelism, survivors.gpus
    grid = rank_grid({"tp": shape.tp, "cp": shape.cp, "dp": shape.dp, "pp": shape.pp}, job.order)
    whole = np.flatnonzero(live[gpus][grid].all(axis=(0, 2, 3)))
    count = len(whole)
    while count and (shape.cp * count) % shape.ep:
        count -= 1
    if not count:
        return None
    if count == shape.dp:
        return gpus, shape
    left = shape.model_copy(update={"dp": count})
    sizes = {"tp": shape.tp, "cp": shape.cp, "dp": count, "pp": shape.pp}
    fresh = np.empty(left.gpus, dtype=gpus.dtype)
    fresh[rank_grid(sizes, job.order)] = gpus[grid[:, whole[:count]]]
    return fresh, left
