"""The form of a scenario file: its fields, their types and ranges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from gbviz.errors import did_you_mean
from gbviz.faults.partition import Policy
from gbviz.jobs.spec import Job, Name, Selector
from gbviz.routing.modes import Mode
from gbviz.scenario.event import LONGEST_S
from gbviz.scenario.scenario import LARGEST_SEED
from gbviz.scenario.strict import MOST_FAULTS
from gbviz.topology.catalogue import catalogue
from gbviz.topology.presets import presets
from gbviz.topology.spec import ClusterSpec, CoolingSpec
from gbviz.units import Celsius, GBps, Kilowatts, Seconds

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_FORM = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
MOST_JOBS, MOST_EVENTS, MOST_EXPECTATIONS = 10_000, 100_000, 10_000

T = TypeVar("T")
# Lines and tabs, but no other control characters.
Text = Annotated[
    str, Field(max_length=100_000, pattern=r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$")
]


class CoolingPart(CoolingSpec):
    """How the racks are cooled; quantities may have units."""

    # What they mean is said by the fields that these stand for.
    capacity_kw: Annotated[Kilowatts, Field(ge=0, le=1e9)] = 0.0
    set_point_c: Annotated[Celsius, Field(ge=-20, le=80)] = Field(
        default_factory=lambda: catalogue().value("cooling.supply_set_point_c")
    )


class ClusterPart(ClusterSpec):
    """A preset, and the parts that differ from it; or the parts alone.

    Parts of the cooling change the preset's one by one, unless they change its kind.
    """

    preset: str | None = None
    """A cluster that gbviz knows by name; the other fields change parts of it."""
    port_GBps: Annotated[GBps, Field(gt=0, le=1e9)] = Field(  # noqa: N815 the unit's own capitals
        default_factory=lambda: catalogue().value("switch.port_GBps")
    )
    cooling: CoolingPart = CoolingPart()

    @model_validator(mode="before")
    @classmethod
    def _over_preset(cls, value: object) -> object:
        if not isinstance(value, dict) or value.get("preset") is None:
            return value
        if not isinstance(value["preset"], str) or value["preset"] not in presets():
            # One complaint is enough: what the preset would have given is not missed.
            return {"racks": 1, **value}
        given = presets()[value["preset"]].cluster
        found = {**given, **value}
        own, stated = value.get("cooling"), given.get("cooling", {})
        if isinstance(own, dict) and own.get("kind", stated.get("kind")) == stated.get("kind"):
            found["cooling"] = {**stated, **own}
        return found

    @field_validator("preset")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        if value is not None and value not in presets():
            says = f"there is no preset {value[:60]!r}"
            hint = did_you_mean(value, presets())
            raise PydanticCustomError("preset", "{says}", {"says": says, "hint": hint})
        return value

    def spec(self) -> ClusterSpec:
        """The cluster as everything else takes it."""
        return ClusterSpec.model_validate(self.model_dump(exclude_unset=True, exclude={"preset"}))


class EventPart(BaseModel):
    """One event: a time, one of the five verbs with its selector, and what the verb takes."""

    model_config = _FORM

    at: Annotated[Seconds, Field(ge=0, le=LONGEST_S)]
    """When it happens, from the start; not after `duration`."""
    fail: Selector | None = None
    """Selector of what fails: it carries, computes or cools nothing any more."""
    degrade: Selector | None = None
    """Selector of what runs on at a part of its rate; `to` says how much is left."""
    flap: Selector | None = None
    """Selector of what goes up and down: it counts at the part of the time that it is up, `to`."""
    repair: Selector | None = None
    """Selector of what is mended; it must have a fault then."""
    restore: Selector | None = None
    """`all`: nothing has a fault any more."""
    to: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    """The part that is left, from 0 to 1: `degrade` needs it, `flap` takes 0.5 without it."""
    lasts: Annotated[Seconds, Field(gt=0, le=LONGEST_S)] | None = Field(default=None, alias="for")
    """How long the fault lasts before it is repaired; by default until something else repairs it.
    Not beside `repair` and `restore`."""


class Form(BaseModel):
    """A whole scenario file."""

    model_config = _FORM

    gbviz: int
    """Format version of the file."""
    name: Name | None = None
    """What the scenario is called; by default the file's name."""
    description: Text = ""
    """What it is about, for people; nothing is computed from it."""
    cluster: ClusterPart
    """The machine."""
    routing: Mode = "adaptive"
    """How switches choose among paths."""
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED, strict=True)] = 0
    """Seed of everything random: hashes of paths, random traffic patterns."""
    nvlink_policy: Policy = "adaptive"
    """What a rack's NVLink does when damaged: run on with what is left (`adaptive`), or go down for
    a lost ASIC and park a GPU for a lost link (`full-bandwidth`)."""
    jobs: Annotated[tuple[Job, ...], Field(max_length=MOST_JOBS)] = ()
    """What runs on it, all at once; no two jobs share a GPU."""
    events: Annotated[tuple[EventPart, ...], Field(max_length=MOST_EVENTS)] = ()
    """What happens to it; of events at one time the earlier in the list comes first."""
    duration: Annotated[Seconds, Field(gt=0, le=LONGEST_S)] | None = None
    """How long the scenario lasts; by default until its last event."""
    expect: Annotated[tuple[dict[str, Any], ...], Field(max_length=MOST_EXPECTATIONS)] = ()
    """Limits that the results must keep: `gbviz run` exits with 1 where one is not kept."""


@dataclass(slots=True)
class Parts:
    """Those parts of a file that are right by themselves, with their places in its lists.

    `cluster` is None where it is not right; so is `form`, where anything is not.
    """

    form: Form | None = None
    cluster: ClusterSpec | None = None
    jobs: dict[int, Job] = field(default_factory=dict)
    events: dict[int, EventPart] = field(default_factory=dict)
    expect: dict[int, dict[str, Any]] = field(default_factory=dict)
    duration: float | None = None


_CLUSTER = TypeAdapter(ClusterPart)
_JOB: TypeAdapter[Job] = TypeAdapter(Job)
_EVENT = TypeAdapter(EventPart)
_EXPECT = TypeAdapter(dict[str, Any])
_DURATION: TypeAdapter[float] = TypeAdapter(Seconds)


def parts_of(data: dict[str, Any]) -> tuple[Parts, list[ErrorDetails]]:
    """The parts of a file that are right by themselves, and what is wrong with the others.

    Entries of lists are read one by one, since pydantic would list all that is wrong with very many
    of them before anybody could stop it.
    """
    errors: list[ErrorDetails] = []
    parts = Parts(
        jobs=_listed(_JOB, "jobs", data, MOST_JOBS, errors),
        events=_listed(_EVENT, "events", data, MOST_EVENTS, errors),
        expect=_listed(_EXPECT, "expect", data, MOST_EXPECTATIONS, errors),
    )
    rest = {
        key: value
        for key, value in data.items()
        if key not in ("jobs", "events", "expect") or not isinstance(value, list)
    }
    try:
        form = Form.model_validate(rest)
    except ValidationError as error:
        errors = error.errors(include_url=False) + errors
        cluster = _one(_CLUSTER, data.get("cluster"))
        parts.cluster = None if cluster is None else cluster.spec()
        parts.duration = _one(_DURATION, data.get("duration"))
        return parts, errors
    parts.cluster, parts.duration = form.cluster.spec(), form.duration
    if not errors:
        parts.form = form.model_copy(
            update={
                "jobs": tuple(parts.jobs.values()),
                "events": tuple(parts.events.values()),
                "expect": tuple(parts.expect.values()),
            }
        )
    return parts, errors


def _one(adapter: TypeAdapter[T], value: object) -> T | None:
    try:
        return adapter.validate_python(value)
    except ValidationError:
        return None


def _listed(
    adapter: TypeAdapter[T],
    name: str,
    data: dict[str, Any],
    most: int,
    errors: list[ErrorDetails],
) -> dict[int, T]:
    """The right entries of a list by their places; what is wrong with others, up to very many."""
    values = data.get(name)
    if not isinstance(values, list):
        return {}
    if len(values) > most:
        text = f"has more than {most:,} entries"
        error: ErrorDetails = {"type": "too_long", "loc": (name,), "msg": text, "input": values}
        errors.append(error | {"ctx": {"max_length": most}})
        return {}
    found: dict[int, T] = {}
    for number, value in enumerate(values):
        try:
            found[number] = adapter.validate_python(value)
        except ValidationError as error:
            listed = error.errors(include_url=False)
            errors += [one | {"loc": (name, number, *one["loc"])} for one in listed]
            if len(errors) > MOST_FAULTS:
                break
    return found
