"""What runs on the cluster: for now, patterns of independent flows."""

from gbviz.jobs.traffic import PATTERNS, TrafficJob, TrafficResult, traffic_job

__all__ = ["PATTERNS", "TrafficJob", "TrafficResult", "traffic_job"]
