"""What breaks: faults, what they take down with them, and repairs."""

from gbviz.faults.actions import Action, resolve
from gbviz.faults.apply import apply
from gbviz.faults.fault import Fault

__all__ = ["Action", "Fault", "apply", "resolve"]
