"""What becomes of a job over time, in words: order, durations, and what holds at the very end."""

from __future__ import annotations

import re

import pytest

from gbviz.report.fault_tree import fault_tree
from gbviz.report.glance import glance
from gbviz.report.pace import paces
from gbviz.report.seen import Seen, answer_of
from gbviz.report.worst import worst_span
from gbviz.scenario.file import read

GPU = "rack-0/tray-0/gpu-0"
SLOW = f"{{at: 10min, degrade: {GPU}, to: 0.5, for: 10min}}"
RING = "{{name: t{0}, kind: collective, op: all_reduce, size: 1GB, racks: rack-{0}}}"


def train(racks: str = "rack-[0-1]", dp: int = 128, more: str = "") -> str:
    """Data parallel alone, on 64 GPUs of each rack; a checkpoint every half an hour."""
    return (
        f'{{name: t, kind: training, model: llama3-8b, racks: "{racks}", gpus_per_rack: 64,'
        f" parallelism: {{dp: {dp}}}, batch: {{global: {8 * dp}}}{more}}}"
    )


def seen_of(jobs: list[str], events: list[str], duration: str, at_s: float | None = None) -> Seen:
    lines = ["gbviz: 1", "cluster: {preset: gb300-su}", f"duration: {duration}"]
    lines += ["jobs:", *(f"  - {job}" for job in jobs)] if jobs else []
    lines += ["events:", *(f"  - {event}" for event in events)] if events else []
    return answer_of(read("x.yaml", "\n".join(lines).encode()), at_s)[0]


def told(jobs: list[str], events: list[str], duration: str) -> tuple[str, str]:
    first, second, _ = seen_of(jobs, events, duration).answer
    return first, second


class TestTheVeryEnd:
    def test_a_fault_that_lasts_to_the_end_is_told(self) -> None:
        """By then it is mended, as `for` says; it held for 50 of 60 minutes."""
        seen = seen_of([], ["{at: 10min, fail: rack-0, for: 50min}"], "1h")
        assert seen.answer[0].startswith("With rack-0 failed from 0:10:00 to 1:00:00, 72 GPUs are")
        made = seen.timeline
        assert made is not None
        assert [(one.start_s, one.end_s) for one in made.intervals] == [
            (0, 600),
            (600, 3600),
            (3600, 3600),
        ]
        assert made.intervals[-1].metrics.live_gpus == 576
        span = worst_span(made, seen.snapshot.base)
        assert span is not None
        assert (span.start_s, span.end_s) == (600, 3600)

    def test_a_fault_at_the_end_holds_there(self) -> None:
        events = ["{at: 10min, fail: leaf-7~spine-0, for: 10min}", "{at: 1h, fail: rack-0}"]
        first, second = told([train()], events, "1h")
        assert first == (
            "With rack-0 failed (at other times leaf-7~spine-0 failed), t is stalled at the end"
            " (waits for a GPU that is gone)."
        )
        assert "as without any fault" in second

    def test_tables_and_answer_are_of_the_same_end(self) -> None:
        seen = seen_of([], ["{at: 1h, fail: rack-0}"], "1h")
        assert seen.timeline is not None
        assert seen.timeline.intervals[-1].metrics.live_gpus == seen.snapshot.post.live_gpus == 504


class TestOrder:
    def test_slowness_before_a_stop_is_not_told_as_after_it(self) -> None:
        events = [
            SLOW,
            f"{{at: 40min, fail: {GPU}, for: 10s}}",
            f"{{at: 80min, degrade: {GPU}, to: 0.95}}",
        ]
        first, _ = told([train()], events, "2h")
        assert "of work, and takes 1.604 times as long for 10 min" in first
        assert first.endswith(", then does 96.92 % of its healthy work a second.")

    def test_a_job_that_never_ran_after_its_stop(self) -> None:
        first, _ = told([train()], [SLOW, f"{{at: 50min, fail: {GPU}}}"], "55min")
        assert "of work, and does 62.33 % of its healthy work a second at its slowest for" in first
        assert first.endswith("and is restarting at the end (starts from its last checkpoint).")
        assert "then" not in first

    @pytest.mark.parametrize("events", [[SLOW], [SLOW, f"{{at: 30min, fail: {GPU}, for: 10s}}"]])
    def test_a_job_that_finishes_is_not_slow_for_ever(self, events: list[str]) -> None:
        first, second = told([train(more=", tokens: 2.5e10")], events, "4h")
        assert "takes 1.604 times as long for 10 min" in first
        assert first.endswith(", then runs as before.")
        assert "t is finished after" in second

    def test_a_sentence_is_whole_where_the_slowness_is_near_none(self) -> None:
        events = [
            "{at: 20min, fail: rack-7, for: 10min}",
            f"{{at: 40min, degrade: {GPU}, to: 0.9988}}",
        ]
        first, _ = told([train()], events, "1h")
        assert first.endswith("t does 99.93 % of its healthy work a second at its slowest.")

    def test_a_job_that_was_faster_at_another_time_is_told_so(self) -> None:
        job = (
            "{name: b, kind: collective, op: broadcast, size: 16GB, racks: 'rack-[0,1]',"
            " algorithm: ring}"
        )
        events = [
            "{at: 10min, fail: rack-0, for: 10min}",
            "{at: 30min, fail: 'rack-[6-7]', for: 10min}",
        ]
        first, second = told([job], events, "1h")
        assert "b does 376.73 % of its healthy work a second at its fastest for 10 min" in first
        assert first.endswith(", then runs as before.")
        assert "b does 146.12 % of its healthy work" in second


class TestWhatHolds:
    def test_heat_that_lingers_is_told_by_its_cause(self) -> None:
        first, _ = told(
            [train("rack-0", 64)], ["{at: 0s, degrade: hxu-0, to: 0.5, for: 5s}"], "10min"
        )
        assert first.startswith("With hxu-0 at 50 % from 0:00:00 to 0:00:05, t ")

    def test_work_is_lost_without_standing_still(self) -> None:
        """50 min since the start, no checkpoint before an hour; noticed and restarted at once."""
        more = ", spares: 4, checkpoint: {interval: 1h, write: 0s, restart: 0s}, detection: 0s"
        job = train("rack-0", 64, more).replace("gpus_per_rack: 64", "gpus_per_rack: 68")
        first, _ = told([job], [f"{{at: 50min, fail: {GPU}}}"], "2h")
        assert "t loses 50 min of work, then runs as before with 1 spare in place" in first

    def test_a_fault_is_told_from_its_own_beginning(self) -> None:
        events = ["{at: 5min, fail: leaf-0, for: 20min}", "{at: 10min, fail: leaf-1, for: 10s}"]
        first, _ = told([train()], events, "1h")
        # Both leaves are the worst moment, and just that has its time.
        assert (
            first.startswith("With leaf-0 and leaf-1 failed from 0:10:00 to 0:10:10 (meanwhile")
            is False
        )
        assert "leaf-0 failed from 0:05:00 to 0:25:00 (meanwhile leaf-1 failed)" in first

    def test_a_fault_that_comes_again_is_told_to(self) -> None:
        events = [f"{{at: {at}min, fail: {GPU}, for: 5min}}" for at in (10, 40)]
        first, _ = told([train()], events, "70min")
        assert f"With {GPU} failed from 0:10:00 to 0:15:00, and 1 time more, t stops " in first

    def test_spares_that_are_no_longer_in_use_are_not_told_of_the_end(self) -> None:
        job = (
            "{name: c, kind: collective, op: all_gather, size: 1GB, racks: 'rack-[0-1]', spares: 4}"
        )
        first, _ = told([job], ["{at: 10min, fail: rack-0, for: 10min}"], "1h")
        assert "spare" not in first.partition(", then ")[2]

    def test_a_collective_of_fewer_gpus_may_do_more(self) -> None:
        job = "{name: c, kind: collective, op: all_to_all, size: 1GB, racks: 'rack-[0-1]'}"
        first, second = told([job], ["{at: 10min, fail: rack-1}"], "1h")
        assert "as fast as before" not in first
        assert "c goes on with 72 GPUs fewer, at 19" in first
        assert "c does 17" in second

    def test_a_job_that_finishes_is_not_told_to_run(self) -> None:
        jobs = [train("rack-0", 64, ", tokens: 1e9"), RING.format(1)]
        first, _ = told(jobs, ["{at: 0s, fail: rack-1/tray-0/gpu-0}"], "1h")
        assert first.endswith("; t finishes as before.")

    def test_heat_that_has_not_come_yet_is_told_apart(self) -> None:
        answer = seen_of([train("rack-0", 64)], ["{at: 598s, fail: hxu-0}"], "10min").answer
        assert "t runs as before" in answer[0]
        assert answer[2].startswith("The fabric, once heat has settled: 72 GPUs are lost")

    def test_at_a_time_jobs_do_what_they_do_then(self) -> None:
        jobs = [train("rack-0", 64, ", tokens: 1e9"), train("rack-1", 64).replace("t,", "u,", 1)]
        events = [f"{{at: 40min, fail: {GPU}}}", "{at: 40min, fail: rack-1/tray-0/gpu-0}"]
        first, once, _ = seen_of(jobs, events, "1h", 45 * 60.0).answer
        assert "u is restarting (starts from its last checkpoint); t had finished before" in first
        assert once == "Once, when the faults strike, u loses 25 min 30 s."


class TestTiles:
    def test_a_ramp_that_heat_cuts_into_moments_is_on_the_tile(self) -> None:
        """Each lasts less than a hundredth of the whole; the sentence says `at most`."""
        events = ["{at: 5min, fail: hxu-0, for: 20s}"]
        seen = seen_of([train("rack-0", 64)], events, "20min")
        most = re.search(r"at most ([0-9.]+) times", seen.answer[0])
        assert most
        found = glance(seen).slowest
        assert found is not None
        assert f"{found[1]:.3f}" == most[1]

    def test_a_stop_that_the_sentence_tells_is_on_the_tile(self) -> None:
        seen = seen_of([train("rack-0", 64)], [f"{{at: 4999ms, fail: {GPU}}}"], "5.4s")
        assert "t stops for 0.4 s" in seen.answer[0]
        stopped = glance(seen).stopped
        assert stopped is not None
        assert stopped[1] == pytest.approx(0.401)

    def test_clocks_are_no_reason_where_nothing_is_computed(self) -> None:
        job = "{name: c, kind: collective, op: all_to_all, size: 1GB, racks: 'rack-[0-1]'}"
        events = ["{at: 0s, fail: leaf-0}", "{at: 0s, fail: rack-1/feed-a}"]
        first, _ = told([job], events, "1h")
        assert "c takes 1.333 times as long" in first
        assert "(collective limited by rack-" in first
        assert "clock" not in first


class TestSums:
    def test_every_job_has_its_own_share(self) -> None:
        """Checkpoints of a minute every 30, 10 and 10 min."""
        jobs = [
            train(f"rack-{n}", 64, f", checkpoint: {{interval: {every}min, write: 1min}}").replace(
                "name: t", f"name: {name}"
            )
            for n, (name, every) in enumerate({"a": 30, "b": 10, "c": 10, "d": 10}.items())
        ]
        event = "{at: 10min, fail: rack-7/tray-0/gpu-0}"
        _, second = told(jobs[:3], [event], "2h")
        assert "a keeps 97.5 % and b and c keep 91.67 % of the healthy work" in second
        _, second = told(jobs, [event], "2h")
        assert "4 jobs keep 91.67 % to 97.5 % of the healthy work, as without any fault" in second

    def test_hours_that_are_lost_are_told_however_long_the_whole(self) -> None:
        """13.5 minutes of 512 GPUs are 115 GPU-hours, and a fifty-thousandth of a year."""
        event = f"{{at: 65min, fail: {GPU}, for: 20s}}"
        first, second = told([train("rack-[0-7]", 512)], [event], "365d")
        assert "stops for 10 min 30 s and loses 3 min of work, then runs as before" in first
        assert "keeps 96.772 % of its healthy work (96.774 % without faults" in second
        assert second.endswith(": the faults cost 115 GPU-hours.")

    def test_a_delay_that_two_units_do_not_show(self) -> None:
        """10 min 30 s stopped, 29 min of work again."""
        event = f"{{at: 1h, fail: {GPU}, for: 10s}}"
        _, second = told([train(more=", tokens: 1e13")], [event], "100d")
        assert "t is finished 39 min 30 s later than without faults, after 23 d 17 h" in second

    def test_all_jobs_are_in_the_sum_and_said_to_be(self) -> None:
        """Five times 72 GPUs at 98.63 % for 50 minutes: 5 x 72 x 0.0137 x 5/6 GPU-hours."""
        jobs = [RING.format(n) for n in range(5)]
        _, second = told(jobs, ['{at: 10min, fail: "rack-*/tray-0/gpu-0"}'], "1h")
        tail = "; 2 more jobs notice it too: the faults cost 4.1 GPU-hours in all."
        assert second.endswith(tail)

    def test_without_faults_nothing_is_as_before(self) -> None:
        first, second = told([train(more=", tokens: 1e9")], [], "1d")
        assert first == "x is healthy: 8 racks, 576 GPUs, 8 leaves, 4 spines."
        assert second == "t runs at full speed."
        jobs = [RING.format(n) for n in range(5)]
        assert told(jobs, [], "1h")[1] == "All 5 jobs run at full speed."
        assert told(jobs[:2], [], "1h")[1] == "Both jobs run at full speed."


def test_moments_of_less_than_a_second_have_their_times() -> None:
    job = "{name: f, kind: traffic, pattern: permutation}"
    first, _ = told([job], ["{at: 100ms, fail: spine-0, for: 200ms}"], "400ms")
    assert "failed from 0:00:00.1 to 0:00:00.3" in first


def test_the_fault_tree_tells_the_event_of_the_time_that_is_shown() -> None:
    events = [
        "{at: 10min, fail: spine-0, for: 10min}",
        "{at: 50min, fail: spine-0, for: 5min}",
    ]
    seen = seen_of([], events, "1h")
    assert "from 0:10:00 to 0:20:00" in seen.answer[0]
    [node] = fault_tree(seen.most)
    assert (node.at_s, node.for_s) == (600, 600)


def test_a_pace_by_hand() -> None:
    """Half of the spines for 10 of 60 minutes under flows that need all of them."""
    job = "{name: f, kind: traffic, pattern: shift, argument: 288}"
    event = '{at: 10min, fail: "spine-[0-1]", for: 10min}'
    made = seen_of([job], [event], "1h").timeline
    assert made is not None
    pace = paces(made, 0)
    assert (pace.slowest, pace.fastest, pace.last) == (0.5, 1.0, 1.0)
    assert (pace.slow_s, pace.slowest_s) == (600, 600)
