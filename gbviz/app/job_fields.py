"""The fields of a job as text boxes hold them, from the models that read the file. No Qt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import numpy as np
from pydantic import BaseModel

from gbviz.errors import GbvizError
from gbviz.jobs.models import models
from gbviz.jobs.placement import place
from gbviz.jobs.traffic import PATTERNS, TrafficJob
from gbviz.scenario.emit import inline, item
from gbviz.scenario.wording import KINDS
from gbviz.scenario.yaml_subset import load_yaml
from gbviz.topology import build

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gbviz.jobs.spec import Placement
    from gbviz.scenario import Scenario

Key = tuple[str, ...]
Values = dict[str, Any]
Form = Literal["choice", "preset", "text", "number", "list"]

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
# What people fill in; the rest is folded away.
_FIRST: dict[str, tuple[str, ...]] = {
    "training": ("racks", "gpus_per_rack", "model", "parallelism", "batch", "seq", "precision"),
    "inference": ("racks", "model", "prefill", "decode", "input", "output", "precision"),
    "collective": ("racks", "op", "size", "algorithm"),
    "traffic": ("racks", "pattern", "argument", "pairs", "demand"),
}


@dataclass(frozen=True, slots=True)
class JobField:
    """One field of a kind of job.

    `key` is its path in the file, `choices` what it may be ("preset": and anything else), `usual`
    what holds where nothing is written, "" for nothing; `first` whether it is shown at once.
    """

    key: Key
    form: Form
    choices: tuple[str, ...]
    usual: str
    first: bool

    @property
    def group(self) -> str:
        """What it stands under, "" for the job itself."""
        return self.key[0] if len(self.key) > 1 else ""


def fields_of(kind: str) -> list[JobField]:
    """The fields of a kind of job, those that are shown at once in front.

    Examples
    --------
    >>> [".".join(field.key) for field in fields_of("collective") if field.first]
    ['racks', 'op', 'size', 'algorithm']
    """
    found = list(_fields(KINDS[kind], (), _FIRST[kind]))
    order = {name: number for number, name in enumerate(_FIRST[kind])}
    return sorted(found, key=lambda field: order.get(field.key[0], len(order)))


def _fields(model: type[BaseModel], above: Key, first: tuple[str, ...]) -> Iterable[JobField]:
    for name, info in model.model_fields.items():
        key = (*above, info.alias or name)
        if key in (("kind",), ("name",)):
            continue
        leaves = _leaves(info.annotation)
        inner = [leaf for leaf in leaves if isinstance(leaf, type) and issubclass(leaf, BaseModel)]
        if inner and str not in leaves:
            yield from _fields(inner[0], key, first)
            continue
        form, choices = _form(key, leaves)
        default = None if info.is_required() else info.get_default(call_default_factory=True)
        usual = "" if default is None else _shown(default)
        yield JobField(key, form, choices, usual, key[0] in first)


def _form(key: Key, leaves: list[Any]) -> tuple[Form, tuple[str, ...]]:
    words = tuple(leaf for leaf in leaves if isinstance(leaf, str))
    if words:
        return "choice", words
    if key == ("model",):
        return "preset", tuple(models())
    if key == ("pattern",):
        return "choice", tuple(PATTERNS)
    if str not in leaves:
        return "number", ()
    return ("list" if key[-1] in ("pairs", "gpus") else "text"), ()


def _leaves(annotation: Any) -> list[Any]:
    """The types, and the words of `Literal`, that an annotation is made of."""
    origin = get_origin(annotation)
    if origin is None:
        return [annotation]
    if origin is Literal:
        return list(get_args(annotation))
    parts = get_args(annotation)[:1] if origin is Annotated else get_args(annotation)
    return [leaf for part in parts for leaf in _leaves(part)]


def value_of(field: JobField, text: str) -> Any:
    """What a text box means in a file; None where it is empty.

    Numbers are read as numbers; whatever is none is passed on, for the file's checks to speak of.

    Examples
    --------
    >>> size = next(field for field in fields_of("collective") if field.key == ("size",))
    >>> value_of(size, "1GB"), value_of(size, "17"), value_of(size, " ")
    ('1GB', 17, None)
    """
    text = text.strip()
    if not text:
        return None
    if field.form == "number":
        return _number(text)
    if field.form == "list":
        several = field.key == ("pairs",) or "," in re.sub(r"\[[^\]]*\]", "", text)
        return re.split(r"\s*,\s*(?![^\[]*\])", text.strip(", ")) if several else text
    if field.form == "preset" and text.startswith("{"):
        try:
            return load_yaml(f"shape: {text}")["shape"]
        except GbvizError:
            return text
    if field.key == ("argument",) and _WHOLE.fullmatch(text):
        return int(text)
    return text


def text_of(field: JobField, job: Mapping[str, Any]) -> str:
    """What a text box shows of a job's fields."""
    value: Any = job
    for part in field.key:
        value = value.get(part) if isinstance(value, dict) else None
    return "" if value is None else _shown(value)


def job_of(kind: str, name: str, texts: Mapping[Key, str]) -> Values:
    """The fields of a job from its text boxes; empty ones are left out.

    Examples
    --------
    >>> job_of("training", "a", {("batch", "global"): "64", ("seq",): ""})
    {'name': 'a', 'kind': 'training', 'batch': {'global': 64}, 'parallelism': {}}
    """
    found: Values = {"name": name, "kind": kind}
    for field in fields_of(kind):
        value = value_of(field, texts.get(field.key, ""))
        if value is None:
            continue
        inner = found
        for part in field.key[:-1]:
            inner = inner.setdefault(part, {})
        inner[field.key[-1]] = value
    for part, info in KINDS[kind].model_fields.items():
        leaf = _leaves(info.annotation)[0]
        if info.is_required() and isinstance(leaf, type) and issubclass(leaf, BaseModel):
            # An empty group is told of by what is missing in it.
            found.setdefault(part, {})
    return found


def yaml_of(job: Values) -> str:
    """A job as it stands under `jobs:` in a file.

    Examples
    --------
    >>> print(yaml_of(job_of("collective", "a", {("size",): "1GB"})), end="")
      - {name: a, kind: collective, size: 1GB}
    """
    return item(job, 2) + "\n"


def gpus_needed(job: Mapping[str, Any]) -> int | None:
    """How many GPUs a job's own numbers ask for; None where it takes what it gets."""
    if job.get("kind") == "training":
        degrees = job.get("parallelism", {})
        sizes = [degrees.get(name, 1) for name in ("tp", "cp", "pp", "dp")]
    elif job.get("kind") == "inference":
        sizes = [job.get(pool, {}).get("gpus") for pool in ("prefill", "decode")]
    else:
        return None
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        return None
    return int(np.prod(sizes, dtype=object)) if job["kind"] == "training" else sum(sizes)


def free_racks(scenario: Scenario, number: int | None = None) -> list[int]:
    """Racks of which no job but that one uses any GPU; none where jobs collide."""
    jobs: list[tuple[str, Placement]] = []
    for at, job in enumerate(scenario.jobs):
        if isinstance(job, TrafficJob):
            # Patterns from the command line share GPUs with others.
            continue
        if at != number:
            jobs.append((job.name, job))
    fabric = build(scenario.cluster)
    free = np.ones((fabric.count("rack"), fabric.count("gpu") // fabric.count("rack")), dtype=bool)
    try:
        for placed in place(fabric, jobs):
            free.reshape(-1)[placed.gpus] = False
            free.reshape(-1)[placed.spares] = False
    except GbvizError:
        return []
    found: list[int] = np.flatnonzero(free.all(axis=1)).tolist()
    return found


def selector_of(racks: Iterable[int]) -> str:
    """The shortest selector of some racks.

    Examples
    --------
    >>> selector_of([0, 1, 2, 3, 8]), selector_of([7])
    ('rack-[0-3,8]', 'rack-7')
    """
    runs: list[list[int]] = []
    for rack in sorted(racks):
        if runs and rack == runs[-1][1] + 1:
            runs[-1][1] = rack
        else:
            runs.append([rack, rack])
    texts = [str(a) if a == b else f"{a}-{b}" for a, b in runs]
    alone = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"rack-{texts[0]}" if alone else f"rack-[{','.join(texts)}]"


def _number(text: str) -> int | float | str:
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if len(text) <= 40 and _NUMBER.fullmatch(text) else text


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return inline(value)
    if isinstance(value, list | tuple):
        return ", ".join(str(one) for one in value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
