"""Ctrl+K: find any component, job or command by typing a part of its name."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.selection import Selection
from gbviz.app.spoken import spoken
from gbviz.display.rack_places import rack_of
from gbviz.errors import InputError
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QKeyEvent

    from gbviz.app.actions import Actions
    from gbviz.topology.fabric import Fabric

_MOST_SHOWN = 60
_MOST_SELECTED = 5000
_TOP_KINDS = ("rack", "leaf", "spine", "core", "hxu", "cdu", "loop")
_SIGNS = frozenset("*?[~>#:/")


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was found: `component`, `job`, `command` or a `selector` of several parts."""

    kind: str
    name: str
    text: str
    hint: str = ""


def score(query: str, text: str) -> float | None:
    """How well a text answers a query, None where it lacks a letter of it; the lower the better.

    Letters must come in order; those that follow each other or begin a word count most.

    Examples
    --------
    >>> score("lf3", "leaf-3") < score("lf3", "leaf-13"), score("x", "leaf-3") is None
    (True, True)
    """
    small, at, total, last = text.lower(), 0, 0.0, -1
    for letter in query.lower():
        if letter == " ":
            continue
        place = small.find(letter, at)
        if place < 0:
            return None
        starts = place == 0 or not small[place - 1].isalnum()
        total += 0.0 if place == last + 1 else 1.0 if starts else 2.0 + 0.1 * (place - at)
        last, at = place, place + 1
    return total + 0.02 * len(text)


def find(
    query: str,
    fabric: Fabric | None,
    jobs: Sequence[str],
    commands: Iterable[Found],
    *,
    rack: int = 0,
) -> list[Found]:
    """What a query may mean, the likeliest first.

    Parameters
    ----------
    query
        What was typed.
    fabric, jobs, commands
        Where to look.
    rack
        The rack in which parts of racks are looked for first.

    Examples
    --------
    >>> from gbviz.topology import build, cluster_spec
    >>> fabric = build(cluster_spec("azure-gb300"))
    >>> find("spine-3", fabric, [], [])[0].name
    'spine-3'
    >>> find("leaf-[0-3]", fabric, [], [])[0].hint
    '4 parts'
    """
    query = query.strip()
    found = _selected(query, fabric)
    if fabric is not None:
        known = {one.name for one in found}
        said = spoken(query, fabric, rack)
        found += [_said(fabric, *pair) for pair in said if pair[0] not in known]
    everything = itertools.chain(
        commands,
        (Found("job", name, name, "job") for name in jobs),
        _components(query, fabric) if query and fabric is not None else (),
    )
    ranked: list[tuple[float, int, Found]] = []
    for one in everything:
        points = score(query, one.text)
        if points is not None and all(one.name != other.name for other in found):
            ranked.append((points, len(ranked), one))
    ranked.sort(key=lambda row: row[:2])
    return [*found, *(one for _, _, one in ranked)][:_MOST_SHOWN]


def _selected(query: str, fabric: Fabric | None) -> list[Found]:
    """What a query names to the letter, as a component or as a selector of several."""
    if (
        fabric is None
        or not query
        or not any(letter.isdigit() or letter in _SIGNS for letter in query)
    ):
        return []
    try:
        parts = select(fabric, query)
    except InputError:
        return []
    if len(parts) == 1:
        return [Found("component", parts[0].component, parts[0].component, parts[0].kind)]
    if len(parts) > _MOST_SELECTED:
        return []
    return [Found("selector", query, query, f"{len(parts):,} parts")]


def _said(fabric: Fabric, name: str, text: str) -> Found:
    """A name, or a selector of several parts."""
    parts = select(fabric, name)
    if len(parts) == 1:
        return Found("component", parts[0].component, text, parts[0].kind)
    return Found("selector", name, text, f"{len(parts):,} parts")


def _components(query: str, fabric: Fabric) -> Iterable[Found]:
    """Racks, switches and cooling units; below a rack that is named, what it holds."""
    head, slash, rest = query.partition("/")
    if slash:
        yield from _inside(fabric, head, rest)
        return
    digits = "".join(letter for letter in query if letter.isdigit())
    for kind in _TOP_KINDS:
        for number in range(fabric.count(kind)):
            if digits in str(number):
                name = f"{kind}-{number}"
                yield Found("component", name, name, kind)


def _inside(fabric: Fabric, head: str, rest: str) -> Iterable[Found]:
    try:
        parts = select(fabric, f"{head}/*")
        if "/" in rest or "gpu" in rest or "nic" in rest or "cpu" in rest:
            parts = [*parts, *select(fabric, f"{head}/tray-*/*")]
    except InputError:
        return
    for part in parts[:_MOST_SELECTED]:
        yield Found("component", part.component, part.component, part.kind)


class SearchBox(QDialog):
    """A line to type in and what it finds below; Enter takes the one that is marked.

    Signals
    -------
    chosen(object)
        The `Found` that was taken.
    """

    chosen = Signal(object)

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("search")
        self.setAccessibleName(self.tr("Search"))
        self._actions = actions
        self._fabric: Fabric | None = None
        self._jobs: list[str] = []
        self._rack = 0
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(
            self.tr("Any part, job or command: spine-3, rack-4/tray-1, leaf-[0-3], undo")
        )
        self.line.setAccessibleName(self.tr("Search for a part, job or command"))
        self.line.setClearButtonEnabled(True)
        self.list = QListWidget(self)
        self.list.setAccessibleName(self.tr("What was found"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.nothing = QLabel(self.tr("Nothing has such a name."), self)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        box = QVBoxLayout(self)
        box.setContentsMargins(6, 6, 6, 6)
        for widget in (self.line, self.list, self.nothing):
            box.addWidget(widget)
        self.line.textChanged.connect(self._search)
        self.line.installEventFilter(self)
        self.list.itemClicked.connect(self._take)
        self.list.itemActivated.connect(self._take)

    def ask(self, fabric: Fabric | None, jobs: list[str]) -> None:
        """Open over the parent; the last text is there, selected."""
        self._fabric, self._jobs = fabric, jobs
        parent = self.parentWidget()
        assert parent is not None
        selection = getattr(parent, "selection", None)
        self._rack = 0
        if fabric is not None and isinstance(selection, Selection) and selection.name:
            self._rack = max(rack_of(fabric, selection.name), 0)
        width = min(620, parent.width() - 40)
        self.resize(width, min(440, parent.height() - 120))
        corner = parent.mapToGlobal(parent.rect().topLeft())
        self.move(corner.x() + (parent.width() - width) // 2, corner.y() + 56)
        self._search(self.line.text())
        self.show()
        self.line.selectAll()
        self.line.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 Qt's name
        """Let arrows move through the list and Enter take from it, while the line has the focus."""
        if watched is self.line and event.type() == QEvent.Type.KeyPress:
            key_event: QKeyEvent = event  # type: ignore[assignment]
            key = key_event.key()
            if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                step = 1 if key == Qt.Key.Key_Down else -1
                row = self.list.currentRow() + step
                self.list.setCurrentRow(max(0, min(row, self.list.count() - 1)))
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._take(self.list.currentItem())
                return True
        return super().eventFilter(watched, event)

    def _search(self, text: str) -> None:
        commands = [
            Found("command", command.name, action.text().replace("&", ""), _keys(action))
            for command, action in self._actions
            if action.isEnabled()
        ]
        self.list.clear()
        for one in find(text, self._fabric, self._jobs, commands, rack=self._rack):
            item = QListWidgetItem(f"{one.text}    {one.hint}" if one.hint else one.text)
            item.setData(Qt.ItemDataRole.UserRole, one)
            item.setToolTip(one.kind)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self.list.setVisible(self.list.count() > 0)
        self.nothing.setVisible(self.list.count() == 0)

    def _take(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.close()
            self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))


def _keys(action: object) -> str:
    shortcut = action.shortcut().toString()  # type: ignore[attr-defined]
    return str(shortcut)
