"""The JSON Schema of scenario files: completion and checks in editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from pydantic.json_schema import GenerateJsonSchema

from gbviz import units
from gbviz.jobs.traffic import PATTERNS
from gbviz.routing.modes import MODES
from gbviz.scenario.contradictions import VERBS
from gbviz.scenario.described import described, reached, with_facts
from gbviz.scenario.expect import COOLING, FABRIC, JOB, SUBJECTS, TOTALS, Subject
from gbviz.scenario.extends import KEY as EXTENDS
from gbviz.scenario.form import Form
from gbviz.scenario.migrate import CURRENT, KEY
from gbviz.topology.presets import presets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import BaseModel
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema


def _choices(words: Mapping[Any, str]) -> str:
    return "".join(f"\n{word}: {text}." for word, text in words.items())


_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER = r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?"
_LIMIT = r"^\s*(<=|>=|==|!=|<|>)\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"
_QUANTITIES = (
    (units.Seconds, units.DURATIONS, "s"),
    (units.Bytes, units.SIZES, "B"),
    (units.GBps, units.RATES, "GB/s"),
    (units.Celsius, units.TEMPERATURES, "C"),
    (units.Kilowatts, units.POWERS, "kW"),
)
_ABOUT: dict[Subject, str] = {
    "job": "Name of a job of the file.",
    "fabric": "A figure of the fabric at the end." + _choices(FABRIC),
    "cooling": "Name of a cooling loop, such as `loop-0`.",
    "totals": "What the timeline adds up to, beside the name of a job." + _choices(TOTALS),
}
# Pydantic leaves ranges beside a choice of types, under its own names.
_RANGES = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
}


def schema() -> dict[str, Any]:
    """A JSON Schema, draft 2020-12, that every right scenario file keeps.

    What concerns several fields (products, components that exist, names used twice) no schema
    says; `gbviz check` does.

    Examples
    --------
    >>> number, text = schema()["$defs"]["Checkpoint"]["properties"]["interval"]["anyOf"]
    >>> number["exclusiveMinimum"], text["type"]
    (0, 'string')
    """
    found: dict[str, Any] = Form.model_json_schema(schema_generator=_Generator)
    _tidied(found)
    for name, model in reached(Form).items():
        _describe(found["$defs"].get(name, found), model)
    properties = found["properties"]
    properties[KEY] = {"const": CURRENT, "description": properties[KEY]["description"]}
    properties[EXTENDS] = {
        "type": "string",
        "minLength": 1,
        "description": "Another scenario file in this folder, whose fields hold where this one "
        "states none: mappings are merged, lists replaced.",
    }
    properties["expect"]["items"] = _expectation()
    properties["routing"]["description"] += _choices(MODES)
    found["$defs"]["TrafficSpec"]["properties"]["pattern"]["description"] += _choices(PATTERNS)
    _cluster(found["$defs"]["ClusterPart"])
    _event(found["$defs"]["EventPart"])
    # What a file leaves out may stand in the file that it extends.
    found["required"] = [KEY]
    found["anyOf"] = [{"required": ["cluster"]}, {"required": [EXTENDS]}]
    head = {"$schema": _DIALECT, "title": "gbviz scenario"}
    return head | {key: value for key, value in found.items() if key not in head}


class _Generator(GenerateJsonSchema):
    """Quantities may be numbers, or texts with a unit."""

    def function_before_schema(
        self, schema: core_schema.BeforeValidatorFunctionSchema
    ) -> JsonSchemaValue:
        """The schema of a value that is read before it is checked."""
        found = super().function_before_schema(schema)
        known = _by_function().get(schema["function"]["function"])
        return found if known is None else _quantity(found, *known)


def _by_function() -> dict[Callable[..., Any], tuple[dict[str, float], str]]:
    return {get_args(alias)[1].func: (names, base) for alias, names, base in _QUANTITIES}


def _quantity(found: JsonSchemaValue, names: dict[str, float], base: str) -> JsonSchemaValue:
    some = "|".join(names)
    return {
        "anyOf": [
            {**found, "description": f"In {base}."},
            {
                "type": "string",
                "pattern": rf"^\s*{_NUMBER}\s*({some})?\s*$",
                "description": "A number with one of: " + ", ".join(names),
            },
        ]
    }


def _tidied(part: Any) -> None:
    """Put ranges where they belong, and drop titles that only repeat the fields' names."""
    if isinstance(part, list):
        for one in part:
            _tidied(one)
    if not isinstance(part, dict):
        return
    if isinstance(part.get("title"), str):
        del part["title"]
    if "anyOf" in part:
        ranges = {_RANGES[key]: part.pop(key) for key in list(part) if key in _RANGES}
        number = next((one for one in part["anyOf"] if one.get("type") == "number"), None)
        if number is not None:
            number.update(ranges)
    for one in part.values():
        _tidied(one)


def _describe(part: dict[str, Any], model: type[BaseModel]) -> None:
    """Say what a model is, what its fields mean, and the defaults that the catalogue has."""
    part["description"] = (model.__doc__ or "").strip().partition("\n")[0]
    texts = described(model)
    for name, info in model.model_fields.items():
        key = info.alias or name
        own = part["properties"][key]
        own["description"] = with_facts(texts.get(key, ""))
        if info.default_factory is not None:
            own["default"] = info.get_default(call_default_factory=True, validated_data={})


def _cluster(part: dict[str, Any]) -> None:
    given = part["properties"].pop("preset")
    preset = {"enum": list(presets()), "description": given["description"]}
    part["properties"] = {"preset": preset, **part["properties"]}
    # A preset, or the file that this one extends, may state them.
    del part["required"]


def _event(part: dict[str, Any]) -> None:
    properties = part["properties"]
    for name in (*VERBS, "to", "for"):
        given = next(one for one in properties[name]["anyOf"] if one != {"type": "null"})
        properties[name] = given | {"description": properties[name]["description"]}
    properties["restore"] = {"const": "all", "description": properties["restore"]["description"]}
    part["oneOf"] = [{"required": [verb]} for verb in VERBS]
    part["dependentRequired"] = {"degrade": ["to"]}


def _expectation() -> dict[str, Any]:
    names: dict[str, Any] = {"fabric": {"enum": list(FABRIC)}, "totals": {"enum": list(TOTALS)}}
    choices = []
    for subject in SUBJECTS:
        figures = _figures(subject)
        limits = {name: _limit(text) for name, text in figures.items()}
        choice: dict[str, Any] = {
            "required": [subject],
            "properties": {
                subject: names.get(subject, {"type": "string"}) | {"description": _ABOUT[subject]},
                **limits,
            },
            "additionalProperties": _limit("Limit on the total of the job of this name."),
        }
        if subject != "totals":
            choice["propertyNames"] = {"enum": [subject, *figures]}
            choice["additionalProperties"] = False
        choices.append(choice)
    return {"type": "object", "minProperties": 2, "oneOf": choices}


def _figures(subject: Subject) -> dict[str, str]:
    """What may have a limit beside a subject, with its meaning; a total has jobs there."""
    if subject == "job":
        return {
            name: "; ".join(dict.fromkeys(own[name] for own in JOB.values() if name in own))
            for name in sorted({name for own in JOB.values() for name in own})
        }
    if subject == "cooling":
        return COOLING
    return {"value": "limit on that figure"}


def _limit(text: str) -> dict[str, Any]:
    text = text[:1].upper() + text[1:]
    return {"type": "string", "pattern": _LIMIT, "description": f"{text.removesuffix('.')}."}
