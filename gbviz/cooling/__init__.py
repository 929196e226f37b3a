"""Cooling loops, rack power, and the GPU clocks that they leave: settled, and over time."""

from gbviz.cooling.course import Energy
from gbviz.cooling.state import HeatState, start, switched_on
from gbviz.cooling.steady import LoopState, Thermal, loops, steady
from gbviz.cooling.told import Happening
from gbviz.cooling.transient import Advance, Ahead, advance, ahead
from gbviz.cooling.world import World, clocks_in, thermal_in, thermal_of, world_of

__all__ = [
    "Advance",
    "Ahead",
    "Energy",
    "Happening",
    "HeatState",
    "LoopState",
    "Thermal",
    "World",
    "advance",
    "ahead",
    "clocks_in",
    "loops",
    "start",
    "steady",
    "switched_on",
    "thermal_in",
    "thermal_of",
    "world_of",
]
