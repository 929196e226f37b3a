"""The live scenario that tests of the app work on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gbviz.scenario import preset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection


@pytest.fixture
def selection() -> Selection:
    """What is selected, shared by the views of a test."""
    from gbviz.app.selection import Selection

    return Selection()


@pytest.fixture
def live(qtbot: QtBot) -> Iterator[Live]:
    """The smallest preset, with nothing asked yet."""
    from gbviz.app.live import Live

    found = Live(preset("gb300-su"))
    yield found
    found.close()
