"""What is said of a file that is wrong: every fault, with its place and what to do."""

from __future__ import annotations

import pickle

import pytest

from gbviz.errors import FileFault, GbvizError, ScenarioError
from gbviz.scenario import components
from tests.scenario.samples import SMALL, faults, scenario, told


# Each text is put below the two lines of SMALL.
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sede: 7", "3:1: sede: is not known, did you mean 'seed'?"),
        ("seed: -1", "3:7: seed: must be at least 0 (got -1)"),
        ("seed: 9223372036854775808", "3:7: seed: must be at most 9223372036854775807"),
        ("seed: 1.5", "3:7: seed: must be a whole number (got 1.5)"),
        ("seed: true", "3:7: seed: must be a whole number (got true)"),
        ("seed: '7'", "3:7: seed: must be a whole number (got '7')"),
        ("seed:", "3:6: seed: must be a whole number (got nothing)"),
        ("name: 405", '3:7: name: must be text (got 405), quote it: "405"'),
        ("name: ''", "3:7: name: must not be empty"),
        ('name: "a\\e[2J"', "3:7: name: holds control characters"),
        (
            "routing: adaptve",
            "3:10: routing: is not one of its values (got 'adaptve'), did you mean",
        ),
        ("nvlink_policy: full-bandwith", "did you mean 'full-bandwidth'?"),
        ("jobs: 5", "3:7: jobs: must be a list (got 5)"),
        ("jobs: {a: b}", "3:7: jobs: must be a list (got fields)"),
        ("events: [5]", "3:10: events[0]: must hold fields (got 5)"),
        ("duration: 5x", "3:11: duration: must be a number with one of: ms, s, min, h, d"),
        ("duration: 0", "3:11: duration: must be above 0 (got 0)"),
        ("duration: -1h", "3:11: duration: must be above 0 (got '-1h')"),
        ("duration: 1e300d", "3:11: duration: must be at most 10000000000"),
        ("events: [{fail: hxu-0}]", "3:10: events[0].at: is missing"),
        ("events: [{at: -1s, fail: hxu-0}]", "3:15: events[0].at: must be at least 0 (got '-1s')"),
        ("events: [{at: 0}]", "3:10: events[0]: does nothing, add one of: fail, degrade"),
        ("events: [{at: 0, fail: a, repair: b}]", "3:27: events[0].repair: stands beside fail"),
        (
            "events: [{at: 0, fial: hxu-0}]",
            "3:18: events[0].fial: is not known, did you mean 'fail'",
        ),
        ("events: [{at: 0, degrade: hxu-0}]", "3:10: events[0]: degrade needs 'to'"),
        ("events: [{at: 0, fail: hxu-0, to: 0.5}]", "events[0].to: goes with degrade or flap"),
        ("events: [{at: 0, degrade: hxu-0, to: 1.5}]", "events[0].to: must be at most 1 (got 1.5)"),
        ("events: [{at: 0, degrade: hxu-0, to: '1'}]", "events[0].to: must be a number (got '1')"),
        ("events: [{at: 0, repair: hxu-0, for: 5}]", "events[0].for: goes with faults, not with"),
        ("events: [{at: 0, fail: hxu-0, for: 0s}]", "events[0].for: must be above 0 (got '0s')"),
        ("events: [{at: 0, restore: hxu-0}]", "write 'restore: all', or 'repair: hxu-0'"),
        ("events: [{at: 0, fail: null}]", "does nothing"),
        ("events: [{at: 0, fail: hxu-0, to: null}]", "events[0].to: is empty, leave it out"),
        (
            "events: [{at: 2h, fail: hxu-0}]\nduration: 1h",
            "3:15: events[0].at: is at 7200 s (2 h), after",
        ),
        (
            "events: [{at: 0, fail: hxu-9}]",
            "events[0].fail: there is no hxu-9, here there are hxu-0",
        ),
        ("events: [{at: 0, fail: spin-3}]", "did you mean 'spine-3'?"),
        ("events: [{at: 0, degrade: 'spine-*', to: 0.5}]", "spine-0: a spine cannot be degraded"),
        ("events: [{at: 0, repair: hxu-0}]", "hxu-0 has no fault to repair at that time"),
        ("events: [{at: 0, fail: ''}]", "events[0].fail: must not be empty"),
        (
            "expect: [{fabric: bisection, value: '>= 1'}]",
            "the fabric has no figure 'bisection', did",
        ),
        ("expect: [{fabric: live_gpus, valu: '>= 1'}]", "its limit is under 'value' (got 'valu')"),
        ("expect: [{fabric: live_gpus, value: '=> 1'}]", "must be an operator and a number (got"),
        ("expect: [{fabric: live_gpus, value: '=> 1'}]", "write >= for =>"),
        ("expect: [{totals: goodput, x: '>= 90 %'}]", "goes without a sign: 90 % is 0.9"),
        ("expect: [{fabric: live_gpus, value: 1}]", 'for example "<= 1.10"'),
        ("expect: [{fabric: live_gpus}]", "expect[0]: states no limit"),
        ("expect: [{value: '<= 1'}]", "expect[0]: names no subject, name one of: job, fabric"),
        ("expect: [{fabric: live_gpus, job: x, value: '<= 1'}]", "names both job and fabric"),
        ("expect: [{job: x, slowdown: '<= 1'}]", "there is no job 'x', the file has no jobs"),
        ("expect: [{job: 5, slowdown: '<= 1'}]", "expect[0].job: must be a name"),
        ("expect: [{cooling: loop-9, clock: '>= 1'}]", "there is no component 'loop-9'"),
        ("expect: [{cooling: hxu-1, clock: '>= 1'}]", "hxu-1 is not a loop"),
        ("expect: [{cooling: loop-1, clok: '>= 1'}]", "did you mean 'clock'?"),
        ("expect: [{totals: goodput, x: '>= 1'}]", "there is no job 'x'"),
        (
            "expect: [{totals: xyz, value: '>= 1'}]",
            "there is no total 'xyz', choose one of: goodput",
        ),
    ],
)
def test_what_is_wrong_with_fields_and_events(text: str, says: str) -> None:
    assert any(says in line for line in told(SMALL + text + "\n")), told(SMALL + text + "\n")


MODEL = (
    "{name: a, kind: training, vms: 1, parallelism: {tp: 4}, batch: {global: 1}, model:"
    " {layers: 8, hidden: 64, heads: 8, ffn: 64, vocab: 64, %s}}"
)
TRAINING = "kind: training, model: llama3-8b, batch: {global: 64}, parallelism: {tp: 4, dp: 16}"


@pytest.mark.parametrize(
    ("jobs", "says"),
    [
        ("{name: a}", "4:5: jobs[0].kind: is missing, choose one of: training, inference"),
        ("{name: a, kind: trainin}", "4:21: jobs[0].kind: there is no kind of job 'trainin', did"),
        ("{kind: traffic}", "4:5: jobs[0].name: is missing"),
        ("{name: a, kind: traffic, rack: x}", "jobs[0].rack: is not known, did you mean 'racks'?"),
        (
            "{name: a, kind: traffic, pattern: shif}",
            "there is no traffic pattern 'shif', did you mean",
        ),
        (
            "{name: a, kind: traffic, argument: 5}",
            "jobs[0].argument: permutation takes no argument",
        ),
        ("{name: a, kind: traffic, pattern: shift, argument: x}", "shift takes a whole number"),
        ("{name: a, kind: traffic, pattern: pairs}", "jobs[0].pairs: is missing: a list of"),
        (
            "{name: a, kind: traffic, pairs: [a>b]}",
            "goes with pattern: pairs, not with permutation",
        ),
        (
            "{name: a, kind: traffic, pattern: pairs, pairs: [rack-0>rack-1]}",
            "jobs[0].pairs[0]: rack-0 is not a GPU",
        ),
        ("{name: a, kind: traffic, pattern: pairs, pairs: [x]}", "must be two GPUs, 'GPU>GPU'"),
        (
            "{name: a, kind: traffic, gpus: [5]}",
            'jobs[0].gpus[0]: must be text (got 5), quote it: "5"',
        ),
        ("{name: a, kind: traffic, gpus: 5}", "jobs[0].gpus: must be text or a list (got 5)"),
        ("{name: a, kind: traffic, gpus: []}", "jobs[0].gpus: names no GPU"),
        (
            "{name: a, kind: traffic, gpus: [rack-0, rack-0/tray-1]}",
            "rack-0/tray-1/gpu-0 more than once",
        ),
        (
            "{name: a, kind: traffic, racks: rack-8}",
            "jobs[0].racks: there is no rack-8, here there",
        ),
        ("{name: a, kind: traffic, racks: spine-0}", "racks names spine-0, which is no rack"),
        ("{name: a, kind: traffic, racks: rack-0, vms: 2}", "jobs[0].vms: is stated beside racks"),
        ("{name: a, kind: traffic, vms: 145}", "asks for 145 virtual machines, 144 trays are free"),
        ("{name: a, kind: traffic, gpus_per_rack: 73}", "a rack has 72 GPUs (gpus_per_rack is 73)"),
        ("{name: a, kind: traffic, order: tp-dp}", "jobs[0].order: 'tp-dp' is not an order of"),
        ("{name: a, kind: collective, op: allreduce, size: 1}", "did you mean 'all_reduce'?"),
        (
            "{name: a, kind: collective, op: all_reduce, size: 1XB}",
            "must be a number with one of: B",
        ),
        (
            "{name: a, kind: collective, op: all_reduce, size: 0}",
            "jobs[0].size: must be at least 1",
        ),
        (
            f"{{name: a, {TRAINING}, racks: rack-0, gpus_per_rack: 60}}",
            "jobs[0].parallelism: tp x cp x pp x dp = 4 x 1 x 1 x 16 = 64 ranks, but rack-0 with 60"
            " GPUs each are 60",
        ),
        (
            f"{{name: a, {TRAINING}, vms: 16, spares: 4}}",
            "16 virtual machines, less 4 spares, are 60",
        ),
        (f"{{name: a, {TRAINING}}}", "= 64 ranks, but all racks are 576"),
        (
            "{name: a, kind: training, model: llama3-8b, vms: 16, batch: {global: 65, micro: 2},"
            " parallelism: {tp: 4, dp: 16}}",
            "jobs[0].batch.global: 65 sequences are not divisible by dp x micro = 16 x 2 = 32, use"
            " 64 or 96",
        ),
        (
            "{name: a, kind: training, model: llama3-8b, vms: 16, batch: {global: 64},"
            " parallelism: {cp: 4, dp: 16, ep: 3}}",
            "jobs[0].parallelism.ep: cp x dp = 4 x 16 = 64 ranks are not divisible by ep = 3",
        ),
        (
            "{name: a, kind: training, model: llama3-8b, vms: 15, batch: {global: 60},"
            " parallelism: {tp: 4, pp: 5, dp: 3}}",
            "jobs[0].parallelism.pp: 32 layers (34 with embedding and head) are not divisible by"
            " pp x vpp = 5 x 1 = 5",
        ),
        (
            "{name: a, kind: training, model: mixtral-8x22b, vms: 16, batch: {global: 64},"
            " parallelism: {cp: 4, dp: 16, ep: 16}}",
            "8 experts are not divisible by ep = 16",
        ),
        (
            "{name: a, kind: training, model: llama3-8b, vms: 16, batch: {global: 64},"
            " parallelism: {cp: 4, dp: 16, ep: 2}}",
            "ep = 2, but the model has no experts",
        ),
        (
            "{name: a, kind: training, model: llama3-8b, vms: 12, batch: {global: 64},"
            " parallelism: {tp: 3, dp: 16}}",
            "32 heads are not divisible by tp = 3",
        ),
        (
            f"{{name: a, {TRAINING.replace('llama3', 'lama3')}}}",
            "no model 'lama3-8b', did you mean",
        ),
        (
            "{name: a, kind: training, model: 5}",
            "jobs[0].model: must be text or hold fields (got 5)",
        ),
        (
            "{name: a, kind: training, model: {layers: 0}}",
            "jobs[0].model.layers: must be at least 1",
        ),
        (
            "{name: a, kind: training, model: {layer: 1}}",
            "jobs[0].model.layer: is not known, did you",
        ),
        (
            "{name: a, kind: inference, model: llama3-8b, prefill: {gpus: 6, tp: 4},"
            " decode: {gpus: 570}}",
            "jobs[0].prefill.gpus: 6 GPUs are not divisible by tp x ep = 4 x 1 = 4",
        ),
        (
            "{name: a, kind: inference, model: llama3-8b, prefill: {gpus: 8}, decode: {gpus: 8}}",
            "prefill and decode take 8 + 8 = 16 GPUs, but all racks are 576",
        ),
        (
            "{name: a, kind: inference, model: llama3-405b, prefill: {gpus: 4, tp: 1},"
            " decode: {gpus: 4}, vms: 2, precision: bf16}",
            "GB of weights",
        ),
        (
            "{name: a, kind: training, model: llama3-405b, parallelism: {tp: 2, dp: 288},"
            " batch: {global: 288}}",
            "jobs[0].parallelism: a GPU would hold weights 4",
        ),
        (
            "{name: a, kind: collective, op: all_to_all, size: 1GB, algorithm: nvls}",
            "jobs[0].algorithm: all_to_all has no algorithm 'nvls'",
        ),
        (
            "{name: a, kind: collective, op: all_reduce, size: 1GB, algorithm: nvls}",
            "jobs[0].algorithm: the switches reduce within one rack",
        ),
        (
            "{name: a, kind: traffic, pattern: shift, racks: rack-0}",
            "jobs[0].pattern: a shift by 72 sends every one of 72 GPUs to itself",
        ),
        (
            "{name: a, kind: traffic, racks: rack-0}\n  - {name: a, kind: traffic, racks: rack-1}",
            "5:12: jobs[1].name: is the name of jobs[0] too",
        ),
        (
            "{name: a, kind: traffic, racks: 'rack-[0-1]'}\n"
            "  - {name: b, kind: traffic, racks: rack-1}",
            "5:37: jobs[1].racks: rack-1/tray-0/gpu-0 already runs a, and so do 71 more",
        ),
    ],
)
def test_what_is_wrong_with_jobs(jobs: str, says: str) -> None:
    lines = told(f"{SMALL}jobs:\n  - {jobs}\n")
    assert any(says in line for line in lines), lines


@pytest.mark.parametrize(
    ("cluster", "says"),
    [
        ("{preset: gb300-s}", "2:19: cluster.preset: there is no preset 'gb300-s', did you mean"),
        ("{preset: 5}", "2:19: cluster.preset: must be text (got 5)"),
        ("{uplinks_per_leaf: 8}", "2:1: cluster.racks: is missing, state it, or a preset"),
        ("{racks: 0}", "cluster.racks: must be at least 1 (got 0)"),
        (
            "{racks: 64, spines: 7}",
            "cluster.spines: 64 leaves with 72 uplinks cannot share 7 spines",
        ),
        ("{racks: 8, cooling: {kind: air}}", "cluster.cooling.kind: is not one of its values"),
        (
            "{racks: 8, cooling: {unit: 2}}",
            "cluster.cooling.unit: is not known, did you mean 'units'",
        ),
        (
            "{racks: 8, cooling: {kind: cdu, capacity_kw: 5V}}",
            "must be a number with one of: W, kW",
        ),
        ("{racks: 8, radix: 7}", "cluster.radix: a switch of radix 7 is too small"),
        ("[8]", "2:10: cluster: must hold fields (got a list)"),
    ],
)
def test_what_is_wrong_with_the_cluster(cluster: str, says: str) -> None:
    lines = told(f"gbviz: 1\ncluster: {cluster}\n")
    assert any(says in line for line in lines), lines
    assert len(lines) == 1


def test_all_faults_are_told_at_once_in_the_order_of_the_file() -> None:
    text = """\
gbviz: 1
nme: x
cluster: {preset: gb300-su}
routing: adaptve
jobs:
  - {name: a, kind: traffic, rack: x}
  - {name: b, kind: training, model: llama3-8b, racks: rack-0, parallelism: {tp: 2, dp: 35},
     batch: {global: 36}}
  - {name: c, kind: traffic, racks: 'rack-[0-9]'}
events:
  - {at: 5, degrade: hxu-1}
  - {at: 9, fail: hxu-11}
duration: 7
"""
    found = faults(text)
    assert [(fault.line, fault.path) for fault in found] == [
        (2, "nme"),
        (4, "routing"),
        (6, "jobs[0].rack"),
        (7, "jobs[1].parallelism"),
        (8, "jobs[1].batch.global"),
        (9, "jobs[2].racks"),
        (11, "events[0]"),
        (12, "events[1].at"),
        (12, "events[1].fail"),
    ]


def test_at_most_twenty_are_shown_and_the_rest_counted() -> None:
    text = SMALL + "".join(f"key{number}: 1\n" for number in range(1000))
    with pytest.raises(ScenarioError) as caught:
        scenario(text)
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "and at least 980 more faults"
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.faults == caught.value.faults


def test_names_cannot_command_a_terminal() -> None:
    (line,) = told(SMALL + '"\\e[2J\\u202e": 1\n')
    assert line.isprintable()
    assert "\\x1b[2J\\u202e: is not known" in line


def test_a_fault_reads_as_compilers_write_it() -> None:
    fault = FileFault("a.yaml", 3, 7, "seed", "must be at least 0 (got -1)")
    assert str(fault) == "a.yaml:3:7: seed: must be at least 0 (got -1)"
    assert issubclass(ScenarioError, GbvizError)


def test_events_may_not_name_everything_over_and_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "MOST_NAMED", 20)
    rows = ", ".join(f"{{at: {number}, fail: 'leaf-*'}}" for number in range(3))
    (line,) = told(f"{SMALL}events: [{rows}]\n")
    assert "events[2].fail: events up to here name more than 20 components" in line


def test_very_many_faults_are_counted_not_listed() -> None:
    text = SMALL + "".join(f"key{number}: 1\n" for number in range(1000))
    with pytest.raises(ScenarioError) as caught:
        scenario(text)
    assert (len(caught.value.faults), caught.value.unlisted) == (200, 800)
