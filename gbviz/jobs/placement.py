"""Which GPUs a job runs on, and which rank is where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gbviz.jobs.spec import Placement
    from gbviz.topology.fabric import Fabric, Ints

_DIMENSIONS = ("tp", "cp", "ep", "dp", "pp")


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where one job runs.

    `gpus` (n,) GPU numbers that hold ranks, in rank order; `spares` (s,) GPU numbers held ready.
    """

    gpus: Ints
    spares: Ints


def place(fabric: Fabric, jobs: Sequence[tuple[str, Placement]]) -> list[Placed]:
    """The GPUs of each job, in the order of the jobs.

    Parameters
    ----------
    fabric
        A built cluster.
    jobs
        Names and placements. A job that states nothing takes the whole cluster; `vms` takes the
        first compute trays of which no earlier job uses any GPU.

    Raises
    ------
    InputError
        A selector names nothing or the wrong parts, more GPUs are asked for than there are, or two
        jobs would share a GPU; `where` is the job's name.

    Examples
    --------
    Two racks with 64 of their 72 GPUs each:

    >>> from gbviz.jobs.spec import Placement
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec(racks=4))
    >>> job = Placement(racks="rack-[0-1]", gpus_per_rack=64)
    >>> len(place(fabric, [("a", job)])[0].gpus)
    128
    """
    found: list[Placed] = []
    for one in place_each(fabric, jobs):
        if isinstance(one, InputError):
            raise one
        found.append(one)
    return found


def place_each(
    fabric: Fabric, jobs: Sequence[tuple[str, Placement]]
) -> Iterator[Placed | InputError]:
    """The GPUs of each job as `place` gives them, or why it cannot have them.

    A job that cannot be placed takes no GPU from those that follow.
    """
    owner = np.full(fabric.count("gpu"), -1)
    for number, (name, placement) in enumerate(jobs):
        try:
            gpus = _gpus(fabric, placement, owner)
            _check_free(fabric, jobs, placement, gpus, owner)
        except InputError as error:
            yield InputError(error.message, where=f"job {name}", hint=error.hint)
            continue
        owner[gpus] = number
        ranks = len(gpus) - placement.spares
        yield Placed(gpus[:ranks], gpus[ranks:])


def _check_free(
    fabric: Fabric,
    jobs: Sequence[tuple[str, Placement]],
    placement: Placement,
    gpus: Ints,
    owner: Ints,
) -> None:
    """Refuse GPUs that run another job, and spares that leave none for ranks."""
    taken = np.flatnonzero(owner[gpus] >= 0)
    if len(taken):
        gpu = int(gpus[taken[0]])
        raise InputError(
            f"{_name(fabric, gpu)} already runs {jobs[int(owner[gpu])][0]}"
            + (f", and so do {len(taken) - 1:,} more of its GPUs" if len(taken) > 1 else "")
        )
    if placement.spares >= len(gpus):
        raise InputError(
            f"{placement.spares:,} spares leave none of its {len(gpus):,} GPUs for ranks"
        )


def _name(fabric: Fabric, gpu: int) -> str:
    return fabric.name(fabric.nodes("gpu").start + gpu)


def _gpus(fabric: Fabric, placement: Placement, owner: Ints) -> Ints:
    stated = [f for f in ("racks", "gpus", "vms") if getattr(placement, f) is not None]
    if len(stated) > 1:
        raise InputError(f"states both {stated[0]} and {stated[1]}", hint="state one of them")
    if placement.gpus_per_rack is not None and stated not in ([], ["racks"]):
        raise InputError(f"gpus_per_rack goes with racks, not with {stated[0]}")
    if placement.vms is not None:
        return _machines(fabric, placement.vms, owner)
    if placement.gpus is not None:
        texts = (placement.gpus,) if isinstance(placement.gpus, str) else placement.gpus
        if not texts:
            raise InputError("gpus is an empty list", hint="leave it out for the whole cluster")
        return _once(fabric, _all_selected(fabric, texts))
    racks: Ints = np.arange(fabric.count("rack"))
    if placement.racks is not None:
        racks = _racks(fabric, placement.racks)
    per_rack = fabric.count("gpu") // fabric.count("rack")
    wanted = per_rack if placement.gpus_per_rack is None else placement.gpus_per_rack
    if wanted > per_rack:
        raise InputError(f"a rack has {per_rack} GPUs (gpus_per_rack is {wanted:,})")
    return (racks[:, None] * per_rack + np.arange(wanted)).reshape(-1)


def _once(fabric: Fabric, gpus: Ints) -> Ints:
    """Some GPUs, refused where one is among them twice: a GPU holds one rank."""
    _, first, times = np.unique(gpus, return_index=True, return_counts=True)
    twice = first[times > 1]
    if len(twice):
        raise InputError(f"gpus names {_name(fabric, int(gpus[twice.min()]))} more than once")
    return gpus


def _racks(fabric: Fabric, text: str) -> Ints:
    parts = select(fabric, text)
    wrong = next((part for part in parts if part.kind != "rack"), None)
    if wrong is not None:
        raise InputError(f"racks names {wrong.component}, which is no rack")
    first = fabric.nodes("rack").start
    return np.array([part.nodes[0] - first for part in parts])


def _all_selected(fabric: Fabric, texts: Sequence[str]) -> Ints:
    """GPUs that some selectors name; no further than it takes to see that one is named twice."""
    found, named = [], 0
    for text in texts:
        found.append(_selected(fabric, text))
        named += len(found[-1])
        if named > fabric.count("gpu"):
            break
    return np.concatenate(found)


def _selected(fabric: Fabric, text: str) -> Ints:
    """GPUs that a selector of GPUs, trays or racks names."""
    gpus, found = fabric.nodes("gpu"), []
    for part in select(fabric, text):
        if part.kind not in ("gpu", "tray", "rack"):
            raise InputError(f"gpus names {part.component}, which is no GPU, tray or rack")
        each = fabric.count("gpu") // fabric.count(part.kind)
        number = part.nodes[0] - fabric.nodes(part.kind).start
        found.append(np.arange(number * each, (number + 1) * each))
    numbers = np.concatenate(found)
    assert numbers.max() < gpus.stop - gpus.start
    return numbers


def _machines(fabric: Fabric, vms: int, owner: Ints) -> Ints:
    """The first `vms` compute trays of which nothing is used."""
    free = np.flatnonzero((owner.reshape(fabric.count("tray"), -1) < 0).all(axis=1))
    if vms > len(free):
        raise InputError(f"asks for {vms:,} virtual machines, {len(free):,} trays are free")
    each = fabric.count("gpu") // fabric.count("tray")
    return (free[:vms, None] * each + np.arange(each)).reshape(-1)


def rank_grid(sizes: dict[str, int], order: str = "tp-cp-ep-dp-pp") -> Ints:
    """The rank at each place of the parallel dimensions.

    Parameters
    ----------
    sizes
        Degrees of tp, cp, dp and pp.
    order
        Dimensions, the fastest-varying first; ep lies within cp and dp and has no place of its own.

    Returns
    -------
    Ints
        (pp, dp, cp, tp) ranks.

    Raises
    ------
    InputError
        Not an order of the five dimensions.

    Examples
    --------
    >>> rank_grid({"tp": 2, "cp": 1, "dp": 2, "pp": 1})[0, :, 0].tolist()
    [[0, 1], [2, 3]]
    """
    names = order.split("-")
    if sorted(names) != sorted(_DIMENSIONS):
        raise InputError(
            f"{order!r} is not an order of {', '.join(_DIMENSIONS)}", hint="write tp-cp-ep-dp-pp"
        )
    slowest_first = [name for name in reversed(names) if name != "ep"]
    grid = np.arange(int(np.prod([sizes[name] for name in slowest_first])))
    grid = grid.reshape([sizes[name] for name in slowest_first])
    return grid.transpose([slowest_first.index(name) for name in ("pp", "dp", "cp", "tp")])
