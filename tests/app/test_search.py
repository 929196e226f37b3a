from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gbviz.app.actions import Actions, Command
from gbviz.app.search import Found, SearchBox, find, score
from gbviz.topology import build, cluster_spec
from gbviz.topology.selectors import select
from tests.app.pointing import click
from tests.display.cases import fabric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("nothing_left")
KEY = Qt.Key
COMMANDS = [Found("command", "edit.undo", "Undo"), Found("command", "view.fit", "Show everything")]


def letters_in_order(query: str, text: str) -> bool:
    rest = iter(text.lower())
    return all(letter in rest for letter in query.lower() if letter != " ")


@given(st.text("leaf-0 13x", max_size=6), st.text("leafspn-0123", max_size=12))
def test_a_score_needs_all_letters_in_order(query: str, text: str) -> None:
    assert (score(query, text) is not None) == letters_in_order(query, text)


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [("lf3", "leaf-3", "leaf-13"), ("leaf-1", "leaf-1", "leaf-10"), ("un", "Undo", "Run again"),
     ("se", "Show everything", "Close")],
)  # fmt: skip
def test_the_nearer_name_scores_lower(query: str, better: str, worse: str) -> None:
    first, second = score(query, better), score(query, worse)
    assert first is not None
    assert second is None or first < second


@pytest.mark.parametrize(
    ("query", "kind", "name"),
    [
        ("spine-3", "component", "spine-3"),
        ("  spine-3 ", "component", "spine-3"),
        ("rack-4/tray-1", "component", "rack-4/tray-1"),
        ("rack-4/tray-1/gpu-2", "component", "rack-4/tray-1/gpu-2"),
        ("leaf-3~spine-7", "component", "leaf-3~spine-7"),
        ("leaf-3~spine-7#1", "component", "leaf-3~spine-7#1"),
        ("leaf-[0-3]", "selector", "leaf-[0-3]"),
        ("leaf-5:3", "component", "leaf-5:3"),
        ("undo", "command", "edit.undo"),
        ("everything", "command", "view.fit"),
        ("ring", "job", "ring"),
        ("spn-3", "component", "spine-3"),
        ("hxu7", "component", "hxu-7"),
        ("LEAF-9", "component", "leaf-9"),
        ("rack-4/nvs", "component", "rack-4/nvswitch-0"),
        ("rack-4/gpu", "component", "rack-4/tray-0/gpu-0"),
    ],
)
def test_the_first_that_is_found(query: str, kind: str, name: str) -> None:
    first = find(query, fabric("azure"), ["ring", "shift"], COMMANDS)[0]
    assert (first.kind, first.name) == (kind, name)


@given(st.text("rackleftspin-0123/~#[]*?:> ²", max_size=14))
def test_what_is_found_exists_once(query: str) -> None:
    found = find(query, fabric("su"), ["ring"], COMMANDS)
    assert len(found) <= 60
    names = [one.name for one in found]
    assert len(set(names)) == len(names)
    for one in found:
        if one.kind in ("component", "selector"):
            assert select(fabric("su"), one.name)


def test_nothing_typed_shows_commands_and_jobs() -> None:
    assert [one.name for one in find("", fabric("su"), ["ring"], COMMANDS)] == [
        "edit.undo", "ring", "view.fit",
    ]  # fmt: skip
    assert find("qqqq", fabric("su"), ["ring"], COMMANDS) == []
    assert [one.kind for one in find("undo", None, [], COMMANDS)] == ["command"]


def test_a_selector_of_too_many_is_not_offered() -> None:
    assert all(one.kind != "selector" for one in find("rack-*/tray-*/gpu-*", fabric("27k"), [], []))
    one = find("rack-*", fabric("27k"), [], [])[0]
    assert (one.kind, one.hint) == ("selector", "384 parts")


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def box(qtbot: QtBot, ran: list[str]) -> Iterator[SearchBox]:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 700)
    actions = Actions(window)
    actions.add(Command("edit.undo", "edit", "&Undo", ("Ctrl+Z",), lambda: ran.append("undo")))
    off = actions.add(Command("edit.redo", "edit", "&Redo", ("Ctrl+Y",), lambda: None))
    off.setEnabled(False)
    window.show()
    found = SearchBox(actions, window)
    found.ask(fabric("su"), ["ring"])
    QApplication.processEvents()
    yield found
    found.close()


def shown(box: SearchBox) -> list[str]:
    return [box.list.item(row).text() for row in range(box.list.count())]


def test_typing_finds_and_enter_takes(qtbot: QtBot, box: SearchBox) -> None:
    QTest.keyClicks(box.line, "leaf-3")
    assert shown(box)[0].startswith("leaf-3")
    with qtbot.waitSignal(box.chosen) as chosen:
        QTest.keyClick(box.line, KEY.Key_Return)
    assert chosen.args is not None
    assert chosen.args[0].name == "leaf-3"
    assert not box.isVisible()


def test_arrows_go_through_the_list_and_stop_at_its_ends(qtbot: QtBot, box: SearchBox) -> None:
    QTest.keyClicks(box.line, "leaf")
    assert box.list.count() == 8
    for _ in range(3):
        QTest.keyClick(box.line, KEY.Key_Down)
    assert box.list.currentRow() == 3
    for _ in range(20):
        QTest.keyClick(box.line, KEY.Key_Down)
    assert box.list.currentRow() == 7
    for _ in range(20):
        QTest.keyClick(box.line, KEY.Key_Up)
    assert box.list.currentRow() == 0
    QTest.keyClick(box.line, KEY.Key_Down)
    with qtbot.waitSignal(box.chosen) as chosen:
        QTest.keyClick(box.line, KEY.Key_Enter)
    assert chosen.args is not None
    assert chosen.args[0].name == "leaf-1"


def test_a_click_takes(qtbot: QtBot, box: SearchBox) -> None:
    QTest.keyClicks(box.line, "spine")
    with qtbot.waitSignal(box.chosen) as chosen:
        click(box.list.viewport(), box.list.visualItemRect(box.list.item(2)).center())
    assert chosen.args is not None
    assert chosen.args[0].name == "spine-2"


def test_commands_show_their_keys_unless_they_are_off(box: SearchBox) -> None:
    QTest.keyClicks(box.line, "do")
    assert shown(box) == ["Undo    Ctrl+Z"]


def test_a_name_that_nothing_has(qtbot: QtBot, box: SearchBox) -> None:
    QTest.keyClicks(box.line, "zzz")
    assert box.nothing.isVisible()
    assert box.list.isHidden()
    with qtbot.assertNotEmitted(box.chosen):
        QTest.keyClick(box.line, KEY.Key_Return)
        QTest.keyClick(box.line, KEY.Key_Down)
    assert box.isVisible()


def test_escape_leaves_and_the_next_time_the_last_text_is_selected(box: SearchBox) -> None:
    QTest.keyClicks(box.line, "leaf")
    QTest.keyClick(box.line, KEY.Key_Escape)
    assert not box.isVisible()
    box.ask(fabric("1 rack"), [])
    assert box.line.selectedText() == "leaf"
    assert box.list.count() == 4
    QTest.keyClicks(box.line, "rack")
    assert box.line.text() == "rack"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("gpu-0", "rack-9/tray-0/gpu-0"),
        ("gpu 3", "rack-9/tray-0/gpu-3"),
        ("GPU 70", "rack-9/tray-17/gpu-2"),
        ("nvswitch 5", "rack-9/nvswitch-5"),
        ("asic 5", "rack-9/nvswitch-5"),
        ("rack 3 gpu 6", "rack-3/tray-1/gpu-2"),
        ("tray", "rack-9/tray-0"),
        ("feed", "rack-9/feed-a"),
        ("feed b", "rack-9/feed-b"),
        ("cdu 4", "hxu-4"),
        ("leaf-7 port 73", "leaf-7:73"),
        ("leaf-7:73", "leaf-7:73"),
        ("leaf 7 cage 37", "leaf-7/cage-37"),
        ("leaf 7", "leaf-7"),
    ],
)
def test_parts_are_found_as_people_name_them(query: str, name: str) -> None:
    found = find(query, build(cluster_spec("azure-gb300")), [], COMMANDS, rack=9)
    assert found[0].name == name
    assert len(select(build(cluster_spec("azure-gb300")), found[0].name)) == 1


def test_other_racks_follow_the_one_that_is_selected() -> None:
    found = find("nvswitch 5", build(cluster_spec("azure-gb300")), [], [], rack=9)
    assert [one.name for one in found[:3]] == [f"rack-{n}/nvswitch-5" for n in (9, 0, 1)]


def test_a_pod_is_its_racks() -> None:
    """16 pods of 24 leaves: 6 groups of 4 leaves, each over 4 racks, are 24 racks."""
    large = build(cluster_spec("gb300-27k"))
    found = find("pod 5", large, [], COMMANDS)
    assert (found[0].kind, found[0].name, found[0].hint) == (
        "selector", "rack-[120-143]", "24 parts",
    )  # fmt: skip
    assert (
        find("pod 16", large, [], []) == [] or find("pod 16", large, [], [])[0].kind != "selector"
    )


@pytest.mark.parametrize("query", ["gpu 72", "tray 18", "feed c", "pod 99", "leaf-7 port 999"])
def test_what_is_not_there_is_not_offered(query: str) -> None:
    found = find(query, build(cluster_spec("azure-gb300")), [], [])
    assert all("gpu" not in one.name and ":" not in one.name for one in found)
