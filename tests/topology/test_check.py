"""Build checks: they pass on what is built and each fails on the fault that it is for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gbviz.topology import Fabric, build, cluster_spec
from gbviz.topology.check import BuildCheck, check_build, nonblocking_built
from gbviz.topology.graph import from_graph

if TYPE_CHECKING:
    from gbviz.topology.fabric import Ints

AZURE = build(cluster_spec("azure-gb300"))
PODS = build(cluster_spec(racks=192))

NAMES = [
    "no port used twice",
    "ports within the radix",
    "equal leaf-spine share",
    "uplinks for down ports",
    "cables and switches",
    "one NIC a GPU",
    "NVLink cables",
    "rails",
    "equal rates in a tier",
]


def rewired(fabric: Fabric, tier: int, array: str, changes: dict[int, Any]) -> Fabric:
    """A fabric in which some cables of a tier have another end, port or rate."""
    values = np.array(getattr(fabric.tiers[tier], array))
    for cable, value in changes.items():
        values[cable] = fabric.index_of(value) if isinstance(value, str) else value
    tiers = list(fabric.tiers)
    changed: dict[str, Any] = {array: values}
    tiers[tier] = replace(tiers[tier], **changed)
    return replace(fabric, tiers=tuple(tiers))


def failed(fabric: Fabric) -> dict[str, str]:
    return {check.name: check.says for check in check_build(fabric) if not check.passed}


def says(fabric: Fabric, name: str) -> str:
    return next(check.says for check in check_build(fabric) if check.name == name)


@pytest.mark.parametrize(
    "parts",
    [
        *({"racks": racks} for racks in (1, 2, 3, 4, 5, 8, 13, 14, 16, 32, 64, 65, 128, 144)),
        *({"racks": racks} for racks in (145, 150, 192, 384, 1000)),
        {"racks": 64, "uplinks_per_leaf": 36},
        {"racks": 64, "spines": 72},
        {"racks": 200, "uplinks_per_leaf": 12},
        {"racks": 8, "leaves_per_pod": 24},
        {"racks": 30, "radix": 64},
    ],
    ids=str,
)
def test_what_is_built_passes(parts: dict[str, Any]) -> None:
    assert failed(build(cluster_spec(**parts))) == {}


def test_one_hundred_thousand_gpus_pass() -> None:
    fabric = build(cluster_spec("gb300-100k"))
    assert failed(fabric) == {}
    assert says(fabric, "cables and switches").startswith(
        "103,680 nic-leaf + 103,680 leaf-spine + 103,680 spine-core = 311,040 cables"
    )
    assert nonblocking_built(fabric)[0]


def test_azure_in_words() -> None:
    assert check_build(AZURE) == [
        BuildCheck(name, True, text)
        for name, text in zip(
            NAMES,
            [
                "18,432 ports have a cable, none has two",
                "switch ports 1 to 144 of 144 are used, and port 1 of every NIC",
                "every leaf has 2 cables to each of the 36 spines",
                "each of the 64 leaves has 72 uplinks for 72 NICs: non-blocking",
                "4,608 nic-leaf + 4,608 leaf-spine = 9,216 cables on 64 leaves, 36 spines, 0 cores",
                "4,608 GPUs and 4,608 NICs, 4 a tray, each with one cable",
                "82,944 cables, 1,296 a rack: each of its 72 GPUs has 18, one to each ASIC",
                "every NIC is on the leaf of its rail and group: 4 rails, 16 groups of up to 4"
                " racks",
                "cables run at GB/s: nic-leaf 100, leaf-spine 100",
            ],
            strict=True,
        )
    ]


def test_three_tiers_have_two_checks_more() -> None:
    names = [check.name for check in check_build(PODS)]
    assert set(names) - set(NAMES) == {"equal spine-core share", "spine down ports for up ports"}
    assert says(PODS, "equal leaf-spine share") == (
        "every leaf has 3 cables to each of its pod's 24 spines (192 in all)"
    )
    assert says(PODS, "equal spine-core share") == (
        "every spine has 18 cables to each of its group's 4 cores (96 in all)"
    )
    assert says(PODS, "spine down ports for up ports") == (
        "each of the 192 spines has 72 cables down and 72 up"
    )


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"racks": 64, "uplinks_per_leaf": 36}, "36 uplinks for 72 NICs: 2:1"),
        ({"racks": 64, "uplinks_per_leaf": 48}, "48 uplinks for 72 NICs: 1.5:1"),
        ({"racks": 1}, "72 uplinks for 72 down ports, 18 with NICs: non-blocking"),
        ({"racks": 5}, "72 uplinks for 72 down ports, 18 to 72 with NICs: non-blocking"),
        ({"racks": 5, "uplinks_per_leaf": 18}, "18 to 72 with NICs: 4:1"),
    ],
)
def test_oversubscription_is_stated(parts: dict[str, Any], text: str) -> None:
    assert text in says(build(cluster_spec(**parts)), "uplinks for down ports")


def test_a_partly_filled_pod_is_stated() -> None:
    fabric = build(cluster_spec(racks=150))
    assert says(fabric, "spine down ports for up ports") == (
        "each of the 168 spines has 24 to 72 cables down (a pod is partly filled) and 72 up"
    )


@pytest.mark.parametrize(
    ("tier", "array", "changes", "found"),
    [
        # leaf-0 port 73 carries its first uplink; a second one gets its number.
        (1, "lower_port", {1: 73}, {"no port used twice": "leaf-0:73 has more than one cable"}),
        (
            1,
            "lower_port",
            {1: 73, 3: 75},
            {
                "no port used twice": "leaf-0:73 has more than one cable, and 1 other ports have",
            },
        ),
        # An uplink in a port that a NIC has: only both tiers together show it.
        (1, "lower_port", {0: 1}, {"no port used twice": "leaf-0:1 has more than one cable"}),
        (0, "upper_port", {0: 0}, {"ports within the radix": "leaf-0:0 cannot be"}),
        (
            1,
            "upper_port",
            {0: 145},
            {"ports within the radix": "spine-0:145 cannot be: its ports are 1 to 144"},
        ),
        (
            0,
            "lower_port",
            {5: 2},
            {"ports within the radix": "rack-0/tray-1/nic-1:2 cannot be: its ports are 1 to 1"},
        ),
        (
            1,
            "upper",
            {0: "spine-1"},
            {"equal leaf-spine share": "leaf-0 has 1 cables to spine-0, most pairs have 2"},
        ),
        (
            1,
            "upper",
            {0: "spine-1", 1: "spine-1"},
            {"equal leaf-spine share": "leaf-0 has cables to 35 of the 36 spines of its pod"},
        ),
        (
            1,
            "lower",
            {0: "leaf-1"},
            {
                "equal leaf-spine share": "leaf-0 has 1 cables to spine-0, most pairs have 2",
                "uplinks for down ports": "leaf-0 has 71 uplinks for 72 NICs, not 72 for at most"
                " 72",
            },
        ),
        (
            0,
            "upper",
            {0: "leaf-1"},
            {
                "uplinks for down ports": "leaf-1 has 72 uplinks for 73 NICs",
                "rails": "rack-0/tray-0/nic-0 is on leaf-1, which is not the leaf of its rail",
            },
        ),
        # Two NICs of one tray with each other's cable: only the rails show it.
        (
            0,
            "upper",
            {0: "leaf-1", 1: "leaf-0"},
            {"rails": "rack-0/tray-0/nic-0 is on leaf-1, which is not the leaf of its rail"},
        ),
        # The right rail in the wrong group.
        (
            0,
            "upper",
            {0: "leaf-4", 288: "leaf-0"},
            {"rails": "rack-0/tray-0/nic-0 is on leaf-4, which is not the leaf of its rail and"},
        ),
        (
            0,
            "lower",
            {0: "rack-0/tray-0/nic-1"},
            {
                "one NIC a GPU": "rack-0/tray-0/nic-0 has 0 cables, not 1",
                "rails": "rack-0/tray-0/nic-1 is on leaf-0",
            },
        ),
        (
            1,
            "capacity",
            {0: 50.0},
            {
                "equal leaf-spine share": "leaf-0 has 150 GB/s to spine-0, most pairs have 200",
                "equal rates in a tier": "nic-leaf 100, leaf-spine 50 to 100",
            },
        ),
        (
            0,
            "capacity",
            {0: 200.0},
            {"equal rates in a tier": "nic-leaf 100 to 200, leaf-spine 100"},
        ),
    ],
)
def test_each_fault_of_wiring_is_found(
    tier: int, array: str, changes: dict[int, Any], found: dict[str, str]
) -> None:
    # A moved end may keep a port that another cable has at its new node.
    shown = failed(rewired(AZURE, tier, array, changes))
    if "no port used twice" not in found:
        shown.pop("no port used twice", None)
    assert shown.keys() == found.keys()
    for name, text in found.items():
        assert text in shown[name]


def test_faults_of_wiring_in_three_tiers() -> None:
    # A leaf of pod 0 on a spine of pod 1.
    shown = failed(rewired(PODS, 1, "upper", dict.fromkeys(range(3), "spine-24")))
    assert shown["equal leaf-spine share"] == (
        "leaf-0 has cables to 24 of the 48 spines of its pod"
    )
    assert shown["spine down ports for up ports"] == "spine-24 has 75 cables down and 72 up"
    # A whole leaf in another pod: the pairs are as they should be, the spines are not.
    leaf_cables = dict(zip(range(72), (f"spine-{24 + s // 3}" for s in range(72)), strict=True))
    shown = failed(rewired(PODS, 1, "upper", leaf_cables))
    assert "equal leaf-spine share" not in shown
    assert "spine down ports for up ports" in shown
    # A spine whose cables go to the cores of another group.
    shown = failed(rewired(PODS, 2, "upper", dict.fromkeys(range(18), "core-4")))
    assert "equal spine-core share" in shown


def test_missing_parts_are_found() -> None:
    tier = AZURE.tiers[1]
    fields = ("lower", "upper", "lower_port", "upper_port", "capacity", "bundle")
    shorter = replace(tier, **{field: getattr(tier, field)[:-72] for field in fields})
    shown = failed(replace(AZURE, tiers=(AZURE.tiers[0], shorter)))
    assert shown["cables and switches"].endswith("not 4,608 + 4,608")
    assert shown["uplinks for down ports"] == (
        "leaf-63 has 0 uplinks for 72 NICs, not 72 for at most 72"
    )
    none = replace(tier, **{field: getattr(tier, field)[:0] for field in fields})
    shown = failed(replace(AZURE, tiers=(AZURE.tiers[0], none)))
    assert shown["equal leaf-spine share"] == "no leaf has a cable to a spine"


def test_nvlink_is_counted() -> None:
    assert AZURE.nvlink is not None
    # Arithmetic for other numbers of racks, GPUs or ASICs than there are.
    for field, count in (("racks", 63), ("gpus", 71), ("asics", 17)):
        changed: dict[str, Any] = {field: count}
        other = replace(AZURE, nvlink=replace(AZURE.nvlink, **changed))
        assert "NVLink cables" in failed(other)


def test_nvlink_cables_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = Fabric.ends

    def crossed(fabric: Fabric, links: Ints) -> tuple[Ints, Ints]:
        low, high = ends(fabric, links)
        # Link 5 of the first GPU goes where link 4 goes, or into the next rack.
        return low, np.where(links == 5, high + shift, high)

    monkeypatch.setattr(Fabric, "ends", crossed)
    shift = -1
    assert failed(AZURE)["NVLink cables"] == (
        "rack-0/tray-0/gpu-0 has no cable to ASIC 5 of its rack"
    )
    shift = 18
    assert failed(AZURE)["NVLink cables"] == (
        "rack-0/tray-0/gpu-0~rack-1/nvswitch-5#0 leaves its rack"
    )


@pytest.mark.parametrize(
    ("parts", "answer", "why"),
    [
        ({"racks": 64}, True, "yes: every leaf has the capacity of its NICs up"),
        ({"racks": 1}, True, "(leaf-0: 7200 GB/s for 1800)"),
        ({"racks": 5}, True, "(leaf-0: 7200 GB/s for 7200)"),
        ({"racks": 150}, True, "shared evenly"),
        ({"racks": 64, "uplinks_per_leaf": 36}, False, "no: leaf-0 has 36 uplinks for 72 NICs"),
        # One rack has 18 NICs on a leaf: 36 uplinks are enough for what is cabled.
        ({"racks": 1, "uplinks_per_leaf": 36}, True, "(leaf-0: 3600 GB/s for 1800)"),
        ({"racks": 5, "uplinks_per_leaf": 36}, False, "no: leaf-0 has 36 uplinks for 72 NICs"),
        ({"racks": 200, "uplinks_per_leaf": 12}, False, "no: leaf-0 has 12 uplinks for 72 NICs"),
    ],
)
def test_nonblocking(parts: dict[str, Any], answer: bool, why: str) -> None:
    found, text = nonblocking_built(build(cluster_spec(**parts)))
    assert found is answer
    assert why in text


def test_why_a_rewired_fabric_blocks() -> None:
    cases = [
        (rewired(AZURE, 1, "lower", {72: "leaf-0"}), "no: leaf-1 has 71 uplinks for 72 NICs"),
        (
            rewired(AZURE, 1, "capacity", {3: 50.0}),
            "no: leaf-0 has 72 uplinks for 72 NICs, 7150 GB/s for 7200",
        ),
        (
            rewired(AZURE, 1, "upper", {0: "spine-1"}),
            "no: leaf-0 has 1 cables to spine-0, most pairs have 2",
        ),
        (
            rewired(PODS, 2, "capacity", dict.fromkeys(range(72 * 192), 50.0)),
            "no: spine-0 has 3600 GB/s up for 7200 down",
        ),
    ]
    for fabric, text in cases:
        assert nonblocking_built(fabric) == (False, text)


def test_a_general_graph_has_the_checks_that_its_file_allows() -> None:
    cables = [("a", "s", 100.0), ("b", "s", 50.0), ("s", "t", 100.0)]
    fabric = from_graph(["a", "b"], ["s", "t"], cables)
    assert check_build(fabric) == [
        BuildCheck("no port used twice", True, "6 ports have a cable, none has two"),
        BuildCheck(
            "ports within the radix",
            True,
            "switch ports 1 to 3 are used; the file states no radix",
        ),
        BuildCheck(
            "equal rates in a tier", False, "cables run at GB/s: nic-leaf 50 to 100, switch 100"
        ),
    ]
    assert nonblocking_built(fabric)[0] is False
    assert "general graph" in nonblocking_built(fabric)[1]
    alone = from_graph([], ["s"], [])
    assert failed(alone) == {}
    assert says(alone, "ports within the radix") == "no switch port is used"
