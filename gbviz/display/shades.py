"""What every part is coloured: one packed colour each, and what has failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from gbviz.display import theme as hues
from gbviz.display.theme import packed
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.display.theme import Colours, Ramp, Theme
    from gbviz.engine import Loads, Snapshot
    from gbviz.topology.fabric import Bools, Floats, Ints

ColourBy = Literal["utilisation", "health", "job", "temperature", "delta", "rail"]
COLOUR_BY: tuple[ColourBy, ...] = get_args(ColourBy)

# The temperature scale begins where the supply's set point is.
COOL_C = 40.0
# Dies that are held at the limit are at it but for rounding.
_AT_LIMIT_C = 0.05
# A change of utilisation by this much has the full colour.
FULL_DELTA = 0.5


@dataclass(frozen=True, slots=True)
class Look:
    """How people want to see the map."""

    theme: Theme
    ramp: Ramp = "slate"
    colour_by: ColourBy = "utilisation"
    job: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Shades:
    """Colours and states of one answer.

    Parameters
    ----------
    gpus, pairs, planes
        Packed colours: (G,); (leaves x spines a pod,); (spines,), of its cables to the cores.
    nvlink
        (G,) of each GPU's NVLink.
    gpu_down, leaf_down, spine_down, rack_down
        Which have failed, by themselves or with what holds them.
    nic_down
        Live GPUs whose NIC cannot send or cannot receive.
    pair_down
        Pairs whose cables are all dead though both ends live.
    pair_hurt
        Pairs some of whose cables are dead or slow though both ends live.
    plane_down
        Live spines some of whose cables to the cores are dead or slow.
    rack_hot
        Racks that cooling or power slows down or has shut down.
    pair_value
        Worst utilisation of each pair, for what is drawn on top.
    rack_job
        (R,) job that most GPUs of a rack run, -1 for none.
    """

    gpus: Colours
    pairs: Colours
    planes: Colours
    nvlink: Colours
    gpu_down: Bools
    nic_down: Bools
    leaf_down: Bools
    spine_down: Bools
    rack_down: Bools
    pair_down: Bools
    pair_hurt: Bools
    plane_down: Bools
    rack_hot: Bools
    pair_value: Floats
    rack_job: Ints


def shades(snapshot: Snapshot, loads: Loads, base: Loads, look: Look) -> Shades:
    """The colours of an answer.

    Parameters
    ----------
    snapshot, loads, base
        The answer, its loads, and those of the healthy cluster.
    look
        What colours mean.
    """
    fabric, health = snapshot.fabric, snapshot.health
    down = {kind: ~health.up(fabric, kind) for kind in ("gpu", "leaf", "spine", "rack")}
    live = ~_ends_down(snapshot, down)
    factor = loads.capacity[1] / fabric.tiers[1].capacity
    worth = _by_pair(snapshot, factor.min(axis=0), np.min)
    best = _by_pair(snapshot, factor.max(axis=0), np.max)
    own = _Values(snapshot, loads, base, look)
    gpus, pairs, planes, nvlink = own.colours()
    if look.job is not None:
        gpus, pairs = _dimmed(snapshot, loads, look, gpus, pairs)
    clock = np.where(down["gpu"], 1.0, snapshot.thermal.clock / _own_clock(snapshot))
    slowed = clock.reshape(fabric.count("rack"), -1).min(axis=1) < 1 - 1e-9
    return Shades(
        gpus=gpus,
        pairs=pairs,
        planes=planes,
        nvlink=nvlink,
        gpu_down=down["gpu"],
        nic_down=~down["gpu"] & (loads.capacity[0].min(axis=0) == 0),
        leaf_down=down["leaf"],
        spine_down=down["spine"],
        rack_down=down["rack"],
        pair_down=live & (best == 0),
        pair_hurt=live & (best > 0) & (worth < 1 - 1e-9),
        plane_down=_planes_hurt(snapshot, loads) & ~down["spine"],
        rack_hot=slowed | snapshot.thermal.rack_down,
        pair_value=_by_pair(snapshot, loads.utilisation(1).max(axis=0), np.max),
        rack_job=_rack_jobs(loads.job_of_gpu.reshape(fabric.count("rack"), -1)),
    )


def hottest_c() -> float:
    """Where the temperature scale ends: at which a GPU shuts down, °C."""
    return catalogue().value("gpu.die_shutdown_c")


def heat_colours(theme: Theme) -> Colours:
    """(256,) colours of the temperature scale: alarm from the throttle and slowdown limits on."""
    span = hottest_c() - COOL_C
    throttle = catalogue().value("gpu.die_throttle_c") - _AT_LIMIT_C
    slow = catalogue().value("gpu.die_slowdown_c") - _AT_LIMIT_C
    return hues.heat_table(theme, (throttle - COOL_C) / span, (slow - COOL_C) / span)


def _own_clock(snapshot: Snapshot) -> Floats:
    """(G,) clock that each GPU's own degradation leaves, 1 for a failed one."""
    own = snapshot.health.factor(snapshot.fabric, "gpu")
    found: Floats = np.where(own > 0, own, 1.0)
    return found


class _Values:
    """Colours by one meaning, for every kind of part."""

    def __init__(self, snapshot: Snapshot, loads: Loads, base: Loads, look: Look) -> None:
        self.snapshot, self.loads, self.base, self.look = snapshot, loads, base, look
        self.theme = look.theme
        self.fabric = snapshot.fabric

    def colours(self) -> tuple[Colours, Colours, Colours, Colours]:
        """Of GPUs, pairs, planes and the GPUs' NVLink."""
        by = {
            "utilisation": self.by_utilisation,
            "health": self.by_health,
            "job": self.by_job,
            "temperature": self.by_temperature,
            "delta": self.by_delta,
            "rail": self.by_rail,
        }[self.look.colour_by]
        gpus, pairs, planes, nvlink = by()
        dead = ~self.snapshot.health.up(self.fabric, "gpu")
        off = ~dead & (self.snapshot.thermal.clock == 0)
        ends = _ends_down(self.snapshot, None)
        failed, away = packed(self.theme.failed), packed(self.theme.off)
        # A whole dead rack is dark with one sign on it; a GPU that is dead by itself is loud.
        racks = ~self.snapshot.health.up(self.fabric, "rack")
        dark = off | np.repeat(racks, len(dead) // len(racks))
        for colours in (gpus, nvlink):
            colours[dead] = failed
            colours[dark] = away
        pairs[ends] = away
        if len(planes):
            planes[~self.snapshot.health.up(self.fabric, "spine")] = away
        return gpus, pairs, planes, nvlink

    def by_utilisation(self) -> tuple[Colours, Colours, Colours, Colours]:
        lut = hues.table(self.theme, self.look.ramp)
        idle = lut[hues.IDLE]
        gpu = self._nic(self.loads)
        gpus = lut[hues.steps(gpu)]
        gpus[(gpu == 0) & (self.loads.job_of_gpu < 0)] = idle
        pair = self._pairs(self.loads)
        pairs = lut[hues.steps(pair)]
        plane = self._planes(self.loads)
        return gpus, pairs, lut[hues.steps(plane)], lut[hues.steps(self.loads.nvlink)]

    def by_health(self) -> tuple[Colours, Colours, Colours, Colours]:
        tint = np.array([packed(c) for c in (self.theme.failed, self.theme.warm, self.theme.high)])

        def of(factor: Floats) -> Colours:
            state = np.where(factor == 0, 0, np.where(factor < 1 - 1e-9, 1, 2))
            return tint[state].astype(np.uint32)

        worth = [
            (room / tier.capacity).min(axis=0)
            for room, tier in zip(self.loads.capacity, self.fabric.tiers, strict=True)
        ]
        # A GPU's NIC has a sign of its own: the GPU lives without it.
        gpus = of(self.snapshot.thermal.clock)
        pairs = of(_by_pair(self.snapshot, worth[1], np.mean))
        planes = of(_by_spine(self.snapshot, worth[2], np.mean)) if len(worth) > 2 else _none()
        return gpus, pairs, planes, of(self._nvlink_worth())

    def by_job(self) -> tuple[Colours, Colours, Colours, Colours]:
        names = [packed(hues.job_colour(self.theme, n)) for n in range(len(self.loads.jobs))]
        lut = np.array([*names, packed(self.theme.idle)], dtype=np.uint32)
        gpus = lut[self.loads.job_of_gpu]
        pairs = self._loudest(1, lut, _by_pair)
        planes = self._loudest(2, lut, _by_spine) if len(self.fabric.tiers) > 2 else _none()
        return gpus, pairs, planes, gpus.copy()

    def by_temperature(self) -> tuple[Colours, Colours, Colours, Colours]:
        idle = packed(self.theme.idle)
        thermal = self.snapshot.thermal
        if thermal.absent:
            gpus = np.full(self.fabric.count("gpu"), idle, dtype=np.uint32)
        else:
            heat = (thermal.die_c - COOL_C) / (hottest_c() - COOL_C)
            gpus = heat_colours(self.theme)[hues.steps(heat)]
        return gpus, self._plain(1), self._plain(2), gpus.copy()

    def by_delta(self) -> tuple[Colours, Colours, Colours, Colours]:
        lut = hues.change_table(self.theme)

        def of(find: Callable[[Loads], Floats]) -> Colours:
            change = (find(self.loads) - find(self.base)) / (2 * FULL_DELTA)
            found: Colours = lut[hues.steps(0.5 + change)]
            return found

        return of(self._nic), of(self._pairs), of(self._planes), of(lambda which: which.nvlink)

    def by_rail(self) -> tuple[Colours, Colours, Colours, Colours]:
        assert self.fabric.shape is not None
        rails = self.fabric.shape.rails
        hue = [hues.rail_colour(self.theme, rail) for rail in range(rails)]
        lut = np.array([packed(colour) for colour in hue], dtype=np.uint32)
        soft = np.array(
            [packed(hues.mixed(self.theme.ground, colour, 0.55)) for colour in hue], dtype=np.uint32
        )
        gpus = lut[np.arange(self.fabric.count("gpu")) % rails]
        each = self.fabric.shape.spines_per_pod
        pairs = soft[np.arange(self.fabric.count("leaf")) % rails].repeat(each)
        return gpus, pairs, self._plain(2), gpus.copy()

    def _nic(self, loads: Loads) -> Floats:
        found: Floats = loads.utilisation(0).max(axis=0)
        return found

    def _pairs(self, loads: Loads) -> Floats:
        return _by_pair(self.snapshot, loads.utilisation(1).max(axis=0), np.max)

    def _planes(self, loads: Loads) -> Floats:
        if len(self.fabric.tiers) < 3:
            return np.zeros(0)
        return _by_spine(self.snapshot, loads.utilisation(2).max(axis=0), np.max)

    def _loudest(self, tier: int, lut: Colours, fold: Callable[..., Floats]) -> Colours:
        """The job that puts most on each pair or plane."""
        each = [fold(self.snapshot, job[tier].max(axis=0), np.max) for job in self.loads.jobs]
        if not each:
            return self._plain(tier)
        most = np.stack(each)
        which = np.where(most.max(axis=0) > 0, most.argmax(axis=0), -1)
        found: Colours = lut[which]
        return found

    def _plain(self, tier: int) -> Colours:
        counts = {1: self.fabric.count("leaf"), 2: self.fabric.count("spine")}
        shape = self.fabric.shape
        assert shape is not None
        size = counts[tier] * (shape.spines_per_pod if tier == 1 else 1)
        if tier == 2 and not shape.cores:
            size = 0
        return np.full(size, packed(self.theme.idle), dtype=np.uint32)

    def _nvlink_worth(self) -> Floats:
        """(G,) live part of each GPU's NVLink."""
        nvlink = self.fabric.nvlink
        found = np.ones(self.fabric.count("gpu"))
        if nvlink is None:
            return found
        for rack in self.snapshot.health.damaged_nvlink(self.fabric).tolist():
            live = self.snapshot.health.nvlink_capacity(self.fabric, rack).min(axis=0).sum(axis=1)
            own = slice(rack * nvlink.gpus, (rack + 1) * nvlink.gpus)
            found[own] = live / (nvlink.asics * nvlink.link_GBps)
        return found


def _none() -> Colours:
    return np.zeros(0, dtype=np.uint32)


def _by_pair(snapshot: Snapshot, cables: Floats, fold: Callable[..., Floats]) -> Floats:
    """Values of leaf-spine cables (n,) as those of pairs."""
    shape = snapshot.fabric.shape
    assert shape is not None
    return fold(cables.reshape(-1, shape.m), axis=1)


def _by_spine(snapshot: Snapshot, cables: Floats, fold: Callable[..., Floats]) -> Floats:
    """Values of spine-core cables (n,) as those of spines."""
    return fold(cables.reshape(snapshot.fabric.count("spine"), -1), axis=1)


def _ends_down(snapshot: Snapshot, down: dict[str, Bools] | None) -> Bools:
    """Pairs with a dead leaf or a dead spine."""
    fabric, shape = snapshot.fabric, snapshot.fabric.shape
    assert shape is not None
    own = down or {kind: ~snapshot.health.up(fabric, kind) for kind in ("leaf", "spine")}
    leaf, position = np.divmod(np.arange(shape.leaves * shape.spines_per_pod), shape.spines_per_pod)
    spine = leaf // shape.leaves_per_pod * shape.spines_per_pod + position
    found: Bools = own["leaf"][leaf] | own["spine"][spine]
    return found


def _planes_hurt(snapshot: Snapshot, loads: Loads) -> Bools:
    if len(snapshot.fabric.tiers) < 3:
        return np.zeros(snapshot.fabric.count("spine"), dtype=bool)
    worth = (loads.capacity[2] / snapshot.fabric.tiers[2].capacity).min(axis=0)
    return _by_spine(snapshot, worth, np.min) < 1 - 1e-9


def _rack_jobs(owner: Ints) -> Ints:
    """The job of the first GPU of each rack (R, G) that has one; racks are rarely shared."""
    first = (owner >= 0).argmax(axis=1)
    found: Ints = owner[np.arange(len(owner)), first]
    return found


def _dimmed(
    snapshot: Snapshot, loads: Loads, look: Look, gpus: Colours, pairs: Colours
) -> tuple[Colours, Colours]:
    """Colours with all that a job does not use near the ground's."""
    names = [job.name for job in snapshot.scenario.jobs]
    if look.job not in names:
        return gpus, pairs
    number = names.index(look.job)
    used = _by_pair(snapshot, loads.jobs[number][1].max(axis=0), np.max) > 0
    ground = np.array(hues.rgb(look.theme.ground))
    return (
        np.where(loads.job_of_gpu == number, gpus, _faded(gpus, ground)),
        np.where(used, pairs, _faded(pairs, ground)),
    )


def _faded(colours: Colours, ground: Ints, part: float = 0.82) -> Colours:
    channels = np.stack([colours >> shift & 255 for shift in (16, 8, 0)], axis=-1)
    mixed = np.rint(channels + (ground - channels.astype(np.float64)) * part).astype(np.uint32)
    found: Colours = 0xFF000000 | mixed[..., 0] << 16 | mixed[..., 1] << 8 | mixed[..., 2]
    return found.astype(np.uint32)
