"""What each field of a scenario file means, read from below the fields where they are declared."""

from __future__ import annotations

import ast
import inspect
import re
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

# Texts of fields name facts of the hardware catalogue so: `switch.radix`.
_FACT = re.compile(r"`([a-z_]+\.[A-Za-z0-9_.]+)`")


def models_of(annotation: Any) -> list[type[BaseModel]]:
    """The models that a type is made of, not those of their fields.

    Examples
    --------
    >>> from gbviz.scenario.form import EventPart
    >>> models_of(tuple[EventPart, ...] | None) == [EventPart]
    True
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_of(part)]


def reached(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """A model and all that its fields lead to, by name, in the order in which they are met."""
    found = {model.__name__: model}
    for info in model.model_fields.values():
        for inner in models_of(info.annotation):
            found |= {k: v for k, v in reached(inner).items() if k not in found}
    return found


def described(model: type[BaseModel]) -> dict[str, str]:
    """What a model's fields mean, by the names that files have for them.

    Parameters
    ----------
    model
        Its fields are followed by their text, or those of a class that it inherits.

    Notes
    -----
    Read from the source when somebody asks: pydantic's `use_attribute_docstrings` would read it
    whenever the module is imported, which costs every command 40 ms. Without sources (a frozen
    program) there are no texts.

    Examples
    --------
    >>> from gbviz.jobs.spec import Batch
    >>> described(Batch)["micro"]
    'Sequences of a microbatch.'
    """
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            texts |= dict(_texts(base))
    fields = model.model_fields.items()
    return {info.alias or name: texts[name] for name, info in fields if name in texts}


def with_facts(text: str) -> str:
    """A text with the values of the catalogue's facts that it names.

    Examples
    --------
    >>> with_facts("Ports of a switch, by default `switch.radix`.")
    'Ports of a switch, by default `switch.radix` (144 ports).'
    """
    return _FACT.sub(lambda match: f"{match[0]} ({_value(match[1])})", text)


def facts_in(text: str) -> list[str]:
    """The names of the facts that a text names."""
    return _FACT.findall(text)


def _value(name: str) -> str:
    fact = catalogue()[name]
    return f"{fact.value:g}" if fact.unit == "1" else f"{fact.value:g} {fact.unit}"


def _texts(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Fields of the class itself that a text follows."""
    try:
        body = ast.parse(inspect.getsource(inspect.getmodule(model) or model)).body
    except (OSError, TypeError):
        return
    own = next(one for one in body if isinstance(one, ast.ClassDef) and one.name == model.__name__)
    for field, text in zip(own.body, own.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match text:
                case ast.Expr(ast.Constant(str() as words)):
                    yield field.target.id, " ".join(words.split())
