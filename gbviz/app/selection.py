"""What is selected and what the pointer is over: one for all views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from collections.abc import Iterable


class Selection(QObject):
    """Names of components, such as `spine-3`, `rack-3/tray-1/gpu-0` or `leaf-0~spine-3`.

    Signals
    -------
    changed()
        `names` or `job` are others.
    hovered(str)
        The component under the pointer, "" for none.
    reveal(str)
        Views should bring this component into sight.
    """

    changed = Signal()
    hovered = Signal(str)
    reveal = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.job: str | None = None
        self.hover = ""

    @property
    def name(self) -> str:
        """The component that was selected last, "" for none."""
        return self.names[-1] if self.names else ""

    def select(self, names: Iterable[str], *, reveal: bool = False) -> None:
        """Select these components and nothing else; no job is lit any more."""
        fresh = tuple(dict.fromkeys(names))
        if (fresh, None) != (self.names, self.job):
            self.names, self.job = fresh, None
            self.changed.emit()
        if reveal and fresh:
            self.reveal.emit(fresh[-1])

    def toggle(self, name: str) -> None:
        """Add a component to those selected, or take it away."""
        kept = tuple(one for one in self.names if one != name)
        self.select(kept if name in self.names else (*self.names, name))

    def light(self, job: str | None) -> None:
        """Light up a job's GPUs and links; None for none. Components stay selected."""
        if job != self.job:
            self.job = job
            self.changed.emit()

    def clear(self) -> None:
        """Select nothing and light up no job."""
        self.select(())

    def point(self, name: str) -> None:
        """Note what the pointer is over."""
        if name != self.hover:
            self.hover = name
            self.hovered.emit(name)
