"""Names made from numbers and read back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.topology import Fabric, build, cluster_spec
from gbviz.topology.names import BuiltNames, ListedNames, label, number_of

AZURE = build(cluster_spec("azure-gb300"))
SMALL = build(cluster_spec(racks=5, cooling={"kind": "cdu", "units": 2, "racks_per_loop": 3}))
LARGE = build(cluster_spec(racks=384))


def listed(*names: str) -> ListedNames:
    return ListedNames(names, {name: number for number, name in enumerate(names)})


def test_every_node_of_a_small_cluster() -> None:
    names = [SMALL.name(node) for node in range(SMALL.n_nodes)]
    assert len(set(names)) == SMALL.n_nodes
    assert [SMALL.index_of(name) for name in names] == list(range(SMALL.n_nodes))
    assert SMALL.names_of(np.arange(SMALL.n_nodes)) == names


@given(st.data())
def test_any_nodes_of_a_large_cluster(data: st.DataObject) -> None:
    fabric = data.draw(st.sampled_from([AZURE, LARGE]))
    nodes = data.draw(st.lists(st.integers(0, fabric.n_nodes - 1), max_size=30))
    names = [fabric.name(node) for node in nodes]
    assert [fabric.index_of(name) for name in names] == nodes
    assert fabric.names_of(np.array(nodes, dtype=np.int64)) == names


@pytest.mark.parametrize(
    ("name", "kind", "number"),
    [
        ("rack-3", "rack", 3),
        ("rack-3/tray-17", "tray", 3 * 18 + 17),
        ("rack-3/tray-17/gpu-2", "gpu", (3 * 18 + 17) * 4 + 2),
        ("rack-3/tray-17/nic-2", "nic", (3 * 18 + 17) * 4 + 2),
        ("rack-3/tray-17/cpu-1", "cpu", (3 * 18 + 17) * 2 + 1),
        ("rack-3/nvtray-8", "nvtray", 3 * 9 + 8),
        ("rack-3/nvswitch-17", "nvswitch", 3 * 18 + 17),
        ("rack-3/feed-a", "feed", 6),
        ("rack-3/feed-b", "feed", 7),
        ("rack-3/shelf-7", "shelf", 31),
        ("leaf-63", "leaf", 63),
        ("spine-35", "spine", 35),
        ("hxu-3", "hxu", 3),
        ("loop-1", "loop", 1),
    ],
)
def test_names_of_every_kind(name: str, kind: str, number: int) -> None:
    assert AZURE.index_of(name) == AZURE.nodes(kind).start + number


def test_cores_and_shared_cooling() -> None:
    assert LARGE.index_of("core-191") == LARGE.nodes("core").start + 191
    assert SMALL.index_of("cdu-3") == SMALL.nodes("cdu").start + 3


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("rack-64", "rack numbers end at 63 here"),
        ("leaf-64", "leaf numbers end at 63 here"),
        ("rack-0/tray-18", "tray numbers end at 17 here"),
        ("rack-0/feed-c", "feed numbers end at b here"),
        ("rack-0/feed-0", "feed numbers end at b here"),
        ("rack-0/tray-a", "tray numbers end at 17 here"),
        ("rak-3", "did you mean 'rack-3'?"),
        ("rak-99", "did you mean 'rack-0'?"),
        ("rak", "did you mean 'rack-0'?"),
        ("rack-3/trey-4", "did you mean 'rack-3/tray-4'?"),
        ("rack-3/fed-b", "did you mean 'rack-3/feed-b'?"),
        ("xyz-1", "names here start with one of: rack-, leaf-, spine-, hxu-, loop-"),
        ("", "names here start with one of: rack-"),
        ("rack-3/tray-17/gpu-2/x-1", "a gpu has no parts with names"),
        ("leaf-3/x-1", "a leaf has no parts with names"),
        # a part without what it is inside of; its number runs on
        ("gpu-1", "did you mean 'rack-0/tray-0/gpu-1'?"),
        ("gpu-4607", "did you mean 'rack-63/tray-17/gpu-3'?"),
        ("gpu-4608", "did you mean 'rack-0/tray-0/gpu-0'?"),
        ("gpu-x", "did you mean 'rack-0/tray-0/gpu-0'?"),
        ("gpu-*", "did you mean 'rack-*/tray-*/gpu-*'?"),
        ("gpu", "did you mean 'rack-0/tray-0/gpu-0'?"),
        ("rack-3/gpu-71", "did you mean 'rack-3/tray-17/gpu-3'?"),
        ("rack-3/gpu-72", "did you mean 'rack-3/tray-0/gpu-0'?"),
        ("feed-b", "did you mean 'rack-0/feed-b'?"),
        ("shelf-9", "did you mean 'rack-1/shelf-1'?"),
        ("rack-9/tray-3/nvswitch-3", "did you mean 'rack-9/nvswitch-3'?"),
        ("rack-5/leaf-3", "did you mean 'leaf-3'?"),
        ("rack-5/leaf-99", "did you mean 'leaf-0'?"),
        ("loop-3/hxu-3", "did you mean 'hxu-3'?"),
        # what this cluster lacks
        ("core-0", "this fabric has no cores: it has two tiers"),
        ("cdu-0", "this cluster has no cdu: it is cooled by hxu-0 to hxu-63"),
        # spellings that no name has
        ("rack-00", "did you mean 'rack-0'?"),
        ("rack-3 ", "did you mean 'rack-0'?"),
        ("Rack-3", "did you mean 'rack-3'?"),
        ("rack-³", "did you mean 'rack-0'?"),
        ("rack-٣", "did you mean 'rack-0'?"),
        ("rack-1000000000", "did you mean 'rack-0'?"),
        ("rack--1", "did you mean 'rack-0'?"),
    ],
)
def test_what_has_no_name_gets_a_hint(name: str, hint: str) -> None:
    with pytest.raises(InputError, match="there is no component") as caught:
        AZURE.index_of(name)
    assert hint in caught.value.hint


def test_the_other_cooling_is_named() -> None:
    with pytest.raises(InputError, match="no hxu: it is cooled by cdu-0 to cdu-3"):
        SMALL.index_of("hxu-0")
    alone = build(cluster_spec(racks=1))
    with pytest.raises(InputError, match=r"it is cooled by hxu-0$"):
        alone.index_of("cdu-0")


@pytest.mark.parametrize("fabric", [AZURE, SMALL, LARGE])
def test_numbers_that_no_node_has(fabric: Fabric) -> None:
    for node in (-1, fabric.n_nodes, 10**9):
        with pytest.raises(InputError, match="there is no node number"):
            fabric.name(node)


@given(st.sampled_from([AZURE, SMALL, LARGE]), st.text(max_size=60))
def test_any_text_is_a_name_or_refused(fabric: Fabric, text: str) -> None:
    try:
        node = fabric.index_of(text)
    except InputError:
        return
    assert fabric.name(node) == text


@given(st.data())
def test_a_suggested_name_is_one(data: st.DataObject) -> None:
    fabric = data.draw(st.sampled_from([AZURE, SMALL, LARGE]))
    word = st.sampled_from([*fabric.kinds, "rak", "spin", "cdu", "hxu", "x"])
    tail = st.sampled_from(["0", "3", "71", "999999", "a", "b", "", "é"])
    segments = data.draw(st.lists(st.tuples(word, tail), min_size=1, max_size=4))
    try:
        fabric.index_of("/".join("-".join(segment) for segment in segments))
    except InputError as error:
        if "did you mean" in error.hint:
            fabric.index_of(error.hint.split("'")[1])


def test_labels() -> None:
    assert [label("feed", number) for number in (0, 1)] == ["a", "b"]
    assert (label("gpu", 0), label("rack", 12)) == ("0", "12")
    read = [number_of("feed", text) for text in ("a", "b", "c", "", "ab", "0")]
    assert read == [0, 1, None, None, None, None]
    read = [number_of("gpu", text) for text in ("0", "12", "", "a", "-1", "٣", "1" * 10)]
    assert read == [0, 12, None, None, None, None, None]


def test_listed_names() -> None:
    names = listed("sw-1", "sw~2", "a>b", "x:1#0", "host-007")
    assert [names.name(node) for node in range(2)] == ["sw-1", "sw~2"]
    assert names.names_of(np.array([3, 1, 3])) == ["x:1#0", "sw~2", "x:1#0"]
    assert [names.index_of(name) for name in names.listed] == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="did you mean 'host-007'"):
        names.index_of("host-07")
    with pytest.raises(InputError) as caught:
        names.index_of("nothing like it")
    assert caught.value.hint == ""


def test_a_hint_among_very_many_names() -> None:
    names = listed(*(f"h{number}" for number in range(50_000)))
    with pytest.raises(InputError, match="did you mean 'h49999'"):
        names.index_of("h49999x")
    assert names.suggestion("h" * 10_000) == ""


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("n-1", ["n-1"]),
        ("n-?", ["n-1", "n-2"]),
        ("n-1*", ["n-1", "n-10", "n-12"]),
        ("n-[1-2]", ["n-1", "n-2"]),
        ("n-[2-12]", ["n-2", "n-10", "n-12"]),
        ("n-[1,12]", ["n-1", "n-12"]),
        ("*-[1-2]", ["n-1", "n-2"]),
        ("*[2-9]", ["n-2"]),
        ("?-[2-12]", ["n-2", "n-10", "n-12"]),
        ("n-1[0-9]", ["n-10", "n-12"]),
        ("[mn]-1", ["n-1"]),
        ("*", ["n-1", "n-2", "n-10", "n-12", "n.2[3]", "m*"]),
        ("m*", ["m*"]),
        ("n.2[3]", ["n.2[3]"]),
        ("n.2[[]3]", ["n.2[3]"]),
        ("N-1", []),
        ("x*", []),
        ("", []),
        ("n-", []),
    ],
)
def test_patterns_over_listed_names(text: str, hits: list[str]) -> None:
    names = listed("n-1", "n-2", "n-10", "n-12", "n.2[3]", "m*")
    assert names.names_of(np.array(names.matching(text), dtype=np.int64)) == hits


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n-[9-1]", "runs backwards; write 1-9"),
        ("n-[1-2-3]", "cannot be read"),
        ("n-[1111111111]", "cannot be read"),
        ("****[1-2]", "at most 3"),
    ],
)
def test_ranges_that_cannot_be(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        listed("n-1").matching(text)


@given(st.text(alphabet="ab*?[]-,0129#~>: ", max_size=40))
def test_any_pattern_over_listed_names_is_read_or_refused(text: str) -> None:
    names = listed("a", "b1", "a-10", "b[0]", "~", "2" * 30)
    try:
        hits = names.matching(text)
    except InputError:
        return
    assert hits == sorted(set(hits))


def test_both_kinds_of_names_are_told_apart() -> None:
    assert isinstance(AZURE.names, BuiltNames)
    assert not isinstance(listed("a"), BuiltNames)
