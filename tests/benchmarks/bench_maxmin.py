"""Timings of `gbviz.flows.maxmin` against its goals, SimGrid and the plain-loop reference.

Run as ``python -m tests.benchmarks.bench_maxmin``. All times are process CPU time of one thread,
medians; peers are timed in turn with ours, so their ratios hold on a noisy machine where
absolute times do not.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from gbviz.flows.conservation import FloatArray, IntArray, check
from gbviz.flows.maxmin import MaxMin, solve
from tests import slow_reference

if TYPE_CHECKING:
    from collections.abc import Callable

NICS, SPINES, TRUNK, CAPACITY = 72, 36, 2, 100.0
UPLINKS = SPINES * TRUNK
# Debian's python3-simgrid; its module also loads into a virtual environment of the same Python.
SIMGRID = "/usr/lib/python3/dist-packages"
PURE_MAXMIN = (
    "network/model:CM02",
    "network/crosstraffic:no",
    "network/TCP-gamma:0",
    "network/weight-S:0",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "maxmin/precision:1e-9",
)
# Bytes a flow: so many that none ends while its rate is read.
SIZE = 2**40
HEADS = ("start", "first", "again", "one shot", "solve", "x all", "x one", "x solve", "apart", "MB")


@dataclass(frozen=True)
class Case:
    """Flows between NICs, and the way to their links."""

    name: str
    capacity: FloatArray
    pairs: tuple[IntArray, IntArray]
    route: Callable[[], IntArray]

    def run(self) -> MaxMin:
        return solve(self.capacity, self.route())


def pairs(n_leaves: int, times: int, seed: int = 7) -> tuple[IntArray, IntArray]:
    """Random permutations of all NICs, each one cycle, so that no NIC sends to itself."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n_leaves * NICS) for _ in range(times)]
    return np.concatenate(orders), np.concatenate([np.roll(order, 1) for order in orders])


def hashed(n_leaves: int, times: int) -> Case:
    """Each flow on one uplink of its leaf and one of the parallel cables down, at random."""
    n, n_up = n_leaves * NICS, n_leaves * UPLINKS
    source, target = pairs(n_leaves, times)
    rng = np.random.default_rng(11)
    up = rng.integers(UPLINKS, size=source.size)
    down = up // TRUNK * TRUNK + rng.integers(TRUNK, size=source.size)

    def route() -> IntArray:
        leaf, far = source // NICS, target // NICS
        local, unused = leaf == far, 2 * n + 2 * n_up
        climb = np.where(local, unused, 2 * n + leaf * UPLINKS + up)
        descend = np.where(local, unused, 2 * n + n_up + far * UPLINKS + down)
        return np.stack([source, climb, descend, n + target])

    name = f"hashed paths, {source.size:,} flows"
    return Case(name, np.full(2 * n + 2 * n_up, CAPACITY), (source, target), route)


def multipath(n_leaves: int, damaged: int, *, lumped: bool = True) -> Case:
    """Each flow on all cables of its leaf; all cables of the first leaves run at 50 to 95 %.

    Lumped, the 72 uplinks of a leaf are one link of 72 times the capacity. Otherwise a flow has
    146 links of weight 1 where it puts 1/72 of its rate on 144 of them; their capacity is given
    72-fold, which is the same system, since every flow has the same weight there.
    """
    n, width = n_leaves * NICS, 1 if lumped else UPLINKS
    source, target = pairs(n_leaves, 1)
    factor = np.ones(n_leaves)
    factor[:damaged] = np.linspace(0.5, 0.95, damaged)
    uplinks = np.repeat(UPLINKS * CAPACITY * factor, width)
    capacity = np.concatenate([np.full(2 * n, CAPACITY), uplinks, uplinks])

    def route() -> IntArray:
        leaf, far = source // NICS, target // NICS
        local, cable = leaf == far, np.arange(width)[:, None]
        climb = np.where(local, capacity.size, 2 * n + leaf * width + cable)
        descend = np.where(local, capacity.size, 2 * n + (n_leaves + far) * width + cable)
        return np.vstack([source, climb, descend, n + target])

    how = "lumped" if lumped else "146 links a flow"
    state = f"{damaged} leaves damaged" if damaged else "healthy"
    return Case(
        f"multipath, {source.size:,} flows, {state}, {how}", capacity, (source, target), route
    )


def cpu_ms(function: Callable[[], object], repeats: int) -> float:
    """Median CPU time of a call in ms, after one call to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time_ns()
        function()
        times.append(time.process_time_ns() - start)
    return median(times) / 1e6


def peak_mb(who: int = resource.RUSAGE_SELF) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def against_goals() -> None:
    print(f"{'goals':58}{'goal ms':>9}{'ms':>9}{'rounds':>8}{'peak MB':>9}")
    rows = [
        (multipath(64, 0), 0.3, 201),
        (multipath(64, 1), 0.3, 201),
        (multipath(64, 8), 0.3, 201),
        (multipath(64, 64), 0.3, 201),
        (hashed(64, 1), 1.5, 101),
        (hashed(64, 10), 30, 21),
        (hashed(64, 100), 350, 5),
    ]
    for case, goal, repeats in rows:
        columns = case.route()
        found = solve(case.capacity, columns)
        took = cpu_ms(partial(solve, case.capacity, columns), repeats)
        verdict = "" if took <= goal else "  MISSED"
        if check(case.capacity, columns, None, found.rates, found.bottleneck):
            verdict += "  WRONG"
        print(f"{case.name:58}{goal:9}{took:9.3f}{found.rounds:8}{peak_mb():9.0f}{verdict}")


def against_the_reference() -> None:
    """72 flows, all that exact fractions in plain loops can do in a few seconds."""
    rng = np.random.default_rng(3)
    columns = rng.integers(0, 48, (3, 72))
    capacity = np.full(48, CAPACITY)
    flows: list[dict[Any, Fraction]] = []
    for f in range(columns.shape[1]):
        crossed: dict[Any, Fraction] = {}
        for link in columns[:, f].tolist():
            crossed[link] = crossed.get(link, Fraction(0)) + 1
        flows.append(crossed)
    caps = [Fraction(c) for c in capacity.tolist()]
    fast, slow = [], []
    for _ in range(3):
        fast.append(cpu_ms(lambda: solve(capacity, columns), 51))
        slow.append(cpu_ms(lambda: slow_reference.maxmin(caps, flows), 1))
    exact = np.array([float(r) for r in slow_reference.maxmin(caps, flows)])
    apart = np.abs(solve(capacity, columns).rates / exact - 1).max()
    print(
        f"\nplain loops over fractions, 72 flows on 3 of 48 links: {median(slow):.0f} ms,", end=" "
    )
    print(f"ours {median(fast):.3f} ms, ratio {median(slow) / median(fast):,.0f}", end=", ")
    print(f"largest relative difference {apart:.1e}")


def simgrid_worker(path: str, update: str) -> None:
    """Build the platform, start all flows, and print what SimGrid says as JSON; never returns."""
    sys.path.append(SIMGRID)
    import simgrid as sg

    data = np.load(path)
    ends = list(zip(data["source"].tolist(), data["target"].tolist(), strict=True))
    n_links = data["capacity"].size
    config = [f"--cfg={item}" for item in (*PURE_MAXMIN, f"network/optim:{update}")]
    engine = sg.Engine(["bench", *config, "--log=root.thresh:error"])
    zone = sg.NetZone.create_full_zone("fabric")
    hosts = [zone.create_host(f"h{i}", 1e9) for i in range(1 + data["source"].max())]
    capacity = data["capacity"].tolist()
    links = [zone.create_link(f"l{i}", c) for i, c in enumerate(capacity)]
    hops = [sg.LinkInRoute(link) for link in links]
    for (a, b), crossed in zip(ends, data["columns"].T.tolist(), strict=True):
        way = [hops[i] for i in crossed if i < n_links]
        zone.add_route(hosts[a].netpoint, hosts[b].netpoint, None, None, way, False)
    zone.seal()
    changed, wait = int(data["changed"]), SIZE / (4 * CAPACITY)

    def timed(function: Callable[[], object]) -> tuple[float, Any]:
        start = time.process_time()
        result = function()
        return 1e3 * (time.process_time() - start), result

    def run() -> None:
        start, flows = timed(
            lambda: [sg.Comm.sendto_async(hosts[a], hosts[b], SIZE) for a, b in ends]
        )
        first, _ = timed(lambda: sg.this_actor.sleep_for(wait))
        rates = [(SIZE - flow.remaining) / wait for flow in flows]
        again = []
        for step in range(1, 8):
            links[changed].set_bandwidth(capacity[changed] * (1 - step / 1000))
            again.append(timed(lambda: sg.this_actor.sleep_for(1.0))[0])
        answer = {"start": start, "first": first, "again": median(again), "rates": rates}
        print(json.dumps(answer | {"peak": peak_mb()}), flush=True)
        # The flows would take days of simulated time, and their threads do not end by themselves.
        os._exit(0)

    sg.Actor.create("run", hosts[0], run)
    engine.run()


def simgrid(case: Case, update: str = "Full") -> dict[str, Any]:
    """What a fresh process says about a case: one engine a process is all that SimGrid allows."""
    columns, (source, target) = case.route(), case.pairs
    # A cable that somebody uses, of the busiest kind: the first hop above a NIC, else the NIC.
    changed = int(columns[1][columns[1] < case.capacity.size].min())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.npz"
        np.savez(
            path,
            capacity=case.capacity,
            columns=columns,
            source=source,
            target=target,
            changed=np.array(changed),
        )
        command = [
            sys.executable,
            "-m",
            "tests.benchmarks.bench_maxmin",
            "simgrid",
            str(path),
            update,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def against_simgrid() -> None:
    sys.path.append(SIMGRID)
    try:
        import simgrid as sg
    except ImportError as missing:
        print(
            f"\nSimGrid: skipped, cannot be imported ({missing}); apt-get install python3-simgrid"
        )
        return
    print(f"\nSimGrid {sg.simgrid_version}, pure max-min, one thread, each run a fresh process:")
    print("  start: flows started from Python (includes route look-up and the binding's own cost)")
    print("  first: the step that solves first     again: a step after one capacity changed")
    print("  ours: one shot = link columns from NIC pairs, and solve")
    print("  x all = (start + first) / one shot, x one = first / one shot, x solve = again / solve")
    print(f"{'':40}" + "".join(f"{head:>9}" for head in HEADS))
    damaged, exploded = multipath(64, 8), multipath(64, 8, lumped=False)
    for ours, theirs, update in (
        (hashed(14, 1), None, "Full"),
        (hashed(64, 1), None, "Full"),
        (hashed(64, 1), None, "Lazy"),
        (multipath(14, 4), None, "Full"),
        (multipath(64, 0), None, "Full"),
        (multipath(64, 1), None, "Full"),
        (damaged, None, "Full"),
        (multipath(64, 64), None, "Full"),
        (multipath(64, 0), multipath(64, 0, lumped=False), "Full"),
        (damaged, exploded, "Full"),
    ):
        compare(ours, theirs or ours, update)
    print("Lazy is SimGrid's selective update, which solves only what a change reaches.")
    print(
        "Lumped: SimGrid, too, gets the 72 uplinks of a leaf as one link. Shares other than equal"
    )
    print("ones are not compared: a route of its Python API has no weights.")


def compare(ours: Case, theirs: Case, update: str, repeats: int = 3) -> None:
    """One row: ours and SimGrid in turn, medians."""
    columns = ours.route()
    one_shot, alone, answers = [], [], []
    for _ in range(repeats):
        one_shot.append(cpu_ms(ours.run, 101))
        alone.append(cpu_ms(partial(solve, ours.capacity, columns), 101))
        answers.append(simgrid(theirs, update))
    start, first, again, peak = (
        median(answer[key] for answer in answers) for key in ("start", "first", "again", "peak")
    )
    one, own = median(one_shot), median(alone)
    apart = np.abs(np.array(answers[0]["rates"]) / ours.run().rates - 1).max()
    print(f"{theirs.name}, {update}" + ("" if apart <= 1e-9 else "  RATES DIFFER"))
    print(f"{'':40}{start:9.1f}{first:9.2f}{again:9.2f}{one:9.3f}{own:9.3f}", end="")
    ratios = f"{(start + first) / one:9.0f}{first / one:9.1f}{again / own:9.1f}"
    print(f"{ratios}{apart:9.0e}{peak:9.0f}", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["simgrid"]:
        simgrid_worker(*sys.argv[2:4])
    against_goals()
    against_the_reference()
    against_simgrid()
    print(f"\npeak memory: ours {peak_mb():.0f} MB, largest SimGrid process ", end="")
    print(f"{peak_mb(resource.RUSAGE_CHILDREN):.0f} MB")


if __name__ == "__main__":
    main()
