"""How quick the window is: from a click to new colours, pans and zooms, the start, memory.

`python -m tests.benchmarks.bench_app` prints them, measured through the real event loop, without a
screen unless QT_QPA_PLATFORM says otherwise.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_STATE_HOME"] = "/nonexistent"

from PySide6.QtCore import QEventLoop, QPointF, QTimer
from PySide6.QtWidgets import QApplication

from gbviz.app.window import MainWindow
from gbviz.jobs import traffic_job
from gbviz.scenario import preset
from gbviz.scenario.demo import demo

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from gbviz.scenario import Scenario

KINDS = (
    "spine-{}",
    "leaf-{}",
    "leaf-{}~spine-7#0",
    "rack-{}/nvswitch-3",
    "rack-{}/tray-2/nic-1",
    "rack-{}/tray-5/gpu-2",
    "rack-{}",
    "hxu-{}",
    "rack-{}/tray-7",
    "leaf-{}:73",
)
_START = """
import os, resource, sys, time
begin = time.perf_counter()
os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_STATE_HOME"] = "/nonexistent"
from PySide6.QtWidgets import QApplication
from PySide6.QtCore import QTimer
app = QApplication([])
from gbviz.app.window import MainWindow
from gbviz.scenario.demo import demo
window = MainWindow(demo())
window.show()
def done():
    window.fabric.repaint()
    print(f"{time.perf_counter() - begin:.2f}")
    window.close(); app.quit()
window.live.answered.connect(done)
app.exec()
"""


def wait(signal: SignalInstance, most_ms: int = 60_000) -> None:
    """Run the event loop until a signal comes."""
    loop = QEventLoop()
    signal.connect(loop.quit)
    QTimer.singleShot(most_ms, loop.quit)
    loop.exec()
    signal.disconnect(loop.quit)


def rest(ms: int) -> None:
    """Run the event loop for a while."""
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()


class Pulse:
    """Notes the longest time in which the event loop did not come round."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin to listen."""
        self._last, self.longest = time.perf_counter(), 0.0
        self._timer.start()

    def stop(self) -> float:
        """Stop, and the longest silence in ms."""
        self._timer.stop()
        return 1e3 * self.longest

    def _beat(self) -> None:
        now = time.perf_counter()
        self.longest = max(self.longest, now - self._last)
        self._last = now


def window_of(scenario: Scenario) -> MainWindow:
    """A window with its first answer painted."""
    window = MainWindow(scenario)
    window.resize(1600, 1000)
    window.show()
    wait(window.live.answered)
    rest(400)
    return window


def faults(window: MainWindow, count: int) -> None:
    """From `fail` to the painted answer, over faults of every kind, and what blocked the loop."""
    took, blocked, pulse = [], [], Pulse()
    last = window.live.scenario.cluster.racks - 1
    for number in range(count):
        name = KINDS[number % len(KINDS)].format(min(1 + number, last, 35))
        window.selection.select([name])
        rest(5)
        pulse.start()
        begin = time.perf_counter()
        window.live.fail([name])
        wait(window.live.answered)
        window.fabric.repaint()
        took.append(1e3 * (time.perf_counter() - begin))
        rest(60)
        blocked.append(pulse.stop())
        window.live.restore_all()
        wait(window.live.answered)
        rest(20)
    print(f"  fault to picture: median {statistics.median(took):.0f} ms, most {max(took):.0f} ms")
    print(
        f"  longest block: median {statistics.median(blocked):.0f} ms, most {max(blocked):.0f} ms"
    )


def motion(window: MainWindow) -> None:
    """Frames a second while panning and zooming, and the redraw once it rests."""
    for style in ("matrix", "bundles", "cables"):
        window.remembered.change(links=style)
        rest(150)
        canvas = window.fabric
        canvas.fit()
        canvas.zoom(2.0, QPointF(400, 300))
        begin = time.perf_counter()
        for step in range(60):
            canvas.pan(5 if step % 20 < 10 else -5, 3)
            canvas.repaint()
        pan = 60 / (time.perf_counter() - begin)
        begin = time.perf_counter()
        for step in range(60):
            canvas.zoom(1.05 if step % 20 < 10 else 1 / 1.05, QPointF(500, 300))
            canvas.repaint()
        zoom = 60 / (time.perf_counter() - begin)
        canvas.redraw()
        begin = time.perf_counter()
        canvas.repaint()
        full = 1e3 * (time.perf_counter() - begin)
        print(f"  {style}: pan {pan:.0f}/s, zoom {zoom:.0f}/s, full redraw {full:.0f} ms")
    window.remembered.change(links="matrix")


def main() -> None:
    starts = [
        float(subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True,
                             check=True).stdout)
        for _ in range(3)
    ]  # fmt: skip
    print(f"start to the first painted answer: {statistics.median(starts):.2f} s (goal 2)")
    app = QApplication([])
    for title, scenario, count in (
        ("azure-gb300 at work, 4,608 GPUs", demo(), 50),
        ("gb300-100k, 103,680 GPUs, a permutation",
         preset("gb300-100k").with_jobs(traffic_job("permutation")), 10),
    ):  # fmt: skip
        print(title)
        window = window_of(scenario)
        faults(window, count)
        motion(window)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  peak memory so far {used:.0f} MB (goal 400 at 4,608)")
        window.documents.can_leave = lambda: True  # type: ignore[method-assign]
        window.close()
        window.deleteLater()
        rest(50)
    del app


if __name__ == "__main__":
    main()
