"""Expectations: limits that a result must keep, for automation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from gbviz.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

Subject = Literal["job", "fabric", "cooling", "totals"]
Operator = Literal["<=", ">=", "<", ">", "==", "!="]

SUBJECTS: tuple[Subject, ...] = get_args(Subject)
_LIMIT = re.compile(
    r"\s*(<=|>=|==|!=|<|>)\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*"
)
_LONGEST = 60

# Every figure by its name, with its meaning.
FABRIC = {
    "live_gpus": "GPUs that neither failed nor were shut down",
    "injection_GBps": "what all live NICs can send, GB/s",
    "bisection_GBps": "maximum flow from the first half of the leaves to the second, GB/s",
    "bisection_fraction": "that, over what the healthy cluster has",
    "all_to_all_GBps_per_gpu": "what a GPU sends when each sends the same to each, GB/s",
    "worst_pair_GBps": "the slowest pair of GPUs in different racks, alone on the fabric, GB/s",
    "worst_leaf_uplink_fraction": "live over healthy uplinks of the worst leaf",
    "nvlink_GBps": "live NVLink of all GPUs, GB/s",
    "compute_fraction": "mean clock of all GPUs, 1 = full",
    "cut_off_pairs": "pairs of live GPUs in different racks without a way, each direction counted",
}
_EVERY_JOB = {
    "slowdown": "how many times as long it takes as the healthy job",
    "stall_s": "what the faults cost once: waiting, seconds",
    "lost_work_s": "what they cost once: work since the last checkpoint, on average, seconds",
    "restart_s": "what they cost once: a restart, seconds",
}
_STEPPING = _EVERY_JOB | {
    "gpus": "GPUs that it runs on",
    "lost_gpus": "its GPUs that are lost",
    "replaced_gpus": "those of them that spares replace",
}
JOB = {
    "training": _STEPPING
    | {
        "step_s": "time of a step, seconds",
        "tokens_per_s": "tokens trained on in a second",
        "mfu": "model FLOP/s over the peak of all its GPUs",
        "bubble_s": "part of a step in which pipeline stages wait, seconds",
        "dp": "replicas that train",
        "days_to_target": "days until `tokens` are reached, where the job states them",
        "days_later": "how many days later that is than without the faults",
    },
    "inference": _STEPPING
    | {
        "tokens_per_s": "tokens written in a second",
        "tpot_s": "time of one more token of a request, seconds",
        "ttft_s": "time to the first token, seconds",
    },
    "collective": _STEPPING
    | {
        "time_s": "time of one collective, seconds",
        "algbw_GBps": "size over time, GB/s",
        "busbw_GBps": "bus bandwidth as nccl-tests defines it, GB/s",
    },
    "traffic": _EVERY_JOB
    | {
        "min_GBps": "the slowest flow, GB/s",
        "mean_GBps": "the mean of all flows, GB/s",
        "total_GBps": "all flows together, GB/s",
        "cut_off": "flows between live GPUs without a way",
        "gone": "flows from or to a failed GPU",
    },
}
COOLING = {
    "heat_kw": "heat that its racks give off, kW",
    "capacity_kw": "heat that its live units can take away, kW",
    "supply_c": "temperature of the coolant to the racks, degrees C",
    "hottest_die_c": "temperature of the hottest GPU die, degrees C",
    "clock": "clock of its slowest GPUs, 1 = full",
}
# Totals over the timeline, one for each job; and those of all jobs together.
JOB_TOTALS = {
    "goodput": "work kept over what the healthy job would have done in all the time",
    "useful_s": "work kept, in seconds of the healthy job",
    "lost_work_s": "work done and lost again, in seconds of the healthy job",
    "checkpoint_s": "time spent writing checkpoints, seconds",
    "stalled_s": "time spent waiting, seconds",
    "restarting_s": "time spent in restarts, seconds",
    "aborted_s": "time in which it could not run, seconds",
    "finished_s": "time after it had all its tokens, seconds",
    "aborts": "how often it aborted",
    "gpu_hours": "hours of GPUs that it held, used or not",
    "tokens": "tokens of training and inference",
    "bytes": "bytes of independent flows",
}
TOTALS = JOB_TOTALS | {"lost_gpu_hours": "hours of GPUs held without useful work, of all jobs"}


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
        raise InputError(f"must be an operator and a number (got {shown})", hint=_meant(text))
    operator: Operator = match[1]  # type: ignore[assignment] # the pattern has no other
    return operator, number


def _meant(text: object) -> str:
    """What somebody may have meant who wrote this for a limit."""
    said = text.strip() if isinstance(text, str) and len(text) <= _LONGEST else ""
    if said.endswith("%"):
        return "a part of 1 goes without a sign: 90 % is 0.9"
    swapped = {"=<": "<=", "=>": ">="}.get(said[:2])
    return f"write {swapped} for {said[:2]}" if swapped else 'for example "<= 1.10"'


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


def _refuse(word: str, choices: Mapping[str, str], where: str, says: str) -> None:
    raise InputError(f"{says} {word[:60]!r}", where=where, hint=did_you_mean(word, choices))
