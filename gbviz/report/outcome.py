"""What became of one file of a batch, in few words: what a table of many needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from gbviz.report.figure_rows import SHARES
from gbviz.report.glance import glance
from gbviz.report.junit import Limit, limits_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.report.seen import Seen

Json = dict[str, Any]

State = Literal["done", "bad", "broken", "waiting"]

# Exit codes of a run: the worst of all files counts.
FAILED, BAD_INPUT, INTERNAL = 1, 2, 3


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """A job at the end: state, time over that on the healthy cluster, goodput, what limits it."""

    name: str
    state: str
    slowdown: float | None
    goodput: float | None
    limit: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One file of a batch.

    Parameters
    ----------
    file, folder
        What was read, and the folder that holds its results.
    state
        `done`, `bad` (the file is), `broken` (we are), or `waiting`: not run.
    title
        The scenario's name.
    answer
        The answer in three sentences; empty where there is none.
    jobs
        Of the scenario.
    figures
        Least goodput, and that of the same job without faults; the most that a job stands still in
        all, seconds; the time of the slowest while it runs over its healthy time; live GPUs and
        what is left of bisection, all-to-all, NVLink and compute at the worst time, parts of 1.
    limits
        Its expectations.
    error
        Why there is no answer, "" where there is one.
    """

    file: str
    folder: str
    state: State
    title: str = ""
    answer: tuple[str, ...] = ()
    jobs: tuple[JobOutcome, ...] = ()
    figures: tuple[tuple[str, float | None], ...] = ()
    limits: tuple[Limit, ...] = ()
    error: str = ""

    @property
    def failed(self) -> tuple[str, ...]:
        """Expectations that failed, in words."""
        return tuple(f"expected {one.expect}, {one.found}" for one in self.limits if not one.passed)

    @property
    def code(self) -> int:
        """What a run exits with because of it."""
        if self.state == "broken":
            return INTERNAL
        if self.state == "bad":
            return BAD_INPUT
        return FAILED if self.failed else 0

    def plain(self) -> Json:
        """As plain values, which `from_plain` takes back."""
        return asdict(self)


def from_plain(values: Json) -> Outcome:
    """An outcome from its plain values.

    Examples
    --------
    >>> one = Outcome("a.yaml", "a", "done", jobs=(JobOutcome("j", "running", 1.0, None, ""),))
    >>> import json
    >>> from_plain(json.loads(json.dumps(one.plain()))) == one
    True
    """
    jobs = tuple(JobOutcome(**job) for job in values["jobs"])
    figures = tuple((name, value) for name, value in values["figures"])
    limits = tuple(Limit(*limit) for limit in values["limits"])
    parts = {"jobs": jobs, "figures": figures, "limits": limits, "answer": tuple(values["answer"])}
    return Outcome(**values | parts)


GOODPUT, CALM, STOPPED = "least goodput", "goodput without faults", "stopped in all"
SLOWEST, GPUS = "slowest job", "live GPUs"


def outcome_of(file: str, folder: str, found: Json, seen: Seen | None) -> Outcome:
    """The outcome of a file that was run.

    Parameters
    ----------
    file, folder
        As in `Outcome`.
    found
        Its result document.
    seen
        The states that its report shows; None where there is no report, and so nothing of them.
    """
    return Outcome(
        file,
        folder,
        "done",
        found["scenario"]["name"],
        () if seen is None else seen.answer,
        tuple(_job(job, found["totals"]["goodput"]) for job in found["jobs"]),
        () if seen is None else tuple(_figures(seen)),
        limits_of(found["expect"]),
    )


def _job(job: Json, goodputs: Json) -> JobOutcome:
    limit = job.get("bottleneck") or {}
    words = limit.get("words") or limit.get("link") or ""
    return JobOutcome(job["name"], job["state"], job["slowdown"], goodputs.get(job["name"]), words)


def _figures(seen: Seen) -> Iterator[tuple[str, float | None]]:
    found, most = glance(seen), seen.most
    if most.jobs:
        yield GOODPUT, None if found.goodput is None else found.goodput[1]
        yield CALM, None if found.goodput is None else found.goodput[2]
        yield STOPPED, None if found.stopped is None else found.stopped[1]
        yield SLOWEST, None if found.slowest is None else found.slowest[1]
    yield GPUS, float(most.post.live_gpus)
    for word, figure in SHARES:
        before, now = getattr(most.base, figure), getattr(most.post, figure)
        yield word, now / before if before and now is not None else None
