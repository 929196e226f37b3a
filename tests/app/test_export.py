from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PySide6.QtGui import QFontMetricsF, QImage

from gbviz.app.export import picture_bytes, save_picture
from gbviz.app.paint import image_of, paint_item
from gbviz.display.draw import DrawList, Image, Lines, Marks, Rects, Text, boxes, text_width
from gbviz.display.sheet import Sheet, draw_sheet
from gbviz.errors import InputError
from tests.display.cases import broken

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("nothing_left")
SVG = "{http://www.w3.org/2000/svg}"


def sheet(view: str = "fabric", case: str = "su", **fields: object) -> DrawList:
    found = broken(case)
    wanted = Sheet(view, width=400, height=300, **fields)  # type: ignore[arg-type]
    return draw_sheet(wanted, found.snapshot, found.loads, found.base)


def decoded(data: bytes) -> QImage:
    return QImage.fromData(data)


@pytest.mark.parametrize("view", ["fabric", "matrix", "rack-0"])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_png_has_the_pixels_of_the_draw_list(qtbot: QtBot, view: str, scale: float) -> None:
    draw = sheet(view, scale=scale)
    image = decoded(picture_bytes(draw, ".png"))
    assert (image.width(), image.height()) == (400 * scale, 300 * scale)
    assert image.convertToFormat(QImage.Format.Format_RGB32) == image_of(draw)


@pytest.mark.parametrize("view", ["fabric", "matrix", "rack-0"])
@pytest.mark.parametrize("links", ["matrix", "bundles", "cables"])
def test_an_svg_is_well_formed_and_holds_the_words(qtbot: QtBot, view: str, links: str) -> None:
    draw = sheet(view, links=links)
    root = ET.fromstring(picture_bytes(draw, ".svg").decode())
    assert root.tag == f"{SVG}svg"
    assert root.attrib["viewBox"] == "0 0 400 300"
    said = {"".join(node.itertext()).strip() for node in root.iter(f"{SVG}text")}
    assert {item.text.strip() for item in draw.items if isinstance(item, Text)} - {""} <= said
    for image in root.iter(f"{SVG}image"):
        href = image.attrib["{http://www.w3.org/1999/xlink}href"]
        assert not decoded(base64.b64decode(href.partition(",")[2])).isNull()


def test_signs_in_names_are_no_markup(qtbot: QtBot) -> None:
    name = """<b> & "c" 'd' ]]> é ☃"""
    draw = DrawList(300, 200, "#ffffff", (Text(10, 20, name, "#000000", 12),))
    root = ET.fromstring(picture_bytes(draw, ".svg").decode())
    assert name in "".join(root.itertext())


@pytest.mark.parametrize("suffix", [".jpg", "", ".PNG ", ".pdf", "png"])
def test_other_files_are_refused(qtbot: QtBot, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match=r"\.png or an \.svg"):
        picture_bytes(sheet(), suffix)
    path = tmp_path / f"x{suffix}"
    with pytest.raises(InputError):
        save_picture(sheet(), path)
    assert list(tmp_path.iterdir()) == []


def test_capital_suffixes_are_taken(qtbot: QtBot, tmp_path: Path) -> None:
    save_picture(sheet(), tmp_path / "x.PNG")
    assert decoded((tmp_path / "x.PNG").read_bytes()).width() == 400


def test_a_file_that_cannot_be_written_says_so(qtbot: QtBot, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be saved"):
        save_picture(sheet(), tmp_path / "no" / "x.png")
    with pytest.raises(InputError):
        save_picture(sheet(), tmp_path)
    assert list(tmp_path.iterdir()) == []


HUES = ("#ff0000", "#00ff00", "#0000ff", "#ffff00", "#00ffff")


def test_every_kind_of_item_is_painted_where_it_says(qtbot: QtBot) -> None:
    pixels = np.full((10, 12), 0xFFFF0000, dtype=np.uint32)
    draw = DrawList(
        100,
        60,
        "#000000",
        (
            Image(5, 7, pixels),
            Rects(boxes((30, 10, 20, 10)), np.array([0xFF00FF00], dtype=np.uint32)),
            Lines(np.array([[60.0, 15, 90, 15]]), HUES[2], 3.0),
            Marks(np.array([[20.0, 45]]), "dot", 12, HUES[3]),
            Marks(np.array([[50.0, 45]]), "triangle", 16, HUES[4]),
            Marks(np.array([[80.0, 45]]), "cross", 16, HUES[0]),
        ),
    )
    image = image_of(draw)
    at = [(10, 12), (40, 15), (75, 15), (20, 45), (50, 48), (80, 45)]
    assert [image.pixelColor(*one).name() for one in at] == [*HUES, HUES[0]]
    for corner in ((4, 6), (17, 17), (29, 9), (75, 20), (20, 53), (43, 40), (80, 38)):
        assert image.pixelColor(*corner).name() == "#000000", corner
    left = image.copy(5, 7, 12, 10)
    assert all(left.pixelColor(x, y).name() == HUES[0] for x in range(12) for y in range(10))


def test_rows_of_an_image_that_is_a_part_of_a_larger_one(qtbot: QtBot) -> None:
    large = np.arange(0xFF000000, 0xFF000000 + 100, dtype=np.uint32).reshape(10, 10)
    image = image_of(DrawList(5, 4, None, (Image(0, 0, large[2:6, 3:8]),)))
    for y in range(4):
        for x in range(5):
            assert image.pixel(x, y) == large[2 + y, 3 + x]


def test_nothing_else_can_be_painted(qtbot: QtBot) -> None:
    with pytest.raises(TypeError, match="nothing paints a int"):
        paint_item(3, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("view", ["fabric", "matrix", "rack-0"])
@pytest.mark.parametrize("case", ["azure", "su"])
def test_words_are_no_wider_than_they_were_taken_for(qtbot: QtBot, view: str, case: str) -> None:
    from PySide6.QtGui import QFont

    found = broken(case)
    for by in ("utilisation", "job", "delta", "temperature"):
        wanted = Sheet(view, colour_by=by, width=1600, height=1000)
        draw = draw_sheet(wanted, found.snapshot, found.loads, found.base)
        for item in draw.items:
            if isinstance(item, Text):
                font = QFont()
                font.setPixelSize(round(item.size))
                font.setBold(item.bold)
                real = QFontMetricsF(font).horizontalAdvance(item.text)
                assert real <= 1.12 * text_width(item.text, item.size) + 2, item.text
