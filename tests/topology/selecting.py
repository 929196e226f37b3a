"""Fabrics and short ways to ask for selectors, shared by their tests."""

from __future__ import annotations

import pytest

from gbviz.errors import InputError
from gbviz.topology import Fabric, build, cluster_spec
from gbviz.topology.graph import from_graph
from gbviz.topology.selectors import Part, select

AZURE = build(cluster_spec("azure-gb300"))
CDU = build(cluster_spec("gb300-cdu"))
PODS = build(cluster_spec(racks=192))

# Names that hold every sign of a selector, as a file may give them.
ODD = from_graph(
    ["a~b", "host 1", "#1", "x>y", "n[1]"],
    ["sw:1", "s#0", "*", "s", "A~B#1", "sw-1", "sw-2", "sw-10"],
    [
        ("a~b", "sw:1", 100.0),
        ("host 1", "s", 100.0),
        ("#1", "s", 100.0),
        ("x>y", "s#0", 100.0),
        ("sw:1", "s#0", 50.0),
        ("s#0", "sw:1", 50.0),
        ("sw-1", "sw-2", 50.0),
        ("sw-10", "sw-1", 50.0),
        ("sw-10", "sw-1", 50.0),
        ("A~B#1", "*", 50.0),
    ],
)

# A node of every kind.
NODES = [
    (AZURE, "rack-3", "rack"),
    (AZURE, "rack-3/tray-17", "tray"),
    (AZURE, "rack-3/tray-17/gpu-2", "gpu"),
    (AZURE, "rack-3/tray-17/nic-2", "nic"),
    (AZURE, "rack-3/tray-17/cpu-1", "cpu"),
    (AZURE, "rack-3/nvtray-8", "nvtray"),
    (AZURE, "rack-3/nvswitch-17", "nvswitch"),
    (AZURE, "rack-3/feed-a", "feed"),
    (AZURE, "rack-3/feed-b", "feed"),
    (AZURE, "rack-3/shelf-7", "shelf"),
    (AZURE, "leaf-63", "leaf"),
    (AZURE, "spine-35", "spine"),
    (PODS, "core-95", "core"),
    (AZURE, "hxu-3", "hxu"),
    (CDU, "cdu-5", "cdu"),
    (CDU, "loop-1", "loop"),
]


def names(fabric: Fabric, text: str) -> list[str]:
    return [part.component for part in select(fabric, text)]


def only(fabric: Fabric, text: str) -> Part:
    parts = select(fabric, text)
    assert len(parts) == 1
    return parts[0]


def refusal(fabric: Fabric, text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        select(fabric, text)
    return caught.value


def link_names(fabric: Fabric, part: Part) -> set[str]:
    return {fabric.link_name(link) for link in part.links}
