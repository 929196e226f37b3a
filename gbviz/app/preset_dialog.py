"""A dialog for a new cluster: a preset and the parts that differ from it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from gbviz.app.job_widgets import FaultLabel
from gbviz.app.naming import name_inside
from gbviz.errors import InputError
from gbviz.topology.presets import presets
from gbviz.topology.spec import ClusterSpec, cluster_spec

_MOST_GPUS = 200_000
_LINES = 3
# Cooling kinds of the catalogue, in words.
_COOLING = {
    "": "as the preset",
    "hxu": "a liquid-to-air unit in each rack",
    "cdu": "shared coolant distribution units",
}
_OVERSUBSCRIPTION = (1, 2, 3, 4, 6, 8)


class PresetDialog(QDialog):
    """Chooses a preset cluster and changes its size.

    Parameters
    ----------
    name
        The preset that is chosen at first; "" for the first.
    parent
        The window.

    Signals
    -------
    chosen(str, object)
        The preset's name and the parts that differ, for `Documents.new_from_preset`; the dialog
        has closed.
    """

    chosen = Signal(str, object)

    def __init__(self, name: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("New scenario"))
        letters = self.fontMetrics()
        self.setMinimumWidth(76 * letters.averageCharWidth())
        self.preset = QComboBox()
        for one in presets().values():
            self.preset.addItem(one.title, one.name)
        self.preset.setCurrentIndex(max(self.preset.findData(name), 0))
        self.description = QLabel()
        self.description.setWordWrap(True)
        # A dialog does not grow with the words that it wraps.
        self.description.setMinimumHeight(_LINES * letters.lineSpacing())
        self.description.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.racks = QLineEdit()
        self.cooling = QComboBox()
        for kind, says in _COOLING.items():
            self.cooling.addItem(self.tr(says), kind)
        self.over = QComboBox()
        for ratio in _OVERSUBSCRIPTION:
            says = self.tr("none: non-blocking") if ratio == 1 else f"{ratio} : 1"
            self.over.addItem(says, ratio)
        self.over.setToolTip(self.tr("Down ports of a leaf to its cables up"))
        self.counts = QLabel()
        self.fault = FaultLabel()
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.addRow(self.tr("&Preset"), self.preset)
        form.addRow("", self.description)
        form.addRow(self.tr("&Racks"), self.racks)
        form.addRow(self.tr("&Cooling"), self.cooling)
        form.addRow(self.tr("O&versubscription"), self.over)
        form.addRow(self.tr("Size"), self.counts)
        form.addRow("", self.fault)
        layout = QVBoxLayout(self)
        layout.addLayout(form)
        layout.addStretch(1)
        layout.addWidget(buttons)
        name_inside(self)
        self.preset.currentIndexChanged.connect(self._preset_changed)
        self.racks.textChanged.connect(self._check)
        for box in (self.cooling, self.over):
            box.currentIndexChanged.connect(self._check)
        self._preset_changed()

    @property
    def name(self) -> str:
        """The preset's name."""
        found: str = self.preset.currentData()
        return found

    def parts(self) -> dict[str, Any]:
        """The parts that differ from the preset.

        Raises
        ------
        InputError
            The racks are no number.
        """
        found: dict[str, Any] = {}
        text = self.racks.text().strip().replace(",", "")
        if text:
            if not (text.isascii() and text.isdecimal()) or len(text) > 9:
                raise InputError(f"must be a whole number (got {text[:20]!r})", where="racks")
            found["racks"] = int(text)
        if kind := self.cooling.currentData():
            given = presets()[self.name].cluster.get("cooling", {})
            found["cooling"] = given if given.get("kind") == kind else {"kind": kind}
        ratio: int = self.over.currentData()
        if ratio > 1:
            found["uplinks_per_leaf"] = max(cluster_spec(self.name).down_ports // ratio, 1)
        return found

    def spec(self) -> ClusterSpec:
        """The cluster.

        Raises
        ------
        InputError
            What is asked for cannot be.
        """
        found = cluster_spec(self.name, **self.parts())
        if found.n_gpus > _MOST_GPUS:
            raise InputError(
                f"{found.n_gpus:,} GPUs are more than this window shows ({_MOST_GPUS:,})",
                where="racks",
            )
        return found

    @Slot()
    def accept(self) -> None:
        """Close with the cluster, if it can be."""
        if not self._check():
            return
        super().accept()
        self.chosen.emit(self.name, self.parts())

    @Slot()
    def _preset_changed(self) -> None:
        chosen = presets()[self.name]
        self.description.setText(chosen.description)
        self.racks.setPlaceholderText(f"{chosen.cluster['racks']:,}")
        self._check()

    @Slot()
    def _check(self) -> bool:
        try:
            spec = self.spec()
            says, fault = (
                self.tr("{} racks, {} GPUs").format(f"{spec.racks:,}", f"{spec.n_gpus:,}"),
                "",
            )
        except InputError as error:
            says, fault = "", str(error)
        self.counts.setText(says)
        self.fault.show_fault(fault)
        self.ok.setEnabled(not fault)
        self.ok.setToolTip(fault)
        return not fault
