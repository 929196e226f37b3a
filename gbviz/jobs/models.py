"""Transformers that come with gbviz, by name."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from gbviz.assets import asset_path, parse_tables
from gbviz.errors import GbvizError, InputError, did_you_mean
from gbviz.jobs.spec import Transformer

_FILE = "models.toml"
_PARTS = {"title", "source", "total_billions", "active_billions", "shape"}


@dataclass(frozen=True, slots=True)
class ModelPreset:
    """A published transformer.

    Parameters
    ----------
    name
        What a scenario writes after ``model:``.
    title
        Its name as people write it.
    source
        Where its shape is published.
    total_billions, active_billions
        Published weights: all, and those of one token; the same of a dense model.
    shape
        The model itself.
    """

    name: str
    title: str
    source: str
    total_billions: float
    active_billions: float
    shape: Transformer


@functools.cache
def models() -> dict[str, ModelPreset]:
    """All models by name, in the order of their file, read once.

    Raises
    ------
    GbvizError
        The data file is missing or damaged; the text names the entry.

    Examples
    --------
    >>> list(models())[:3]
    ['llama3-8b', 'llama3-70b', 'llama3-405b']
    """
    return parse_models(asset_path(_FILE).read_text(encoding="utf-8"))


def model_named(name: str) -> Transformer:
    """Shape of the model of that name.

    Raises
    ------
    InputError
        There is none; the text suggests the nearest name.

    Examples
    --------
    >>> model_named("llama3-405b").layers
    126
    >>> model_named("llama-405b")
    Traceback (most recent call last):
    gbviz.errors.InputError: model: there is no 'llama-405b'; did you mean 'llama3-405b'?
    """
    known = models()
    if name not in known:
        raise InputError(f"there is no {name!r}", where="model", hint=did_you_mean(name, known))
    return known[name].shape


def parse_models(text: str) -> dict[str, ModelPreset]:
    """Models from the text of a TOML file: one table each.

    Raises
    ------
    GbvizError
        Not TOML, a model twice, or an entry that lacks a part or has an unknown or impossible one.
    """
    tables = parse_tables(_FILE, text)
    return {name: _model(name, entry) for name, entry in tables.items()}


def _model(name: str, entry: object) -> ModelPreset:
    if not isinstance(entry, Mapping) or not entry.keys() >= _PARTS - {"active_billions"}:
        raise GbvizError(f"{_FILE}: {name}: must have title, source, total_billions and shape")
    if unknown := entry.keys() - _PARTS:
        raise GbvizError(f"{_FILE}: {name}: has an unknown key {min(unknown)!r}")
    try:
        shape = Transformer.model_validate(entry["shape"])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise GbvizError(f"{_FILE}: {name}: shape.{place}: {first['msg']}") from None
    total = float(entry["total_billions"])
    active = float(entry.get("active_billions", total))
    return ModelPreset(name, str(entry["title"]), str(entry["source"]), total, active, shape)
