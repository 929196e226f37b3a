"""Selectors: what each form names, and what is said of text that names nothing."""

from __future__ import annotations

import numpy as np
import pytest

from gbviz.topology import Fabric, build, cluster_spec
from gbviz.topology.selectors import MOST_PARTS, Part, select
from tests.topology.selecting import AZURE, CDU, NODES, PODS, link_names, names, only, refusal

LARGE = build(cluster_spec("gb300-100k"))


# --------------------------------------------------------------------------- nodes


@pytest.mark.parametrize(
    ("fabric", "name", "kind"),
    NODES,
)
def test_a_node_of_every_kind(fabric: Fabric, name: str, kind: str) -> None:
    assert select(fabric, name) == [Part(name, kind, (fabric.index_of(name),), ())]
    assert select(fabric, f"  {name}\t") == select(fabric, name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spine-[0-1]", ["spine-0", "spine-1"]),
        ("leaf-[8,0, 4]", ["leaf-0", "leaf-4", "leaf-8"]),
        ("leaf-[0-2,2,1]", ["leaf-0", "leaf-1", "leaf-2"]),
        ("leaf-6?", ["leaf-60", "leaf-61", "leaf-62", "leaf-63"]),
        ("leaf-*3", ["leaf-3", "leaf-13", "leaf-23", "leaf-33", "leaf-43", "leaf-53", "leaf-63"]),
        ("rack-0/feed-*", ["rack-0/feed-a", "rack-0/feed-b"]),
        ("rack-0/feed-[a-b]", ["rack-0/feed-a", "rack-0/feed-b"]),
        ("rack-[0-1]/shelf-7", ["rack-0/shelf-7", "rack-1/shelf-7"]),
        ("*-63", ["rack-63", "leaf-63", "hxu-63", "loop-63"]),
        ("l*-1", ["leaf-1", "loop-1"]),
        ("rack-0/nv*-0", ["rack-0/nvtray-0", "rack-0/nvswitch-0"]),
    ],
)
def test_globs_and_ranges(text: str, expected: list[str]) -> None:
    assert names(AZURE, text) == expected


def test_how_many_a_glob_names() -> None:
    counts = {
        "rack-*": 64,
        "rack-[0-3]/tray-*": 72,
        "rack-*/tray-*/gpu-*": 4_608,
        "rack-0/*": 18 + 9 + 18 + 2 + 8,
        "*": 64 + 64 + 36 + 64 + 64,
        "rack-0/tray-0/*": 4 + 4 + 2,
    }
    assert {text: len(select(AZURE, text)) for text in counts} == counts


# --------------------------------------------------------------------------- cables


def test_a_bundle_one_cable_and_one_direction() -> None:
    part = only(AZURE, "leaf-0~spine-3")
    assert (part.kind, part.nodes) == ("cable", ())
    both = {"leaf-0>spine-3#0", "leaf-0>spine-3#1", "spine-3>leaf-0#0", "spine-3>leaf-0#1"}
    assert link_names(AZURE, part) == both
    part = only(AZURE, "leaf-0~spine-3#1")
    assert (part.component, part.kind) == ("leaf-0~spine-3#1", "cable")
    assert link_names(AZURE, part) == {"leaf-0>spine-3#1", "spine-3>leaf-0#1"}
    part = only(AZURE, "leaf-0>spine-3")
    assert (part.component, part.kind) == ("leaf-0>spine-3", "direction")
    assert link_names(AZURE, part) == {"leaf-0>spine-3#0", "leaf-0>spine-3#1"}
    part = only(AZURE, "spine-3>leaf-0#0")
    assert (part.component, part.kind) == ("spine-3>leaf-0#0", "direction")
    assert link_names(AZURE, part) == {"spine-3>leaf-0#0"}


def test_a_cable_has_one_name_whichever_end_comes_first() -> None:
    for one, other in (
        ("leaf-0", "spine-3"),
        ("rack-3/tray-17/nic-2", "leaf-2"),
        ("rack-3/tray-17/gpu-2", "rack-3/nvswitch-5"),
    ):
        assert select(AZURE, f"{one}~{other}") == select(AZURE, f"{other}~{one}")
        assert only(AZURE, f"{other}~{one}").component == f"{one}~{other}"
        assert len(only(AZURE, f"{one}~{other}#0").links) == 2


def test_nvlink_cables() -> None:
    part = only(AZURE, "rack-3/nvswitch-5>rack-3/tray-17/gpu-2")
    assert link_names(AZURE, part) == {"rack-3/nvswitch-5>rack-3/tray-17/gpu-2#0"}
    assert len(select(AZURE, "rack-[0-1]/tray-*/gpu-*~rack-*/nvswitch-*")) == 2 * 1_296
    assert len(select(AZURE, "rack-0/tray-0/gpu-0~*")) == 18
    assert len(select(AZURE, "*~rack-0/nvswitch-0")) == 72


def test_any_node_at_the_other_end() -> None:
    parts = names(AZURE, "leaf-0~*")
    nics = [f"rack-{r}/tray-{t}/nic-0~leaf-0" for r in range(4) for t in range(18)]
    assert parts == nics + [f"leaf-0~spine-{s}" for s in range(36)]
    assert names(AZURE, "*~leaf-0") == parts
    assert sum(len(part.links) for part in select(AZURE, "leaf-0~*")) == 288
    assert names(AZURE, "leaf-0~*#1") == [f"leaf-0~spine-{s}#1" for s in range(36)]
    assert len(select(AZURE, "leaf-[0-1]~*")) == 216
    assert len(select(AZURE, "spine-0~*")) == 64
    assert names(AZURE, "rack-0/tray-0/nic-3~*") == ["rack-0/tray-0/nic-3~leaf-3"]
    assert len(select(PODS, "spine-0~*")) == 24 + 4
    assert len(select(PODS, "core-0~*")) == 8


def test_any_node_at_one_end_of_a_direction() -> None:
    out, back = select(AZURE, "leaf-0>*"), select(AZURE, "*>leaf-0")
    assert len(out) == len(back) == 108
    assert out[0].component == "leaf-0>rack-0/tray-0/nic-0"
    assert (out[-1].component, len(out[-1].links)) == ("leaf-0>spine-35", 2)
    links = [link for part in out for link in part.links]
    assert sorted(AZURE.reverse(np.array(links)).tolist()) == sorted(
        link for part in back for link in part.links
    )


def test_every_cable_comes_once() -> None:
    parts = select(AZURE, "*~*")
    assert len(parts) == 82_944 + 4_608 + 64 * 36
    links = [link for part in parts for link in part.links]
    assert len(set(links)) == len(links) == AZURE.n_links
    ways = select(PODS, "spine-*>core-*") + select(PODS, "core-*>spine-*")
    links = [link for part in ways for link in part.links]
    assert len(set(links)) == len(links) == 2 * PODS.tier("spine-core").n


def test_ranges_of_cables() -> None:
    assert names(AZURE, "leaf-[0,4]~spine-[0-1]#0") == [
        "leaf-0~spine-0#0",
        "leaf-0~spine-1#0",
        "leaf-4~spine-0#0",
        "leaf-4~spine-1#0",
    ]
    assert names(AZURE, "leaf-0~spine-0#*") == names(AZURE, "leaf-0~spine-0#[0-1]")
    assert len(select(AZURE, "leaf-*~spine-*")) == 64 * 36


# --------------------------------------------------------------------------- ports and cages


def test_ports() -> None:
    part = only(AZURE, "leaf-0:73")
    assert (part.component, part.kind, part.nodes) == ("leaf-0:73", "port", ())
    assert link_names(AZURE, part) == {"leaf-0>spine-0#0", "spine-0>leaf-0#0"}
    assert only(AZURE, "leaf-0:1").links == only(AZURE, "rack-0/tray-0/nic-0:1").links
    assert only(AZURE, "leaf-0:144").links == only(AZURE, "leaf-0~spine-35#1").links
    assert only(AZURE, "spine-3:1").links == only(AZURE, "leaf-0~spine-3#0").links
    assert names(AZURE, "leaf-0:[73-75]") == ["leaf-0:73", "leaf-0:74", "leaf-0:75"]
    assert len(select(AZURE, "leaf-0:*")) == 144
    assert len(select(AZURE, "spine-0:*")) == 128
    # Of the ports 120 to 129 the last one is empty, 130 to 139 are all.
    assert len(select(AZURE, "spine-0:12?")) == 9
    assert refusal(AZURE, "spine-0:13?").message == "matches no component"
    assert only(PODS, "core-0:144").links == only(PODS, "spine-168~core-0#17").links


def test_cages_hold_two_ports_of_a_switch_and_one_of_a_nic() -> None:
    part = only(AZURE, "leaf-0/cage-37")
    assert (part.component, part.kind) == ("leaf-0/cage-37", "cage")
    assert sorted(part.links) == sorted(only(AZURE, "leaf-0~spine-0").links)
    ports = {*only(AZURE, "leaf-0:1").links, *only(AZURE, "leaf-0:2").links}
    assert set(only(AZURE, "leaf-0/cage-1").links) == ports
    assert len(only(AZURE, "rack-0/tray-0/nic-0/cage-1").links) == 2
    assert len(select(AZURE, "leaf-*/cage-*")) == 64 * 72
    # One rack has 18 NICs on a leaf: cages 10 to 36 are empty.
    alone = build(cluster_spec(racks=1))
    assert len(select(alone, "leaf-0/cage-*")) == 9 + 36
    # A cage with one of its two ports in use.
    odd = build(cluster_spec(racks=1, trays_per_rack=3, radix=8))
    assert len(only(odd, "leaf-0/cage-2").links) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("leaf-0:145", "there is no port 145; leaf-0 has ports 1 to 144"),
        ("leaf-0:0", "there is no port 0; leaf-0 has ports 1 to 144"),
        ("leaf-0:[140-145]", "leaf-0 has ports 1 to 144"),
        ("leaf-0:x", "'x' is not a port number; leaf-0 has ports 1 to 144"),
        ("leaf-0:9?9", "no port number is like '9?9'; leaf-0 has ports 1 to 144"),
        ("leaf-0:01", "numbers have no leading zeros (got '01'); write 1 instead"),
        ("leaf-0/cage-0", "there is no cage 0; leaf-0 has cages 1 to 72"),
        ("leaf-0/cage-73", "there is no cage 73; leaf-0 has cages 1 to 72"),
        ("rack-0/tray-0/nic-0:2", "there is no port 2; rack-0/tray-0/nic-0 has port 1"),
        ("spine-0:129", "spine-0:129 has no cable; ports with cables: 1-128"),
        ("spine-0/cage-65", "spine-0/cage-65 has no cable; ports with cables: 1-128"),
        ("rack-0:1", "a rack has no ports with cables; ports are those of NICs"),
        ("rack-0/tray-0/gpu-0:1", "a gpu has no ports with cables"),
        ("leaf-64:1", "there is no leaf-64; here there are leaf-0 to leaf-63"),
        ("leaf-0~spine-0#2", "there is no cable #2; leaf-0~spine-0 has cables #0 to #1"),
        ("spine-0~leaf-0#2", "leaf-0~spine-0 has cables #0 to #1"),
        ("leaf-0>spine-0#9", "leaf-0~spine-0 has cables #0 to #1"),
        ("leaf-*~spine-*#2", "leaf-0~spine-0 has cables #0 to #1"),
        ("leaf-0~spine-0#", "'' is not a cable number; leaf-0~spine-0 has cables #0 to #1"),
        ("leaf-0~spine-0#x", "'x' is not a cable number"),
        ("rack-0/tray-0/nic-0~leaf-0#1", "rack-0/tray-0/nic-0~leaf-0 has cable #0"),
        ("leaf-0~leaf-1", "leaf-0 has cables to 108 others: rack-0/tray-0/nic-0,"),
        ("rack-0/tray-0/nic-0~leaf-4", "rack-0/tray-0/nic-0 has cables to leaf-0"),
        ("leaf-4~rack-0/tray-0/nic-0", "leaf-4 has cables to 108 others"),
        ("rack-0~leaf-0", "no cable runs between 'rack-0' and 'leaf-0'; leaf-0 has cables to"),
        ("rack-0~rack-1", "no cable runs between 'rack-0' and 'rack-1'"),
        ("rack-0/nvswitch-0~rack-1/tray-0/gpu-0", "rack-0/nvswitch-0 has cables to 72 others"),
        ("leaf-0~spine-99", "there is no spine-99; here there are spine-0 to spine-35"),
        ("leaf-0~", "a cable has two ends, 'A~B'"),
        ("~leaf-0", "a cable has two ends"),
        ("~", "a cable has two ends"),
        (">", "a cable has two ends, 'A>B'"),
        ("leaf-0~spine-0~core-0", "a cable has two ends"),
        ("leaf-0>spine-0~core-0", "a cable has two ends"),
        ("leaf-0#1~spine-0", "a cable has two ends"),
        ("leaf-0~spine-0#0#1", "'0#1' is not a cable number"),
    ],
)
def test_refused_cables_and_ports(text: str, says: str) -> None:
    error = refusal(AZURE, text)
    assert error.where == repr(text)
    assert says in str(error)


@pytest.mark.parametrize(
    ("fabric", "text", "says"),
    [
        (AZURE, "spin-3", "did you mean 'spine-3'?"),
        (AZURE, "spine-36", "there is no spine-36; here there are spine-0 to spine-35"),
        (AZURE, "spine-1000000000000", "there is no spine-1000000000000; here there are"),
        (AZURE, "rack-3/tray-18", "there is no tray-18; here there are tray-0 to tray-17"),
        (AZURE, "rack-3/trey-1", "did you mean 'rack-3/tray-1'?"),
        (AZURE, "rack-*/trey-1", "did you mean 'rack-*/tray-1'?"),
        (AZURE, "gpu-1", "did you mean 'rack-0/tray-0/gpu-1'?"),
        (AZURE, "rack-3/gpu-1", "did you mean 'rack-3/tray-0/gpu-1'?"),
        (AZURE, "rack-*/gpu-1", "did you mean 'rack-*/tray-0/gpu-1'?"),
        (AZURE, "gpu-*", "did you mean 'rack-*/tray-*/gpu-*'?"),
        (AZURE, "nic-1~leaf-1", "did you mean 'rack-0/tray-0/nic-1'?"),
        (AZURE, "core-0", "this fabric has no cores: it has two tiers"),
        (AZURE, "core-*", "this fabric has no cores: it has two tiers"),
        (AZURE, "spine-0~core-0", "this fabric has no cores: it has two tiers"),
        (AZURE, "cdu-0", "this cluster has no cdu: it is cooled by hxu-0 to hxu-63"),
        (CDU, "hxu-0", "this cluster has no hxu: it is cooled by cdu-0 to cdu-7"),
        (AZURE, "spine-[3-1]", "the range '3-1' runs backwards; write 1-3"),
        (AZURE, "spine-[]", "'' is not a spine number"),
        (AZURE, "spine-[0-]", "'' is not a spine number"),
        (AZURE, "spine-[0", "'[0' is not a spine number"),
        (AZURE, "spine-03", "numbers have no leading zeros (got '03'); write 3 instead"),
        (AZURE, "spine-0000000000003", "'0000000000003' is not a spine number"),
        (AZURE, "spine--1", "'-1' is not a spine number"),
        (AZURE, "spine-9?9", "no spine number is like '9?9'"),
        (AZURE, "rack-0/feed-c", "'c' is not a feed number; here there are feed-a to feed-b"),
        (AZURE, "rack-0/feed-ab", "'ab' is not a feed number"),
        (AZURE, "rack-0/feed-", "'' is not a feed number"),
        (AZURE, "leaf-0/x-1", "a leaf has no parts with names"),
        (AZURE, "rack-0/", "names here start with one of: tray-,"),
        (AZURE, "/rack-0", "names here start with one of: rack-,"),
        (AZURE, "", "a selector has 1 to 500 characters (got 0)"),
        (AZURE, "x" * 501, "a selector has 1 to 500 characters (got 501)"),
        (AZURE, "spine-0\x00", "has characters that no name has"),
        (AZURE, "spine-0\nspine-1", "has characters that no name has"),
        (AZURE, "spine-\ud800", "has characters that no name has"),
        (AZURE, "spine-٣", "'٣' is not a spine number"),
        (AZURE, "spine-³", "'³' is not a spine number"),
    ],
)
def test_refused_nodes(fabric: Fabric, text: str, says: str) -> None:
    assert says in str(refusal(fabric, text))


def test_too_many_parts_are_refused() -> None:
    for text in ("*/*/*", "*~*", "leaf-*:*", "rack-*/tray-*/gpu-*~*", "*>*"):
        error = refusal(LARGE, text)
        assert "more than 120,000" in error.message
        assert error.hint == "name what contains them instead"
    assert len(select(LARGE, "rack-*/tray-*/gpu-*")) == 103_680 <= MOST_PARTS
