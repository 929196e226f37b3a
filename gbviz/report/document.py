"""The result document: what `--json` prints."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gbviz import __version__
from gbviz.cooling import loops
from gbviz.faults.apply import takes_down, why_down
from gbviz.report.expectations import expectations
from gbviz.report.jobs import job_rows
from gbviz.report.leaves_out import LEAVES_OUT
from gbviz.report.timeline import timeline_rows, totals
from gbviz.topology.check import nonblocking_built

if TYPE_CHECKING:
    from gbviz.cooling import LoopState
    from gbviz.engine import Metrics, Snapshot
    from gbviz.engine.timeline import Timeline
    from gbviz.report.headline import Headline
    from gbviz.scenario import Scenario
    from gbviz.topology.fabric import Fabric

FORMAT_VERSION = 1
Json = dict[str, Any]

_FIGURES = (
    "live_gpus",
    "disconnected_gpus",
    "injection_GBps",
    "bisection_GBps",
    "all_to_all_GBps_per_gpu",
    "worst_pair_GBps",
    "worst_leaf_uplink_fraction",
    "nvlink_GBps",
    "compute_fraction",
    "cut_off_pairs",
    "nonblocking",
    "nonblocking_why",
)


_NO_TOTALS: Json = {
    "goodput": {},
    "lost_gpu_hours": None,
    "reason": "one question has no duration: nothing is summed over time",
}


def document(snapshot: Snapshot, *, judge: bool = True, timeline: Timeline | None = None) -> Json:
    """A snapshot, and its timeline where it has one, in the order and under the keys promised.

    A value that does not exist is None, with its reason under `reason` beside it. Expectations
    are of the end of a scenario: `judge` is False for its state at another time.
    """
    base = figures(snapshot.base, snapshot.base)
    post = figures(snapshot.post, snapshot.base)
    whole = {
        **head(snapshot.scenario),
        "fabric": fabric_counts(snapshot.fabric),
        "base": base,
        "post": post,
        "delta": difference(base, post),
        "faults": fault_rows(snapshot),
        "jobs": job_rows(snapshot),
        "cooling": [_loop(loop) for loop in loops(snapshot.fabric, snapshot.thermal)],
        "timeline": [] if timeline is None else timeline_rows(timeline),
        "totals": _NO_TOTALS if timeline is None else totals(timeline),
        "expect": [],
        "checks": {
            "conservation": "; ".join(snapshot.problems) or "ok",
            "fixed_point": _fixed_point(snapshot),
        },
        "model": {"leaves_out": list(LEAVES_OUT)},
    }
    if judge:
        whole["expect"] = expectations(snapshot.scenario.expect, whole)
    return whole


def _fixed_point(snapshot: Snapshot) -> Json:
    if snapshot.fixed_point is None:
        return {"converged": None, "rounds": None, "reason": "no job steps"}
    return asdict(snapshot.fixed_point)


def head(scenario: Scenario) -> Json:
    """Versions and what was asked."""
    asked: Json = {
        "name": scenario.name,
        "file": scenario.path.name if scenario.path else None,
        "sha256": scenario.sha256(),
        "routing": scenario.routing,
        "seed": scenario.seed,
    }
    if scenario.path is None:
        asked["reason"] = {"file": "not read from a file"}
    return {"gbviz": __version__, "format_version": FORMAT_VERSION, "scenario": asked}


def fabric_counts(fabric: Fabric) -> Json:
    """What the fabric consists of, and whether it is non-blocking as built."""
    nvlink, shape = fabric.nvlink, fabric.shape
    return {
        "racks": fabric.count("rack"),
        "gpus": fabric.count("gpu"),
        "nics": fabric.count("nic"),
        "leaves": fabric.count("leaf"),
        "spines": fabric.count("spine"),
        "cores": fabric.count("core"),
        "tiers": shape.tiers if shape else None,
        "nvlink_cables": nvlink.n if nvlink else 0,
        "fabric_cables": sum(tier.n for tier in fabric.tiers),
        "nonblocking": nonblocking_built(fabric)[0],
    }


def figures(metrics: Metrics, base: Metrics) -> Json:
    """The metrics of one state as plain values."""
    values = asdict(metrics)
    found = {name: values[name] for name in _FIGURES}
    found["disconnected_gpus"] = list(metrics.disconnected_gpus)
    found["all_to_all_bottleneck"] = metrics.bottleneck
    found["bisection_fraction"] = (
        metrics.bisection_GBps / base.bisection_GBps if base.bisection_GBps else None
    )
    known = {
        "nonblocking_why": metrics.reason.get(
            "nonblocking", "no traffic that the NICs take is blocked"
        ),
        "all_to_all_bottleneck": "no link limits it",
        "bisection_fraction": "the healthy cluster has no bisection",
    }
    reason = {name: why for name, why in known.items() if found[name] is None} | metrics.reason
    return found | ({"reason": reason} if reason else {})


def difference(base: Json, post: Json) -> Json:
    """What changed: post - base of every number, and the GPUs that are newly cut off."""
    found: Json = {}
    reason = {}
    for name, before in base.items():
        if name == "reason":
            continue
        after = post[name]
        if name == "disconnected_gpus":
            found[name] = [gpu for gpu in after if gpu not in set(before)]
        elif isinstance(before, bool | str) or isinstance(after, bool | str):
            continue
        elif before is None or after is None:
            found[name] = None
            both = before is None and after is None
            reason[name] = "neither state has a value" if both else "one state has no value"
        else:
            found[name] = after - before
    return found | ({"reason": reason} if reason else {})


def fault_rows(snapshot: Snapshot, most: int | None = None) -> list[Json]:
    """The first faults, all by default, with what each takes down and because of what."""
    whys = why_down(snapshot.fabric, snapshot.faults)
    return [
        {
            "component": fault.component,
            "kind": fault.kind,
            "factor": fault.factor,
            "takes_down": asdict(takes_down(snapshot.fabric, fault)),
            "because": why,
        }
        for fault, why in zip(snapshot.faults[:most], whys[:most], strict=True)
    ]


def _loop(state: LoopState) -> Json:
    """One loop, without a `reason` where there is none to give."""
    row = asdict(state)
    return row if row["reason"] else {key: row[key] for key in row if key != "reason"}


def headline_row(line: Headline) -> Json:
    """One headline figure, with a reason where none was published beside it."""
    row = asdict(line)
    return row if line.published is not None else row | {"reason": "no such figure is published"}


def to_json(found: Json) -> str:
    """The document as text, in ASCII whatever the terminal speaks; never NaN or infinity."""
    return json.dumps(found, indent=2, allow_nan=False)
