from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.engine import Session, edits, session
from gbviz.engine.edits import Edit
from gbviz.errors import GbvizError
from gbviz.jobs.spec import CollectiveJob
from gbviz.scenario import preset
from gbviz.scenario.document import document
from gbviz.scenario.emit import text_of
from gbviz.scenario.file import read
from gbviz.scenario.save import save

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from gbviz.scenario import Scenario

PARTS = ("spine-0", "leaf-3", "rack-1", "rack-2/tray-4", "leaf-0~spine-1", "hxu-5", "leaf-[0-1]")
JOB = CollectiveJob(kind="collective", name="a", op="all_reduce", size=1e9, racks="rack-[0-3]")


def _changes() -> st.SearchStrategy[Callable[[Scenario], Edit]]:
    names = st.lists(st.sampled_from(PARTS), min_size=1, max_size=2, unique=True)
    factor = st.sampled_from([0.25, 0.5, 0.75])
    return st.one_of(
        names.map(lambda found: partial(edits.fail, selectors=found)),
        names.map(lambda found: partial(edits.repair, selectors=found)),
        st.builds(
            lambda part: partial(edits.degrade, selectors=["leaf-0~spine-1"], factor=part), factor
        ),
        st.just(edits.restore_all),
        st.sampled_from(["a", "b"]).map(
            lambda name: partial(edits.put_job, job=JOB.model_copy(update={"name": name}))
        ),
        st.sampled_from(["a", "b"]).map(lambda name: partial(edits.remove_job, name=name)),
        st.sampled_from(["ecmp", "static"]).map(lambda mode: partial(edits.route, mode=mode)),
    )


def _text(scenario: Scenario) -> str:
    return text_of(document(scenario))


def _work(changes: list[Callable[[Scenario], Edit]], start: Scenario) -> Session:
    found = Session(start)
    for change in changes:
        try:
            edit = change(found.scenario)
        except GbvizError:
            continue
        found.do(edit)
        found.close_merge()
    return found


@settings(max_examples=40, deadline=None)
@given(st.lists(_changes(), max_size=12))
def test_undo_to_the_start_and_redo_to_the_end_give_the_byte_same_documents(
    changes: list[Callable[[Scenario], Edit]],
) -> None:
    start = preset("gb300-su")
    found = _work(changes, start)
    texts = [_text(step.scenario) for step in found.steps]
    assert texts[0] == _text(start)
    backwards = [_text(found.scenario)]
    while found.undo():
        backwards.append(_text(found.scenario))
    assert backwards == texts[::-1]
    assert found.clean
    assert found.scenario == start
    forwards = [_text(found.scenario)]
    while found.redo():
        forwards.append(_text(found.scenario))
    assert forwards == texts


@settings(max_examples=40, deadline=None)
@given(st.lists(_changes(), max_size=8), st.lists(st.integers(-2, 12), max_size=6))
def test_a_walk_through_history_changes_none_of_it(
    changes: list[Callable[[Scenario], Edit]], walk: list[int]
) -> None:
    found = _work(changes, preset("gb300-su"))
    steps = found.steps
    for number in walk:
        before = found.at
        moved = found.go(number)
        assert moved == (0 <= number < len(steps) and number != before)
        assert found.at == (number if moved else before)
        assert found.undo_label == (steps[found.at].label if found.at else None)
    assert found.steps == steps


def test_what_changes_nothing_is_no_step() -> None:
    found = Session(preset("gb300-su"))
    assert not found.do(Edit("nothing", preset("gb300-su")))
    assert (len(found.steps), found.undo_label) == (1, None)


def test_an_edit_forgets_what_was_undone() -> None:
    found = _work([_fail("spine-0"), _fail("spine-1")], preset("gb300-su"))
    found.undo()
    found.do(edits.fail(found.scenario, ["spine-2"]))
    assert [step.label for step in found.steps] == ["", "fail spine-0", "fail spine-2"]
    assert found.redo_label is None


def test_a_drag_is_one_step_and_a_second_drag_another() -> None:
    found = Session(preset("gb300-su"))
    for factor in (0.9, 0.5, 0.4):
        found.do(edits.degrade(found.scenario, ["leaf-0~spine-1"], factor))
    assert [step.label for step in found.steps] == ["", "degrade leaf-0~spine-1 to 40 %"]
    found.close_merge()
    found.do(edits.degrade(found.scenario, ["leaf-0~spine-1"], 0.3))
    assert len(found.steps) == 3
    found.undo()
    assert found.scenario.events[0].action.factor == 0.4


def test_a_drag_after_undo_does_not_swallow_the_step_it_starts_from() -> None:
    found = Session(preset("gb300-su"))
    for factor in (0.9, 0.5):
        found.do(edits.degrade(found.scenario, ["leaf-0~spine-1"], factor))
        found.close_merge()
    found.undo()
    found.do(edits.degrade(found.scenario, ["leaf-0~spine-1"], 0.1))
    assert [len(found.steps), found.at] == [3, 2]


def test_the_oldest_steps_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MOST_STEPS", 3)
    found = _work([_fail(f"leaf-{n}") for n in range(5)], preset("gb300-su"))
    assert [step.label[-1] for step in found.steps] == ["1", "2", "3", "4"]
    assert found.at == 3
    while found.undo():
        pass
    assert not _clean(found), "the step that was saved is forgotten"


def test_clean_follows_the_cursor_and_not_the_count_of_steps() -> None:
    found = Session(preset("gb300-su"))
    found.do(edits.fail(found.scenario, ["spine-0"]))
    assert not _clean(found)
    found.do(edits.repair(found.scenario, ["spine-0"]))
    assert _clean(found), "it is what the file holds, however it came about"
    assert not Session(preset("gb300-su"), saved=False).clean


def test_after_a_save_every_step_keeps_the_comments_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("gbviz: 1 # one\nname: one\ncluster: {preset: gb300-su} # eight racks\n")
    found = _work([_fail("spine-0"), _fail("spine-1")], read(file))
    other = tmp_path / "other.yaml"
    done = save(found.scenario, other)
    found.saved(replace(found.scenario, path=done.path, text=done.text))
    assert _clean(found)
    assert {(step.scenario.path, step.scenario.text) for step in found.steps} == {
        (other, done.text)
    }
    found.undo()
    assert not _clean(found)
    text = save(found.scenario, other).text
    assert "# one" in text
    assert "# eight racks" in text
    assert "spine-1" not in text


def _fail(name: str) -> Callable[[Scenario], Edit]:
    return partial(edits.fail, selectors=[name])


def _clean(found: Session) -> bool:
    # A call, since mypy takes a property for what it was when it was looked at last.
    return found.clean
