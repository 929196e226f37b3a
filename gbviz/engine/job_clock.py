"""One job through time: it runs, stalls, aborts, restarts, and what of its work is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from gbviz.jobs.spec import TrainingJob
from gbviz.topology.catalogue import catalogue

if TYPE_CHECKING:
    from gbviz.jobs.impact import Strike
    from gbviz.jobs.run import SteppingJob

Phase = Literal["running", "stalled", "restarting", "aborted", "finished"]


@dataclass(slots=True)
class Account:
    """Where the time of a job went, seconds; work in seconds of the healthy job.

    `useful_s` is work that counts in the end, `lost_work_s` what was done and lost again,
    `checkpoint_s` spent writing checkpoints, the rest waiting.
    """

    useful_s: float = 0.0
    lost_work_s: float = 0.0
    checkpoint_s: float = 0.0
    stalled_s: float = 0.0
    restarting_s: float = 0.0
    aborted_s: float = 0.0
    finished_s: float = 0.0
    aborts: int = 0


@dataclass(slots=True)
class JobClock:
    """The state of one job that steps, moved from event to event.

    Parameters
    ----------
    job
        What runs.
    target_s
        Work after which it is finished, seconds of the healthy job; inf for none.
    regrow
        Whether GPUs that came back wait for the next checkpoint to be used again.
    held_s
        Time until it was finished. Summed up: the end less `finished_s` would be left with what
        rounding leaves of two large numbers.
    way_until_s, gpu_until_s
        When a broken connection gives up, and when a lost GPU is noticed; inf for none.

    Notes
    -----
    Work done since the last complete checkpoint is lost when the job aborts. A job without
    checkpoints (inference, collectives) loses nothing and restarts at once.
    """

    job: SteppingJob
    target_s: float = math.inf
    phase: Phase = "running"
    waits_for: str = ""
    until_s: float = math.inf
    account: Account = field(default_factory=Account)
    unsaved_s: float = 0.0
    cycle_s: float = 0.0
    regrow: bool = False
    held_s: float = 0.0
    way_until_s: float = math.inf
    gpu_until_s: float = math.inf

    @property
    def waits_for_way(self) -> bool:
        """Whether a connection of it is broken that may come back before it gives up."""
        return self.phase == "stalled" and self.way_until_s < math.inf

    @property
    def steps(self) -> bool:
        """Whether it makes steps now."""
        return self.phase == "running"

    @property
    def occupies(self) -> bool:
        """Whether its GPUs are busy: they are while it waits for an answer."""
        return self.phase in ("running", "stalled")

    @property
    def interval_s(self) -> float:
        """Productive seconds between two checkpoints; inf for a job that writes none."""
        return self.job.checkpoint.interval if isinstance(self.job, TrainingJob) else math.inf

    @property
    def write_s(self) -> float:
        """Seconds that a checkpoint blocks the job."""
        return self.job.checkpoint.write if isinstance(self.job, TrainingJob) else 0.0

    @property
    def restart_s(self) -> float:
        """Seconds from the abort of a job to its first new step."""
        return self.job.checkpoint.restart if isinstance(self.job, TrainingJob) else 0.0

    @property
    def detection_s(self) -> float:
        """Seconds until the loss of a GPU is noticed."""
        return self.job.detection if isinstance(self.job, TrainingJob) else 0.0

    def strike(self, now_s: float, what: Strike) -> None:
        """Take what a change of the cluster does to it at a moment.

        A connection that broke earlier gives up earlier; the loss of a GPU counts in any case. New
        routes that are being found take later breaks along.
        """
        if self.phase in ("aborted", "finished"):
            return
        if self.phase == "restarting":
            if what == "gpu":
                # The ranks that are being started are not all there: from the beginning.
                self.until_s = now_s + self.detection_s + self.restart_s
            return
        if what == "":
            return
        until = now_s + self._wait_s(what)
        rerouting = self.phase == "stalled" and self.waits_for == "reroute"
        if self.phase == "running" or (rerouting and what != "reroute"):
            self.phase, self.waits_for, self.until_s = "stalled", what, until
            self.way_until_s = until if what in ("path", "cut") else math.inf
            self.gpu_until_s = until if what == "gpu" else math.inf
        elif what == "gpu" and self.gpu_until_s == math.inf:
            # It is dead in any case; whichever is noticed first ends it.
            self.waits_for, self.gpu_until_s = what, until
            self.until_s = min(self.until_s, until)

    def _wait_s(self, what: str) -> float:
        if what == "gpu":
            return self.detection_s
        name = "routing.reroute_s" if what == "reroute" else "routing.ib_timeout_s"
        return catalogue().value(name)

    def healed(self, now_s: float) -> str:
        """Its way came back before it gave up: it goes on, unless it has lost a GPU as well."""
        self.way_until_s = math.inf
        if self.gpu_until_s < math.inf:
            self.until_s = self.gpu_until_s
            return "has its way back"
        self._run(now_s)
        return "goes on: its way is back"

    def grow_back(self, now_s: float) -> None:
        """Use GPUs that came back after the next checkpoint; one that is awaited stays that."""
        if not self.regrow:
            self.regrow = True
            self.until_s = now_s + self.until_checkpoint_s()

    def stay(self) -> None:
        """Use no more GPUs than now: those that had come back are gone again."""
        if self.regrow and self.phase == "running":
            self.regrow, self.until_s = False, math.inf

    def finish(self) -> str:
        """End: the target is reached, whatever else it waited for."""
        self.phase, self.until_s, self.regrow = "finished", math.inf, False
        return "is finished"

    def due(self, *, able: bool) -> str:
        """What happens at `until_s`, in words; `able` says whether it could run as things are."""
        if self.phase == "stalled" and self.waits_for == "reroute":
            self._run(self.until_s)
            return "rerouted"
        if self.phase == "stalled":
            why = "lost GPUs" if self.waits_for == "gpu" else "its connection timed out"
            return f"aborts: {why}" + self._abort(able=able)
        if self.phase == "restarting":
            if not able:
                self.phase, self.until_s = "aborted", math.inf
                return "cannot restart"
            self._run(self.until_s)
            return "runs again"
        self.regrow = False
        self.phase, self.until_s = "restarting", self.until_s + self.restart_s
        return "restarts to use its GPUs again"

    def revive(self, now_s: float) -> None:
        """Begin to restart a job that had stopped: it could run again."""
        if self.phase == "aborted":
            self.phase, self.until_s = "restarting", now_s + self.restart_s

    def advance(self, seconds: float, rate: float) -> None:
        """Let time pass in which nothing changes.

        Parameters
        ----------
        seconds
            How long.
        rate
            Work of the healthy job a second of stepping, 1 = as fast as healthy.
        """
        own = self.account
        if self.phase != "finished":
            self.held_s += seconds
        if self.phase != "running":
            name = f"{self.phase}_s"
            setattr(own, name, getattr(own, name) + seconds)
            return
        cycle = self.interval_s + self.write_s
        if math.isinf(cycle):
            own.useful_s += seconds * rate
            return
        end = self.cycle_s + seconds
        whole = math.floor(end / cycle)
        productive = self._productive(end) - self._productive(self.cycle_s)
        own.checkpoint_s += seconds - productive
        own.useful_s += productive * rate
        # Work since the last checkpoint that was written to its end.
        inside = self._productive(end) - whole * self.interval_s
        self.unsaved_s = inside * rate if whole else self.unsaved_s + productive * rate
        self.cycle_s = end - whole * cycle

    def until_checkpoint_s(self) -> float:
        """Stepping seconds until the next checkpoint is written; 0 for a job that writes none."""
        cycle = self.interval_s + self.write_s
        return 0.0 if math.isinf(cycle) else cycle - self.cycle_s

    def until_finished_s(self, rate: float) -> float:
        """Stepping seconds until the target is reached at this rate."""
        left = self.target_s - self.account.useful_s
        if math.isinf(left) or rate <= 0:
            return math.inf
        cycle = self.interval_s + self.write_s
        need = left / rate
        if math.isinf(cycle):
            return need
        at = self._productive(self.cycle_s) + need
        whole = math.ceil(at / self.interval_s) - 1
        return whole * cycle + at - whole * self.interval_s - self.cycle_s

    def _productive(self, elapsed: float) -> float:
        """Seconds of work in the first `elapsed` seconds of cycles of work and checkpoint."""
        cycle = self.interval_s + self.write_s
        whole = math.floor(elapsed / cycle)
        return whole * self.interval_s + min(elapsed - whole * cycle, self.interval_s)

    def _abort(self, *, able: bool) -> str:
        own = self.account
        own.useful_s -= self.unsaved_s
        own.lost_work_s += self.unsaved_s
        own.aborts += 1
        self.way_until_s = self.gpu_until_s = math.inf
        self.unsaved_s = self.cycle_s = 0.0
        self.regrow = False
        if not able:
            self.phase, self.until_s = "aborted", math.inf
            return "; it cannot run as things are"
        self.phase = "restarting"
        self.until_s += self.restart_s
        if not self.restart_s:
            self._run(self.until_s)
            return ", begins again at once"
        return ", restarts"

    def _run(self, now_s: float) -> None:
        self.phase, self.waits_for, self.until_s = "running", "", math.inf
        self.way_until_s = self.gpu_until_s = math.inf
        if self.regrow:
            self.regrow = False
            self.grow_back(now_s)
