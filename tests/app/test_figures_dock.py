from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gbviz.app.figures_dock import FiguresDock
from gbviz.display.theme import DARK, LIGHT
from tests.app.busy import answered, failed

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def dock(qtbot: QtBot, live: Live) -> FiguresDock:
    widget = FiguresDock(live, DARK)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def test_base_now_and_change_of_live_gpus(qtbot: QtBot, live: Live, dock: FiguresDock) -> None:
    answered(qtbot, live)
    failed(qtbot, live, "rack-0")
    row = dock.model.rows[0]
    assert [cell.text for cell in row] == ["live GPUs", "504", "▼ -72", "576", "87.5 %"]
    assert row[2].colour == DARK.failed
    dock.set_theme(LIGHT)
    assert dock.model.rows[0][2].colour == LIGHT.failed


def test_a_flag_that_turned_says_so(qtbot: QtBot, live: Live, dock: FiguresDock) -> None:
    failed(qtbot, live, "spine-0")
    cells = {row[0].text: row for row in dock.model.rows}["non-blocking"]
    assert [cell.text for cell in cells[1:4]] == ["no", "▼ changed", "yes"]
    assert "leaf-0" in cells[0].tip


def test_old_values_are_marked_until_the_answer(
    qtbot: QtBot, live: Live, dock: FiguresDock
) -> None:
    answered(qtbot, live)
    assert dock.model.titles[1] == "now"
    live.fail(["spine-0"])
    assert dock.model.titles[1] == "now …"
    assert dock.model.rows[0][1].colour == DARK.dim
    with qtbot.waitSignal(live.answered):
        pass
    assert dock.model.titles[1] == "now"
    assert dock.model.rows[0][1].colour == ""
