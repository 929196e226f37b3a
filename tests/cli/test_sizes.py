"""Clusters of all sizes, and everything broken."""

from __future__ import annotations

import pytest

from tests.cli import answer, document, refusal


def sentence(*args: str) -> str:
    return answer("whatif", "--quiet", *args)


@pytest.mark.parametrize(
    ("racks", "size"),
    [
        (1, "1 rack, 72 GPUs, 4 leaves, 2 spines"),
        (3, "3 racks, 216 GPUs, 4 leaves, 2 spines"),
        (5, "5 racks, 360 GPUs, 8 leaves, 4 spines"),
        (65, "65 racks, 4,680 GPUs, 68 leaves, 36 spines"),
        (145, "145 racks, 10,440 GPUs, 148 leaves, 168 spines, 96 cores"),
    ],
)
def test_odd_numbers_of_racks(racks: int, size: str) -> None:
    args = ("--racks", str(racks))
    assert sentence(*args) == f"azure-gb300 is healthy: {size}.\n"
    found = document("whatif", *args, "--fail", "leaf-0", "--traffic", "permutation")
    assert found["checks"]["conservation"] == "ok"
    assert found["delta"]["injection_GBps"] == -100 * 18 * min(racks, 4)
    # Within one rack all goes over NVLink.
    assert found["jobs"][0]["state"] == ("degraded" if racks > 1 else "running")


def test_the_smallest_cluster_of_all() -> None:
    one = ("--racks", "1", "--trays-per-rack", "1", "--gpus-per-tray", "1")
    assert sentence(*one) == "azure-gb300 is healthy: 1 rack, 1 GPU, 1 leaf, 1 spine.\n"
    found = document("whatif", *one, "--fail", "*")["post"]
    assert (found["live_gpus"], found["injection_GBps"]) == (0, 0)
    assert "at least 2 GPUs (got 1)" in refusal("whatif", *one, "--traffic", "permutation")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--racks", "0"), "cluster: racks must be at least 1 (got 0)"),
        (("--racks", "-5"), "cluster: racks must be at least 1 (got -5)"),
        (("--racks", "9" * 30), "racks must be at most 100000"),
        (("--racks", "100000"), "7,200,000 GPUs are more than 1,000,000"),
        (("--racks", "1.5"), "'1.5' is not a valid integer"),
        (("--racks", "1e9"), "'1e9' is not a valid integer"),
        (("--racks", ""), "'' is not a valid integer"),
        (("--racks", "\x1b[1m"), "\\x1b[1m"),
        (("--radix", "0"), "radix: must be from 1 to 4096 (got 0)"),
        (("--radix", "2"), "use a radix of at least 36"),
        (("--radix", "35"), "use a radix of at least 36"),
        (("--radix", "36"), "do not fit into three tiers of radix 36"),
        (("--uplinks-per-leaf", "0"), "uplinks_per_leaf must be at least 1 (got 0)"),
        (("--uplinks-per-leaf", "73"), "72 ports left for uplinks (got 73)"),
        (("--spines", "5"), "choose one of [36, 72]"),
        (("--leaves-per-pod", "7"), "choose one of [4, 8, 12, 24, 36, 72]"),
        (("--spines", "36", "--leaves-per-pod", "8"), "cannot be stated together"),
        (("--trays-per-rack", "0"), "trays_per_rack: must be from 1 to 4096"),
        (("--gpus-per-tray", "-1"), "gpus_per_tray: must be from 1 to 4096"),
        (("--port-GBps", "0"), "port_GBps must be more than 0 (got 0.0)"),
        (("--port-GBps", "nan"), "port_GBps must be finite (got nan)"),
        (("--port-GBps", "inf"), "port_GBps must be finite (got inf)"),
        (("--port-GBps", "1e10"), "port_GBps must be at most 1000000000"),
        (("--cooling", "air"), "'air' is not one of 'hxu', 'cdu'"),
        (("--cooling-set-point-c", "90"), "cooling.set_point_c must be at most 80 (got 90.0)"),
        (("--cooling-set-point-c", "nan"), "cooling.set_point_c must be finite"),
        (("--cooling-capacity-kw", "0"), "0.0 is not in the range x>0"),
        (("--cooling-capacity-kw", "-5"), "-5.0 is not in the range x>0"),
        (("--cooling-capacity-kw", "nan"), "cooling.capacity_kw must be finite"),
        (("--cooling-capacity-kw", "inf"), "cooling.capacity_kw must be finite"),
        (("--cooling", "cdu", "--cooling-units", "0"), "0 is not in the range x>=1"),
        (("--cooling", "cdu", "--cooling-units", "1001"), "cooling.units must be at most 1000"),
        (("--cooling", "cdu", "--cooling-racks-per-loop", "0"), "0 is not in the range x>=1"),
        (("--cooling-units", "3"), "--cooling-units: is for cooling units that racks share"),
        (("--cooling", "hxu", "--cooling-racks-per-loop", "3"), "add --cooling cdu"),
    ],
)
def test_sizes_that_cannot_be(args: tuple[str, ...], says: str) -> None:
    for command in ("whatif", "info"):
        assert says in refusal(command, *args)


def test_all_that_is_wrong_is_said_at_once() -> None:
    sizes = ("--racks", "0", "--port-GBps", "nan", "--cooling-set-point-c", "90")
    message = refusal("whatif", *sizes)
    for field in ("racks must", "port_GBps must", "cooling.set_point_c must"):
        assert field in message


def test_oversubscription() -> None:
    half = document("whatif", "--uplinks-per-leaf", "36", "--fail", "spine-0")
    assert half["fabric"]["spines"] == 18
    assert half["fabric"]["nonblocking"] is half["base"]["nonblocking"] is False
    assert half["base"]["nonblocking_why"]
    assert half["base"]["bisection_GBps"] == 64 / 2 * 36 * 100
    assert "no: leaf-0 has 36 uplinks" in answer("info", "--uplinks-per-leaf", "36")
    assert document("whatif", "--uplinks-per-leaf", "1")["base"]["bisection_GBps"] == 32 * 100


def test_cooling_of_ones_own() -> None:
    shared = ("gb300-cdu", "--fail", "cdu-0")
    assert document("whatif", *shared)["delta"]["compute_fraction"] == 0
    fewer = document("whatif", *shared, "--cooling-units", "3")
    assert fewer["delta"]["compute_fraction"] < 0
    # The other parts of the preset's cooling stay: 32 racks a loop.
    assert [loop["loop"] for loop in fewer["cooling"]] == ["loop-0", "loop-1"]
    own = document("whatif", "gb300-cdu", "--cooling", "hxu")
    assert len(own["cooling"]) == 64


@pytest.mark.parametrize("kw", ["1", "1e-300"])
def test_cooling_too_small_for_any_gpu(kw: str) -> None:
    args = ("--cooling-capacity-kw", kw)
    assert "64 racks are shut down: cooling or power too small by design" in sentence(*args)
    found = document("whatif", *args)
    assert found["base"] == found["post"]
    assert {fault["because"] for fault in found["faults"]} == {
        "cooling or power too small by design"
    }


@pytest.mark.parametrize("rate", ["1e-300", "33.333333", "1e9"])
def test_ports_of_any_rate(rate: str) -> None:
    found = document("whatif", "--port-GBps", rate, "--fail", "spine-3", "--traffic", "shift:72")
    assert found["checks"]["conservation"] == "ok"
    assert found["post"]["bisection_fraction"] == pytest.approx(35 / 36)


@pytest.mark.parametrize(
    ("selector", "live", "injection", "cut"),
    [
        ("*", 0, 0, 0),
        ("spine-*", 4608, 460_800, 4608 - 4 * 72),
        ("leaf-*", 4608, 0, 4608),
        ("rack-*", 0, 0, 0),
        ("rack-[1-63]", 72, 7_200, 0),
        ("rack-*/tray-*", 0, 0, 0),
        ("rack-*/tray-*/nic-*", 4608, 0, 4608),
        ("rack-*/nvtray-*", 4608, 460_800, 0),
        ("hxu-*", 0, 0, 0),
        ("rack-*/feed-*", 0, 0, 0),
    ],
)
def test_all_of_a_kind(selector: str, live: int, injection: float, cut: int) -> None:
    found = document("whatif", "--fail", selector, "--traffic", "permutation")
    post = found["post"]
    assert (post["live_gpus"], post["injection_GBps"]) == (live, injection)
    assert len(post["disconnected_gpus"]) == cut
    assert found["checks"]["conservation"] == "ok"


def test_every_cable_of_all() -> None:
    text = sentence("--fail", "*~*")
    assert text.startswith("With 89,856 cables failed, bisection falls to 0 %")
    assert text.endswith("compute stays as it is; 4,608 live GPUs are cut off.\n")


def test_one_rack_is_left() -> None:
    post = document("whatif", "--fail", "rack-[1-63]")["post"]
    assert post["all_to_all_GBps_per_gpu"] is post["worst_pair_GBps"] is None
    assert post["reason"]["all_to_all_GBps_per_gpu"] == "live GPUs are in one rack only"
    assert "live GPUs are in one rack only" in sentence("--fail", "rack-[1-63]")
