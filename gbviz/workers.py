"""Work spread over processes, of which any may die: only what it was doing is lost."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection, get_context, parent_process
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext, SpawnProcess

Task = TypeVar("Task")
Found = TypeVar("Found")
Work = Callable[[Task], Found]

# Tasks that may be begun before the first unfinished one is done: what waits to be told in order
# is never more than that.
_AHEAD = 8
_ORPHANED = 81


@dataclass(frozen=True, slots=True)
class Done(Generic[Found]):
    """The task of a number is done; `value` is what it found."""

    number: int
    value: Found


@dataclass(frozen=True, slots=True)
class Died:
    """The process that did the task of a number died of it, or the task raised; `why` in words."""

    number: int
    why: str


def usual_workers() -> int:
    """How many processes this one may keep busy: its processors, or fewer where a scheduler says.

    Examples
    --------
    >>> usual_workers() >= 1
    True
    """
    try:
        here = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        here = os.cpu_count() or 1
    with suppress(ValueError):
        here = min(here, int(os.environ.get("SLURM_CPUS_PER_TASK", here)))
    return max(here, 1)


def each(
    work: Callable[[Task], Found], tasks: Sequence[Task], workers: int
) -> Iterator[Done[Found] | Died]:
    """Do each task in one of several processes; results come as they are ready.

    Parameters
    ----------
    work
        A function of a module, which a fresh process can import.
    tasks
        Its arguments, one a task; whatever can be pickled.
    workers
        Processes, at least 1.

    Yields
    ------
    Done or Died
        One for each task, in any order. A process that dies is replaced, and takes nothing with
        it but the task that it was doing.

    Notes
    -----
    Leaving the loop early, or an exception in it, kills the processes at once. They also end with
    the process that began them, however that ends. An interrupt from the keyboard reaches only
    that one.
    """
    # A fork of a process with threads may hang; a spawned one begins clean.
    context = get_context("spawn")
    crew = [_Worker(context, work) for _ in range(min(workers, len(tasks)))]
    open_ = set(range(len(tasks)))
    waiting = iter(range(len(tasks)))
    upcoming = next(waiting, None)
    try:
        while open_:
            for one in crew:
                if one.idle and upcoming is not None and upcoming < min(open_) + _AHEAD * len(crew):
                    one.give(upcoming, tasks[upcoming])
                    upcoming = next(waiting, None)
            for ready in _ready(crew):
                found = ready.take()
                if found is not None:
                    open_.discard(found.number)
                    yield found
    finally:
        for one in crew:
            one.kill()


def _ready(crew: list[_Worker]) -> list[_Worker]:
    busy = {one.ours: one for one in crew if not one.idle}
    return [busy[pipe] for pipe in connection.wait(list(busy)) if pipe in busy]


@dataclass(eq=False, slots=True)
class _Worker:
    """One process and the pipe to it."""

    context: SpawnContext
    work: Callable[[Any], Any]
    process: SpawnProcess = field(init=False)
    ours: Connection = field(init=False)
    number: int | None = None

    def __post_init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.ours, theirs = self.context.Pipe()
        self.process = self.context.Process(target=_serve, args=(theirs, self.work), daemon=True)
        self.process.start()
        # With our copy of its end closed, a dead process is the end of the file.
        theirs.close()

    @property
    def idle(self) -> bool:
        return self.number is None

    def give(self, number: int, task: Any) -> None:
        self.number = number
        with suppress(OSError):  # it died while idle: the end of its pipe will say so
            self.ours.send(task)

    def take(self) -> Done[Any] | Died | None:
        """What it found; a new process in its place where it has died."""
        assert self.number is not None
        number, self.number = self.number, None
        try:
            right, value = self.ours.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            self.ours.close()
            self._start()
            return Died(number, _end_words(code))
        return Done(number, value) if right else Died(number, value)

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.ours.close()


def _end_words(code: int | None) -> str:
    """How a process ended.

    Examples
    --------
    >>> _end_words(-9)
    'its process was killed (SIGKILL): perhaps there was too little memory'
    >>> _end_words(3)
    'its process ended with code 3'
    """
    if code is None or code >= 0:
        return f"its process ended with code {code}"
    name = signal.Signals(-code).name
    more = ": perhaps there was too little memory" if name == "SIGKILL" else ""
    return f"its process was killed ({name}){more}"


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """Do tasks until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = True, work(task)
        except Exception as error:  # noqa: BLE001 told to the process that asked
            answer = False, f"internal error, please report it: {type(error).__name__}: {error}"
        pipe.send(answer)


def _die_with_parent() -> None:
    """End when the process that began this one has ended, even if it was killed."""
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(_ORPHANED)
