"""`python -m tests.benchmarks.bench_fabric`: building, routing, solving and answering, with goals.

Times are process CPU times of one thread, medians; memory is the peak of a process of its own.
Each goal is one that throw-away code has shown to be possible on a noisy two-core machine.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import gbviz
from gbviz.faults import Action, apply, resolve
from gbviz.flows import patterns
from gbviz.flows.columns import flow_columns
from gbviz.flows.maxmin import solve
from gbviz.flows.phase import exchange_phase
from gbviz.flows.rates import fill
from gbviz.flows.router import router
from gbviz.routing.rails import rails
from gbviz.routing.stages import stages
from gbviz.topology import build, cluster_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.topology.fabric import Fabric
    from gbviz.topology.health import Health

FAULTS = ("spine-3", "leaf-0~spine-3#0", "rack-0/nvswitch-3", "rack-0/tray-0/nic-0", "leaf-0")


def median_ms(call: Callable[[], Any], runs: int = 21) -> tuple[float, float, Any]:
    """Median and 99th percentile of CPU time, and the last answer."""
    found, times = call(), []
    for _ in range(runs):
        start = time.process_time()
        found = call()
        times.append(1e3 * (time.process_time() - start))
    return float(np.median(times)), float(np.quantile(times, 0.99)), found


def line(what: str, ms: float, goal: float | None, extra: str = "") -> None:
    verdict = "" if goal is None else f"goal {goal:8.2f}  ratio {ms / goal:5.2f}"
    print(f"{what:62s} {ms:9.3f} ms  {verdict}  {extra}")


def health_of(fabric: Fabric, fault: str | None) -> Health:
    return apply(fabric, resolve(fabric, [Action("fail", fault)] if fault else []))


def builds() -> dict[int, float]:
    took = {}
    for racks, goal in ((64, 2.5), (144, 5.0), (384, None), (1440, 35.0)):
        spec = cluster_spec(racks=racks)
        ms, _, _ = median_ms(partial(build.__wrapped__, spec), 9)
        took[racks] = ms
        line(f"build {racks * 72:,} GPUs", ms, goal)
    return took


def live_fault(racks: int, goal: float, fault: str | None) -> float:
    """Fault, route, solve and the load of every link, for a random permutation of all GPUs."""
    fabric = build(cluster_spec(racks=racks))
    gpus = np.arange(fabric.count("gpu"))
    pairs = patterns.permutation(gpus, np.random.default_rng(1))

    def whole() -> tuple[Health, Any]:
        health = health_of(fabric, fault)
        flows = flow_columns(router(fabric, health, "adaptive", 0), *pairs)
        flows, _, load = fill(flows)
        return health, flows.links.cable_loads(load)

    ms, p99, _ = median_ms(whole)
    line(f"{len(gpus):,} flows, {fault or 'healthy'}: fault to loads", ms, goal, f"p99 {p99:.2f}")
    return ms


def parts(racks: int) -> None:
    fabric = build(cluster_spec(racks=racks))
    pairs = patterns.permutation(np.arange(fabric.count("gpu")), np.random.default_rng(1))
    health = health_of(fabric, None)
    route, _, flows = median_ms(lambda: flow_columns(router(fabric, health, "adaptive", 0), *pairs))
    solved, _, _ = median_ms(lambda: solve(flows.links.capacity, flows.columns, flows.weights))
    proven, _, _ = median_ms(lambda: fill(flows))
    line("4,608-GPU permutation: solve", solved, 0.3)
    line("4,608-GPU permutation: route + solve", route + solved, 1.0)
    line("4,608-GPU permutation: route + solve + load of every link", route + proven, None)


def exchange(racks: int, fault: str | None, goal: float | None) -> None:
    fabric = build(cluster_spec(racks=racks))
    health = health_of(fabric, fault)

    def whole() -> object:
        live = stages(fabric, health, "adaptive")
        return exchange_phase(fabric, live, rails(fabric, health, live.nic_up, live.nic_down))

    ms, _, _ = median_ms(whole)
    line(f"all-to-all of {racks * 72:,} GPUs, {fault or 'healthy'}", ms, goal)


def hashed(flows: int, goal: float) -> None:
    """Single hashed paths on the 4,608-GPU fabric."""
    fabric = build(cluster_spec(racks=64))
    health, rng = health_of(fabric, None), np.random.default_rng(2)
    rounds = -(-flows // 4608)
    drawn = [patterns.permutation(np.arange(4608), rng) for _ in range(rounds)]
    source, target = (np.concatenate(ends) for ends in zip(*drawn, strict=True))
    routed = flow_columns(router(fabric, health, "ecmp", 7), source, target)
    ms, _, found = median_ms(
        lambda: solve(routed.links.capacity, routed.columns, routed.weights), 5
    )
    line(f"{flows:,} hashed paths (PXN): solve", ms, goal, f"{found.rounds} rounds")


def answers() -> None:
    for name in ("azure-gb300", "gb300-100k"):
        scenario = gbviz.preset(name)
        gbviz.evaluate(scenario)
        for fault in FAULTS:
            ms, _, _ = median_ms(partial(gbviz.evaluate, scenario.with_faults(fault)), 9)
            goal = 16.0 if name == "azure-gb300" else None
            line(f"{name}: whole answer, {fault}", ms, goal)


def memory(racks: int, goal: float) -> None:
    """Peak of a fresh process that builds, breaks and answers."""
    code = (
        "import gbviz, pathlib;"
        f"gbviz.evaluate(gbviz.preset('azure-gb300', racks={racks}).with_faults('spine-3'));"
        "print(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peak = float(out.stdout) / 1024
    what = f"peak memory, {racks * 72:,} GPUs, one answer"
    print(f"{what:62s} {peak:9.1f} MB  goal {goal:8.0f}  ratio {peak / goal:5.2f}")


def growth(what: str, small: float, large: float) -> None:
    exponent = math.log(large / small) / math.log(1440 / 64)
    print(f"{f'growth exponent 4,608 to 103,680 GPUs, {what}':62s} {exponent:9.2f}     goal 1.15")


def main() -> None:
    took = builds()
    parts(64)
    small = [live_fault(64, 2.0, fault) for fault in (None, *FAULTS)]
    large = [live_fault(1440, 25.0, fault) for fault in (None, *FAULTS)]
    exchange(64, None, 1.0)
    for fault in FAULTS:
        exchange(64, fault, 2.0)
    exchange(1440, None, None)
    exchange(1440, "spine-3", None)
    for flows, goal in ((4608, 1.5), (46080, 30.0), (460800, 350.0)):
        hashed(flows, goal)
    answers()
    growth("build", took[64], took[1440])
    growth("fault to loads, spine-3", small[1], large[1])
    memory(64, 250)
    memory(1440, 250)


if __name__ == "__main__":
    main()
