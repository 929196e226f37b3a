"""Which file the open scenario belongs to: new, open, save, and what may be lost by it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from PySide6.QtCore import QObject, Signal, Slot

from gbviz.assets import asset_path, scenario_paths
from gbviz.engine.edits import Edit
from gbviz.errors import GbvizError, ScenarioError, printable
from gbviz.scenario import preset
from gbviz.scenario.file import read
from gbviz.scenario.save import save
from gbviz.scenario.source import SUFFIXES, read_bytes

if TYPE_CHECKING:
    import os

    from PySide6.QtCore import QMimeData

    from gbviz.app.live import Live
    from gbviz.app.remembered import Remembered
    from gbviz.scenario import Scenario


class Questions(Protocol):
    """What only the user can answer."""

    def unsaved(self, name: str) -> Literal["save", "discard", "cancel"]:
        """What becomes of unsaved work that is about to be closed."""

    def where(self, suggested: Path) -> Path | None:
        """Which file to save to; None for none."""

    def changed_on_disk(self, path: Path) -> Literal["overwrite", "elsewhere", "cancel"]:
        """What becomes of a file that somebody else has changed."""


class Documents(QObject):
    """Knows the file of the live scenario; all opening and saving goes through it.

    Parameters
    ----------
    live
        What is open.
    remembered
        Where recent files are kept.
    questions
        Asks the user.
    parent
        Its owner.

    Signals
    -------
    titled(str)
        The title of the window, with Qt's `[*]`, or whether there is unsaved work, has changed.
    saved()
        A file holds the work now.
    message(str, str)
        Something for the log: "info" or "warning", and a sentence.
    problem(str, str, str)
        Something has failed and nothing has changed: a title, a sentence, and all details.
    """

    titled = Signal(str)
    saved = Signal()
    message = Signal(str, str)
    problem = Signal(str, str, str)

    def __init__(
        self,
        live: Live,
        remembered: Remembered,
        questions: Questions,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._live, self._remembered, self._questions = live, remembered, questions
        self._path: Path | None = None
        self._known = ""
        live.opened.connect(self._retitle)
        live.edited.connect(self._retitle)

    @property
    def path(self) -> Path | None:
        """The file that saving writes; None for a scenario that has none yet."""
        return self._path

    @property
    def unsaved(self) -> bool:
        """Whether there is work that no file holds."""
        return not self._live.session.clean

    @property
    def name(self) -> str:
        """What people call the open scenario."""
        return self._path.name if self._path else printable(self._live.scenario.name)

    @property
    def title(self) -> str:
        """The title of the window; Qt puts a mark for unsaved work in the place of `[*]`."""
        return f"{self.name}[*] - gbviz" if self._path else f"{self.name} (new)[*] - gbviz"

    @property
    def changed_on_disk(self) -> bool:
        """Whether the file holds something else than what was read from it or written to it."""
        if self._path is None or not self._path.exists():
            return False
        try:
            return _digest(read_bytes(self._path, str(self._path))) != self._known
        except ScenarioError:
            return True

    def new_from_preset(self, name: str, **parts: object) -> bool:
        """Begin with a preset cluster; False where that was refused."""
        try:
            scenario = preset(name, **parts)
        except GbvizError as error:
            self.problem.emit(self.tr("No such cluster"), _first_line(error), str(error))
            return False
        return self.put(scenario)

    def put(self, scenario: Scenario, *, saved: bool = True) -> bool:
        """Open a scenario that no file of the user's holds: the demo, or what was recovered."""
        if not self.can_leave():
            return False
        self._take(scenario, None, "", saved=saved)
        return True

    def open(self, path: str | os.PathLike[str], *, example: bool = False) -> bool:
        """Open a file; a broken one is told of and the work that is open stays.

        An example is opened without its file, so that saving asks where to.
        """
        file = Path(path).expanduser().absolute()
        found = self._read(file)
        if found is None or not self.can_leave():
            return False
        scenario, data = found
        if example:
            self._take(scenario, None, "")
        else:
            self._take(scenario, file, _digest(data))
            self._remember(file)
        self.message.emit("info", self.tr("opened {}").format(file.name))
        return True

    def save(self) -> bool:
        """Save to the scenario's file; asks where to if it has none. False if nothing was saved."""
        if self._path is None:
            return self.save_as()
        if self.changed_on_disk:
            answer = self._questions.changed_on_disk(self._path)
            if answer == "elsewhere":
                return self.save_as()
            if answer == "cancel":
                return False
        return self._write(self._path)

    def save_as(self, path: str | os.PathLike[str] | None = None) -> bool:
        """Save to another file; None asks which. False if nothing was saved."""
        chosen = self._questions.where(self._suggested()) if path is None else Path(path)
        if chosen is None:
            return False
        if chosen.name and not chosen.suffix:
            chosen = chosen.with_name(f"{chosen.name}.yaml")
        return self._write(chosen.expanduser().absolute())

    def revert(self) -> bool:
        """Go back to what the file holds, as a step that can be undone; False if it cannot be."""
        if self._path is None:
            return False
        found = self._read(self._path)
        if found is None:
            return False
        scenario, data = found
        if scenario.cluster != self._live.scenario.cluster:
            if not self.can_leave():
                return False
            self._take(scenario, self._path, _digest(data))
            return True
        label = self.tr("revert to {}").format(self._path.name)
        self._known = _digest(data)
        self._live.edit(lambda _: Edit(label, scenario))
        self._live.session.saved(scenario)
        self._retitle()
        self.saved.emit()
        return True

    def can_leave(self) -> bool:
        """Whether the open work may go: it is saved, or the user has said so."""
        if not self.unsaved:
            return True
        answer = self._questions.unsaved(self.name)
        if answer == "save":
            return self.save()
        return answer == "discard"

    def dropped(self, mime: QMimeData) -> Path | None:
        """The scenario file that is dragged over the window, None for anything else."""
        urls = mime.urls()
        if len(urls) != 1 or not urls[0].isLocalFile():
            return None
        path = Path(urls[0].toLocalFile())
        return path if path.suffix.lower() in SUFFIXES else None

    def accepts(self, mime: QMimeData) -> bool:
        """Whether what is dragged over the window can be opened by dropping it."""
        return self.dropped(mime) is not None

    def _take(
        self, scenario: Scenario, path: Path | None, known: str, *, saved: bool = True
    ) -> None:
        self._path, self._known = path, known
        self._live.open(scenario, saved=saved)

    def _read(self, path: Path) -> tuple[Scenario, bytes] | None:
        try:
            data = read_bytes(path, str(path))
            return read(path, data), data
        except ScenarioError as error:
            sentence = _first_fault(error, path.name)
            more = len(error.faults) + error.unlisted - 1
            if more:
                has = self.tr("It has {} more fault.")
                if more > 1:
                    has = self.tr("It has {} more faults.")
                if error.unlisted:
                    has = self.tr("It has at least {} more faults.")
                sentence = f"{sentence} {has.format(f'{more:,}')}"
            details = "\n".join(str(fault) for fault in error.faults)
            if error.unlisted:
                details += f"\nand at least {error.unlisted:,} more"
        except GbvizError as error:
            sentence, details = _ended(_first_line(error)), str(error)
        kept = self.tr("The scenario that was open is unchanged.")
        self.problem.emit(self.tr("The file cannot be opened"), f"{sentence} {kept}", details)
        return None

    def _write(self, path: Path) -> bool:
        try:
            done = save(self._live.scenario, path)
        except GbvizError as error:
            title = self.tr("The scenario was not saved")
            self.problem.emit(title, _first_line(error), str(error))
            return False
        self._path, self._known = path, _digest(done.text.encode())
        self._live.session.saved(replace(self._live.scenario, path=path, text=done.text))
        self._remember(path)
        if done.note:
            self.message.emit("warning", f"{path.name}: {done.note}")
        self.message.emit("info", self.tr("saved {}").format(path.name))
        self._retitle()
        self.saved.emit()
        return True

    def _remember(self, path: Path) -> None:
        self._remembered.put(self._remembered.settings.with_recent(path))

    def _suggested(self) -> Path:
        if self._path is not None:
            return self._path
        came_from = self._live.scenario.path
        stem = came_from.stem if came_from is not None else self._live.scenario.name
        plain = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in stem)
        recent = self._remembered.settings.recent
        folder = Path(recent[0]).parent if recent else Path.home()
        if came_from is not None and came_from.parent not in _shipped():
            folder = came_from.parent
        return folder / f"{plain.strip('-')[:80] or 'scenario'}.yaml"

    @Slot()
    def _retitle(self) -> None:
        self.titled.emit(self.title)


def _shipped() -> set[Path]:
    """Folders of what comes with gbviz, where nobody saves."""
    return {path.parent for path in (*scenario_paths(), asset_path("demo.yaml"))}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _first_fault(error: ScenarioError, name: str) -> str:
    """The first fault of a file, with its line and what to do instead, as sentences."""
    fault = error.faults[0]
    place = f"{name}:{fault.line}" if fault.line else name
    text = _ended(": ".join(part for part in (place, fault.path, fault.message) if part))
    if fault.hint:
        text += f" {_ended(fault.hint[0].upper() + fault.hint[1:])}"
    return printable(text)


def _ended(text: str) -> str:
    """A sentence with a full stop, if it has no end yet."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _first_line(error: GbvizError) -> str:
    return str(error).partition("\n")[0]
