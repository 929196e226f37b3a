"""`python -m tests.benchmarks.bench_jobs`: whole answers with jobs, and a large exchange.

Process CPU times of one thread, medians; the healthy base is computed once, before.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import gbviz
from gbviz.jobs.spec import CollectiveJob
from gbviz.scenario.file import load
from tests.benchmarks.bench_fabric import FAULTS, line, median_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gbviz.engine.snapshot import Snapshot
    from gbviz.scenario import Scenario

HERE = Path(__file__).parent


def moved(fault: str, place: int) -> str:
    """A fault of the same kind in another rack, spine and leaf."""
    found = re.sub(r"(rack|leaf)-\d+", rf"\1-{5 * place % 64}", fault)
    return re.sub(r"spine-\d+", f"spine-{5 * place % 36}", found)


def answer(asked: Iterator[Scenario]) -> Snapshot:
    return gbviz.evaluate(next(asked))


def four_jobs() -> None:
    scenario = load(HERE / "four_jobs.yaml")
    healthy = gbviz.evaluate(scenario)
    for fault in FAULTS:
        # Each time in another place: what was found for the last fault does not help.
        asked = (scenario.with_faults(moved(fault, place)) for place in count())
        ms, p99, found = median_ms(partial(answer, asked))
        assert found.base is healthy.base
        line(f"four jobs: whole answer, {fault}", ms, 16.0, f"p99 {p99:.1f}")


def one_exchange(preset: str, *faults: str) -> None:
    job = CollectiveJob.model_validate(
        {"name": "a", "kind": "collective", "op": "all_to_all", "size": 1e9}
    )
    scenario = gbviz.preset(preset).with_jobs(job)
    gbviz.evaluate(scenario)
    ms, _, _ = median_ms(partial(gbviz.evaluate, scenario.with_faults(*faults)), 3)
    line(f"{preset}: all-to-all job on every GPU, {' '.join(faults)}", ms, None)


def main() -> None:
    four_jobs()
    for preset in ("azure-gb300", "gb300-27k"):
        one_exchange(preset, "spine-3")
        one_exchange(preset, "leaf-0")


if __name__ == "__main__":
    main()
