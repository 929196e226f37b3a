"""What a rack's NVLink domain does when it is no longer whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from gbviz.topology.fabric import Fabric
    from gbviz.topology.health import Health

Policy = Literal["adaptive", "full-bandwidth"]


def partition(fabric: Fabric, health: Health, policy: Policy) -> Health:
    """The health of a fabric once every rack's NVLink partition has followed its policy.

    `adaptive` runs on with what is left. `full-bandwidth` takes the partition of a rack down when
    an ASIC or NVSwitch tray is lost, and parks (fails) a GPU that lost a link of its own.

    References
    ----------
    NVIDIA NMX-M manual, partition health (docs.nvidia.com/networking/display/nmxmv8513000).
    """
    nvlink = fabric.nvlink
    if policy == "adaptive" or nvlink is None:
        return health
    factor, cause = health.node_factor.copy(), health.node_cause.copy()
    links = dict(health.nvlink_factor)
    asics = health.up(fabric, "nvswitch").reshape(nvlink.racks, -1)
    for rack in health.damaged_nvlink(fabric).tolist():
        if not asics[rack].all():
            links[rack] = np.zeros((2, nvlink.gpus, nvlink.asics))
        elif rack in links:
            hurt = np.flatnonzero((links[rack] == 0).any(axis=(0, 2)))
            factor[fabric.nodes("gpu").start + rack * nvlink.gpus + hurt] = 0.0
    return replace(health, node_factor=factor, node_cause=cause, nvlink_factor=links)
