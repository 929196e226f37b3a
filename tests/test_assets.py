from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from gbviz import assets
from gbviz.assets import asset_path
from gbviz.errors import GbvizError
from tests.cli import spawn

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["catalogue.toml", "presets.toml"])
def test_what_is_shipped_is_found_and_can_be_read(name: str) -> None:
    assert tomllib.loads(asset_path(name).read_text(encoding="utf-8"))


def test_an_installed_copy_comes_before_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed, checkout = tmp_path / "assets_data", tmp_path / "assets"
    monkeypatch.setattr(assets, "_FOLDERS", (installed, checkout))
    for folder in (checkout, installed):
        folder.mkdir()
        (folder / "x.toml").touch()
        assert asset_path("x.toml") == folder / "x.toml"


@pytest.mark.parametrize("name", ["nothing.toml", "", "."])
def test_what_is_missing_is_named(name: str) -> None:
    with pytest.raises(GbvizError, match="is missing: install gbviz again") as caught:
        asset_path(name)
    assert repr(name) in str(caught.value)


def test_the_command_says_so_too(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys; from gbviz import assets\n"
        f"assets._FOLDERS = (pathlib.Path({str(tmp_path)!r}),)\n"
        "from gbviz.cli.main import run; sys.exit(run(['presets']))"
    )
    ran = spawn(code=code)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("gbviz: the data file '")
    assert ran.stderr.endswith("' is missing: install gbviz again\n")


def test_scenarios_are_found_in_an_installed_copy_and_in_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(assets.scenario_paths()) >= 12
    installed, checkout = tmp_path / "scenarios_data", tmp_path / "scenarios"
    monkeypatch.setattr(assets, "_SCENARIOS", (installed, checkout))
    assert assets.scenario_paths() == ()
    for folder in (checkout, installed):
        folder.mkdir()
        (folder / "b.yaml").touch()
        (folder / "a.yaml").touch()
        (folder / "c.txt").touch()
        assert assets.scenario_paths() == (folder / "a.yaml", folder / "b.yaml")
