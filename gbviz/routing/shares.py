"""How a leaf pair's traffic is split over spine classes and core classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gbviz.routing.stages import Stages
    from gbviz.topology.fabric import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Shares of the traffic of P leaf pairs.

    Parameters
    ----------
    connected
        (P,) False where no live way up and down is left.
    spine
        (K, P) share on each spine class, all its spines together; 0 for pairs of one leaf.
    core
        (E, P) share on each core class, all its spines and cores together; 0 within a pod.
    """

    connected: Bools
    spine: Floats
    core: Floats


def split(stages: Stages, source: Ints, target: Ints) -> Split:
    """How the traffic of leaf pairs is shared.

    Parameters
    ----------
    stages
        The live fabric.
    source, target
        (P,) leaf numbers.

    Returns
    -------
    Split
        Shares that sum to 1 over the classes for each connected pair of two leaves.

    Notes
    -----
    In proportion to capacity: spine i gets min(up, sum over its cores of min(up, down), down),
    then core j gets min(up, down). Evenly: each live cable that still leads to the target counts
    the same at every hop.

    Examples
    --------
    One of two cables between leaf 0 and spine 3 of a 36-spine tree is dead: 71 of 72 cables live.

    >>> from gbviz.faults import Action, apply, resolve
    >>> from gbviz.routing import stages
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> health = apply(fabric, resolve(fabric, [Action("fail", "leaf-0~spine-3#0")]))
    >>> parts = split(stages(fabric, health, "adaptive"), np.array([0]), np.array([1]))
    >>> (parts.spine[:, 0] * 71).round(9).tolist()
    [70.0, 1.0]
    """
    up = stages.leaf.up_share[source].T
    down = stages.leaf.down_share[target].T
    carry = np.where(down > 0, up, 0.0) if stages.even else np.minimum(up, down)
    shape = stages.shape
    far = None
    if len(stages.cores):
        pods = source // shape.leaves_per_pod, target // shape.leaves_per_pod
        reach = stages.between_pods()[pods].T
        carry = np.where(reach > 0, carry, 0.0) if stages.even else np.minimum(carry, reach)
        far = pods[0] != pods[1]
    carry = carry * stages.spines[:, None]
    total = carry.sum(axis=0)
    same = source == target
    connected = same | (total > 0)
    spine = np.where(same, 0.0, carry / np.where(total > 0, total, 1.0))
    if far is None:
        return Split(connected, spine, np.zeros((0, len(source))))
    rise, fall = stages.core.up_share[pods[0]].T, stages.core.down_share[pods[1]].T
    path = np.where(fall > 0, rise, 0.0) if stages.even else np.minimum(rise, fall)
    owner = stages.core_owner
    within = path * stages.cores[:, None] / np.where(reach > 0, reach, 1.0)[owner]
    return Split(connected, spine, np.where(far, within * spine[owner], 0.0))


def connected(stages: Stages, source: Ints, target: Ints) -> Bools:
    """(P,) True where live cables lead from leaf to leaf, as `split` would find."""
    return split(stages, source, target).connected
