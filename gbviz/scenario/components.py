"""What a scenario names, looked up in its fabric: faults of events, places of jobs, loops."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from gbviz.errors import InputError
from gbviz.faults.fault import fault_on
from gbviz.jobs.inference import check_pools
from gbviz.jobs.placement import place_each
from gbviz.jobs.run import check_collective
from gbviz.jobs.spec import InferenceJob, TrafficSpec, TrainingJob
from gbviz.jobs.traffic import PATTERNS, flows_of, traffic_of
from gbviz.jobs.training import check_memory
from gbviz.scenario.event import moments
from gbviz.scenario.extends import Complaint
from gbviz.scenario.lookup import Lookup
from gbviz.scenario.strict import MOST_FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gbviz.jobs.placement import Placed
    from gbviz.jobs.spec import CollectiveJob, Job, Placement
    from gbviz.scenario.event import Event
    from gbviz.scenario.form import Parts
    from gbviz.scenario.strict import Path
    from gbviz.topology.fabric import Fabric

MOST_NAMED = 250_000


def unknown_components(
    fabric: Fabric, parts: Parts, events: Mapping[int, Event]
) -> list[Complaint]:
    """What is wrong with the names in a file, up to one more than are told.

    Parameters
    ----------
    fabric
        Of the file's cluster.
    parts
        The file's parts that are right by themselves.
    events
        Its events, by their place in the file.
    """
    found = chain(_events(fabric, events), _jobs(fabric, parts.jobs), _loops(fabric, parts))
    return list(islice(found, MOST_FAULTS + 1))


def _events(fabric: Fabric, events: Mapping[int, Event]) -> Iterator[Complaint]:
    """Go through all that happens: every selector names something, every repair finds a fault."""
    lookup = Lookup(fabric, [event.action.selector for event in events.values()])
    wrong: set[int] = set()
    named = 0
    for number, event in events.items():
        action = event.action
        if action.verb == "restore":
            continue
        try:
            parts = lookup.parts(action.selector)
            if action.verb == "degrade":
                for part in parts:
                    fault_on(part, action.factor)
        except InputError as error:
            # A glob names several: which of them it is must be said.
            other = error.where not in ("", action.selector, repr(action.selector))
            says = f"{error.where}: {error.message}" if other else error.message
            field: Path = ("events", number, event.verb)
            yield Complaint(field, says, error.hint)
            wrong.add(number)
            continue
        named += len(parts)
        if named > MOST_NAMED:
            says = f"events up to here name more than {MOST_NAMED:,} components"
            yield Complaint(("events", number, event.verb), says)
            return
    if not wrong:
        yield from _repairs(lookup, events)


def _repairs(lookup: Lookup, events: Mapping[int, Event]) -> Iterator[Complaint]:
    """Repairs of what has no fault.

    Events that end are taken to leave their faults, so that a repair that comes too late is none.
    """
    places = list(events)
    listed = [events[number] for number in places]
    broken: set[int] = set()
    for _, begins, which in moments(listed):
        action = listed[which].action
        if action.verb == "restore":
            broken.clear()
        elif action.verb == "repair":
            touched = lookup.touched(action.selector)
            if not broken & touched:
                field: Path = ("events", places[which], "repair")
                yield Complaint(field, f"{action.selector} has no fault to repair at that time")
            broken -= touched
        elif begins and (action.verb == "fail" or action.factor < 1):
            broken |= lookup.touched(action.selector)


def _jobs(fabric: Fabric, jobs: Mapping[int, Job]) -> Iterator[Complaint]:
    names: dict[str, int] = {}
    for number, job in jobs.items():
        names.setdefault(job.name, number)
    sound = {n: job for n, job in jobs.items() if names[job.name] == n and job.gpus != ()}
    each = place_each(fabric, [(job.name, job) for job in sound.values()])
    for (number, job), where in zip(sound.items(), each, strict=True):
        if isinstance(where, InputError):
            yield Complaint(_stated(number, job), where.message, where.hint)
        elif isinstance(job, TrainingJob):
            yield from _ranks(number, job, where)
            yield from _memory(number, job)
        elif isinstance(job, InferenceJob):
            yield from _pools(number, job, where)
        elif isinstance(job, TrafficSpec):
            yield from _pairs(fabric, number, job)
            yield from _pattern(fabric, number, job, where)
        else:
            yield from _algorithm(fabric, number, job, where)


def _stated(number: int, job: Placement) -> Path:
    """The field that says where a job runs."""
    stated = [name for name in ("racks", "gpus", "vms") if getattr(job, name) is not None]
    return ("jobs", number, *stated[:1])


def _ranks(number: int, job: TrainingJob, where: Placed) -> Iterator[Complaint]:
    shape = job.parallelism
    if shape.gpus != len(where.gpus):
        yield Complaint(
            ("jobs", number, "parallelism"),
            f"tp x cp x pp x dp = {shape.tp:,} x {shape.cp:,} x {shape.pp:,} x {shape.dp:,} ="
            f" {shape.gpus:,} ranks, but {_described(job, where)}",
        )


def _pools(number: int, job: InferenceJob, where: Placed) -> Iterator[Complaint]:
    wanted = job.prefill.gpus + job.decode.gpus
    if wanted != len(where.gpus):
        yield Complaint(
            ("jobs", number, "decode", "gpus"),
            f"prefill and decode take {job.prefill.gpus:,} + {job.decode.gpus:,} = {wanted:,} GPUs,"
            f" but {_described(job, where)}",
        )
        return
    try:
        check_pools(job, len(where.gpus))
    except InputError as error:
        # A group size that does not divide its pool, or a model of no such name, is told elsewhere.
        if "GB of weights" in error.message:
            yield Complaint(("jobs", number), error.message, error.hint)


def _memory(number: int, job: TrainingJob) -> Iterator[Complaint]:
    try:
        check_memory(job)
    except InputError as error:
        # A model of no such name is told elsewhere.
        if error.where != "model":
            yield Complaint(("jobs", number, "parallelism"), error.message, error.hint)


def _algorithm(
    fabric: Fabric, number: int, job: CollectiveJob, where: Placed
) -> Iterator[Complaint]:
    try:
        check_collective(job, where.gpus, fabric.count("gpu") // fabric.count("rack"))
    except InputError as error:
        yield Complaint(("jobs", number, "algorithm"), error.message, error.hint)


def _pattern(fabric: Fabric, number: int, job: TrafficSpec, where: Placed) -> Iterator[Complaint]:
    if job.pattern == "pairs" or job.pattern not in PATTERNS:
        return
    try:
        flows_of(fabric, traffic_of(job), 0, where.gpus)
    except InputError as error:
        yield Complaint(("jobs", number, "pattern"), error.message, error.hint)


def _described(job: Placement, where: Placed) -> str:
    """A placement and how many GPUs it has for ranks."""
    if job.vms is not None:
        what = f"{job.vms:,} virtual machines"
    elif job.gpus is not None:
        what = job.gpus if isinstance(job.gpus, str) else ", ".join(job.gpus[:3])
    else:
        what = job.racks if job.racks is not None else "all racks"
        what += f" with {job.gpus_per_rack:,} GPUs each" if job.gpus_per_rack else ""
    if job.spares:
        what += f", less {job.spares:,} spares,"
    return f"{what} are {len(where.gpus):,}"


def _pairs(fabric: Fabric, number: int, job: TrafficSpec) -> Iterator[Complaint]:
    gpus = fabric.nodes("gpu")
    for place_in_list, pair in enumerate(job.pairs or ()):
        ends = [end.strip() for end in pair.split(">")]
        field: Path = ("jobs", number, "pairs", place_in_list)
        if len(ends) != 2 or ends[0] == ends[1]:
            yield Complaint(field, "must be two GPUs, 'GPU>GPU'")
            continue
        for end in ends:
            try:
                node = fabric.index_of(end)
            except InputError as error:
                yield Complaint(field, error.message, error.hint)
                continue
            if not gpus.start <= node < gpus.stop:
                yield Complaint(field, f"{end} is not a GPU")


def _loops(fabric: Fabric, parts: Parts) -> Iterator[Complaint]:
    loops = fabric.nodes("loop")
    for number, entry in parts.expect.items():
        name = entry.get("cooling")
        if not isinstance(name, str):
            continue
        field: Path = ("expect", number, "cooling")
        try:
            node = fabric.index_of(name)
        except InputError as error:
            yield Complaint(field, error.message, error.hint)
            continue
        if not loops.start <= node < loops.stop:
            yield Complaint(field, f"{name} is not a loop", "name one such as loop-0")
