"""gbviz: see a GB300 NVL72 supercluster, break it, and read at once what it costs.

>>> import gbviz
>>> found = gbviz.evaluate(gbviz.preset("azure-gb300").with_faults("leaf-0"))
>>> found.post.injection_GBps  # 63 leaves x 72 NICs x 100 GB/s
453600.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gbviz.engine import Metrics, Snapshot, evaluate
    from gbviz.engine.run import run
    from gbviz.engine.timeline import Timeline
    from gbviz.errors import FabricError, GbvizError, InputError, ScenarioError
    from gbviz.jobs import TrafficJob, traffic_job
    from gbviz.scenario import Scenario, preset
    from gbviz.scenario.file import load

__version__ = "0.1.0"
__all__ = [
    "FabricError",
    "GbvizError",
    "InputError",
    "Metrics",
    "Scenario",
    "ScenarioError",
    "Snapshot",
    "Timeline",
    "TrafficJob",
    "__version__",
    "evaluate",
    "load",
    "preset",
    "run",
    "traffic_job",
]

_HOME = {
    "FabricError": "errors",
    "GbvizError": "errors",
    "InputError": "errors",
    "Metrics": "engine",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Snapshot": "engine",
    "TrafficJob": "jobs",
    "evaluate": "engine",
    "load": "scenario.file",
    "preset": "scenario",
    "traffic_job": "jobs",
    "run": "engine.run",
    "Timeline": "engine.timeline",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `gbviz --version` needs neither NumPy nor anything built on it."""
    if name not in _HOME:
        raise AttributeError(f"module 'gbviz' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"gbviz.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
