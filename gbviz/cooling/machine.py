"""The catalogue's figures of power and heat, and the laws that a GPU and its rack obey."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from gbviz.topology.fabric import Floats


@dataclass(frozen=True, slots=True)
class Machine:
    """The catalogue's figures of power and heat, and the laws they belong to."""

    idle_w: float
    span_w: float
    exponent: float
    limit_c: float
    r_eff_k_per_w: float
    fixed_kw: float
    shelf_kw: float
    liquid_share: float

    def power_w(self, clock: Floats, active: Floats) -> Floats:
        """W of GPUs at a clock; 0 at clock 0."""
        power: Floats = self.idle_w + self.span_w * active * clock**self.exponent
        return np.where(clock > 0, power, 0.0)

    def clock(self, own: Floats, active: Floats, asked_w: Floats, drawn_w: Floats) -> Floats:
        """Clocks of GPUs that draw less than they ask for; their own where they do not."""
        clock: Floats = own * (drawn_w > 0)
        capped = (drawn_w < asked_w) & (drawn_w > 0)
        if not np.count_nonzero(capped):
            return clock
        share = (drawn_w[capped] - self.idle_w) / (self.span_w * active[capped])
        clock[capped] = np.minimum(own[capped], share ** (1 / self.exponent))
        return clock

    def live_clock(self, own: Floats, active: Floats, asked_w: Floats, drawn_w: Floats) -> Floats:
        """`clock` of GPUs that draw no less than they do idle, arrays that broadcast together."""
        capped, span_w = drawn_w < asked_w, self.span_w * active
        share = np.divide(drawn_w - self.idle_w, span_w, out=np.zeros(capped.shape), where=capped)
        return np.where(capped, np.minimum(own, share ** (1 / self.exponent)), own)

    def cap_w(self, supply_c: float) -> float:
        """W at which a die sits at the throttle limit."""
        return (self.limit_c - supply_c) / self.r_eff_k_per_w

    def supply_c(self, cap_w: Floats) -> Floats:
        """Supply at which a die that draws so much sits at the throttle limit, °C."""
        return self.limit_c - cap_w * self.r_eff_k_per_w


@functools.cache
def machine() -> Machine:
    """The figures of the hardware catalogue, read once."""
    value = catalogue().value
    return Machine(
        idle_w=value("gpu.power_idle_w"),
        span_w=value("gpu.power_max_w") - value("gpu.power_idle_w"),
        exponent=value("gpu.clock_power_exponent"),
        limit_c=value("gpu.die_throttle_c"),
        r_eff_k_per_w=value("gpu.r_eff_k_per_w"),
        fixed_kw=value("rack.power_without_gpus_kw"),
        shelf_kw=value("rack.shelf_kw"),
        liquid_share=value("cooling.liquid_share"),
    )
