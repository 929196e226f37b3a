"""All-to-all in groups by counting and by trays, against the same transfers pair by pair."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.flows.above import Above
from gbviz.flows.columns import flow_columns
from gbviz.flows.router import router
from gbviz.jobs import exchange
from gbviz.jobs.exchange import countable, counted_loads, tray_pairs
from gbviz.jobs.phases import collective
from gbviz.topology import build, cluster_spec
from tests.routing import EVERYTHING, FABRICS, HOSTS, NVLINK, SWITCHES, broken, damage
from tests.slow_reference import Net

if TYPE_CHECKING:
    from gbviz.flows.router import Router
    from gbviz.routing.modes import Mode
    from gbviz.topology import Fabric
    from gbviz.topology.fabric import Bools, Floats, Ints

SPREADS: tuple[Mode, ...] = ("adaptive", "spray")
RACKS = build(cluster_spec(racks=3))


def damaged(fabric: Fabric, seed: int, kinds: tuple[str, ...], mode: Mode = "adaptive") -> Router:
    rng = np.random.default_rng(seed)
    return router(fabric, broken(fabric, *damage(fabric, rng, 1 + seed % 3, kinds)), mode, seed)


def some_groups(by: Router, seed: int, k: int) -> Ints:
    """Random groups of `k` live GPUs; none has a GPU of another."""
    rng = np.random.default_rng(seed + 1000)
    live = rng.permutation(np.flatnonzero(by.nics.live))
    n = len(live) // k
    return live[: n * k].reshape(n, k)


def members(groups: Ints) -> list[tuple[int, int]]:
    return [(s, t) for group in groups.tolist() for s in group for t in group if s != t]


def one_by_one(by: Router, pairs: list[tuple[int, int]]) -> Floats:
    """Bytes on the router's links where each pair sends 1."""
    source, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    load = np.zeros(len(by.space.capacity))
    found = flow_columns(by, source, target)
    assert not found.cut.any()
    assert not found.gone.any()
    if found.above is not None:
        start = by.space.starts
        found = found.with_limits(np.ones(start[6] - start[2], dtype=bool))
    for columns, weights in zip(found.columns, found.weights, strict=True):
        for (row, column), link in np.ndenumerate(columns):
            if link < len(load):
                load[link] += 1.0 if weights is None else weights[row, column]
    return load


def counted_on_links(by: Router, groups: Ints, simple: Bools) -> Floats:
    """What is counted, on the router's links."""
    start, load = by.space.starts, np.zeros(len(by.space.capacity))
    nics, leaves, amount = counted_loads(by, groups, simple)
    load[: start[2]] = nics
    load[start[2] : start[6]] = Above(by.live, by.table, *leaves).load(amount)
    return load


def apart(by: Router, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(s, t) for s, t in pairs if s // by.nvlink.gpus != t // by.nvlink.gpus]


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("mode", SPREADS)
def test_counted_is_enumerated(name: str, k: int, mode: Mode) -> None:
    counted = 0
    for seed in range(8):
        by = damaged(FABRICS[name], seed, (*EVERYTHING[:5], *SWITCHES, *NVLINK, *HOSTS), mode)
        groups = some_groups(by, seed, k)
        simple = countable(by, groups)
        if not simple.any():
            continue
        load = counted_on_links(by, groups, simple)
        first = int(by.space.starts[-2])
        both = [(s, t) for g, m in zip(groups, simple, strict=True) for s, t in members(g[m][None])]
        want = one_by_one(by, apart(by, both))
        np.testing.assert_allclose(load[:first], want[:first], rtol=1e-12, atol=1e-12)
        counted += 1
    assert counted


def most_in_a_rack(by: Router, groups: Ints) -> int:
    n = by.nvlink.gpus
    return max(sum(int(s // n == t // n) for t in g) - 1 for g in list(groups) for s in g)


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("k", [3, 6])
def test_a_whole_fabric_is_all_countable(name: str, k: int) -> None:
    by = router(FABRICS[name], broken(FABRICS[name]), "adaptive", 0)
    groups = some_groups(by, k, k)
    simple = countable(by, groups)
    assert simple.all()
    load = counted_on_links(by, groups, simple)
    net, pairs = Net(FABRICS[name], by.health), apart(by, members(groups))
    for nic, (up, down, _, _) in net.nic_link.items():
        shares = [share for s, t in pairs for _, share in net.pieces(s, t, "adaptive", 0)]
        assert load[nic] == pytest.approx(float(sum(share.get(up, 0) for share in shares)))
        into = load[int(by.space.starts[1]) + nic]
        assert into == pytest.approx(float(sum(share.get(down, 0) for share in shares)))


def worst_s(by: Router, load: Floats) -> float:
    """Seconds on the slowest link; NVLink of whole racks is never that."""
    first, busy = int(by.space.starts[-2]), load > 0
    part = np.where(np.arange(len(load)) < first, 0.95, 680 / 900)
    return float((load[busy] / (part * by.space.capacity)[busy]).max())


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("kinds", [HOSTS, ("nic cable", "nic", "leaf"), NVLINK, EVERYTHING])
def test_trays_stand_for_their_gpus(
    name: str, kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric = FABRICS[name]
    for seed in range(8):
        by = damaged(fabric, seed, kinds)
        groups = some_groups(by, seed, 4)
        pairs = apart(by, members(groups))
        ways = np.array(pairs).reshape(-1, 2).T
        if flow_columns(by, *ways).cut.any():
            continue
        monkeypatch.setattr(exchange, "_MOST_PAIRS", 1 + 7 * seed)
        load, some = np.zeros(len(by.space.capacity)), 0.0
        for source, target, times in tray_pairs(by, groups, np.zeros(groups.shape, bool)):
            found = flow_columns(by, source, target)
            load += found.load(times[found.flow])
            some += float(times.sum())
        assert some == len(pairs)
        first = int(by.space.starts[-2])
        want = one_by_one(by, pairs)
        np.testing.assert_allclose(load[:first], want[:first], rtol=1e-12, atol=1e-12)
        assert worst_s(by, load) == pytest.approx(worst_s(by, want), rel=1e-12)


def test_a_gpu_that_reaches_one_mate_only_does_not_stand_for_another() -> None:
    """GPU 0 keeps ASIC 0, GPU 2 all others: they do not meet; GPUs 1 and 3 meet everybody."""
    lost = [f"rack-0/tray-0/gpu-0~rack-0/nvswitch-{n}" for n in range(1, 18)]
    by = router(RACKS, broken(RACKS, *lost, "rack-0/tray-0/gpu-2~rack-0/nvswitch-0"), "adaptive", 0)
    assert by.nics.joined[:4].tolist() == [
        [True, True, False, True],
        [True, True, True, True],
        [False, True, True, True],
        [True, True, True, True],
    ]
    groups = np.array([[0, 1, 3, 74, 75]])
    [(source, target, times), *more] = tray_pairs(by, groups, np.zeros(groups.shape, bool))
    assert not more
    found = flow_columns(by, source, target)
    want = one_by_one(by, apart(by, members(groups)))
    whole = int(by.space.starts[-2]) + 2 * 3 * 72
    load = found.load(times[found.flow])
    for part in (slice(int(by.space.starts[-2])), slice(whole, None)):
        np.testing.assert_allclose(load[part], want[part], rtol=1e-12)


def test_few_links_of_a_gpu_are_its_own_load() -> None:
    """GPU 0 with 3 of 18 links, 113 GB/s: three of its four targets are on other rails."""
    by = router(
        RACKS,
        broken(RACKS, *(f"rack-0/tray-0/gpu-0~rack-0/nvswitch-{n}" for n in range(3, 18))),
        "adaptive",
        0,
    )
    group = np.array([[0, 1, 2, 3, 72, 73, 74, 75]])
    phase = collective("ep", by, group, "all_to_all", 8e9)
    # Each NIC: 4 transfers of 1 GB to its rail. NVLink out of GPU 0: 3 of its 4, 3 GB.
    assert phase.fabric_s()[0] == pytest.approx(4 / 95)
    # Inside: 3 GB more each way over 3 links.
    assert phase.nvlink_s == pytest.approx(3 / (3 * 50 * 680 / 900))


def test_what_cannot_be_counted() -> None:
    groups = np.array([[0, 72], [1, 144], [80, 150], [8, 9]])

    def odd(*did: str, mode: Mode = "adaptive") -> list[int]:
        by = router(RACKS, broken(RACKS, *did), mode, 0)
        found: list[int] = groups[~countable(by, groups)].tolist()
        return found

    assert odd() == []
    assert odd("rack-0/tray-0/nic-3") == [0, 1]
    assert odd("rack-0/nvswitch-0") == [0, 1, 8, 9]
    assert odd("leaf-0") == [0, 72, 1, 144, 80, 150]
    assert odd("rack-0/tray-0/gpu-2") == [0, 1, 8, 9]
    assert odd(mode="ecmp") == groups.reshape(-1).tolist()


@pytest.mark.parametrize("mode", ["adaptive", "spray", "ecmp", "static"])
@pytest.mark.parametrize("name", FABRICS)
def test_the_phase_takes_as_long_as_its_worst_link(name: str, mode: Mode) -> None:
    """Some groups counted, some not, together on the fabric; NVLink apart."""
    fabric, part = FABRICS[name], 2.5e8
    for seed in range(6):
        by = damaged(fabric, seed, ("nic", "half nic", "leaf", "cable", "half cable"), mode)
        groups = some_groups(by, seed, 4)
        pairs = apart(by, members(groups))
        ways = np.array(pairs).reshape(-1, 2).T
        phase = collective("ep", by, groups, "all_to_all", 4 * part)
        if flow_columns(by, *ways).cut.any():
            assert phase.seconds() == np.inf
            continue
        load = one_by_one(by, pairs)[: int(by.space.starts[-2])] * part
        room = 0.95e9 * by.space.capacity[: len(load)]
        busy = load > 0
        worst = float((load[busy] / room[busy]).max(initial=0.0))
        # A dead NIC's own bytes go no faster around it.
        R = by.nics.rails
        own = Counter(("out", s - s % R + t % R) for s, t in pairs)
        own += Counter(("in", t) for _, t in pairs)
        alone = max(own.values(), default=0) * part / (0.95e9 * fabric.tiers[0].capacity.max())
        assert phase.fabric_s()[0] == pytest.approx(max(worst, alone), rel=1e-9)
        inside = most_in_a_rack(by, groups) * part / (680 / 900 * by.nvlink.capacity[0] * 1e9)
        assert phase.nvlink_s == pytest.approx(inside, rel=1e-9)
