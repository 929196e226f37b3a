"""`gbviz` and `gbviz FILE` where there is no display: an answer in words, kept where it may be."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_run import GOOD

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="displays of Linux")
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def headless(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in _DISPLAYS}
    return subprocess.run(
        [sys.executable, "-m", "gbviz", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env=env,
        check=False,
        timeout=120,
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "leaf.yaml").write_text(GOOD)
    return tmp_path


def test_a_file_is_answered_and_kept(here: Path) -> None:
    for _ in range(2):  # its own folder is filled again
        ran = headless(here, "leaf.yaml")
        assert ran.returncode == 0
        assert "Conservation check: ok" in ran.stdout
        assert "leaf-report/index.html: 1 report" in ran.stderr
        assert names(here) == ["leaf-report", "leaf.yaml"]
        assert (here / "leaf-report/leaf/report.html").exists()
        assert [path.stem for path in here.glob("leaf-report/leaf.*")] == ["leaf"]


def test_the_demo_is_answered_and_kept(here: Path) -> None:
    ran = headless(here)
    assert ran.returncode == 0
    assert "leaf-30" in ran.stdout
    assert names(here) == ["gbviz-demo-report", "leaf.yaml"]
    assert (here / "gbviz-demo-report/report.html").exists()


@pytest.mark.parametrize("words", [["no.yaml"], ["bad.yaml"]])
def test_a_file_without_an_answer_leaves_nothing(here: Path, words: list[str]) -> None:
    (here / "bad.yaml").write_text("gbviz: 7")
    before = names(here)
    ran = headless(here, *words)
    assert ran.returncode == 2
    assert words[0] in ran.stderr
    assert names(here) == before


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_not_ours_is_left_alone(here: Path, kind: str) -> None:
    there = here / "leaf-report"
    if kind == "file":
        there.write_text("mine")
    elif kind == "folder":
        there.mkdir()
        (there / "index.html").write_text("mine")
    else:
        there.symlink_to(here / "nothing")
    ran = headless(here, "leaf.yaml")
    assert ran.returncode == 0
    assert "Conservation check: ok" in ran.stdout
    assert "no report is kept: leaf-report is there already" in ran.stderr
    assert names(here) == ["leaf-report", "leaf.yaml"]
    if kind == "folder":
        assert names(there) == ["index.html"]
        assert (there / "index.html").read_text() == "mine"
