"""When the temperatures of a loop next reach something that changes how they move."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from gbviz.cooling.limits import ROUNDING
from gbviz.cooling.state import ASKS, HOLDS, IDLES, OFF, SAME_K, drawn_power

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.cooling.motion import Loop, Motion
    from gbviz.cooling.state import Modes
    from gbviz.topology.fabric import Bools, Floats

What = Literal[
    "throttles", "idles", "runs free", "recovers", "slows down", "shuts down", "warms", "is back",
    "gives up",
]  # fmt: skip

# What goes beyond a limit by less has not reached it, K.
_BEYOND_K: Final = 1e-10
# First look at a motion, the ratio of one look to the next, and how many are taken together.
_FIRST_S: Final = 0.1
_RATIO: Final = 1.3
_LOOKS: Final = 12


@dataclass(frozen=True, slots=True)
class Limits:
    """Temperatures at which something happens, °C, and the power of a GPU that idles, W."""

    throttle_c: float
    slowdown_c: float
    shutdown_c: float
    idle_w: float


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A loop, what its K classes of GPUs do, and what it can take away.

    Parameters
    ----------
    loop
        Its temperatures; `power_w`, `holds` and `free_w` follow from the rest.
    mode, most_w
        (K,) what each class does, and the most that it may draw.
    fixed_w
        Heat that racks put into the liquid besides their GPUs.
    capacity_w
        What the units take away; 0 where none is live.
    set_point_c
        Supply that they hold.
    doomed
        True where even idle GPUs are too much.
    """

    loop: Loop
    mode: Modes
    most_w: Floats
    fixed_w: float
    capacity_w: float
    set_point_c: float
    doomed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """What happens to a class (its number), or to the loop (-1)."""

    time_s: float
    what: What
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class _Watch:
    """E values, each reached when it rises to 0: K now, and K/s of each mode."""

    now: Floats
    modes: Floats
    what: list[tuple[What, int]]

    def at(self, way: Motion, times_s: Floats) -> Floats:
        values: Floats = self.now[:, None] + self.modes @ way.shape(times_s)
        return values


def ready(case: Case) -> Case:
    """The case with its loop's powers, and with its supply held or free, by what is so now."""
    loop, hot = case.loop, case.loop.supply_c > case.set_point_c
    if loop.flows:
        hot |= taken_w(case) >= case.capacity_w * (1 + 0.999 * ROUNDING)
    power = drawn_power(case.mode, case.most_w, loop.plate_c, loop.masses.across_w_per_k)
    free_w = case.fixed_w - case.capacity_w if hot and loop.flows else None
    return replace(case, loop=replace(loop, power_w=power, holds=case.mode == HOLDS, free_w=free_w))


def taken_w(case: Case) -> float:
    """Heat that the liquid takes up now."""
    loop = case.loop
    if not loop.flows:
        return 0.0
    leaving = loop.out_w_per_k * (loop.plate_c - loop.supply_c)
    return loop.liquid_share * float(loop.count @ leaving) + case.fixed_w


def watches(case: Case, way: Motion, limits: Limits) -> _Watch:
    """All that may happen to a case next."""
    loop, mode = case.loop, case.mode
    live, r = case.most_w > 0, 1 / loop.masses.across_w_per_k
    asks, idles = (mode == ASKS) & live, (mode == IDLES) & live
    ends = idles | ((mode != OFF) & case.doomed)
    slows = idles & (loop.die_c < limits.slowdown_c - SAME_K)
    floor = np.minimum(limits.idle_w, case.most_w)
    idle_c, free_c = limits.throttle_c - floor * r, limits.throttle_c - case.most_w * r
    rows: list[tuple[What, Bools, Floats, Floats]] = [
        ("throttles", asks, loop.die_c - limits.throttle_c, way.die),
        ("idles", mode == HOLDS, loop.plate_c - idle_c, way.plate),
        ("runs free", mode == HOLDS, free_c - loop.plate_c, -way.plate),
        ("recovers", idles, limits.throttle_c - loop.die_c, -way.die),
        ("slows down", slows, loop.die_c - limits.slowdown_c, way.die),
        ("shuts down", ends, loop.die_c - limits.shutdown_c, way.die),
    ]
    now = [values[chosen] for _, chosen, values, _ in rows]
    modes = [each[chosen] for _, chosen, _, each in rows]
    what = [(name, int(k)) for name, chosen, _, _ in rows for k in np.flatnonzero(chosen)]
    if loop.moves:
        now.append(np.array([case.set_point_c - loop.supply_c]))
        modes.append(-way.supply[None, :])
        what.append(("is back", -1))
    elif loop.flows:
        each_k = loop.liquid_share * loop.out_w_per_k * float(loop.count.sum())
        over = (taken_w(case) - case.capacity_w * (1 + ROUNDING)) / each_k
        now.append(np.array([over]))
        modes.append((loop.count @ way.plate)[None, :] / loop.count.sum())
        what.append(("warms", -1))
    if not what:
        return _Watch(np.zeros(0), np.zeros((0, len(way.rates))), what)
    return _Watch(np.concatenate(now), np.concatenate(modes), what)


def first(case: Case, way: Motion, limits: Limits, horizon_s: float) -> list[Event]:
    """What happens first within a time, and all that happens at once with it; [] for nothing.

    Notes
    -----
    Motions are looked at after 0.1 s and ever longer times, and where a value has a greatest
    value between two looks, there as well. What is found is then bisected to the last bit.
    """
    watch = watches(case, way, limits)
    if (watch.now > _BEYOND_K).any():
        return [Event(0.0, *watch.what[e]) for e in np.flatnonzero(watch.now > _BEYOND_K)]
    rest_s = rest(way, SAME_K) if case.doomed else math.inf
    still_s = rest(way, _BEYOND_K / 4)
    last_s = min(horizon_s, still_s, rest_s)
    if len(watch.what):
        some = np.flatnonzero(watch.modes.any(axis=0))
        watch, way = replace(watch, modes=watch.modes[:, some]), way.of(some)
    before, look = 0.0, 0
    while before < last_s and len(watch.what):
        times = np.minimum(_FIRST_S * _RATIO ** np.arange(look, look + _LOOKS), last_s)
        # They grow, so that all but the last of those at the end are others.
        times = times[(times > before) & np.append(times[:-1] < times[1:], True)]
        times = np.concatenate([[before], times])
        found = _between(watch, way, times)
        if found:
            return found
        before, look = float(times[-1]), look + _LOOKS
    return [Event(rest_s, "gives up", -1)] if rest_s <= horizon_s else []


def rest(way: Motion, within_k: float) -> float:
    """Seconds until all temperatures are within so much of where they end; inf for never."""
    parts = np.concatenate([way.die, way.plate, way.supply[None, :]])
    size = np.abs(parts).max(axis=0)
    # Slower than this is rounding: a millionth of a kelvin in thirty years.
    moving = size > 1e-15
    if not moving.any():
        return 0.0
    if (way.rates[moving] == 0).any():
        return math.inf
    left, rates = size[moving] / way.rates[moving], way.rates[moving]
    # One mode after another is below its part of the whole.
    with np.errstate(divide="ignore"):
        each = np.log(left * len(left) / within_k) / rates
    return float(max(0.0, each.max()))


def _between(watch: _Watch, way: Motion, times: Floats) -> list[Event]:
    """What happens first between some times."""
    values = watch.at(way, times)
    slopes = watch.modes @ way.slope(times)
    reached = values[:, 1:] > _BEYOND_K
    ends = np.broadcast_to(times[1:], reached.shape).copy()
    peaks = ~reached & (slopes[:, :-1] > 0) & (slopes[:, 1:] < 0)
    peaks &= values[:, :-1] + slopes[:, :-1] * np.diff(times) > _BEYOND_K
    for row, column in zip(*np.nonzero(peaks), strict=True):
        top = _bisect(way, -watch.modes[[row]], None, times[[column]], times[[column + 1]])
        if watch.at(way, top)[row, 0] > _BEYOND_K:
            reached[row, column], ends[row, column] = True, top[0]
    hit = np.flatnonzero(reached.any(axis=0))
    if not len(hit):
        return []
    rows = np.flatnonzero(reached[:, hit[0]])
    low = np.full(len(rows), times[hit[0]])
    roots = _bisect(way, watch.modes[rows], watch.now[rows], low, ends[rows, hit[0]])
    earliest = float(roots.min())
    together = roots <= earliest * (1 + 1e-12) + 1e-12
    return [Event(earliest, *watch.what[row]) for row in rows[together]]


def _bisect(way: Motion, modes: Floats, now: Floats | None, low: Floats, high: Floats) -> Floats:
    """Times at which values rise to 0, or (`now` None) their slopes do, to the last bit."""
    of = way.slope if now is None else way.shaping()
    if len(low) == 1:
        return np.array([_bisect_one(of, modes, now, float(low[0]), float(high[0]))])
    for _ in range(70):
        middle = (low + high) / 2
        value = np.einsum("em,me->e", modes, of(middle))
        if now is not None:
            value += now
        up = value >= 0
        if not np.count_nonzero(np.where(up, high, low) != middle):
            break
        high, low = np.where(up, middle, high), np.where(up, low, middle)
    return high


def _bisect_one(
    of: Callable[[float], Floats], modes: Floats, now: Floats | None, low: float, high: float
) -> float:
    """`_bisect` of one value, as it nearly always is: half the time without the small arrays."""
    start = 0.0 if now is None else float(now[0])
    for _ in range(70):
        middle = (low + high) / 2
        up = start + float(np.einsum("em,me->e", modes, of(middle))[0]) >= 0
        if middle == (high if up else low):
            break
        low, high = (low, middle) if up else (middle, high)
    return high


def changed(case: Case, events: list[Event], limits: Limits) -> Case:
    """The case after some events that shut nothing down."""
    mode, die, supply = case.mode.copy(), case.loop.die_c.copy(), case.loop.supply_c
    power = (limits.throttle_c - case.loop.plate_c) * case.loop.masses.across_w_per_k
    for event in events:
        k = event.number
        if event.what == "is back":
            supply = case.set_point_c
        elif event.what in ("warms", "slows down"):
            continue
        elif event.what == "idles":
            mode[k] = IDLES
        elif event.what == "runs free":
            mode[k] = ASKS
        else:
            mode[k] = _at_the_limit(die[k], power[k], case.most_w[k], limits)
            if mode[k] == HOLDS:
                die[k] = limits.throttle_c
    loop = replace(case.loop, die_c=die, supply_c=supply)
    return ready(replace(case, loop=loop, mode=mode))


def _at_the_limit(die_c: float, power_w: float, most_w: float, limits: Limits) -> int:
    """What a GPU does whose die has come to the limit from above or below."""
    if die_c > limits.throttle_c + SAME_K:
        return IDLES
    if power_w >= most_w or die_c < limits.throttle_c - SAME_K:
        return ASKS
    return HOLDS if power_w > min(limits.idle_w, most_w) else IDLES


def moved(case: Case, way: Motion, time_s: float) -> Case:
    """The case some time later, in the same modes."""
    shape = way.shape(np.array([time_s]))[:, 0]
    loop = case.loop
    later = replace(
        loop,
        die_c=loop.die_c + way.die @ shape,
        plate_c=loop.plate_c + way.plate @ shape,
        supply_c=loop.supply_c + float(way.supply @ shape),
    )
    return ready_as_is(replace(case, loop=later))


def ready_as_is(case: Case) -> Case:
    """The case with the powers of its GPUs brought up to date."""
    loop = case.loop
    power = drawn_power(case.mode, case.most_w, loop.plate_c, loop.masses.across_w_per_k)
    return replace(case, loop=replace(loop, power_w=power))
