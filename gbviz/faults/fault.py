"""A fault: one component that has failed or is degraded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gbviz.errors import InputError

if TYPE_CHECKING:
    from gbviz.topology.selectors import Part

# Below this rounding would decide what gets through.
LEAST = 1e-6

# What may run at part of its rate: links, NICs, a GPU's clock, a cooling unit's capacity.
DEGRADABLE = ("cable", "direction", "port", "cage", "nic", "gpu", "hxu", "cdu")

_INSTEAD = {
    "leaf": "degrade its cables: '{0}~spine-*'",
    "spine": "degrade its cables: 'leaf-*~{0}'",
    "core": "degrade its cables: 'spine-*~{0}'",
    "switch": "degrade its cables: '{0}~*'",
    "nvswitch": "degrade NVLink links of it: '*~{0}'",
    "tray": "degrade its NICs or GPUs: '{0}/nic-*'",
    "rack": "degrade its GPUs: '{0}/tray-*/gpu-*'",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault on one component.

    Parameters
    ----------
    component
        Name of what is broken.
    part
        Its kind: that of a node, or "cable", "direction", "port", "cage".
    factor
        What is left of it: 0 = failed, below 1 = degraded.
    nodes, links
        The node that it is, or the directed links that it is.
    because
        The component whose fault has this one as its consequence; None for a cause.
    """

    component: str
    part: str
    factor: float
    nodes: tuple[int, ...]
    links: tuple[int, ...]
    because: str | None = None

    @property
    def kind(self) -> Literal["fail", "degrade"]:
        """`fail` or `degrade`."""
        return "degrade" if self.factor > 0 else "fail"


def fault_on(part: Part, factor: float) -> Fault:
    """The fault that leaves `factor` of a part.

    Raises
    ------
    InputError
        A part of this kind is whole or dead, never degraded; or the factor is not in [0, 1].
    """
    if not 0 <= factor <= 1:
        raise InputError(
            f"a factor is from 0 (failed) to 1 (healthy), got {factor:g}", where=part.component
        )
    if 0 < factor < LEAST:
        raise InputError(
            f"a factor below {LEAST:g} is as good as failed (got {factor:g})",
            where=part.component,
            hint="fail it",
        )
    if factor > 0 and part.kind not in DEGRADABLE:
        hint = _INSTEAD.get(part.kind, "fail it, or degrade links, NICs, GPUs or cooling units")
        raise InputError(
            f"a {part.kind} cannot be degraded",
            where=part.component,
            hint=hint.format(part.component),
        )
    return Fault(part.component, part.kind, float(factor), part.nodes, part.links)
