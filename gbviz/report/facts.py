"""What there is to know of a component, as pairs of a label and a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gbviz.faults.containment import containers, contents
from gbviz.report.cause import cause_path, condition, joint_causes
from gbviz.report.places import cable_of, gpus_of, part_named, ways_of
from gbviz.report.words import counted, listed, number, percent, stated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.engine import Loads, Snapshot
    from gbviz.report.places import Way
    from gbviz.topology.selectors import Part

_MOST_NEIGHBOURS = 4
_KINDS = {
    "gpu": "GPU",
    "nic": "NIC",
    "cpu": "CPU",
    "tray": "compute tray",
    "nvtray": "NVSwitch tray",
    "nvswitch": "NVSwitch ASIC",
    "hxu": "air cooling unit",
    "cdu": "cooling unit",
    "loop": "cooling loop",
    "feed": "power feed",
    "shelf": "power shelf",
    "cage": "transceiver",
}


class Fact(NamedTuple):
    """A label and a value; `names` are components that the value speaks of, to go to."""

    label: str
    value: str
    names: tuple[str, ...] = ()


def kind_words(kind: str) -> str:
    """What people call a kind of component.

    Examples
    --------
    >>> kind_words("gpu"), kind_words("spine")
    ('GPU', 'spine')
    """
    return _KINDS.get(kind, kind)


def kind_in(name: str) -> str:
    """The kind of component that a name of a built cluster speaks of, without looking it up.

    Examples
    --------
    >>> [kind_in(name) for name in ("rack-1/tray-0/gpu-2", "leaf-0~spine-3#1", "leaf-0:73")]
    ['gpu', 'cable', 'port']
    """
    for sign, kind in (("~", "cable"), (">", "direction"), (":", "port")):
        if sign in name:
            return kind
    return name.rpartition("/")[2].partition("-")[0]


def facts(snapshot: Snapshot, loads: Loads, base_loads: Loads, name: str) -> list[Fact]:
    """What there is to know of a component, in the order of interest.

    Parameters
    ----------
    snapshot
        The cluster as it is.
    loads, base_loads
        Its loads, and those of the healthy cluster.
    name
        Any one component.

    Raises
    ------
    InputError
        There is no such component.

    Examples
    --------
    >>> import gbviz
    >>> from gbviz.engine import loads
    >>> found = gbviz.evaluate(gbviz.preset("gb300-su").with_faults("hxu-3"))
    >>> rows = facts(found, loads(found), loads(found, base=True), "rack-3/tray-0/gpu-1")
    >>> [(row.label, row.value) for row in rows[:3]]
    [('kind', 'GPU'), ('state', 'down'), ('because of', 'rack-3/tray-0 < rack-3 < loop-3 < hxu-3')]
    """
    part = part_named(snapshot.fabric, name)
    found = [Fact("kind", kind_words(part.kind)), Fact("state", _state(snapshot, name))]
    path = cause_path(snapshot, name)[1:]
    if path:
        causes = joint_causes(snapshot, part, path[-1])
        words = " < ".join([*path[:-1], listed(causes)])
        found.append(Fact("because of", words, (*path[:-1], *causes)))
    for way in ways_of(snapshot.fabric, name):
        found += _of_way(snapshot, loads, base_loads, way)
    found += _jobs(snapshot, loads, part)
    found += _of_gpus(snapshot, loads, base_loads, part)
    found += _of_loop(snapshot, part)
    return [*found, *_near(snapshot, name)]


def _near(snapshot: Snapshot, name: str) -> Iterator[Fact]:
    """What it is in, holds and is cabled to, a line for each kind."""
    groups: dict[str, list[str]] = {}
    for other in neighbours(snapshot, name):
        groups.setdefault(kind_in(other), []).append(other)
    for kind, names in groups.items():
        shown, more = names[:_MOST_NEIGHBOURS], len(names) - _MOST_NEIGHBOURS
        word = kind_words(kind) if len(names) == 1 else counted(len(names), kind_words(kind))
        tail = f" and {more:,} more" if more > 0 else ""
        yield Fact(word, ", ".join(shown) + tail, tuple(shown))


def _state(snapshot: Snapshot, name: str) -> str:
    state = condition(snapshot, name)
    if state.state in ("degraded", "slow"):
        return f"{state.state}, at {stated(state.factor)}"
    if state.state == "in part":
        return f"{state.lost:,} of {state.total:,} down"
    return state.state


def _of_way(snapshot: Snapshot, loads: Loads, base: Loads, way: Way) -> Iterator[Fact]:
    """Capacity, load and utilisation one way, now and on the healthy cluster."""
    load, room = way.load(loads), way.capacity(loads)
    was, whole = way.load(base), way.capacity(base)
    before = percent(was / whole) if whole else "0 %"
    if not room:
        yield Fact(way.label, f"dead; carries {number(was)} GB/s ({before}) on the healthy cluster")
        return
    share = f" = {percent(load / room)}"
    yield Fact(way.label, f"{number(load)} of {number(room)} GB/s{share}; base {before}")
    if len(way.cables) > 1:
        used, cable = way.worst(loads)
        alive = f"{way.alive(loads):,} of {counted(len(way.cables), 'link')} alive"
        name = cable_of(snapshot.fabric, way, cable)
        if used > 0:
            yield Fact("", f"{alive}; worst {percent(used)}, {name}", (name,))
        else:
            yield Fact("", alive)


def _jobs(snapshot: Snapshot, loads: Loads, part: Part) -> Iterator[Fact]:
    """Jobs that hold its GPUs or load its links, with their shares."""
    jobs = snapshot.scenario.jobs
    owner = loads.job_of_gpu[gpus_of(snapshot.fabric, part)]
    counts = np.bincount(owner[owner >= 0], minlength=len(jobs))
    held = [(jobs[job].name, int(counts[job])) for job in np.flatnonzero(counts).tolist()]
    if held and part.kind not in ("nic",):
        one = len(owner) == 1
        said = [name if one else f"{name} on {counted(count, 'GPU')}" for name, count in held]
        yield Fact("job", ", ".join(said))
    for way in ways_of(snapshot.fabric, part.component):
        shares = way.shares(loads)
        total = sum(load for _, load in shares)
        said = [
            f"{jobs[j].name} {number(load)} GB/s ({percent(load / total)})" for j, load in shares
        ]
        if said:
            yield Fact(f"used {way.label}", ", ".join(said))


def _of_gpus(snapshot: Snapshot, loads: Loads, base: Loads, part: Part) -> Iterator[Fact]:
    """Clock, temperature, power and NVLink of the GPUs in it."""
    thermal, gpus = snapshot.thermal, gpus_of(snapshot.fabric, part)
    count = gpus.stop - gpus.start
    if count <= 0 or part.kind == "nic":
        return
    clock, live = thermal.clock[gpus], thermal.clock[gpus] > 0
    if count > 1:
        yield Fact("GPUs", f"{int(live.sum()):,} of {count:,} run")
    if live.any():
        low, high = float(clock[live].min()), float(clock[live].max())
        yield Fact("clock", percent(low) if low == high else f"{percent(low)} to {percent(high)}")
    if not thermal.absent:
        hottest = float(thermal.die_c[gpus].max())
        yield Fact("die" if count == 1 else "hottest die", f"{number(hottest)} °C")
        watts = float(thermal.gpu_power_w[gpus].sum())
        shown = f"{number(watts)} W" if count == 1 else f"{number(watts / 1000)} kW"
        yield Fact("GPU power", shown)
        yield from _rack_power(snapshot, part, gpus)
    busy, was = float(loads.nvlink[gpus].max()), float(base.nvlink[gpus].max())
    yield Fact("NVLink", f"{percent(busy)} busy; base {percent(was)}")


def _rack_power(snapshot: Snapshot, part: Part, gpus: slice) -> Iterator[Fact]:
    """What whole racks draw, of a rack or of what serves racks."""
    if part.kind not in ("rack", "loop", "hxu", "cdu", "feed", "shelf"):
        return
    each = snapshot.fabric.count("gpu") // snapshot.fabric.count("rack")
    racks = slice(gpus.start // each, gpus.stop // each)
    count, kilowatts = racks.stop - racks.start, snapshot.thermal.rack_power_kw[racks].sum()
    label = "rack power" if count == 1 else f"power of {count:,} racks"
    yield Fact(label, f"{number(float(kilowatts))} kW, GPUs included")


def _of_loop(snapshot: Snapshot, part: Part) -> Iterator[Fact]:
    """The loop that cools it."""
    fabric, gpus = snapshot.fabric, gpus_of(snapshot.fabric, part)
    if snapshot.thermal.absent or gpus.stop <= gpus.start or fabric.spec is None:
        return
    if part.kind in ("nic", "nvtray", "nvswitch"):
        return
    water, rack = snapshot.thermal, gpus.start * fabric.count("rack") // fabric.count("gpu")
    loop = rack // fabric.spec.cooling.racks_in_loop
    name = fabric.name(fabric.nodes("loop").start + loop)
    room, supply = float(water.capacity_kw[loop]), float(water.supply_c[loop])
    warm = f"{number(supply)} °C supply" if room else "no water"
    heat = f"{number(float(water.heat_kw[loop]))} of {number(room)} kW"
    yield Fact("cooling", f"{name}: {warm}, {heat}", (name,))


def neighbours(snapshot: Snapshot, name: str) -> list[str]:
    """What a component is in, holds, and is cabled to, nearest first.

    Examples
    --------
    >>> import gbviz
    >>> found = gbviz.evaluate(gbviz.preset("gb300-su"))
    >>> neighbours(found, "rack-3/tray-1/nic-0")
    ['rack-3/tray-1', 'rack-3', 'rack-3/tray-1/gpu-0', 'leaf-0']
    """
    fabric, part = snapshot.fabric, part_named(snapshot.fabric, name)
    if part.links:
        ends = np.concatenate(fabric.ends(np.array(part.links)))
        return [fabric.name(node) for node in dict.fromkeys(ends.tolist())]
    node = part.nodes[0]
    near = containers(fabric, node)
    for kind, other in (("nic", "gpu"), ("gpu", "nic")):
        if part.kind == kind and fabric.count(kind) == fabric.count(other):
            near.append(fabric.nodes(other).start + node - fabric.nodes(kind).start)
    if part.kind in ("rack", "tray", "gpu"):
        ways = ways_of(fabric, name)
        near += np.unique(fabric.tiers[0].upper[ways[0].cables]).tolist() if ways else []
    for inside in contents(fabric, node)[1:]:
        near += range(inside.start, inside.stop)
    for tier in fabric.tiers:
        near += tier.upper[tier.lower == node].tolist() + tier.lower[tier.upper == node].tolist()
    return fabric.names_of(np.array(list(dict.fromkeys(near)), dtype=np.int64))
