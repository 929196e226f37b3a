"""The machine's headline figures: ours beside the published ones, each with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from gbviz.topology.catalogue import Fact
    from gbviz.topology.fabric import Fabric


@dataclass(frozen=True, slots=True)
class Headline:
    """One figure: as the model has it, as it was published (None where it was not), its source."""

    what: str
    ours: float
    published: float | None
    unit: str
    source: str
    note: str = ""


def headlines(fabric: Fabric) -> list[Headline]:
    """The figures people know the machine by, for a built cluster.

    Ours are summed over the built fabric and the catalogue's parts, so they show what the model
    computes with; published ones are as printed, rounded by their authors.
    """
    facts = catalogue()
    assert fabric.nvlink is not None
    rack_gpus, racks = fabric.nvlink.gpus, fabric.nvlink.racks
    nvlink_tb = 2 * rack_gpus * fabric.nvlink.asics * fabric.nvlink.link_GBps / 1000
    sparse = rack_gpus * facts.value("gpu.fp4_sparse_pflops") / 1000
    dense = rack_gpus * facts.value("gpu.fp4_dense_pflops") / 1000
    gbit = float(fabric.tiers[0].capacity[0]) * 8
    found = [
        _beside("FP4 a rack, sparse", sparse, "headline.rack_fp4_sparse_pflops", "EF", 1000),
        _beside("FP4 a rack, dense", dense, "headline.rack_fp4_dense_pflops", "EF", 1000),
        _beside("NVLink a rack, both ways", nvlink_tb, "headline.rack_nvlink_tb_s", "TB/s"),
        _beside("network a GPU, one way", gbit, "headline.gpu_network_gbit_s", "Gb/s"),
    ]
    if rack_gpus == facts.value("rack.gpus"):
        memory = facts["rack.fast_memory_tb"]
        found.insert(
            2, _beside("fast memory a rack", memory.value, "headline.rack_fast_memory_tb", "TB")
        )
    cluster = "cluster" if racks > 1 else "rack"
    found += [
        Headline(f"FP4, whole {cluster}, sparse", sparse * racks, None, "EF", "racks x rack"),
        Headline(f"FP4, whole {cluster}, dense", dense * racks, None, "EF", "racks x rack"),
        Headline(
            "HBM",
            fabric.count("gpu") * facts.value("gpu.hbm_bytes") / 1e12,
            None,
            "TB",
            facts["gpu.hbm_bytes"].source,
        ),
        Headline(
            "power, typical",
            racks * _rack_kw(rack_gpus) / 1000,
            None,
            "MW",
            "racks x (GPUs at 1,400 W + the rest of the rack), without switches",
        ),
    ]
    if racks == facts.value("headline.cluster_racks"):
        found.append(_beside("GPUs", fabric.count("gpu"), "headline.cluster_gpus_over", "GPUs"))
    return found


def _rack_kw(gpus: int) -> float:
    facts = catalogue()
    return gpus * facts.value("gpu.power_max_w") / 1000 + facts.value("rack.power_without_gpus_kw")


def _beside(what: str, ours: float, name: str, unit: str, per: float = 1.0) -> Headline:
    fact: Fact = catalogue()[name]
    return Headline(what, ours, fact.value / per, unit, fact.source, fact.note)
