"""Draw lists as SVG: the app's pictures without Qt and without a display."""

from __future__ import annotations

from base64 import b64encode
from functools import singledispatch
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pixels

from gbviz.display.draw import Image, Lines, Marks, Rects, Text, text_width
from gbviz.errors import printable

if TYPE_CHECKING:
    from gbviz.display.draw import DrawList

_FONT = "'DejaVu Sans','Segoe UI','Helvetica Neue',Arial,sans-serif"
# Parts of a font's size: the middle of a line of text lies this far above its base line.
_MIDDLE = 0.35
_ANCHORS = {"left": "start", "centre": "middle", "right": "end"}


def svg(draw: DrawList, title: str) -> str:
    """A draw list as one `<svg>` element, to stand alone or in a page.

    Texts are escaped, so names from files are shown, never taken for markup. The same list gives
    the same text.

    Parameters
    ----------
    draw
        What is to be seen; one unit of the picture is one device pixel of the list.
    title
        What the picture shows, for those who hear it.

    Examples
    --------
    >>> from gbviz.display.draw import DrawList
    >>> label = Text(5, 5, "a<b", "#000000", 10)
    >>> print(svg(DrawList(20, 10, "#ffffff", (label,)), "One label").partition("</title>")[2])
    <rect width="20" height="10" fill="#ffffff"/>
    <text x="5" y="8.5" font-size="10" fill="#000000">a&lt;b</text>
    </svg>
    """
    said = _plain(title)
    size = f'viewBox="0 0 {draw.width} {draw.height}" width="{draw.width}" height="{draw.height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' {size} role="img" aria-label="{said}" font-family="{_FONT}"><title>{said}</title>'
    ]
    if draw.ground is not None:
        parts.append(f'<rect width="{draw.width}" height="{draw.height}" fill="{draw.ground}"/>')
    parts += filter(None, map(_item, draw.items))
    return "\n".join([*parts, "</svg>"])


@singledispatch
def _item(item: object) -> str:
    raise TypeError(f"no SVG for a {type(item).__name__}")


@_item.register
def _image(item: Image) -> str:
    height, width = item.pixels.shape
    channels = np.stack([item.pixels >> shift & 255 for shift in (16, 8, 0)], axis=-1)
    found = Pixels.fromarray(channels.astype(np.uint8), "RGB")
    out = BytesIO()
    # Few colours in large areas: a palette halves the file and loses nothing.
    few = found.getcolors(256) is not None
    (found.convert("P", palette=Pixels.Palette.ADAPTIVE) if few else found).save(out, "PNG")
    data = b64encode(out.getvalue()).decode()
    return (
        f'<image x="{item.x}" y="{item.y}" width="{width}" height="{height}"'
        f' style="image-rendering:pixelated" xlink:href="data:image/png;base64,{data}"/>'
    )


@_item.register
def _rects(item: Rects) -> str:
    pen = f'stroke="{item.outline}" stroke-width="{_n(item.width)}"' if item.outline else ""
    round_ = f' rx="{_n(item.radius)}"' if item.radius else ""
    parts: list[str] = []
    # A path for each run of one colour: a large map has thousands of boxes.
    runs: list[tuple[str, list[str]]] = []
    for number, box in enumerate(item.boxes.tolist()):
        x, y, width, height = map(_n, box)
        fill = "none" if item.fill is None else f"#{int(item.fill[number]) & 0xFFFFFF:06x}"
        if round_:
            shape = f'<rect x="{x}" y="{y}" width="{width}" height="{height}"{round_}'
            parts.append(f'{shape} fill="{fill}"/>')
            continue
        if not runs or runs[-1][0] != fill:
            runs.append((fill, []))
        runs[-1][1].append(f"M{x} {y}h{width}v{height}h-{width}z")
    parts += [f'<path fill="{fill}" d="{"".join(boxes)}"/>' for fill, boxes in runs]
    return _group(pen, parts)


@_item.register
def _lines(item: Lines) -> str:
    pen = f'stroke="{item.colour}" stroke-width="{_n(item.width)}" fill="none"'
    if item.dashed:
        dash = f"{_n(4 * item.width)} {_n(3 * item.width)}"
        pen += f' stroke-dasharray="{dash}"'
    if item.opacity < 1:
        pen += f' stroke-opacity="{_n(item.opacity)}"'
    ends = (map(_n, four) for four in item.ends.tolist())
    path = "".join(f"M{x1} {y1}L{x2} {y2}" for x1, y1, x2, y2 in ends)
    return f'<path {pen} d="{path}"/>' if path else ""


@_item.register
def _marks(item: Marks) -> str:
    half = item.size / 2
    if item.kind == "cross":
        pen = f'stroke="{item.colour}" stroke-width="{_n(max(1.2, item.size / 6))}" fill="none"'
        path = "".join(
            f"M{_n(x - half)} {_n(y - half)}L{_n(x + half)} {_n(y + half)}"
            f"M{_n(x - half)} {_n(y + half)}L{_n(x + half)} {_n(y - half)}"
            for x, y in item.at.tolist()
        )
        return f'<path {pen} d="{path}"/>' if path else ""
    if item.kind == "dot":
        parts = [f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(half)}"/>' for x, y in item.at.tolist()]
    else:
        parts = [
            f'<path d="M{_n(x)} {_n(y - half)}L{_n(x + half)} {_n(y + half)}H{_n(x - half)}Z"/>'
            for x, y in item.at.tolist()
        ]
    return _group(f'fill="{item.colour}"', parts)


@_item.register
def _text(item: Text) -> str:
    bold = ' font-weight="bold"' if item.bold else ""
    anchor = f' text-anchor="{_ANCHORS[item.align]}"' if item.align != "left" else ""
    x, y = item.x, item.y
    turned = f' transform="rotate(-90 {_n(x)} {_n(y)})"' if item.upright else ""
    chip = ""
    if item.chip is not None:
        pad, width = 0.4 * item.size, text_width(item.text, item.size)
        left = x + {"left": 0.0, "centre": -width / 2, "right": -width}[item.align]
        chip = (
            f'<rect x="{_n(left - pad)}" y="{_n(y - 0.75 * item.size)}"'
            f' width="{_n(width + 2 * pad)}" height="{_n(1.5 * item.size)}" rx="{_n(pad)}"'
            f' fill="{item.chip}"{turned}/>'
        )
    return (
        f'{chip}<text x="{_n(x)}" y="{_n(y + _MIDDLE * item.size)}" font-size="{_n(item.size)}"'
        f'{anchor}{bold} fill="{item.colour}"{turned}>{_plain(item.text)}</text>'
    )


def _group(style: str, parts: list[str]) -> str:
    return f"<g {style}>{''.join(parts)}</g>" if parts else ""


def _plain(text: str) -> str:
    """A text that XML can hold and that cannot be taken for markup."""
    return escape(printable(text))


def _n(value: float) -> str:
    """A coordinate: hundredths of a pixel are enough."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
