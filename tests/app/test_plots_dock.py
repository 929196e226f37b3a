from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gbviz.app.plots_dock import PlotsDock
from gbviz.display.theme import DARK, LIGHT
from tests.app.busy import answered, failed, opened

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def dock(qtbot: QtBot, live: Live) -> PlotsDock:
    widget = PlotsDock(live, DARK)
    qtbot.addWidget(widget)
    widget.resize(900, 200)
    return widget


def test_links_are_counted_by_how_full_they_are(qtbot: QtBot, live: Live, dock: PlotsDock) -> None:
    """Racks 4 to 7 shift at the full rate: 288 of 576 NICs, both ways."""
    opened(qtbot, live)
    _, now, base = dock.histogram(0)
    assert now.sum() == base.sum() == 2 * 576
    assert now[-1] == 2 * 288
    failed(qtbot, live, "rack-4")
    _, now, base = dock.histogram(0)
    assert now.sum() == 2 * (576 - 72)
    assert base[-1] == 2 * 288


def test_every_answered_step_is_a_point(qtbot: QtBot, live: Live, dock: PlotsDock) -> None:
    opened(qtbot, live)
    failed(qtbot, live, "leaf-*")
    assert {step: label for step, (label, _) in dock.speeds.items()} == {0: "", 1: "fail leaf-*"}
    assert dock.speeds[0][1]["shift"] == 100
    assert dock.speeds[1][1]["shift"] == 0


def test_steps_that_are_cut_off_are_gone(qtbot: QtBot, live: Live, dock: PlotsDock) -> None:
    opened(qtbot, live)
    failed(qtbot, live, "leaf-0")
    failed(qtbot, live, "leaf-1")
    live.go(0)
    failed(qtbot, live, "spine-0")
    assert {step: label for step, (label, _) in dock.speeds.items()} == {0: "", 1: "fail spine-0"}
    opened(qtbot, live)
    assert list(dock.speeds) == [0]


def test_the_plots_are_drawn_in_the_theme(qtbot: QtBot, live: Live, dock: PlotsDock) -> None:
    opened(qtbot, live)
    dock.show()
    failed(qtbot, live, "spine-0")
    picture = dock.grab().toImage()
    assert picture.pixelColor(3, 3).name() == DARK.ground

    def drawn() -> None:
        names = [item.name() for item in dock._plots[2].listDataItems()]
        assert names == ["ring", "shift"]

    qtbot.waitUntil(drawn)
    dock.set_theme(LIGHT)
    assert dock.grab().toImage().pixelColor(3, 3).name() == LIGHT.ground


def test_data_as_csv(qtbot: QtBot, live: Live, dock: PlotsDock) -> None:
    opened(qtbot, live)
    lines = dock.speeds_csv().splitlines()
    assert lines[0] == 'step,after,job,"speed, % of healthy"'
    assert lines[2] == "0,,shift,100.0"
    with qtbot.waitSignal(dock.export_wanted) as wanted:
        dock.menu().actions()[0].trigger()
    assert wanted.args[0] == "utilisation"
    assert wanted.args[1].splitlines()[20] == "NIC links,95.0,100.0,576.0,576.0"


def test_no_answer_no_plots(qtbot: QtBot, live: Live, dock: PlotsDock) -> None:
    dock.show()
    assert dock.histogram(0)[1].sum() == 0
    answered(qtbot, live)
    assert dock.histogram(0)[1].sum() == 2 * 576


def test_pyqtgraph_waits_until_somebody_looks() -> None:
    code = "import sys, gbviz.app.plots_dock; sys.exit('pyqtgraph' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
