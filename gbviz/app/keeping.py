"""Where window and docks stood, kept between two runs."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QGuiApplication

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMainWindow

    from gbviz.app.settings import Settings

# Counts up when docks or toolbars change their names, so that old layouts are not half restored.
LAYOUT_VERSION = 1
_WIDTH, _HEIGHT = 1600, 1000


def saved_layout(window: QMainWindow) -> dict[str, str]:
    """The fields of the settings that hold the layout."""
    return {
        "geometry": _text(window.saveGeometry()),
        "window": _text(window.saveState(LAYOUT_VERSION)),
    }


def restore_layout(window: QMainWindow, settings: Settings) -> None:
    """Put the window where it stood; at first as large as the screen allows."""
    screen = QGuiApplication.primaryScreen().availableGeometry()
    window.resize(min(_WIDTH, screen.width()), min(_HEIGHT, screen.height()))
    # Wayland has no positions; restoring one there misplaces menus.
    if settings.geometry and QGuiApplication.platformName() != "wayland":
        window.restoreGeometry(_bytes(settings.geometry))
    if settings.window:
        window.restoreState(_bytes(settings.window), LAYOUT_VERSION)


def _text(data: QByteArray) -> str:
    return base64.b64encode(bytes(data.data())).decode("ascii")


def _bytes(text: str) -> QByteArray:
    try:
        return QByteArray(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return QByteArray()
