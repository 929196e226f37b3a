"""The fabric's own figures under one health, no job needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gbviz.flows.bounds import bisection, blocking, worst_pair
from gbviz.flows.exchange_nvlink import nvlink_loads
from gbviz.flows.exchange_paths import MOST_FLOWS, path_phase
from gbviz.flows.phase import Phase, conserved, exchange_phase, worst_link
from gbviz.flows.reach import cut_off
from gbviz.routing.leaves import leaf_classes, split_table
from gbviz.routing.nvlink import tray_pairs
from gbviz.routing.shares import connected
from gbviz.routing.stages import Stages, stages

if TYPE_CHECKING:
    from gbviz.cooling import Thermal
    from gbviz.flows.router import Router
    from gbviz.topology.fabric import Fabric, Ints
    from gbviz.topology.health import Health


@dataclass(frozen=True, slots=True)
class Metrics:
    """What the fabric can still do. Rates are GB/s in one direction; None = does not exist.

    Parameters
    ----------
    live_gpus
        GPUs that run: not failed, not shut down.
    disconnected_gpus
        Names of live GPUs that cannot reach the largest part of the cluster.
    injection_GBps
        What all live NICs can send.
    bisection_GBps
        Maximum flow from the NICs of the first half of the leaves to those of the second.
    all_to_all_GBps_per_gpu
        What a GPU with most to send sends, over the time of the phase in which every live GPU
        sends the same to every live GPU of every other rack; 0 where a pair is cut off.
    worst_pair_GBps
        Rate of the worst pair of live GPUs in different racks with the fabric to itself.
    worst_leaf_uplink_fraction
        Live uplink capacity of the worst leaf, either way, over its healthy one; a dead leaf has 0.
    nvlink_GBps
        Live NVLink capacity of all GPUs, the slower way of each cable.
    compute_fraction
        Mean clock of all GPUs that the cluster has.
    nonblocking
        True where every admissible traffic gets through; `nonblocking_why` says why not.
    bottleneck
        The worst link of the all-to-all phase.
    cut_off_pairs
        Ordered pairs of live GPUs in different racks that no live way joins.
    reason
        Metric to why it is None, or why it is what one would not expect.
    """

    live_gpus: int
    disconnected_gpus: tuple[str, ...]
    injection_GBps: float  # noqa: N815 the unit's own capitals
    bisection_GBps: float  # noqa: N815
    all_to_all_GBps_per_gpu: float | None  # noqa: N815
    worst_pair_GBps: float | None  # noqa: N815
    worst_leaf_uplink_fraction: float
    nvlink_GBps: float  # noqa: N815
    compute_fraction: float
    nonblocking: bool | None
    nonblocking_why: str | None
    bottleneck: str | None
    cut_off_pairs: int
    reason: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def metrics(by: Router, thermal: Thermal) -> Metrics:
    """The figures of a cluster under one health, ready to route, and its clocks."""
    fabric, health, spread, nics = by.fabric, by.health, by.live, by.nics
    by_capacity, table = spread, by.table
    if by.mode == "spray":
        by_capacity = stages(fabric, health, "adaptive")
        table = split_table(by_capacity, leaf_classes(by_capacity, nics))
    block = blocking(by_capacity, table)
    reason: dict[str, str] = {}
    phase, exchange = _exchange(by, reason)
    if not spread.nic_up.any():
        reason["nonblocking"] = "no NIC is live"
    lost = np.flatnonzero(cut_off(fabric, health, by_capacity, nics))
    return Metrics(
        live_gpus=int(np.count_nonzero(nics.live)),
        disconnected_gpus=_names(fabric, lost),
        injection_GBps=float(spread.nic_up.sum()),
        bisection_GBps=bisection(by_capacity, table.leaves),
        all_to_all_GBps_per_gpu=exchange,
        worst_pair_GBps=_worst_pair(by, phase, reason),
        worst_leaf_uplink_fraction=_worst_uplinks(fabric, health),
        nvlink_GBps=_nvlink(by),
        compute_fraction=float(thermal.clock.mean()),
        nonblocking=None if not spread.nic_up.any() else block is None,
        nonblocking_why=_blocked(fabric, block),
        bottleneck=_bottleneck(fabric, spread, phase),
        cut_off_pairs=phase.cut_pairs if phase else 0,
        reason=reason,
        problems=conserved(phase) if phase else (),
    )


def _exchange(by: Router, reason: dict[str, str]) -> tuple[Phase | None, float | None]:
    """The all-to-all phase, and the rate that it gives a GPU."""
    fabric, spread, nics = by.fabric, by.live, by.nics
    per_rack = nics.live.reshape(fabric.count("rack"), -1).sum(axis=1)
    others = per_rack.sum() - per_rack[per_rack > 0]
    name = "all_to_all_GBps_per_gpu"
    if not len(others) or not others.max():
        reason[name] = reason["worst_pair_GBps"] = (
            "no GPU is live" if not len(others) else "live GPUs are in one rack only"
        )
        return None, None
    if not by.single_path:
        phase = _with_nvlink(by, exchange_phase(fabric, spread, nics, joined=by.reaches_all))
    else:
        seed = by.seed if by.mode == "ecmp" else None
        found = path_phase(fabric, by.health, spread, nics, seed=seed)
        if found is None:
            reason[name] = reason["worst_pair_GBps"] = (
                f"{by.mode} routes every flow by itself, and these are more than {MOST_FLOWS:,}"
            )
            return None, None
        phase = _with_nvlink(by, found)
    if phase.cut_pairs:
        reason[name] = (
            f"{phase.cut_pairs:,} pairs of live GPUs in different racks are cut off,"
            " so the exchange never ends"
        )
    # Where racks differ, GPUs of the most damaged one send most: they keep their NICs busy longest.
    return phase, float(others.max()) / phase.time_s


def _with_nvlink(by: Router, phase: Phase) -> Phase:
    """The same phase with NVLink's loads, where NVLink could be its limit."""
    spread = by.live
    port = float(max(spread.nic_up.max(initial=0.0), spread.nic_down.max(initial=0.0)))
    found = nvlink_loads(by.nvlink, by.nics, partial(connected, spread), port)
    if found is None:
        return phase
    loads = phase.loads | {"NVLink": found}
    return worst_link(loads, phase.cut_pairs, phase.leaf_at, phase.balance)


def _names(fabric: Fabric, gpus: Ints) -> tuple[str, ...]:
    first = fabric.nodes("gpu").start
    return tuple(fabric.name(first + gpu) for gpu in gpus.tolist())


def _worst_pair(by: Router, phase: Phase | None, reason: dict[str, str]) -> float | None:
    """By cables and NICs, and by NVLink where a GPU reaches the NIC of another over few links."""
    R = by.nics.rails
    if phase is None:
        return None
    if phase.cut_pairs:
        reason["worst_pair_GBps"] = f"{phase.cut_pairs:,} pairs are cut off"
        return 0.0
    between = tray_pairs(by.nvlink, R)
    between = between[(between > 0) & ~np.eye(R, dtype=bool)]
    return min(worst_pair(by.live, by.table, by.nics), float(between.min(initial=np.inf)))


def _worst_uplinks(fabric: Fabric, health: Health) -> float:
    tier, count = fabric.tiers[1], fabric.count("leaf")
    live = health.capacity(fabric, 1).reshape(2, count, -1).sum(axis=2).min(axis=0)
    whole = tier.capacity.reshape(count, -1).sum(axis=1)
    return float((live / whole).min())


def _nvlink(by: Router) -> float:
    nvlink, stage = by.fabric.nvlink, by.nvlink
    assert nvlink is not None
    racks = nvlink.racks - len(stage.share)
    whole = racks * nvlink.gpus * nvlink.asics * nvlink.link_GBps
    hurt = (stage.share.min(axis=1) * stage.asics[:, None, :]).sum()
    return float(whole + hurt)


def _blocked(fabric: Fabric, block: tuple[int, str] | None) -> str | None:
    if block is None:
        return None
    leaf, why = block
    return f"{fabric.name(fabric.nodes('leaf').start + leaf)}: {why}"


def _bottleneck(fabric: Fabric, spread: Stages, phase: Phase | None) -> str | None:
    """The worst place of the exchange in words."""
    if phase is None or phase.bottleneck is None or phase.cut_pairs:
        return None
    stage, place = phase.bottleneck
    if stage == "NVLink":
        return "NVLink of a GPU with few links left"
    if stage.startswith("link"):
        return fabric.link_name(fabric.tiers[0].first + place[0])
    if stage.startswith("nic"):
        name = fabric.name(fabric.nodes("nic").start + place[0])
        return f"{name} ({'sending' if stage == 'nic up' else 'receiving'})"
    if stage.startswith("leaf"):
        leaf = fabric.name(fabric.nodes("leaf").start + phase.leaf_at[place[0]] + place[1])
        positions = np.flatnonzero(spread.position_class == place[2])
        words = f"each of {len(positions)} spines" if len(positions) > 1 else "one spine"
        pod = (phase.leaf_at[place[0]] + place[1]) // spread.shape.leaves_per_pod
        if len(positions) == 1:
            first = fabric.nodes("spine").start + pod * spread.shape.spines_per_pod
            words = fabric.name(first + int(positions[0]))
        return f"{leaf}>{words}" if stage == "leaf up" else f"{words}>{leaf}"
    return f"pod {place[0]}: spines to cores, {stage.split()[1]}"
