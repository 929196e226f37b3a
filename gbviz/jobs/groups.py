"""The groups of GPUs that communicate: tensor, context, expert, data and pipeline parallel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.jobs.placement import rank_grid

if TYPE_CHECKING:
    from gbviz.jobs.spec import Parallelism
    from gbviz.topology.fabric import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Who talks to whom in one job: rows of GPU numbers, one group a row.

    Parameters
    ----------
    tp, cp, ep
        Tensor-, context- and expert-parallel groups.
    dp
        Groups that hold the same weights: they reduce gradients over dp x cp ranks.
    expert_dp
        Groups that hold the same experts.
    pp
        (pairs, 2) neighbours in the pipeline, from a stage to the next; with interleaving the last
        stage also sends to the first.
    """

    tp: Ints
    cp: Ints
    ep: Ints
    dp: Ints
    expert_dp: Ints
    pp: Ints


def groups(gpus: Ints, shape: Parallelism, order: str) -> Groups:
    """The groups of a job.

    Parameters
    ----------
    gpus
        (ranks,) GPU of each rank.
    shape
        Degrees; tp x cp x pp x dp ranks.
    order
        Of ranks, the fastest dimension first.

    Examples
    --------
    Two tensor-parallel pairs, replicated: ranks 0 and 2 hold the same weights.

    >>> from gbviz.jobs.spec import Parallelism
    >>> found = groups(np.arange(4), Parallelism(tp=2, dp=2), "tp-cp-ep-dp-pp")
    >>> found.tp.tolist(), found.dp.tolist()
    ([[0, 1], [2, 3]], [[0, 2], [1, 3]])
    """
    sizes = {"tp": shape.tp, "cp": shape.cp, "dp": shape.dp, "pp": shape.pp}
    grid = gpus[rank_grid(sizes, order)]
    replicas = grid.transpose(0, 3, 1, 2).reshape(shape.pp, shape.tp, -1)
    experts = replicas.reshape(-1, shape.ep)
    same_experts = replicas.reshape(shape.pp * shape.tp, -1, shape.ep).transpose(0, 2, 1)
    pairs = [np.stack([grid[:-1].reshape(-1), grid[1:].reshape(-1)], axis=1)]
    if shape.vpp > 1 and shape.pp > 1:
        pairs.append(np.stack([grid[-1].reshape(-1), grid[0].reshape(-1)], axis=1))
    return Groups(
        grid.reshape(-1, shape.tp),
        grid.transpose(0, 1, 3, 2).reshape(-1, shape.cp),
        experts,
        replicas.reshape(-1, shape.dp * shape.cp),
        same_experts.reshape(-1, same_experts.shape[2]),
        np.concatenate(pairs),
    )
