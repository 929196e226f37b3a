"""Ties the parts together: a scenario in, a snapshot out."""

from gbviz.engine.evaluate import evaluate
from gbviz.engine.metrics import Metrics
from gbviz.engine.snapshot import Snapshot

__all__ = ["Metrics", "Snapshot", "evaluate"]
