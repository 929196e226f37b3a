"""A day of the whole machine: 500 faults of all kinds under four jobs.

`python -m tests.benchmarks.bench_timeline` prints how long it takes and where the time goes.
"""

from __future__ import annotations

import random
import resource
import time
from dataclasses import replace
from pathlib import Path

from gbviz.engine.run import run
from gbviz.faults.actions import Action
from gbviz.scenario.event import Event
from gbviz.scenario.file import read

DAY_S = 86400.0
_KINDS = (
    (0.35, "leaf-{rack}~spine-{spine}#{two}"),
    (0.20, "rack-{rack}/tray-{tray}/nic-{four}"),
    (0.15, "rack-{rack}/tray-{tray}/gpu-{four}"),
    (0.10, "rack-{rack}/nvswitch-{tray}"),
    (0.05, "spine-{spine}"),
    (0.05, "leaf-{rack}"),
    (0.05, "hxu-{rack}"),
    (0.05, "rack-{rack}/feed-a"),
)


def day(count: int, seed: int = 5) -> tuple[Event, ...]:
    """Faults at random times, each repaired after ten seconds to two hours."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        form = rng.choices([form for _, form in _KINDS], [share for share, _ in _KINDS])[0]
        numbers = {"rack": 64, "spine": 36, "tray": 18, "four": 4, "two": 2}
        selector = form.format(**{name: rng.randrange(most) for name, most in numbers.items()})
        lasts = rng.choice([10.0, 60.0, 600.0, 3600.0, 7200.0])
        found.append(Event(rng.uniform(0, DAY_S), Action("fail", selector), for_s=lasts))
    return tuple(found)


def main() -> None:
    jobs = read(Path(__file__).with_name("four_jobs.yaml"))
    run(replace(jobs, events=day(2), duration_s=DAY_S))
    for count in (100, 500):
        scenario = replace(jobs, events=day(count), duration_s=DAY_S)
        begin, cpu = time.perf_counter(), time.process_time()
        made = run(scenario)
        wall, used = time.perf_counter() - begin, time.process_time() - cpu
        print(
            f"a day with {count} events: {wall:.1f} s wall, {used:.1f} s CPU (goal 10 at 500),"
            f" {len(made.intervals):,} intervals, {1e3 * used / len(made.intervals):.1f} ms each"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
