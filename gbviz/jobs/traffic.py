"""A job of independent flows: which pattern, on which racks, and what it gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError, did_you_mean
from gbviz.flows import patterns
from gbviz.flows.rates import Rates, flow_rates
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from gbviz.routing.modes import Mode
    from gbviz.topology.fabric import Fabric, Ints
    from gbviz.topology.health import Health

PATTERNS: dict[str, str] = {
    "permutation": "each GPU sends to one other and receives from one, at random",
    "random-pairs": "N flows between GPUs drawn at random (random-pairs:N)",
    "shift": "GPU i sends to GPU i + N (shift:N, by default one rack's worth)",
    "incast": "every GPU sends to one (incast:GPU, by default the first)",
    "all-to-all": "every GPU sends to every other",
    "bisection": "a random half and the other half in pairs, both ways",
    "pairs": "your own list: pairs:GPU>GPU,GPU>GPU",
}


@dataclass(frozen=True, slots=True)
class TrafficJob:
    """A pattern of independent flows.

    `argument` is the pattern's own: a number, a GPU, or a list of pairs; "" for its default.
    `racks` selects the racks whose GPUs take part; "" for all.
    """

    name: str
    pattern: str
    argument: str = ""
    racks: str = ""

    def spelt(self) -> str:
        """The job as one writes it: `pattern[:argument][@racks]`."""
        tail = f"@{self.racks}" if self.racks else ""
        return f"{self.pattern}{':' if self.argument else ''}{self.argument}{tail}"


def traffic_job(text: str) -> TrafficJob:
    """A job from `pattern[:argument][@racks]`.

    Raises
    ------
    InputError
        There is no such pattern; the nearest is suggested.

    Examples
    --------
    >>> traffic_job("shift:72@rack-[0-7]")
    TrafficJob(name='shift:72@rack-[0-7]', pattern='shift', argument='72', racks='rack-[0-7]')
    """
    head, _, racks = text.partition("@")
    pattern, _, argument = head.partition(":")
    if pattern not in PATTERNS:
        raise InputError(
            f"there is no traffic pattern {pattern!r}",
            where="traffic",
            hint=did_you_mean(pattern, PATTERNS),
        )
    return TrafficJob(text, pattern, argument.strip(), racks.strip())


def flows_of(fabric: Fabric, job: TrafficJob, seed: int) -> tuple[Ints, Ints]:
    """Source and target GPU numbers of a job's flows.

    Raises
    ------
    InputError
        The argument cannot be used, or the racks name nothing.
    """
    gpus = _participants(fabric, job)
    rng = np.random.default_rng(seed)
    makers = {
        "permutation": lambda: patterns.permutation(gpus, rng),
        "random-pairs": lambda: patterns.random_pairs(gpus, _whole_number(job, len(gpus)), rng),
        "shift": lambda: patterns.shift(gpus, _whole_number(job, fabric_rack(fabric))),
        "incast": lambda: patterns.incast(
            gpus, _gpu(fabric, job.argument or fabric_gpu(fabric, gpus))
        ),
        "all-to-all": lambda: patterns.all_to_all(gpus),
        "bisection": lambda: patterns.bisection(gpus, rng),
        "pairs": lambda: _own_pairs(fabric, job.argument),
    }
    takes_none = job.pattern in ("permutation", "all-to-all", "bisection")
    if takes_none and job.argument:
        raise InputError(f"{job.pattern} takes no argument", where=f"traffic {job.name!r}")
    return makers[job.pattern]()


def fabric_rack(fabric: Fabric) -> int:
    """GPUs of one rack."""
    return fabric.nvlink.gpus if fabric.nvlink is not None else 1


def fabric_gpu(fabric: Fabric, gpus: Ints) -> str:
    """The name of the first of some GPUs."""
    return fabric.name(fabric.nodes("gpu").start + int(gpus[0]))


def _participants(fabric: Fabric, job: TrafficJob) -> Ints:
    if not job.racks:
        return np.arange(fabric.count("gpu"))
    racks = select(fabric, job.racks)
    if any(part.kind != "rack" for part in racks):
        raise InputError(
            f"{job.racks!r} names other things than racks", where=f"traffic {job.name!r}"
        )
    first = fabric.nodes("rack").start
    number = np.array([part.nodes[0] - first for part in racks])
    return (number[:, None] * fabric_rack(fabric) + np.arange(fabric_rack(fabric))).reshape(-1)


def _whole_number(job: TrafficJob, default: int) -> int:
    if not job.argument:
        return default
    text = job.argument.removeprefix("-")
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InputError(
            f"{job.pattern} takes a whole number (got {job.argument!r})",
            where=f"traffic {job.name!r}",
        )
    return int(job.argument)


def _gpu(fabric: Fabric, name: str) -> int:
    node = fabric.index_of(name)
    gpus = fabric.nodes("gpu")
    if not gpus.start <= node < gpus.stop:
        raise InputError(f"{name} is not a GPU", where="traffic")
    return node - int(gpus.start)


def _own_pairs(fabric: Fabric, text: str) -> tuple[Ints, Ints]:
    source, target = [], []
    for pair in text.split(","):
        one, sign, two = (part.strip() for part in pair.partition(">"))
        if not sign:
            raise InputError(f"a pair is 'GPU>GPU' (got {pair!r})", where="traffic")
        if one == two:
            raise InputError(f"{one} cannot send to itself", where="traffic")
        source.append(_gpu(fabric, one))
        target.append(_gpu(fabric, two))
    return np.array(source), np.array(target)


@dataclass(frozen=True, slots=True)
class TrafficResult:
    """What a traffic job gets.

    `min_GBps`, `mean_GBps` and `total_GBps` are over all its flows, those without a way and those
    of failed GPUs at 0. `cut_off` flows have no way between live GPUs, `gone` flows a failed end.
    `bottleneck` is the fullest link that limits the slowest flow that moves, or None.
    """

    flows: int
    min_GBps: float  # noqa: N815 the unit's own capitals
    mean_GBps: float  # noqa: N815
    total_GBps: float  # noqa: N815
    cut_off: int
    gone: int
    by_fabric: int
    bottleneck: tuple[str, float, float] | None
    problems: tuple[str, ...]


def traffic_result(
    fabric: Fabric, health: Health, mode: Mode, seed: int, job: TrafficJob
) -> TrafficResult:
    """The max-min fair rates of a job's flows, in short."""
    found = flow_rates(fabric, health, mode, seed, flows_of(fabric, job, seed))
    rate = found.rate
    return TrafficResult(
        len(rate),
        float(rate.min()),
        float(rate.mean()),
        float(rate.sum()),
        int(found.cut.sum()),
        int(found.gone.sum()),
        int(found.flows.by_fabric.sum()),
        _bottleneck(found),
        tuple(problem.text for problem in found.problems),
    )


def _bottleneck(found: Rates) -> tuple[str, float, float] | None:
    moving = np.flatnonzero((found.rate > 0) & (found.bottleneck >= 0))
    if not len(moving):
        return None
    link = int(found.bottleneck[moving[found.rate[moving].argmin()]])
    return (
        found.flows.links.name(link),
        float(found.load[link]),
        float(found.flows.links.capacity[link]),
    )
