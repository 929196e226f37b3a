"""GPUs that die and come back at awkward moments: while a job waits, restarts, or is about to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gbviz.engine.run import run
from gbviz.scenario.file import read

if TYPE_CHECKING:
    from gbviz.engine.timeline import Timeline

GPU = "rack-0/tray-0/gpu-0"
OFTEN = "checkpoint: {interval: 10min, write: 0s, restart: 1min}"
AGAIN = "to use its GPUs again"
ELSEWHERE = ["{at: 10min, fail: rack-7/tray-0/gpu-0}", "{at: 20min, repair: rack-7/tray-0/gpu-0}"]
SHAPE = "{layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 32000}"


def made(
    events: list[str], duration: str = "1h", racks: str = "rack-0", dp: int = 64, more: str = ""
) -> Timeline:
    """A data-parallel job on 64 GPUs of each rack; checkpoints every 10 min, restarts of 1 min."""
    own = more if "checkpoint" in more else f"{OFTEN}, {more}".removesuffix(", ")
    lines = [
        "gbviz: 1",
        "cluster: {preset: gb300-su}",
        f"duration: {duration}",
        "jobs:",
        f'  - {{name: t, kind: training, model: {SHAPE}, racks: "{racks}", gpus_per_rack: 64,'
        f" parallelism: {{dp: {dp}}}, batch: {{global: {64 * dp}}}, {own}}}",
        "events:",
        *(f"  - {event}" for event in events),
    ]
    return run(read("x.yaml", "\n".join(lines).encode()))


def said(timeline: Timeline) -> dict[float, tuple[str, ...]]:
    return {one.start_s: one.events for one in timeline.intervals if one.events}


def gpus(timeline: Timeline) -> list[tuple[float, int]]:
    return [(one.start_s, one.jobs[0].gpus) for one in timeline.intervals]


def test_gpus_that_die_during_a_restart_come_back_at_a_checkpoint_too() -> None:
    """The second rack dies 2 min into a restart of 10, which begins anew; it is back at 42 min."""
    events = [f"{{at: 10min, fail: {GPU}}}", "{at: 12min, fail: rack-1, for: 30min}"]
    saves = "checkpoint: {interval: 30min, write: 0s, restart: 10min}"
    found = made(events, "2h", "rack-[0-1]", 128, saves)
    # 720 s + 30 s until it is noticed + 600 s.
    assert gpus(found)[-1][1] == 127
    assert (1350.0, 63) in gpus(found)
    assert (2520.0, 63) in gpus(found)  # back, but not used before the checkpoint
    assert said(found)[1350 + 1800] == ("t restarts to use its GPUs again",)
    assert found.totals[0].restarting_s == pytest.approx(1350 - 630 + 600)


@pytest.mark.parametrize(
    "more",
    [[], ["{at: 10min, fail: rack-7/tray-0/gpu-0}", "{at: 20min, repair: rack-7/tray-0/gpu-0}"]],
)
def test_events_elsewhere_postpone_nothing(more: list[str]) -> None:
    """It begins on 63 GPUs; the 64th is back at 5 min and used from the checkpoint at 10 min on."""
    found = made([f"{{at: 0s, fail: {GPU}, for: 5min}}", *more])
    assert "t restarts to use its GPUs again" in said(found)[600.0]
    assert (660.0, 64) in gpus(found)
    assert found.totals[0].restarting_s == 60


def test_gpus_that_are_gone_again_are_not_waited_for() -> None:
    events = [
        f"{{at: 5min, fail: {GPU}, for: 10min}}",
        f"{{at: 16min, fail: {GPU}}}",
    ]
    found = made(events)
    assert not any(
        "to use its GPUs again" in word for words in said(found).values() for word in words
    )
    assert found.totals[0].aborts == 1


def test_a_way_that_comes_back_ends_no_job_early() -> None:
    """The GPU is noticed after 10 min; the leaf that was gone for 10 s has no part in that."""
    lost = "{at: 305s, fail: rack-0/tray-0/gpu-1}"
    more = "detection: 10min"
    alone = made([lost], racks="rack-[0-1]", dp=128, more=more)
    both = made(["{at: 5min, fail: leaf-0, for: 10s}", lost], racks="rack-[0-1]", dp=128, more=more)
    assert said(alone)[905.0] == said(both)[905.0] == ("t aborts: lost GPUs, restarts",)
    assert said(both)[310.0] == ("repair leaf-0", "t has its way back")
    assert both.totals[0].useful_s <= alone.totals[0].useful_s


def test_a_leaf_that_stays_away_still_gives_up_first() -> None:
    lost, more = "{at: 305s, fail: rack-0/tray-0/gpu-1}", "detection: 10min"
    both = made(["{at: 5min, fail: leaf-0}", lost], racks="rack-[0-1]", dp=128, more=more)
    [at] = [at for at, words in said(both).items() if any("aborts" in word for word in words)]
    assert at == pytest.approx(300 + 7 * 4.096e-6 * 2**20)


def test_other_events_do_not_begin_a_reroute_anew() -> None:
    events = ["{at: 60s, fail: spine-0}", "{at: 60.002s, fail: rack-7/tray-0/cpu-0}"]
    found = made(events, "2min", "rack-[0-7]", 512)
    assert found.totals[0].stalled_s == pytest.approx(0.003)
