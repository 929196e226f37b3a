"""What a user may state about a cluster, and what is said of the rest."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from gbviz.errors import InputError
from gbviz.topology import ClusterSpec, CoolingSpec, cluster_spec
from gbviz.topology.catalogue import catalogue


def test_all_that_is_not_stated_is_the_catalogues() -> None:
    spec, facts = cluster_spec(racks=64), catalogue()
    assert (spec.trays_per_rack, spec.gpus_per_tray, spec.radix) == (18, 4, 144)
    assert spec.port_GBps == facts.value("switch.port_GBps") == 100
    assert spec.gpus_per_rack == facts.value("rack.gpus") == 72
    assert (spec.n_gpus, spec.down_ports, spec.uplinks) == (4608, 72, 72)
    assert (spec.uplinks_per_leaf, spec.spines, spec.leaves_per_pod) == (None, None, None)


def test_stated_uplinks_count() -> None:
    assert cluster_spec(racks=1, uplinks_per_leaf=36).uplinks == 36


def test_a_preset_gives_what_the_parts_do_not() -> None:
    spec = cluster_spec("gb300-cdu", racks=8)
    assert (spec.racks, spec.cooling.kind, spec.cooling.unit_kw) == (8, "cdu", 1368)
    assert cluster_spec("azure-gb300", racks=None) == cluster_spec("azure-gb300")
    assert cluster_spec("azure-gb300") == cluster_spec(racks=64)


def test_equal_specs_are_one_key() -> None:
    assert hash(cluster_spec("azure-gb300")) == hash(ClusterSpec(racks=64))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(cluster_spec(racks=1), "racks", 2)  # noqa: B010 mypy knows that it cannot be


@pytest.mark.parametrize(
    ("cooling", "units", "racks", "unit_kw"),
    [
        (CoolingSpec(), 1, 1, 136),
        (CoolingSpec(kind="hxu", units=7, racks_per_loop=9), 1, 1, 136),
        (CoolingSpec(kind="cdu"), 4, 32, 1368),
        (CoolingSpec(kind="cdu", units=2, racks_per_loop=5, capacity_kw=10), 2, 5, 10),
    ],
)
def test_cooling(cooling: CoolingSpec, units: int, racks: int, unit_kw: float) -> None:
    assert (cooling.units_per_loop, cooling.racks_in_loop) == (units, racks)
    assert cooling.unit_kw == unit_kw
    assert cooling.set_point_c == 40


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({}, "racks is missing"),
        ({"racks": 0}, "racks must be at least 1 (got 0)"),
        ({"racks": -4}, "(got -4)"),
        ({"racks": 100_001}, "(got 100001)"),
        ({"racks": "8"}, "racks must be a whole number (got '8')"),
        ({"racks": True}, "racks must be a whole number (got True)"),
        ({"racks": 1.5}, "(got 1.5)"),
        ({"racks": 1, "port_GBps": math.nan}, "port_GBps must be finite"),
        ({"racks": 1, "port_GBps": math.inf}, "port_GBps must be finite"),
        ({"racks": 1, "port_GBps": 0.0}, "port_GBps must be more than 0"),
        ({"racks": 1, "uplinks_per_leaf": 0}, "uplinks_per_leaf must be at least 1"),
        ({"racks": 1, "rack": 2}, "rack is not known, did you mean 'racks'?"),
        ({"racks": 1, "cooling": {"kind": "air"}}, "cooling.kind must be 'hxu' or 'cdu'"),
        ({"racks": 1, "cooling": {"unit": 2}}, "cooling.unit is not known, did you mean 'units'?"),
        ({"racks": "x" * 500}, "xxx...)"),
    ],
)
def test_what_cannot_be_is_refused(parts: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        cluster_spec(**parts)
    assert caught.value.where == "cluster"
    assert says in caught.value.message
    assert len(str(caught.value)) < 300


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        cluster_spec(racks=0, radixx=3, cooling={"units": -1})
    for field in ("racks must", "radixx is not known", "cooling.units must"):
        assert field in caught.value.message


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'azure-gb300'"):
        cluster_spec("azure-gb3000")
