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
    computes with; published ones are as printed, rounded by their authors, and stand beside racks
    of the published size only.
    """
    facts = catalogue()
    assert fabric.nvlink is not None
    racks, whole = fabric.nvlink.racks, fabric.nvlink.gpus == facts.value("rack.gpus")
    found = _of_a_rack(fabric) if whole else []
    gbit = float(fabric.tiers[0].capacity[0]) * 8
    found.append(_beside("network a GPU, one way", gbit, "headline.gpu_network_gbit_s", "Gb/s"))
    cluster = "cluster" if racks > 1 else "rack"
    for kind in ("sparse", "dense"):
        fact = facts[f"gpu.fp4_{kind}_pflops"]
        what, ours = f"FP4, whole {cluster}, {kind}", fabric.count("gpu") * fact.value / 1000
        found.append(Headline(what, ours, None, "EF", f"GPUs x {fact.value:g} PF: {fact.source}"))
    hbm = facts["gpu.hbm_bytes"]
    memory = fabric.count("gpu") * hbm.value / 1e12
    power = racks * _rack_kw(fabric.nvlink.gpus) / 1000
    found += [
        Headline("HBM", memory, None, "TB", hbm.source),
        Headline(
            "power, typical",
            power,
            None,
            "MW",
            "racks x (GPUs at 1,400 W + the rest of the rack), without switches",
        ),
    ]
    if whole and racks == facts.value("headline.cluster_racks"):
        found.append(_beside("GPUs", fabric.count("gpu"), "headline.cluster_gpus_over", "GPUs"))
    return found


def _of_a_rack(fabric: Fabric) -> list[Headline]:
    """What one rack has."""
    facts, nvlink = catalogue(), fabric.nvlink
    assert nvlink is not None
    nvlink_tb = 2 * nvlink.gpus * nvlink.asics * nvlink.link_GBps / 1000
    sparse = nvlink.gpus * facts.value("gpu.fp4_sparse_pflops") / 1000
    dense = nvlink.gpus * facts.value("gpu.fp4_dense_pflops") / 1000
    memory = facts.value("rack.fast_memory_tb")
    return [
        _beside("FP4 a rack, sparse", sparse, "headline.rack_fp4_sparse_pflops", "EF", 1000),
        _beside("FP4 a rack, dense", dense, "headline.rack_fp4_dense_pflops", "EF", 1000),
        _beside("fast memory a rack", memory, "headline.rack_fast_memory_tb", "TB"),
        _beside("NVLink a rack, both ways", nvlink_tb, "headline.rack_nvlink_tb_s", "TB/s"),
    ]


def _rack_kw(gpus: int) -> float:
    facts = catalogue()
    return gpus * facts.value("gpu.power_max_w") / 1000 + facts.value("rack.power_without_gpus_kw")


def _beside(what: str, ours: float, name: str, unit: str, per: float = 1.0) -> Headline:
    fact: Fact = catalogue()[name]
    return Headline(what, ours, fact.value / per, unit, fact.source, fact.note)
