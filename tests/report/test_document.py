"""The result document: every key that is promised, its type, and what holds between the values."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gbviz
from gbviz.report.document import difference, document, fault_rows, to_json
from tests.cli import spawn

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
Types = type | tuple[type, ...]
NUMBER = (int, float)

# The promise: path to type; a step ends in [] where each entry of a list is meant.
PROMISED: dict[str, Types] = {
    "gbviz": str,
    "format_version": int,
    "scenario.name": str,
    "scenario.file": type(None),
    "scenario.sha256": str,
    "fabric.racks": int,
    "fabric.gpus": int,
    "fabric.nics": int,
    "fabric.leaves": int,
    "fabric.spines": int,
    "fabric.cores": int,
    "fabric.tiers": int,
    "fabric.nvlink_cables": int,
    "fabric.fabric_cables": int,
    "fabric.nonblocking": bool,
    "faults[].component": str,
    "faults[].kind": str,
    "faults[].factor": float,
    "faults[].takes_down.links": int,
    "faults[].takes_down.gpus": int,
    "faults[].takes_down.nics": int,
    "faults[].because": (str, type(None)),
    "jobs[].name": str,
    "jobs[].kind": str,
    "jobs[].state": str,
    "jobs[].uses_fabric": bool,
    "jobs[].slowdown": float,
    "jobs[].bottleneck.phase": str,
    "jobs[].bottleneck.link": str,
    "jobs[].bottleneck.load_GBps": float,
    "jobs[].bottleneck.capacity_GBps": float,
    "jobs[].one_off.stall_s": NUMBER,
    "jobs[].one_off.lost_work_s": NUMBER,
    "jobs[].one_off.restart_s": NUMBER,
    "cooling[].loop": str,
    "cooling[].heat_kw": float,
    "cooling[].capacity_kw": float,
    "cooling[].supply_c": float,
    "cooling[].hottest_die_c": float,
    "cooling[].clock": float,
    "timeline": list,
    "totals.goodput": dict,
    "totals.lost_gpu_hours": (float, type(None)),
    "expect": list,
    "checks.conservation": str,
    "checks.fixed_point.converged": (bool, type(None)),
    "checks.fixed_point.rounds": (int, type(None)),
    "model.leaves_out": list,
}
METRICS: dict[str, Types] = {
    "live_gpus": int,
    "disconnected_gpus": list,
    "injection_GBps": float,
    "bisection_GBps": float,
    "all_to_all_GBps_per_gpu": float,
    "nvlink_GBps": float,
    "worst_leaf_uplink_fraction": float,
    "compute_fraction": float,
}
for one in ("base", "post", "delta"):
    PROMISED.update((f"{one}.{name}", kind) for name, kind in METRICS.items())
RATES = dict.fromkeys(("min_GBps", "mean_GBps", "total_GBps"), float) | {"cut_off": int}


def of(*fail: str, name: str = "azure-gb300", traffic: str = "permutation", **parts: Any) -> Json:
    scenario = gbviz.preset(name, **parts).with_faults(*fail)
    scenario = scenario.with_jobs(gbviz.traffic_job(traffic)) if traffic else scenario
    found = json.loads(to_json(document(gbviz.evaluate(scenario))))
    assert isinstance(found, dict)
    return found


def at(value: Any, path: str) -> list[Any]:
    """The values at a path such as `faults[].takes_down.links`."""
    found = [value]
    for step in path.split("."):
        found = [part[step.removesuffix("[]")] for part in found]
        if step.endswith("[]"):
            found = [entry for part in found for entry in part]
    return found


DAMAGED = of("spine-3", "leaf-5~spine-7#0", "rack-3/feed-a", "rack-9/tray-2")


@pytest.mark.parametrize("path", PROMISED)
def test_every_promised_key_is_there(path: str) -> None:
    values = at(DAMAGED, path)
    assert values
    for value in values:
        assert isinstance(value, PROMISED[path])
        assert not (isinstance(value, bool) and PROMISED[path] in (int, float))


@pytest.mark.parametrize("state", ["base", "post"])
def test_rates_of_traffic(state: str) -> None:
    (found,) = at(DAMAGED, f"jobs[].{state}")
    for name, kind in RATES.items():
        assert isinstance(found[name], kind)


def test_the_order_of_the_document_is_the_promised_one() -> None:
    keys = "gbviz format_version scenario fabric base post delta faults jobs cooling timeline"
    assert list(DAMAGED) == [*keys.split(), "totals", "expect", "checks", "model"]


def test_versions_and_scenario() -> None:
    assert (DAMAGED["gbviz"], DAMAGED["format_version"]) == (gbviz.__version__, 1)
    assert len(DAMAGED["scenario"]["sha256"]) == 64
    assert DAMAGED["scenario"]["sha256"] != of()["scenario"]["sha256"]


def test_the_healthy_seed_cluster() -> None:
    base = of()["base"]
    assert base == of()["post"]
    promised = {
        "live_gpus": 4608,
        "disconnected_gpus": [],
        "injection_GBps": 460_800.0,
        "bisection_GBps": 230_400.0,
        "all_to_all_GBps_per_gpu": 100.0,
        "nvlink_GBps": 4_147_200.0,
        "worst_leaf_uplink_fraction": 1.0,
        "compute_fraction": 1.0,
        "nonblocking": True,
        "cut_off_pairs": 0,
    }
    assert {name: base[name] for name in promised} == promised


def test_a_spine_takes_256_links_down() -> None:
    (fault,) = of("spine-3")["faults"]
    assert fault == {
        "component": "spine-3",
        "kind": "fail",
        "factor": 0.0,
        "takes_down": {"links": 256, "gpus": 0, "nics": 0},
        "because": None,
    }


def test_consequences_say_their_cause() -> None:
    faults = of("hxu-9", "rack-2", "rack-2/tray-0")["faults"]
    because = {fault["component"]: fault["because"] for fault in faults}
    assert because == {"hxu-9": None, "rack-2": None, "rack-2/tray-0": "rack-2", "rack-9": "hxu-9"}


def test_only_the_first_faults_where_no_more_are_wanted() -> None:
    snapshot = gbviz.evaluate(gbviz.preset("gb300-su").with_faults("rack-*/tray-*"))
    assert fault_rows(snapshot, 3) == fault_rows(snapshot)[:3]
    assert len(fault_rows(snapshot)) == 8 * 18


# Everything, nearly everything, one rack, one GPU, and cooling that is too small by design.
EXTREMES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "healthy": ((), {}),
    "all": (("*",), {}),
    "spines": (("spine-*",), {}),
    "leaves": (("leaf-*",), {}),
    "racks": (("rack-*",), {}),
    "one rack left": (("rack-[1-63]",), {}),
    "one rack": ((), {"racks": 1}),
    "one rack, all": (("*",), {"racks": 1}),
    "NICs": (("rack-*/tray-*/nic-*",), {}),
    "GPUs": (("rack-*/tray-*/gpu-*",), {"racks": 9}),
    "ASICs": (("rack-*/nvswitch-*",), {"racks": 9}),
    "cooling": (("hxu-*",), {}),
    "blocking": (("spine-0",), {"uplinks_per_leaf": 36}),
    "no cooling": ((), {"cooling": {"capacity_kw": 1.0}}),
    "cut in two": (("leaf-[0-3]~*",), {}),
    "cores": (("core-*",), {"racks": 145}),
}


@pytest.fixture(scope="module", params=EXTREMES)
def extreme(request: pytest.FixtureRequest) -> Json:
    fail, parts = EXTREMES[request.param]
    return of(*fail, **parts)


def walked(value: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every value, with its path and what holds it."""
    entries: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list):
        entries = [("[]", entry) for entry in value]
    for key, entry in entries:
        yield f"{path}.{key}", entry, value
        yield from walked(entry, f"{path}.{key}")


def test_what_does_not_exist_has_a_reason(extreme: Json) -> None:
    for path, value, holder in walked(extreme):
        name = path.rpartition(".")[2]
        if value is None and name != "because":
            reason = holder["reason"]
            assert isinstance(reason, str) or reason[name], path
        assert value != "", path
        assert not isinstance(value, float) or math.isfinite(value), path


def test_delta_is_post_less_base_for_every_number(extreme: Json) -> None:
    base, post, delta = extreme["base"], extreme["post"], extreme["delta"]
    assert set(base) - {"reason"} == set(post) - {"reason"}
    for name, before in base.items():
        after = post.get(name)
        if isinstance(before, bool | str | dict) or isinstance(after, bool | str | dict):
            assert name not in delta or name == "reason"
        elif name == "disconnected_gpus":
            assert delta[name] == [gpu for gpu in after if gpu not in before]
        elif before is None or after is None:
            assert delta[name] is None
        else:
            assert delta[name] == after - before


def test_all_adds_up(extreme: Json) -> None:
    assert extreme["checks"]["conservation"] == "ok"
    post, base = extreme["post"], extreme["base"]
    for name in ("live_gpus", "injection_GBps", "bisection_GBps", "nvlink_GBps"):
        assert 0 <= post[name] <= base[name]
    assert 0 <= post["compute_fraction"] <= base["compute_fraction"] <= 1
    assert 0 <= post["worst_leaf_uplink_fraction"] <= 1
    assert set(post["disconnected_gpus"]) == set(dict.fromkeys(post["disconnected_gpus"]))


def test_difference_of_what_has_no_value() -> None:
    base: Json = {"a": 1.0, "b": None, "c": None, "d": True, "disconnected_gpus": ["x"]}
    post: Json = {"a": None, "b": None, "c": 2, "d": False, "disconnected_gpus": ["x", "y"]}
    assert difference(base, post) == {
        "a": None,
        "b": None,
        "c": None,
        "disconnected_gpus": ["y"],
        "reason": {
            "a": "one state has no value",
            "b": "neither state has a value",
            "c": "one state has no value",
        },
    }


@given(st.sampled_from([math.nan, math.inf, -math.inf]))
@settings(max_examples=3)
def test_what_is_no_number_never_gets_out(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"x": [value]})


def test_the_text_is_ascii() -> None:
    assert to_json({"°": "é"}).isascii()


def test_the_same_question_gives_the_same_bytes() -> None:
    question = (
        "whatif",
        "--json",
        "--fail",
        "spine-3",
        "leaf-2",
        "hxu-1",
        "--traffic",
        "permutation",
    )
    more = ("--routing", "ecmp", "--seed", "5")
    one = spawn(*question, *more, PYTHONHASHSEED="1", OMP_NUM_THREADS="1")
    two = spawn(*question, *more, PYTHONHASHSEED="2", OMP_NUM_THREADS="2")
    assert one.returncode == 0
    assert one.stdout == two.stdout
