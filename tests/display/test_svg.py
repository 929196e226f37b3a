"""SVG of draw lists: each kind of item where it belongs, and pixels as they are."""

from __future__ import annotations

import base64
from io import BytesIO
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image as Pixels

from gbviz.display.draw import DrawList, Image, Lines, Marks, Rects, Text, boxes
from gbviz.display.svg import svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*items: object) -> ET.Element:
    return ET.fromstring(svg(DrawList(40, 30, "#102030", items), "title & <more>"))  # type: ignore[arg-type]


def test_the_ground_and_the_title() -> None:
    root = drawn()
    assert root.attrib["viewBox"] == "0 0 40 30"
    assert root.attrib["aria-label"] == "title & <more>"
    assert root.find(f"{SVG}rect").attrib["fill"] == "#102030"  # type: ignore[union-attr]


@pytest.mark.parametrize("colours", [3, 5000])
def test_pixels_come_back_as_they_are(colours: int) -> None:
    rng = np.random.default_rng(4)
    pixels = (0xFF000000 | rng.integers(0, colours, (20, 30)) * 2819).astype(np.uint32)
    [image] = drawn(Image(3, 4, pixels)).iter(f"{SVG}image")
    assert (image.attrib["x"], image.attrib["y"]) == ("3", "4")
    href = image.attrib["{http://www.w3.org/1999/xlink}href"]
    data = base64.b64decode(href.partition(",")[2])
    found = np.asarray(Pixels.open(BytesIO(data)).convert("RGB")).astype(np.uint32)
    assert (found[..., 0] << 16 | found[..., 1] << 8 | found[..., 2] == pixels & 0xFFFFFF).all()


def test_shapes() -> None:
    at = np.array([[5.0, 6.0], [7.0, 8.0]])
    fills = np.array([0xFF010203, 0xFF010203, 0xFF040506], dtype=np.uint32)
    root = drawn(
        Rects(boxes((1, 2, 3, 1), (4, 2, 3, 1), (7, 2, 3, 1)), fills),
        Rects(boxes((1, 2, 3, 4)), np.array([0xFF0A0B0C], dtype=np.uint32), "#ffffff", 2.0, 1.5),
        Lines(np.array([[0.0, 0.0, 9.0, 9.5]]), "#abcdef", 2.0, dashed=True, opacity=0.5),
        Marks(at, "cross", 4.0, "#ff0000"),
        Marks(at, "dot", 4.0, "#00ff00"),
        Marks(at, "triangle", 4.0, "#0000ff"),
        Lines(np.zeros((0, 4)), "#abcdef"),
    )
    [box] = root.findall(f"{SVG}g/{SVG}rect")
    assert box.attrib | {"fill": "#0a0b0c", "rx": "1.5", "height": "4"} == box.attrib
    paths = [one.attrib["d"] for one in root.iter(f"{SVG}path")]
    assert paths[0] == "M1 2h3v1h-3zM4 2h3v1h-3z"
    assert paths.pop(1) == "M7 2h3v1h-3z"
    paths = paths[1:]
    assert paths[0] == "M0 0L9 9.5"
    assert paths[1].startswith("M3 4L7 8M3 8L7 4")
    assert len(paths) == 4
    assert [one.attrib["cx"] for one in root.iter(f"{SVG}circle")] == ["5", "7"]


def test_texts_are_texts() -> None:
    texts = [
        Text(5, 5, "a<b>&\x1b\u202e", "#000000", 10, "right", bold=True, chip="#ffffff"),
        Text(5, 5, "up", "#000000", 10, "centre", upright=True),
    ]
    first, second = drawn(*texts).iter(f"{SVG}text")
    assert first.text == "a<b>&\\x1b\\u202e"
    assert first.attrib["text-anchor"] == "end"
    assert second.attrib["transform"] == "rotate(-90 5 5)"


def test_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="no SVG for a str"):
        drawn("text")
