"""What exists: hardware catalogue, cluster sizes, the fabric and its health."""

from gbviz.topology.build import build
from gbviz.topology.fabric import Fabric
from gbviz.topology.health import Health
from gbviz.topology.spec import ClusterSpec, CoolingSpec, cluster_spec

__all__ = ["ClusterSpec", "CoolingSpec", "Fabric", "Health", "build", "cluster_spec"]
