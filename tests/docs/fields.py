"""Tables of a scenario file's fields, as its JSON Schema has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gbviz.jobs.spec import Placement
from gbviz.jobs.traffic import PATTERNS
from gbviz.routing.modes import MODES
from gbviz.scenario.described import described, facts_in, reached
from gbviz.scenario.document import _duration
from gbviz.scenario.expect import COOLING, FABRIC, JOB, TOTALS
from gbviz.scenario.form import Form
from gbviz.scenario.schema import _QUANTITIES, schema
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SCHEMA = schema()
_QUANTITY = {"s": "duration", "B": "size", "GB/s": "rate", "C": "temperature", "kW": "power"}
# Where on the page a model has its own section.
_SECTION = {
    "CoolingPart": "cooling",
    "ClusterPart": "cluster",
    "EventPart": "events",
    "Transformer": "a-model-of-your-own",
    "Parallelism": "parallelism",
    "Batch": "batch",
    "Checkpoint": "checkpoint",
    "Pool": "pools",
}
_WORDS: dict[str, Mapping[Any, str]] = {
    "routing": MODES,
    "patterns": PATTERNS,
    "fabric": FABRIC,
    "cooling": COOLING,
    "totals": TOTALS,
    **JOB,
}


def rows(head: Iterable[str], body: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), *map(list, body)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def table(name: str) -> str:
    """The fields of a model: what they may be, their defaults and their meaning."""
    where = {*described(Placement)}
    if name == "Placement":
        part = _SCHEMA["$defs"]["TrafficSpec"]
        fields = {key: own for key, own in part["properties"].items() if key in where}
    else:
        part = _SCHEMA["$defs"].get(name, _SCHEMA)
        shared = where if issubclass(reached(Form)[name], Placement) else set()
        fields = {key: own for key, own in part["properties"].items() if key not in shared}
    needed = part.get("required", [])
    body = [
        (f"`{key}`", _may_be(own), _default(key, own, needed), own["description"])
        for key, own in fields.items()
    ]
    return rows(("key", "may be", "default", "meaning"), body)


def quantities(_: str) -> str:
    """Units of every kind of quantity."""
    body = [
        (_QUANTITY[base], ", ".join(f"`{unit}`" for unit in units), base)
        for _, units, base in _QUANTITIES
    ]
    return rows(("quantity", "units", "a number alone is in"), body)


def words(name: str) -> str:
    """Words that a field takes, or figures that a limit may be set to."""
    return rows(("name", "meaning"), [(f"`{key}`", text) for key, text in _WORDS[name].items()])


def facts(_: str) -> str:
    """The facts of the hardware catalogue that fields have as their defaults."""
    texts = [text for model in reached(Form).values() for text in described(model).values()]
    named = dict.fromkeys(name for text in texts for name in facts_in(text))
    body = []
    for name in named:
        fact = catalogue()[name]
        unit = "" if fact.unit == "1" else f" {fact.unit}"
        body.append((f"`{name}`", f"{fact.value:g}{unit}", f"{fact.mark}: {fact.source}"))
    return rows(("fact", "value", "where it comes from"), body)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "<br>")


def _default(key: str, own: dict[str, Any], needed: list[str]) -> str:
    if key == "cluster":
        return "needed, here or in the file that this one extends"
    if key in needed:
        return "needed"
    value = own.get("default")
    if value is None or isinstance(value, dict) or value in ("", []):
        return ""
    if _quantity(own) == "s":
        return f"`{_duration(value)}`"
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    whole = isinstance(value, float) and value.is_integer()
    return f"`{int(value) if whole else value}`"


def _quantity(own: dict[str, Any]) -> str:
    """The base unit of a quantity, "" of anything else."""
    for one in [own, *own.get("anyOf", [])]:
        found = [each.get("description", "") for each in one.get("anyOf", [])]
        if found and found[0].startswith("In "):
            return str(found[0]).removeprefix("In ").removesuffix(".")
    return ""


def _may_be(own: dict[str, Any]) -> str:
    if base := _quantity(own):
        number = next(one for one in _choices(own) if one.get("type") == "number")
        return f"[{_QUANTITY[base]}](#quantities){_range(number, f' {base}')}"
    return " or ".join(dict.fromkeys(_one(one) for one in _choices(own)))


def _choices(own: dict[str, Any]) -> list[dict[str, Any]]:
    """The types that a field may have, null left out: that is the same as no field."""
    inner = own.get("anyOf") or own.get("oneOf")
    if inner is None:
        return [] if own.get("type") == "null" else [own]
    return [choice for one in inner for choice in _choices(one)]


def _one(own: dict[str, Any]) -> str:
    if "const" in own:
        return f"`{own['const']}`"
    if "enum" in own:
        return ", ".join(f"`{word}`" for word in own["enum"])
    if "$ref" in own:
        section = _SECTION[own["$ref"].rpartition("/")[2]]
        return f"[fields](#{section})"
    kind = own["type"]
    if kind == "array":
        return f"list of {' or '.join(_inside(own['items']))}"
    if kind in ("integer", "number"):
        return ("whole number" if kind == "integer" else "number") + _range(own)
    if kind == "boolean":
        return "`true`, `false`"
    return "text"


def _inside(items: dict[str, Any]) -> list[str]:
    if "discriminator" in items:
        return ["[jobs](#jobs)"]
    if "$ref" in items:
        return ["[events](#events)"]
    return ["[limits](#expect)"] if items["type"] == "object" else ["texts"]


def _range(own: dict[str, Any], unit: str = "") -> str:
    """From where to where, the bounds that only keep arithmetic sane left out."""
    said = []
    if "minimum" in own:
        said.append(f"from {own['minimum']:,}")
    if "exclusiveMinimum" in own:
        said.append(f"above {own['exclusiveMinimum']:,}")
    if own.get("maximum", 1e6) < 1e6:
        said.append(f"to {own['maximum']:,}")
    return f", {' '.join(said)}{unit}" if said else ""
