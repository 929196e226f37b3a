"""Shares of GPU pairs' traffic on the NVLink of their rack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.routing.stages import group_columns

if TYPE_CHECKING:
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health


@dataclass(frozen=True, slots=True, eq=False)
class NVLinkStage:
    """NVLink as what goes out of and into each GPU, ASICs of equal state taken together.

    In a whole rack all ASICs are one class. A damaged rack has one class more for each ASIC or
    link that differs; its classes follow those of the whole racks in the numbering.

    Parameters
    ----------
    gpus
        GPUs of a rack.
    slot
        (racks,) which damaged rack it is, -1 for a whole one.
    capacity
        (links,) GB/s of each class link: out of every GPU, into every GPU, then for each damaged
        rack out of and into its GPUs by class (D, 2, GPUs of a rack, classes).
    share
        (D, 2, GPUs, classes) capacity of one link of each class of the damaged racks.
    asics
        (D, classes) ASICs in each class, 0 where a rack has fewer classes.
    asic_class
        (D, ASICs) class of each ASIC of the damaged racks.
    """

    gpus: int
    slot: Ints
    capacity: Floats
    share: Floats
    asics: Floats
    asic_class: Ints

    @property
    def n_classes(self) -> int:
        """Most classes in any rack, at least 1."""
        return max(1, int(self.asics.shape[1]))


def nvlink_stage(fabric: Fabric, health: Health) -> NVLinkStage:
    """The NVLink stage of a built cluster under one health."""
    nvlink = fabric.nvlink
    assert nvlink is not None
    damaged = health.damaged_nvlink(fabric)
    slot = np.full(nvlink.racks, -1)
    slot[damaged] = np.arange(len(damaged))
    whole = np.full(2 * nvlink.racks * nvlink.gpus, nvlink.asics * nvlink.link_GBps)
    found = []
    for rack in damaged.tolist():
        links = health.nvlink_capacity(fabric, rack)
        classes, first = group_columns([links[0], links[1]])
        found.append((links[:, :, first], np.bincount(classes), classes))
    width = max((len(asics) for _, asics, _ in found), default=0)
    share = np.zeros((len(found), 2, nvlink.gpus, width))
    asics = np.zeros((len(found), width))
    for number, (links, counts, _) in enumerate(found):
        share[number, :, :, : len(counts)] = links
        asics[number, : len(counts)] = counts
    by_class = np.array([c for _, _, c in found], dtype=np.int64).reshape(-1, nvlink.asics)
    own = (share * asics[:, None, None, :]).reshape(-1)
    return NVLinkStage(nvlink.gpus, slot, np.concatenate([whole, own]), share, asics, by_class)


def tray_pairs(stage: NVLinkStage, R: int) -> Floats:
    """(D, trays, R, R) what NVLink carries between two GPUs of a tray of a damaged rack, GB/s.

    From the GPU of the third axis to that of the fourth, with the links to themselves.
    """
    D, _, gpus, classes = stage.share.shape
    out, into = stage.share.reshape(D, 2, gpus // R, R, classes).swapaxes(0, 1)
    joint = np.minimum(out[:, :, :, None], into[:, :, None]) * stage.asics[:, None, None, None, :]
    found: Floats = joint.sum(axis=4)
    return found


def nvlink_columns(stage: NVLinkStage, source: Ints, target: Ints) -> tuple[Ints, Floats, Bools]:
    """The class links that traffic between GPUs of one rack crosses.

    Parameters
    ----------
    stage
        From `nvlink_stage`.
    source, target
        (P,) GPU numbers within their kind, both of one rack.

    Returns
    -------
    columns, weights
        (2 k, P) class link, -1 for none, and the share on it; k = classes. Out first, then in.
    connected
        (P,) False where the two GPUs share no live ASIC.

    Notes
    -----
    A pair's traffic is spread over the ASICs that both still reach, in proportion to the smaller
    of the two links.
    """
    k, P = stage.n_classes, len(source)
    everyone = len(stage.slot) * stage.gpus
    if not len(stage.share):
        return np.stack([source, everyone + target]), np.ones((2, P)), np.ones(P, dtype=bool)
    columns = np.full((2 * k, P), -1, dtype=np.int64)
    weights = np.zeros((2 * k, P))
    slot = stage.slot[source // stage.gpus]
    whole = np.flatnonzero(slot < 0)
    columns[0, whole], columns[k, whole] = source[whole], everyone + target[whole]
    weights[0, whole] = weights[k, whole] = 1.0
    connected = np.ones(P, dtype=bool)
    hurt = np.flatnonzero(slot >= 0)
    if len(hurt):
        rack = slot[hurt]
        near, far = source[hurt] % stage.gpus, target[hurt] % stage.gpus
        carry = np.minimum(stage.share[rack, 0, near], stage.share[rack, 1, far])
        carry = carry * stage.asics[rack]
        total = carry.sum(axis=1)
        connected[hurt] = total > 0
        part = (carry / np.where(total > 0, total, 1.0)[:, None]).T
        first = 2 * everyone + rack * 2 * stage.gpus * k
        for c in range(k):
            used = part[c] > 0
            columns[c, hurt] = np.where(used, first + near * k + c, -1)
            columns[k + c, hurt] = np.where(used, first + (stage.gpus + far) * k + c, -1)
            weights[c, hurt] = weights[k + c, hurt] = part[c]
    return columns, weights, connected
