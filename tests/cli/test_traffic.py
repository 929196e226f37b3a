from __future__ import annotations

from typing import Any

import pytest

from gbviz.errors import InputError
from gbviz.jobs import PATTERNS, TrafficJob, traffic_job
from tests.cli import answer, document, refusal

GPU = "rack-0/tray-0/gpu-0"
FAR = "rack-1/tray-0/gpu-0"


def job(*args: str) -> dict[str, Any]:
    (found,) = document("whatif", "gb300-su", "--traffic", *args)["jobs"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("pattern", "flows"),
    [
        ("permutation", 576),
        ("random-pairs", 576),
        ("random-pairs:7", 7),
        ("shift", 576),
        ("shift:", 576),
        ("shift:-1", 576),
        (f"shift:{10**17}", 576),
        ("incast", 575),
        (f"incast:{FAR}", 575),
        (f"incast:{GPU}@rack-1", 72),
        ("all-to-all@rack-[0-1]", 144 * 143),
        ("bisection", 576),
        ("permutation@rack-[0-3]", 288),
        ("permutation@", 576),
        (f"pairs:{GPU}>{FAR}", 1),
        (f"pairs: {GPU} > {FAR} , {FAR}>{GPU}", 2),
    ],
)
def test_patterns(pattern: str, flows: int) -> None:
    found = job(pattern)
    assert (found["name"], found["flows"], found["state"]) == (pattern, flows, "running")
    assert found["base"]["total_GBps"] > 0


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("permutaton", "there is no traffic pattern 'permutaton'; did you mean 'permutation'?"),
        ("", "choose one of: permutation, random-pairs"),
        ("@rack-0", "choose one of"),
        ("permutation:3", "permutation takes no argument (got '3')"),
        ("bisection:2", "takes no argument"),
        ("all-to-all:1", "takes no argument"),
        ("shift:0", "a shift by 0 sends every one of 4,608 GPUs to itself"),
        ("shift:4608", "a shift by 4,608 sends every one"),
        ("shift:-9216", "sends every one"),
        ("shift@rack-0", "no multiple of that"),
        ("shift:x", "shift takes a whole number (got 'x')"),
        ("shift:1.5", "takes a whole number"),
        ("shift:--1", "takes a whole number"),
        ("shift:٣", "takes a whole number"),
        (f"shift:{'9' * 19}", "at most 18 digits here (got 19)"),
        (f"shift:{'9' * 5000}", "at most 18 digits here (got 5000)"),
        ("random-pairs:0", "1 to 3,000,000 flows (got 0)"),
        ("random-pairs:-5", "1 to 3,000,000 flows (got -5)"),
        ("random-pairs:99999999999", "1 to 3,000,000 flows (got 99,999,999,999)"),
        ("all-to-all", "(got 21,229,056); name fewer racks with '@rack-[0-7]'"),
        ("incast:leaf-0", "leaf-0 is not a GPU"),
        ("incast:nothing", "there is no component 'nothing'"),
        ("pairs", "a pair is 'GPU>GPU' (got '')"),
        ("pairs:x", "a pair is 'GPU>GPU' (got 'x')"),
        ("pairs:x>y", "there is no component 'x'"),
        (f"pairs:{GPU}>{GPU}", "cannot send to itself"),
        (f"pairs:{GPU}>leaf-0", "leaf-0 is not a GPU"),
        (f"pairs:{GPU}>{FAR}>{GPU}", "there is no component"),
        (f"pairs:{GPU}>{FAR}@rack-0", "takes no racks"),
        ("permutation@rack-99", "there is no rack-99"),
        ("permutation@leaf-0", "names other things than racks"),
        ("permutation@rack-0/tray-0", "names other things than racks"),
        ("permutation@rack-0@rack-1", "not a rack number"),
    ],
)
def test_patterns_that_are_none(pattern: str, says: str) -> None:
    message = refusal("whatif", "--traffic", pattern)
    assert message.startswith("gbviz: traffic")
    assert says in message


def test_the_message_says_which_of_several() -> None:
    message = refusal("whatif", "--traffic", "shift", "permutation", "shift:0")
    assert message.startswith("gbviz: traffic 'shift:0': ")


def test_every_pattern_is_made_and_explained() -> None:
    for name, what in PATTERNS.items():
        assert TrafficJob(name, name).spelt() == name
        assert what
    with pytest.raises(InputError, match="did you mean 'shift'"):
        TrafficJob("x", "shft")


def test_a_job_is_spelt_as_it_was_written() -> None:
    for text in ("shift:72@rack-[0-7]", "permutation", "permutation@rack-0", "random-pairs:5"):
        assert traffic_job(text).spelt() == text
    assert traffic_job(" shift : 72 @ rack-0 ").spelt() == "shift:72@rack-0"


def test_what_a_fault_does_to_traffic() -> None:
    args = ("gb300-su", "--traffic", f"pairs:{GPU}>{FAR}")
    found = document("whatif", *args, "--degrade", "rack-0/tray-0/nic-0=0.5")["jobs"][0]
    assert (found["base"]["total_GBps"], found["post"]["total_GBps"]) == (100, 50)
    assert (found["state"], found["slowdown"]) == ("degraded", 2)
    assert found["bottleneck"]["load_GBps"] == found["bottleneck"]["capacity_GBps"] == 50
    found = document("whatif", *args, "--fail", "rack-0")["jobs"][0]
    assert (found["state"], found["slowdown"], found["bottleneck"]) == ("stalled", None, None)
    assert found["reason"] == {"slowdown": "no flow moves", "bottleneck": "no flow moves"}
    assert (found["post"]["gone"], found["post"]["cut_off"]) == (1, 0)


def test_the_same_seed_the_same_traffic() -> None:
    one, two, other = (job("permutation", "--seed", seed)["base"] for seed in "778")
    assert one == two != other


@pytest.mark.parametrize("mode", ["adaptive", "spray", "ecmp", "static"])
def test_every_mode_carries_traffic(mode: str) -> None:
    args = ("--routing", mode, "--fail", "spine-*", "--traffic", "permutation")
    found = document("whatif", *args)
    assert found["scenario"]["routing"] == mode
    assert found["checks"]["conservation"] == "ok"
    lost = found["jobs"][0]["post"]["cut_off"]
    assert 0 < lost < 4608
    assert f"{lost:,} of 4,608 flows get nothing" in answer("whatif", "--quiet", *args)
