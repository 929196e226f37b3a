"""The settings while the application runs: one object that everything asks and tells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from gbviz.app import settings
from gbviz.errors import InputError

if TYPE_CHECKING:
    from gbviz.app.settings import Settings


class Remembered(QObject):
    """Holds the settings, keeps them in their file, and tells who looks.

    Parameters
    ----------
    parent
        Its owner.

    Signals
    -------
    changed(object)
        The `Settings` are others.
    """

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings, self.note = settings.load()

    def change(self, **fields: Any) -> None:
        """Change some fields."""
        self.put(replace(self.settings, **fields))

    def put(self, fresh: Settings) -> None:
        """Change all fields; a file that cannot be written is noted and holds nobody up."""
        if fresh == self.settings:
            return
        self.settings = fresh
        try:
            settings.save(fresh)
        except InputError as error:
            self.note = f"the settings are not kept: {error}"
        self.changed.emit(fresh)
