from __future__ import annotations

import pytest
from rich.console import Console

import gbviz
from gbviz.cooling import loops
from gbviz.engine import loads
from gbviz.jobs.spec import TrainingJob
from gbviz.report.answer import sentence
from gbviz.report.cluster_sheets import job_sheet, rack_sheet
from gbviz.report.cost import cost
from gbviz.report.csv_text import rows_as_csv
from gbviz.report.tables import loop_table


def trained() -> gbviz.Scenario:
    """A training job on four racks, with a checkpoint every half hour."""
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


def test_the_table_of_jobs_has_what_a_loss_costs_once() -> None:
    """A NIC lost: as fast as before, after 30 s of timeout, 900 s of work and a restart."""
    sheet = job_sheet(gbviz.evaluate(trained().with_faults("rack-3/tray-15/nic-3")))
    columns = {column.title: column for column in sheet.columns}
    assert columns["slower"].text(0) == "1.000"
    assert columns["once, s"].text(0) == "1,530"
    text = rows_as_csv(sheet.titles(), sheet.rows(sheet.sorted_by(0, falling=False)))
    head, row = text.splitlines()[:2]
    assert 'slower,"once, s"' in head
    assert "1530.06" in row


def test_racks_have_their_whole_power_and_that_of_their_gpus() -> None:
    found = gbviz.evaluate(gbviz.preset("gb300-su"))
    sheet = rack_sheet(found, loads(found), loads(found, base=True))
    columns = {column.title: column.text(0) for column in sheet.columns}
    assert (columns["rack power, kW"], columns["GPU power, kW"]) == ("136.0", "100.8")


def test_no_job_slower_is_said_where_jobs_run() -> None:
    healthy = trained()
    now, then = gbviz.evaluate(healthy), gbviz.evaluate(healthy.with_faults("leaf-7"))
    assert cost("fail leaf-7", now, then).endswith(" %, no job is slower")
    alone = gbviz.preset("gb300-su")
    words = cost("fail leaf-7", *map(gbviz.evaluate, (alone, alone.with_faults("leaf-7"))))
    assert "job" not in words
    hurt = gbviz.evaluate(healthy.with_faults("rack-3/tray-15/gpu-3"))
    assert "no job" not in cost("fail a GPU", now, hurt)


def test_a_healthy_cluster_has_nothing_to_run_as_before() -> None:
    assert "as before" not in sentence(gbviz.evaluate(trained()))
    assert "llama runs as before" in sentence(gbviz.evaluate(trained().with_faults("spine-0")))


@pytest.mark.parametrize("unit", ["hxu-3"])
def test_every_column_of_the_table_of_loops_has_a_head(unit: str) -> None:
    found = gbviz.evaluate(gbviz.preset("gb300-su").with_faults(unit))
    table = loop_table("Loops", loops(found.fabric, found.thermal), 3)
    assert all(table.columns)
    Console(quiet=True).print(table)
