"""What every test of the window needs: no display, and nothing left behind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, recovery files and logs of a test are its own."""
    folder: Path = tmp_path_factory.getbasetemp() / "home"
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(folder / name))
    return folder


@pytest.fixture
def nothing_left(qtbot: object) -> Iterator[None]:
    """Fail a test that leaves a top-level widget behind; take back what it did to all widgets."""
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    font, sheet = app.font(), app.styleSheet()
    yield
    if app.styleSheet() != sheet:
        app.setStyleSheet(sheet)
        QApplication.setFont(font)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    assert left == []
