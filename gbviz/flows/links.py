"""The links that flow columns name, and how their loads spread over real links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.routing.stages import sum_first
from gbviz.units import percent

if TYPE_CHECKING:
    from gbviz.routing.nvlink import NVLinkStage
    from gbviz.routing.stages import Bundles, Stages
    from gbviz.topology.fabric import Fabric, Floats, Ints
    from gbviz.topology.health import Health


@dataclass(frozen=True, slots=True, eq=False)
class LinkSpace:
    """The numbering of the links that a solver sees.

    Either real cables (`stages` is None): the fabric's links after its NVLink links. Or class
    links: NIC up, NIC down, leaf up (leaf x class), leaf down, spine up (pod x core class), spine
    down. NVLink class links follow in both.
    """

    fabric: Fabric
    health: Health
    stages: Stages | None
    nvlink: NVLinkStage
    starts: Ints
    capacity: Floats

    def cable_loads(self, load: Floats) -> tuple[Floats, ...]:
        """Loads of the fabric's cables from loads of the solver's links.

        Parameters
        ----------
        load
            (links,) GB/s.

        Returns
        -------
        tuple of Floats
            For each tier (2, n) GB/s, up links first.
        """
        parts = [load[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]
        if self.stages is None:
            return tuple(np.stack(parts[2 * t : 2 * t + 2]) for t in range(len(self.fabric.tiers)))
        tiers = [load[: self.starts[2]].reshape(2, -1).copy()]
        live, shape = self.stages, self.stages.shape
        rows = shape.pods * shape.leaves_per_pod
        each = [part.reshape(rows, -1)[: shape.leaves] / live.spines for part in parts[2:4]]
        tiers.append(self._over_cables(1, [part.take(live.position_class, 1) for part in each]))
        if shape.cores:
            apart = live.spines[live.core_owner] * live.cores
            of_core = live.core_class[live.position_class].reshape(-1)
            each = [part.reshape(shape.pods, -1) / apart for part in parts[4:6]]
            tiers.append(self._over_cables(2, [part.take(of_core, 1) for part in each]))
        return tuple(tiers)

    def _over_cables(self, tier: int, bundles: list[Floats]) -> Floats:
        """Loads of bundles up and down over their parallel cables, (2, n)."""
        assert self.stages is not None
        ways = self.health.ways(self.fabric, tier)
        cables = ways.reshape(len(ways), bundles[0].size, -1)
        weight = (cables > 0).astype(np.float64) if self.stages.even else cables
        parallel = np.moveaxis(weight, 2, 0)
        total = sum_first(parallel)
        part = parallel / np.where(total > 0, total, 1.0)
        loads = np.empty((2, *cables.shape[1:]))
        for way, amount in enumerate(bundles):
            for number, share in enumerate(part):
                np.multiply(amount.reshape(-1), share[way % len(ways)], out=loads[way, :, number])
        return loads.reshape(2, -1)

    def name(self, link: int) -> str:
        """What people call a link: a cable, a bundle, or all bundles of one class."""
        part = int(np.searchsorted(self.starts, link, side="right")) - 1
        number = link - int(self.starts[part])
        if part == len(self.starts) - 2:
            return self._nvlink_name(number)
        if self.stages is None or part < 2:
            tier = self.fabric.tiers[part // 2]
            return self.fabric.link_name(tier.first + part % 2 * tier.n + number)
        shape = self.stages.shape
        if part < 4:
            row, k = divmod(number, self.stages.n_classes)
            low, top = self._leaf(row), self._spines(row // shape.leaves_per_pod, k)
        else:
            pod, e = divmod(number, len(self.stages.cores))
            k = int(self.stages.core_owner[e])
            low, top = self._spines(pod, k), self._cores(k, e)
        return f"{low}>{top}" if part % 2 == 0 else f"{top}>{low}"

    def words(self, link: int) -> str:
        """A link in words, with how much of it is alive: `leaf-20 uplinks, 70 of 72 alive`."""
        part = int(np.searchsorted(self.starts, link, side="right")) - 1
        number = link - int(self.starts[part])
        name = self.name(link)
        if part == len(self.starts) - 2:
            return name
        if self.stages is None or part < 2:
            share = float(self.capacity[link] / self.fabric.tiers[part // 2].capacity[0])
            return name if share == 1 else f"{name} at {percent(share)} of its rate"
        if part < 4:
            shape, way = self.stages.shape, part % 2
            row = number // self.stages.n_classes
            cables = self.health.capacity(self.fabric, 1)[way].reshape(shape.leaves, -1)[row]
            which = "uplinks" if way == 0 else "downlinks from spines"
            alive, whole = int((cables > 0).sum()), self.fabric.tiers[1].capacity[0]
            slow = int(((cables > 0) & (cables < whole)).sum())
            tail = f", {slow} of them slow" if slow else ""
            return f"{self._leaf(row)} {which}, {alive} of {len(cables)} alive{tail}"
        return name

    def _leaf(self, row: int) -> str:
        return self.fabric.name(self.fabric.nodes("leaf").start + row)

    def _spines(self, pod: int, k: int) -> str:
        assert self.stages is not None
        positions = np.flatnonzero(self.stages.position_class == k)
        if len(positions) > 1:
            return _counted(len(positions), "spine")
        first = self.fabric.nodes("spine").start + pod * self.stages.shape.spines_per_pod
        return self.fabric.name(first + int(positions[0]))

    def _cores(self, k: int, e: int) -> str:
        assert self.stages is not None
        many = int(self.stages.spines[k] * self.stages.cores[e])
        if many > 1:
            return _counted(many, "core")
        group = int(np.flatnonzero(self.stages.position_class == k)[0])
        core = int(np.flatnonzero(self.stages.core_class[k] == e)[0])
        first = self.fabric.nodes("core").start + group * self.stages.shape.cores_per_group
        return self.fabric.name(first + core)

    def _nvlink_name(self, number: int) -> str:
        everyone = len(self.nvlink.slot) * self.nvlink.gpus
        first = self.fabric.nodes("gpu").start
        if number < 2 * everyone:
            into, gpu = divmod(number, everyone)
        else:
            rest = (number - 2 * everyone) // self.nvlink.n_classes
            rest, gpu = divmod(rest, self.nvlink.gpus)
            damaged, into = divmod(rest, 2)
            rack = int(np.flatnonzero(self.nvlink.slot == damaged)[0])
            gpu += rack * self.nvlink.gpus
        name = self.fabric.name(first + gpu)
        return f"NVLink>{name}" if into else f"{name}>NVLink"


def _counted(number: int, kind: str) -> str:
    return f"{number} {kind}s"


def class_links(fabric: Fabric, health: Health, stages: Stages, nvlink: NVLinkStage) -> LinkSpace:
    """The link space of class links, for routing that spreads."""
    leaf = _whole(stages.leaf, stages.spines)
    core = _whole(stages.core, stages.spines[stages.core_owner] * stages.cores)
    parts = [stages.nic_up, stages.nic_down, *leaf, *core, nvlink.capacity]
    return LinkSpace(fabric, health, stages, nvlink, _starts(parts), np.concatenate(parts))


def cable_links(fabric: Fabric, health: Health, nvlink: NVLinkStage) -> LinkSpace:
    """The link space of single cables, for routing that picks one path."""
    tiers = [health.capacity(fabric, number) for number in range(len(fabric.tiers))]
    parts = [*(way for tier in tiers for way in tier), nvlink.capacity]
    return LinkSpace(fabric, health, None, nvlink, _starts(parts), np.concatenate(parts))


def _whole(bundles: Bundles, members: Floats) -> tuple[Floats, Floats]:
    return (bundles.up * members).reshape(-1), (bundles.down * members).reshape(-1)


def _starts(parts: list[Floats]) -> Ints:
    """Where each part starts, and the end."""
    return np.cumsum([0, *(len(part) for part in parts)])
