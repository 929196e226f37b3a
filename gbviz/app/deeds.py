"""What commands do to the selection: fail, repair, degrade, and what a menu offers for a part."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from gbviz.display.walk import parent
from gbviz.errors import InputError
from gbviz.faults.fault import DEGRADABLE
from gbviz.topology.selectors import select

if TYPE_CHECKING:
    from collections.abc import Callable

    from gbviz.app.live import Live
    from gbviz.app.selection import Selection

HALF = 0.5
_FACTORS = (0.75, 0.5, 0.25)
# Larger families of parts than these are offered by a search, not by a menu.
_FAMILIES = {
    "leaf": ("leaf-{0}~spine-*", "its uplinks"),
    "spine": ("leaf-*~spine-{0}", "its cables to leaves"),
}


class Deeds(QObject):
    """Acts on what is selected, by the live state alone."""

    def __init__(self, live: Live, selection: Selection, parent: QWidget) -> None:
        super().__init__(parent)
        self._live, self._selection = live, selection

    @Slot()
    def fail(self) -> bool:
        """Fail what is selected; False where that is nothing, or was refused."""
        return bool(self._selection.names) and self._live.fail(self._selection.names)

    @Slot()
    def repair(self) -> bool:
        """Repair what is selected."""
        return bool(self._selection.names) and self._live.repair(self._selection.names)

    def degrade(self, factor: float = HALF) -> bool:
        """Leave what is selected with a part of its rate."""
        return bool(self._selection.names) and self._live.degrade(self._selection.names, factor)

    def copy_names(self) -> None:
        """Put the names of what is selected on the clipboard."""
        QGuiApplication.clipboard().setText(" ".join(self._selection.names))

    def select_family(self, pattern: str) -> None:
        """Select everything that a selector names."""
        answer = self._live.answer
        if answer is None:
            return
        try:
            parts = select(answer.snapshot.fabric, pattern)
        except InputError as error:
            self._live.refused.emit(str(error))
            return
        self._selection.select([part.component for part in parts], reveal=len(parts) == 1)

    def menu(self, more: Callable[[QMenu], None]) -> QMenu:
        """What can be done with the selection; `more` adds what the window offers."""
        names = self._selection.names
        owner = self.parent()
        menu = QMenu(owner if isinstance(owner, QWidget) else None)
        title = names[0] if len(names) == 1 else self.tr("{} parts").format(len(names))
        menu.addSection(title if names else self.tr("Nothing is selected"))
        if names:
            menu.addAction(self.tr("Fail\tF"), self.fail)
            part_way = menu.addMenu(self.tr("Degrade"))
            part_way.setEnabled(self._degradable())
            for factor in _FACTORS:
                text = self.tr("to {} %").format(f"{100 * factor:g}")
                part_way.addAction(text, partial(self.degrade, factor))
            menu.addAction(self.tr("Repair\tR"), self.repair)
            if len(names) == 1:
                self._relatives(menu, names[0])
            menu.addSeparator()
            menu.addAction(self.tr("Copy name"), self.copy_names)
        more(menu)
        menu.addSeparator()
        menu.addAction(self.tr("Restore all"), self._live.restore_all)
        return menu

    def _relatives(self, menu: QMenu, name: str) -> None:
        """The bundle of a cable, what holds a part, the cables of a switch."""
        above = parent(name)
        if above:
            what = self.tr("Select the whole bundle {}") if "#" in name else self.tr("Select {}")
            menu.addAction(what.format(above), partial(self._selection.select, [above]))
        kind, _, number = name.partition("-")
        if kind in _FAMILIES and number.isdigit():
            pattern, words = _FAMILIES[kind]
            text = self.tr("Select {}").format(words)
            menu.addAction(text, partial(self.select_family, pattern.format(number)))

    def _degradable(self) -> bool:
        answer = self._live.answer
        if answer is None:
            return False
        try:
            part = select(answer.snapshot.fabric, self._selection.name)[0]
        except InputError:
            return False
        return part.kind in DEGRADABLE
