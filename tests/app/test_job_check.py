from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.app.job_check import Checker, fresh_job, texts_of
from gbviz.app.job_fields import fields_of, free_racks, job_of, selector_of, value_of
from gbviz.faults.actions import Action
from gbviz.jobs.spec import CollectiveJob, Precision, TrafficSpec, TrainingJob, Transformer
from gbviz.jobs.traffic import traffic_job
from gbviz.scenario import Scenario, preset
from gbviz.scenario.demo import demo
from gbviz.scenario.event import Event
from gbviz.scenario.wording import KINDS

SU = preset("gb300-su")
Texts = dict[tuple[str, ...], str]
SHAPE = Transformer(layers=8, hidden=1024, heads=8, ffn=4096, vocab=1000)


def _round_trip(checker: Checker) -> object:
    job = checker.before
    texts = texts_of(fields_of(job["kind"]), job)
    return checker.check(job_of(job["kind"], job["name"], texts)).job


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_the_model_has_a_box(kind: str) -> None:
    keys = {field.key for field in fields_of(kind)}
    heads = {key[0] for key in keys}
    names = {info.alias or name for name, info in KINDS[kind].model_fields.items()}
    assert heads == names - {"kind", "name"}


def test_choices_are_those_of_the_file() -> None:
    found = {field.key: field for field in fields_of("training")}
    assert found["precision",].choices == get_args(Precision)
    assert found["precision",].usual == "fp8"
    assert found["batch", "global"].usual == ""


@pytest.mark.parametrize("number", range(5))
def test_jobs_of_the_demo_come_back_from_their_text_boxes(number: int) -> None:
    scenario = demo()
    assert _round_trip(Checker(scenario, number)) == scenario.jobs[number]


def test_lists_and_shapes_come_back_too() -> None:
    jobs = (
        TrafficSpec(
            kind="traffic",
            name="a",
            pattern="pairs",
            pairs=(
                "rack-0/tray-0/gpu-0>rack-1/tray-0/gpu-0",
                "rack-0/tray-1/gpu-0>rack-2/tray-0/gpu-0",
            ),
            gpus=("rack-[0,2]/tray-[0-1]", "rack-1"),
            demand=12.5,
        ),
        TrafficSpec(kind="traffic", name="b", pattern="shift", argument=7, gpus="rack-[3,4]"),
        TrainingJob.model_validate(
            {
                "kind": "training",
                "name": "c",
                "racks": "rack-5",
                "gpus_per_rack": 64,
                "model": SHAPE,
                "parallelism": {"tp": 8, "dp": 8},
                "batch": {"global": 64},
                "checkpoint": {"interval": "30min"},
            }
        ),
    )
    scenario = replace(SU, jobs=jobs)
    for number, job in enumerate(jobs):
        assert _round_trip(Checker(scenario, number)) == job


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "scenario", [SU, preset("gb300-su", racks=1), demo()], ids=["8", "1", "demo"]
)
def test_a_fresh_job_is_right_at_once(kind: str, scenario: Scenario) -> None:
    found = Checker(scenario).check(job_of(kind, "fresh", fresh_job(scenario, kind)))
    assert (found.reason, found.others) == ("", ())
    assert found.job is not None


def test_what_the_form_takes_the_file_takes_too() -> None:
    texts: Texts = {("op",): "all_reduce", ("size",): "1.5 GB", ("racks",): "rack-[0-1]"}
    found = Checker(SU).check(job_of("collective", "a", texts))
    assert found.job == CollectiveJob(
        kind="collective", name="a", op="all_reduce", size=1.5e9, racks="rack-[0-1]"
    )
    assert found.placed == 144


@pytest.mark.parametrize(
    ("texts", "key", "says"),
    [
        ({("size",): "1GX"}, ("size",), "must be a number with one of"),
        ({("size",): ""}, ("size",), "is missing"),
        ({("size",): "0"}, ("size",), "at least 1"),
        ({("racks",): "rack-[0-99]"}, ("racks",), "there is no rack-"),
        ({("spares",): "9999"}, ("racks",), "spares leave none"),
        ({("gpus",): "rack-0"}, ("gpus",), "is stated beside racks"),
        ({("order",): "tp"}, ("order",), "is not an order of"),
        ({("op",): "sum"}, ("op",), "is not one of its values"),
        ({("gpus_per_rack",): "many"}, ("gpus_per_rack",), "must be a whole number"),
    ],
)
def test_a_fault_is_told_at_its_field(texts: Texts, key: tuple[str, ...], says: str) -> None:
    usual: Texts = {("op",): "all_reduce", ("size",): "1GB", ("racks",): "rack-[0-1]"}
    found = Checker(SU).check(job_of("collective", "a", usual | texts))
    assert found.job is None
    assert says in found.faults[key]
    assert found.reason


def test_faults_of_several_fields_are_told_at_once() -> None:
    checker = Checker(demo(), 0)
    job = checker.before
    job = job | {"parallelism": job["parallelism"] | {"tp": 3}, "batch": {"global": 100}}
    found = checker.check(job)
    assert "128 heads are not divisible by tp = 3" in found.faults["parallelism", "tp"]
    assert "2,304 ranks, but" in found.faults["parallelism",]
    assert "use 96 or 144" in found.faults["batch", "global"]
    assert "(and 2 more)" in found.reason


def test_memory_is_told_by_the_checks_own_text() -> None:
    texts = fresh_job(SU, "training") | {("model",): "llama3-405b"}
    texts |= {("parallelism", "tp"): "1", ("parallelism", "dp"): "512"}
    texts |= {("batch", "global"): "512"}
    found = Checker(SU).check(job_of("training", "a", texts))
    assert "GB" in found.faults["parallelism",]


def test_a_name_is_taken_once() -> None:
    found = Checker(demo()).check(job_of("collective", "chat", fresh_job(demo(), "collective")))
    assert "is the name of jobs[4] too" in found.faults["name",]
    kept = Checker(demo(), 4)
    assert kept.check(kept.before).job is not None


def test_what_it_breaks_elsewhere_is_told_with_the_names_of_jobs() -> None:
    checker = Checker(demo(), 1)
    found = checker.check(checker.before | {"racks": "rack-[24-34]"})
    assert found.job is None
    assert found.faults == {}
    assert found.others[0].startswith("job deepseek-v3.racks: rack-34/tray-0/gpu-0 already runs")


def test_what_was_wrong_before_holds_nobody_up() -> None:
    twice = replace(SU, jobs=(traffic_job("permutation"), traffic_job("permutation")))
    texts: Texts = {("op",): "all_reduce", ("size",): "1GB", ("racks",): "rack-0"}
    found = Checker(twice).check(job_of("collective", "a", texts))
    assert found.job is None or found.job.name == "a"
    assert found.job is not None or found.reason


def test_events_are_not_read_for_a_job() -> None:
    broken = replace(SU, events=(Event(0.0, Action("fail", "rack-60")),))
    assert Checker(broken).check(job_of("traffic", "a", {})).job is not None


def test_free_racks_are_those_of_which_nothing_is_used() -> None:
    assert free_racks(demo()) == [32, 33, 62, 63]
    assert free_racks(demo(), 1) == [*range(24, 34), 62, 63]
    assert free_racks(SU) == list(range(8))


@given(st.sets(st.integers(0, 63), min_size=1))
@settings(max_examples=50, deadline=None)
def test_a_selector_of_racks_names_those_racks(racks: set[int]) -> None:
    text = selector_of(racks)
    found = Checker(preset("azure-gb300")).check(job_of("traffic", "a", {("racks",): text}))
    assert found.placed == 72 * len(racks)


@given(st.sampled_from([field for kind in KINDS for field in fields_of(kind)]), st.text())
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_the_form(field: object, text: str) -> None:
    for kind in KINDS:
        if field in fields_of(kind):
            texts = fresh_job(SU, kind) | {field.key: text}
            value_of(field, text)
            found = Checker(SU).check(job_of(kind, text or "a", texts))
            assert (found.job is None) == bool(found.reason)
