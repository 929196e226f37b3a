"""Timings of heat over time against its goals.

Run as ``python -m tests.benchmarks.bench_heat``. Process CPU time, the best of five.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling import HeatState, advance, start
from gbviz.topology import build, cluster_spec
from gbviz.topology.health import healthy
from tests.cooling.following import broken, follow

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.topology import Fabric, Health


def best_ms(work: Callable[[], object]) -> float:
    found = []
    for _ in range(5):
        begin = time.process_time()
        work()
        found.append(1000 * (time.process_time() - begin))
    return min(found)


def report(what: str, fabric: Fabric, health: Health, state: HeatState, goal_ms: float) -> None:
    def work() -> object:
        return follow(fabric, health, None, state)

    took = best_ms(work)
    advances = follow(fabric, health, None, state).advances
    print(f"{what:55} {took:8.1f} ms of {goal_ms:.0f}, {advances} advances")


def main() -> None:
    cdu = build(cluster_spec("gb300-cdu"))
    state = start(cdu, healthy(cdu))
    report("gb300-cdu, two of four units lost", cdu, broken(cdu, "cdu-[0-1]"), state, 100)
    report("gb300-cdu, three of four units lost", cdu, broken(cdu, "cdu-[0-2]"), state, 200)
    mixed = broken(cdu, "cdu-[0-1]")
    factors = np.random.default_rng(0).choice([1, 1, 0.9, 0.8, 0.7, 0.5], size=4608)
    mixed.node_factor[cdu.nodes("gpu")] = factors
    report("the same, GPUs of five clocks", cdu, mixed, state, 200)
    for name in ("azure-gb300", "gb300-27k", "gb300-100k"):
        fabric = build(cluster_spec(name))
        state = start(fabric, healthy(fabric))
        whole, lost = healthy(fabric), broken(fabric, "hxu-9")
        report(f"{name}, one sidecar lost", fabric, lost, state, 500)

        def at_rest(f: Fabric = fabric, h: Health = whole, s: HeatState = state) -> object:
            return advance(f, h, None, s, 100.0)

        print(f"{name + ', at rest, one advance':55} {best_ms(at_rest):8.1f} ms")
    fabric = build(cluster_spec("azure-gb300"))
    unlike = healthy(fabric)
    unlike.node_factor[fabric.nodes("hxu")] = np.random.default_rng(0).uniform(0.5, 1, size=64)
    report("azure-gb300, 64 sidecars each weaker otherwise", fabric, unlike,
           start(fabric, healthy(fabric)), 5000)  # fmt: skip


if __name__ == "__main__":
    main()
