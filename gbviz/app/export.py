"""Pictures of the views as files: PNG and SVG, written whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QGuiApplication

from gbviz.app.paint import image_of
from gbviz.display.svg import svg
from gbviz.errors import InputError
from gbviz.scenario.atomic import save_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from gbviz.display.draw import DrawList

SUFFIXES = (".png", ".svg")


def picture_bytes(draw: DrawList, suffix: str) -> bytes:
    """A draw list as the bytes of a file.

    Raises
    ------
    InputError
        Neither PNG nor SVG.
    """
    if suffix == ".png":
        return _png(draw)
    if suffix == ".svg":
        return svg(draw, "gbviz").encode()
    raise InputError(
        f"a picture is a .png or an .svg (got {suffix or 'no suffix'!r})", where="picture"
    )


def save_picture(draw: DrawList, path: Path) -> None:
    """Write a draw list to a file, PNG or SVG by its suffix.

    Raises
    ------
    InputError
        Another suffix, or a file that cannot be written; what was there is unchanged.
    """
    save_atomic(path, picture_bytes(draw, path.suffix.lower()), backup=False)


def _png(draw: DrawList) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image_of(draw).save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(data.data())


def draw_to_file(draw: DrawList, path: Path) -> None:
    """Write a draw list to a file in a process without a window.

    Raises
    ------
    InputError
        Qt is not installed, or a library that it needs; or as `save_picture`.
    """
    if QGuiApplication.instance() is None:
        QGuiApplication(["gbviz"])
    save_picture(draw, path)
