"""What a collective costs by formula: bytes, steps and seconds, given the rates.

S is always the whole buffer: the output of an all-gather, the input of a reduce-scatter, what one
rank holds before an all-to-all. Rates are GB/s of one rank in one direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gbviz.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

Op = Literal[
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "send_recv"
]
Algorithm = Literal["ring", "tree", "recursive_doubling", "rabenseifner", "nvls", "direct"]
LossPolicy = Literal["balanced", "buddy"]


def transfer_s(size_bytes: float, rate_GBps: float) -> float:
    """Seconds that bytes take at a rate: 0 for none, inf at rate 0.

    Examples
    --------
    >>> transfer_s(5e9, 50.0), transfer_s(0.0, 0.0), transfer_s(1.0, 0.0)
    (0.1, 0.0, inf)
    """
    if size_bytes == 0:
        return 0.0
    return size_bytes / (rate_GBps * 1e9) if rate_GBps > 0 else math.inf


def bus_factor(op: Op, n: int) -> float:
    """Bus bandwidth over algorithm bandwidth, as nccl-tests defines it.

    Parameters
    ----------
    op
        Which collective.
    n
        Ranks, at least 1.

    Notes
    -----
    It is what each rank of a ring sends, as a share of S. nccl-tests prints it for in-switch
    reduction too, so that a bus bandwidth may exceed the wire.

    References
    ----------
    NVIDIA, nccl-tests, doc/PERFORMANCE.md.

    Examples
    --------
    >>> bus_factor("all_reduce", 8), bus_factor("all_gather", 8), bus_factor("broadcast", 8)
    (1.75, 0.875, 1.0)
    """
    if op in ("broadcast", "reduce", "send_recv"):
        return 1.0
    return (2 if op == "all_reduce" else 1) * (n - 1) / n


def algbw(size_bytes: float, time_s: float) -> float:
    """Algorithm bandwidth in GB/s, S / t; inf where nothing takes time.

    Examples
    --------
    >>> algbw(1e9, 0.002)
    500.0
    """
    return size_bytes / time_s / 1e9 if time_s > 0 else math.inf


def busbw(op: Op, n: int, size_bytes: float, time_s: float) -> float:
    """Bus bandwidth in GB/s: algorithm bandwidth times `bus_factor`; inf for one rank.

    Examples
    --------
    >>> busbw("all_reduce", 8, 1e9, 0.002)
    875.0
    """
    return bus_factor(op, n) * algbw(size_bytes, time_s) if n > 1 else math.inf


@dataclass(frozen=True, slots=True)
class Cost:
    """What one collective asks of its busiest rank.

    Parameters
    ----------
    steps
        Messages one after another.
    sent_bytes
        Bytes that the rank sends in all of them.
    """

    steps: int
    sent_bytes: float

    def time_s(self, alpha_s: float, rate_GBps: float) -> float:
        """Seconds: `alpha_s` a step and the bytes at the rate.

        Examples
        --------
        >>> Cost(2, 1e9).time_s(1e-3, 100.0)
        0.012
        """
        return self.steps * alpha_s + transfer_s(self.sent_bytes, rate_GBps)


def cost(op: Op, n: int, size_bytes: float, algorithm: Algorithm | None = None) -> Cost:
    """Steps and bytes of a collective; both 0 for one rank.

    Parameters
    ----------
    op, n
        Which collective, over how many ranks.
    size_bytes
        S.
    algorithm
        None = a ring where reductions and gathers have one, else direct or a tree. ``"tree"`` of
        an all-reduce is NCCL's double binary tree; ``"nvls"`` reduces and multicasts in the
        switch, one step, each rank reading and writing its slices.

    Raises
    ------
    InputError
        The collective has no such algorithm; the text lists those it has.

    Notes
    -----
    Bandwidth terms assume pipelining. Where n is no power of two, recursive doubling and
    Rabenseifner's algorithm fold the extra ranks into others: two more steps of S.

    References
    ----------
    Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
    2005; Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and
    scan, 2009.

    Examples
    --------
    >>> cost("all_reduce", 4, 1e9), cost("all_reduce", 4, 1e9, "nvls")
    (Cost(steps=6, sent_bytes=1500000000.0), Cost(steps=1, sent_bytes=1250000000.0))
    >>> cost("all_gather", 4, 1e9, "tree")
    Traceback (most recent call last):
    gbviz.errors.InputError: all_gather has no algorithm 'tree'; choose one of: ring
    """
    known = _COSTS[op]
    chosen: Algorithm = next(iter(known)) if algorithm is None else algorithm
    if chosen not in known:
        raise InputError(
            f"{op} has no algorithm {chosen!r}", hint="choose one of: " + ", ".join(known)
        )
    if n == 1:
        return Cost(0, 0.0)
    steps, share = known[chosen](n)
    return Cost(steps, share * size_bytes)


def _levels(n: int) -> int:
    """Levels of a binary tree over n ranks, its root not counted."""
    return (n - 1).bit_length()


def _folded(n: int) -> tuple[int, int]:
    """The largest power of two in n, and the steps that fold the other ranks in and out."""
    power = 1 << (n.bit_length() - 1)
    return power, 0 if power == n else 2


def _doubling(n: int) -> tuple[int, float]:
    power, fold = _folded(n)
    steps = _levels(power) + fold
    return steps, float(steps)


def _rabenseifner(n: int) -> tuple[int, float]:
    power, fold = _folded(n)
    return 2 * _levels(power) + fold, 2 * (power - 1) / power + fold


def _one_way(n: int) -> tuple[int, float]:
    return n - 1, (n - 1) / n


# Steps and share of S by collective and algorithm, for two ranks or more; the default comes first.
_COSTS: dict[Op, dict[Algorithm, Callable[[int], tuple[int, float]]]] = {
    "all_reduce": {
        "ring": lambda n: (2 * (n - 1), 2 * (n - 1) / n),
        "tree": lambda n: (2 * _levels(n), 2.0),
        "recursive_doubling": _doubling,
        "rabenseifner": _rabenseifner,
        "nvls": lambda n: (1, (n + 1) / n),
    },
    "reduce_scatter": {"ring": _one_way},
    "all_gather": {"ring": _one_way},
    "all_to_all": {"direct": _one_way},
    "broadcast": {"tree": lambda n: (_levels(n), 1.0), "ring": lambda n: (n - 1, 1.0)},
    "reduce": {"tree": lambda n: (_levels(n), 1.0), "ring": lambda n: (n - 1, 1.0)},
    "send_recv": {"direct": lambda _: (1, 1.0)},
}


def nvls_limits(n: int, wire_GBps: float) -> tuple[float, float]:
    """Algorithm and bus bandwidth that in-switch all-reduce cannot exceed; inf for one rank.

    Examples
    --------
    >>> [round(limit, 1) for limit in nvls_limits(72, 900.0)]
    [887.7, 1750.7]
    """
    if n == 1:
        return math.inf, math.inf
    algbw = wire_GBps * n / (n + 1)
    return algbw, algbw * bus_factor("all_reduce", n)


@dataclass(frozen=True, slots=True)
class TwoTier:
    """A collective over k NVLink domains of g ranks each, per rank.

    Parameters
    ----------
    nvlink_bytes, ib_bytes
        Bytes that a rank sends on NVLink, and through its NIC.
    nvlink_s, ib_s
        Seconds of each part, latency included.
    nvlink_latency_s, ib_latency_s
        Of which latency.
    eta_x
        Share of its speed that the slower part keeps; 1 where only one tier is used.
    """

    nvlink_bytes: float
    ib_bytes: float
    nvlink_s: float
    ib_s: float
    nvlink_latency_s: float
    ib_latency_s: float
    eta_x: float

    @property
    def overlap_s(self) -> float:
        """Seconds with both parts pipelined: the slower one, and the latency of the other."""
        if self.nvlink_s >= self.ib_s:
            return self.nvlink_s / self.eta_x + self.ib_latency_s
        return self.ib_s / self.eta_x + self.nvlink_latency_s

    @property
    def serial_s(self) -> float:
        """Seconds with one part after the other, the slower one at `eta_x`."""
        slow = max(self.nvlink_s, self.ib_s)
        return slow / self.eta_x + min(self.nvlink_s, self.ib_s)


def two_tier(
    op: Op,
    g: int,
    k: int,
    size_bytes: float,
    nvlink_GBps: float,
    nic_GBps: float,
    *,
    eta_x: float = 1.0,
    alpha_nvlink_s: float = 0.0,
    alpha_ib_s: float = 0.0,
) -> TwoTier:
    """A reduction, gather or all-to-all over k NVLink domains of g ranks with a NIC each.

    Parameters
    ----------
    op
        All-reduce, reduce-scatter, all-gather or all-to-all.
    g, k
        Ranks per domain; domains.
    size_bytes
        S; of an all-to-all the bytes of one rank, its own share included.
    nvlink_GBps, nic_GBps
        What a rank sends on NVLink and through its NIC.
    eta_x
        See `TwoTier`; used where both tiers are.
    alpha_nvlink_s, alpha_ib_s
        Seconds of a ring step on each.

    Raises
    ------
    InputError
        Any other collective.

    Notes
    -----
    Reductions and gathers are hierarchical: reduce-scatter on NVLink, ring on each rail over a
    g-th of S, all-gather on NVLink. An all-to-all sends k - 1 of k parts out of its domain.

    References
    ----------
    S. Bekman, Machine Learning Engineering (github.com/stas00/ml-engineering), network.

    Examples
    --------
    4 GiB over 4 nodes of 8: 7 GiB on NVLink, 0.75 GiB through the NIC.

    >>> both = two_tier("all_reduce", 8, 4, 4 * 2**30, 682.0, 50.0)
    >>> both.nvlink_bytes / 2**30, both.ib_bytes / 2**30, round(both.overlap_s * 1e3, 2)
    (7.0, 0.75, 16.11)
    """
    if op == "all_to_all":
        nvlink, ib = (g - 1) / (g * k), (k - 1) / k
    elif op in ("all_reduce", "reduce_scatter", "all_gather"):
        nvlink, ib = bus_factor(op, g), bus_factor(op, k) / g
    else:
        raise InputError(f"{op} over several NVLink domains has no formula")
    rounds = 2 if op == "all_reduce" else 1
    nvlink_latency_s = rounds * (g - 1) * alpha_nvlink_s
    ib_latency_s = rounds * (k - 1) * alpha_ib_s
    return TwoTier(
        nvlink_bytes=nvlink * size_bytes,
        ib_bytes=ib * size_bytes,
        nvlink_s=nvlink_latency_s + transfer_s(nvlink * size_bytes, nvlink_GBps),
        ib_s=ib_latency_s + transfer_s(ib * size_bytes, nic_GBps),
        nvlink_latency_s=nvlink_latency_s,
        ib_latency_s=ib_latency_s,
        eta_x=eta_x if g > 1 and k > 1 else 1.0,
    )


def flat_ring_rate(g: int, k: int, nvlink_GBps: float, nic_GBps: float) -> float:
    """Rate (GB/s) of rings through all ranks that leave each domain over its g NICs together.

    Examples
    --------
    >>> flat_ring_rate(8, 4, 680.0, 47.5), flat_ring_rate(8, 1, 680.0, 47.5)
    (380.0, 680.0)
    """
    return nvlink_GBps if k == 1 else min(nvlink_GBps, g * nic_GBps)


def nic_bound_busbw(g: int, k: int, nic_GBps: float) -> float:
    """Bus bandwidth (GB/s) of a two-tier all-reduce that NICs limit; inf where none is used.

    Examples
    --------
    >>> round(nic_bound_busbw(8, 4, 50.0), 2)
    516.67
    """
    return math.inf if k == 1 else nic_GBps * (g * k - 1) / (k - 1)


def nic_loss_factor(nics: int, failed: int, policy: LossPolicy = "balanced") -> float:
    """How many times longer the InfiniBand part of a domain takes after NICs failed.

    Parameters
    ----------
    nics, failed
        NICs of the domain, and how many of them are lost.
    policy
        ``"balanced"``: the others share the load evenly. ``"buddy"``: each lost share goes to one
        other NIC, as evenly as whole shares allow.

    Returns
    -------
    float
        1 with none lost; inf with all lost.

    Examples
    --------
    >>> nic_loss_factor(72, 18), nic_loss_factor(72, 1, "buddy"), nic_loss_factor(4, 4)
    (1.3333333333333333, 2.0, inf)
    """
    live = nics - failed
    if live <= 0:
        return math.inf
    return nics / live if policy == "balanced" else 1.0 + math.ceil(failed / live)
