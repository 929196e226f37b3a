"""Die, plate and coolant of one GPU as masses joined by resistances: warm-up and lost flow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gbviz.cooling.heat import checked

if TYPE_CHECKING:
    from gbviz.topology.fabric import Floats

_COLDEST_C = -273.15


@dataclass(frozen=True, slots=True)
class FlowLost:
    """A die and its plate from the moment when the coolant stands still.

    Parameters
    ----------
    power_w
        Constant, W.
    die_c, plate_c
        °C at the start.
    r_die_plate_k_per_w
        Between the two, K/W.
    c_die_j_per_k, c_plate_j_per_k
        Heat capacities, J/K; the plate's may count the coolant trapped in it.

    Notes
    -----
    With C the sum of the capacities and x = P R C_c / C the plate's lag behind the die once both
    rise alike, ``die(t) = mean(0) + P t / C + (C_c / C) (x + (die(0) - plate(0) - x) e^(-t/tau))``,
    ``tau = R C_d C_c / C``. It may fall at first, after power was cut, and never falls again once
    it rises.

    Examples
    --------
    A GPU at 1,400 W at rest on a supply of 40 °C: 5 s to the throttle limit, 7 s to shutdown.

    >>> start = FlowLost(1400, 77.38, 77.38 - 1400 * 0.008, 0.008, 150, 450)
    >>> round(start.time_to_s(87), 2), round(start.time_to_s(92), 2), round(start.ramp_k_per_s, 3)
    (5.02, 7.17, 2.333)
    """

    power_w: float
    die_c: float
    plate_c: float
    r_die_plate_k_per_w: float
    c_die_j_per_k: float
    c_plate_j_per_k: float

    def __post_init__(self) -> None:
        checked("power_w", self.power_w)
        checked("die_c", self.die_c, least=_COLDEST_C)
        checked("plate_c", self.plate_c, least=_COLDEST_C)
        for name in ("r_die_plate_k_per_w", "c_die_j_per_k", "c_plate_j_per_k"):
            checked(name, getattr(self, name), above=True)

    @property
    def ramp_k_per_s(self) -> float:
        """How fast both warm once the plate follows the die."""
        return self.power_w / (self.c_die_j_per_k + self.c_plate_j_per_k)

    def at(self, time_s: float) -> tuple[float, float]:
        """Die and plate after so many seconds, °C."""
        time = checked("time_s", time_s)
        fading, last = self._fading()
        tau = self._tau_s()
        share = self._share()
        mean = self.die_c * (1 - share) + self.plate_c * share + self.ramp_k_per_s * time
        apart = last + fading * math.exp(-time / tau)
        return mean + share * apart, mean - (1 - share) * apart

    def time_to_s(self, die_c: float) -> float:
        """First time at which the die is so warm, to the last bit; inf for never.

        Notes
        -----
        Bisection of the closed form, which is monotone after its one minimum.
        """
        wanted = checked("die_c", die_c, least=_COLDEST_C)
        if self.die_c >= wanted:
            return 0.0
        low = self._minimum_s()
        if self.power_w == 0:
            # Only the plate's heat is left, and its last kelvin never arrives.
            share = self._share()
            end = self.die_c * (1 - share) + self.plate_c * share
            if wanted >= end:
                return math.inf
        high = max(1.0, low)
        while self.at(high)[0] < wanted:
            high *= 2
            if high == math.inf:
                return high
        while True:
            middle = (low + high) / 2
            if middle in (low, high):
                return high
            low, high = (low, middle) if self.at(middle)[0] >= wanted else (middle, high)

    def time_to_with_slowdown_s(self, die_c: float, slow_c: float, factor: float) -> float:
        """As `time_to_s`, with the power times a factor from when the die is first at `slow_c`.

        Examples
        --------
        >>> start = FlowLost(1400, 77.38, 77.38 - 1400 * 0.008, 0.008, 150, 450)
        >>> round(start.time_to_with_slowdown_s(92, 89, 0.5), 2)
        11.14
        """
        checked("factor", factor)
        slow_s = self.time_to_s(slow_c)
        if die_c <= slow_c or slow_s == math.inf:
            return self.time_to_s(die_c)
        die, plate = self.at(slow_s)
        after = replace(self, power_w=self.power_w * factor, die_c=die, plate_c=plate)
        return slow_s + after.time_to_s(die_c)

    def _share(self) -> float:
        """The plate's share of the heat capacity."""
        return self.c_plate_j_per_k / (self.c_die_j_per_k + self.c_plate_j_per_k)

    def _tau_s(self) -> float:
        return self.r_die_plate_k_per_w * self.c_die_j_per_k * self._share()

    def _fading(self) -> tuple[float, float]:
        """The part of die minus plate that fades, and the part that stays, K."""
        last = self.power_w * self.r_die_plate_k_per_w * self._share()
        return self.die_c - self.plate_c - last, last

    def _minimum_s(self) -> float:
        """When the die is coolest."""
        fading, _ = self._fading()
        tau, share = self._tau_s(), self._share()
        steep = fading * share / tau
        if steep <= self.ramp_k_per_s or self.ramp_k_per_s == 0:
            return 0.0
        return tau * (math.log(steep) - math.log(self.ramp_k_per_s))


def warm_up(
    times_s: Floats,
    power_w: float,
    supply_c: float,
    start_c: tuple[float, float, float],
    resistances_k_per_w: tuple[float, float],
    coolant_w_per_k: float,
    capacities_j_per_k: tuple[float, float, float],
) -> Floats:
    """Die, plate and coolant of a GPU that is switched on, °C.

    Parameters
    ----------
    times_s
        (T,) seconds after it is, at least 0.
    power_w, supply_c
        Constant, W and °C.
    start_c
        Die, plate and coolant at time 0.
    resistances_k_per_w
        Die to plate and plate to coolant, above 0.
    coolant_w_per_k
        What the flow carries for each kelvin of rise. The coolant in the plate is at its mean
        temperature, so it takes ``2 coolant_w_per_k (coolant - supply)`` away.
    capacities_j_per_k
        Of die, plate and coolant, above 0.

    Returns
    -------
    Floats
        (T, 3)

    Notes
    -----
    The matrix exponential by the eigenvalues of the 3 x 3 system, which are real and negative
    because resistances are the same both ways: exact, whatever the times.

    Examples
    --------
    At 1,400 W from 40 °C the die is at 71.3 °C after 20 s, and settles at 77.4 °C.

    >>> found = warm_up(
    ...     np.array([0.0, 20.0, 1e4]), 1400, 40, (40, 40, 40), (0.008, 0.014), 106.4,
    ...     (150, 450, 590),
    ... )
    >>> found[:, 0].round(1).tolist()
    [40.0, 71.3, 77.4]
    """
    first, second = (checked("resistances_k_per_w", r, above=True) for r in resistances_k_per_w)
    capacity = np.array([checked("capacities_j_per_k", c, above=True) for c in capacities_j_per_k])
    start = np.array([checked("start_c", c, least=_COLDEST_C) for c in start_c])
    out = 2 * checked("coolant_w_per_k", coolant_w_per_k, above=True)
    checked("supply_c", supply_c, least=_COLDEST_C)
    checked("power_w", power_w)
    if len(times_s):
        checked("times_s", float(np.min(times_s)))
        checked("times_s", float(np.max(times_s)))
    conductance = np.array(
        [
            [1 / first, -1 / first, 0.0],
            [-1 / first, 1 / first + 1 / second, -1 / second],
            [0.0, -1 / second, 1 / second + out],
        ]
    )
    source = np.array([power_w, 0.0, out * supply_c])
    end = np.linalg.solve(conductance, source)
    root = np.sqrt(capacity)
    rates, modes = np.linalg.eigh(conductance / np.outer(root, root))
    weights = modes.T @ (root * (start - end))
    fading = np.exp(-np.outer(times_s, rates)) * weights
    answer: Floats = end + (fading @ modes.T) / root
    return answer
