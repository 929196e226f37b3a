"""What a result rests on: figures of the catalogue that it used, each with its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gbviz.jobs.models import models
from gbviz.jobs.spec import InferenceJob, TrainingJob
from gbviz.topology.catalogue import catalogue
from gbviz.topology.presets import presets
from gbviz.topology.spec import cluster_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.engine import Snapshot
    from gbviz.scenario import Scenario

# Parts of the catalogue that every answer uses, and those that only some do.
_ALWAYS = ("rack", "gpu", "nvlink", "nic", "switch", "routing")
_HEAT = ("cooling",)
_STEPS = ("training", "collectives")


class Assumption(NamedTuple):
    """A figure, how far to trust it (`sourced`, `derived`, `assumed`, `stated`), and why."""

    what: str
    value: str
    mark: str
    source: str


def assumptions(snapshot: Snapshot) -> list[Assumption]:
    """All that an answer rests on: the cluster, the models of its jobs, then the catalogue.

    Examples
    --------
    >>> import gbviz
    >>> rows = assumptions(gbviz.evaluate(gbviz.preset("gb300-su")))
    >>> rows[0].what, rows[0].source.split(",")[0]
    ('cluster gb300-su', 'NVIDIA DGX SuperPOD GB200 reference architecture')
    >>> next(row.value for row in rows if row.what == "nvlink.links_per_gpu")
    '18 links'
    """
    scenario = snapshot.scenario
    groups: tuple[str, ...] = _ALWAYS
    if not snapshot.thermal.absent:
        groups += _HEAT
    if any(getattr(job, "kind", "traffic") != "traffic" for job in scenario.jobs):
        groups += _STEPS
    facts = [
        Assumption(
            fact.name,
            f"{fact.value:,.12g} {fact.unit}".removesuffix(" 1"),
            fact.mark,
            fact.source + (f" ({fact.note})" if fact.note else ""),
        )
        for fact in catalogue().facts.values()
        if fact.name.partition(".")[0] in groups
    ]
    return [*_cluster(scenario), *_models(scenario), *facts]


def _cluster(scenario: Scenario) -> Iterator[Assumption]:
    for name, preset in presets().items():
        if cluster_spec(name) == scenario.cluster:
            mark = "assumed" if preset.source.startswith("assumed") else "sourced"
            yield Assumption(f"cluster {name}", preset.title, mark, preset.source)
            return
    yield Assumption("cluster", "its sizes", "stated", "the scenario itself, see below")


def _models(scenario: Scenario) -> Iterator[Assumption]:
    named = [
        job.model
        for job in scenario.jobs
        if isinstance(job, TrainingJob | InferenceJob) and isinstance(job.model, str)
    ]
    for name in dict.fromkeys(named):
        model = models()[name]
        yield Assumption(f"model {name}", model.title, "sourced", model.source)
