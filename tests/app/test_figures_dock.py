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


def test_the_first_four_columns_fit_the_panel(qtbot: QtBot, live: Live, dock: FiguresDock) -> None:
    dock.resize(340, 400)
    failed(qtbot, live, "spine-0", "leaf-3", "rack-0/tray-3")
    view = dock.view
    assert dock.model.titles[:4] == ["figure", "now", "change", "healthy"]
    assert view.columnViewportPosition(3) + view.columnWidth(3) <= view.viewport().width()
    for row in dock.model.rows:
        for column in (2, 3):
            width = view.fontMetrics().horizontalAdvance(row[column].text)
            assert width <= view.columnWidth(column)


def test_columns_and_rows_follow_the_size_of_the_text(
    qtbot: QtBot, live: Live, dock: FiguresDock
) -> None:
    answered(qtbot, live)
    view = dock.view
    before = view.columnWidth(3), view.rowHeight(0)
    font = view.font()
    font.setPointSizeF(2 * font.pointSizeF())
    dock.setFont(font)
    assert view.columnWidth(3) > 1.7 * before[0]
    assert view.rowHeight(0) > 1.4 * before[1]
