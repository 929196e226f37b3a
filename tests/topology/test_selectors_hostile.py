"""Selectors of hostile text, and names of files that hold the signs of selectors."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.topology.graph import from_graph
from gbviz.topology.selectors import select
from tests.topology.selecting import AZURE, CDU, ODD, PODS, only, refusal

if TYPE_CHECKING:
    from gbviz.topology import Fabric

# --------------------------------------------------------------------------- hostile text


def read(fabric: Fabric, text: str) -> None:
    """A selector is read or refused soon, whatever it holds; what is read can be named again."""
    start = time.process_time()
    try:
        parts = select(fabric, text)
    except InputError:
        parts = []
    # None takes 0.5 s; five times that leaves room for a slow machine, and none for runaway text.
    assert time.process_time() - start < 2.5
    for part in parts[:3]:
        again = select(fabric, part.component)
        assert [one.component for one in again] == [part.component]


HOSTILE = [
    "\x00",
    "a\nb",
    " " * 10_000,
    "x" * 10_000,
    "[" * 500,
    "[[[",
    "spine-[[[",
    "spine-[0-",
    "spine-[0-0-0]",
    "spine-[,]",
    "spine-[0--1]",
    "[[]~[[]",
    "/" * 500,
    "rack-0/" * 70,
    "*/" * 249 + "*",
    "*" * 500,
    "*a" * 250,
    "spine-" + "*1" * 240,
    "spine-" + "9" * 490,
    "leaf-0:" + "9" * 490,
    "leaf-0~spine-0#" + "9" * 480,
    "spine-[" + ",".join(["0-35"] * 90) + "]",
    "٣٣٣",
    "spine-٣",
    "leaf-0:²",
    "\u202espine-0",
    "\ufeffspine-0",
    "\ud800",
    "~" * 500,
    ">" * 500,
    "#" * 500,
    ":" * 500,
    "leaf-0:1:1",
    "leaf-0:1/cage-1",
    "leaf-0/cage-1:1",
    "leaf-0/cage-1/cage-1",
    ("a:" * 249) + "b",
    "/cage-" * 80,
    "*~*#*",
    "*>*#*",
    "*:*",
    "*/*:*",
    "*/cage-*",
    "rack-*/*/*~*",
    "rack-*/tray-*/nic-*:*",
    "%s%n{}{0}\\",
    "(?i)spine-0",
    "spine-0|leaf-0",
    "..",
    "../../etc/passwd",
    "nan",
    "inf",
    "-",
    "--",
    "-0",
    "spine-",
    "spine",
    "spine-1e3",
    "spine-0x1",
    "spine-+1",
    "spine-1_0",
    "rack-0/feed-[a-z]",
    "rack-0/feed-[b-a]",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[:30])
@pytest.mark.parametrize("fabric", [AZURE, PODS, ODD], ids=["azure", "pods", "odd"])
def test_hostile_text(fabric: Fabric, text: str) -> None:
    read(fabric, text)


PIECES = st.sampled_from(
    [
        *("rack-", "tray-", "gpu-", "nic-", "leaf-", "spine-", "core-", "cage-", "feed-", "loop-"),
        *("nvswitch-", "nvtray-", "hxu-", "cdu-", "*", "?", "[", "]", "[0-3]", "[0,4]", "~", ">"),
        *("#", ":", "/", "0", "1", "17", "999", "-", ",", "a", " ", "!", "^", "\\", "$", "|", "é"),
        *("sw-", "a~b", "s#0", "host 1", "[1-10]"),
    ]
)


@given(st.sampled_from([AZURE, CDU, PODS, ODD]), st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=600, deadline=None)
def test_text_made_of_the_signs_of_selectors(fabric: Fabric, text: str) -> None:
    read(fabric, text)


@given(st.sampled_from([AZURE, ODD]), st.text(max_size=600))
@settings(max_examples=300, deadline=None)
def test_any_text(fabric: Fabric, text: str) -> None:
    read(fabric, text)


@given(st.data())
def test_the_name_of_any_link_or_node_selects_it(data: st.DataObject) -> None:
    fabric = data.draw(st.sampled_from([AZURE, PODS, ODD]))
    link = data.draw(st.integers(0, fabric.n_links - 1))
    assert only(fabric, fabric.link_name(link)).links == (link,)
    back = int(fabric.reverse(np.array([link]))[0])
    assert only(fabric, fabric.cable_name(link)).links == (min(link, back), max(link, back))
    node = data.draw(st.integers(0, fabric.n_nodes - 1))
    assert only(fabric, fabric.name(node)).nodes == (node,)


# --------------------------------------------------------------------------- names from a file


@pytest.mark.parametrize("name", [ODD.name(node) for node in range(ODD.n_nodes)])
def test_a_name_to_the_letter_comes_first(name: str) -> None:
    part = only(ODD, name)
    assert (part.component, part.nodes) == (name, (ODD.index_of(name),))
    assert part.kind == ("nic" if part.nodes[0] < 5 else "switch")


@pytest.mark.parametrize(
    ("text", "expected", "n_links"),
    [
        ("a~b~sw:1", ["a~b~sw:1"], 2),
        ("sw:1~a~b", ["a~b~sw:1"], 2),
        ("sw:1>a~b", ["sw:1>a~b"], 1),
        ("a~b>sw:1#0", ["a~b>sw:1#0"], 1),
        ("x>y>s#0", ["x>y>s#0"], 1),
        ("x>y~s#0", ["x>y~s#0"], 2),
        ("s#0~x>y#0", ["x>y~s#0#0"], 2),
        ("host 1~s", ["host 1~s"], 2),
        ("#1~s", ["#1~s"], 2),
        ("s~#1", ["#1~s"], 2),
        ("host 1~s#0", ["host 1~s#0"], 2),
        ("sw:1~s#0", ["sw:1~s#0"], 4),
        ("sw:1~s#0#1", ["sw:1~s#0#1"], 2),
        ("sw-10~sw-1", ["sw-1~sw-10"], 4),
        ("sw-1~sw-10", ["sw-1~sw-10"], 4),
        ("sw-10>sw-1", ["sw-10>sw-1"], 2),
        ("sw-1>sw-10#1", ["sw-1>sw-10#1"], 1),
        ("sw-1~sw-*", ["sw-1~sw-2", "sw-1~sw-10"], 6),
        ("sw-[1-2]~sw-[2-10]", ["sw-1~sw-2", "sw-1~sw-10"], 6),
        ("sw-*~sw-*#1", ["sw-1~sw-10#1"], 2),
        ("sw-*>sw-*", ["sw-1>sw-2", "sw-1>sw-10", "sw-2>sw-1", "sw-10>sw-1"], 6),
        ("A~B#1~*", ["*~A~B#1"], 2),
        ("sw-[2-10]", ["sw-2", "sw-10"], 0),
        ("sw-?", ["sw-1", "sw-2"], 0),
        ("sw*", ["sw:1", "sw-1", "sw-2", "sw-10"], 0),
        ("host*", ["host 1"], 0),
        ("n[1]", ["n[1]"], 0),
        ("sw-1:2", ["sw-1:2"], 2),
        ("sw:1:1", ["sw:1:1"], 2),
        ("sw-10:*", ["sw-10:1", "sw-10:2"], 4),
    ],
)
def test_selectors_over_listed_names(text: str, expected: list[str], n_links: int) -> None:
    parts = select(ODD, text)
    assert [part.component for part in parts] == expected
    assert sum(len(part.links) for part in parts) == n_links


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sw-3", "there is no component 'sw-3'; did you mean 'sw-2'?"),
        ("sw-1~sw-3", "there is no component 'sw-3'"),
        ("sw-2~sw-10", "no cable runs between 'sw-2' and 'sw-10'; sw-2 has cables to sw-1"),
        ("n[1]~s", "no cable runs between 'n[1]' and 's'; s has cables to host 1 and #1"),
        ("sw-1~sw-10#2", "sw-1~sw-10 has cables #0 to #1"),
        ("sw-1:4", "there is no port 4; sw-1 has ports 1 to 3"),
        ("n[1]:1", "n[1]:1 has no cable; none of its ports has one"),
        ("sw-1/cage-1", "there is no component"),
        ("gpu-0", "there is no component"),
        ("sw-[9-1]", "runs backwards"),
        ("q*", "there is no component 'q*'"),
    ],
)
def test_refused_selectors_over_listed_names(text: str, says: str) -> None:
    assert says in str(refusal(ODD, text))


def test_a_name_longer_than_any_selector_or_with_blanks_is_still_one() -> None:
    fabric = from_graph([" h "], ["s" * 600, "a\nb"], [])
    for name in (" h ", "s" * 600, "a\nb"):
        assert only(fabric, name).component == name
