from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import gbviz
from gbviz.engine import Snapshot, loads
from gbviz.faults import Action
from gbviz.jobs.spec import TrainingJob
from gbviz.report.job_facts import job_facts, job_headline, job_line
from gbviz.report.ticket import ticket
from gbviz.scenario.event import Event

if TYPE_CHECKING:
    from gbviz.scenario import Scenario

GPU = "rack-3/tray-15/gpu-3"
NIC = "rack-3/tray-15/nic-3"


@lru_cache(maxsize=1)
def trained() -> Scenario:
    """A training job on four racks, with a checkpoint every half hour, and a shift on the rest."""
    job = TrainingJob(
        kind="training",
        name="llama",
        racks="rack-[0-3]",
        gpus_per_rack=64,
        model="llama3-70b",
        parallelism={"tp": 8, "dp": 32},
        batch={"global": 128},
    )
    return gbviz.preset("gb300-su").with_jobs(job)


def found(*faults: str) -> Snapshot:
    return gbviz.evaluate(trained().with_faults(*faults))


def test_a_ticket_has_faults_figures_jobs_and_their_limits() -> None:
    text = ticket(found(GPU))
    assert text.startswith("Scenario: gb300-su (8 racks, 576 GPUs")
    assert f"\n  {GPU} failed (down: 36 links (both directions) and 1 GPU)" in text
    assert "\n  live GPUs: 576 -> 575 (99.83 %)" in text
    line = next(line for line in text.splitlines() if line.startswith("  llama:"))
    assert "degraded, takes 1.195 times as long (" in line
    # 30 s until it is detected, half of 1,800 s, and the restart.
    assert "1,530 s lost once (30 s stalled, 900 s of work lost" in line
    assert "1 GPU lost, 0 replaced by spares" in line
    assert "limit: " in line


def test_a_job_that_only_lost_time_is_in_the_ticket() -> None:
    text = ticket(found(NIC))
    assert "llama: running, as fast as before (" in text
    assert "1,530.10 s lost once" in text
    assert ticket(found()).endswith("Jobs: none of 1 is slower, stopped or has lost time")


def test_a_ticket_says_when_a_fault_began() -> None:
    event = Event(630.0, Action("fail", "spine-1"), for_s=3600.0)
    text = ticket(gbviz.evaluate(trained().with_events(event)))
    assert "spine-1 failed at 0:10:30, for 1:00:00" in text


def test_the_facts_of_a_job() -> None:
    snapshot = found(GPU)
    line = job_line(snapshot, "llama")
    assert line is not None
    assert job_headline(line).startswith("degraded: takes 1.195 times as long, after 1,530 s")
    rows = {fact.label: fact for fact in job_facts(snapshot, loads(snapshot, base=True), line)}
    assert rows["slower"].value == "1.195"
    assert rows["once"].value.startswith("1,530 s: 30 s stalled")
    assert rows["GPUs"].value == "248; 1 GPU lost, 0 replaced by spares"
    assert rows["runs on"].value == "4 racks, rack-0 to rack-3"
    assert rows["runs on"].names == ("rack-0", "rack-3")
    assert job_line(snapshot, "nobody") is None
