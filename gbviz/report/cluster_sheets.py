"""The cables, switches, GPUs, racks and jobs of an answer as sheets."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.report.job_lines import ONCE, SLOWDOWN, job_lines
from gbviz.report.places import BUSY, FULL, part_named
from gbviz.report.sheets import PERCENT, Column, Sheet

if TYPE_CHECKING:
    from gbviz.engine import Loads, Snapshot
    from gbviz.topology.fabric import Fabric, Floats, Ints

_ALARM = (100 * BUSY, 100 * FULL)
_CABLE_STATES = ("up", "degraded", "down")
_NODE_STATES = ("up", "slow", "degraded", "down")
_SWITCHES = ("leaf", "spine", "core", "nvswitch")


def cable_sheet(snapshot: Snapshot, loads: Loads, base: Loads) -> Sheet:
    """Every cable of the fabric: capacity, load and utilisation each way, now and base.

    Examples
    --------
    >>> import gbviz
    >>> from gbviz.engine import loads
    >>> scenario = gbviz.preset("gb300-su").with_jobs(gbviz.traffic_job("shift:72"))
    >>> found = gbviz.evaluate(scenario)
    >>> sheet = cable_sheet(found, loads(found), loads(found, base=True))
    >>> sheet.n, sheet.name(0), sheet.columns[5].title, sheet.columns[5].text(0)
    (1152, 'rack-0/tray-0/nic-0~leaf-0#0', 'worst, %', '100.0')
    """
    fabric = snapshot.fabric
    count = range(len(fabric.tiers))
    room = _joined([loads.capacity[tier] for tier in count])
    load = _joined([loads.tiers[tier] for tier in count])
    used = _joined([100 * loads.utilisation(tier) for tier in count])
    was = _joined([100 * base.utilisation(tier) for tier in count]).max(axis=0)
    whole = np.concatenate([tier.capacity for tier in fabric.tiers])
    least = room.min(axis=0)
    state = np.where(least == 0, 2, np.where(least < whole, 1, 0))
    kind = np.repeat(np.arange(len(fabric.tiers)), [tier.n for tier in fabric.tiers])
    job = np.concatenate([_top_job(loads, tier) for tier in count])
    worst = used.max(axis=0)
    columns = (
        Column("tier", kind, words=tuple(tier.name for tier in fabric.tiers)),
        Column("state", state, words=_CABLE_STATES),
        Column("GB/s", least, tip="effective capacity, the slower way"),
        Column("up, GB/s", load[0], "{:,.2f}", tip="mean load towards the spines"),
        Column("down, GB/s", load[1], "{:,.2f}", tip="mean load towards the racks"),
        Column("worst, %", worst, PERCENT, alarm=_ALARM, tip="utilisation, the fuller way"),
        Column("base, %", was, PERCENT, tip="the same on the healthy cluster"),
        Column("change", worst - was, "{:+,.1f}", tip="in per cent of the capacity"),
        Column("most by", job, words=_job_words(snapshot), tip="the job with the largest share"),
    )
    return Sheet(
        "cables",
        len(kind),
        columns,
        lambda row: _cable_name(fabric, row),
        lambda: _cable_names(fabric),
        lambda: _cable_index(fabric),
        lambda name: _cable_rows(fabric, name),
    )


def switch_sheet(snapshot: Snapshot, loads: Loads, base: Loads) -> Sheet:
    """Leaves, spines, cores and NVSwitches: state, live links, load and the fullest link."""
    fabric = snapshot.fabric
    n = fabric.n_nodes
    alive, links, load = np.zeros(n), np.zeros(n), np.zeros(n)
    worst, was = np.zeros(n), np.zeros(n)
    for number, tier in enumerate(fabric.tiers):
        up = loads.capacity[number].min(axis=0) > 0
        used = 100 * loads.utilisation(number).max(axis=0)
        before = 100 * base.utilisation(number).max(axis=0)
        carried = loads.tiers[number].sum(axis=0)
        for ends in (tier.lower, tier.upper):
            alive += np.bincount(ends, up, n)
            links += np.bincount(ends, minlength=n)
            load += np.bincount(ends, carried, n)
            np.maximum.at(worst, ends, used)
            np.maximum.at(was, ends, before)
    _nvlink_rows(snapshot, loads, base, (alive, links, worst, was))
    nodes = np.concatenate([_nodes(fabric, kind) for kind in _SWITCHES])
    kinds = np.repeat(np.arange(4), [fabric.count(kind) for kind in _SWITCHES])
    load[fabric.nodes("nvswitch")] = np.nan
    columns = (
        Column("kind", kinds, words=("leaf", "spine", "core", "NVSwitch")),
        Column("state", _down(snapshot.health.node_factor[nodes]), words=_NODE_STATES),
        Column("live links", alive[nodes]),
        Column("links", links[nodes]),
        Column("load, GB/s", load[nodes], "{:,.1f}", tip="of all its links, both ways together"),
        Column("worst, %", worst[nodes], PERCENT, alarm=_ALARM, tip="its fullest link"),
        Column("base, %", was[nodes], PERCENT, tip="the same on the healthy cluster"),
        Column("change", worst[nodes] - was[nodes], "{:+,.1f}"),
    )
    return _node_sheet(fabric, "switches", _SWITCHES, nodes, columns)


def gpu_sheet(snapshot: Snapshot, loads: Loads, base: Loads) -> Sheet:
    """Every GPU: state, job, clock, heat, NVLink, and the load of its NIC."""
    fabric, thermal = snapshot.fabric, snapshot.thermal
    nodes = _nodes(fabric, "gpu")
    nothing = np.full(len(nodes), np.nan)
    load = _of_nics(fabric, loads.tiers[0])
    used = 100 * _of_nics(fabric, loads.utilisation(0)).max(axis=0)
    was = 100 * _of_nics(fabric, base.utilisation(0)).max(axis=0)
    factor = snapshot.health.node_factor[nodes]
    slow = (factor == 1) & (thermal.clock < 1)
    columns = (
        Column("state", np.where(slow, 1, _down(factor)), words=_NODE_STATES),
        Column("job", loads.job_of_gpu + 1, words=_job_words(snapshot)),
        Column("clock, %", 100 * thermal.clock, PERCENT),
        Column("die, °C", nothing if thermal.absent else thermal.die_c, "{:,.1f}"),
        Column("power, W", nothing if thermal.absent else thermal.gpu_power_w, "{:,.0f}"),
        Column("NVLink, %", 100 * loads.nvlink, PERCENT, alarm=_ALARM, tip="how busy"),
        Column("NIC out, GB/s", load[0], "{:,.2f}"),
        Column("NIC in, GB/s", load[1], "{:,.2f}"),
        Column("NIC, %", used, PERCENT, alarm=_ALARM, tip="the fuller way"),
        Column("base, %", was, PERCENT, tip="the same on the healthy cluster"),
    )
    return _node_sheet(fabric, "GPUs", ("gpu",), nodes, columns)


def rack_sheet(snapshot: Snapshot, loads: Loads, base: Loads) -> Sheet:
    """Every rack: live GPUs, clock, heat, power, water, and its fullest NIC."""
    fabric, thermal = snapshot.fabric, snapshot.thermal
    nodes, racks = _nodes(fabric, "rack"), fabric.count("rack")
    clock = thermal.clock.reshape(racks, -1)
    live = (clock > 0).sum(axis=1)
    each = fabric.count("gpu") // racks
    used = 100 * _of_nics(fabric, loads.utilisation(0)).max(axis=0).reshape(racks, -1)
    was = 100 * _of_nics(fabric, base.utilisation(0)).max(axis=0).reshape(racks, -1)
    job = np.sort(loads.job_of_gpu.reshape(racks, -1), axis=1)
    heat = [np.full(racks, np.nan)] * 4
    if not thermal.absent and fabric.spec is not None:
        loop = np.arange(racks) // fabric.spec.cooling.racks_in_loop
        die = thermal.die_c.reshape(racks, -1).max(axis=1)
        gpus = thermal.gpu_power_w.reshape(racks, -1).sum(axis=1) / 1000
        heat = [die, thermal.rack_power_kw, thermal.supply_c[loop], gpus]
    factor = snapshot.health.node_factor[nodes]
    slow = (factor == 1) & (clock.min(axis=1) < 1)
    columns = (
        Column("state", np.where(slow, 1, _down(factor)), words=_NODE_STATES),
        Column("job", job[:, -1] + 1, words=_job_words(snapshot), tip="the last of its jobs"),
        Column("live GPUs", live),
        Column("GPUs", np.full(racks, each)),
        Column("clock, %", 100 * clock.mean(axis=1), PERCENT, tip="mean of its GPUs"),
        Column("die, °C", heat[0], "{:,.1f}", tip="the hottest"),
        Column("rack power, kW", heat[1], "{:,.1f}", tip="all of the rack"),
        Column("GPU power, kW", heat[3], "{:,.1f}", tip="its GPUs alone"),
        Column("supply, °C", heat[2], "{:,.1f}", tip="water to the rack"),
        Column("NIC, %", used.max(axis=1), PERCENT, alarm=_ALARM, tip="the fullest"),
        Column("base, %", was.max(axis=1), PERCENT, tip="the same on the healthy cluster"),
    )
    return _node_sheet(fabric, "racks", ("rack",), nodes, columns)


def job_sheet(snapshot: Snapshot) -> Sheet:
    """Every job: what it does, how much slower, what limits it."""
    lines = job_lines(snapshot)
    names = [line.name for line in lines]
    slow = [np.nan if line.slowdown is None else line.slowdown for line in lines]
    once = [line.once_s for line in lines]
    columns = (
        _texts("kind", [line.kind for line in lines]),
        _texts("state", [line.state for line in lines]),
        Column("GPUs", np.array([line.gpus for line in lines], dtype=np.int64)),
        _texts("healthy", [line.before for line in lines]),
        _texts("now", [line.now for line in lines]),
        Column("slower", np.array(slow, dtype=np.float64), "{:,.3f}", tip=SLOWDOWN),
        Column("once, s", np.array(once, dtype=np.float64), "{:,.0f}", tip=ONCE),
        _texts("limit", [line.limit for line in lines]),
    )
    index = {name: row for row, name in enumerate(names)}
    ways = names.__getitem__, lambda: names, lambda: index, lambda _name: list[int]()
    return Sheet("jobs", len(lines), columns, *ways)


def _texts(title: str, texts: list[str]) -> Column:
    """A column of words, sorted as words are."""
    words = tuple(sorted(set(texts)))
    codes = [words.index(text) for text in texts]
    return Column(title, np.array(codes, dtype=np.int64), words=words)


def _job_words(snapshot: Snapshot) -> tuple[str, ...]:
    return ("-", *(job.name for job in snapshot.scenario.jobs))


def _top_job(loads: Loads, tier: int) -> Ints:
    """(n,) 1 + the job that loads a cable most, 0 where none does."""
    n = loads.tiers[tier].shape[1]
    top, most = np.zeros(n, dtype=np.int64), np.zeros(n)
    for number, job in enumerate(loads.jobs, start=1):
        load = job[tier].max(axis=0)
        better = load > most
        top[better], most[better] = number, load[better]
    return top


def _joined(parts: list[Floats]) -> Floats:
    return np.concatenate(parts, axis=1)


def _nodes(fabric: Fabric, kind: str) -> Ints:
    nodes = fabric.nodes(kind)
    return np.arange(nodes.start, nodes.stop)


def _down(factor: Floats) -> Ints:
    """Codes of `_NODE_STATES` from factors."""
    return np.where(factor == 0, 3, np.where(factor < 1, 2, 0))


def _of_nics(fabric: Fabric, values: Floats) -> Floats:
    """(2, G) the most of each NIC's cables, from (2, n) of the tier's; NIC i is GPU i's."""
    found = np.zeros((2, fabric.count("gpu")))
    nic = fabric.tiers[0].lower - fabric.nodes("nic").start
    for way in (0, 1):
        np.maximum.at(found[way], nic, values[way])
    return found


def _nvlink_rows(
    snapshot: Snapshot, loads: Loads, base: Loads, found: tuple[Floats, Floats, Floats, Floats]
) -> None:
    """Fill in live links, links, and how busy the NVLink of the busiest GPU is, of each ASIC."""
    fabric, nvlink = snapshot.fabric, snapshot.fabric.nvlink
    if nvlink is None:
        return
    alive, links, worst, was = (values[fabric.nodes("nvswitch")] for values in found)
    alive[:], links[:] = nvlink.gpus, nvlink.gpus
    for rack in snapshot.health.damaged_nvlink(fabric).tolist():
        room = snapshot.health.nvlink_capacity(fabric, rack).min(axis=0)
        alive[rack * nvlink.asics : (rack + 1) * nvlink.asics] = (room > 0).sum(axis=0)
    for values, busy in ((worst, loads.nvlink), (was, base.nvlink)):
        values[:] = np.repeat(100 * busy.reshape(nvlink.racks, -1).max(axis=1), nvlink.asics)
    worst[alive == 0] = 0


def _node_sheet(
    fabric: Fabric, title: str, kinds: tuple[str, ...], nodes: Ints, columns: tuple[Column, ...]
) -> Sheet:
    return Sheet(
        title,
        len(nodes),
        columns,
        lambda row: fabric.name(int(nodes[row])),
        lambda: _node_names(fabric, kinds),
        lambda: _node_index(fabric, kinds),
        lambda name: _node_rows(fabric, nodes, name),
    )


def _node_rows(fabric: Fabric, nodes: Ints, name: str) -> list[int]:
    try:
        node = fabric.index_of(name)
    except InputError:
        return []
    found: list[int] = np.flatnonzero(nodes == node).tolist()
    return found


@lru_cache(maxsize=8)
def _node_names(fabric: Fabric, kinds: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(fabric.names_of(np.concatenate([_nodes(fabric, kind) for kind in kinds])))


@lru_cache(maxsize=8)
def _node_index(fabric: Fabric, kinds: tuple[str, ...]) -> dict[str, int]:
    return {name: row for row, name in enumerate(_node_names(fabric, kinds))}


def _cable_name(fabric: Fabric, row: int) -> str:
    for tier in fabric.tiers:
        if row < tier.n:
            number = row - int(tier.bundle[row])
            low, high = fabric.name(int(tier.lower[row])), fabric.name(int(tier.upper[row]))
            return f"{low}~{high}#{number}"
        row -= tier.n
    raise IndexError(row)


@lru_cache(maxsize=2)
def _cable_names(fabric: Fabric) -> tuple[str, ...]:
    names: list[str] = []
    for tier in fabric.tiers:
        ends = fabric.names_of(tier.lower), fabric.names_of(tier.upper)
        number = (np.arange(tier.n) - tier.bundle).tolist()
        names += [f"{low}~{high}#{own}" for low, high, own in zip(*ends, number, strict=True)]
    return tuple(names)


@lru_cache(maxsize=2)
def _cable_index(fabric: Fabric) -> dict[str, int]:
    return {name: row for row, name in enumerate(_cable_names(fabric))}


def _cable_rows(fabric: Fabric, name: str) -> list[int]:
    """Rows of a cable or a pair's bundle, by arithmetic; of a port or direction by what it is."""
    if not set(name) & set("~>:") and "/cage-" not in name:
        return []
    found: list[int] = []
    before = 0
    try:
        low, sign, rest = name.partition("~")
        if sign:
            high, _, number = rest.partition("#")
            ends = fabric.index_of(low), fabric.index_of(high)
            for tier in fabric.tiers:
                hits = np.flatnonzero((tier.lower == ends[0]) & (tier.upper == ends[1]))
                found += (hits + before).tolist()
                before += tier.n
            return [found[int(number)]] if number else found
        links = part_named(fabric, name).links
    except (InputError, IndexError, ValueError):
        return []
    for tier in fabric.tiers:
        own = [link - tier.first for link in links if tier.first <= link < tier.end]
        found += [before + link % tier.n for link in own]
        before += tier.n
    return sorted(set(found))
