"""What the result document says of each job."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gbviz.engine.snapshot import TrafficImpact

if TYPE_CHECKING:
    from gbviz.engine import Snapshot
    from gbviz.jobs import TrafficResult
    from gbviz.jobs.impact import JobImpact

Json = dict[str, Any]

_KEYS = {
    "training": ("step_s", "tokens_per_s", "mfu", "exposed_s"),
    "inference": ("tokens_per_s", "tpot_s", "ttft_s", "limited_by"),
    "collective": ("time_s", "algbw_GBps", "busbw_GBps"),
}


def job_rows(snapshot: Snapshot) -> list[Json]:
    """All jobs in the order of the scenario, with base, post, slowdown and bottleneck."""
    return [
        _traffic(impact) if isinstance(impact, TrafficImpact) else _stepping(impact)
        for impact in snapshot.jobs
    ]


def _stepping(impact: JobImpact) -> Json:
    reason = dict(impact.reason)
    limit = impact.bottleneck
    found: Json = {
        "name": impact.name,
        "kind": impact.kind,
        "state": impact.state,
        "uses_fabric": impact.uses_fabric,
        "gpus": impact.gpus,
        "lost_gpus": impact.lost_gpus,
        "replaced_gpus": impact.replaced_gpus,
        "base": _figures(impact.kind, impact.base, reason.pop("base", "")),
        "post": _figures(impact.kind, impact.post, reason.pop("post", "")),
        "slowdown": impact.slowdown,
        "bottleneck": None,
        "one_off": asdict(impact.one_off),
    }
    if impact.extra:
        found |= impact.extra
    if limit is None:
        reason["bottleneck"] = "the job does not run"
    else:
        found["bottleneck"] = asdict(limit)
        if limit.link is None:
            found["bottleneck"]["reason"] = "no single link: " + limit.words
    _later(impact, found, reason)
    return found | ({"reason": reason} if reason else {})


def _figures(kind: str, values: Json | None, why: str) -> Json:
    """One state's figures; all None, with the reason, where the job cannot run."""
    if values is None:
        return dict.fromkeys(_KEYS[kind]) | {"reason": why or "the job does not run"}
    found = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }
    if any(value is None for value in found.values()):
        found["reason"] = "one rank exchanges nothing, so there is no bandwidth"
    return found


def _later(impact: JobImpact, found: Json, reason: dict[str, str]) -> None:
    """How many days later a training target is reached, the one-off cost included."""
    if impact.base is None or "days_to_target" not in impact.base:
        return
    if impact.post is None:
        found["days_later"] = None
        reason["days_later"] = "the job does not run"
        return
    once = impact.one_off.total_s / 86400
    found["days_later"] = impact.post["days_to_target"] - impact.base["days_to_target"] + once


def _traffic(impact: TrafficImpact) -> Json:
    base, post = impact.base, impact.post
    limit = post.bottleneck
    slowdown = base.total_GBps / post.total_GBps if post.total_GBps else math.inf
    found: Json = {
        "name": impact.job.name,
        "kind": "traffic",
        "state": impact.state,
        "uses_fabric": True,
        "flows": base.flows,
        "base": _rates(base),
        "post": _rates(post),
        "slowdown": slowdown if math.isfinite(slowdown) else None,
        "bottleneck": None
        if limit is None
        else {
            "phase": "slowest flow",
            "link": limit[0],
            "load_GBps": limit[1],
            "capacity_GBps": limit[2],
        },
        "one_off": {"stall_s": 0, "lost_work_s": 0, "restart_s": 0},
    }
    why = "every flow gets its demand" if post.total_GBps else "no flow moves"
    reason = {name: why for name in ("slowdown", "bottleneck") if found[name] is None}
    return found | ({"reason": reason} if reason else {})


def _rates(result: TrafficResult) -> Json:
    return {
        "min_GBps": result.min_GBps,
        "mean_GBps": result.mean_GBps,
        "total_GBps": result.total_GBps,
        "cut_off": result.cut_off,
        "gone": result.gone,
        "by_fabric_for_want_of_nvlink": result.by_fabric,
    }
