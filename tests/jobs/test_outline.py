"""Whether a job can run, told without its phases, is what its phases tell."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gbviz.engine.jobs import routers
from gbviz.flows.router import router
from gbviz.jobs.placement import place
from gbviz.jobs.run import outline, start
from gbviz.topology import build, cluster_spec
from tests.engine.test_afresh import jobs
from tests.routing import broken

EIGHT = build(cluster_spec(racks=8))
PARTS = (
    "rack-0/tray-0/nic-1",
    "rack-0/tray-0/nic-*",
    "rack-1/tray-3/gpu-2",
    "rack-[0-3]/tray-0/gpu-0",
    "rack-1/nvswitch-*",
    "rack-4/tray-0",
    "rack-5",
    "leaf-2",
    "leaf-[0-3]",
    "spine-*",
    "leaf-1~spine-*",
)


@pytest.mark.parametrize("nic_loss", ["tray", "rack", "abort"])
@pytest.mark.parametrize("mode", ["adaptive", "spray", "static"])
def test_an_outline_is_what_starts(nic_loss: str, mode: str) -> None:
    rng = random.Random(f"{nic_loss} {mode}")
    every = jobs(nic_loss)
    asked = list(zip(every, place(EIGHT, [(job.name, job) for job in every]), strict=True))
    told = 0
    for _ in range(12 if mode != "static" else 3):
        health = broken(EIGHT, *rng.sample(PARTS, rng.randrange(4)))
        by = router(EIGHT, health, mode, 0)  # type: ignore[arg-type]
        clock = np.where(np.arange(EIGHT.count("gpu")) % 97 == rng.randrange(400), 0.0, 1.0)
        for own, (job, at) in zip(routers(by, asked), asked, strict=True):
            found = outline(own, job, at, own.nics.live & (clock > 0))
            if found is None:
                continue
            told += 1
            whole = start(own, job, at, clock)
            assert found.run is None
            assert (found.why, found.able) == (whole.why, whole.run is not None)
            assert found.gpus.tolist() == whole.gpus.tolist()
            was, now = found.survivors, whole.survivors
            assert (was.lost, was.replaced) == (now.lost, now.replaced)
    assert told > 20 or (nic_loss, mode) not in (("tray", "adaptive"), ("tray", "spray"))
