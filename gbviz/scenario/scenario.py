"""The frozen value that everything is computed from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, get_args

from pydantic import BaseModel

from gbviz.errors import InputError, did_you_mean
from gbviz.faults.actions import Action
from gbviz.faults.partition import Policy
from gbviz.routing.modes import Mode, mode_named
from gbviz.scenario.event import LONGEST_S, Event, changes
from gbviz.topology.presets import preset_named
from gbviz.topology.spec import ClusterSpec, cluster_spec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gbviz.jobs.spec import Job
    from gbviz.jobs.traffic import TrafficJob
    from gbviz.scenario.expect import Expectation

LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Scenario:
    """A cluster, what is done to it, and the traffic on it.

    Parameters
    ----------
    name
        For people.
    cluster
        Sizes.
    routing
        Routing mode of the fabric.
    seed
        Of everything random: hashes, random patterns.
    actions
        What fails, degrades or is repaired before the first event, in order.
    jobs
        What runs: jobs of a file, and patterns of traffic from the command line.
    nvlink_policy
        What a rack's NVLink does when it loses an ASIC or a link.
    description
        For people, longer.
    events
        What happens, as the file lists it.
    duration_s
        How long the scenario lasts, seconds; None = until its last event.
    expect
        Limits that its results must keep.
    path, text
        The file that it was read from and what it held, None where it was not read. They say where
        a scenario came from, not what it is: two scenarios that differ in them alone are equal.
    """

    name: str
    cluster: ClusterSpec
    routing: Mode = "adaptive"
    seed: int = 0
    actions: tuple[Action, ...] = ()
    jobs: tuple[TrafficJob | Job, ...] = ()
    nvlink_policy: Policy = "adaptive"
    description: str = ""
    events: tuple[Event, ...] = ()
    duration_s: float | None = None
    expect: tuple[Expectation, ...] = ()
    path: Path | None = field(default=None, compare=False)
    text: str | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        mode_named(self.routing)
        if not 0 <= self.seed <= LARGEST_SEED:
            raise InputError(f"must be from 0 to 2^63 - 1 (got {self.seed})", where="seed")
        if self.duration_s is not None and not 0 <= self.duration_s <= LONGEST_S:
            raise InputError(
                f"must be from 0 s to {LONGEST_S:g} s (got {self.duration_s})", where="duration"
            )
        if self.nvlink_policy not in get_args(Policy):
            raise InputError(
                f"there is no NVLink policy {self.nvlink_policy!r}",
                where="nvlink_policy",
                hint=did_you_mean(self.nvlink_policy, get_args(Policy)),
            )

    def with_faults(self, *fail: str, degrade: Mapping[str, float] | None = None) -> Scenario:
        """The same scenario with more faults.

        Parameters
        ----------
        *fail
            Selectors of what fails.
        degrade
            Selectors to the factor that is left.

        Examples
        --------
        >>> one = preset("azure-gb300").with_faults("spine-3", degrade={"leaf-0~spine-7": 0.5})
        >>> [(action.verb, action.selector) for action in one.actions]
        [('fail', 'spine-3'), ('degrade', 'leaf-0~spine-7')]
        """
        added = [Action("fail", selector) for selector in fail]
        added += [Action("degrade", text, factor) for text, factor in (degrade or {}).items()]
        return replace(self, actions=(*self.actions, *added))

    def with_repairs(self, *repair: str) -> Scenario:
        """The same scenario with faults repaired."""
        added = tuple(Action("repair", selector) for selector in repair)
        return replace(self, actions=(*self.actions, *added))

    def restored(self) -> Scenario:
        """The same scenario with nothing broken."""
        return replace(self, actions=())

    @property
    def end_s(self) -> float:
        """When the scenario ends, seconds: its duration, or its last event; 0 without either."""
        if self.duration_s is not None:
            return self.duration_s
        return max((event.at_s for event in self.events), default=0.0)

    def actions_at(self, time_s: float | None = None) -> tuple[Action, ...]:
        """What has been done to the cluster by a time, in order.

        Parameters
        ----------
        time_s
            Seconds from the start; what happens at that very time is in. None = the end.

        Returns
        -------
        tuple
            The scenario's own actions, the events up to then, and a repair for each event whose
            time is up by then; see `changes` for what stands before a repair.

        Examples
        --------
        >>> hour = Event(600.0, Action("fail", "spine-3"), for_s=3600.0)
        >>> scenario = replace(preset("azure-gb300"), events=(hour,), duration_s=7200.0)
        >>> [len(scenario.actions_at(time)) for time in (0.0, 600.0, 4200.0, None)]
        [0, 1, 3, 3]
        """
        last = self.end_s if time_s is None else time_s
        done = (action for at, action in changes(self.events) if at <= last)
        return (*self.actions, *done)

    def with_jobs(self, *jobs: TrafficJob | Job) -> Scenario:
        """The same scenario with more jobs."""
        return replace(self, jobs=(*self.jobs, *jobs))

    def with_events(self, *events: Event) -> Scenario:
        """The same scenario with more events."""
        return replace(self, events=(*self.events, *events))

    def standing_at(self, time_s: float | None = None) -> Scenario:
        """The same scenario as it stands at a time (None = the end), with no more events."""
        return replace(self, actions=self.actions_at(time_s), events=(), duration_s=None)

    def with_routing(self, mode: str) -> Scenario:
        """The same scenario under another routing mode."""
        return replace(self, routing=mode_named(mode))

    def with_seed(self, seed: int) -> Scenario:
        """The same scenario with another seed."""
        return replace(self, seed=seed)

    def with_nvlink_policy(self, policy: str) -> Scenario:
        """The same scenario with another policy for damaged NVLink, checked."""
        return replace(self, nvlink_policy=policy)  # type: ignore[arg-type]

    def sha256(self) -> str:
        """A fingerprint of everything in the scenario but its name, description and file."""
        parts = {
            "cluster": self.cluster.model_dump(),
            "routing": self.routing,
            "seed": self.seed,
            "actions": [astuple(action) for action in self.actions],
            "jobs": [_plain(job) for job in self.jobs],
            "nvlink_policy": self.nvlink_policy,
            "events": [astuple(event) for event in self.events],
            "duration_s": self.duration_s,
            "expect": [astuple(one) for one in self.expect],
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _plain(job: TrafficJob | Job) -> object:
    return job.model_dump(mode="json") if isinstance(job, BaseModel) else job.spelt()


def preset(name: str, **parts: object) -> Scenario:
    """A scenario of a preset cluster with nothing broken.

    Parameters
    ----------
    name
        Such as "azure-gb300"; `gbviz presets` lists them.
    **parts
        Fields of `ClusterSpec` that differ.

    Raises
    ------
    InputError
        No such preset or field, or an impossible value.

    Examples
    --------
    >>> preset("azure-gb300").cluster.n_gpus, preset("azure-gb300", racks=8).cluster.n_gpus
    (4608, 576)
    """
    preset_named(name)
    return Scenario(name, cluster_spec(name, **parts))
