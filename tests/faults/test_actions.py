"""What holds after faults, repairs and restores, in their order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.errors import InputError
from gbviz.faults import Action, Fault, apply, resolve
from gbviz.topology.graph import from_graph
from tests.topology.selecting import AZURE, NODES, PODS

if TYPE_CHECKING:
    from gbviz.topology import Fabric

ODD = from_graph(["x>y"], ["s#0", "t"], [("x>y", "s#0", 100.0), *(("s#0", "t", 50.0),) * 3])

EVERY = [
    *NODES,
    (AZURE, "leaf-0~spine-3", "cable"),
    (AZURE, "leaf-0~spine-3#1", "cable"),
    (AZURE, "rack-3/tray-17/nic-2~leaf-2", "cable"),
    (AZURE, "rack-3/tray-17/gpu-2~rack-3/nvswitch-5", "cable"),
    (PODS, "spine-0~core-3#17", "cable"),
    (AZURE, "leaf-0>spine-3", "direction"),
    (AZURE, "spine-3>leaf-0#1", "direction"),
    (AZURE, "rack-3/nvswitch-5>rack-3/tray-17/gpu-2", "direction"),
    (AZURE, "leaf-0:73", "port"),
    (AZURE, "spine-0:1", "port"),
    (AZURE, "rack-3/tray-17/nic-2:1", "port"),
    (AZURE, "leaf-0/cage-37", "cage"),
    (AZURE, "rack-3/tray-17/nic-2/cage-1", "cage"),
    (ODD, "s#0~t#1", "cable"),
    (ODD, "x>y>s#0", "direction"),
]
DEGRADED = ("cable", "direction", "port", "cage", "nic", "gpu", "hxu", "cdu")


def act(text: str) -> Action:
    """`fail X`, `degrade X to 0.5`, `repair X` or `restore`."""
    verb, _, rest = text.partition(" ")
    selector, _, factor = rest.partition(" to ")
    known: dict[str, Literal["fail", "degrade", "repair", "restore"]] = {
        "fail": "fail",
        "degrade": "degrade",
        "repair": "repair",
        "restore": "restore",
    }
    return Action(known[verb], selector, float(factor or 0))


def after(fabric: Fabric, *did: str) -> dict[str, float]:
    """Component to factor of the faults that hold, in their order."""
    return {fault.component: fault.factor for fault in resolve(fabric, map(act, did))}


def refusal(fabric: Fabric, *did: str) -> InputError:
    with pytest.raises(InputError) as caught:
        resolve(fabric, map(act, did))
    return caught.value


def whole(fabric: Fabric, faults: tuple[Fault, ...]) -> bool:
    health = apply(fabric, faults)
    tiers = range(len(fabric.tiers))
    full = all((health.capacity(fabric, n) == fabric.tiers[n].capacity).all() for n in tiers)
    return full and bool((health.node_factor == 1).all()) and not health.nvlink_factor


@pytest.mark.parametrize(("fabric", "name", "part"), EVERY)
def test_every_kind_of_part_fails_and_is_repaired(fabric: Fabric, name: str, part: str) -> None:
    (fault,) = resolve(fabric, [Action("fail", name)])
    assert (fault.component, fault.part, fault.kind, fault.factor) == (name, part, "fail", 0)
    assert bool(fault.nodes) != bool(fault.links)
    health = apply(fabric, (fault,))
    if fault.nodes:
        assert (health.node_factor[list(fault.nodes)] == 0).all()
    assert not whole(fabric, (fault,))
    assert resolve(fabric, [Action("fail", name), Action("repair", name)]) == ()
    assert resolve(fabric, [Action("fail", name), Action("restore")]) == ()


@pytest.mark.parametrize(("fabric", "name", "part"), EVERY)
def test_what_may_be_degraded(fabric: Fabric, name: str, part: str) -> None:
    action = Action("degrade", name, 0.5)
    if part in DEGRADED:
        (fault,) = resolve(fabric, [action])
        assert (fault.component, fault.kind, fault.factor) == (name, "degrade", 0.5)
        assert resolve(fabric, [action, Action("repair", name)]) == ()
        return
    with pytest.raises(InputError, match=f"a {part} cannot be degraded") as caught:
        resolve(fabric, [action])
    assert caught.value.where == name
    assert caught.value.hint
    # To nothing is a failure, which any part may have.
    (fault,) = resolve(fabric, [Action("degrade", name, 0.0)])
    assert fault.kind == "fail"


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("leaf-3", "leaf-3~spine-*"),
        ("spine-3", "leaf-*~spine-3"),
        ("rack-5/nvswitch-3", "*~rack-5/nvswitch-3"),
        ("rack-5/tray-3", "rack-5/tray-3/nic-*"),
        ("rack-5", "rack-5/tray-*/gpu-*"),
    ],
)
def test_the_hint_of_a_refusal_can_be_used(name: str, instead: str) -> None:
    error = refusal(AZURE, f"degrade {name} to 0.5")
    assert f"'{instead}'" in error.hint
    assert resolve(AZURE, [Action("degrade", instead, 0.5)])


def test_the_hint_for_a_switch_of_a_file_can_be_used() -> None:
    assert "'t~*'" in refusal(ODD, "degrade t to 0.5").hint
    assert after(ODD, "degrade t~* to 0.5") == {"s#0~t": 0.5}


@pytest.mark.parametrize("factor", [-0.1, 1.1, math.nan, math.inf, -math.inf])
def test_factors_that_cannot_be(factor: float) -> None:
    with pytest.raises(InputError, match=r"a factor is from 0 \(failed\) to 1 \(healthy\)"):
        resolve(AZURE, [Action("degrade", "leaf-0~spine-0", factor)])


def test_a_factor_of_one_is_health() -> None:
    assert after(AZURE, "degrade leaf-0~spine-0 to 1") == {}
    assert after(AZURE, "fail leaf-0~spine-0", "degrade leaf-0~spine-0 to 1") == {}
    error = refusal(AZURE, "degrade leaf-0~spine-0 to 1", "repair leaf-0~spine-0")
    assert error.hint == "it is healthy"


def test_a_later_fault_on_the_same_part_replaces_the_earlier() -> None:
    did = ("fail leaf-0~spine-0", "fail spine-1", "degrade leaf-0~spine-0 to 0.5")
    assert list(after(AZURE, *did).items()) == [("spine-1", 0), ("leaf-0~spine-0", 0.5)]
    assert after(AZURE, "degrade hxu-3 to 0.5", "degrade hxu-3 to 0.75") == {"hxu-3": 0.75}


def test_globs_fail_one_by_one() -> None:
    did = after(AZURE, "fail spine-[0-3]", "repair spine-[1-2]")
    assert list(did) == ["spine-0", "spine-3"]
    assert after(AZURE, "fail spine-*", "repair spine-*") == {}
    # A repair may name healthy parts too, as long as one is not.
    assert after(AZURE, "fail spine-3", "repair spine-*") == {}


def test_restore_needs_no_fault() -> None:
    assert after(AZURE, "restore") == {}
    assert after(AZURE, "fail rack-*", "degrade leaf-*~* to 0.5", "restore", "fail leaf-2") == {
        "leaf-2": 0
    }


def test_repair_of_some_cables_of_a_bundle() -> None:
    did = ("fail leaf-0~spine-3", "repair leaf-0~spine-3#0")
    (left,) = resolve(AZURE, map(act, did))
    assert (left.component, left.part, left.factor) == ("leaf-0~spine-3#1", "cable", 0)
    assert {AZURE.link_name(link) for link in left.links} == {
        "leaf-0>spine-3#1",
        "spine-3>leaf-0#1",
    }
    assert after(AZURE, *did, "repair leaf-0~spine-3#1") == {}
    assert after(AZURE, *did, "repair leaf-0~spine-3") == {}
    assert list(after(PODS, "degrade spine-0~core-0 to 0.25", "repair spine-0~core-0#[2-16]")) == [
        "spine-0~core-0#0",
        "spine-0~core-0#1",
        "spine-0~core-0#17",
    ]


def test_repair_of_one_way_of_a_cable() -> None:
    did = ("degrade leaf-0~spine-3#0 to 0.5", "repair spine-3>leaf-0#0")
    (left,) = resolve(AZURE, map(act, did))
    assert (left.component, left.part, left.factor) == ("leaf-0>spine-3#0", "direction", 0.5)
    assert len(left.links) == 1
    nic = "rack-0/tray-0/nic-0"
    assert after(AZURE, f"fail {nic}~leaf-0", f"repair leaf-0>{nic}") == {f"{nic}>leaf-0#0": 0}


def test_repair_of_a_port_of_a_cage_and_of_a_cage_of_a_bundle() -> None:
    did = after(AZURE, "fail leaf-0/cage-1", "repair leaf-0:1")
    assert did == {"rack-0/tray-1/nic-0~leaf-0#0": 0}
    assert after(AZURE, "fail leaf-0~spine-0", "repair leaf-0/cage-37") == {}
    assert after(AZURE, "fail leaf-0:73", "repair leaf-0~spine-0#0") == {}
    assert after(AZURE, "fail leaf-0:73", "repair spine-0:1") == {}


def test_names_of_what_is_left_can_be_selected() -> None:
    did = after(ODD, "fail s#0~t", "repair t>s#0#1")
    assert did == {"s#0~t#0": 0, "s#0>t#1": 0, "s#0~t#2": 0}
    for name in did:
        assert resolve(ODD, [Action("fail", name)])[0].component == name
    assert after(ODD, "fail x>y~s#0", "repair x>y>s#0") == {"s#0>x>y#0": 0}


def test_a_repair_leaves_other_faults_as_bad_as_they_were() -> None:
    # Cable 1 has failed on its own; the repair of cable 0 must not lift it to the bundle's 0.5.
    did = ("degrade leaf-0~spine-3 to 0.5", "fail leaf-0~spine-3#1", "repair leaf-0~spine-3#0")
    assert after(AZURE, *did) == {"leaf-0~spine-3#1": 0}
    did = ("fail leaf-0~spine-3", "degrade leaf-0~spine-3#1 to 0.5", "repair leaf-0~spine-3#0")
    assert after(AZURE, *did) == {"leaf-0~spine-3#1": 0}
    # A bundle, a port and a cage on the same cable: all of them are repaired on it.
    did = ("fail leaf-0~spine-0", "fail leaf-0:73", "fail leaf-0/cage-37")
    assert after(AZURE, *did, "repair leaf-0~spine-0#0") == {"leaf-0~spine-0#1": 0}
    # A cable and one way of it.
    did = ("degrade leaf-0~spine-0#0 to 0.5", "fail leaf-0~spine-0", "repair leaf-0>spine-0#0")
    assert after(AZURE, *did) == {"spine-0>leaf-0#0": 0, "leaf-0~spine-0#1": 0}


def test_a_repair_of_what_contains_a_part_leaves_its_own_fault() -> None:
    did = ("fail rack-3/tray-0", "fail rack-3", "repair rack-3")
    assert after(AZURE, *did) == {"rack-3/tray-0": 0}
    assert after(AZURE, "fail leaf-0:73", "fail leaf-0", "repair leaf-0") == {"leaf-0:73": 0}


@pytest.mark.parametrize(
    ("did", "why"),
    [
        (("repair spine-3",), "it is healthy"),
        (("repair leaf-0~spine-3",), "it is healthy"),
        (("fail spine-2", "repair spine-3"), "it is healthy"),
        (("fail spine-3", "restore", "repair spine-3"), "it is healthy"),
        (("fail leaf-0:73", "repair leaf-0"), "it is healthy"),
        (("fail leaf-0~spine-3#0", "repair leaf-0~spine-3#1"), "it is healthy"),
        (("fail leaf-0>spine-3", "repair spine-3>leaf-0"), "it is healthy"),
        (("fail rack-3", "repair rack-3/tray-0"), "rack-3/tray-0 is down with rack-3: repair that"),
        (("fail rack-3", "repair rack-3/tray-0/gpu-1"), "is down with rack-3: repair that"),
        (("fail rack-3/nvtray-1", "repair rack-3/nvswitch-3"), "is down with rack-3/nvtray-1:"),
        (("fail rack-3/feed-a", "repair rack-3/shelf-0"), "is down with rack-3/feed-a: repair"),
        (("fail loop-3", "repair hxu-3"), "hxu-3 is down with loop-3: repair that"),
        (("fail spine-3", "repair leaf-0~spine-3#1"), "leaf-0~spine-3#1 is down with spine-3:"),
        (("fail spine-3", "repair leaf-0>spine-3"), "leaf-0>spine-3 is down with spine-3: repair"),
        (("fail leaf-0", "repair leaf-0:73"), "leaf-0:73 is down with leaf-0: repair that"),
        (("fail leaf-0", "repair leaf-0/cage-1"), "leaf-0/cage-1 is down with leaf-0: repair"),
        (("fail rack-0", "repair leaf-0:1"), "leaf-0:1 is down with rack-0: repair that"),
        (("fail rack-0/tray-0", "repair rack-0/tray-0/nic-0~leaf-0"), "with rack-0/tray-0:"),
        (
            ("fail rack-0/nvtray-0", "repair rack-0/tray-0/gpu-0~rack-0/nvswitch-1"),
            "is down with rack-0/nvtray-0: repair that",
        ),
        # A degraded NIC does not take its cable down.
        (
            ("degrade rack-0/tray-0/nic-0 to 0.5", "repair rack-0/tray-0/nic-0~leaf-0"),
            "it is healthy",
        ),
    ],
)
def test_refused_repairs_say_why(did: tuple[str, ...], why: str) -> None:
    error = refusal(AZURE, *did)
    assert error.message == "has no fault to repair"
    assert error.where == repr(did[-1].partition(" ")[2])
    assert why in error.hint


def test_a_refused_selector_is_named() -> None:
    assert "did you mean 'spine-3'" in refusal(AZURE, "fail spin-3").hint
    assert "it has two tiers" in refusal(AZURE, "fail core-0").hint


NAMES = st.sampled_from(
    [
        *("leaf-0~spine-3", "leaf-0~spine-3#0", "leaf-0~spine-3#1", "leaf-0>spine-3"),
        *("spine-3>leaf-0#1", "leaf-0:79", "leaf-0/cage-40", "spine-3:1", "leaf-0~spine-*"),
        *("leaf-0", "spine-3", "rack-0", "rack-0/tray-0", "rack-0/tray-0/nic-0"),
        *("rack-0/tray-0/nic-0~leaf-0", "leaf-0:1", "leaf-0>*", "rack-0/tray-0/nic-0~*"),
    ]
)
ACTIONS = st.builds(
    Action,
    st.sampled_from(["fail", "degrade", "degrade", "repair", "restore"]),
    NAMES,
    st.sampled_from([0.25, 0.5, 1.0]),
)


@given(st.lists(ACTIONS, max_size=12))
@settings(deadline=None)
def test_a_repair_makes_its_part_whole_and_nothing_worse(actions: list[Action]) -> None:
    done: list[Action] = []
    for action in actions:
        try:
            faults = resolve(AZURE, [*done, action])
        except InputError:
            continue
        before, now = apply(AZURE, resolve(AZURE, done)), apply(AZURE, faults)
        assert len({fault.component for fault in faults}) == len(faults)
        assert all(0 <= fault.factor < 1 for fault in faults)
        if action.verb == "repair":
            parts = resolve(AZURE, [Action("fail", action.selector)])
            links = {link for part in parts for link in part.links}
            for fault in faults:
                assert not links & set(fault.links)
            for number, tier in enumerate(AZURE.tiers):
                rates = [health.capacity(AZURE, number) for health in (before, now)]
                assert (rates[1] >= rates[0]).all()
                # Links that were not repaired keep their own factor.
                mine = np.array([x - tier.first for x in links if tier.first <= x < tier.end], int)
                kept = [
                    np.ones(2 * tier.n) if own is None else own.ravel().copy()
                    for own in (before.link_factor[number], now.link_factor[number])
                ]
                kept[0][mine] = 1
                assert np.array_equal(kept[0], kept[1])
        done.append(action)
