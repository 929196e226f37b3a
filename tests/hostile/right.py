"""Odd files that are right: each with what must be read from it."""

from __future__ import annotations

from typing import Any

from tests.hostile.making import HEAD, as_json, cluster, events, jobs, raw_json, traffic
from tests.hostile.names import NAMES

# Path in the scenario to the value there: attributes, and numbers of entries.
Right = dict[str, tuple[bytes, dict[str, Any]]]

RIGHT: Right = {
    "byte-order-mark.yaml": (b"\xef\xbb\xbf" + HEAD + b"seed: 7", {"seed": 7}),
    "byte-order-mark.json": (b"\xef\xbb\xbf" + raw_json('"seed": 7'), {"seed": 7}),
    "windows-lines.yaml": (HEAD.replace(b"\n", b"\r\n") + b"seed: 7\r\n", {"seed": 7}),
    "mac-lines.yaml": (HEAD.replace(b"\n", b"\r") + b"seed: 7\r", {"seed": 7}),
    "start-and-end.yaml": (b"---\n" + HEAD + b"seed: 7\n...\n", {"seed": 7}),
    "end-twice.yaml": (HEAD + b"seed: 7\n...\n...\n", {"seed": 7}),
    "no-last-newline.yaml": (HEAD + b"seed: 7", {"seed": 7}),
    "tabs-behind.yaml": (HEAD + b"seed: 7\t# tab\n", {"seed": 7}),
    "octal-of-old.yaml": (HEAD + b"seed: 010", {"seed": 10}),
    "octal.yaml": (HEAD + b"seed: 0o17", {"seed": 15}),
    "hexadecimal.yaml": (HEAD + b"seed: 0xFF", {"seed": 255}),
    "plus.yaml": (HEAD + b"seed: +7", {"seed": 7}),
    "largest-seed.yaml": (HEAD + b"seed: 9223372036854775807", {"seed": 2**63 - 1}),
    "minus-zero-seed.yaml": (HEAD + b"seed: -0", {"seed": 0}),
    "point.yaml": (HEAD + b"duration: .5", {"duration_s": 0.5}),
    "power.yaml": (HEAD + b"duration: 1e3", {"duration_s": 1000.0}),
    "smallest.yaml": (HEAD + b"duration: 5e-324", {"duration_s": 5e-324}),
    "quoted-number.yaml": (HEAD + b"duration: '90'", {"duration_s": 90.0}),
    "space-in-quantity.yaml": (HEAD + b"duration: 1.5 h", {"duration_s": 5400.0}),
    "power-with-unit.yaml": (HEAD + b"duration: 1e1min", {"duration_s": 600.0}),
    "quoted-no.yaml": (HEAD + b'name: "no"', {"name": "no"}),
    "quoted-date.yaml": (HEAD + b'name: "2024-01-01"', {"name": "2024-01-01"}),
    "date.yaml-name.yaml": (HEAD + b"name: 2024-01-01", {"name": "2024-01-01"}),
    "time-name.yaml": (HEAD + b"name: 12:30:45", {"name": "12:30:45"}),
    "number-like-name.yaml": (HEAD + b"name: 1_000", {"name": "1_000"}),
    "empty-name.yaml": (HEAD + b"name:", {"name": "empty-name"}),
    "null-duration.yaml": (HEAD + b"duration: null", {"duration_s": None}),
    "escapes.yaml": (HEAD + b'name: "\\U0001F525\\x41\\u00e9"', {"name": "\U0001f525A\xe9"}),
    "pair.json": (raw_json('"name": "\\ud83d\\udd25"'), {"name": "\U0001f525"}),
    "folded.yaml": (HEAD + b"description: >\n  a\n  b\n", {"description": "a b\n"}),
    "kept-lines.yaml": (HEAD + b"description: |+\n  a\n\n", {"description": "a\n\n"}),
    "longest-description.json": (as_json(description="x" * 100_000), {}),
    "long-line.yaml": (HEAD + b"seed: 7 #" + b"x" * 1_000_000, {"seed": 7}),
    "minus-zero-time.yaml": (events("{at: -0.0, fail: spine-0}"), {"events.0.at_s": 0.0}),
    "zero-factor.yaml": (
        events("{at: 0, degrade: leaf-0, to: -0.0}"),
        {"events.0.action.factor": 0},
    ),
    "whole-factor.yaml": (
        events("{at: 0, degrade: leaf-0~spine-0, to: 1}"),
        {"events.0.action.factor": 1.0},
    ),
    "out-of-order.yaml": (
        events("{at: 2s, repair: leaf-0}, {at: 1s, fail: leaf-0}"),
        {"events.0.at_s": 2.0, "events.1.at_s": 1.0},
    ),
    "fails-twice.yaml": (events("{at: 0, fail: leaf-0}, {at: 0, fail: leaf-0}"), {}),
    "both-at-once.yaml": (events("{at: 1, fail: leaf-0}, {at: 1, repair: leaf-0}"), {}),
    "overlapping-faults.yaml": (
        events("{at: 0, fail: leaf-0, for: 1h}, {at: 30min, fail: leaf-0, for: 1h}"),
        {"events.1.for_s": 3600.0},
    ),
    "ends-later.yaml": (
        events("{at: 0, fail: leaf-0, for: 2h}") + b"duration: 1h",
        {"events.0.for_s": 7200.0},
    ),
    "at-the-very-end.yaml": (
        events("{at: 1h, fail: leaf-0}") + b"duration: 1h",
        {"events.0.at_s": 3600.0},
    ),
    "everything.yaml": (events("{at: 0, fail: '*'}"), {"events.0.action.selector": "*"}),
    "repair-too-late.yaml": (
        events("{at: 0, fail: leaf-0, for: 1s}, {at: 2, repair: leaf-0}"),
        {"events.1.action.verb": "repair"},
    ),
    "restore-healthy.yaml": (events("{at: 0, restore: all}"), {"events.0.action.verb": "restore"}),
    "one-rack.yaml": (b"gbviz: 1\ncluster: {racks: 1}", {"cluster.n_gpus": 72}),
    "one-gpu-a-tray.yaml": (cluster("gpus_per_tray: 1, trays_per_rack: 1"), {"cluster.n_gpus": 8}),
    "slowest-port.yaml": (cluster("port_GBps: 1e-300"), {"cluster.port_GBps": 1e-300}),
    "no-jobs.yaml": (HEAD + b"jobs: []\nevents: []\nexpect: []", {"jobs": ()}),
    "shift-far.yaml": (traffic("pattern: shift, argument: -999999999"), {"jobs.0.name": "a"}),
    "one-flow.yaml": (traffic("pattern: random-pairs, argument: 1"), {"jobs.0.name": "a"}),
    "touching-racks.yaml": (
        jobs(
            "{name: a, kind: traffic, racks: 'rack-[0-3]'},"
            " {name: b, kind: traffic, racks: 'rack-[4-7]'}"
        ),
        {"jobs.1.name": "b"},
    ),
    "31-levels.json": (raw_json('"events": []'), {"events": ()}),
    **{
        f"name-{key}-right.json": (as_json(name=name), {"name": name})
        for key, name in NAMES.items()
    },
    **{
        f"job-name-{key}-right.json": (
            as_json(jobs=[{"name": name, "kind": "traffic", "vms": 1}]),
            {"jobs.0.name": name},
        )
        for key, name in NAMES.items()
    },
}
