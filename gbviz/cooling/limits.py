"""How much power the parts of a rack or loop allow its GPUs, and whose fault it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling.machine import machine

if TYPE_CHECKING:
    from gbviz.topology.fabric import Bools, Fabric, Floats, Ints
    from gbviz.topology.health import Health

# Demand above supply by less than this share is rounding, not a shortage.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The U shelves or cooling units of each of n racks or loops: (n, U), and kW of a whole one."""

    factor: Floats
    cause: Ints
    unit_kw: float


def parts_of(fabric: Fabric, health: Health, kind: str, owners: int, unit_kw: float) -> Parts:
    """The parts of one kind, of which each owner has the same number."""
    nodes = fabric.nodes(kind)
    return Parts(
        health.node_factor[nodes].reshape(owners, -1),
        health.node_cause[nodes].reshape(owners, -1),
        unit_kw,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """What n racks or loops allow: W for each of their GPUs, 0 to shut all down, and the cause."""

    cap_w: Floats
    cause: Ints


def limit(drawn_w: Floats, fixed_kw: Floats, parts: Parts, ceiling_w: float = np.inf) -> Limit:
    """Limit GPUs (n, k) so that with the fixed power (n,) they fit what the parts give."""
    idle_w = machine().idle_w
    available_kw = parts.unit_kw * parts.factor.sum(axis=1)
    asked_kw = fixed_kw + drawn_w.sum(axis=1) / 1000
    short = np.flatnonzero(asked_kw > available_kw * (1 + ROUNDING))
    cap_w = np.full(len(fixed_kw), ceiling_w)
    cause = np.full(len(fixed_kw), -1, dtype=np.int32)
    if len(short):
        budget_w = 1000 * (available_kw[short] - fixed_kw[short])
        cap_w[short] = _water_level(drawn_w[short], budget_w)
        low = short[cap_w[short] <= idle_w]
        idle_kw = fixed_kw[low] + idle_w * np.count_nonzero(drawn_w[low], axis=1) / 1000
        cause[low] = _last_straw(parts.factor[low], parts.cause[low], idle_kw / parts.unit_kw)
    cap_w[cap_w <= idle_w] = 0
    return Limit(cap_w, cause)


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """What R racks of k GPUs may draw before heat has its say.

    Parameters
    ----------
    own, active, asked_w
        (R, k) the GPUs' own clocks, their activity in [0, 1], and W at full clock.
    drawn_w
        (R, k) W that the shelves leave of it.
    on
        (R,) True for a rack that is whole and has power.
    limit
        Of the shelves.
    """

    own: Floats
    active: Floats
    asked_w: Floats
    drawn_w: Floats
    on: Bools
    limit: Limit


def draw(
    fabric: Fabric, health: Health, activity: Floats | None, ceiling_w: float = np.inf
) -> Draw:
    """What feeds and shelves allow GPUs none of which draws more than a ceiling."""
    law, racks = machine(), fabric.count("rack")
    own = health.factor(fabric, "gpu").reshape(racks, -1)
    active = np.broadcast_to(
        np.float64(1.0) if activity is None else activity.reshape(own.shape), own.shape
    )
    asked = law.power_w(own, active)
    on = health.up(fabric, "rack")
    shelves = parts_of(fabric, health, "shelf", racks, law.shelf_kw)
    drawn = np.minimum(asked, ceiling_w)
    power = limit(drawn, np.where(on, law.fixed_kw, 0.0), shelves)
    drawn = np.minimum(drawn, power.cap_w[:, None])
    return Draw(own, active, asked, drawn, on & (power.cap_w > 0), power)


def units_of(fabric: Fabric, health: Health) -> Parts:
    """Cooling units of all loops, in kW of the power of racks: what stays in the air is extra."""
    assert fabric.spec is not None
    cooling = fabric.spec.cooling
    unit_kw = cooling.unit_kw / machine().liquid_share
    return parts_of(fabric, health, cooling.kind, fabric.count("loop"), unit_kw)


def _water_level(drawn_w: Floats, budget_w: Floats) -> Floats:
    """Cap of each row (n, k) that brings its sum down to the budget (n,).

    With the i lowest in full, the others share what is left; the first i at which that share is
    no more than the next one asks for is the answer. GPUs that draw 0 come first and cost nothing.
    """
    rows = np.sort(drawn_w, axis=1)
    lower = np.cumsum(rows, axis=1) - rows
    share = (budget_w[:, None] - lower) / np.arange(rows.shape[1], 0, -1)
    first = np.argmax(share <= rows, axis=1)
    level: Floats = share[np.arange(len(rows)), first]
    return level


def _last_straw(factor: Floats, cause: Ints, need: Floats) -> Ints:
    """Oldest fault (n,) that, with all before it, leaves no more than `need` parts.

    -1 where the parts would not do if whole.
    """
    order = np.argsort(cause, axis=1, kind="stable")
    lost = np.cumsum(np.take_along_axis(1 - factor, order, axis=1), axis=1)
    short = factor.shape[1] - lost <= need[:, None]
    first = np.argmax(short, axis=1)[:, None]
    number = np.take_along_axis(np.take_along_axis(cause, order, axis=1), first, axis=1)[:, 0]
    return np.where(short[:, -1] & (need < factor.shape[1]), number, -1)


def by_loop(drawn_w: Floats, per_loop: int) -> Floats:
    """GPUs of racks (R, k) as GPUs of loops; a last loop that is smaller is filled with 0."""
    racks, gpus = drawn_w.shape
    missing = -racks % per_loop
    if missing:
        drawn_w = np.concatenate([drawn_w, np.zeros((missing, gpus))])
    return drawn_w.reshape(-1, per_loop * gpus)
