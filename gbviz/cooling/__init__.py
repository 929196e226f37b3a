"""Cooling loops, rack power, and the GPU clocks that they leave: settled, and over time."""

from gbviz.cooling.course import Energy
from gbviz.cooling.state import HeatState, start, switched_on
from gbviz.cooling.steady import LoopState, Thermal, loops, steady
from gbviz.cooling.told import Happening
from gbviz.cooling.transient import Advance, advance, follow
from gbviz.cooling.world import World, thermal_in, thermal_of, world_of

__all__ = [
    "Advance",
    "Energy",
    "Happening",
    "HeatState",
    "LoopState",
    "Thermal",
    "World",
    "advance",
    "follow",
    "loops",
    "start",
    "steady",
    "switched_on",
    "thermal_in",
    "thermal_of",
    "world_of",
]
