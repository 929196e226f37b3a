"""Colours: lightness is utilisation, hue is identity, shape and hue together are alarm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gbviz.topology.fabric import Floats

Colours = NDArray[np.uint32]
ThemeName = Literal["dark", "light"]
Ramp = Literal["slate", "cividis", "viridis"]

# Utilisation above these is said by another hue, not by more lightness alone.
BUSY, OVER = 0.85, 0.95
# Steps of a ramp; the numbers above them in a table of colours stand for states.
STEPS = 250
ABSENT, FAILED, DEGRADED, IDLE, OFF = 250, 251, 252, 253, 254


@dataclass(frozen=True, slots=True)
class Theme:
    """All colours of one theme, `#rrggbb`. Text on every ground has a contrast of 4.5 or more."""

    name: ThemeName
    ground: str
    panel: str
    raised: str
    text: str
    dim: str
    line: str
    accent: str
    focus: str
    busy: str
    over: str
    failed: str
    warm: str
    good: str
    chip: str
    idle: str
    off: str
    low: str
    high: str
    rails: tuple[str, ...]
    jobs: tuple[str, ...]


DARK = Theme(
    name="dark",
    ground="#13161b",
    panel="#1a1e25",
    raised="#242a33",
    text="#dde3ea",
    dim="#939dab",
    line="#39414d",
    accent="#56b4e9",
    focus="#ffffff",
    busy="#ffd23f",
    over="#f5602f",
    failed="#ff5470",
    warm="#f0a020",
    good="#3ec28f",
    chip="#20252d",
    idle="#232a34",
    off="#1b2026",
    low="#26323f",
    high="#82a6c6",
    rails=("#56b4e9", "#e69f00", "#35b98a", "#cc79a7"),
    jobs=("#56b4e9", "#e69f00", "#35b98a", "#cc79a7", "#b7a6ff", "#e0d24a", "#ff9d76", "#6fd6d6"),
)
LIGHT = Theme(
    name="light",
    ground="#f6f8fa",
    panel="#ffffff",
    raised="#e9edf2",
    text="#1c2530",
    dim="#5a6675",
    line="#c3cad3",
    accent="#0f6fae",
    focus="#000000",
    busy="#f0a500",
    over="#c73500",
    failed="#c2003f",
    warm="#a05200",
    good="#0d7a55",
    chip="#ffffff",
    idle="#e3e8ee",
    off="#d4dae1",
    low="#d7e0e9",
    high="#51779b",
    rails=("#0f6fae", "#9a6000", "#14795a", "#a1447c"),
    jobs=("#0f6fae", "#9a6000", "#14795a", "#a1447c", "#6650b8", "#7a7000", "#b5471b", "#0f7878"),
)
THEMES: dict[str, Theme] = {"dark": DARK, "light": LIGHT}


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of `#rrggbb`, 0 to 255.

    Examples
    --------
    >>> rgb("#ff8000")
    (255, 128, 0)
    """
    value = int(colour[1:], 16)
    return value >> 16, value >> 8 & 255, value & 255


def packed(colour: str) -> int:
    """A colour as 0xffRRGGBB, the pixel of a 32-bit image.

    Examples
    --------
    >>> hex(packed("#ff8000"))
    '0xffff8000'
    """
    return 0xFF000000 | int(colour[1:], 16)


def mixed(one: str, other: str, part: float) -> str:
    """A colour between two: `part` of the other.

    Examples
    --------
    >>> mixed("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = zip(rgb(one), rgb(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def job_colour(theme: Theme, number: int) -> str:
    """The hue of a job by its place in the scenario; hues repeat after the last."""
    return theme.jobs[number % len(theme.jobs)]


def rail_colour(theme: Theme, rail: int) -> str:
    """The hue of a rail; hues repeat after the last."""
    return theme.rails[rail % len(theme.rails)]


# Anchors of the two maps (Nuñez, Anderton, Renslow 2018, cividis; Smith, van der Walt 2015,
# viridis), evenly spaced.
_ANCHORS = {
    "cividis": ("#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"),
    "viridis": ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"),
}


@lru_cache(maxsize=16)
def table(theme: Theme, ramp: Ramp = "slate") -> Colours:
    """(256,) packed colours: `STEPS` of utilisation, then the states."""
    at = np.linspace(0.0, 1.0, STEPS)
    if ramp == "slate":
        colours = _between((theme.low, theme.high), at / BUSY)
        colours[at >= BUSY] = packed(theme.busy)
        colours[at >= OVER] = packed(theme.over)
    else:
        colours = _between(_ANCHORS[ramp], at)
    return np.concatenate([colours, _states(theme)])


@lru_cache(maxsize=8)
def heat_table(theme: Theme, busy: float, over: float) -> Colours:
    """(256,) packed colours of temperatures; `busy` and `over` are where alarm begins, of 1."""
    at = np.linspace(0.0, 1.0, STEPS)
    colours = _between((theme.low, theme.high), at / busy)
    colours[at >= busy] = packed(theme.busy)
    colours[at >= over] = packed(theme.over)
    return np.concatenate([colours, _states(theme)])


def _states(theme: Theme) -> Colours:
    names = (theme.ground, theme.failed, theme.warm, theme.idle, theme.off, theme.ground)
    return np.array([packed(colour) for colour in names], dtype=np.uint32)


@lru_cache(maxsize=8)
def change_table(theme: Theme) -> Colours:
    """(256,) packed colours from less through equal to more."""
    cool = "#3a78c2" if theme.name == "dark" else "#2a66b0"
    colours = _between((cool, theme.idle, theme.over), np.linspace(0.0, 1.0, STEPS))
    return np.concatenate([colours, _states(theme)])


def steps(values: Floats) -> NDArray[np.uint8]:
    """Values in [0, 1] as steps of a ramp; values outside are taken as the nearest end.

    Examples
    --------
    >>> steps(np.array([0.0, 0.5, 1.0, 7.0])).tolist()
    [0, 124, 249, 249]
    """
    return np.clip(np.rint(values * (STEPS - 1)), 0, STEPS - 1).astype(np.uint8)


def _between(anchors: tuple[str, ...], at: Floats) -> Colours:
    """Packed colours along evenly spaced anchors."""
    channels = np.array([rgb(colour) for colour in anchors], dtype=np.float64)
    where = np.clip(at, 0, 1) * (len(anchors) - 1)
    low = np.minimum(where.astype(np.int64), len(anchors) - 2)
    part = (where - low)[:, None]
    found = np.rint(channels[low] * (1 - part) + channels[low + 1] * part).astype(np.uint32)
    colours: Colours = 0xFF000000 | found[:, 0] << 16 | found[:, 1] << 8 | found[:, 2]
    return colours
