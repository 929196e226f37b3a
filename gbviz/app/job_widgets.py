"""The boxes of the job form: one field with what is wrong with it, and one page a kind of job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QGridLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.job_fields import fields_of, selector_of
from gbviz.jobs.models import models
from gbviz.jobs.traffic import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gbviz.app.job_fields import JobField, Key

_COLUMNS = 4
_CROSS = "\N{MULTIPLICATION SIGN}"
# Where the file's own word is not what people would read.
_LABELS = {
    "gpus": "GPUs",
    "gpus_per_rack": "GPUs per rack",
    "kv_bytes": "Bytes of a KV value",
    "nic_loss": "When a NIC is lost",
    "op": "Operation",
    "order": "Order of ranks",
    "seq": "Sequence length",
    "vms": "Virtual machines",
    "zero": "ZeRO stage",
}
# An example says more than a type.
_EXAMPLES = {
    "racks": "rack-[0-7], all if empty",
    "gpus_per_rack": "all",
    "gpus": "rack-[0-3]/tray-0",
    "seq": "the model's",
    "size": "1GB",
    "demand": "100GB/s, no limit if empty",
    "interval": "30min",
    "write": "60s",
    "restart": "10min",
    "detection": "30s",
    "pairs": "rack-0/tray-0/gpu-0>rack-1/tray-0/gpu-0, ...",
    "argument": "the pattern's own: a number or a GPU",
    "efficiency": "the catalogue's",
    "overlap": "the catalogue's",
    "tokens": "15e12",
}


# What an abbreviation stands for.
_MEANINGS = {
    "tp": "tensor parallelism: GPUs that share each layer, best within one rack's NVLink",
    "cp": "context parallelism: GPUs that share each sequence",
    "pp": "pipeline parallelism: stages that the layers are divided into",
    "dp": "data parallelism: copies of the model, each with its own part of the batch",
    "ep": "expert parallelism: GPUs that the experts of a layer are spread over",
    "vpp": "virtual pipeline: chunks of layers in each stage, for shorter bubbles",
    "zero": "ZeRO: what data-parallel copies share: 0 nothing, 1 the optimizer's state,"
    " 2 gradients too, 3 weights too",
    "global": "sequences of one step, all copies together",
    "micro": "sequences that go through the pipeline at once",
    "spares": "GPUs of the racks that wait until one is lost",
    "nic_loss": "what the GPU of a dead NIC does: tray or rack send for it, or the job aborts",
    "order": "which ranks are neighbours, the fastest-varying dimension first",
}


class FaultLabel(QLabel):
    """What is wrong, in the colour of faults and with a sign; hidden while nothing is."""

    def __init__(self) -> None:
        super().__init__()
        self.setForegroundRole(QPalette.ColorRole.BrightText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setVisible(False)

    def show_fault(self, text: str) -> None:
        """Say what is wrong, "" for nothing."""
        self.setText(f"{_CROSS} {text}" if text else "")
        self.setVisible(bool(text))


class FieldBox(QWidget):
    """An editor for one field, above what is wrong with it.

    Signals
    -------
    edited()
        The text has changed.
    """

    edited = Signal()

    def __init__(self, field: JobField) -> None:
        super().__init__()
        self.field = field
        self.fault = FaultLabel()
        self.editor = self._editor()
        self.editor.setAccessibleName(" ".join(field.key))
        self.editor.setAccessibleDescription(_MEANINGS.get(field.key[-1], ""))
        self._row = QHBoxLayout()
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(self.editor, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(self._row)
        layout.addWidget(self.fault)

    def text(self) -> str:
        """What the user has put in; "" for what holds anyway."""
        if isinstance(self.editor, QComboBox):
            text = self.editor.currentText()
            return "" if self.field.form == "choice" and text == self.field.usual else text
        return self.editor.text()

    def set_text(self, text: str) -> None:
        """Put a text in."""
        if isinstance(self.editor, QLineEdit):
            self.editor.setText(text)
        elif self.editor.isEditable():
            self.editor.setEditText(text)
        else:
            self.editor.setCurrentText(text or self.field.usual or self.field.choices[0])

    def set_fault(self, text: str) -> None:
        """Say what is wrong with the text, "" for nothing."""
        self.fault.show_fault(text)
        self.editor.setAccessibleDescription(text or _MEANINGS.get(self.field.key[-1], ""))

    def add_menu(self, button: QToolButton) -> None:
        """Put a button beside the editor."""
        self._row.addWidget(button)

    def _editor(self) -> QLineEdit | QComboBox:
        field = self.field
        if field.form in ("choice", "preset"):
            box = QComboBox()
            box.addItems(list(field.choices))
            box.setEditable(field.form == "preset")
            for row, name in enumerate(field.choices):
                says = models()[name].title if field.form == "preset" else PATTERNS.get(name, "")
                box.setItemData(row, says, Qt.ItemDataRole.ToolTipRole)
            if field.form == "choice":
                box.setCurrentText(field.usual or field.choices[0])
            else:
                box.setEditText("")
            box.setToolTip(_tip(field))
            box.currentTextChanged.connect(self.edited)
            return box
        line = QLineEdit()
        line.setPlaceholderText(_EXAMPLES.get(field.key[-1], field.usual))
        line.setToolTip(_tip(field))
        line.textChanged.connect(self.edited)
        return line


class KindPage(QWidget):
    """All fields of one kind of job.

    Parameters
    ----------
    kind
        Such as "training".
    free
        Racks that no other job uses.

    Signals
    -------
    edited()
        A field has changed.
    """

    edited = Signal()

    def __init__(self, kind: str, free: Sequence[int]) -> None:
        super().__init__()
        self.boxes: dict[Key, FieldBox] = {}
        self._group_faults: dict[Key, FaultLabel] = {}
        fields = fields_of(kind)
        layout = QVBoxLayout(self)
        first = [field for field in fields if field.first]
        layout.addWidget(self._plain(self.tr("Job"), [f for f in first if not f.group]))
        for group in dict.fromkeys(field.group for field in fields if field.group):
            layout.addWidget(self._grid(group, [f for f in fields if f.group == group]))
        more = self._plain("", [f for f in fields if not f.first and not f.group])
        self.more = QToolButton()
        self.more.setText(self.tr("More fields"))
        self.more.setCheckable(True)
        self.more.setAutoRaise(True)
        self.more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more.setArrowType(Qt.ArrowType.RightArrow)
        self.more.toggled.connect(more.setVisible)
        self.more.toggled.connect(self._turn)
        more.setVisible(False)
        layout.addWidget(self.more)
        layout.addWidget(more)
        layout.addStretch(1)
        if free:
            self.boxes["racks",].add_menu(self._picker(free))

    def texts(self) -> dict[Key, str]:
        """What stands in the fields."""
        return {key: box.text() for key, box in self.boxes.items()}

    def fill(self, texts: Mapping[Key, str]) -> None:
        """Put texts into fields; those that are not named stay."""
        for key, text in texts.items():
            if key in self.boxes:
                self.boxes[key].set_text(text)
                if text and not self.boxes[key].field.first and not self.boxes[key].field.group:
                    self.more.setChecked(True)

    def show_faults(self, faults: Mapping[Key, str]) -> str:
        """Show each fault beside its field; what belongs to none is returned."""
        for key, box in self.boxes.items():
            box.set_fault(faults.get(key, ""))
        for key, label in self._group_faults.items():
            label.show_fault(faults.get(key, ""))
        hidden = [key for key in faults if key in self.boxes and not self.boxes[key].field.first]
        if any(not self.boxes[key].field.group for key in hidden):
            self.more.setChecked(True)
        known = {*self.boxes, *self._group_faults, ("name",)}
        return "; ".join(text for key, text in faults.items() if key not in known)

    def _turn(self, down: bool) -> None:
        arrows = Qt.ArrowType
        self.more.setArrowType(arrows.DownArrow if down else arrows.RightArrow)

    def _box(self, field: JobField) -> FieldBox:
        box = FieldBox(field)
        box.edited.connect(self.edited)
        self.boxes[field.key] = box
        return box

    def _plain(self, title: str, fields: Sequence[JobField]) -> QGroupBox:
        group = QGroupBox(title)
        form = QFormLayout(group)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for field in fields:
            box = self._box(field)
            label = QLabel(_label(field.key[-1]))
            label.setToolTip(_tip(field))
            label.setBuddy(box.editor)
            form.addRow(label, box)
        return group

    def _grid(self, title: str, fields: Sequence[JobField]) -> QGroupBox:
        group = QGroupBox(_label(title))
        grid = QGridLayout(group)
        for number, field in enumerate(fields):
            box = self._box(field)
            label = QLabel(field.key[-1])
            label.setToolTip(_tip(field))
            label.setBuddy(box.editor)
            row, column = divmod(number, _COLUMNS)
            grid.addWidget(label, 2 * row, column)
            grid.addWidget(box, 2 * row + 1, column, Qt.AlignmentFlag.AlignTop)
        for column in range(_COLUMNS):
            grid.setColumnStretch(column, 1)
        fault = FaultLabel()
        self._group_faults[title,] = fault
        grid.addWidget(fault, grid.rowCount(), 0, 1, _COLUMNS)
        return group

    def _picker(self, free: Sequence[int]) -> QToolButton:
        button = QToolButton()
        button.setText(self.tr("Free racks"))
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        count = len(free)
        sizes = [2**power for power in range(count.bit_length()) if 2**power < count]
        for size in (count, *reversed(sizes)):
            what = self.tr("free rack") if size == 1 else self.tr("free racks")
            which = selector_of(free[:size])
            shown = which if len(which) <= 40 else which[:37] + "..."
            action = menu.addAction(self.tr("Use {} {}: {}").format(f"{size:,}", what, shown))
            action.triggered.connect(
                lambda _=False, text=which: self.boxes["racks",].set_text(text)
            )
        menu.triggered.connect(lambda action: self.boxes["racks",].set_text(action.data()))
        button.setMenu(menu)
        button.setToolTip(self.tr("Choose among the racks that no other job uses"))
        return button


def _tip(field: JobField) -> str:
    """What a field means, and where it stands in a file."""
    path = ".".join(field.key)
    meaning = _MEANINGS.get(field.key[-1])
    return f"{meaning} ({path})" if meaning else path


def _label(name: str) -> str:
    """A field's name for people; its tool tip is the file's own."""
    shown = _LABELS.get(name) or (name[:1].upper() + name[1:]).replace("_", " ")
    return QCoreApplication.translate("KindPage", shown)
