"""A question about a cluster: what it is, what breaks, which traffic runs."""

from gbviz.scenario.scenario import Scenario, preset

__all__ = ["Scenario", "preset"]
