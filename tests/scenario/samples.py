"""Scenario files for tests, and ways to make many more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from gbviz.errors import FileFault, ScenarioError
from gbviz.scenario.file import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.scenario import Scenario

# The example of the interface page.
EXAMPLE = """\
gbviz: 1                              # format version
name: One spine lost during pre-training
description: What a spine costs a 405B job on the Azure-sized cluster.
cluster:
  preset: azure-gb300                 # 64 racks, 4,608 GPUs; or the parts below
  racks: 64
  uplinks_per_leaf: 72
  cooling: {kind: hxu}                # or {kind: cdu, units: 4, racks_per_loop: 32, ...}
routing: adaptive                     # adaptive | spray | ecmp | static
seed: 7
jobs:
  - name: llama-405b
    kind: training
    model: llama3-405b                # or its parameters
    racks: "rack-[0-31]"
    gpus_per_rack: 64
    parallelism: {tp: 2, cp: 2, pp: 8, dp: 64}
    batch: {global: 2304, micro: 1}
    precision: fp4
    checkpoint: {interval: 30min, write: 60s, restart: 10min}
    nic_loss: tray
  - {name: all-to-all, kind: collective, op: all_to_all, size: 1GB, racks: "rack-[32-39]"}
events:
  - {at: 0s,    fail: spine-3}
  - {at: 10min, degrade: leaf-5~spine-7#0, to: 0.5}
  - {at: 12min, fail: hxu-9, for: 20min}
  - {at: 1h,    repair: spine-3}
duration: 2h
expect:                               # gates for automation
  - {job: llama-405b, slowdown: "<= 1.10"}
  - {fabric: bisection_fraction, value: ">= 0.95"}
"""

SMALL = """\
gbviz: 1
cluster: {preset: gb300-su}
"""

COMPONENTS = (
    "spine-0",
    "spine-[0-2]",
    "leaf-3",
    "leaf-*",
    "leaf-0~spine-1",
    "leaf-0~spine-1#0",
    "leaf-0>spine-1",
    "spine-1>leaf-0#1",
    "leaf-[0-3]~spine-*",
    "rack-1/tray-2/nic-1",
    "rack-1/tray-2",
    "rack-1",
    "rack-0/tray-0/gpu-0~rack-0/nvswitch-3",
    "hxu-2",
    "leaf-0:73",
    "leaf-0/cage-37",
)
DEGRADABLE = ("leaf-0~spine-1", "leaf-0~spine-1#0", "spine-1>leaf-0#1", "hxu-2", "leaf-0:73")


def scenario(text: str, file: str = "case.yaml") -> Scenario:
    """The scenario of a text."""
    return read(file, text.encode())


def faults(text: str, file: str = "case.yaml") -> tuple[FileFault, ...]:
    """All that is wrong with a text, empty where nothing is."""
    return refused(lambda: scenario(text, file))


def refused(act: Callable[[], object]) -> tuple[FileFault, ...]:
    """The faults that something is refused with, empty where it is not."""
    try:
        act()
    except ScenarioError as error:
        return error.faults
    return ()


def told(text: str, file: str = "case.yaml") -> list[str]:
    """All that is wrong with a text, as users read it, without the file's name."""
    return [str(fault).removeprefix(f"{file}:") for fault in faults(text, file)]


def event_rows() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Events that are right by themselves; repairs may find nothing to repair."""
    times = st.integers(0, 600).map(lambda seconds: f"{seconds}s")
    lasts = st.fixed_dictionaries({}, optional={"for": st.integers(1, 300)})
    fail = st.builds(
        lambda at, what, end: {"at": at, "fail": what} | end,
        times,
        st.sampled_from(COMPONENTS),
        lasts,
    )
    degrade = st.builds(
        lambda verb, at, what, to, end: {"at": at, verb: what, "to": to} | end,
        st.sampled_from(["degrade", "flap"]),
        times,
        st.sampled_from(DEGRADABLE),
        st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        lasts,
    )
    repair = st.builds(
        lambda at, what: {"at": at, "repair": what}, times, st.sampled_from(COMPONENTS)
    )
    restore = st.builds(lambda at: {"at": at, "restore": "all"}, times)
    return st.lists(fail | fail | degrade | repair | restore, max_size=8)


def jobs() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Jobs on racks of their own, up to four."""
    kinds: list[dict[str, Any]] = [
        {"kind": "collective", "op": "all_reduce", "size": "1GB"},
        {"kind": "collective", "op": "all_to_all", "size": 4096, "gpus_per_rack": 8},
        {"kind": "traffic", "pattern": "shift", "argument": 4, "demand": "400Gb/s"},
        {"kind": "traffic", "nic_loss": "rack", "spares": 4},
        {
            "kind": "training",
            "model": "llama3-8b",
            "parallelism": {"tp": 4, "pp": 2, "dp": 9},
            "batch": {"global": 18},
            "checkpoint": {"interval": "10min", "write": 5, "restart": "1.5min"},
            "tokens": 15e12,
        },
        {
            "kind": "training",
            "model": {
                "layers": 16,
                "hidden": 2048,
                "heads": 16,
                "ffn": 8192,
                "vocab": 32000,
                "experts": 8,
                "top_k": 2,
            },
            "parallelism": {"tp": 2, "cp": 2, "dp": 2, "ep": 4},
            "batch": {"global": 8, "micro": 2},
            "gpus_per_rack": 8,
        },
        {
            "kind": "inference",
            "model": "llama3-70b",
            "prefill": {"gpus": 36, "tp": 4},
            "decode": {"gpus": 36, "tp": 4, "batch": 4},
        },
    ]
    names = st.sampled_from(["a", "llama", "no", "10", "é: 😀", "#x", "- y"])
    listed = st.lists(
        st.tuples(st.sampled_from(kinds), names), max_size=4, unique_by=lambda j: j[1]
    )
    return listed.map(
        lambda found: [
            {"name": name, "racks": f"rack-{number}"} | kind
            for number, (kind, name) in enumerate(found)
        ]
    )


def documents() -> st.SearchStrategy[dict[str, Any]]:
    """Right files for a cluster of eight racks."""
    clusters: list[dict[str, Any]] = [
        {"preset": "gb300-su"},
        {"racks": 8},
        {"preset": "azure-gb300", "racks": 8, "port_GBps": "800Gb/s"},
        {"racks": 8, "cooling": {"kind": "hxu", "set_point_c": "35C", "capacity_kw": "0.2MW"}},
    ]
    head = st.fixed_dictionaries(
        {"gbviz": st.just(1), "cluster": st.sampled_from(clusters)},
        optional={
            "name": st.sampled_from(["x", "no", "a: b", "é #1", "1e3"]),
            "description": st.sampled_from(["", "two\nlines", "# no comment"]),
            "routing": st.sampled_from(["adaptive", "spray", "ecmp", "static"]),
            "seed": st.integers(0, 2**63 - 1),
            "nvlink_policy": st.sampled_from(["adaptive", "full-bandwidth"]),
            "duration": st.sampled_from(["2h", 900, "0.5d", "1000.25s"]),
            "expect": st.just([{"fabric": "bisection_fraction", "value": ">= 0.95"}]),
        },
    )
    return st.builds(
        lambda head, jobs, events: head | jobs | events, head, _some(jobs()), _events()
    )


def _some(
    values: st.SearchStrategy[list[dict[str, Any]]], key: str = "jobs"
) -> st.SearchStrategy[dict[str, Any]]:
    return values.map(lambda found: {key: found} if found else {})


def _events() -> st.SearchStrategy[dict[str, Any]]:
    """Events without repairs, which only some orders of events allow."""
    return _some(
        event_rows().map(lambda rows: [row for row in rows if "repair" not in row]), "events"
    )


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Where every value inside of a document stands, itself included."""
    found = [path]
    if isinstance(value, dict):
        found += [deep for key, one in value.items() for deep in places(one, (*path, key))]
    if isinstance(value, list):
        found += [deep for n, one in enumerate(value) for deep in places(one, (*path, n))]
    return found
