"""What in a scenario file cannot be at once, found without a fabric."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from gbviz.errors import InputError, did_you_mean
from gbviz.jobs.models import models
from gbviz.jobs.placement import rank_grid
from gbviz.jobs.spec import InferenceJob, Parallelism, Pool, TrafficSpec, TrainingJob, Transformer
from gbviz.jobs.traffic import PATTERNS
from gbviz.scenario.expect import JOB_TOTALS, SUBJECTS, check_figure, limit
from gbviz.scenario.extends import Complaint
from gbviz.scenario.strict import MOST_FAULTS
from gbviz.units import lasting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.jobs.spec import Job, Placement
    from gbviz.scenario.form import EventPart, Parts
    from gbviz.scenario.strict import Path

VERBS = ("fail", "degrade", "flap", "repair", "restore")
_LONG_S = 120.0
_PLACES = ("racks", "gpus", "vms")
_COUNTED = ("random-pairs", "shift")
_WITHOUT = ("permutation", "all-to-all", "bisection")


def contradictions(parts: Parts) -> list[Complaint]:
    """What is wrong with parts that are each right by themselves, up to one more than are told.

    Examples
    --------
    >>> from gbviz.scenario.form import parts_of
    >>> parts, _ = parts_of({"events": [{"at": 0, "degrade": "hxu-0"}]})
    >>> [complaint.message for complaint in contradictions(parts)]
    ["degrade needs 'to', the part that is left"]
    """
    return list(islice(_contradictions(parts), MOST_FAULTS + 1))


def _contradictions(parts: Parts) -> Iterator[Complaint]:
    yield from _names(parts)
    for number, job in parts.jobs.items():
        yield from _job(("jobs", number), job)
    for number, event in parts.events.items():
        yield from _event(("events", number), event, parts.duration)
    jobs = {job.name: job for job in parts.jobs.values()}
    for number, entry in parts.expect.items():
        yield from _expectation(("expect", number), entry, parts, jobs)


def _names(parts: Parts) -> Iterator[Complaint]:
    first: dict[str, int] = {}
    for number, job in parts.jobs.items():
        if job.name in first:
            hint = "give each job a name of its own"
            says = f"is the name of jobs[{first[job.name]}] too"
            yield Complaint(("jobs", number, "name"), says, hint)
        first.setdefault(job.name, number)


def _job(field: Path, job: Job) -> Iterator[Complaint]:
    yield from _placement(field, job)
    if isinstance(job, TrainingJob):
        yield from _training(field, job)
    elif isinstance(job, InferenceJob):
        yield from _pool((*field, "prefill"), job.prefill)
        yield from _pool((*field, "decode"), job.decode)
    elif isinstance(job, TrafficSpec):
        yield from _traffic(field, job)
    if isinstance(job, TrainingJob | InferenceJob):
        yield from _model((*field, "model"), job.model)


def _placement(field: Path, job: Placement) -> Iterator[Complaint]:
    stated = [name for name in _PLACES if getattr(job, name) is not None]
    if len(stated) > 1:
        yield Complaint((*field, stated[1]), f"is stated beside {stated[0]}", "state one of them")
    if job.gpus_per_rack is not None and stated and "racks" not in stated:
        yield Complaint((*field, "gpus_per_rack"), f"goes with racks, not with {stated[0]}")
    if job.gpus == ():
        yield Complaint((*field, "gpus"), "names no GPU")
    try:
        rank_grid({"tp": 1, "cp": 1, "dp": 1, "pp": 1}, job.order)
    except InputError as error:
        yield Complaint((*field, "order"), error.message, error.hint)


def _training(field: Path, job: TrainingJob) -> Iterator[Complaint]:
    shape, batch = job.parallelism, job.batch
    each = shape.dp * batch.micro
    if batch.total % each:
        lower = batch.total // each * each
        near = f"{lower:,} or {lower + each:,}" if lower else f"{each:,}"
        yield Complaint(
            (*field, "batch", "global"),
            f"{batch.total:,} sequences are not divisible by dp x micro ="
            f" {shape.dp:,} x {batch.micro:,} = {each:,}",
            f"use {near}",
        )
    ranks = shape.cp * shape.dp
    if ranks % shape.ep:
        yield Complaint(
            (*field, "parallelism", "ep"),
            f"cp x dp = {shape.cp:,} x {shape.dp:,} = {ranks:,} ranks are not divisible by"
            f" ep = {shape.ep:,}",
        )
    model = job.model if isinstance(job.model, Transformer) else None
    if model is None and job.model in models():
        model = models()[job.model].shape
    if model is not None:
        yield from _shape((*field, "parallelism"), shape, model)


def _shape(field: Path, shape: Parallelism, model: Transformer) -> Iterator[Complaint]:
    """A transformer over its ranks.

    Llama 3 counts embedding and head as a layer each when it cuts 126 layers into 16 stages
    (section 3.3.2), so that layers + 2 may be divisible instead.
    """
    stages = shape.pp * shape.vpp
    if model.layers % stages and (model.layers + 2) % stages:
        yield Complaint(
            (*field, "pp"),
            f"{model.layers:,} layers ({model.layers + 2:,} with embedding and head) are not"
            f" divisible by pp x vpp = {shape.pp:,} x {shape.vpp:,} = {stages:,}",
        )
    if model.heads % shape.tp:
        yield Complaint(
            (*field, "tp"), f"{model.heads:,} heads are not divisible by tp = {shape.tp:,}"
        )
    if shape.ep > 1 and not model.experts:
        yield Complaint((*field, "ep"), f"ep = {shape.ep:,}, but the model has no experts")
    elif model.experts % shape.ep:
        yield Complaint(
            (*field, "ep"), f"{model.experts:,} experts are not divisible by ep = {shape.ep:,}"
        )


def _model(field: Path, model: str | Transformer) -> Iterator[Complaint]:
    if isinstance(model, str):
        if model not in models():
            hint = did_you_mean(model[:60], models())
            yield Complaint(field, f"there is no model {model[:60]!r}", hint)
        return
    if model.top_k > model.experts:
        yield Complaint((*field, "top_k"), f"{model.top_k:,} of {model.experts:,} experts")
    if model.experts and not model.top_k:
        yield Complaint((*field, "top_k"), "is missing: how many experts a token goes to")
    if model.dense_layers > model.layers:
        yield Complaint(
            (*field, "dense_layers"), f"{model.dense_layers:,} of {model.layers:,} layers"
        )
    if model.kv_heads is not None and model.heads % model.kv_heads:
        yield Complaint(
            (*field, "kv_heads"),
            f"{model.heads:,} heads are not divisible by kv_heads = {model.kv_heads:,}",
        )


def _pool(field: Path, pool: Pool) -> Iterator[Complaint]:
    group = pool.tp * pool.ep
    if pool.gpus % group:
        yield Complaint(
            (*field, "gpus"),
            f"{pool.gpus:,} GPUs are not divisible by tp x ep ="
            f" {pool.tp:,} x {pool.ep:,} = {group:,}",
        )


def _traffic(field: Path, job: TrafficSpec) -> Iterator[Complaint]:
    if job.pattern not in PATTERNS:
        hint = did_you_mean(job.pattern[:60], PATTERNS)
        says = f"there is no traffic pattern {job.pattern[:60]!r}"
        yield Complaint((*field, "pattern"), says, hint)
        return
    if job.pattern == "pairs" and not job.pairs and not job.argument:
        yield Complaint((*field, "pairs"), "is missing: a list of 'GPU>GPU'")
    if job.pattern != "pairs" and job.pairs is not None:
        says = f"goes with pattern: pairs, not with {job.pattern}"
        yield Complaint((*field, "pairs"), says, at_key=True)
    if job.argument is None:
        return
    text = str(job.argument)
    if job.pattern in _WITHOUT:
        yield Complaint((*field, "argument"), f"{job.pattern} takes no argument", at_key=True)
    number = text.removeprefix("-")
    if job.pattern in _COUNTED and not (number.isascii() and number.isdecimal()):
        yield Complaint((*field, "argument"), f"{job.pattern} takes a whole number (got {text!r})")


def _event(field: Path, event: EventPart, duration: float | None) -> Iterator[Complaint]:
    verbs = [verb for verb in VERBS if getattr(event, verb) is not None]
    if not verbs:
        yield Complaint(field, "does nothing", "add one of: " + ", ".join(VERBS))
        return
    for name in sorted(event.model_fields_set & {*VERBS, "to", "lasts"}):
        if getattr(event, name) is None:
            key = "for" if name == "lasts" else name
            yield Complaint((*field, key), "is empty", "leave it out, or say what it is")
    if len(verbs) > 1:
        says = f"stands beside {verbs[0]}"
        yield Complaint((*field, verbs[1]), says, "write two events", at_key=True)
    verb = verbs[0]
    if verb == "degrade" and event.to is None:
        yield Complaint(field, "degrade needs 'to', the part that is left", "for example to: 0.5")
    if event.to is not None and verb not in ("degrade", "flap"):
        yield Complaint((*field, "to"), f"goes with degrade or flap, not with {verb}", at_key=True)
    if event.lasts is not None and verb in ("repair", "restore"):
        yield Complaint((*field, "for"), f"goes with faults, not with {verb}", at_key=True)
    if event.restore not in (None, "all"):
        hint = f"write 'restore: all', or 'repair: {event.restore}'"
        yield Complaint((*field, "restore"), "restores all or nothing", hint)
    if duration is not None and event.at > duration:
        yield Complaint(
            (*field, "at"),
            f"is at {_time(event.at)}, after the end of the scenario, {_time(duration)}",
        )


def _time(seconds: float) -> str:
    return f"{seconds:g} s" + (f" ({lasting(seconds)})" if seconds >= _LONG_S else "")


def _expectation(
    field: Path, entry: dict[str, Any], parts: Parts, jobs: dict[str, Job]
) -> Iterator[Complaint]:
    subjects = [name for name in SUBJECTS if name in entry]
    if len(subjects) != 1:
        says = "names no subject" if not subjects else f"names both {subjects[0]} and {subjects[1]}"
        yield Complaint(field, says, "name one of: " + ", ".join(SUBJECTS))
        return
    subject = subjects[0]
    name = entry[subject]
    if not isinstance(name, str):
        yield Complaint((*field, subject), "must be a name")
        return
    metrics = [metric for metric in entry if metric != subject]
    if not metrics:
        yield Complaint(field, "states no limit", 'for example slowdown: "<= 1.10"')
    if subject == "job" and name not in jobs:
        yield from _no_job((*field, subject), name, parts)
    for metric in metrics:
        try:
            limit(entry[metric])
        except InputError as error:
            yield Complaint((*field, metric), error.message, error.hint)
        if subject == "totals" and name in JOB_TOTALS and metric not in jobs:
            yield from _no_job((*field, metric), metric, parts)
        kind = jobs[name].kind if subject == "job" and name in jobs else None
        try:
            check_figure(subject, name, metric, kind)
        except InputError as error:
            wrong = metric if error.where == "metric" else subject
            yield Complaint(
                (*field, wrong), error.message, error.hint, at_key=error.where == "metric"
            )


def _no_job(field: Path, name: str, parts: Parts) -> Iterator[Complaint]:
    """A job that is not there; where some jobs are wrong themselves nothing is certain."""
    names = [job.name for job in parts.jobs.values()]
    if parts.form is not None:
        hint = did_you_mean(name[:60], names) if names else "the file has no jobs"
        yield Complaint(field, f"there is no job {name[:60]!r}", hint)
