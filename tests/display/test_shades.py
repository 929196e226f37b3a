from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gbviz.app.answer import Answer, answer
from gbviz.display import theme as hues
from gbviz.display.shades import COLOUR_BY, ColourBy, Look, Shades, hottest_c, shades
from gbviz.display.theme import DARK, LIGHT, packed
from gbviz.jobs.spec import CollectiveJob, TrafficSpec
from gbviz.scenario import preset
from tests.display.cases import EVERY, broken

LEAVES, SPINES = 64, 36


@cache
def azure(*faults: str, degraded: tuple[tuple[str, float], ...] = ()) -> Answer:
    job = TrafficSpec(kind="traffic", name="all", pattern="shift", argument=72)
    return answer(preset("azure-gb300").with_jobs(job).with_faults(*faults, degrade=dict(degraded)))


@cache
def busy(*faults: str) -> Answer:
    """A ring on racks 0 and 1, a shift on racks 2 to 5 that crosses spines, two racks idle."""
    ring = CollectiveJob(
        kind="collective", name="ring", op="all_reduce", size=1_000_000_000, racks="rack-[0-1]"
    )
    shift = TrafficSpec(kind="traffic", name="shift", pattern="shift", racks="rack-[2-5]")
    return answer(preset("gb300-su").with_jobs(ring, shift).with_faults(*faults))


def of(found: Answer, by: ColourBy = "utilisation", job: str | None = None) -> Shades:
    return shades(found.snapshot, found.loads, found.base, Look(DARK, colour_by=by, job=job))


def pair(leaf: int, spine: int) -> int:
    return leaf * SPINES + spine


def only(mask: np.ndarray[tuple[int], np.dtype[np.bool_]], *numbers: int) -> bool:
    return bool(np.flatnonzero(mask).tolist() == sorted(numbers))


@pytest.mark.parametrize("case", EVERY)
def test_everything_has_a_colour(case: str) -> None:
    fabric = broken(case).snapshot.fabric
    shape = fabric.shape
    assert shape is not None
    sizes = {
        "gpus": fabric.count("gpu"),
        "nvlink": fabric.count("gpu"),
        "pairs": shape.leaves * shape.spines_per_pod,
        "planes": shape.spines if shape.cores else 0,
    }
    for by in COLOUR_BY:
        found = of(broken(case), by)
        for name, size in sizes.items():
            colours = getattr(found, name)
            assert colours.dtype == np.uint32
            assert colours.shape == (size,)
            assert (colours >> 24 == 255).all()
        assert found.pair_value.shape == (sizes["pairs"],)
        assert ((found.pair_value >= 0) & (found.pair_value <= 1 + 1e-6)).all()


@pytest.mark.parametrize("by", COLOUR_BY)
def test_nothing_is_marked_on_a_healthy_cluster(by: ColourBy) -> None:
    found = of(azure(), by)
    for name in ("gpu", "leaf", "spine", "rack", "pair", "plane"):
        assert not getattr(found, f"{name}_down").any()
    assert not found.pair_hurt.any()
    assert not found.rack_hot.any()
    for colour in (DARK.failed, DARK.off):
        assert packed(colour) not in [*found.gpus, *found.pairs]


@pytest.mark.parametrize("by", COLOUR_BY)
def test_a_dead_spine_darkens_its_row(by: ColourBy) -> None:
    found = of(azure("spine-3"), by)
    assert only(found.spine_down, 3)
    row = {pair(leaf, 3) for leaf in range(LEAVES)}
    dark = np.flatnonzero(found.pairs == packed(DARK.off)).tolist()
    assert set(dark) == row
    # Its row says it; its pairs need no crosses of their own.
    assert not found.pair_down.any()
    assert not found.pair_hurt.any()


def test_a_dead_leaf_darkens_its_column() -> None:
    found = of(azure("leaf-7"))
    assert only(found.leaf_down, 7)
    dark = np.flatnonzero(found.pairs == packed(DARK.off)).tolist()
    assert dark == [pair(7, spine) for spine in range(SPINES)]
    assert not (found.pair_down | found.pair_hurt).any()
    assert not found.gpu_down.any()


def test_one_of_two_cables_dead_is_hurt_and_both_is_down() -> None:
    one = of(azure("leaf-5~spine-9#0"))
    assert only(one.pair_hurt, pair(5, 9))
    assert not one.pair_down.any()
    both = of(azure("leaf-5~spine-9"))
    assert only(both.pair_down, pair(5, 9))
    assert not both.pair_hurt.any()
    assert both.pair_value[pair(5, 9)] == 0


def test_one_direction_dead_is_hurt() -> None:
    found = of(azure("leaf-5>spine-9#0"))
    assert only(found.pair_hurt, pair(5, 9))


def test_a_cable_at_half_its_rate_is_hurt() -> None:
    found = of(azure(degraded=(("leaf-5~spine-9#1", 0.5),)))
    assert only(found.pair_hurt, pair(5, 9))
    assert not found.pair_down.any()
    health = of(azure(degraded=(("leaf-5~spine-9#1", 0.5),)), "health")
    assert only(health.pairs == packed(DARK.warm), pair(5, 9))


def test_a_dead_nic_has_a_sign_but_its_gpu_lives() -> None:
    found = of(azure("rack-2/tray-3/nic-1"), "health")
    gpu = (2 * 18 + 3) * 4 + 1
    assert only(found.nic_down, gpu)
    assert not (found.gpus == packed(DARK.failed)).any()
    assert not found.gpu_down.any()
    assert not found.rack_down.any()


@pytest.mark.parametrize("by", COLOUR_BY)
def test_a_dead_gpu_is_loud_and_a_dead_rack_dark(by: ColourBy) -> None:
    found = of(azure("rack-2/tray-3/gpu-1", "rack-9"), by)
    gpu = (2 * 18 + 3) * 4 + 1
    own = list(range(9 * 72, 10 * 72))
    assert only(found.gpu_down, gpu, *own)
    assert only(found.rack_down, 9)
    assert found.gpus[gpu] == packed(DARK.failed)
    assert (found.gpus[own] == packed(DARK.off)).all()
    assert (found.nvlink[own] == packed(DARK.off)).all()
    assert packed(DARK.failed) not in np.delete(found.gpus, [gpu]) or by == "health"


@pytest.mark.parametrize("by", COLOUR_BY)
def test_a_rack_without_cooling_is_hot_and_off(by: ColourBy) -> None:
    state = azure("hxu-4")
    found = of(state, by)
    assert only(found.rack_hot, 4)
    assert (found.gpus[4 * 72 : 5 * 72] == packed(DARK.off)).all() == bool(
        (state.snapshot.thermal.clock[4 * 72 : 5 * 72] == 0).all()
    )


def test_a_gpu_slowed_by_itself_is_no_matter_of_cooling() -> None:
    found = of(azure(degraded=(("rack-3/tray-0/gpu-2", 0.5),)), "health")
    gpu = 3 * 72 + 2
    assert only(found.gpus == packed(DARK.warm), gpu)
    assert not found.rack_hot.any()
    assert not found.gpu_down.any()


def test_a_weak_cooler_makes_a_rack_hot_but_not_dark() -> None:
    state = azure(degraded=(("hxu-4", 0.6),))
    clocks = state.snapshot.thermal.clock[4 * 72 : 5 * 72]
    assert 0 < clocks.min() < 1
    found = of(state, "health")
    assert only(found.rack_hot, 4)
    own = found.gpus[4 * 72 : 5 * 72]
    assert (own == np.where(clocks < 1, packed(DARK.warm), packed(DARK.high))).all()


def test_a_spine_with_a_dead_core_is_marked_and_a_dead_one_is_not() -> None:
    job = TrafficSpec(kind="traffic", name="all", pattern="shift", argument=72)
    base = preset("gb300-27k").with_jobs(job)
    found = of(answer(base.with_faults("core-0", "spine-24")))
    group = [pod * 24 for pod in range(16)]  # core 0 belongs to position 0 of each pod
    assert only(found.plane_down, *(spine for spine in group if spine != 24))
    assert only(found.spine_down, 24)
    assert found.planes[24] == packed(DARK.off)


def ramp(value: float) -> int:
    lut = hues.table(DARK, "slate")
    return int(lut[min(max(round(value * 249), 0), 249)])


def test_utilisation_of_nics_and_pairs_by_plain_loops() -> None:
    state = busy("leaf-2~spine-1#0")
    found, fabric, loads = of(state), state.snapshot.fabric, state.loads
    nics, cables = fabric.tiers[0], fabric.tiers[1]
    up_down = [[loads.utilisation(tier)[way].tolist() for way in (0, 1)] for tier in (0, 1)]
    gpu_of = {int(n): int(n) - fabric.nodes("nic").start for n in nics.lower}
    for cable in range(nics.n):
        gpu = gpu_of[int(nics.lower[cable])]
        most = max(up_down[0][0][cable], up_down[0][1][cable])
        if most == 0 and loads.job_of_gpu[gpu] < 0:
            assert found.gpus[gpu] == packed(DARK.idle)
        else:
            assert found.gpus[gpu] == ramp(most)
    most_of: dict[tuple[int, int], float] = {}
    for cable in range(cables.n):
        leaf = int(cables.lower[cable]) - fabric.nodes("leaf").start
        spine = int(cables.upper[cable]) - fabric.nodes("spine").start
        most = max(up_down[1][0][cable], up_down[1][1][cable])
        most_of[leaf, spine] = max(most_of.get((leaf, spine), 0.0), most)
    for (leaf, spine), most in most_of.items():
        assert found.pair_value[leaf * 4 + spine] == pytest.approx(most)
        assert found.pairs[leaf * 4 + spine] == ramp(most)
    assert max(most_of.values()) > 0.2


def test_by_rail_and_by_job() -> None:
    found = of(busy(), "rail")
    assert [int(c) for c in found.gpus] == [packed(DARK.rails[n % 4]) for n in range(576)]
    found = of(busy(), "job")
    hues_of = [0, 0, 1, 1, 1, 1, -1, -1]
    named = {0: DARK.jobs[0], 1: DARK.jobs[1], -1: DARK.idle}
    assert found.gpus.tolist() == [packed(named[job]) for job in hues_of for _ in range(72)]
    assert found.rack_job.tolist() == hues_of
    loads = busy().loads
    for number in range(len(found.pairs)):
        own = [float(job[1][:, number * 18 : number * 18 + 18].max()) for job in loads.jobs]
        loudest = own.index(max(own)) if max(own) > 0 else None
        colour = DARK.idle if loudest is None else DARK.jobs[loudest]
        assert found.pairs[number] == packed(colour)


def test_by_temperature_the_hottest_is_lightest() -> None:
    state = busy()
    found = of(state, "temperature")
    die = state.snapshot.thermal.die_c
    assert 40 < die.min() <= die.max() < hottest_c()
    seen = dict(zip(die.tolist(), found.gpus.tolist(), strict=True))
    values = sorted(seen)
    light = [seen[value] & 255 for value in values]
    assert light == sorted(light)


def test_by_delta_nothing_has_changed_until_something_fails() -> None:
    middle = int(hues.change_table(DARK)[hues.steps(np.array([0.5]))[0]])
    assert set(of(azure(), "delta").pairs.tolist()) == {middle}
    found = of(azure("spine-3"), "delta")
    living = [pair(0, spine) for spine in range(SPINES) if spine != 3]
    change = azure("spine-3").loads.utilisation(1) - azure().loads.utilisation(1)
    most = change.max(axis=0).reshape(-1, 2).max(axis=1)
    lut = hues.change_table(DARK)
    for number in living:
        # All of the scale is a change by half of a cable's capacity, either way.
        step = min(max(round((0.5 + most[number]) * 249), 0), 249)
        assert abs(int(np.flatnonzero(lut == found.pairs[number])[0]) - step) <= 1
    assert any(found.pairs[n] != middle for n in living)


def faded(colour: int, ground: int) -> int:
    out = 0xFF000000
    for shift in (16, 8, 0):
        a, b = colour >> shift & 255, ground >> shift & 255
        out |= round(a + (b - a) * 0.82) << shift
    return out


def test_a_lit_job_leaves_the_rest_near_the_ground() -> None:
    plain, lit = of(busy()), of(busy(), job="shift")
    ground = packed(DARK.ground)
    for gpu in range(576):
        before = int(plain.gpus[gpu])
        assert lit.gpus[gpu] == (before if 144 <= gpu < 432 else faded(before, ground))
    used = busy().loads.jobs[1][1].max(axis=0).reshape(-1, 18).max(axis=1) > 0
    assert used.any()
    for number in range(len(lit.pairs)):
        before = int(plain.pairs[number])
        assert lit.pairs[number] == (before if used[number] else faded(before, ground))


def test_a_job_that_is_gone_dims_nothing() -> None:
    assert (of(busy(), job="gone").gpus == of(busy()).gpus).all()


@pytest.mark.parametrize("by", COLOUR_BY)
def test_a_cluster_without_jobs_has_colours(by: ColourBy) -> None:
    found = of(answer(preset("gb300-su").with_faults("spine-0", "rack-1")), by)
    assert (found.rack_job == -1).all()
    light = answer(preset("gb300-su"))
    idle = shades(light.snapshot, light.loads, light.base, Look(LIGHT))
    assert set(idle.gpus.tolist()) == {packed(LIGHT.idle)}
