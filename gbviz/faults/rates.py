"""How often parts fail and how long they stay down: rates, mean times, and k of n."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HOURS_PER_DAY = 24.0


@dataclass(frozen=True, slots=True)
class Observed:
    """Failures counted over a while, as a Poisson process.

    Parameters
    ----------
    count
        Failures, at least 0.
    parts
        Parts that were watched, above 0.
    days
        For how long, above 0.

    Examples
    --------
    Llama 3: 148 faulty GPUs among 16,384 in 54 days.

    >>> seen = Observed(148, 16_384, 54)
    >>> round(seen.mtbf_h), round(seen.per_year(), 4)
    (143471, 0.0611)
    """

    count: float
    parts: float
    days: float

    def __post_init__(self) -> None:
        _least("count", self.count, 0.0)
        _above("parts", self.parts)
        _above("days", self.days)

    @property
    def mtbf_h(self) -> float:
        """Mean hours between failures of one part; inf where none was seen."""
        hours = self.parts * self.days * HOURS_PER_DAY
        return hours / self.count if self.count else math.inf

    @property
    def all_mtbf_h(self) -> float:
        """Mean hours between failures of all of them together; inf where none was seen."""
        return self.mtbf_h / self.parts

    @property
    def per_day(self) -> float:
        """Failures a day of all of them together."""
        return self.count / self.days

    @property
    def per_1000_days(self) -> float:
        """Failures of a thousand parts in a day."""
        return 1000 * self.count / (self.parts * self.days)

    @property
    def relative_deviation(self) -> float:
        """Standard deviation of the rate over the rate, ``1 / sqrt(count)``; inf for none."""
        return 1 / math.sqrt(self.count) if self.count else math.inf

    def per_year(self, days_per_year: float = 365.0) -> float:
        """Failures of one part in a year."""
        return self.count / (self.parts * self.days) * _above("days_per_year", days_per_year)


def mtbf_of_many_h(mtbf_h: float, parts: float) -> float:
    """Mean hours between failures of so many independent parts, any of which counts.

    Examples
    --------
    100,000 links that each last 5 years: 26 minutes.

    >>> round(mtbf_of_many_h(5 * 8760, 100_000) * 60, 2)
    26.28
    """
    return _above("mtbf_h", mtbf_h) / _above("parts", parts)


def mtbf_from_rate_h(failures: float, days: float = 1.0) -> float:
    """Mean hours between failures that come at so many in so many days.

    Examples
    --------
    2,048 nodes at 6.5 failures a thousand nodes and day.

    >>> round(mtbf_from_rate_h(2048 * 6.5, days=1000), 2)
    1.8
    """
    return _above("days", days) * HOURS_PER_DAY / _above("failures", failures)


def afr(mtbf_h: float, hours_per_year: float = 8760.0) -> float:
    """Chance that a part fails within a year, ``1 - e^(-year / MTBF)``.

    Examples
    --------
    >>> round(afr(8760), 3), afr(math.inf)
    (0.632, 0.0)
    """
    return chance_of_failure(hours_per_year / _above("mtbf_h", mtbf_h))


def mtbf_from_chance_h(chance: float, hours: float) -> float:
    """Mean hours between failures of a part, a given share of which fails within a while.

    Examples
    --------
    2 % of switches fail within a quarter; 7.8 % then fail within a year.

    >>> mtbf = mtbf_from_chance_h(0.02, 2190)
    >>> round(mtbf), round(afr(mtbf), 4)
    (108401, 0.0776)
    """
    if not 0 < chance < 1:
        raise InputError(f"must be between 0 and 1 (got {chance:g})", where="chance")
    return -_above("hours", hours) / math.log1p(-chance)


def rate_from_share_h(share: float, hours: float) -> float:
    """Mean hours between failures of a part that fails at a steady rate of `share` in `hours`.

    Unlike `mtbf_from_chance_h`, repaired parts may fail again within the while.

    Examples
    --------
    0.057 % of links a month of 730 h.

    >>> round(rate_from_share_h(0.00057, 730))
    1280702
    """
    return _above("hours", hours) / _above("share", share)


def chance_of_failure(expected: float) -> float:
    """Chance of at least one failure where so many are expected, ``1 - e^(-expected)``.

    Examples
    --------
    1,024 GPUs at one failure in a hundred years each, for 30 days.

    >>> round(chance_of_failure(0.01 * 1024 * 30 / 365), 2)
    0.57
    """
    return -math.expm1(-_least("expected", expected, 0.0))


def k_of_n(n: int, k: int, availability: float) -> float:
    """Chance that at least k of n independent parts are up.

    Parameters
    ----------
    n, k
        ``0 <= k <= n``.
    availability
        Chance that one is up, in [0, 1].

    Notes
    -----
    Whichever tail has fewer terms is summed; near 1 it is 1 minus the chance of too few.

    Examples
    --------
    >>> k_of_n(2, 1, 0.9), k_of_n(3, 0, 0.0)
    (0.99, 1.0)
    """
    if not 0 <= k <= n:
        raise InputError(f"must be in 0 to {n} (got {k})", where="k")
    if not 0 <= availability <= 1:
        raise InputError(f"must be in 0 to 1 (got {availability:g})", where="availability")

    def chance(up: int) -> float:
        return math.comb(n, up) * availability**up * (1 - availability) ** (n - up)

    if 2 * k <= n:
        return max(0.0, 1 - math.fsum(chance(up) for up in range(k)))
    return min(1.0, math.fsum(chance(up) for up in range(k, n + 1)))


@dataclass(frozen=True, slots=True)
class Repairs:
    """Repairs of a trace of faults.

    Parameters
    ----------
    hours
        From each start to its end, in the order of the starts.
    open
        Starts without an end.
    """

    hours: tuple[float, ...]
    open: int

    @property
    def median_h(self) -> float:
        """Median, hours; NaN of none."""
        return statistics.median(self.hours) if self.hours else math.nan

    @property
    def mean_h(self) -> float:
        """Mean, hours; NaN of none."""
        return math.fsum(self.hours) / len(self.hours) if self.hours else math.nan


def repairs(events: Iterable[Mapping[str, object]]) -> Repairs:
    """Pair the starts and ends of faults: each end goes with the earliest open start.

    Parameters
    ----------
    events
        In the order of their time, each with `node` and `fault` (what was wrong; any values that
        can be keys), `day` (a number) and `start` (True or False).

    Raises
    ------
    InputError
        An end without a start, or an event before the one ahead of it.

    Examples
    --------
    >>> def event(day, start):
    ...     return {"node": 1, "fault": "NIC", "day": day, "start": start}
    >>> repairs([event(0.0, True), event(0.5, True), event(1.0, False)])
    Repairs(hours=(24.0,), open=1)
    """
    waiting: dict[tuple[object, object], list[int]] = {}
    starts: list[float] = []
    ends: dict[int, float] = {}
    before = -math.inf
    for number, event in enumerate(events):
        day = float(str(event["day"]))
        if not day >= before:
            raise InputError("is earlier than the one before it", where=f"event {number}")
        before, key = day, (event["node"], event["fault"])
        if event["start"]:
            waiting.setdefault(key, []).append(len(starts))
            starts.append(day)
        elif waiting.get(key):
            ends[waiting[key].pop(0)] = day
        else:
            raise InputError("ends a fault that has not begun", where=f"event {number}")
    hours = tuple((ends[n] - day) * HOURS_PER_DAY for n, day in enumerate(starts) if n in ends)
    return Repairs(hours, len(starts) - len(ends))


def unavailable(hours: Sequence[float], parts: float, days: float) -> float:
    """Share of the time of so many parts that was spent in repair.

    Examples
    --------
    Two repairs of 12 h on ten parts in ten days.

    >>> unavailable([12.0, 12.0], 10, 10)
    0.01
    """
    return math.fsum(hours) / (_above("parts", parts) * _above("days", days) * HOURS_PER_DAY)


def _above(name: str, value: float) -> float:
    if not value > 0:
        raise InputError(f"must be more than 0 (got {value:g})", where=name)
    return value


def _least(name: str, value: float, least: float) -> float:
    if not (math.isfinite(value) and value >= least):
        raise InputError(f"must be finite and at least {least:g} (got {value:g})", where=name)
    return value
