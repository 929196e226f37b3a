"""Clusters of every awkward shape, and what happens on them, each computed once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gbviz.app.answer import answer
from gbviz.display.camera import Camera, onto, view_of
from gbviz.display.layout import layout
from gbviz.jobs.spec import TrafficSpec
from gbviz.scenario import preset
from gbviz.topology import build, cluster_spec

if TYPE_CHECKING:
    from gbviz.app.answer import Answer
    from gbviz.display.grid import Box, View
    from gbviz.display.layout import Layout
    from gbviz.topology.fabric import Fabric

# Presets and numbers of racks, None for the preset's own.
CLUSTERS: dict[str, tuple[str, int | None]] = {
    "azure": ("azure-gb300", None),
    "su": ("gb300-su", None),
    "cdu": ("gb300-cdu", None),
    "27k": ("gb300-27k", None),
    "1 rack": ("gb300-su", 1),
    "3 racks": ("gb300-su", 3),
    "last group of 1": ("gb300-cdu", 45),
    "last pod of 13": ("gb300-27k", 301),
}
EVERY = tuple(CLUSTERS)
# A job on every GPU, faults of several kinds.
FAULTS = ("spine-1", "rack-0/tray-0/gpu-1", "hxu-0", "leaf-0~spine-0#0", "leaf-2")


@cache
def fabric(case: str) -> Fabric:
    name, racks = CLUSTERS[case]
    return build(cluster_spec(name, racks=racks))


def where(case: str) -> Layout:
    return layout(fabric(case))


@cache
def broken(case: str) -> Answer:
    name, racks = CLUSTERS[case]
    job = TrafficSpec(kind="traffic", name="all", pattern="shift", argument=1)
    whole = preset(name, racks=racks).with_jobs(job)
    fabric(case)
    faults = [one.replace("hxu", "cdu") if "cdu" in name else one for one in FAULTS]
    return answer(whole.with_faults(*faults))


def overview(found: Layout, width: int = 1000, height: int = 700, scale: float = 1.0) -> View:
    return view_of(Camera(), found.box, width, height, scale)


def close_up(found: Layout, box: Box, part: float = 0.6) -> View:
    return view_of(onto(box, found.box, 1000, 700, part), found.box, 1000, 700)
