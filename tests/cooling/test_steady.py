from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.cooling import Thermal, loops, steady
from gbviz.faults import Action, apply, resolve
from gbviz.topology import CoolingSpec, Fabric, Health, build, cluster_spec
from gbviz.topology.catalogue import catalogue
from gbviz.topology.health import healthy

if TYPE_CHECKING:
    from gbviz.topology.fabric import Floats

AZURE = build(cluster_spec("azure-gb300"))
CDU = build(cluster_spec("gb300-cdu"))
# Two racks a loop, so five racks end in a loop of one; each rack asks for 35.2 + 8 x 1.4 kW.
SMALL = build(
    cluster_spec(
        racks=5,
        trays_per_rack=2,
        cooling={"kind": "cdu", "units": 3, "racks_per_loop": 2, "capacity_kw": 30.0},
    )
)


def fail(selector: str) -> Action:
    return Action("fail", selector)


def degrade(selector: str, factor: float) -> Action:
    return Action("degrade", selector, factor)


def settle(fabric: Fabric, *actions: Action, activity: Floats | None = None) -> Thermal:
    return steady(fabric, apply(fabric, resolve(fabric, actions)), activity)


def clock_at(power_w: float) -> float:
    return math.sqrt((power_w - 200) / 1200)


def test_healthy_sidecars_run_at_full_clock() -> None:
    thermal = settle(AZURE)
    assert not thermal.absent
    assert (thermal.clock == 1).all()
    assert (thermal.gpu_power_w == 1400).all()
    assert thermal.die_c == pytest.approx(np.full(4608, 40 + 1400 * 0.0267))
    assert thermal.rack_power_kw == pytest.approx(np.full(64, 136.0))
    assert thermal.heat_kw == pytest.approx(np.full(64, 122.4))
    assert (thermal.capacity_kw == 136).all()
    assert (thermal.supply_c == 40).all()
    assert not thermal.rack_down.any()
    assert (thermal.rack_cause == -1).all()


@pytest.mark.parametrize("lost", [0, 1])
def test_shared_units_carry_the_loop_with_one_lost(lost: int) -> None:
    thermal = settle(CDU, *[fail("cdu-0")][:lost])
    assert thermal.heat_kw == pytest.approx([3916.8, 3916.8])
    assert thermal.capacity_kw == pytest.approx([(4 - lost) * 1368, 4 * 1368])
    assert (thermal.supply_c == 40).all()
    assert (thermal.clock == 1).all()


def test_two_of_four_units_lost_throttles_their_loop() -> None:
    """2,736 kW / 0.9 / 32 racks = 95 kW; (95 - 35.2) / 72 = 830.6 W; 87 - 830.6 R = 64.8 °C."""
    thermal = settle(CDU, fail("cdu-[0-1]"))
    watts = 59_800 / 72
    half = 32 * 72
    assert thermal.rack_power_kw[:32] == pytest.approx(np.full(32, 95.0))
    assert thermal.gpu_power_w[:half] == pytest.approx(np.full(half, watts))
    assert thermal.clock[:half] == pytest.approx(np.full(half, clock_at(watts)))
    assert thermal.clock[0] == pytest.approx(0.725, abs=5e-4)
    assert thermal.supply_c == pytest.approx([64.824, 40], abs=1e-3)
    assert thermal.die_c[:half] == pytest.approx(np.full(half, 87.0))
    assert thermal.heat_kw[0] == pytest.approx(2736, rel=1e-12)
    assert (thermal.clock[half:] == 1).all()
    assert not thermal.rack_down.any()


def test_three_of_four_units_lost_is_less_than_idle_heat() -> None:
    """Idle heat 32 x 0.9 x (35.2 + 14.4) = 1,428 kW against 1,368: the third loss was too much."""
    thermal = settle(CDU, fail("leaf-0"), fail("cdu-[4-6]"), fail("cdu-0"))
    assert thermal.rack_down.tolist() == [False] * 32 + [True] * 32
    assert thermal.rack_cause.tolist() == [-1] * 32 + [3] * 32
    assert thermal.heat_kw == pytest.approx([3916.8, 0])
    assert thermal.capacity_kw == pytest.approx([3 * 1368, 1368])
    assert (thermal.gpu_power_w[32 * 72 :] == 0).all()
    assert (thermal.clock[32 * 72 :] == 0).all()


def test_a_lost_sidecar_shuts_its_rack_down() -> None:
    thermal = settle(AZURE, fail("spine-3"), fail("hxu-9"))
    assert np.flatnonzero(thermal.rack_down).tolist() == [9]
    assert thermal.rack_cause[9] == 1
    assert thermal.rack_power_kw[9] == 0
    assert np.flatnonzero(thermal.clock == 0).tolist() == list(range(648, 720))


def test_a_lost_loop_is_its_racks_cause() -> None:
    thermal = settle(CDU, fail("cdu-0"), fail("loop-0"))
    assert thermal.rack_cause.tolist() == [1] * 32 + [-1] * 32


def test_a_weak_sidecar_throttles_its_rack() -> None:
    """0.8 x 136 / 0.9 = 120.9 kW; (120.9 - 35.2) / 72 = 1,190.1 W."""
    thermal = settle(AZURE, degrade("hxu-0", 0.8))
    watts = (0.8 * 136 / 0.9 - 35.2) / 72 * 1000
    assert thermal.heat_kw[0] == pytest.approx(108.8, rel=1e-12)
    assert thermal.clock[:72] == pytest.approx(np.full(72, clock_at(watts)))
    assert thermal.supply_c[0] == pytest.approx(87 - watts * 0.0267)
    assert (thermal.clock[72:] == 1).all()


def test_one_feed_caps_the_rack() -> None:
    """132 kW: (132 - 35.2) / 72 = 1,344.4 W."""
    thermal = settle(AZURE, fail("rack-3/feed-b"))
    assert thermal.rack_power_kw[3] == pytest.approx(132, rel=1e-12)
    assert thermal.gpu_power_w[216] == pytest.approx(1344.444, abs=1e-3)
    assert thermal.clock[216:288] == pytest.approx(np.full(72, 0.97657), abs=1e-5)
    assert (np.delete(thermal.clock, np.s_[216:288]) == 1).all()


@pytest.mark.parametrize(
    ("lost", "watts"), [(1, 1400.0), (3, 1400.0), (4, 96_800 / 72), (6, 30_800 / 72)]
)
def test_shelves_lost_one_by_one(lost: int, watts: float) -> None:
    thermal = settle(AZURE, fail(f"rack-0/shelf-[0-{lost - 1}]"))
    assert thermal.gpu_power_w[:72] == pytest.approx(np.full(72, watts))
    assert thermal.clock[:72] == pytest.approx(np.full(72, clock_at(watts)))
    assert not thermal.rack_down[0]


def test_a_rack_without_enough_power_to_idle_shuts_down() -> None:
    """One shelf gives 33 kW, less than 35.2: the seventh loss (fault 6) was too much."""
    thermal = settle(AZURE, fail("rack-0/shelf-[0-7]"), fail("rack-1/feed-*"))
    assert np.flatnonzero(thermal.rack_down).tolist() == [0, 1]
    assert thermal.rack_cause[:3].tolist() == [6, 9, -1]
    assert thermal.rack_power_kw[:2].tolist() == [0, 0]


def test_failed_and_degraded_gpus_leave_their_power_to_the_others() -> None:
    """One failed, one at 0.5 (500 W): 70 share 96.8 - 0.5 kW of one feed, 1,375.7 W each."""
    gpus = [fail("rack-0/tray-0/gpu-0"), degrade("rack-0/tray-0/gpu-1", 0.5)]
    thermal = settle(AZURE, *gpus, fail("rack-0/feed-a"))
    watts = 96_300 / 70
    assert thermal.gpu_power_w[:72] == pytest.approx([0, 500, *[watts] * 70])
    assert thermal.clock[:72] == pytest.approx([0, 0.5, *[clock_at(watts)] * 70])
    assert thermal.die_c[:2] == pytest.approx([40, 40 + 500 * 0.0267])
    # A failed tray leaves the rack at 35.2 + 68 x 1.4 = 130.4 kW: no cap.
    assert (settle(AZURE, fail("rack-0/tray-0"), fail("rack-0/feed-a")).clock[4:] == 1).all()


def test_idle_gpus_feel_no_cap() -> None:
    """16 idle racks at 49.6 kW leave 3,040 - 793.6 kW to the other 16: 140.4, more than 136."""
    activity = np.ones(4608)
    activity[: 16 * 72] = 0
    thermal = settle(CDU, fail("cdu-[0-1]"), activity=activity)
    assert (thermal.clock == 1).all()
    assert thermal.gpu_power_w[0] == 200
    throttled = settle(CDU, fail("cdu-[0-1]"), degrade("cdu-2", 0.75), activity=activity)
    watts = (1.75 * 1368 / 0.9 - 16 * 49.6 - 16 * 35.2) * 1000 / (16 * 72)
    assert (throttled.clock[: 16 * 72] == 1).all()
    assert throttled.clock[16 * 72 : 32 * 72] == pytest.approx(np.full(16 * 72, clock_at(watts)))


def test_a_cap_lets_less_active_gpus_clock_higher() -> None:
    """At activity 0.9 a GPU asks for 1,280 W; at 1,190.1 W its clock is sqrt(990.1 / 1,080)."""
    activity = np.full(4608, 0.9)
    watts = (0.75 * 136 / 0.9 - 35.2) / 72 * 1000
    thermal = settle(AZURE, degrade("hxu-0", 0.75), activity=activity)
    assert thermal.clock[0] == pytest.approx(math.sqrt((watts - 200) / 1080))
    assert thermal.heat_kw[0] == pytest.approx(0.75 * 136, rel=1e-12)
    assert thermal.gpu_power_w[72] == pytest.approx(1280)


def test_feed_and_cooling_caps_meet() -> None:
    """Where the loop's cap is the lower one the feed does not matter; else both are full."""
    both = settle(CDU, fail("cdu-[0-1]"), fail("rack-0/feed-a"))
    assert both.clock == pytest.approx(settle(CDU, fail("cdu-[0-1]")).clock)
    slight = settle(CDU, fail("cdu-0"), degrade("cdu-1", 0.8), fail("rack-0/feed-a"))
    assert slight.rack_power_kw[0] == pytest.approx(132)
    assert slight.heat_kw[0] == pytest.approx(2.8 * 1368, rel=1e-12)
    rest = (2.8 * 1368 / 0.9 - 132) / 31
    assert slight.rack_power_kw[1:32] == pytest.approx(np.full(31, rest))


def test_a_rack_that_power_shuts_down_heats_no_loop() -> None:
    thermal = settle(CDU, fail("rack-[0-15]/feed-*"), fail("cdu-[0-1]"))
    assert thermal.heat_kw[0] == pytest.approx(16 * 122.4)
    assert (thermal.clock[16 * 72 :] == 1).all()
    assert thermal.rack_cause[:17].tolist() == [*range(1, 32, 2), -1]


def test_the_last_loop_may_be_smaller() -> None:
    fabric = build(cluster_spec("gb300-cdu", racks=40))
    thermal = settle(fabric, fail("cdu-[4-6]"))
    assert thermal.heat_kw == pytest.approx([3916.8, 8 * 122.4])
    assert (thermal.clock == 1).all()
    lost = settle(fabric, fail("cdu-[4-7]"))
    assert lost.rack_down.tolist() == [False] * 32 + [True] * 8
    weak = settle(fabric, fail("cdu-[4-6]"), degrade("cdu-7", 0.6))
    assert weak.heat_kw[1] == pytest.approx(0.6 * 1368, rel=1e-12)


def test_one_loop_larger_than_the_cluster() -> None:
    cooling = {"kind": "cdu", "racks_per_loop": 100_000}
    fabric = build(cluster_spec(racks=2, cooling=cooling))
    assert settle(fabric).heat_kw == pytest.approx([244.8])


def test_a_hot_set_point_throttles_without_any_fault() -> None:
    """(87 - 60) / 0.0267 = 1,011.2 W, clock 0.8222, at the set point."""
    fabric = build(cluster_spec(racks=2, cooling={"kind": "hxu", "set_point_c": 60.0}))
    thermal = settle(fabric)
    assert thermal.clock == pytest.approx(np.full(144, 0.8222), abs=5e-5)
    assert thermal.die_c == pytest.approx(np.full(144, 87.0))
    assert (thermal.supply_c == 60).all()
    # What the sidecar can no longer take away comes on top.
    weak = settle(fabric, degrade("hxu-0", 0.5))
    assert weak.heat_kw[0] == pytest.approx(68, rel=1e-12)
    assert weak.supply_c[0] > 60


def test_too_little_cooling_without_any_fault_has_no_cause() -> None:
    fabric = build(cluster_spec(racks=2, cooling={"kind": "hxu", "capacity_kw": 40.0}))
    for actions in ((), (degrade("hxu-0", 0.5),)):
        thermal = settle(fabric, *actions)
        assert thermal.rack_down.all()
        assert (thermal.rack_cause == -1).all()


def test_failed_racks_are_not_reported_as_shut_down() -> None:
    thermal = settle(AZURE, fail("rack-5"), fail("hxu-5"), fail("rack-5/feed-*"))
    assert not thermal.rack_down.any()
    assert thermal.rack_power_kw[5] == 0
    assert thermal.heat_kw[5] == 0


def test_everything_failed() -> None:
    everything = [fail("rack-*"), fail("rack-*/feed-*"), fail("loop-*")]
    thermal = settle(CDU, *everything)
    assert not thermal.clock.any()
    assert not thermal.rack_power_kw.any()
    assert not thermal.rack_down.any()
    assert [state.reason for state in loops(CDU, thermal)] == ["no cooling unit is live"] * 2


def test_racks_without_gpus_still_need_their_own_power_and_cooling() -> None:
    gone = fail("rack-*/tray-*")
    assert settle(AZURE, gone).rack_power_kw == pytest.approx(np.full(64, 35.2))
    thermal = settle(AZURE, gone, degrade("hxu-0", 0.2))
    assert np.flatnonzero(thermal.rack_down).tolist() == [0]
    states = loops(AZURE, thermal)
    assert states[1].reason == "no GPU of its racks runs"
    assert (states[1].supply_c, states[1].hottest_die_c, states[1].clock) == (40, None, None)


def test_loops_name_the_slowest_and_the_hottest() -> None:
    thermal = settle(CDU, fail("loop-1"), degrade("rack-0/tray-0/gpu-0", 0.3))
    first, second = loops(CDU, thermal)
    assert (first.loop, first.clock, first.reason) == ("loop-0", 0.3, None)
    assert first.hottest_die_c == pytest.approx(77.38)
    assert (second.loop, second.heat_kw, second.supply_c) == ("loop-1", 0, None)
    assert second.clock is None
    assert second.hottest_die_c is None


def test_a_fabric_that_does_not_say_how_it_is_cooled() -> None:
    kinds = {name: kind for name, kind in SMALL.kinds.items() if name not in ("cdu", "loop")}
    fabric = dataclasses.replace(SMALL, kinds=kinds)
    health = healthy(fabric)
    health.node_factor[fabric.nodes("gpu").start] = 0.5
    thermal = steady(fabric, health)
    assert thermal.absent
    assert thermal.clock.tolist() == [0.5] + [1.0] * 39
    assert len(thermal.gpu_power_w) == len(thermal.rack_power_kw) == 0
    assert not thermal.rack_down.any()
    assert loops(fabric, thermal) == []


def test_sizes_of_a_shared_loop_are_the_catalogues() -> None:
    cooling = CoolingSpec(kind="cdu")
    assert cooling.units_per_loop == catalogue().value("cooling.cdu_units_per_loop")
    assert cooling.racks_in_loop == catalogue().value("cooling.cdu_racks_per_loop")


def cases(kinds: tuple[tuple[str, int], ...]) -> st.SearchStrategy[dict[str, list[float]]]:
    factors = st.sampled_from([0.0, 0.0, 0.35, 0.8, 1.0, 1.0])
    return st.fixed_dictionaries(
        {kind: st.lists(factors, min_size=count, max_size=count) for kind, count in kinds}
    )


PARTS = cases((("cdu", 9), ("gpu", 40)))
SHELVES = st.lists(st.sampled_from([0.0, 1.0]), min_size=40, max_size=40)
ACTIVITY = st.lists(st.sampled_from([0.0, 0.3, 0.9, 1.0]), min_size=40, max_size=40)


def health_of(factors: dict[str, list[float]]) -> Health:
    health = healthy(SMALL)
    for kind, values in factors.items():
        health.node_factor[SMALL.nodes(kind)] = values
    return health


def cap_by_bisection(asked: list[float], budget: float) -> float:
    low, high = 0.0, 1400.0
    for _ in range(200):
        middle = (low + high) / 2
        fits = sum(min(power, middle) for power in asked) <= budget
        low, high = (middle, high) if fits else (low, middle)
    return low


def limited(asked: list[list[float]], fixed: list[float], available_w: float) -> list[list[float]]:
    """Racks that share a supply, each by plain loops: capped, or all 0."""
    total = sum(fixed) + sum(map(sum, asked))
    if total <= available_w * (1 + 1e-9):
        return asked
    cap = cap_by_bisection([power for rack in asked for power in rack], available_w - sum(fixed))
    if cap <= 200:
        return [[-1.0] * len(rack) for rack in asked]
    return [[min(power, cap) for power in rack] for rack in asked]


def slow_powers(factors: dict[str, list[float]], activity: list[float]) -> list[list[float]]:
    """GPU powers of SMALL, rack by rack; -1 where the rack is shut down."""
    own = np.array(factors["gpu"]).reshape(5, 8).tolist()
    active = np.array(activity).reshape(5, 8).tolist()
    racks = []
    for r in range(5):
        asked = [
            200 + 1200 * a * c * c if c > 0 else 0.0 for a, c in zip(active[r], own[r], strict=True)
        ]
        shelves_w = 33_000 * sum(factors["shelf"][8 * r : 8 * r + 8])
        racks += limited([asked], [35_200.0], shelves_w)
    out = []
    for loop, members in enumerate(([0, 1], [2, 3], [4])):
        on = [r for r in members if racks[r][0] >= 0]
        units_w = 30_000 * sum(factors["cdu"][3 * loop : 3 * loop + 3]) / 0.9
        cooled = dict(
            zip(on, limited([racks[r] for r in on], [35_200.0] * len(on), units_w), strict=True)
        )
        out += [cooled.get(r, racks[r]) for r in members]
    return out


@settings(max_examples=150, deadline=None)
@given(PARTS, SHELVES, ACTIVITY)
def test_powers_agree_with_plain_loops(
    factors: dict[str, list[float]], shelves: list[float], activity: list[float]
) -> None:
    factors = factors | {"shelf": shelves}
    thermal = steady(SMALL, health_of(factors), np.array(activity))
    expected = np.array(slow_powers(factors, activity))
    assert thermal.rack_down.tolist() == (expected[:, 0] < 0).tolist()
    assert thermal.gpu_power_w == pytest.approx(np.maximum(expected, 0).reshape(-1), abs=1e-6)


@settings(max_examples=150, deadline=None)
@given(PARTS, SHELVES, ACTIVITY)
def test_energy_balance_and_limits(
    factors: dict[str, list[float]], shelves: list[float], activity: list[float]
) -> None:
    thermal = steady(SMALL, health_of(factors | {"shelf": shelves}), np.array(activity))
    gpus = thermal.gpu_power_w.reshape(5, 8)
    on = ~thermal.rack_down
    assert thermal.rack_power_kw == pytest.approx(on * 35.2 + gpus.sum(axis=1) / 1000, rel=1e-12)
    assert (
        thermal.rack_power_kw <= 33 * np.array(shelves).reshape(5, 8).sum(axis=1) * 1.0001
    ).all()
    heat = 0.9 * np.add.reduceat(thermal.rack_power_kw, [0, 2, 4])
    assert thermal.heat_kw == pytest.approx(heat, rel=1e-12)
    assert (thermal.heat_kw <= thermal.capacity_kw * (1 + 2e-9)).all()
    warm = thermal.supply_c > 40
    assert thermal.heat_kw[warm] == pytest.approx(thermal.capacity_kw[warm], rel=1e-9)
    assert (thermal.die_c <= 87 + 1e-9).all()
    own = np.array(factors["gpu"])
    assert ((thermal.clock >= 0) & (thermal.clock <= own)).all()
    law = 200 + 1200 * np.array(activity) * thermal.clock**2
    live = thermal.gpu_power_w > 0
    assert thermal.gpu_power_w[live] == pytest.approx(law[live], rel=1e-9)
    assert ((thermal.clock > 0) == live).all()
    for value in dataclasses.asdict(thermal).values():
        assert np.isfinite(value).all()
    for state in loops(SMALL, thermal):
        assert (state.clock is None) == (state.hottest_die_c is None)


@settings(max_examples=150, deadline=None)
@given(PARTS, SHELVES, ACTIVITY, st.lists(st.sampled_from([0.0, 0.5, 0.9, 1.0]), min_size=9))
def test_less_cooling_raises_no_clock(
    factors: dict[str, list[float]],
    shelves: list[float],
    activity: list[float],
    further: list[float],
) -> None:
    before = health_of(factors | {"shelf": shelves})
    after = health_of(factors | {"shelf": shelves})
    after.node_factor[SMALL.nodes("cdu")] *= further[:9]
    more, less = (steady(SMALL, health, np.array(activity)) for health in (before, after))
    assert (less.clock <= more.clock + 1e-12).all()
    assert (less.supply_c[~np.isin([0, 2, 4], np.flatnonzero(less.rack_down))] >= 40).all()


@settings(max_examples=100, deadline=None)
@given(PARTS, SHELVES, st.integers(0, 4), st.integers(0, 7))
def test_a_lost_shelf_raises_no_clock_of_its_rack(
    factors: dict[str, list[float]], shelves: list[float], rack: int, shelf: int
) -> None:
    factors["cdu"] = [1.0] * 9
    before, after = (health_of(factors | {"shelf": shelves}) for _ in range(2))
    after.node_factor[SMALL.nodes("shelf").start + 8 * rack + shelf] = 0
    more, less = steady(SMALL, before), steady(SMALL, after)
    own = np.s_[8 * rack : 8 * rack + 8]
    assert (less.clock[own] <= more.clock[own] + 1e-12).all()
    assert (less.heat_kw <= more.heat_kw + 1e-9).all()


@settings(max_examples=50, deadline=None)
@given(PARTS, st.permutations(range(8)))
def test_order_of_gpus_does_not_matter(
    factors: dict[str, list[float]], order: tuple[int, ...]
) -> None:
    mixed = dict(factors)
    mixed["gpu"] = [factors["gpu"][8 * r + g] for r in range(5) for g in order]
    plain, swapped = (steady(SMALL, health_of(each)) for each in (factors, mixed))
    index = np.array([8 * r + g for r in range(5) for g in order])
    assert swapped.clock == pytest.approx(plain.clock[index], rel=1e-9)
