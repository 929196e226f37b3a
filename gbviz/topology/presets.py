"""Clusters that come with gbviz, by name."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gbviz.assets import asset_path, parse_tables
from gbviz.errors import GbvizError, InputError, did_you_mean

_FILE = "presets.toml"
_TEXTS = ("title", "description", "source")


@dataclass(frozen=True, slots=True)
class Preset:
    """A ready-made cluster.

    Parameters
    ----------
    name
        What a scenario writes after ``preset:``.
    title, description
        A few words; one sentence.
    source
        Where its sizes come from, or that they are assumed.
    cluster
        What a scenario's ``cluster`` section may say: `racks`, `cooling`. Shared by all
        callers: copy it before changing it.
    """

    name: str
    title: str
    description: str
    source: str
    cluster: dict[str, Any]


@functools.cache
def presets() -> dict[str, Preset]:
    """All presets by name, in the order of their file, read once.

    Raises
    ------
    GbvizError
        The data file is missing or damaged; the text names the entry.

    Examples
    --------
    >>> list(presets())
    ['azure-gb300', 'gb300-su', 'gb300-cdu', 'gb300-27k', 'gb300-100k']
    """
    return parse_presets(asset_path(_FILE).read_text(encoding="utf-8"))


def preset_named(name: str) -> Preset:
    """Preset of that name.

    Raises
    ------
    InputError
        There is none; the text suggests the nearest name.

    Examples
    --------
    >>> preset_named("azure-gb300").cluster["racks"]
    64
    >>> preset_named("azure-gb30")
    Traceback (most recent call last):
    gbviz.errors.InputError: preset: there is no 'azure-gb30'; did you mean 'azure-gb300'?
    """
    known = presets()
    if name not in known:
        raise InputError(f"there is no {name!r}", where="preset", hint=did_you_mean(name, known))
    return known[name]


def parse_presets(text: str) -> dict[str, Preset]:
    """Presets from the text of a TOML file: one table each.

    Raises
    ------
    GbvizError
        Not TOML, a preset twice, or an entry that lacks a part or has an unknown one.
    """
    tables = parse_tables(_FILE, text)
    return {name: _preset(name, entry) for name, entry in tables.items()}


def _preset(name: str, entry: object) -> Preset:
    if not isinstance(entry, Mapping) or set(entry) != {*_TEXTS, "cluster"}:
        raise GbvizError(f"{_FILE}: {name}: must have {', '.join(_TEXTS)}, cluster and no more")
    for key in _TEXTS:
        if not isinstance(entry[key], str) or not entry[key].strip():
            raise GbvizError(f"{_FILE}: {name}: {key} must be a text that is not empty")
    if not isinstance(entry["cluster"], dict) or "racks" not in entry["cluster"]:
        raise GbvizError(f"{_FILE}: {name}: cluster must be a table with racks")
    return Preset(
        name, entry["title"], entry["description"], entry["source"], dict(entry["cluster"])
    )
