"""What heat did, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from gbviz.cooling.course import Course
    from gbviz.cooling.state import HeatState
    from gbviz.cooling.world import Party, World
    from gbviz.topology.fabric import Ints

_WORDS: Final = {
    "throttles": "reach the throttle limit",
    "idles": "idle, and still warm",
    "runs free": "run free again",
    "recovers": "are back at the throttle limit",
    "slows down": "reach the slowdown temperature",
    "shuts down": "shut down",
    "warms": "the supply begins to warm",
    "is back": "the supply is back at its set point",
    "gives up": "its racks shut down",
}
# More runs of racks than these nobody reads.
_MOST_RUNS: Final = 4


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that heat did.

    Parameters
    ----------
    time_s
        When.
    what
        Its kind, such as `throttles`; see `text` for people.
    loops
        Numbers of the loops in which it happened.
    gpus
        How many GPUs it happened to, 0 for the supply.
    text
        In words.
    """

    time_s: float
    what: str
    loops: tuple[int, ...]
    gpus: int
    text: str


def happenings(
    world: World,
    parties: list[Party],
    courses: list[Course],
    stop_s: float,
    done: HeatState,
) -> tuple[Happening, ...]:
    """All that happened until a stop, in the order of time; racks that shut down come last."""
    found: list[tuple[float, int, Happening]] = []
    first = world.state.time_s
    for party, path in zip(parties, courses, strict=True):
        events = [(at, event) for at, event in path.notes if at <= stop_s]
        if path.reaches(stop_s):
            events += [(path.stop_s, event) for event in path.events]
        for at, event in events:
            gpus = 0
            if event.number >= 0:
                gpus = int(party.case.loop.count[event.number]) * len(party.loops)
                if party.case.most_w[event.number] == 0 and event.what != "shuts down":
                    continue
            found.append((at, len(found), _said(world, party, first + at, event.what, gpus)))
    found.sort(key=lambda each: each[:2])
    said = [each for _, _, each in found]
    fallen = np.flatnonzero(done.rack_off & ~world.state.rack_off)
    if len(fallen):
        loops = np.searchsorted(world.starts, fallen, side="right") - 1
        numbers = tuple(sorted(set(loops.tolist())))
        said.append(
            Happening(done.time_s, "racks down", numbers, 0, f"{_racks(fallen)}: shut down")
        )
    return tuple(said)


def _racks(numbers: Ints) -> str:
    """Which racks: every run of neighbours, or of many runs the first and the last rack.

    Examples
    --------
    >>> _racks(np.array([1, 3, 4, 5])), _racks(np.array([2]))
    ('rack-1, rack-3 to rack-5, 4 racks', 'rack-2')
    """
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    if len(runs) > _MOST_RUNS:
        return f"{len(numbers):,} racks from rack-{numbers[0]} to rack-{numbers[-1]}"
    said = [f"rack-{r[0]}" if len(r) == 1 else f"rack-{r[0]} to rack-{r[-1]}" for r in runs]
    return ", ".join(said + ([f"{len(numbers):,} racks"] if len(numbers) > 1 else []))


def _said(world: World, party: Party, time_s: float, what: str, gpus: int) -> Happening:
    names = [world.fabric.name(world.fabric.nodes("loop").start + loop) for loop in party.loops]
    where = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more alike"
    words = _WORDS[what] if not gpus else f"{gpus:,} GPUs {_WORDS[what]}"
    return Happening(time_s, what, tuple(party.loops), gpus, f"{where}: {words}")
