"""Names on the map of a fabric: as many as fit, those of what has failed first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gbviz.display import theme as hues
from gbviz.display.draw import Text, text_width
from gbviz.display.names import short_names, shortened

if TYPE_CHECKING:
    from gbviz.display.draw import Item
    from gbviz.display.grid import View
    from gbviz.display.layout import Layout
    from gbviz.display.shades import Look, Shades
    from gbviz.engine import Snapshot
    from gbviz.topology.fabric import Bools, Floats, Ints

# Logical pixels.
FONT = 10.0
_MOST_LABELS = 400
# Room for the name of a job that does not fit, for a font of 1: so cut, names are told apart.
_NAME = 16.0


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn and how: layout, view, look, and `matrix`, `bundles` or `cables`."""

    layout: Layout
    view: View
    look: Look
    style: str = "matrix"


def row_labels(picture: Picture, shades: Shades) -> list[Item]:
    """Names of spines at the left of their rows: as many as fit, dead ones always."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    size = FONT * view.type
    each = layout.shape.spines_per_pod
    step = every(layout.pairs.cell_size(view)[1], size * 1.25)
    items: list[Item] = []
    for pod in np.flatnonzero(view.sees(layout.pods)).tolist():
        rows = layout.rows[pod]
        x = max((rows[0, 0] - view.x0) * view.sx, 0.0) - 5 * view.scale
        first = rows[0, 0] == layout.rows[0, 0, 0]
        room = x if first else (rows[0, 0] - layout.pods[pod - 1, 2]) * view.sx - 10 * view.scale
        down = shades.spine_down[pod * each : (pod + 1) * each]
        last = -1e9
        for position in range(each):
            spine, y = pod * each + position, float((rows[position, 1] - view.y0) * view.sy)
            dead = bool(down[position])
            if not (dead or position % step == 0) or not 0 < y < view.height:
                continue
            near_dead = down[max(0, position - step + 1) : position + step].any()
            text = f"spine-{spine}" if text_width("spine-000", size) < room else str(spine)
            fits = text_width(text, size) <= room
            if (not dead and (near_dead or not fits)) or y - last < size:
                continue
            last = y
            colour = theme.failed if dead else theme.dim
            chip = None if fits else theme.ground
            items.append(Text(x, y, text, colour, size, "right", bold=dead, chip=chip))
    return items[:_MOST_LABELS]


def job_names(picture: Picture, snapshot: Snapshot, owner: Ints, boxes: Floats) -> list[Item]:
    """A caption over each run of columns whose upper rack belongs to the same job."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    high, size = layout.shape.racks_per_group, FONT * view.type
    tops = np.arange(0, len(owner), high)
    items: list[Item] = []
    if (layout.racks[0, 1] - layout.leaves[0, 3]) * view.sy < 1.7 * size:
        return items
    names = job_labels(snapshot)
    start = 0
    for at in range(1, len(tops) + 1):
        same = (
            at < len(tops)
            and owner[tops[at]] == owner[tops[start]]
            and boxes[tops[at], 1] == boxes[tops[start], 1]
        )
        if same:
            continue
        job = int(owner[tops[start]])
        first, last = boxes[tops[start]], boxes[tops[at - 1]]
        start = at
        if job < 0:
            continue
        room = last[0] + last[2] - first[0]
        count = int((owner == job).sum())
        texts = [f"{name}{tail}" for name in names[job] for tail in (f" · {count} racks", "")]
        text = fitting(texts, size, room)
        if text:
            y = first[1] - 4 * view.scale - 0.85 * size
            colour = hues.job_colour(theme, job)
            items.append(Text(first[0], y, text, colour, size, bold=True))
    return items[:_MOST_LABELS]


def job_labels(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Each job's name in full, and so short that it fits nearly everywhere."""
    names = [job.name for job in snapshot.scenario.jobs]
    return list(zip(names, short_names(names, 1.0, _NAME), strict=True))


def fitting(texts: list[str], size: float, room: float) -> str:
    """The first text that fits, the last one shortened, or nothing."""
    for text in texts:
        if text_width(text, size) <= room:
            return text
    return shortened(texts[-1], size, room)


def leaf_labels(picture: Picture) -> list[Item]:
    """Which leaves stand above a column of racks, where single leaves are too narrow for names."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    boxes, size = view.boxes(layout.leaves), 0.9 * FONT * view.type
    rails, last = layout.shape.rails, layout.shape.leaves - 1
    room = rails * boxes[0, 2] * 1.15
    gap = (layout.racks[0, 1] - layout.leaves[0, 3]) * view.sy
    wide = text_width(f"{last}-{last}", size)
    if boxes[0, 2] > text_width("leaf-000", FONT * view.type) or room < wide or gap < 3.6 * size:
        return []
    word = "leaf " if room > text_width(f"leaf {last}-{last}", size) else ""
    y_at = 0.36 * gap + 0.6 * size
    found: list[Item] = []
    for first in range(0, len(boxes), rails):
        x, y, _, high = boxes[first].tolist()
        text = f"{word}{first}-{min(first + rails, len(boxes)) - 1}"
        at = x + rails * boxes[0, 2] / 2
        found.append(Text(at, y + high + y_at, text, theme.dim, size, "centre"))
    return found[:_MOST_LABELS]


def rack_labels(picture: Picture, shades: Shades) -> list[Item]:
    """Names of racks below them: in full, as numbers, or not at all."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    boxes, size = view.boxes(layout.racks), FONT * view.type
    room = boxes[0, 2]
    last = layout.fabric.count("rack") - 1
    if _fits_gap(layout, view, size) and text_width(f"rack-{last}", size) <= room + 2:
        form = "rack-{}"
    elif _fits_gap(layout, view, size) and text_width(str(last), size) <= room + 2:
        form = "{}"
    else:
        return []
    seen = view.sees(layout.racks)
    return [
        Text(
            x + w / 2,
            y + h + 0.65 * size,
            form.format(n),
            theme.failed if shades.rack_down[n] else theme.dim,
            size,
            "centre",
        )
        for n, (x, y, w, h) in numbered(boxes, seen)
    ]


def _fits_gap(layout: Layout, view: View, size: float) -> bool:
    """Whether a line of text fits between two racks, one below the other."""
    return bool((layout.racks[0, 3] - layout.racks[0, 1]) * view.sy * 0.25 >= size)


def pod_labels(picture: Picture) -> list[Item]:
    """The name of each pod above it."""
    layout, view, theme = picture.layout, picture.view, picture.look.theme
    if len(layout.pods) == 1:
        return []
    boxes, size = view.boxes(layout.pods), FONT * view.type
    per_pod = layout.shape.leaves_per_pod // layout.shape.rails * layout.shape.racks_per_group
    items: list[Item] = []
    for n, (x, y, width, _) in numbered(boxes, view.sees(layout.pods)):
        first, last = n * per_pod, min((n + 1) * per_pod, layout.fabric.count("rack")) - 1
        text = fitting([f"pod {n} · racks {first} to {last}", f"pod {n}"], size, width)
        if text:
            items.append(Text(x, y + 0.6 * size, text, theme.dim, size, bold=True))
    return items


def numbered(boxes: Floats, which: Bools) -> list[tuple[int, list[float]]]:
    """Numbers and boxes of those that are wanted, as plain numbers."""
    numbers = np.flatnonzero(which)[:_MOST_LABELS]
    return list(zip(numbers.tolist(), boxes[numbers].tolist(), strict=True))


def every(pitch: float, room: float) -> int:
    """Label each one, or each second, fifth, tenth ...: the first that leaves enough room."""
    for step in (1, 2, 5, 10, 20, 50, 100):
        if pitch * step >= room:
            return step
    return 200
