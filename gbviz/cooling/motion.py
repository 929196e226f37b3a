"""How the temperatures of one loop move, exactly, for as long as its GPUs keep their modes.

While every GPU either draws a constant power or holds its die at the limit, a loop is a linear
network of masses and resistances. GPUs of one mode differ from their mean by constants only, so
the mean of each mode and the supply make a system of at most four masses, and each class of GPUs
its own small distance from the mean. Resistances are the same both ways, so all rates are real.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.cooling.machine import Machine
    from gbviz.topology.fabric import Bools, Floats, Ints

# A mode slower than this share of the fastest is a steady ramp.
_NO_RATE = 1e-13


@dataclass(frozen=True, slots=True)
class Masses:
    """Heat capacities and resistances of a GPU.

    Parameters
    ----------
    die, plate
        J/K.
    across_w_per_k
        Die to plate.
    out_w_per_k
        Plate to the supply, half the coolant's rise included.
    """

    die: float
    plate: float
    across_w_per_k: float
    out_w_per_k: float


@functools.lru_cache(maxsize=2)
def masses(law: Machine) -> Masses:
    """The catalogue's, so that die to supply add up to the resistance of the steady state."""
    value = catalogue().value
    across = value("cooling.r_die_plate_k_per_w")
    return Masses(
        value("cooling.c_die_j_per_k"),
        value("cooling.c_plate_j_per_k"),
        1 / across,
        1 / (law.r_eff_k_per_w - across),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """One loop with its GPUs in K classes of equal power and history.

    Parameters
    ----------
    count
        (K,) GPUs of each class.
    power_w
        (K,) what each draws; not used where it holds.
    holds
        (K,) True for GPUs that draw whatever keeps their die where it is.
    die_c, plate_c, supply_c
        (K,), (K,) and a number: temperatures now.
    flows
        False where no cooling unit is live: plates give nothing to the loop.
    free_w
        None while the supply is held; else the rest of the loop's balance: W that racks put into
        the liquid besides their GPUs, less what the units take away.
    liquid_j_per_k
        Heat capacity of its liquid.
    liquid_share
        Share of the plates' heat that the liquid takes up.
    masses
        Of a GPU.
    """

    count: Floats
    power_w: Floats
    holds: Bools
    die_c: Floats
    plate_c: Floats
    supply_c: float
    flows: bool
    free_w: float | None
    liquid_j_per_k: float
    liquid_share: float
    masses: Masses

    @property
    def out_w_per_k(self) -> float:
        """Plate to supply; 0 where nothing flows."""
        return self.masses.out_w_per_k if self.flows else 0.0

    @property
    def moves(self) -> bool:
        """True where the supply does."""
        return self.flows and self.free_w is not None


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Temperatures as ``start + coefficients @ shape(t)``, M modes of constant rates.

    Parameters
    ----------
    rates
        (M,) 1/s, at least 0; 0 for what moves steadily.
    die, plate, supply
        (K, M), (K, M) and (M,) K/s of each mode at the start.
    """

    rates: Floats
    die: Floats
    plate: Floats
    supply: Floats

    def shape(self, times_s: Floats) -> Floats:
        """(M, T) the integral of ``e^(-rate t)`` from 0 to each time, s."""
        return self.shaping()(times_s)

    def shaping(self) -> Callable[[Floats | float], Floats]:
        """`shape`, to be asked for again and again: a root takes it some 55 times."""
        rates = self.rates[:, None]
        if self.rates.all():
            back = -rates
            return lambda times_s: np.expm1(back * times_s) / back
        steady = rates == 0

        def at(times_s: Floats | float) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore"):
                grown = -np.expm1(-(rates * times_s)) / rates
            return np.where(steady, times_s, grown)

        return at

    def of(self, modes: Ints) -> Motion:
        """Some of its modes alone."""
        some = self.die[:, modes], self.plate[:, modes], self.supply[modes]
        return Motion(self.rates[modes], *some)

    def slope(self, times_s: Floats | float) -> Floats:
        """(M, T) ``e^(-rate t)``."""
        fading: Floats = np.exp(-(self.rates[:, None] * times_s))
        return fading

    def area(self, time_s: float) -> Floats:
        """(M,) the integral of `shape` from 0 to a time, s²."""
        x = self.rates * time_s
        series = 0.5 - x / 6 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6)))
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = (x + np.expm1(-x)) / (x * x)
        return time_s**2 * np.where(x < 1e-2, series, whole)


def motion(loop: Loop) -> Motion:
    """Solve one loop. Cost: an eigenvalue problem of at most 4 x 4, and K times 7 numbers."""
    mass, out, K = loop.masses, loop.out_w_per_k, len(loop.count)
    across = mass.across_w_per_k
    passing = across * (loop.die_c - loop.plate_c)
    leaving = out * (loop.plate_c - loop.supply_c)
    die_rate = np.where(loop.holds, 0.0, (loop.power_w - passing) / mass.die)
    plate_rate = (passing - leaving) / mass.plate
    supply_rate = 0.0
    if loop.moves and loop.free_w is not None:
        taken = loop.liquid_share * float(loop.count @ leaving)
        supply_rate = (taken + loop.free_w) / loop.liquid_j_per_k
    drawing, holding = ~loop.holds, loop.holds
    mean = _means(loop, die_rate, plate_rate, supply_rate)
    alone, weights, inverse = _alone(mass, out)
    rates = np.concatenate([mean.rates, alone])
    die, plate = np.zeros((K, len(rates))), np.zeros((K, len(rates)))
    supply = np.zeros(len(rates))
    own = len(mean.rates)
    supply[:own] = mean.supply
    die[drawing, :own], plate[drawing, :own] = mean.die, mean.plate
    plate[holding, :own] = mean.held
    apart = np.stack([die_rate - mean.die.sum(), plate_rate - mean.plate.sum()])[:, drawing]
    part = inverse @ apart
    die[drawing, own : own + 2] = (weights[0][:, None] * part).T
    plate[drawing, own : own + 2] = (weights[1][:, None] * part).T
    plate[holding, own + 2] = plate_rate[holding] - mean.held.sum()
    return Motion(rates, die, plate, supply)


@functools.lru_cache(maxsize=4)
def _alone(mass: Masses, out: float) -> tuple[Floats, Floats, Floats]:
    """Three rates of GPUs over a supply that stays: two that draw, and one of a plate that holds.

    And the modes of those that draw as columns, and their inverse.
    """
    across = mass.across_w_per_k
    rates, modes = _symmetric(np.diag([mass.die, mass.plate]), _pair(across, out))
    held = np.array([(across + out) / mass.plate])
    inverse = np.asarray(np.linalg.inv(modes), dtype=np.float64)
    return np.concatenate([rates, held]), modes, inverse


def _pair(across: float, out: float) -> Floats:
    """Conductances of die and plate, with the supply as ground."""
    return np.array([[across, -across], [-across, across + out]])


def _symmetric(capacity: Floats, conductance: Floats) -> tuple[Floats, Floats]:
    """Rates, and modes as columns, of ``C x' = -G x``."""
    root = np.sqrt(np.diag(capacity))
    rates, modes = np.linalg.eigh(conductance / np.outer(root, root))
    rates = np.where(rates < _NO_RATE * rates[-1], 0.0, rates)
    return rates, modes / root[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class _Means:
    """Modes of the mean GPU that draws, of the mean plate that holds, and of the supply."""

    rates: Floats
    die: Floats
    plate: Floats
    held: Floats
    supply: Floats


def _means(loop: Loop, die_rate: Floats, plate_rate: Floats, supply_rate: float) -> _Means:
    """The coupled system of the means; what does not exist has no modes."""
    mass, out, across = loop.masses, loop.out_w_per_k, loop.masses.across_w_per_k
    drawing = float(loop.count[~loop.holds].sum())
    holding = float(loop.count[loop.holds].sum())
    liquid = loop.liquid_j_per_k / loop.liquid_share
    capacity = [drawing * mass.die, drawing * mass.plate, holding * mass.plate, liquid]
    joined = np.zeros((4, 4))
    joined[:2, :2] = drawing * _pair(across, out)
    joined[2, 2] = holding * (across + out)
    joined[3, 3] = (drawing + holding) * out
    joined[1, 3] = joined[3, 1] = -drawing * out
    joined[2, 3] = joined[3, 2] = -holding * out
    there = np.array([drawing > 0, drawing > 0, holding > 0, loop.moves])
    if not there.any():
        nothing = np.zeros(0)
        return _Means(nothing, nothing, nothing, nothing, nothing)
    kept = np.flatnonzero(there)
    rates, modes = _symmetric(np.diag(capacity)[np.ix_(kept, kept)], joined[np.ix_(kept, kept)])
    start = np.array(
        [
            _mean(die_rate, loop.count, ~loop.holds),
            _mean(plate_rate, loop.count, ~loop.holds),
            _mean(plate_rate, loop.count, loop.holds),
            supply_rate,
        ]
    )
    # Modes are orthogonal by capacity: a mode's weight is its share of the heat at the start.
    weights = modes.T @ (np.array(capacity)[kept] * start[kept])
    full = np.zeros((4, len(rates)))
    full[kept] = modes * weights
    return _Means(rates, *full)


def _mean(values: Floats, count: Floats, where: Bools) -> float:
    total = float(count[where].sum())
    return float(count[where] @ values[where]) / total if total else 0.0
