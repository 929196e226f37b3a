"""`extends`: variants of a file, inside one folder only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from gbviz.errors import ScenarioError
from gbviz.scenario.extends import MOST_FILES
from gbviz.scenario.file import read
from tests.scenario.samples import EXAMPLE, SMALL

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "gbviz: 1\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a base, beside a file that nobody may reach."""
    folder = tmp_path / "root"
    (folder / "inner").mkdir(parents=True)
    (folder / "base.yaml").write_text(EXAMPLE)
    (folder / "inner" / "deep.yaml").write_text(HEAD + "extends: ../base.yaml\nseed: 9\n")
    (tmp_path / "secret.yaml").write_text(SMALL)
    return folder


def put(root: Path, text: str, name: str = "a.yaml") -> Path:
    file = root / name
    file.write_text(text)
    return file


def test_mappings_merge_and_lists_are_replaced(root: Path) -> None:
    file = put(
        root,
        HEAD
        + "extends: base.yaml\nname: variant\ncluster: {racks: 70}\n"
        + "events: [{at: 1, fail: leaf-0}]\n",
    )
    found, base = read(file), read(root / "base.yaml")
    assert found.name == "variant"
    assert (found.cluster.racks, found.cluster.uplinks_per_leaf) == (70, 72)
    assert [event.action.selector for event in found.events] == ["leaf-0"]
    assert found.jobs == base.jobs
    assert found.seed == 7
    assert found.text == file.read_text()


def test_a_chain_may_go_down_and_up_again(root: Path) -> None:
    found = read(put(root, HEAD + "extends: inner/deep.yaml\nrouting: spray\n"))
    assert (found.seed, found.routing, len(found.jobs)) == (9, "spray", 2)


def test_yaml_may_extend_json(root: Path) -> None:
    put(root, '{"gbviz": 1, "cluster": {"racks": 8}, "seed": 3}', "b.json")
    assert read(put(root, HEAD + "extends: b.json\n")).seed == 3


def test_faults_are_told_in_the_file_that_has_them(root: Path) -> None:
    put(
        root,
        EXAMPLE.replace("seed: 7", "seed: -7").replace("fail: hxu-9", "fail: hxu-99"),
        "b.yaml",
    )
    file = put(root, HEAD + "extends: b.yaml\nroutin: spray\ncluster:\n  racks: 0\n  spines: 0\n")
    with pytest.raises(ScenarioError) as caught:
        read(file)
    told = [
        (fault.file.rpartition("/")[2], fault.line, fault.path) for fault in caught.value.faults
    ]
    assert told == [
        ("a.yaml", 3, "routin"),
        ("a.yaml", 5, "cluster.racks"),
        ("a.yaml", 6, "cluster.spines"),
        ("b.yaml", 10, "seed"),
    ]


def test_a_list_belongs_to_one_file(root: Path) -> None:
    file = put(root, HEAD + "extends: base.yaml\nevents:\n  - {at: 1, fail: leaf-0, to: 3}\n")
    with pytest.raises(ScenarioError) as caught:
        read(file)
    (fault,) = caught.value.faults
    assert (fault.file, fault.line, fault.path) == (str(file), 4, "events[0].to")


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ("../secret.yaml", "'../secret.yaml' is outside the folder of the scenario, keep it in"),
        ("inner/../../secret.yaml", "is outside the folder of the scenario"),
        ("/etc/passwd", "'/etc/passwd' is not relative"),
        ("C:/a.yaml", "is not relative"),
        ("..\\\\secret.yaml", "is not relative"),
        ("link.yaml", "is outside the folder of the scenario"),
        ("linked/secret.yaml", "is outside the folder of the scenario"),
        ("a.yaml", "'a.yaml' leads back to a.yaml: a circle"),
        ("./inner/../a.yaml", "a circle"),
        ("round.yaml", "leads back to a.yaml: a circle"),
        ("pipe.yaml", "pipe.yaml is a pipe or device, not a file"),
        ("null.yaml", "is outside the folder of the scenario"),
        ("inner", "inner is not a scenario file, name it .yaml"),
        ("inner.yaml", "is a folder, not a file"),
        ("none.yaml", "none.yaml cannot be read: No such file or directory"),
        ("bas.yaml", "did you mean"),
        ("", "must be the name of a file beside this one"),
        ("a\\nb.yaml", "must be the name of a file beside this one"),
        ("x" * 300 + ".yaml", "a.yaml:2:"),
        ("loop.yaml", "a.yaml:2:"),
    ],
)
def test_what_may_not_be_extended(root: Path, tmp_path: Path, stated: str, says: str) -> None:
    (root / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (root / "linked").symlink_to(tmp_path, target_is_directory=True)
    (root / "null.yaml").symlink_to("/dev/zero")
    (root / "loop.yaml").symlink_to("loop.yaml")
    (root / "inner.yaml").mkdir()
    os.mkfifo(root / "pipe.yaml")
    put(root, HEAD + "extends: a.yaml\n", "round.yaml")
    with pytest.raises(ScenarioError) as caught:
        read(put(root, HEAD + f'extends: "{stated}"\n'))
    assert says in str(caught.value)


@pytest.mark.parametrize("value", ["5", "[base.yaml]", "{a: b}", "null", "true"])
def test_what_is_no_name(root: Path, value: str) -> None:
    with pytest.raises(ScenarioError, match=r"a\.yaml:2:10: extends: must be the name of a file"):
        read(put(root, HEAD + f"extends: {value}\n"))


def test_a_chain_is_not_endless(root: Path) -> None:
    for number in range(MOST_FILES):
        put(root, HEAD + f"extends: {number + 1}.yaml\n", f"{number}.yaml")
    put(root, SMALL, f"{MOST_FILES}.yaml")
    assert read(root / "1.yaml").cluster.racks == 8
    with pytest.raises(ScenarioError, match=r"15\.yaml:2:10: extends: is the last of 16 files"):
        read(root / "0.yaml")


def test_a_link_inside_the_folder_may_be_followed(root: Path) -> None:
    (root / "alias.yaml").symlink_to("base.yaml")
    assert read(put(root, HEAD + "extends: alias.yaml\n")).seed == 7


def test_the_folder_is_that_of_the_real_file(root: Path, tmp_path: Path) -> None:
    put(root, HEAD + "extends: base.yaml\n")
    (tmp_path / "short.yaml").symlink_to(root / "a.yaml")
    assert read(tmp_path / "short.yaml").seed == 7


def test_the_files_together_have_a_limit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gbviz.scenario.extends.MOST_BYTES", len(EXAMPLE) + 10)
    with pytest.raises(ScenarioError, match="makes the files larger than"):
        read(put(root, HEAD + "extends: base.yaml\n"))


def test_each_file_has_its_own_version(root: Path) -> None:
    put(root, SMALL.replace("gbviz: 1", "gbviz: 2"), "new.yaml")
    with pytest.raises(ScenarioError, match=r"new\.yaml:1:8: gbviz: was made by a newer gbviz"):
        read(put(root, HEAD + "extends: new.yaml\n"))
