"""The control for a part of a rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gbviz.app.factor_bar import FactorBar

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@pytest.mark.parametrize(
    ("factor", "shown"), [(0.0, 0), (1e-6, 1), (0.254, 25), (0.999999, 99), (1.0, 100)]
)
def test_nearly_nothing_and_nearly_all_are_neither(qtbot: QtBot, factor: float, shown: int) -> None:
    bar = FactorBar()
    qtbot.addWidget(bar)
    bar.show_factor(factor)
    assert (bar.slider.value(), bar.spin.value()) == (shown, shown)
