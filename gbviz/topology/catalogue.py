"""The hardware catalogue: every figure of the machine, with where it comes from."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, cast, get_args

from gbviz.assets import asset_path, parse_tables
from gbviz.errors import GbvizError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Mark = Literal["sourced", "derived", "assumed"]

_FILE = "catalogue.toml"
_REQUIRED = ("value", "unit", "mark", "source")


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure and how far to trust it.

    Parameters
    ----------
    name
        Section and name, joined by dots: ``"gpu.power_max_w"``.
    value
        Finite number, in `unit`.
    unit
        Unit or thing counted; ``"1"`` for a plain ratio.
    mark
        ``"sourced"``: printed in the named source. ``"derived"``: follows from other figures.
        ``"assumed"``: a placeholder.
    source
        Document or address; the formula of a derived fact; the reason of an assumed one.
    note
        What to know besides; may be empty.
    """

    name: str
    value: float
    unit: str
    mark: Mark
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Facts by name, in the order of their file; iterating gives the facts.

    Parameters
    ----------
    facts
        Read-only map from full name to fact.

    Examples
    --------
    >>> facts = catalogue()
    >>> facts["gpu.power_max_w"].mark, facts.value("gpu.power_max_w")
    ('sourced', 1400.0)
    >>> "gpu.power_max_w" in facts, "gpu.colour" in facts
    (True, False)
    """

    facts: Mapping[str, Fact]

    def __getitem__(self, name: str) -> Fact:
        try:
            return self.facts[name]
        except KeyError:
            raise GbvizError(
                f"the hardware catalogue has no {name!r}; {did_you_mean(name, self.facts)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self.facts

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts.values())

    def __len__(self) -> int:
        return len(self.facts)

    def value(self, name: str) -> float:
        """Value of one fact, in its unit.

        Raises
        ------
        GbvizError
            No fact of that name.
        """
        return self[name].value

    def section(self, name: str) -> dict[str, Fact]:
        """Facts of one section, by their name within it.

        Raises
        ------
        GbvizError
            No section of that name.

        Examples
        --------
        >>> section = catalogue().section("failures.nic")
        >>> section["mtbf_h"].name, section["mtbf_h"].value
        ('failures.nic.mtbf_h', 1460000.0)
        """
        start = f"{name}."
        found = {
            key.removeprefix(start): fact
            for key, fact in self.facts.items()
            if key.startswith(start)
        }
        if not found:
            sections = dict.fromkeys(key.rpartition(".")[0] for key in self.facts)
            raise GbvizError(
                f"the hardware catalogue has no section {name!r}; {did_you_mean(name, sections)}"
            )
        return found


@functools.cache
def catalogue() -> Catalogue:
    """Catalogue that gbviz ships, read once.

    Raises
    ------
    GbvizError
        The data file is missing or damaged; the text names the entry.
    """
    return parse_catalogue(asset_path(_FILE).read_text(encoding="utf-8"))


def parse_catalogue(text: str) -> Catalogue:
    r"""Catalogue from the text of a TOML file.

    Parameters
    ----------
    text
        Tables of entries ``{value, unit, mark, source}`` and an optional ``note``; tables may
        hold tables.

    Raises
    ------
    GbvizError
        Not TOML, an entry twice, a key missing or unknown, or a value that is no finite number.

    Examples
    --------
    >>> text = '[gpu]\npower_max_w = {value = 1400, unit = "W", mark = "assumed", source = "-"}'
    >>> parse_catalogue(text).value("gpu.power_max_w")
    1400.0
    """
    tables = parse_tables(_FILE, text)
    return Catalogue(MappingProxyType({fact.name: fact for fact in _facts("", tables)}))


def _facts(path: str, table: Mapping[str, object]) -> Iterator[Fact]:
    for key, entry in table.items():
        name = f"{path}.{key}" if path else key
        if not isinstance(entry, dict):
            raise _fault(name, "must be a table of entries, or an entry with a value")
        if path and not any(isinstance(part, dict) for part in entry.values()):
            yield _fact(name, entry)
        else:
            yield from _facts(name, entry)


def _fact(name: str, entry: Mapping[str, object]) -> Fact:
    missing = [key for key in _REQUIRED if key not in entry]
    if missing:
        raise _fault(name, f"lacks {', '.join(missing)}")
    texts = {key: value for key, value in entry.items() if key != "value"}
    for key, text in texts.items():
        if key not in (*_REQUIRED, "note"):
            raise _fault(name, f"has an unknown key {key!r}")
        if not isinstance(text, str) or not text.strip():
            raise _fault(name, f"{key} must be a text that is not empty")
    if texts["mark"] not in get_args(Mark):
        raise _fault(name, f"mark must be one of {', '.join(get_args(Mark))}")
    strings = cast("dict[str, str]", texts)
    return Fact(
        name=name,
        value=_number(name, entry["value"]),
        unit=strings["unit"],
        mark=cast("Mark", strings["mark"]),
        source=strings["source"],
        note=strings.get("note", ""),
    )


def _number(name: str, value: object) -> float:
    most = sys.float_info.max
    if isinstance(value, int | float) and not isinstance(value, bool) and -most <= value <= most:
        return float(value)
    raise _fault(name, f"value must be a finite number (got {value!r})")


def _fault(name: str, what: str) -> GbvizError:
    return GbvizError(f"{_FILE}: {name}: {what}")
