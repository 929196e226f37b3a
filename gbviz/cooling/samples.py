"""Clocks over time, at as many times as straight lines between them need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from gbviz.cooling.state import OFF, clocks

if TYPE_CHECKING:
    from gbviz.cooling.course import Course
    from gbviz.cooling.world import Party, World
    from gbviz.topology.fabric import Floats, Ints

# Clocks between two samples are on a straight line within this.
_STRAIGHT: Final = 1e-6
_MOST_HALVINGS: Final = 16


def clock_samples(
    world: World, parties: list[Party], class_of: Ints, courses: list[Course], stop_s: float
) -> tuple[Ints, Floats, Floats]:
    """(G,) classes, (T,) times and (T, K) clocks; classes of loops at rest come last."""
    own, active, asked = (
        a.reshape(-1) for a in (world.drawn.own, world.drawn.active, world.drawn.asked_w)
    )
    still = np.flatnonzero(class_of < 0)
    power = np.where(world.state.mode == OFF, 0.0, world.target.gpu_power_w)
    at_rest = clocks(world.state.mode, own, active, asked, power)[still]
    values, inverse = np.unique(at_rest, return_inverse=True)
    moving = sum(len(party.own) for party in parties)
    class_of = class_of.copy()
    class_of[still] = moving + inverse.reshape(-1)

    def sample(times: Floats) -> Floats:
        found = [
            path.clocks(times, party.own, party.active, party.asked_w)
            for party, path in zip(parties, courses, strict=True)
        ]
        return np.concatenate([*found, np.broadcast_to(values, (len(times), len(values)))], axis=1)

    times = np.array([0.0, stop_s]) if stop_s > 0 else np.zeros(1)
    found = sample(times)
    if not any(path.holds for path in courses) or stop_s == 0:
        return class_of, times, found
    wanted = np.concatenate([[0.0], np.minimum(0.1 * 2.0 ** np.arange(60), stop_s)])
    times = np.unique(wanted)
    found = sample(times)
    crooked = np.ones(len(times) - 1, dtype=bool)
    for _ in range(_MOST_HALVINGS):
        left = np.flatnonzero(crooked)
        if not len(left):
            break
        middle = (times[left] + times[left + 1]) / 2
        inner = sample(middle)
        off = np.abs(inner - (found[left] + found[left + 1]) / 2).max(axis=1)
        # The line between the middle and an end is closer by a factor of four.
        again = off > 2 * _STRAIGHT
        order = np.argsort(np.concatenate([times, middle]), kind="stable")
        marks = np.zeros(len(times) + len(middle), dtype=bool)
        marks[left] = again
        marks[len(times) :] = again
        times = np.concatenate([times, middle])[order]
        found = np.concatenate([found, inner])[order]
        crooked = marks[order][:-1]
    return class_of, times, found
