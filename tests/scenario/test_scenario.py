from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.jobs import traffic_job
from gbviz.scenario import Scenario, preset
from gbviz.topology import cluster_spec
from gbviz.topology.presets import presets
from tests.cli import spawn


@pytest.mark.parametrize("name", presets())
def test_a_preset_is_a_healthy_scenario(name: str) -> None:
    scenario = preset(name)
    assert (scenario.name, scenario.cluster) == (name, cluster_spec(name))
    assert (scenario.routing, scenario.seed, scenario.nvlink_policy) == ("adaptive", 0, "adaptive")
    assert (scenario.actions, scenario.jobs) == ((), ())


def test_parts_replace_those_of_the_preset() -> None:
    assert preset("azure-gb300", racks=8, spines=None).cluster == cluster_spec("gb300-su")


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"racks": 0}, "racks must be at least 1 (got 0)"),
        ({"racks": "8"}, "racks must be a whole number (got '8')"),
        ({"rack": 8}, "rack is not known, did you mean 'racks'?"),
        ({"cooling": {"kind": "air"}}, "cooling.kind must be 'hxu' or 'cdu' (got 'air')"),
        ({"cooling": 3}, "cooling must be "),
        ({"racks": -1, "port_GBps": -1.0}, "(got -1); port_GBps must be more than 0 (got -1.0)"),
    ],
)
def test_parts_that_cannot_be(parts: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        preset("azure-gb300", **parts)
    assert says in str(caught.value)


def test_a_preset_that_is_none() -> None:
    with pytest.raises(InputError, match="did you mean 'azure-gb300'"):
        preset("azure-gb30")


def test_every_change_is_a_new_scenario() -> None:
    first = preset("gb300-su")
    changed = [
        first.with_faults("spine-3"),
        first.with_faults(degrade={"leaf-0~spine-3": 0.5}),
        first.with_routing("spray"),
        first.with_seed(1),
        first.with_nvlink_policy("full-bandwidth"),
        first.with_jobs(traffic_job("permutation")),
        first.with_faults("spine-3").with_repairs("spine-3"),
    ]
    assert first == preset("gb300-su")
    assert len({scenario.sha256() for scenario in [first, *changed]}) == 1 + len(changed)
    assert all(scenario != first for scenario in changed)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(first, "seed", 1)  # noqa: B010 mypy knows that it cannot be


def test_actions_are_kept_in_order() -> None:
    scenario = preset("gb300-su").with_faults("leaf-0", "spine-*", degrade={"hxu-1": 0.5})
    scenario = scenario.with_repairs("spine-2").with_faults("spine-2")
    assert [(action.verb, action.selector, action.factor) for action in scenario.actions] == [
        ("fail", "leaf-0", 0),
        ("fail", "spine-*", 0),
        ("degrade", "hxu-1", 0.5),
        ("repair", "spine-2", 0),
        ("fail", "spine-2", 0),
    ]
    assert scenario.restored() == preset("gb300-su")


def test_jobs_add_up() -> None:
    one, two = traffic_job("permutation"), traffic_job("shift:3")
    assert preset("gb300-su").with_jobs(one).with_jobs(two).jobs == (one, two)
    assert preset("gb300-su").with_jobs().jobs == ()


@pytest.mark.parametrize("seed", [0, 2**63 - 1])
def test_seeds(seed: int) -> None:
    assert preset("gb300-su").with_seed(seed).seed == seed


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seeds_that_cannot_be(seed: int) -> None:
    with pytest.raises(InputError, match=r"seed: must be from 0 to 2\^63 - 1"):
        preset("gb300-su").with_seed(seed)


def test_modes_and_policies_are_checked_wherever_they_are_given() -> None:
    scenario, spec = preset("gb300-su"), cluster_spec("gb300-su")
    with pytest.raises(InputError, match="did you mean 'adaptive'"):
        scenario.with_routing("adaptiv")
    with pytest.raises(InputError, match="routing"):
        Scenario("x", spec, routing="x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'full-bandwidth'"):
        scenario.with_nvlink_policy("full_bandwidth")
    with pytest.raises(InputError, match="nvlink_policy"):
        Scenario("x", spec, nvlink_policy="")  # type: ignore[arg-type]


def test_the_fingerprint_is_of_what_is_asked_not_of_its_name() -> None:
    scenario = preset("azure-gb300", racks=8)
    assert scenario.sha256() == preset("gb300-su").sha256()
    assert len(scenario.sha256()) == 64
    assert int(scenario.sha256(), 16) >= 0


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    code = (
        "import gbviz; s = gbviz.preset('gb300-cdu', racks=9).with_faults('spine-3');"
        "s = s.with_faults(degrade={'hxu-0': .1}).with_jobs(gbviz.traffic_job('shift:3@rack-0'));"
        "print(s.sha256())"
    )
    one, two = (spawn(code=code, PYTHONHASHSEED=seed) for seed in "12")
    assert one.returncode == 0
    assert one.stdout == two.stdout


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_fingerprint_sees_the_last_bit(one: float, two: float) -> None:
    faults = [preset("gb300-su").with_faults(degrade={"hxu-0": factor}) for factor in (one, two)]
    # 0.0 and -0.0 are one number of two spellings.
    assert (faults[0].sha256() == faults[1].sha256()) == (repr(one) == repr(two))
