"""Clocks over time, at as many times as straight lines between them need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from gbviz.cooling.state import OFF, clocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.cooling.course import Course
    from gbviz.cooling.world import Party, World
    from gbviz.topology.fabric import Bools, Floats, Ints

# Clocks between two samples are on a straight line within this.
_STRAIGHT: Final = 1e-6
_MOST_ROUNDS: Final = 8
_FIRST_LOOKS_S: Final = 0.1 * 2.0 ** np.arange(60)
_MOST_PIECES: Final = 64


def clock_samples(
    parties: list[Party], courses: list[Course], values: Floats, stop_s: float
) -> tuple[Floats, Floats]:
    """(T,) times and (T, K) clocks of the classes of parties, and of the rest with these values."""
    each = [
        path.clocks(party.own, party.active, party.asked_w)
        for party, path in zip(parties, courses, strict=True)
    ]
    found = [at(np.zeros(1)) for at in each]
    holds = [number for number, path in enumerate(courses) if path.holds]
    if stop_s == 0 or not holds:
        times = np.unique([0.0, stop_s])
    else:
        # Only these change at all, so that only these need be looked at.
        times, moving = _straight(
            lambda times: np.concatenate([each[n](times) for n in holds], axis=1), stop_s
        )
        ends = np.cumsum([found[n].shape[1] for n in holds])
        for number, columns in zip(holds, np.split(moving, ends[:-1], axis=1), strict=True):
            found[number] = columns
    whole = [np.broadcast_to(one, (len(times), one.shape[1])) for one in (*found, values[None])]
    return times, np.concatenate(whole, axis=1)


def rest_classes(world: World, class_of: Ints, gliding: Bools) -> tuple[Ints, Floats]:
    """(G,) classes with those of GPUs of no party (-1) last, and the clocks of these."""
    still = np.flatnonzero(class_of < 0)
    values, inverse = np.unique(still_clocks(world, gliding)[still], return_inverse=True)
    found = class_of.copy()
    found[still] = class_of.max() + 1 + inverse.reshape(-1)
    return found, values


def still_clocks(world: World, gliding: Bools) -> Floats:
    """(G,) clocks of GPUs of loops that glide, of the others those that have settled."""
    own, active, asked, drawn = (
        a.reshape(-1)
        for a in (world.drawn.own, world.drawn.active, world.drawn.asked_w, world.drawn.drawn_w)
    )
    power = world.target.gpu_power_w
    if gliding.any():
        power = np.where(gliding[world.loop_of], drawn, power)
    power = np.where(world.state.mode == OFF, 0.0, power)
    return clocks(world.state.mode, own, active, asked, power)


def _straight(sample: Callable[[Floats], Floats], stop_s: float) -> tuple[Floats, Floats]:
    """Times, and what is sampled then, so close together that lines between them will do.

    The distance of a line from a smooth curve falls with the square of its length, so one look at
    the middle of a line says into how many pieces to cut it. All pieces are looked at again.
    """
    times = np.concatenate([[0.0], _FIRST_LOOKS_S[stop_s > _FIRST_LOOKS_S], [stop_s]])
    found = sample(times)
    crooked = np.ones(len(times) - 1, dtype=bool)
    for _ in range(_MOST_ROUNDS):
        left = np.flatnonzero(crooked)
        if not len(left):
            break
        wide = times[left + 1] - times[left]
        line = (found[left] + found[left + 1]) / 2
        off = np.abs(sample(times[left] + wide / 2) - line).max(axis=1)
        pieces = np.minimum(np.ceil(np.sqrt(off / _STRAIGHT)), _MOST_PIECES).astype(np.int64)
        cut, pieces, wide = left[pieces > 1], pieces[pieces > 1], wide[pieces > 1]
        if not len(cut):
            break
        crooked[:] = False
        crooked[cut] = True
        each = pieces - 1
        number = np.arange(1, each.sum() + 1) - np.repeat(np.cumsum(each) - each, each)
        inner = np.repeat(times[cut], each) + number * np.repeat(wide / pieces, each)
        order = np.argsort(np.concatenate([times, inner]), kind="stable")
        marks = np.concatenate([crooked, [False], np.ones(len(inner), dtype=bool)])
        times = np.concatenate([times, inner])[order]
        found = np.concatenate([found, sample(inner)])[order]
        crooked = marks[order][:-1]
    return times, found
