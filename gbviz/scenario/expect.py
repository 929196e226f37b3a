"""Expectations: limits that a result must keep, for automation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from gbviz.errors import InputError, did_you_mean

Subject = Literal["job", "fabric", "cooling", "totals"]
Operator = Literal["<=", ">=", "<", ">", "==", "!="]

SUBJECTS: tuple[Subject, ...] = get_args(Subject)
_LIMIT = re.compile(
    r"\s*(<=|>=|==|!=|<|>)\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*"
)
_LONGEST = 60

FABRIC = (
    "live_gpus",
    "injection_GBps",
    "bisection_GBps",
    "bisection_fraction",
    "all_to_all_GBps_per_gpu",
    "worst_pair_GBps",
    "worst_leaf_uplink_fraction",
    "nvlink_GBps",
    "compute_fraction",
    "cut_off_pairs",
)
_TARGET = ("days_to_target", "days_later")
_EVERY_JOB = ("slowdown", "stall_s", "lost_work_s", "restart_s")
_STEPPING = (*_EVERY_JOB, "gpus", "lost_gpus", "replaced_gpus")
JOB = {
    "training": (*_STEPPING, "step_s", "tokens_per_s", "mfu", "bubble_s", "dp", *_TARGET),
    "inference": (*_STEPPING, "tokens_per_s", "tpot_s", "ttft_s"),
    "collective": (*_STEPPING, "time_s", "algbw_GBps", "busbw_GBps"),
    "traffic": (*_EVERY_JOB, "min_GBps", "mean_GBps", "total_GBps", "cut_off", "gone"),
}
COOLING = ("heat_kw", "capacity_kw", "supply_c", "hottest_die_c", "clock")
# Totals over the timeline, one for each job; and those of all jobs together.
JOB_TOTALS = (
    "goodput",
    "useful_s",
    "lost_work_s",
    "checkpoint_s",
    "stalled_s",
    "restarting_s",
    "aborted_s",
    "finished_s",
    "aborts",
    "gpu_hours",
    "tokens",
    "bytes",
)
TOTALS = (*JOB_TOTALS, "lost_gpu_hours")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One limit on one figure of the result.

    Parameters
    ----------
    subject
        Where the figure is.
    name
        The job, the fabric's figure, the cooling loop, or the total.
    metric
        The job's or loop's figure, the job of a total that each has; `value` for the rest.
    operator, limit
        What the figure must be.
    """

    subject: Subject
    name: str
    metric: str
    operator: Operator
    limit: float

    def holds(self, value: float) -> bool:
        """Whether a value keeps the limit; NaN never does.

        Examples
        --------
        >>> Expectation("job", "a", "slowdown", "<=", 1.1).holds(1.2)
        False
        """
        answers: dict[Operator, bool] = {
            "<=": value <= self.limit,
            ">=": value >= self.limit,
            "<": value < self.limit,
            ">": value > self.limit,
            "==": value == self.limit,
            "!=": value != self.limit and value == value,
        }
        return answers[self.operator]

    @property
    def bound(self) -> str:
        """Operator and limit, as a file states them."""
        number = int(self.limit) if self.limit.is_integer() else self.limit
        return f"{self.operator} {number!r}"

    def __str__(self) -> str:
        figure = self.name if self.metric == "value" else f"{self.name}: {self.metric}"
        return f"{self.subject} {figure} {self.bound}"


def limit(text: object) -> tuple[Operator, float]:
    """An operator and a number from `<= 1.10`.

    Raises
    ------
    InputError
        Anything else.

    Examples
    --------
    >>> limit("<= 1.10")
    ('<=', 1.1)
    """
    match = _LIMIT.fullmatch(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    number = float(match[2]) if match else 0.0
    if match is None or number in (float("inf"), float("-inf")):
        shown = repr(text)[:_LONGEST]
        raise InputError(
            f"must be an operator and a number (got {shown})", hint='for example "<= 1.10"'
        )
    operator: Operator = match[1]  # type: ignore[assignment] # the pattern has no other
    return operator, number


def check_figure(subject: Subject, name: str, metric: str, kind: str | None) -> None:
    """Refuse a figure that no result has.

    Parameters
    ----------
    subject, name, metric
        As in `Expectation`.
    kind
        The job's kind, None where the subject is no job or the job is not known.

    Raises
    ------
    InputError
        `where` is "name" or "metric".
    """
    if subject == "job" and kind is not None and metric not in JOB[kind]:
        _refuse(metric, JOB[kind], "metric", f"a {kind} job has no figure")
    if subject == "cooling" and metric not in COOLING:
        _refuse(metric, COOLING, "metric", "a cooling loop has no figure")
    if subject == "fabric" and name not in FABRIC:
        _refuse(name, FABRIC, "name", "the fabric has no figure")
    if subject == "totals" and name not in TOTALS:
        _refuse(name, TOTALS, "name", "there is no total")
    by_value = subject == "fabric" or (subject == "totals" and name not in JOB_TOTALS)
    if by_value and metric != "value":
        raise InputError(f"its limit is under 'value' (got {metric!r})", where="metric")


def _refuse(word: str, choices: tuple[str, ...], where: str, says: str) -> None:
    raise InputError(f"{says} {word[:60]!r}", where=where, hint=did_you_mean(word, choices))
