"""All commands of the window by name: menus, toolbar, palette and shortcut sheet read this list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QMenuBar, QWidget


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its menu, its words, its keys, what it does, and what it is for."""

    name: str
    menu: str
    text: str
    keys: tuple[str, ...]
    run: Callable[[], object]
    tip: str = ""


class Actions(QObject):
    """QActions by the names of their commands, in the order in which they were added."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._commands: dict[str, Command] = {}
        self._actions: dict[str, QAction] = {}
        self._groups: dict[str, QActionGroup] = {}

    def __getitem__(self, name: str) -> QAction:
        """The action of a command."""
        return self._actions[name]

    def __iter__(self) -> Iterator[tuple[Command, QAction]]:
        """All commands with their actions."""
        return ((command, self._actions[name]) for name, command in self._commands.items())

    def add(self, command: Command) -> QAction:
        """Make the action of a command; its keys work wherever the window has the focus."""
        action = QAction(command.text, self._window)
        action.setObjectName(command.name)
        action.setShortcuts([QKeySequence(keys) for keys in command.keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        shown = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        tip = command.tip or command.text.replace("&", "")
        action.setToolTip(f"{tip} ({shown})" if shown else tip)
        action.setStatusTip(tip)
        action.triggered.connect(lambda _checked=False, run=command.run: run())
        self._window.addAction(action)
        self._commands[command.name] = command
        self._actions[command.name] = action
        return action

    def choose(self, group: str, commands: list[Command], current: str) -> None:
        """Commands of which one is in force, such as themes."""
        own = QActionGroup(self._window)
        for command in commands:
            action = self.add(command)
            action.setCheckable(True)
            action.setChecked(command.name == current)
            own.addAction(action)
        self._groups[group] = own

    def adopt(self, name: str, menu: str, action: QAction) -> None:
        """Take in an action that Qt made, such as a dock's own."""
        action.setObjectName(name)
        self._commands[name] = Command(name, menu, action.text(), (), action.trigger)
        self._actions[name] = action

    def fill(self, bar: QMenuBar, menus: list[tuple[str, str]]) -> None:
        """Build the menus: pairs of a menu's name and its title."""
        for name, title in menus:
            menu = bar.addMenu(title)
            menu.setToolTipsVisible(True)
            part = ""
            for command, action in self:
                head, _, own = command.menu.partition("/")
                if head != name:
                    continue
                if part and own != part:
                    menu.addSeparator()
                part = own
                menu.addAction(action)

    def sheet(self) -> list[tuple[str, str, str]]:
        """Menu, text and keys of every command that has keys."""
        return [
            (
                command.menu.partition("/")[0],
                action.text().replace("&", ""),
                ", ".join(
                    keys.toString(QKeySequence.SequenceFormat.NativeText)
                    for keys in action.shortcuts()
                ),
            )
            for command, action in self
            if not action.shortcut().isEmpty()
        ]
