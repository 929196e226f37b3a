"""Ties the parts together: a scenario in, a snapshot out."""

from gbviz.engine.evaluate import evaluate
from gbviz.engine.loads import Loads, loads
from gbviz.engine.metrics import Metrics
from gbviz.engine.session import Session
from gbviz.engine.snapshot import Snapshot

__all__ = ["Loads", "Metrics", "Session", "Snapshot", "evaluate", "loads"]
