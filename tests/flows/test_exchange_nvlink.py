"""NVLink under the exchange of all with all: every pair of GPUs routed by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gbviz.flows.exchange_nvlink import nvlink_loads
from gbviz.flows.router import Router, router
from gbviz.topology import Fabric, build, cluster_spec
from tests.routing import FABRICS, broken, damage
from tests.slow_reference import Net

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL = build(cluster_spec(racks=3, trays_per_rack=2, gpus_per_tray=4, radix=16))


def links(gpu: str, first: int, last: int = 17) -> list[str]:
    """The NVLink links of a GPU to some ASICs."""
    rack = gpu.split("/")[0]
    return [f"{gpu}~{rack}/nvswitch-{n}" for n in range(first, last + 1)]


def found_in(by: Router) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], list[float]] | None:
    port = float(by.live.nic_up.max())
    found = nvlink_loads(by.nvlink, by.nics, by.table.joined, port)
    return None if found is None else (found[0], found[1].tolist())


def enumerated(by: Router, racks: set[int]) -> dict[tuple[int, int, int], float]:
    """Bytes by way, GPU and class of ASICs of some racks; way 0 is out of the GPU."""
    fabric, stage = by.fabric, by.nvlink
    net, tier = Net(fabric, by.health), fabric.nvlink
    assert tier is not None
    live = [gpu for gpu in range(fabric.count("gpu")) if net.alive("gpu", gpu)]
    load: dict[tuple[int, int, int], float] = {}
    for source in live:
        for target in live:
            if source // tier.gpus == target // tier.gpus:
                continue
            for part, share in net.pieces(source, target, "adaptive", 0):
                for link, weight in share.items():
                    if link >= 2 * tier.n:
                        continue
                    way, rest = divmod(link, tier.n)
                    gpu, asic = divmod(rest, tier.asics)
                    rack = gpu // tier.gpus
                    if rack in racks:
                        kind = int(stage.asic_class[stage.slot[rack], asic])
                        key = way, gpu, kind
                        load[key] = load.get(key, 0.0) + float(part * weight)
    return load


def by_class(
    by: Router, load: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> dict[tuple[int, int, int], float]:
    """Loads of class links under the same names."""
    stage = by.nvlink
    everyone, k, n = 2 * len(stage.slot) * stage.gpus, stage.n_classes, stage.gpus
    assert not load[:everyone].any()
    found = {}
    for number in np.flatnonzero(load).tolist():
        rest, kind = divmod(number - everyone, k)
        rest, gpu = divmod(rest, n)
        slot, way = divmod(rest, 2)
        rack = int(np.flatnonzero(stage.slot == slot)[0])
        found[way, rack * n + gpu, kind] = float(load[number])
    return found


def compare(fabric: Fabric, did: Sequence[str | tuple[str, float]], racks: set[int]) -> None:
    by = router(fabric, broken(fabric, *did), "adaptive", 0)
    found = found_in(by)
    if not racks:
        assert found is None
        return
    assert found is not None
    load, capacity = found
    assert capacity == by.nvlink.capacity.tolist()
    ours, want = by_class(by, load), enumerated(by, racks)
    assert ours.keys() == want.keys()
    assert ours == pytest.approx(want)


def test_a_gpu_with_few_links_left() -> None:
    """Three links, 150 GB/s, where five NICs' worth could be wanted."""
    compare(SMALL, [*links("rack-0/tray-0/gpu-0", 3)], {0})


def test_two_racks_at_once_and_nics_lost_too() -> None:
    did = [
        *links("rack-0/tray-0/gpu-0", 2),
        *links("rack-2/tray-1/gpu-3", 4),
        "rack-2/tray-1/nic-0",
        "rack-1/tray-0/nic-2",
    ]
    compare(SMALL, did, {0, 2})


def test_enough_links_are_no_limit() -> None:
    compare(SMALL, [*links("rack-0/tray-0/gpu-0", 10)], set())  # 500 GB/s is five NICs' worth
    compare(SMALL, [*links("rack-0/tray-0/gpu-0", 9)], {0})
    compare(SMALL, ["rack-0/nvtray-0", "rack-1/nvswitch-5", "rack-2/tray-0/nic-1"], set())
    compare(SMALL, [], set())


def test_no_link_at_all_is_no_load() -> None:
    """A GPU by itself uses its own NIC only: what is left of NVLink is not short."""
    compare(SMALL, [*links("rack-0/tray-0/gpu-0", 0)], set())


def test_slow_links_and_single_directions() -> None:
    slow: list[str | tuple[str, float]] = [(link, 0.25) for link in links("rack-1/tray-0/gpu-2", 0)]
    compare(SMALL, slow, {1})
    out = [link.replace("~", ">") for link in links("rack-1/tray-0/gpu-2", 1)]
    compare(SMALL, [*out], {1})


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("seed", range(3))
def test_with_damage_elsewhere(name: str, seed: int) -> None:
    fabric, rng = FABRICS[name], np.random.default_rng(seed)
    assert fabric.spec is not None
    if fabric.spec.gpus_per_tray == 1:
        return  # nobody beside it to relay
    did = damage(fabric, rng, 2, ("nic", "half nic", "leaf", "cable", "half cable", "spine"))
    compare(fabric, [*did, *links("rack-1/tray-0/gpu-1", 2)], {1})


def test_one_nic_out_by_hand() -> None:
    """GPU 0 sends to 16 GPUs of the two other racks, 12 of them on rails of its mates.

    To each mate it has three links: as many bytes on each. What mates send to rail 0 comes in.
    """
    by = router(SMALL, broken(SMALL, *links("rack-0/tray-0/gpu-0", 3)), "adaptive", 0)
    found = found_in(by)
    assert found is not None
    own = {key: value for key, value in by_class(by, found[0]).items() if key[1] == 0}
    assert sum(value for (way, _, _), value in own.items() if way == 0) == pytest.approx(12)
    assert sum(value for (way, _, _), value in own.items() if way == 1) == pytest.approx(12)
