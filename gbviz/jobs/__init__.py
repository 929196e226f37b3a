"""What runs on the cluster: training, inference, collectives and patterns of flows."""

from gbviz.jobs.traffic import PATTERNS, TrafficJob, TrafficResult, traffic_job

__all__ = ["PATTERNS", "TrafficJob", "TrafficResult", "traffic_job"]
