"""Traffic patterns: who sends to whom, as arrays of GPU numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbviz.errors import InputError

if TYPE_CHECKING:
    from gbviz.topology.fabric import Ints

Pairs = tuple["Ints", "Ints"]

MOST_FLOWS = 3_000_000


def permutation(gpus: Ints, rng: np.random.Generator) -> Pairs:
    """Each GPU sends to one other and receives from one: a random cyclic order.

    Examples
    --------
    >>> source, target = permutation(np.arange(4), np.random.default_rng(1))
    >>> sorted(target.tolist()), bool((source == target).any())
    ([0, 1, 2, 3], False)
    """
    _at_least(gpus, 2, "permutation")
    order = rng.permutation(gpus)
    return order, np.roll(order, -1)


def random_pairs(gpus: Ints, count: int, rng: np.random.Generator) -> Pairs:
    """`count` flows, each between two different GPUs drawn at random."""
    _at_least(gpus, 2, "random-pairs")
    _at_most(count, hint="")
    source = rng.integers(0, len(gpus), count)
    step = rng.integers(1, len(gpus), count)
    return gpus[source], gpus[(source + step) % len(gpus)]


def shift(gpus: Ints, by: int) -> Pairs:
    """GPU i sends to GPU i + by, around the end.

    Examples
    --------
    >>> [part.tolist() for part in shift(np.arange(4), 1)]
    [[0, 1, 2, 3], [1, 2, 3, 0]]
    """
    _at_least(gpus, 2, "shift")
    if by % len(gpus) == 0:
        raise InputError(
            f"a shift by {by:,} sends every one of {len(gpus):,} GPUs to itself",
            where="traffic",
            hint="shift by a number of GPUs that is no multiple of that",
        )
    return gpus, np.roll(gpus, -(by % len(gpus)))


def incast(gpus: Ints, target: int) -> Pairs:
    """Every other GPU sends to one."""
    source = gpus[gpus != target]
    if not len(source):
        raise InputError("incast needs at least one GPU besides its target", where="traffic")
    return source, np.full_like(source, target)


def all_to_all(gpus: Ints) -> Pairs:
    """Every GPU sends to every other: n (n - 1) flows."""
    _at_least(gpus, 2, "all-to-all")
    _at_most(
        len(gpus) * (len(gpus) - 1),
        hint="name fewer racks with '@rack-[0-7]'; the fabric's all-to-all figure covers all",
    )
    source, target = np.divmod(np.arange(len(gpus) ** 2), len(gpus))
    apart = source != target
    return gpus[source[apart]], gpus[target[apart]]


def bisection(gpus: Ints, rng: np.random.Generator) -> Pairs:
    """Two random halves; each GPU sends to its partner in the other half and receives from it.

    References
    ----------
    Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars", CLUSTER 2008
    (effective bisection bandwidth).
    """
    _at_least(gpus, 2, "bisection")
    order = rng.permutation(gpus)
    half = len(gpus) // 2
    one, two = order[:half], order[half : 2 * half]
    return np.concatenate([one, two]), np.concatenate([two, one])


def _at_least(gpus: Ints, count: int, pattern: str) -> None:
    if len(gpus) < count:
        raise InputError(
            f"{pattern} needs at least {count} GPUs (got {len(gpus)})", where="traffic"
        )


def _at_most(flows: int, hint: str) -> None:
    if not 1 <= flows <= MOST_FLOWS:
        raise InputError(
            f"a pattern has 1 to {MOST_FLOWS:,} flows (got {flows:,})", where="traffic", hint=hint
        )
