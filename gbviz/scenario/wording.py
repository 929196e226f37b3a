"""What pydantic finds wrong, in words for people and with paths of the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gbviz.errors import did_you_mean
from gbviz.jobs.spec import CollectiveJob, InferenceJob, TrafficSpec, TrainingJob
from gbviz.scenario.described import models_of
from gbviz.scenario.extends import Complaint
from gbviz.scenario.form import Form

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from gbviz.scenario.strict import Path

KINDS: dict[str, type[BaseModel]] = {
    "training": TrainingJob,
    "inference": InferenceJob,
    "collective": CollectiveJob,
    "traffic": TrafficSpec,
}
_LONGEST = 40
_WHOLE = "must be a whole number"
_NUMBER = "must be a number"
_LIST = "must be a list"
_FIELDS = "must hold fields"
_SAYS = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": _FIELDS,
    "finite_number": "must be finite",
    "float_parsing": _NUMBER,
    "float_type": _NUMBER,
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _WHOLE,
    "int_type": _WHOLE,
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "list_type": _LIST,
    "literal_error": "is not one of its values",
    "model_attributes_type": _FIELDS,
    "model_type": _FIELDS,
    "string_pattern_mismatch": "holds control characters",
    "string_too_long": "has more than {max_length:,} characters",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "too_long": "has more than {max_length:,} entries",
    "tuple_type": _LIST,
}
# Of a field that may be text or something else, these say only that it is not the other one.
_EITHER = frozenset(
    kind for kind, says in _SAYS.items() if says in (_WHOLE, _LIST, _FIELDS, "must be text")
)


def complaints_of(errors: Iterable[ErrorDetails], data: dict[str, Any]) -> list[Complaint]:
    """Pydantic's errors as complaints about fields of a file.

    Parameters
    ----------
    errors
        From validating `data` as a `Form`.
    data
        What the file holds.

    Returns
    -------
    list of Complaint
        One for each field: where a field may have several types, what is wrong is said once.
    """
    found: dict[Path, list[tuple[str, Complaint]]] = {}
    for error in errors:
        field = _field(error, data)
        found.setdefault(field, []).append((error["type"], _complaint(error, field, data)))
    inner = {field[:end] for field in found for end in range(len(field))}
    complaints = []
    for field, listed in found.items():
        if field in inner:
            # It is one of its types, and what is wrong is inside of it.
            listed = [(kind, one) for kind, one in listed if kind not in _EITHER]
        complaints += _together(listed)
    return complaints


def shown(value: object) -> str:
    """A value as messages show it: short, on one line.

    Examples
    --------
    >>> shown("x" * 50), shown([1, 2]), shown(None), shown(True)
    ("'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'", 'a list', 'nothing', 'true')
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "fields"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    quote = text[-1] if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST + 2 else f"{text[: _LONGEST + 1]}...{quote}"


def _field(error: ErrorDetails, data: dict[str, Any]) -> Path:
    """The path of the field that an error is about, without pydantic's names of types."""
    field: list[str | int] = []
    value: Any = data
    loc = error["loc"]
    for number, part in enumerate(loc):
        if number == 2 and loc[0] == "jobs":
            # The job's kind, which is no part of the path.
            continue
        if _holds(value, part):
            value = value[part]
        elif not (error["type"] == "missing" and number == len(loc) - 1):
            continue
        field.append(part)
    if error["type"] == "union_tag_invalid":
        field.append("kind")
    return tuple(field)


def _holds(box: Any, part: str | int) -> bool:
    if isinstance(part, int):
        return isinstance(box, list) and part < len(box)
    return isinstance(box, dict) and part in box


def _complaint(error: ErrorDetails, field: Path, data: dict[str, Any]) -> Complaint:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "missing":
        hint = "state it, or a preset" if field == ("cluster", "racks") else ""
        return Complaint(field, "is missing", hint)
    if kind == "extra_forbidden":
        hint = did_you_mean(str(field[-1]), _known(field[:-1], data))
        return Complaint(field, "is not known", hint, at_key=True)
    if kind == "union_tag_not_found":
        return Complaint((*field, "kind"), "is missing", "choose one of: " + ", ".join(KINDS))
    if kind == "union_tag_invalid":
        word = error["input"].get("kind") if isinstance(error["input"], dict) else None
        hint = did_you_mean(str(word)[:60], KINDS)
        return Complaint(field, f"there is no kind of job {shown(word)}", hint)
    if kind == "preset":
        return Complaint(field, context["says"], context["hint"])
    if kind == "value_error":
        return Complaint(field, str(context["error"]))
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", context["expected"])
        hint = did_you_mean(str(error["input"])[:60], choices)
        return Complaint(field, f"{_SAYS[kind]} (got {shown(error['input'])})", hint)
    return _plain(error, field)


def _plain(error: ErrorDetails, field: Path) -> Complaint:
    kind, value = error["type"], error["input"]
    says = _SAYS.get(kind)
    text = error["msg"][:1].lower() + error["msg"][1:]
    if says is not None:
        text = says.format(**{name: _short(one) for name, one in error.get("ctx", {}).items()})
    hint = ""
    if kind == "string_type" and isinstance(value, int | float):
        hint = f'quote it: "{shown(value)}"'
    return Complaint(field, f"{text} (got {shown(value)})", hint)


def _short(limit: object) -> object:
    """A limit without a needless `.0`."""
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def _together(listed: list[tuple[str, Complaint]]) -> list[Complaint]:
    """One complaint of those about one field that may have several types."""
    one_of = [one for kind, one in listed if kind in _EITHER]
    others = [one for kind, one in listed if kind not in _EITHER]
    if not one_of:
        return others[:1]
    says = [one.message.partition(" (got")[0].removeprefix("must be ") for one in one_of]
    got = one_of[0].message.partition(" (got")[2]
    text = "must be " + " or ".join(dict.fromkeys(says)) if len(one_of) > 1 else ""
    first = one_of[0]
    if not text:
        return [first]
    return [Complaint(first.field, text.replace("must hold", "hold") + f" (got{got}", first.hint)]


def _known(field: Path, data: dict[str, Any]) -> list[str]:
    """The names of the fields that may stand in a mapping of a file."""
    model: type[BaseModel] | None = Form
    value: Any = data
    for part in field:
        value = value[part]
        if isinstance(part, int):
            if model is None and isinstance(value, dict):
                model = KINDS.get(str(value.get("kind")))
        elif model is not None:
            named = {info.alias or name: info for name, info in model.model_fields.items()}
            inner = models_of(named[part].annotation) if part in named else []
            model = inner[0] if len(inner) == 1 else None
    if model is None:
        return []
    return [info.alias or name for name, info in model.model_fields.items()]
