"""Dialogs of the window: what people are asked, and the files that are written for them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, Slot
from PySide6.QtWidgets import QFileDialog

from gbviz.app import dialogs
from gbviz.app.export import save_picture
from gbviz.app.job_form import JobForm
from gbviz.app.name_dialog import NameDialog
from gbviz.app.preset_dialog import PresetDialog
from gbviz.app.worker import Poll, Worker
from gbviz.assets import asset_path
from gbviz.display.camera import view_of
from gbviz.engine import edits
from gbviz.errors import GbvizError
from gbviz.scenario.atomic import save_atomic

if TYPE_CHECKING:
    from gbviz.app.window import MainWindow
    from gbviz.app.worker import Outcome
    from gbviz.scenario import Scenario

_PICTURES = "PNG (*.png);;SVG (*.svg)"
_PICTURE_SCALE = 2.0
_PAGES = "HTML (*.html)"


class Asks(QObject):
    """Opens dialogs over its window, each for one question."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._pages = Worker(self)
        self._pages.finished.connect(self._page_made)
        self._page_for = Path()

    def ask_new(self) -> None:
        """Ask for a preset and its parts."""
        dialog = PresetDialog(parent=self._window)
        dialog.chosen.connect(
            lambda name, parts: self._window.documents.new_from_preset(name, **parts)
        )
        dialog.exec()
        dialog.deleteLater()

    def ask_name(self) -> None:
        """Ask for the scenario's name and description."""
        now = self._window.live.scenario
        dialog = NameDialog(now.name, now.description, self._window)
        dialog.chosen.connect(
            lambda name, text: self._window.live.edit(
                partial(edits.rename, name=name, description=text)
            )
        )
        dialog.exec()
        dialog.deleteLater()

    def ask_open(self) -> None:
        """Ask for a file and open it."""
        folder = self._window.documents.path.parent if self._window.documents.path else Path.home()
        path = self._window.asking.open_where(folder)
        if path is not None:
            self._window.documents.open(path)

    def ask_picture(self) -> None:
        """Ask where to, and write a picture of the view that is shown."""
        name, _ = QFileDialog.getSaveFileName(
            self._window, self.tr("Export picture"), f"{self._window.documents.name}.png", _PICTURES
        )
        if name:
            self.export_picture(Path(name))

    def export_picture(self, path: Path) -> bool:
        """Write the view that is shown, twice as fine; a PNG where the name says nothing."""
        if path.name and not path.suffix:
            path = path.with_name(f"{path.name}.png")
        canvas = self._window.current_canvas()
        world = canvas.world()
        if world is None:
            return False
        width, height = (round(side * _PICTURE_SCALE) for side in (canvas.width(), canvas.height()))
        view = view_of(canvas.camera, world, width, height, _PICTURE_SCALE)
        return self._write(path, partial(save_picture, canvas.draw(view), path))

    def ask_report(self) -> None:
        """Ask where to, and write the report of the scenario as it is now."""
        name, _ = QFileDialog.getSaveFileName(
            self._window, self.tr("Export report"), f"{self._window.documents.name}.html", _PAGES
        )
        if name:
            self.export_report(Path(name))

    def export_report(self, path: Path) -> None:
        """Write the report beside the window's work; an HTML page where the name says nothing."""
        if path.name and not path.suffix:
            path = path.with_name(f"{path.name}.html")
        scenario = self._window.live.scenario
        self._page_for = path
        self._window.panels.log.add("info", self.tr("report begun: {}").format(path))
        self._pages.ask(lambda poll: _page(scenario, poll))

    @Slot(object)
    def _page_made(self, outcome: Outcome) -> None:
        path = self._page_for
        if outcome.error is not None:
            self.tell_problem(self.tr("Not exported"), outcome.error, "")
        else:
            self._write(path, partial(save_atomic, path, outcome.value))

    def close(self) -> None:
        """Stop what is still being made."""
        self._pages.close()

    def ask_csv(self) -> None:
        """Ask where to, and write the table that is shown."""
        self._window.tabs.setCurrentWidget(self._window.tables)
        self.save_text("table.csv", self._window.tables.csv())

    @Slot(str, str)
    def save_text(self, suggested: str, text: str) -> None:
        """Ask where to, and write a text."""
        name, _ = QFileDialog.getSaveFileName(
            self._window, self.tr("Export"), suggested, "CSV (*.csv)"
        )
        if name:
            self._write(Path(name), partial(save_atomic, Path(name), text.encode()))

    def _write(self, path: Path, write: partial[Any]) -> bool:
        try:
            write()
        except GbvizError as error:
            self.tell_problem(self.tr("Not exported"), str(error), "")
            return False
        self._window.panels.log.add("info", self.tr("exported {}").format(path))
        return True

    def prefer(self) -> None:
        """Show the preferences; each holds at once."""
        dialog = dialogs.Preferences(self._window.remembered.settings, self._window)
        dialog.changed.connect(self._window.remembered.put)
        dialog.exec()
        dialog.deleteLater()

    @Slot()
    def add_job(self) -> None:
        """Ask for a new job."""
        self._job_form(JobForm(self._window.live.scenario, parent=self._window))

    @Slot(int)
    def edit_job(self, number: int) -> None:
        """Ask what is to change in a job."""
        self._job_form(JobForm(self._window.live.scenario, number, parent=self._window))

    def _job_form(self, form: JobForm) -> None:
        form.finished_job.connect(
            lambda job, number: self._window.live.edit(
                partial(edits.put_job, job=job, number=number)
            )
        )
        form.exec()
        form.deleteLater()

    def show_keys(self) -> None:
        """Show all keys."""
        rows = [*self._window.actions_by_name.sheet(), *own_keys()]
        sheet = dialogs.ShortcutSheet(rows, self._window)
        sheet.exec()
        sheet.deleteLater()

    def about(self) -> None:
        """Show versions."""
        box = dialogs.AboutDialog(self._window)
        box.exec()
        box.deleteLater()

    @Slot(str, str, str)
    def tell_problem(self, title: str, sentence: str, details: str) -> None:
        """Say what has failed; the work that is open stays."""
        self._window.panels.log.add("error", sentence)
        box = dialogs.ProblemDialog(title, sentence, details, self._window)
        box.exec()
        box.deleteLater()

    @Slot(str, str)
    def tell_crash(self, sentence: str, details: str) -> None:
        """Say that something broke which should not; the work is safe."""
        self.tell_problem(self.tr("Internal error"), sentence, details)

    @Slot()
    def open_demo(self) -> None:
        """Open the cluster at work that the first start shows."""
        self._window.documents.open(asset_path("demo.yaml"), example=True)


def own_keys() -> list[tuple[str, str, str]]:
    """Keys that map and rack have by themselves: group, what they do, keys."""
    tr = partial(QCoreApplication.translate, "Keys")
    group = tr("map and rack")
    return [
        (group, tr("Walk to the next part"), tr("Arrows")),
        (group, tr("Go in: open the rack, zoom to a switch"), tr("Enter, double click")),
        (group, tr("Out to what holds it"), tr("Backspace")),
        (group, tr("What would losing it cost? (while held)"), "W"),
        (group, tr("Zoom, show everything"), "+, -, 0"),
        (group, tr("Pan"), tr("Ctrl+Arrows, middle button, Alt+drag, Shift+wheel")),
        (group, tr("Select several"), tr("drag, Ctrl+click")),
        (group, tr("Previous and next rack"), tr("PgUp, PgDn")),
    ]


def _page(scenario: Scenario, poll: Poll) -> bytes:
    """A scenario's report."""
    # Matplotlib takes longer to import than the window takes to open.
    from gbviz.report.page import report_page
    from gbviz.report.seen import answer_of

    return report_page(*answer_of(scenario, poll=poll), alone=True).encode()
