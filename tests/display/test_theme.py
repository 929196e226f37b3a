from __future__ import annotations

import itertools

import numpy as np
import pytest

from gbviz.display import theme as hues
from gbviz.display.theme import DARK, LIGHT, THEMES, Theme, mixed, packed, rgb

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]

# Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB.
SIGHT = {
    "full": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1.0, 1.08883])
GROUNDS = ("ground", "panel", "raised")
# What text is written in: names, states in tables, links.
INKS = ("text", "dim", "accent", "good", "warm", "over", "failed")


@pytest.fixture(params=[DARK, LIGHT], ids=["dark", "light"])
def theme(request: pytest.FixtureRequest) -> Theme:
    found: Theme = request.param
    return found


def linear(colour: str) -> Vector:
    part = np.array(rgb(colour)) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(light: Vector) -> Vector:
    part = XYZ @ light / WHITE
    f = np.where(part > (6 / 29) ** 3, np.cbrt(part), part / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one: str, other: str, sight: str) -> float:
    """How far two colours are apart in CIE Lab (1976) for one kind of sight."""
    a, b = (lab(np.clip(SIGHT[sight] @ linear(c), 0, 1)) for c in (one, other))
    return float(np.linalg.norm(a - b))


def test_the_formulas_themselves() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.02)
    assert lab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.05)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", INKS)
def test_text_is_readable(theme: Theme, ink: str, ground: str) -> None:
    assert contrast(getattr(theme, ink), getattr(theme, ground)) >= 4.5


def test_names_in_and_on_the_hues_of_rails_and_jobs_are_readable(theme: Theme) -> None:
    for colour in (*theme.rails, *theme.jobs):
        assert contrast(colour, theme.ground) >= 4.5, colour


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize(
    ("one", "other", "least"),
    [("high", "busy", 47), ("busy", "over", 26), ("high", "over", 59), ("failed", "busy", 46),
     ("failed", "high", 29), ("low", "high", 40)],
)  # fmt: skip
def test_states_are_told_apart_by_everyone(
    theme: Theme, sight: str, one: str, other: str, least: float
) -> None:
    assert apart(getattr(theme, one), getattr(theme, other), sight) >= least


@pytest.mark.parametrize("sight", ["full", "protanopia", "deuteranopia"])
def test_full_and_failed_differ_but_for_tritanopia(theme: Theme, sight: str) -> None:
    # There a failed part is told by its cross, its struck row or its dashes.
    assert apart(theme.over, theme.failed, sight) >= 25


def test_every_colour_is_a_colour(theme: Theme) -> None:
    fields = [getattr(theme, name) for name in theme.__dataclass_fields__ if name != "name"]
    flat = [c for field in fields for c in ([field] if isinstance(field, str) else field)]
    for colour in flat:
        assert len(colour) == 7
        assert colour == "#" + "".join(f"{part:02x}" for part in rgb(colour))
    assert THEMES[theme.name] is theme
    assert len(set(theme.rails)) == len(theme.rails)
    assert len(set(theme.jobs)) == len(theme.jobs)


def lightness(colour: int) -> float:
    return float(lab(linear(f"#{colour & 0xFFFFFF:06x}"))[0])


def test_the_slate_ramp_goes_one_way_to_the_alarms(theme: Theme) -> None:
    lut = hues.table(theme, "slate")
    assert len(lut) == 256
    below = [lightness(int(c)) for c in lut[: int(0.85 * 249)]]
    step = np.diff(below)
    assert (step >= -0.3).all() if theme is DARK else (step <= 0.3).all()
    for share, colour in ((0.849, None), (0.86, theme.busy), (0.949, theme.busy),
                          (0.96, theme.over), (1.0, theme.over)):  # fmt: skip
        found = int(lut[hues.steps(np.array([share]))[0]])
        if colour is None:
            assert found not in (packed(theme.busy), packed(theme.over))
        else:
            assert found == packed(colour)
    assert int(lut[0]) == packed(theme.low)


@pytest.mark.parametrize("ramp", ["cividis", "viridis"])
def test_the_known_ramps_get_lighter(ramp: hues.Ramp) -> None:
    lut = hues.table(DARK, ramp)
    shade = [lightness(int(c)) for c in lut[: hues.STEPS]]
    assert (np.diff(shade) > -0.3).all()
    assert shade[-1] - shade[0] > 60


def test_the_states_of_a_table(theme: Theme) -> None:
    lut = hues.table(theme, "slate")
    named = {hues.FAILED: theme.failed, hues.DEGRADED: theme.warm, hues.IDLE: theme.idle,
             hues.OFF: theme.off, hues.ABSENT: theme.ground}  # fmt: skip
    for number, colour in named.items():
        assert int(lut[number]) == packed(colour)


def test_no_change_is_the_middle_of_a_change(theme: Theme) -> None:
    lut = hues.change_table(theme)
    middle = int(lut[hues.steps(np.array([0.5]))[0]])
    for shift in (0, 8, 16):
        assert abs((middle >> shift & 255) - (packed(theme.idle) >> shift & 255)) <= 2
    for sight in SIGHT:
        less, more = (f"#{int(lut[n]) & 0xFFFFFF:06x}" for n in (0, hues.STEPS - 1))
        assert apart(less, more, sight) > 40


def test_mixing() -> None:
    for one, other in itertools.combinations(("#000000", "#ff8040", "#123456"), 2):
        assert mixed(one, other, 0) == one
        assert mixed(one, other, 1) == other
    assert hues.job_colour(DARK, 8) == hues.job_colour(DARK, 0)
    assert hues.rail_colour(DARK, 5) == hues.rail_colour(DARK, 1)
