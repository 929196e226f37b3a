"""A job that is being written, held against the scenario by the very checks of the file. No Qt."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gbviz.app.job_fields import Values, fields_of, free_racks, selector_of, text_of
from gbviz.errors import FileFault, GbvizError, ScenarioError
from gbviz.jobs.placement import place
from gbviz.jobs.spec import Placement
from gbviz.scenario.document import document
from gbviz.scenario.file import read
from gbviz.topology import build

if TYPE_CHECKING:
    from gbviz.app.job_fields import JobField, Key
    from gbviz.jobs.spec import Job
    from gbviz.jobs.traffic import TrafficJob
    from gbviz.scenario import Scenario

_FILE = "form.json"
_FIELD = re.compile(r"[^.\[\]]+")
_JOB = re.compile(r"jobs\[([0-9]+)\]")
_PLACES = ("racks", "gpus_per_rack", "gpus", "vms", "spares")


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks say.

    Parameters
    ----------
    job
        The job; None where anything is wrong.
    faults
        What is wrong with the job, by the key of its field; `()` for the job as a whole.
    others
        What the job makes wrong elsewhere, such as a job that it takes GPUs from.
    placed
        GPUs that its placement holds; None where that cannot be said.
    """

    job: TrafficJob | Job | None
    faults: dict[Key, str]
    others: tuple[str, ...]
    placed: int | None

    @property
    def reason(self) -> str:
        """Why there is no job yet, "" if there is one."""
        if self.job is not None:
            return ""
        rows = [f"{'.'.join(key)}: {says}" if key else says for key, says in self.faults.items()]
        rows += self.others
        rows = rows or ["the scenario has faults of its own"]
        more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
        return rows[0] + more


class Checker:
    """Checks a job in the place of one of a scenario's, or as one more.

    Parameters
    ----------
    scenario
        What is open.
    number
        Which of its jobs; None for a new one.
    """

    def __init__(self, scenario: Scenario, number: int | None = None) -> None:
        self.scenario = scenario
        self._base = document(scenario)
        # Events have nothing to do with where and how jobs run, and there may be very many.
        self._base.pop("events", None)
        self._jobs: list[Values] = list(self._base.get("jobs", []))
        self.number = len(self._jobs) if number is None else number
        self.is_new = number is None
        _, faults = self._read(self._base)
        self._before = {self._same(fault) for fault in faults}

    @property
    def before(self) -> Values:
        """The fields of the job as it is; none for a new one."""
        return {} if self.is_new else self._jobs[self.number]

    def check(self, job: Values) -> Checked:
        """What is wrong with a job's fields, or the job."""
        jobs = list(self._jobs)
        jobs[self.number :] = [job, *jobs[self.number + 1 :]]
        scenario, found = self._read(self._base | {"jobs": jobs})
        own: dict[Key, str] = {}
        others = []
        kind = str(job.get("kind"))
        for fault in found:
            says = f"{fault.message}, {fault.hint}" if fault.hint else fault.message
            key = self._key(fault, kind)
            if key == ("racks",) and fault.message.startswith("no such component"):
                says = self._what_racks(str(job.get("racks")))
            if key is not None:
                own[key] = f"{own[key]}; {says}" if key in own else says
            elif self._same(fault) not in self._before:
                others.append(f"{self._named(fault.path, jobs)}: {says}")
        right = scenario is not None or not (own or others)
        made = None
        if right:
            made = self._made(scenario, job)
        return Checked(made, own, tuple(others), self._placed(job))

    def _what_racks(self, text: str) -> str:
        """What to write where a text names no rack."""
        last = self.scenario.cluster.racks - 1
        these = f"there are rack-0 to rack-{last}" if last else "there is rack-0"
        several = f"rack-[0-{last}]" if last else "rack-*"
        return f"{text!r} names no rack: write rack-0, {several}, or nothing for all; {these}"

    def _made(self, scenario: Scenario | None, job: Values) -> TrafficJob | Job | None:
        if scenario is not None:
            return scenario.jobs[self.number]
        # The scenario was wrong before and is no worse: the job is read by itself.
        alone, _ = self._read(self._base | {"jobs": [job], "expect": []})
        return alone.jobs[0] if alone is not None else None

    def _placed(self, job: Values) -> int | None:
        stated = {name: job[name] for name in _PLACES if name in job}
        try:
            found = place(build(self.scenario.cluster), [("", Placement(**stated))])[0]
        except (GbvizError, ValueError):
            return None
        return len(found.gpus)

    def _key(self, fault: FileFault, kind: str) -> Key | None:
        """The field of the form that a fault belongs to; None for one of something else."""
        head = f"jobs[{self.number}]"
        rest = fault.path.removeprefix(head)
        if not fault.path.startswith(head) or rest[:1] not in ("", ".", "["):
            return None
        key = tuple(_FIELD.findall(rest))
        if key == ("name",):
            return key
        known = {field.key for field in fields_of(kind)}
        known |= {field.key[:1] for field in fields_of(kind)}
        while key and key not in known:
            key = key[:-1]
        return key

    @staticmethod
    def _named(path: str, jobs: list[Values]) -> str:
        """A path with the name of its job, which the form has no number for."""
        found = _JOB.match(path)
        return f"job {jobs[int(found[1])].get('name')}{path[found.end() :]}" if found else path

    @staticmethod
    def _same(fault: FileFault) -> tuple[str, str]:
        return fault.path, fault.message

    @staticmethod
    def _read(fields: dict[str, Any]) -> tuple[Scenario | None, tuple[FileFault, ...]]:
        try:
            return read(_FILE, json.dumps(fields).encode("utf-8", "surrogatepass")), ()
        except ScenarioError as error:
            return None, error.faults


def fresh_job(scenario: Scenario, kind: str) -> dict[Key, str]:
    """Texts of a new job that runs on the racks that are free, as far as there are any."""
    free = free_racks(scenario)
    texts: dict[Key, str] = {("racks",): selector_of(free)} if free else {}
    racks, per_rack = max(len(free), 1), scenario.cluster.gpus_per_rack
    if kind == "training":
        used = 2 ** (per_rack.bit_length() - 1)
        tp = min(8, used)
        dp = racks * used // tp
        texts |= {("gpus_per_rack",): str(used), ("model",): "llama3-70b"}
        texts |= {("parallelism", "tp"): str(tp), ("parallelism", "dp"): str(dp)}
        texts |= {("batch", "global"): str(4 * dp)}
    elif kind == "inference":
        each = racks * per_rack // 2
        half = racks * per_rack - each
        group = min(per_rack // 2, 36) or 1
        texts |= {("model",): "gpt-oss-120b"}
        texts |= {("prefill", "gpus"): str(half), ("decode", "gpus"): str(each)}
        texts |= {("prefill", "ep"): "1", ("decode", "ep"): str(group if each % group == 0 else 1)}
        texts |= {("decode", "batch"): "256"}
    elif kind == "collective":
        texts |= {("op",): "all_reduce", ("size",): "1GB"}
    return texts


def texts_of(fields: list[JobField], job: Values) -> dict[Key, str]:
    """What the text boxes of a job show."""
    return {field.key: text_of(field, job) for field in fields}
