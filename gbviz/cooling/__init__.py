"""Cooling loops, rack power, and the GPU clocks that they leave."""

from gbviz.cooling.steady import LoopState, Thermal, loops, steady

__all__ = ["LoopState", "Thermal", "loops", "steady"]
