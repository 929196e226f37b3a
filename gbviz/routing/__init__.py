"""Which way traffic goes: shares of a leaf pair's traffic on the links between them."""

from gbviz.routing.modes import MODES, Mode
from gbviz.routing.stages import Stages, stages

__all__ = ["MODES", "Mode", "Stages", "stages"]
