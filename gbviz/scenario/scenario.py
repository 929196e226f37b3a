"""The frozen value that everything is computed from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from gbviz.errors import InputError, did_you_mean
from gbviz.faults.actions import Action
from gbviz.faults.partition import Policy
from gbviz.routing.modes import Mode, mode_named
from gbviz.topology.presets import preset_named
from gbviz.topology.spec import ClusterSpec, cluster_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gbviz.jobs.traffic import TrafficJob

_LARGEST_SEED = 2**63 - 1


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
        What fails, degrades or is repaired, in order.
    jobs
        Traffic.
    nvlink_policy
        What a rack's NVLink does when it loses an ASIC or a link.
    """

    name: str
    cluster: ClusterSpec
    routing: Mode = "adaptive"
    seed: int = 0
    actions: tuple[Action, ...] = ()
    jobs: tuple[TrafficJob, ...] = ()
    nvlink_policy: Policy = "adaptive"

    def __post_init__(self) -> None:
        mode_named(self.routing)
        if not 0 <= self.seed <= _LARGEST_SEED:
            raise InputError(f"must be from 0 to 2^63 - 1 (got {self.seed})", where="seed")
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

    def with_jobs(self, *jobs: TrafficJob) -> Scenario:
        """The same scenario with more traffic."""
        return replace(self, jobs=(*self.jobs, *jobs))

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
        """A fingerprint of everything in the scenario but its name."""
        parts = {
            "cluster": self.cluster.model_dump(),
            "routing": self.routing,
            "seed": self.seed,
            "actions": [(a.verb, a.selector, a.factor) for a in self.actions],
            "jobs": [job.spelt() for job in self.jobs],
            "nvlink_policy": self.nvlink_policy,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


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
