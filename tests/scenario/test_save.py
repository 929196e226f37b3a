"""Saving: what the user wrote stays, and the file is old or new, never torn."""

from __future__ import annotations

import difflib
import json
import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.errors import GbvizError, ScenarioError
from gbviz.faults import Action
from gbviz.jobs import traffic_job
from gbviz.scenario import preset
from gbviz.scenario import save as saving
from gbviz.scenario.emit import text_of
from gbviz.scenario.event import Event
from gbviz.scenario.expect import Expectation
from gbviz.scenario.file import read
from gbviz.scenario.save import save
from gbviz.scenario.yaml_subset import load_yaml
from gbviz.topology import cluster_spec
from tests.scenario.samples import EXAMPLE, SMALL, documents, scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gbviz.scenario import Scenario


@pytest.fixture(autouse=True)
def _new_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "_backed_up", set())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.yaml"
    path.write_text(EXAMPLE)
    return path


def changed(before: str, after: str) -> list[str]:
    """The lines that came and went."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if line[:3] not in ("---", "+++") and line[:2] != "@@"]


def test_saving_what_was_read_changes_nothing(file: Path) -> None:
    done = save(read(file), file)
    assert file.read_text() == EXAMPLE
    assert (done.note, done.backup) == ("", file.with_name("a.yaml~"))


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (
            lambda s: replace(s, name="no"),
            ["-name: One spine lost during pre-training", '+name: "no"'],
        ),
        (lambda s: s.with_seed(0), ["-seed: 7", "+seed: 0"]),
        (
            lambda s: s.with_routing("spray"),
            [
                "-routing: adaptive                     # adaptive | spray | ecmp | static",
                "+routing: spray                        # adaptive | spray | ecmp | static",
            ],
        ),
        (
            lambda s: s.with_nvlink_policy("full-bandwidth"),
            ["+nvlink_policy: full-bandwidth"],
        ),
        (lambda s: replace(s, duration_s=9000.0), ["-duration: 2h", "+duration: 150min"]),
        (lambda s: replace(s, duration_s=None), ["-duration: 2h"]),
        (
            lambda s: s.with_events(Event(900.0, Action("fail", "leaf-3"), 300.0)),
            ["+  - {at: 15min, fail: leaf-3, for: 5min}"],
        ),
        (
            lambda s: replace(s, events=s.events[1:-1]),
            ["-  - {at: 0s,    fail: spine-3}", "-  - {at: 1h,    repair: spine-3}"],
        ),
        (
            lambda s: replace(s, events=(replace(s.events[0], at_s=60.0), *s.events[1:])),
            ["-  - {at: 0s,    fail: spine-3}", "+  - {at: 1min,    fail: spine-3}"],
        ),
        (
            lambda s: replace(
                s, jobs=(s.jobs[0].model_copy(update={"precision": "fp8"}), s.jobs[1])
            ),
            ["-    precision: fp4", "+    precision: fp8"],
        ),
        (
            lambda s: s.with_jobs(traffic_job("shift:72@rack-[40-41]")),
            [
                '+  - name: "shift:72@rack-[40-41]"',
                "+    kind: traffic",
                '+    racks: "rack-[40-41]"',
                "+    pattern: shift",
                '+    argument: "72"',
            ],
        ),
        (
            lambda s: replace(
                s, expect=(*s.expect[1:], Expectation("fabric", "live_gpus", "value", ">", 9.5))
            ),
            [
                '-  - {job: llama-405b, slowdown: "<= 1.10"}',
                '+  - {fabric: live_gpus, value: "> 9.5"}',
            ],
        ),
        (
            lambda s: replace(s, cluster=cluster_spec("azure-gb300", racks=70)),
            ["-  racks: 64", "-  uplinks_per_leaf: 72", "+  racks: 70"],
        ),
    ],
)
def test_only_what_differs_is_changed(
    file: Path, edit: Callable[[Any], Scenario], lines: list[str]
) -> None:
    edited = edit(read(file))
    assert save(edited, file).note == ""
    assert changed(EXAMPLE, file.read_text()) == lines


def test_a_removed_job_takes_its_own_lines_only(file: Path) -> None:
    text = file.read_text().replace("  - name: llama", "  # the big one\n  - name: llama")
    text = text.replace("  - {name: all", "  # beside it\n  - {name: all")
    text = text[: text.index("expect:")]
    file.write_text(text)
    found = read(file)
    save(replace(found, jobs=found.jobs[1:]), file)
    left = file.read_text()
    assert "  # the big one\n  # beside it\n  - {name: all-to-all" in left
    assert "llama" not in left
    save(replace(found, jobs=()), file)
    assert "jobs: []\n" in file.read_text()
    save(found, file)
    assert read(file) == found


def test_a_flow_of_edits_keeps_every_comment(file: Path) -> None:
    found = read(file)
    for number in range(5):
        found = found.with_events(Event(100.0 + number, Action("fail", f"leaf-{number}")))
        save(found, file)
        assert read(file) == found
    found = replace(found, events=(), seed=1, duration_s=60.0)
    save(found, file)
    assert read(file) == found
    comments = [line.partition("#")[2] for line in EXAMPLE.splitlines() if " # " in line]
    assert all(comment in file.read_text() for comment in comments)


def test_a_file_of_thousands_of_events_keeps_its_comments_too(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    rows = [{"at": number, "fail": f"leaf-{number % 8}"} for number in range(5000)]
    file.write_text(SMALL + "# why\n" + text_of({"events": rows}) + "seed: 5  # any\n")
    found = read(file)
    before = file.read_text()
    assert save(found.with_seed(6), file).note == ""
    assert changed(before, file.read_text()) == ["-seed: 5  # any", "+seed: 6  # any"]


def test_a_new_file(tmp_path: Path) -> None:
    file = tmp_path / "new.yaml"
    asked = preset("gb300-cdu").with_faults("spine-3", degrade={"leaf-0~spine-7": 0.5})
    asked = asked.with_jobs(traffic_job("pairs:rack-0/tray-0/gpu-0>rack-1/tray-0/gpu-0"))
    done = save(asked, file)
    assert done.backup is None
    assert file.read_text() == (
        """\
gbviz: 1
name: gb300-cdu
cluster:
  racks: 64
  cooling: {kind: cdu, units: 4, racks_per_loop: 32, capacity_kw: 1368}
jobs:
  - name: "pairs:rack-0/tray-0/gpu-0>rack-1/tray-0/gpu-0"
    kind: traffic
    pattern: pairs
    pairs: [rack-0/tray-0/gpu-0>rack-1/tray-0/gpu-0]
events:
  - {at: 0s, fail: spine-3}
  - {at: 0s, degrade: leaf-0~spine-7, to: 0.5}
"""
    )
    again = read(file)
    assert again.cluster == asked.cluster
    assert again.actions_at(0.0) == asked.actions


def test_save_as_takes_the_comments_along(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.yaml"
    save(read(file).with_seed(9), other)
    assert changed(EXAMPLE, other.read_text()) == ["-seed: 7", "+seed: 9"]
    assert read(other) == read(file).with_seed(9)


def test_json_files(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.json"
    save(read(file), other)
    assert read(other) == read(file)
    text = json.loads(other.read_text())
    text["duration"] = "120min"
    other.write_text(json.dumps(text))
    save(read(other).with_seed(3), other)
    assert json.loads(other.read_text()) == text | {"seed": 3}


@given(document=documents())
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_read_save_read(
    document: dict[str, Any], suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document.pop("duration", None)
    found = scenario(text_of(document))
    folder = tmp_path_factory.mktemp("round")
    for source in (found, replace(found, path=None, text=None)):
        file = folder / f"a.{suffix}"
        save(source, file)
        assert read(file) == found


@given(first=documents(), second=documents(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_scenario_can_be_saved_over_any_file(
    first: dict[str, Any],
    second: dict[str, Any],
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    for document in (first, second):
        document.pop("duration", None)
    file = tmp_path_factory.mktemp("over") / "a.yaml"
    lines = text_of(first).splitlines()
    for number in sorted(data.draw(st.sets(st.integers(0, len(lines)), max_size=3)), reverse=True):
        lines.insert(number, f"# note {number}")
    file.write_text("\n".join(lines) + "\n")
    wanted = replace(scenario(text_of(second)), path=file, text=None)
    save(wanted, file)
    assert read(file) == wanted


def test_fields_of_a_file(file: Path, tmp_path: Path) -> None:
    fields = load_yaml(EXAMPLE)
    fields["seed"] = 8
    save(fields, file)
    assert changed(EXAMPLE, file.read_text()) == ["-seed: 7", "+seed: 8"]
    save({"gbviz": 1, "cluster": {"racks": 8}}, tmp_path / "b.json")
    assert read(tmp_path / "b.json").cluster.racks == 8
    for wrong in ({"a": {1, 2}}, {"a": float("nan")}):
        with pytest.raises(GbvizError):
            save(wrong, tmp_path / "c.yaml")
    assert not (tmp_path / "c.yaml").exists()


def test_what_no_file_may_hold_is_not_saved(file: Path) -> None:
    for wrong in (
        replace(read(file), name=""),
        replace(read(file), name="\ud83d"),
    ):
        with pytest.raises(GbvizError):
            save(wrong, file)
        assert file.read_text() == EXAMPLE


def test_contradictions_do_not_keep_work_from_being_saved(file: Path) -> None:
    found = read(file)
    wrong = replace(found, cluster=cluster_spec("gb300-su"))
    save(wrong, file)
    with pytest.raises(ScenarioError, match="rack-31"):
        read(file)
    assert "racks: 8\n" in file.read_text()


def test_over_a_file_that_cannot_be_read(file: Path) -> None:
    found = read(file)
    file.write_text("gbviz: [")
    done = save(found, file)
    assert done.note.startswith("comments were not kept, since the file could not be read:")
    assert done.backup is not None
    assert str(done.backup) in done.note
    assert done.backup.read_text() == "gbviz: ["
    assert read(file) == found


def test_the_backup_is_that_of_the_first_save(file: Path) -> None:
    found = read(file)
    first = save(found.with_seed(1), file)
    second = save(found.with_seed(2), file)
    assert (first.backup, second.backup) == (file.with_name("a.yaml~"), None)
    assert file.with_name("a.yaml~").read_text() == EXAMPLE


def test_a_variant_stays_a_variant(tmp_path: Path) -> None:
    base, file = tmp_path / "base.yaml", tmp_path / "variant.yaml"
    base.write_text(EXAMPLE)
    file.write_text("gbviz: 1  # one\nextends: base.yaml\nseed: 8\n")
    found = read(file)
    save(found.with_routing("ecmp"), file)
    assert file.read_text().startswith("gbviz: 1  # one\nextends: base.yaml\n")
    assert read(file) == found.with_routing("ecmp")
    assert base.read_text() == EXAMPLE
    # Elsewhere there is nothing to extend: everything is written out.
    (tmp_path / "inner").mkdir()
    save(found, tmp_path / "inner" / "c.yaml")
    assert "extends" not in (tmp_path / "inner" / "c.yaml").read_text()
    assert read(tmp_path / "inner" / "c.yaml") == found


def test_a_variant_may_take_away_what_its_base_states(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(EXAMPLE)
    file = tmp_path / "variant.yaml"
    file.write_text("gbviz: 1\nextends: base.yaml\n")
    found = replace(read(file), duration_s=None, events=())
    save(found, file)
    assert file.read_text() == "gbviz: 1\nextends: base.yaml\nevents: []\nduration: null\n"
    assert read(file) == found


@pytest.mark.parametrize("name", ["a\0.yaml", "loop.yaml", "none/a.yaml", "a.txt", "dir.yaml"])
def test_places_that_cannot_be_saved_to(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "dir.yaml").mkdir()
    for what in (scenario(SMALL), {"gbviz": 1, "cluster": {"racks": 8}}):
        with pytest.raises(GbvizError):
            save(what, tmp_path / name)


def test_links_and_modes_stay(file: Path, tmp_path: Path) -> None:
    file.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(file.name)
    done = save(read(link).with_seed(1), link)
    assert link.is_symlink()
    assert read(file).seed == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert done.backup == file.with_name("a.yaml~")
    fresh = tmp_path / "fresh.yaml"
    old = os.umask(0o027)
    try:
        save(read(file), fresh)
    finally:
        os.umask(old)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o640
