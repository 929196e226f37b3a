"""A job of independent flows: which pattern, on which racks, and what it gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError, did_you_mean
from gbviz.flows import patterns
from gbviz.flows.rates import Rates, rates_on
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.flows.router import Router
    from gbviz.jobs.spec import TrafficSpec
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints

_MOST_DIGITS = 18

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
    `racks` selects the racks whose GPUs take part; "" for all. `demand` is what
    each flow wants at most, GB/s. An unknown pattern is an InputError.
    """

    name: str
    pattern: str
    argument: str = ""
    racks: str = ""
    demand: float | None = None

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            raise InputError(
                f"there is no traffic pattern {self.pattern!r}",
                where="traffic",
                hint=did_you_mean(self.pattern, PATTERNS),
            )

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
    TrafficJob(name='shift:72@rack-[0-7]', pattern='shift', argument='72', racks='rack-[0-7]',
        demand=None)
    """
    head, _, racks = text.partition("@")
    pattern, _, argument = head.partition(":")
    return TrafficJob(text, pattern.strip(), argument.strip(), racks.strip())


def traffic_of(spec: TrafficSpec) -> TrafficJob:
    """The traffic job of a scenario file's; its placement is kept apart."""
    if spec.pairs is not None:
        return TrafficJob(spec.name, "pairs", ",".join(spec.pairs), demand=spec.demand)
    argument = "" if spec.argument is None else str(spec.argument)
    return TrafficJob(spec.name, spec.pattern, argument, demand=spec.demand)


def flows_of(
    fabric: Fabric, job: TrafficJob, seed: int, gpus: Ints | None = None
) -> tuple[Ints, Ints]:
    """Source and target GPU numbers of a job's flows, among `gpus` where these are given.

    Raises
    ------
    InputError
        The argument cannot be used, or the racks name nothing.
    """
    try:
        return _flows_of(fabric, job, seed, gpus)
    except InputError as error:
        where = f"traffic {job.spelt()!r}"
        raise InputError(error.message, where=where, hint=error.hint) from None


def _flows_of(fabric: Fabric, job: TrafficJob, seed: int, among: Ints | None) -> tuple[Ints, Ints]:
    gpus = _participants(fabric, job) if among is None else among
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
        "pairs": lambda: _own_pairs(fabric, job),
    }
    takes_none = job.pattern in ("permutation", "all-to-all", "bisection")
    if takes_none and job.argument:
        raise InputError(f"{job.pattern} takes no argument (got {job.argument!r})")
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
            f"{job.racks!r} names other things than racks", hint="write for example @rack-[0-7]"
        )
    first = fabric.nodes("rack").start
    number = np.array([part.nodes[0] - first for part in racks])
    return (number[:, None] * fabric_rack(fabric) + np.arange(fabric_rack(fabric))).reshape(-1)


def _whole_number(job: TrafficJob, default: int) -> int:
    text = job.argument.removeprefix("-")
    if not job.argument:
        return default
    if not (text.isascii() and text.isdecimal()):
        raise InputError(f"{job.pattern} takes a whole number (got {job.argument!r})")
    if len(text) > _MOST_DIGITS:
        raise InputError(f"a number has at most {_MOST_DIGITS} digits here (got {len(text)})")
    return int(job.argument)


def _gpu(fabric: Fabric, name: str) -> int:
    node = fabric.index_of(name)
    gpus = fabric.nodes("gpu")
    if not gpus.start <= node < gpus.stop:
        raise InputError(f"{name} is not a GPU")
    return node - int(gpus.start)


def _own_pairs(fabric: Fabric, job: TrafficJob) -> tuple[Ints, Ints]:
    if job.racks:
        raise InputError("takes no racks: its pairs say which GPUs take part")
    source, target = [], []
    for pair in job.argument.split(","):
        one, sign, two = (part.strip() for part in pair.partition(">"))
        if not sign:
            example = "pairs:rack-0/tray-0/gpu-0>rack-1/tray-0/gpu-0"
            raise InputError(f"a pair is 'GPU>GPU' (got {pair!r})", hint=f"write {example}")
        if one == two:
            raise InputError(f"{one} cannot send to itself")
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


def traffic_results(
    by: Router,
    jobs: Sequence[tuple[TrafficJob, Ints | None]],
    load: Floats,
    users: Ints,
) -> tuple[tuple[TrafficResult, ...], Floats]:
    """The max-min fair rates of all traffic jobs together, in short.

    Parameters
    ----------
    by
        The fabric under its health and routing mode.
    jobs
        Patterns, each with its GPUs, or None for those that its own words name.
    load, users
        (links,) mean GB/s that other jobs put on each of the router's links, and how many of them
        use it. What they leave is C - B, at least C / k of k jobs.

    Returns
    -------
    results, rates
        A result a job, and (jobs, links) GB/s that each puts on every link.
    """
    capacity = by.space.capacity
    flows = [flows_of(by.fabric, job, by.seed, gpus) for job, gpus in jobs]
    sizes = np.array([len(source) for source, _ in flows])
    owner = np.repeat(np.arange(len(jobs)), sizes)
    pairs = np.concatenate([s for s, _ in flows]), np.concatenate([t for _, t in flows])
    left = None
    if load.any():
        share = np.maximum(users + (users > 0) * len(jobs), 1)
        left = np.where(users > 0, np.maximum(capacity - load, capacity / share), capacity)
    wants = [np.full(n, job.demand or np.inf) for (job, _), n in zip(jobs, sizes, strict=True)]
    found = rates_on(by, pairs, np.concatenate(wants), left)
    each = [found.load]
    if len(jobs) > 1:
        each = [
            found.flows.load(np.where(owner == number, found.rate, 0.0)[found.flows.flow])
            for number in range(len(jobs))
        ]
    results = tuple(_result(found, owner == number) for number in range(len(jobs)))
    return results, np.stack(each)


def _result(found: Rates, own: Bools) -> TrafficResult:
    rate = found.rate[own]
    return TrafficResult(
        len(rate),
        float(rate.min()),
        float(rate.mean()),
        float(rate.sum()),
        int(found.cut[own].sum()),
        int(found.gone[own].sum()),
        int(found.flows.by_fabric[own].sum()),
        _bottleneck(found, own),
        tuple(problem.text for problem in found.problems),
    )


def _bottleneck(found: Rates, own: Bools) -> tuple[str, float, float] | None:
    moving = np.flatnonzero((found.rate > 0) & (found.bottleneck >= 0) & own)
    if not len(moving):
        return None
    link = int(found.bottleneck[moving[found.rate[moving].argmin()]])
    return (
        found.flows.links.name(link),
        float(found.load[link]),
        float(found.flows.links.capacity[link]),
    )
