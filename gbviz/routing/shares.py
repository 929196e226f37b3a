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
    shape, same = stages.shape, source == target
    pods = reach = None
    if len(stages.cores):
        pods = source // shape.leaves_per_pod, target // shape.leaves_per_pod
        reach = stages.between_pods()[pods].T
    live = stages.live_classes
    carry = np.empty((len(live), len(source)))
    for row, k in enumerate(live):
        up, down = (
            stages.leaf.up_share[:, k].take(source),
            stages.leaf.down_share[:, k].take(target),
        )
        _lesser(up, down, stages.even, out=carry[row])
        if reach is not None:
            _lesser(carry[row], reach[k], stages.even, out=carry[row])
    carry *= stages.spines[live][:, None]
    total = carry.sum(axis=0) if len(live) != 1 else carry[0]
    found = total > 0
    connected = same | found
    spine = np.zeros((stages.n_classes, len(source)))
    if len(live) == 1:
        spine[live[0]] = found & ~same
    else:
        spine[live] = carry / np.where(found, total, 1.0)
        spine[:, same] = 0.0
    if pods is None or reach is None:
        return Split(connected, spine, np.zeros((0, len(source))))
    path = np.empty((len(stages.cores), len(source)))
    for e in range(len(stages.cores)):
        rise, fall = stages.core.up_share[:, e], stages.core.down_share[:, e]
        _lesser(rise.take(pods[0]), fall.take(pods[1]), stages.even, out=path[e])
    owner = stages.core_owner
    path *= stages.cores[:, None] / np.where(reach > 0, reach, 1.0)[owner]
    return Split(connected, spine, np.where(pods[0] != pods[1], path * spine[owner], 0.0))


def _lesser(first: Floats, then: Floats, even: bool, out: Floats) -> None:
    """What two stages in a row count for: the smaller, or the first where the second is live."""
    if even:
        np.multiply(first, then > 0, out=out)
    else:
        np.minimum(first, then, out=out)


def connected(stages: Stages, source: Ints, target: Ints) -> Bools:
    """(P,) True where live cables lead from leaf to leaf, as `split` would find."""
    return split(stages, source, target).connected
