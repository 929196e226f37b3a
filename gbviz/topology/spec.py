"""What a cluster is made of, as the user states it: sizes, not parts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gbviz.errors import InputError, did_you_mean
from gbviz.topology.catalogue import catalogue
from gbviz.topology.presets import preset_named

_FROZEN = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)


def _fact(name: str) -> Any:
    return Field(default_factory=lambda: catalogue().value(name))


def _count(name: str) -> Any:
    return Field(default_factory=lambda: int(catalogue().value(name)))


# pydantic's words and those for people; the longer of two that begin alike stands first.
_PLAIN = (
    ("Value error, ", ""),
    ("Input should be", "must be"),
    ("greater than or equal to", "at least"),
    ("less than or equal to", "at most"),
    ("greater than", "more than"),
    ("a valid integer", "a whole number"),
    ("a valid number", "a number"),
    ("a finite number", "finite"),
)
Positive = Annotated[float, Field(gt=0, le=1e9)]


class CoolingSpec(BaseModel):
    """How the racks are cooled.

    `hxu`: one liquid-to-air unit per rack, a loop of its own. `cdu`: `units` units share the
    `racks_per_loop` racks of a loop; the last loop may be smaller.
    """

    model_config = _FROZEN

    kind: Literal["hxu", "cdu"] = "hxu"
    """A liquid-to-air unit in each rack (`hxu`), or units that racks share (`cdu`)."""
    units: int = Field(default=0, ge=0, le=1000)
    """Cooling units of a loop, with `cdu`; 0 = `cooling.cdu_units_per_loop`."""
    racks_per_loop: int = Field(default=0, ge=0, le=100_000)
    """Racks of a loop, with `cdu`; 0 = `cooling.cdu_racks_per_loop`. The last loop has the rest."""
    capacity_kw: float = Field(default=0.0, ge=0, le=1e9)
    """Heat that one unit takes away; 0 = `cooling.hxu_capacity_kw` or `cooling.cdu_capacity_kw`."""
    set_point_c: float = Field(
        default_factory=lambda: catalogue().value("cooling.supply_set_point_c"), ge=-20, le=80
    )
    """Temperature of the coolant to the racks while the units keep up with the heat, by default
    `cooling.supply_set_point_c`."""

    @property
    def units_per_loop(self) -> int:
        """Cooling units in one loop: 1 for `hxu`, else as stated or the catalogue's number."""
        stated = 1 if self.kind == "hxu" else self.units
        return stated or int(catalogue().value("cooling.cdu_units_per_loop"))

    @property
    def racks_in_loop(self) -> int:
        """Racks that one loop cools: 1 for `hxu`, else as stated or the catalogue's number."""
        stated = 1 if self.kind == "hxu" else self.racks_per_loop
        return stated or int(catalogue().value("cooling.cdu_racks_per_loop"))

    @property
    def unit_kw(self) -> float:
        """Heat that one unit takes away, kW: as stated, else the catalogue's."""
        return self.capacity_kw or catalogue().value(f"cooling.{self.kind}_capacity_kw")


class ClusterSpec(BaseModel):
    """A cluster's sizes; everything not stated is the GB300 NVL72's, from the catalogue.

    Examples
    --------
    >>> spec = ClusterSpec(racks=64)
    >>> spec.n_gpus, spec.down_ports, spec.uplinks
    (4608, 72, 72)
    """

    model_config = _FROZEN

    racks: int = Field(ge=1, le=100_000)
    """Racks in the cluster; needed without a preset."""
    uplinks_per_leaf: int | None = Field(default=None, ge=1, le=10_000)
    """Cables from one leaf up; fewer than its NICs oversubscribe the fabric. By default as many as
    its ports down, so that the fabric is non-blocking."""
    trays_per_rack: int = _count("rack.compute_trays")
    """Compute trays in a rack, by default `rack.compute_trays`."""
    gpus_per_tray: int = _count("rack.gpus_per_tray")
    """GPUs in a tray, each with a NIC and a rail of its own; by default `rack.gpus_per_tray`."""
    radix: int = _count("switch.radix")
    """Ports of a switch, by default `switch.radix`; half of a leaf's go down."""
    spines: int | None = Field(default=None, ge=1, le=100_000)
    """Spines of a two-tier fabric, a divisor of the uplinks; by default the fewest that suffice."""
    leaves_per_pod: int | None = Field(default=None, ge=1, le=10_000)
    """Leaves of a pod of a three-tier fabric; by default the largest pod that divides the leaves
    evenly. Not beside `spines`."""
    port_GBps: Positive = _fact("switch.port_GBps")  # noqa: N815 the unit's own capitals
    """Rate of a switch port in one direction, by default `switch.port_GBps`."""
    cooling: CoolingSpec = CoolingSpec()
    """How the racks are cooled; by default a liquid-to-air unit in each."""

    @property
    def gpus_per_rack(self) -> int:
        """GPUs (and NICs) in one rack."""
        return self.trays_per_rack * self.gpus_per_tray

    @property
    def n_gpus(self) -> int:
        """GPUs in the cluster."""
        return self.racks * self.gpus_per_rack

    @property
    def down_ports(self) -> int:
        """Ports of a leaf that face NICs."""
        return self.radix // 2

    @property
    def uplinks(self) -> int:
        """Cables from one leaf up."""
        return self.down_ports if self.uplinks_per_leaf is None else self.uplinks_per_leaf


def cluster_spec(preset: str | None = None, **parts: object) -> ClusterSpec:
    """A checked spec from a preset's name and the parts that differ from it.

    Parameters
    ----------
    preset
        Name of a preset, or None to state the parts alone.
    **parts
        Fields of `ClusterSpec`; a part that is None is as not given.

    Raises
    ------
    InputError
        Unknown preset or field, or a value that cannot be: every fault is named.

    Examples
    --------
    >>> cluster_spec("azure-gb300", racks=8).racks
    8
    """
    values: dict[str, object] = dict(preset_named(preset).cluster) if preset else {}
    values |= {key: value for key, value in parts.items() if value is not None}
    try:
        return ClusterSpec.model_validate(values)
    except ValidationError as error:
        raise InputError(describe(error), where="cluster") from None


def describe(error: ValidationError) -> str:
    """All faults of a pydantic error in one line for people: field, what is wrong, what was got."""
    known = list(ClusterSpec.model_fields) + list(CoolingSpec.model_fields)
    lines = []
    for fault in error.errors(include_url=False):
        path = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden":
            lines.append(f"{path} is not known, {did_you_mean(str(fault['loc'][-1]), known)}")
        elif fault["type"] == "missing":
            lines.append(f"{path} is missing")
        else:
            lines.append(f"{path} {_plain(fault['msg'])} (got {_short(fault['input'])})")
    return "; ".join(lines)


def _plain(message: str) -> str:
    """`must be at least 1` for pydantic's `Input should be greater than or equal to 1`."""
    for theirs, ours in _PLAIN:
        message = message.replace(theirs, ours)
    return message


def _short(value: object, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "..."
