"""Links as lines: bundles by column of racks, or every pair, in device pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from gbviz.display import theme as hues
from gbviz.display.draw import Lines

if TYPE_CHECKING:
    from gbviz.display.draw import Item
    from gbviz.display.grid import View
    from gbviz.display.layout import Layout
    from gbviz.display.shades import Look, Shades
    from gbviz.topology.fabric import Bools, Floats, Ints

LinkStyle = Literal["matrix", "bundles", "cables"]
LINK_STYLES: tuple[LinkStyle, ...] = ("matrix", "bundles", "cables")

# More lines than this are neither quick nor readable.
MOST_LINES = 4000
# Bundles at least this full are drawn again on top in their full colour.
LOUD = 0.93
_COLOURS = 8
_MOST_HURT = 200
_HUB = 5.0


def link_items(layout: Layout, view: View, look: Look, shades: Shades, style: str) -> list[Item]:
    """Lines between leaves and spines, the faint ones first, loud and dead ones on top.

    Bundles run from each spine to a hub above the leaves of a column and fan out from there; the
    worst of their pairs gives the colour. With more than `MOST_LINES` pairs in sight, bundles
    stand for them.
    """
    shape = layout.shape
    leaf, position = np.divmod(np.arange(len(shades.pair_value)), shape.spines_per_pod)
    spine = leaf // shape.leaves_per_pod * shape.spines_per_pod + position
    ends = _pair_ends(layout, view, leaf, spine)
    seen = _in_sight(ends, view)
    if style == "cables" and int(seen.sum()) <= MOST_LINES - _MOST_HURT:
        which = np.flatnonzero(seen)
        drawn = _drawn(ends[which], shades.pair_value[which], _dead(shades, which), look, view)
        return drawn + _hurt(ends, shades, seen, look, view)
    # First the fans, then what is dead, then the fullest bundles: together never too many.
    fans = _fans(layout, view)
    fans = fans[_in_sight(fans, view)][: MOST_LINES // 2]
    dead = np.flatnonzero(shades.pair_down & seen)[: MOST_LINES // 4]
    hubs, value = _bundles(layout, view, shades)
    which = np.flatnonzero(_in_sight(hubs, view))
    room = MOST_LINES - _MOST_HURT - len(fans) - len(dead)
    if len(which) > room:
        which = which[np.argsort(value[which])[::-1][:room]]
    items: list[Item] = [Lines(fans, look.theme.line, view.scale)]
    items += _drawn(hubs[which], value[which], np.zeros(len(which), dtype=bool), look, view)
    if len(dead):
        items.append(Lines(ends[dead], look.theme.failed, 1.5 * view.scale, dashed=True))
    return items + _hurt(ends, shades, seen, look, view)


def _hurt(ends: Floats, shades: Shades, seen: Bools, look: Look, view: View) -> list[Item]:
    """Pairs some of whose cables are dead or slow, on top of all others."""
    which = np.flatnonzero(shades.pair_hurt & seen)[:_MOST_HURT]
    return (
        [Lines(ends[which], look.theme.warm, 1.5 * view.scale, dashed=True)] if len(which) else []
    )


def _dead(shades: Shades, which: Ints) -> Bools:
    found: Bools = shades.pair_down[which]
    return found


def _pair_ends(layout: Layout, view: View, leaf: Ints, spine: Ints) -> Floats:
    """Lines from the middle of a leaf's upper edge to the middle of a spine's lower one."""
    low, high = layout.leaves[leaf], layout.spines[spine]
    ends = np.stack(
        [(low[:, 0] + low[:, 2]) / 2, low[:, 1], (high[:, 0] + high[:, 2]) / 2, high[:, 3]], axis=1
    )
    return _to_device(ends, view)


def _bundles(layout: Layout, view: View, shades: Shades) -> tuple[Floats, Floats]:
    """A line from each spine to the hub of each column of its pod, and its worst pair's value."""
    shape = layout.shape
    rails, each = shape.rails, shape.spines_per_pod
    columns = shape.leaves // rails
    value = shades.pair_value.reshape(columns, rails, each).max(axis=1).reshape(-1)
    column, position = np.divmod(np.arange(columns * each), each)
    pod = column * rails // shape.leaves_per_pod
    spine = layout.spines[pod * each + position]
    hub = _hubs(layout)[column]
    ends = np.stack([hub[:, 0], hub[:, 1], (spine[:, 0] + spine[:, 2]) / 2, spine[:, 3]], axis=1)
    return _to_device(ends, view), value


def _hubs(layout: Layout) -> Floats:
    """(columns, 2) points above the leaves of each column of racks."""
    own = layout.leaves.reshape(-1, layout.shape.rails, 4)
    x = (own[:, 0, 0] + own[:, -1, 2]) / 2
    found: Floats = np.stack([x, own[:, 0, 1] - _HUB], axis=1)
    return found


def _fans(layout: Layout, view: View) -> Floats:
    hubs = np.repeat(_hubs(layout), layout.shape.rails, axis=0)
    own = layout.leaves
    ends = np.stack([(own[:, 0] + own[:, 2]) / 2, own[:, 1], hubs[:, 0], hubs[:, 1]], axis=1)
    return _to_device(ends, view)


def _drawn(ends: Floats, value: Floats, dead: Bools, look: Look, view: View) -> list[Item]:
    """Lines in a few colours, the fullest last; dead ones dashed on top."""
    lut = hues.table(look.theme, look.ramp)
    bucket = np.clip((value * _COLOURS).astype(np.int64), 0, _COLOURS - 1)
    items: list[Item] = []
    for number in range(_COLOURS):
        own = np.flatnonzero((bucket == number) & ~dead & (value < LOUD))
        if len(own):
            step = hues.steps(np.array([(number + 0.5) / _COLOURS]))[0]
            items.append(Lines(ends[own], _css(int(lut[step])), view.scale, opacity=0.55))
    loud = np.flatnonzero((value >= LOUD) & ~dead)
    if len(loud):
        items.append(Lines(ends[loud], _css(int(lut[hues.STEPS - 1])), 1.5 * view.scale))
    if dead.any():
        items.append(Lines(ends[dead], look.theme.failed, 1.5 * view.scale, dashed=True))
    return items


def _css(colour: int) -> str:
    return f"#{colour & 0xFFFFFF:06x}"


def _to_device(ends: Floats, view: View) -> Floats:
    out: Floats = np.empty_like(ends)
    out[:, 0::2] = (ends[:, 0::2] - view.x0) * view.sx
    out[:, 1::2] = (ends[:, 1::2] - view.y0) * view.sy
    return out


def _in_sight(ends: Floats, view: View) -> Bools:
    x, y = ends[:, 0::2], ends[:, 1::2]
    found: Bools = (
        (x.max(axis=1) >= 0)
        & (x.min(axis=1) <= view.width)
        & (y.max(axis=1) >= 0)
        & (y.min(axis=1) <= view.height)
    )
    return found
