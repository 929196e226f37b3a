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
_MOST_PIECES: Final = 64


def clock_samples(
    world: World,
    parties: list[Party],
    class_of: Ints,
    courses: list[Course],
    gliding: Bools,
    stop_s: float,
) -> tuple[Ints, Floats, Floats]:
    """(G,) classes, (T,) times and (T, K) clocks; classes of loops at rest or gliding come last."""
    still = np.flatnonzero(class_of < 0)
    at_rest = still_clocks(world, gliding)[still]
    values, inverse = np.unique(at_rest, return_inverse=True)
    moving = sum(len(party.own) for party in parties)
    class_of = class_of.copy()
    class_of[still] = moving + inverse.reshape(-1)

    each = [
        path.clocks(party.own, party.active, party.asked_w)
        for party, path in zip(parties, courses, strict=True)
    ]
    before = [at(np.zeros(1)) for at in each]

    def sample(times: Floats) -> Floats:
        found = [
            at(times) if path.holds else np.broadcast_to(first, (len(times), first.shape[1]))
            for at, path, first in zip(each, courses, before, strict=True)
        ]
        return np.concatenate([*found, np.broadcast_to(values, (len(times), len(values)))], axis=1)

    if stop_s == 0:
        return class_of, np.zeros(1), sample(np.zeros(1))
    if not any(path.holds for path in courses):
        ends = np.array([0.0, stop_s])
        return class_of, ends, sample(ends)
    return class_of, *_straight(sample, stop_s)


def still_clocks(world: World, gliding: Bools) -> Floats:
    """(G,) clocks of GPUs of loops that glide, of the others those that have settled."""
    own, active, asked, drawn = (
        a.reshape(-1)
        for a in (world.drawn.own, world.drawn.active, world.drawn.asked_w, world.drawn.drawn_w)
    )
    power = np.where(gliding[world.loop_of], drawn, world.target.gpu_power_w)
    power[world.state.mode == OFF] = 0.0
    return clocks(world.state.mode, own, active, asked, power)


def _straight(sample: Callable[[Floats], Floats], stop_s: float) -> tuple[Floats, Floats]:
    """Times, and what is sampled then, so close together that lines between them will do.

    The distance of a line from a smooth curve falls with the square of its length, so one look at
    the middle of a line says into how many pieces to cut it. All pieces are looked at again.
    """
    times = np.unique(np.concatenate([[0.0], np.minimum(0.1 * 2.0 ** np.arange(60), stop_s)]))
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
        crooked[:] = False
        crooked[cut] = True
        number = np.concatenate([np.arange(1, n) for n in pieces]) if len(cut) else np.zeros(0)
        each = pieces - 1
        inner = np.repeat(times[cut], each) + number * np.repeat(wide / pieces, each)
        order = np.argsort(np.concatenate([times, inner]), kind="stable")
        marks = np.concatenate([crooked, [False], np.ones(len(inner), dtype=bool)])
        times = np.concatenate([times, inner])[order]
        found = np.concatenate([found, sample(inner)])[order]
        crooked = marks[order][:-1]
    return times, found
