from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from gbviz.app import settings
from gbviz.app.settings import SavedView, Settings
from gbviz.errors import InputError

EVERYTHING = Settings(
    theme="light",
    font_scale=1.5,
    ramp="cividis",
    links="cables",
    colour_by="job",
    reduced_motion=True,
    autosave=False,
    recent=("/tmp/a.yaml", "/tmp/ü.yaml"),
    geometry="AdnQ",
    window="AAAA",
    saved_views=(SavedView("row B hot", {"zoom": 2.5, "at": [1, 2]}),),
    seen_hints=("spine",),
)


def _file() -> Path:
    path = settings.config_dir() / "settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(autouse=True)
def _fresh() -> None:
    for old in _file().parent.iterdir():
        old.unlink()


def test_every_field_has_a_reader_and_is_kept() -> None:
    defaults = Settings()
    assert all(
        getattr(EVERYTHING, one.name) != getattr(defaults, one.name) for one in fields(Settings)
    )
    settings.save(EVERYTHING)
    assert settings.load() == (EVERYTHING, "")


def test_nothing_there_is_the_defaults() -> None:
    assert settings.load() == (Settings(), "")


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "[" * 100_000, "\udcff"])
def test_a_broken_file_is_set_aside(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    _file().write_bytes(data)
    found, note = settings.load()
    aside = _file().with_name("settings.json.bad")
    assert found == Settings()
    assert str(aside) in note
    assert aside.read_bytes() == data
    assert settings.load() == (Settings(), "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "pink"),
        ("theme", 1),
        ("font_scale", 0.5),
        ("font_scale", True),
        ("font_scale", float("nan")),
        ("ramp", None),
        ("reduced_motion", "false"),
        ("recent", "a.yaml"),
        ("saved_views", {"a": 1}),
    ],
)
def test_one_wrong_value_has_its_default_and_the_others_stay(name: str, value: object) -> None:
    found = settings.parsed({"colour_by": "health", name: value})
    assert getattr(found, name) == getattr(Settings(), name)
    assert found.colour_by == "health"


def test_wrong_items_of_lists_are_left_out() -> None:
    found = settings.parsed({"recent": ["a", 1, "b\0"], "saved_views": [{"name": "x"}, 3]})
    assert found.recent == ("a",)
    assert found.saved_views == ()


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@hypothesis_settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from([one.name for one in fields(Settings)]), _VALUES))
def test_no_values_break_it_and_what_is_read_is_written_the_same(data: dict[str, Any]) -> None:
    found = settings.parsed(data)
    settings.save(found)
    assert json.loads(_file().read_text())["theme"] == found.theme
    assert repr(settings.load()[0]) == repr(found)


def test_recent_files_are_ten_and_each_once() -> None:
    found = Settings()
    for number in (*range(15), 14, 12):
        found = found.with_recent(Path(f"/{number}.yaml"))
    assert found.recent[:3] == ("/12.yaml", "/14.yaml", "/13.yaml")
    assert len(found.recent) == len(set(found.recent)) == 10


def test_a_folder_that_cannot_be_made_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match="cannot be made"):
        settings.save(Settings())
