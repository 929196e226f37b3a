"""A dialog that adds or edits a job, with the same checks as the scenario file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.job_check import Checker, fresh_job, texts_of
from gbviz.app.job_fields import fields_of, free_racks, gpus_needed, job_of, yaml_of
from gbviz.app.job_widgets import FaultLabel, KindPage
from gbviz.app.naming import name_inside
from gbviz.scenario.wording import KINDS

if TYPE_CHECKING:
    from gbviz.app.job_check import Checked
    from gbviz.app.job_fields import Values
    from gbviz.jobs.spec import Job
    from gbviz.jobs.traffic import TrafficJob
    from gbviz.scenario import Scenario

_BURST_MS = 120
# What stays when another kind is chosen.
_SHARED = ("racks", "gpus", "vms", "spares", "order", "nic_loss")


class JobForm(QDialog):
    """Adds a job to a scenario, or edits one of its jobs.

    Parameters
    ----------
    scenario
        What is open.
    number
        Which of its jobs to edit; None for a new one.
    kind
        Of a new job.
    twin
        The fields that a new job begins with, as a file holds them.
    parent
        The window.

    Signals
    -------
    finished_job(object, object)
        The job, and its number or None for a new one: for `edits.put_job`. The dialog has closed.
    """

    finished_job = Signal(object, object)

    def __init__(
        self,
        scenario: Scenario,
        number: int | None = None,
        *,
        kind: str = "training",
        twin: Values | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._scenario, self._number = scenario, number
        self._checker = Checker(scenario, number)
        self._free = free_racks(scenario, number)
        self._pages: dict[str, KindPage] = {}
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_BURST_MS)
        self._soon.timeout.connect(self.check_now)
        self.checked: Checked | None = None
        self._build()
        before = self._checker.before or twin or {}
        self.kind_box.setCurrentText(str(before.get("kind", kind)))
        self.name_edit.setText(str(before.get("name", self._new_name(kind))))
        page = self._show_page(self.kind)
        if before:
            page.fill(texts_of(fields_of(self.kind), before))
        self.kind_box.currentTextChanged.connect(self._kind_changed)
        self.name_edit.textChanged.connect(self._soon.start)
        if number is None:
            self.setWindowTitle(self.tr("Add job"))
        else:
            self.setWindowTitle(self.tr("Edit job {}").format(before["name"]))
        self.check_now()

    @property
    def kind(self) -> str:
        """The kind of job that is being written."""
        return self.kind_box.currentText()

    @property
    def page(self) -> KindPage:
        """The fields of that kind."""
        return self._pages[self.kind]

    @property
    def job(self) -> TrafficJob | Job | None:
        """The job; None while anything is wrong."""
        return self.checked.job if self.checked else None

    @Slot()
    def check_now(self) -> None:
        """Hold the fields against the scenario and show what is wrong."""
        self._soon.stop()
        job = job_of(self.kind, self.name_edit.text(), self.page.texts())
        checked = self.checked = self._checker.check(job)
        self.name_fault.show_fault(checked.faults.get(("name",), ""))
        rest = self.page.show_faults(checked.faults)
        elsewhere = "\n".join(part for part in (rest, *checked.others) if part)
        # What stands at its field already is not said again.
        self.fault.show_fault(elsewhere or ("" if checked.faults else checked.reason))
        self.gpus.setText(self._counts(job, checked))
        self.yaml.setPlainText(yaml_of(job))
        self.ok.setEnabled(checked.job is not None)
        self.ok.setToolTip(checked.reason)
        self.ok.setAccessibleDescription(checked.reason)

    @Slot()
    def accept(self) -> None:
        """Close with the job, if there is one."""
        self.check_now()
        if self.job is None:
            return
        super().accept()
        self.finished_job.emit(self.job, self._number)

    def _build(self) -> None:
        self.kind_box = QComboBox()
        self.kind_box.addItems(list(KINDS))
        self.name_edit = QLineEdit()
        self.name_edit.setAccessibleName(self.tr("Name of the job"))
        self.name_fault = FaultLabel()
        head = QFormLayout()
        head.addRow(self.tr("&Kind"), self.kind_box)
        head.addRow(self.tr("&Name"), self.name_edit)
        head.addRow("", self.name_fault)
        self.stack = QStackedWidget()
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(self.stack)
        # What lies in a tab has the tab's ground, not that of a list.
        scroll.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        self.yaml = QPlainTextEdit()
        self.yaml.setReadOnly(True)
        self.yaml.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.yaml.setAccessibleName(self.tr("The job as a scenario file states it"))
        self.copy = QPushButton(self.tr("&Copy"))
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(self._copy)
        text = QWidget()
        text_layout = QVBoxLayout(text)
        text_layout.addWidget(self.yaml)
        text_layout.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignRight)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(self.tr("Job"))
        self.tabs.tabBar().setAccessibleName(self.tr("Form or YAML"))
        scroll.setAccessibleName(self.tr("Fields of the job"))
        self.tabs.addTab(scroll, self.tr("Form"))
        self.tabs.addTab(text, self.tr("YAML"))
        self.gpus = QLabel()
        self.fault = FaultLabel()
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.ok = self.buttons.button(kinds.Ok)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addLayout(head)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.gpus)
        layout.addWidget(self.fault)
        layout.addWidget(self.buttons)
        self.resize(720, 700)

    def _show_page(self, kind: str) -> KindPage:
        if kind not in self._pages:
            page = KindPage(kind, self._free)
            if not self._checker.before:
                page.fill(fresh_job(self._scenario, kind))
            page.edited.connect(self._soon.start)
            self._pages[kind] = page
            self.stack.addWidget(page)
        self.stack.setCurrentWidget(self._pages[kind])
        name_inside(self)
        return self._pages[kind]

    @Slot(str)
    def _kind_changed(self, kind: str) -> None:
        before = self.stack.currentWidget()
        assert isinstance(before, KindPage)
        texts = before.texts()
        page = self._show_page(kind)
        page.fill({(name,): texts[name,] for name in _SHARED if texts.get((name,))})
        if self.name_edit.text() in {self._new_name(one) for one in KINDS}:
            self.name_edit.setText(self._new_name(kind))
        self.check_now()

    def _new_name(self, kind: str) -> str:
        taken = {job.name for job in self._scenario.jobs}
        number = 1
        while f"{kind}-{number}" in taken:
            number += 1
        return f"{kind}-{number}"

    def _counts(self, job: Values, checked: Checked) -> str:
        needed = gpus_needed(job)
        there = self.tr("unknown") if checked.placed is None else f"{checked.placed:,}"
        if needed is None:
            return self.tr("GPUs placed: {}").format(there)
        return self.tr("GPUs needed: {}, placed: {}").format(f"{needed:,}", there)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.yaml.toPlainText())
