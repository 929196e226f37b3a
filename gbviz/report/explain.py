"""Why a component is as it is: two sentences with numbers, and the arithmetic behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.faults.apply import takes_down
from gbviz.report.cause import Condition, cause_path, condition, joint_causes
from gbviz.report.facts import facts
from gbviz.report.fault_tree import toll_words
from gbviz.report.places import BUSY, FULL, cable_of, gpus_of, part_named, ways_of
from gbviz.report.slowed import slow_words
from gbviz.report.words import counted, listed, number, percent, stated
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from gbviz.engine import Loads, Snapshot
    from gbviz.report.places import Way
    from gbviz.topology.selectors import Part

__all__ = ["Explanation", "cause_path", "condition", "explain", "facts"]

_MOST_JOBS = 3
_MOST_FAULTS = 20


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a component is as it is.

    Parameters
    ----------
    name, scenario
        The component, and the scenario that it is in.
    headline
        Its state in a few words.
    sentences
        Two, as a rule: what it is, and why or what follows.
    arithmetic
        How the numbers come about, a line each.
    faults
        Everything that is broken, for a reader who does not have the scenario.
    """

    name: str
    scenario: str
    headline: str
    sentences: tuple[str, ...]
    arithmetic: tuple[str, ...]
    faults: tuple[str, ...]

    def text(self) -> str:
        """All of it as plain text, for a reader who does not have the scenario."""
        faults = f"Faults: {', '.join(self.faults) or 'none'}"
        return "\n".join([self.body(), f"Scenario: {self.scenario}", faults])

    def body(self) -> str:
        """What there is to say of the component itself."""
        lines = [f"{self.name}: {self.headline}", " ".join(self.sentences)]
        return "\n".join([*lines, *(f"  {line}" for line in self.arithmetic)])


def explain(snapshot: Snapshot, loads: Loads, base_loads: Loads, name: str) -> Explanation:
    """Why a component is red, or is not.

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
    >>> scenario = gbviz.preset("gb300-su").with_faults("leaf-0")
    >>> found = gbviz.evaluate(scenario)
    >>> said = explain(found, loads(found), loads(found, base=True), "leaf-0~spine-3#0")
    >>> said.headline, said.sentences[0]
    ('down with leaf-0', 'leaf-0~spine-3#0 carries nothing because leaf-0 has failed.')
    """
    part, state = part_named(snapshot.fabric, name), condition(snapshot, name)
    teller = _Teller(snapshot, loads, base_loads, name, part, state)
    headline, sentences, arithmetic = teller.tell()
    return Explanation(
        name,
        snapshot.scenario.name,
        headline,
        tuple(sentences),
        tuple(arithmetic),
        _faults(snapshot),
    )


def _faults(snapshot: Snapshot) -> tuple[str, ...]:
    causes = [fault for fault in snapshot.faults if fault.because is None]
    said = [
        fault.component + (f" at {stated(fault.factor)}" if fault.factor else " failed")
        for fault in causes[:_MOST_FAULTS]
    ]
    more = len(causes) - _MOST_FAULTS
    return tuple([*said, f"and {more:,} more"] if more > 0 else said)


@dataclass(frozen=True, slots=True, eq=False)
class _Teller:
    """Finds the words for one component."""

    snapshot: Snapshot
    loads: Loads
    base: Loads
    name: str
    part: Part
    state: Condition

    def tell(self) -> tuple[str, list[str], list[str]]:
        """Headline, sentences and arithmetic."""
        tellers = {
            "failed": self._failed,
            "down": self._down,
            "degraded": self._degraded,
            "slow": self._slow,
            "in part": self._in_part,
        }
        if self.state.state in tellers:
            return tellers[self.state.state]()
        return self._loaded()

    def _failed(self) -> tuple[str, list[str], list[str]]:
        fault = next(f for f in self.snapshot.faults if self._is_own(f.component, f.links))
        toll = toll_words(takes_down(self.snapshot.fabric, fault))
        slows = slow_words(self.snapshot, self.name)
        lost = f"It takes {toll or 'nothing'} down with it"
        if slows and not toll:
            off = slows.replace(" shut down", "", 1)
            lost = (
                f"For want of it: {slows}" if "slowed" in slows else f"It takes {off} down with it"
            )
        return (
            "failed",
            [f"{self.name} has failed: a fault of its own.", f"{lost}{self._used_to()}."],
            [*self._lost_capacity(), *self._nvlink_left(), *self._heat()],
        )

    def _is_own(self, component: str, links: tuple[int, ...]) -> bool:
        return component == self.name or bool(set(links) & set(self.part.links))

    def _down(self) -> tuple[str, list[str], list[str]]:
        cause = self.state.cause
        verb = "carries nothing" if self.part.links else "is down"
        if not cause:
            why = f"policy {self.snapshot.scenario.nvlink_policy} parks it: it lost NVLink"
            if self.part.kind == "rack":
                why = "cooling or power is too small by design"
            return "down", [f"{self.name} {verb} because {why}.", self._then()], []
        path = cause_path(self.snapshot, self.name)
        via = f" (by way of {', '.join(path[1:-1])})" if len(path) > 2 else ""
        first = f"{self.name} {verb} because {self._blame()}{via}."
        return f"down with {cause}", [first, self._then()], self._lost_capacity() + self._heat()

    def _then(self) -> str:
        used = self._used_to().removeprefix("; ")
        return f"{used[0].upper()}{used[1:]}." if used else f"Repair {self.state.cause or 'that'}."

    def _degraded(self) -> tuple[str, list[str], list[str]]:
        share = stated(self.state.factor)
        own = f": {self.state.cause} is degraded" if self.state.cause else ": a fault of its own"
        what = {"gpu": "clock", "hxu": "capacity", "cdu": "capacity"}.get(self.part.kind, "rate")
        headline = f"at {share} of its {what}"
        first = f"{self.name} is degraded to {share} of its {what}{own}."
        _, sentences, arithmetic = self._loaded()
        if what != "rate":
            return headline, [first, *self._gpu_words()], self._heat()
        return headline, [first, sentences[0]], arithmetic

    def _slow(self) -> tuple[str, list[str], list[str]]:
        share, cause = percent(self.state.factor), self.state.cause
        why = self._blame() if cause else "cooling or power is too small by design"
        first = f"{self.name} runs at {share} of its clock because {why}."
        return f"slow: {share} of its clock", [first, *self._gpu_words()], self._heat()

    def _blame(self) -> str:
        """Its cause, with all other units of the same loop or rack that are faulty as well."""
        causes = joint_causes(self.snapshot, self.part, self.state.cause)
        left = {f.component: f.factor for f in self.snapshot.faults if f.component in causes}
        failed = [cause for cause in causes if not left.get(cause)]
        have = "has" if len(failed) == 1 else "have"
        said = [f"{listed(failed)} {have} failed"] if failed else []
        said += [f"{cause} is at {stated(left[cause])}" for cause in causes if left.get(cause)]
        return listed(said)

    def _in_part(self) -> tuple[str, list[str], list[str]]:
        lost, total, cause = self.state.lost, self.state.total, self.state.cause
        what = "links" if self.part.links else "GPUs"
        why = f", the first of them because of {cause}" if cause else ""
        first = f"{lost:,} of {total:,} {what} of {self.name} are down{why}."
        _, sentences, arithmetic = self._loaded()
        if not ways_of(self.snapshot.fabric, self.name):
            sentences = self._gpu_words() if lost < total else ["None is left."]
        left = f"{total:,} - {lost:,} = {total - lost:,} {what} left"
        return f"{lost:,} of {total:,} {what} down", [first, *sentences[:1]], [left, *arithmetic]

    def _loaded(self) -> tuple[str, list[str], list[str]]:
        """How full its fullest link is, by whom, and what that was before."""
        ways = ways_of(self.snapshot.fabric, self.name)
        if not ways:
            return self._unloaded()
        used, way, cable = self._fullest(ways)
        if all(way.capacity(self.loads) == 0 for way in ways):
            return self._cut_off(ways)
        if used == 0:
            return "healthy, idle", [f"{self.name} is healthy.", "No job sends through it."], []
        headline = f"full: {percent(used)}" if used >= FULL else f"carries {percent(used)}"
        if BUSY <= used < FULL:
            headline = f"busy: {percent(used)}"
        load = float(self.loads.tiers[way.tier][way.way, cable])
        room = float(self.loads.capacity[way.tier][way.way, cable])
        where = self._where(way, cable)
        first = (
            f"{where} carries {number(load)} of {number(room)} GB/s ({percent(used)})"
            f"{self._by_whom(way, cable)}."
        )
        return headline, [first, self._before(way, cable, load)], self._sums(way, cable)

    def _cut_off(self, ways: tuple[Way, ...]) -> tuple[str, list[str], list[str]]:
        """It runs, and no cable of it does."""
        cable = cable_of(self.snapshot.fabric, ways[0], int(ways[0].cables[0]))
        cause = condition(self.snapshot, cable).cause or cable
        first = f"{self.name} runs, but no cable of it does because {cause} has failed."
        return f"cut off by {cause}", [first, self._then()], self._lost_capacity()

    def _fullest(self, ways: tuple[Way, ...]) -> tuple[float, Way, int]:
        found = [(way.worst(self.loads), way) for way in ways]
        (used, cable), way = max(found, key=lambda one: one[0][0])
        return used, way, cable

    def _where(self, way: Way, cable: int) -> str:
        if len(way.cables) == 1 and self.part.links:
            return f"{self.name}, {way.label},"
        return f"{cable_of(self.snapshot.fabric, way, cable)} ({way.label})"

    def _by_whom(self, way: Way, cable: int) -> str:
        jobs = self.snapshot.scenario.jobs
        shares = way.shares(self.loads, cable)
        said = [f"{jobs[job].name} {number(load)} GB/s" for job, load in shares[:_MOST_JOBS]]
        if len(shares) > _MOST_JOBS:
            said.append(f"{len(shares) - _MOST_JOBS} more jobs")
        return f": {listed(said)}" if said else ""

    def _before(self, way: Way, cable: int, load: float) -> str:
        was = float(self.base.tiers[way.tier][way.way, cable])
        room = float(self.base.capacity[way.tier][way.way, cable])
        share = percent(was / room) if room else "0 %"
        if abs(load - was) < 1e-6 * max(load, was):
            return f"That is as on the healthy cluster ({share})."
        ways = "more" if load > was else "less"
        much = f" ({percent(abs(load / was - 1))} {ways})" if was else ""
        return f"On the healthy cluster it carries {number(was)} GB/s, {share}{much}."

    def _sums(self, way: Way, cable: int) -> list[str]:
        """Load over capacity of the fullest link; its jobs; how many of its like are alive."""
        tier, at = self.snapshot.fabric.tiers[way.tier], (way.way, cable)
        load, room = float(self.loads.tiers[way.tier][at]), float(self.loads.capacity[way.tier][at])
        lines = [f"{number(load)} GB/s mean load / {number(room)} GB/s = {percent(load / room)}"]
        shares = way.shares(self.loads, cable)
        if len(shares) > 1:
            total = " + ".join(number(one) for _, one in shares)
            lines.append(f"{total} GB/s = {number(load)} GB/s of {counted(len(shares), 'job')}")
        if way.tier:
            near = tier.lower == tier.lower[cable]
            alive = int((self.loads.capacity[way.tier][way.way, near] > 0).sum())
            owner = self.snapshot.fabric.name(int(tier.lower[cable]))
            words = f"{alive} of {int(near.sum())} uplinks of {owner} alive"
            spread = f": each carries {int(near.sum())}/{alive} of an even share"
            lines.append(words + (spread if alive < near.sum() else ""))
        if len(way.cables) > 1:
            every, whole = way.load(self.loads), way.capacity(self.loads)
            words = f"{way.label}: {number(every)} GB/s / {number(whole)} GB/s"
            lines.append(words + (f" = {percent(every / whole)} of all" if whole else ""))
        return lines

    def _used_to(self) -> str:
        """What it carries on the healthy cluster."""
        ways = ways_of(self.snapshot.fabric, self.name)
        total = [(way.load(self.base), way.capacity(self.base), way) for way in ways]
        load, room, way = max(total, key=lambda one: one[0], default=(0.0, 0.0, None))
        if way is None or load == 0:
            return ""
        return (
            f"; on the healthy cluster it carries {number(load)} GB/s {way.label}"
            f" ({percent(load / room)} of {number(room)} GB/s)"
        )

    def _lost_capacity(self) -> list[str]:
        lines = []
        for way in ways_of(self.snapshot.fabric, self.name):
            was, now = way.capacity(self.base), way.capacity(self.loads)
            lines.append(f"{way.label}: {number(now)} GB/s of capacity left of {number(was)} GB/s")
        return lines

    def _unloaded(self) -> tuple[str, list[str], list[str]]:
        """Power, cooling and NVSwitches have no cables of the fabric."""
        words = self._gpu_words()
        first = f"{self.name} is healthy."
        busy = self.loads.nvlink[gpus_of(self.snapshot.fabric, self.part)]
        if self.part.kind in ("nvtray", "nvswitch") or self.part.links:
            if self.part.links:
                busy = self.loads.nvlink[self._nvlink_gpus()]
            most = float(busy.max(initial=0.0))
            words = [f"The NVLink of its busiest GPU is {percent(most)} busy."]
        return "healthy", [first, *words], self._heat()

    def _nvlink_left(self) -> list[str]:
        """What a GPU of the rack keeps of its NVLink."""
        fabric, nvlink = self.snapshot.fabric, self.snapshot.fabric.nvlink
        if nvlink is None or self.part.kind not in ("nvtray", "nvswitch"):
            return []
        rack = gpus_of(fabric, self.part).start // nvlink.gpus
        asics = self.snapshot.health.up(fabric, "nvswitch").reshape(nvlink.racks, -1)[rack]
        alive, each = int(asics.sum()), nvlink.link_GBps
        left, whole = number(alive * each), number(nvlink.asics * each)
        words = f"{alive} of {nvlink.asics} NVSwitches of rack-{rack} alive x {number(each)} GB/s"
        return [f"{words} = {left} of {whole} GB/s a GPU"]

    def _nvlink_gpus(self) -> list[int]:
        gpus = self.snapshot.fabric.nodes("gpu")
        ends = np.unique(np.concatenate(self.snapshot.fabric.ends(np.array(self.part.links))))
        return [int(end) - gpus.start for end in ends if gpus.start <= end < gpus.stop]

    def _gpu_words(self) -> list[str]:
        """Its hottest GPU, in a sentence."""
        thermal, gpus = self.snapshot.thermal, gpus_of(self.snapshot.fabric, self.part)
        if thermal.absent or gpus.start >= gpus.stop:
            return []
        hottest = gpus.start + int(thermal.die_c[gpus].argmax())
        name = self.snapshot.fabric.name(self.snapshot.fabric.nodes("gpu").start + hottest)
        die, power = float(thermal.die_c[hottest]), float(thermal.gpu_power_w[hottest])
        which = "It" if name == self.name else f"Its hottest GPU, {name},"
        return [f"{which} draws {number(power)} W at {number(die)} °C."]

    def _heat(self) -> list[str]:
        """Heat of the loop over its capacity, power of the rack over its shelves', and a die."""
        fabric, thermal = self.snapshot.fabric, self.snapshot.thermal
        gpus = gpus_of(fabric, self.part)
        if thermal.absent or gpus.start >= gpus.stop or fabric.spec is None:
            return []
        if self.part.kind in ("nvtray", "nvswitch"):
            return []
        rack = gpus.start * fabric.count("rack") // fabric.count("gpu")
        loop = rack // fabric.spec.cooling.racks_in_loop
        heat, room = float(thermal.heat_kw[loop]), float(thermal.capacity_kw[loop])
        name = fabric.name(fabric.nodes("loop").start + loop)
        words = f"{name}: {number(heat)} kW heat / {number(room)} kW capacity"
        lines = [words + (f" = {percent(heat / room)}" if room else "")]
        each = fabric.count("shelf") // fabric.count("rack")
        shelves = self.snapshot.health.factor(fabric, "shelf")[rack * each : (rack + 1) * each]
        power, given = float(thermal.rack_power_kw[rack]), float(shelves.sum())
        kilowatts = given * catalogue().value("rack.shelf_kw")
        lines.append(
            f"rack-{rack}: {number(power)} kW of {number(given)} of {each} shelves x"
            f" {number(catalogue().value('rack.shelf_kw'))} kW = {number(kilowatts)} kW"
        )
        if room and thermal.gpu_power_w[gpus].max() > 0:
            hottest = gpus.start + int(thermal.die_c[gpus].argmax())
            supply = float(thermal.supply_c[loop])
            r_eff, drawn = catalogue().value("gpu.r_eff_k_per_w"), thermal.gpu_power_w[hottest]
            lines.append(
                f"{number(supply)} °C supply + {r_eff:.4g} K/W x {number(float(drawn))} W"
                f" = {number(float(thermal.die_c[hottest]))} °C"
            )
        return lines
