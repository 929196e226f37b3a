"""How often to write checkpoints, and what failures leave of a job's time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gbviz.errors import InputError

# Newton doubles the digits with each; a few to get near.
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """A job that writes checkpoints and fails at random times.

    Parameters
    ----------
    write_s
        Time that a checkpoint stops the job for, above 0.
    mtbf_s
        Mean time between failures of all that the job needs, above 0.
    restart_s
        From a failure until the job runs on from its last checkpoint, at least 0.

    Notes
    -----
    Failures are exponential and may also strike while a checkpoint is written or during a
    restart. The job then takes ``M e^(R/M) (e^((tau + d)/M) - 1)`` for `tau` of work.

    References
    ----------
    J. W. Young, A first order approximation to the optimum checkpoint interval, Communications
    of the ACM 17 (9), 1974.

    J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps,
    Future Generation Computer Systems 22, 2006.

    Examples
    --------
    Five minutes for a checkpoint, two hours between failures: write every 31 minutes, and two
    thirds of the time are useful.

    >>> job = Checkpoints(write_s=300, mtbf_s=7200, restart_s=900)
    >>> best = job.best_s()
    >>> round(job.young_s()), round(job.daly_s()), round(best), round(job.efficiency(best), 3)
    (2078, 1883, 1883, 0.652)
    """

    write_s: float
    mtbf_s: float
    restart_s: float = 0.0

    def __post_init__(self) -> None:
        _above("write_s", self.write_s)
        _above("mtbf_s", self.mtbf_s)
        if not (math.isfinite(self.restart_s) and self.restart_s >= 0):
            raise InputError(
                f"must be finite and at least 0 (got {self.restart_s:g})", where="restart_s"
            )

    def young_s(self) -> float:
        """Work between two checkpoints by Young's rule, ``sqrt(2 d M)``."""
        return math.sqrt(2 * self.write_s * self.mtbf_s)

    def daly_s(self) -> float:
        """Work between two checkpoints by Daly's rule; the MTBF where writing takes 2 M or more."""
        if self.write_s >= 2 * self.mtbf_s:
            return self.mtbf_s
        ratio = self.write_s / (2 * self.mtbf_s)
        return self.young_s() * (1 + math.sqrt(ratio) / 3 + ratio / 9) - self.write_s

    def best_s(self) -> float:
        """Work between two checkpoints that makes `efficiency` greatest.

        Notes
        -----
        ``M (1 + W(-e^(-d/M - 1)))``, W Lambert's function, so the u in (0, 1) with
        ``u + log(1 - u) = -d/M`` times M. Found by Newton's method from the side from which its
        steps do not cross the root: in u, or in 1 - u where that is the small one.
        """
        ratio = self.write_s / self.mtbf_s
        if ratio > 1:
            gap = math.exp(-1 - ratio)
            for _ in range(_ROUNDS):
                gap -= (1 - gap + math.log(gap) + ratio) / (1 / gap - 1)
            return self.mtbf_s * (1 - gap)
        u = min(0.999, math.sqrt(2 * ratio))
        for _ in range(_ROUNDS):
            u += (u + math.log1p(-u) + ratio) * (1 - u) / u
        return self.mtbf_s * u

    def efficiency(self, interval_s: float) -> float:
        """Share of the time that becomes work, with so much work between two checkpoints."""
        M = self.mtbf_s
        spent = math.expm1((_above("interval_s", interval_s) + self.write_s) / M)
        return interval_s / (M * math.exp(self.restart_s / M) * spent)

    def first_order_efficiency(self, interval_s: float) -> float:
        """`efficiency` where failures are rare, ``1 - d/tau - (tau/2 + R)/M``; may be below 0."""
        lost = interval_s / 2 + self.restart_s
        return 1 - self.write_s / _above("interval_s", interval_s) - lost / self.mtbf_s


@dataclass(frozen=True, slots=True)
class Ettr:
    """Effective training time ratio of a job on many nodes, to first order.

    Parameters
    ----------
    nodes
        Nodes of the job, above 0.
    per_node_day
        Failures of a node in a day, above 0.
    restart_days, write_days
        Time to restart after a failure, and time that a checkpoint stops the job for.

    References
    ----------
    A. Kokolis et al., Revisiting reliability in large-scale machine learning research clusters,
    HPCA 2025, expected ETTR.

    Examples
    --------
    12,000 GPUs, 6.5 failures a thousand nodes and day, checkpoints of 10 s, restarts of 5 min.

    >>> job = Ettr(1500, 0.0065, 5 / 1440, 10 / 86400)
    >>> best = job.best_days()
    >>> round(best * 1440, 2), round(job.expected(best), 4)
    (7.02, 0.9205)
    """

    nodes: float
    per_node_day: float
    restart_days: float
    write_days: float

    def __post_init__(self) -> None:
        for name in ("nodes", "per_node_day", "write_days"):
            _above(name, getattr(self, name))
        if not (math.isfinite(self.restart_days) and self.restart_days >= 0):
            raise InputError(
                f"must be finite and at least 0 (got {self.restart_days:g})", where="restart_days"
            )

    def best_days(self) -> float:
        """Days between two checkpoints that make the ratio greatest, ``sqrt(2 w / (N r))``."""
        return math.sqrt(2 * self.write_days / (self.nodes * self.per_node_day))

    def expected(self, interval_days: float) -> float:
        """``(1 - N r (u + dt/2)) / (1 + w/dt)``, no less than 0."""
        lost = self.restart_days + _above("interval_days", interval_days) / 2
        ratio = (1 - self.nodes * self.per_node_day * lost) / (1 + self.write_days / interval_days)
        return max(0.0, ratio)


def _above(name: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"must be finite and more than 0 (got {value:g})", where=name)
    return float(value)
