from __future__ import annotations

from typing import Any

import pytest

from gbviz.report.headline import Headline, headlines
from gbviz.report.leaves_out import LEAVES_OUT
from gbviz.topology import build, cluster_spec
from gbviz.topology.presets import presets


def figures(name: str | None = "azure-gb300", **parts: Any) -> dict[str, Headline]:
    return {line.what: line for line in headlines(build(cluster_spec(name, **parts)))}


@pytest.mark.parametrize(
    ("what", "ours", "published", "unit"),
    [
        ("FP4 a rack, sparse", 1.44, 1.44, "EF"),
        ("FP4 a rack, dense", 1.08, 1.08, "EF"),
        ("fast memory a rack", 37, 37, "TB"),
        ("NVLink a rack, both ways", 129.6, 130, "TB/s"),
        ("network a GPU, one way", 800, 800, "Gb/s"),
        ("GPUs", 4608, 4600, "GPUs"),
    ],
)
def test_figures_beside_the_published_ones(
    what: str, ours: float, published: float, unit: str
) -> None:
    line = figures()[what]
    assert (line.ours, line.published, line.unit) == (ours, published, unit)


def test_figures_of_the_whole_cluster() -> None:
    found = figures()
    # 64 racks of 1.44 and 1.08; 4,608 GPUs of 288 GB; 64 racks of 136 kW.
    assert found["FP4, whole cluster, sparse"].ours == pytest.approx(92.16)
    assert found["FP4, whole cluster, dense"].ours == pytest.approx(69.12)
    assert found["HBM"].ours == pytest.approx(1327.104)
    assert found["power, typical"].ours == pytest.approx(8.704)


@pytest.mark.parametrize("name", presets())
def test_each_has_a_source(name: str) -> None:
    for line in figures(name).values():
        assert line.source
        assert line.unit


def test_published_sources_can_be_looked_up() -> None:
    for line in figures().values():
        assert line.published is None or "." in line.source.partition("(")[2], line


def test_racks_of_another_size_have_no_published_figures() -> None:
    found = figures(trays_per_rack=9)
    published = [what for what, line in found.items() if line.published is not None]
    assert published == ["network a GPU, one way"]
    assert found["FP4, whole cluster, sparse"].ours == pytest.approx(92.16 / 2)


def test_one_rack_and_other_ports() -> None:
    found = figures(None, racks=1, port_GBps=50.0)
    assert "FP4, whole rack, sparse" in found
    assert found["network a GPU, one way"].ours == 400
    assert "GPUs" not in found


def test_what_the_model_leaves_out_is_said_once_each() -> None:
    assert len(set(LEAVES_OUT)) == len(LEAVES_OUT) >= 6
    for line in LEAVES_OUT:
        assert line[0].islower()
        assert not line.endswith(".")
