"""A slider and a box for how much of a component is left."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QSpinBox, QWidget


class FactorBar(QWidget):
    """From 0 % (failed) to 100 % (whole).

    Signals
    -------
    moved(float)
        The factor that is wanted now; comes again and again while the slider is dragged.
    settled()
        The slider was let go of, or the box left: what follows is another change.
    """

    moved = Signal(float)
    settled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setRange(0, 100)
        self.slider.setPageStep(10)
        self.slider.setAccessibleName(self.tr("Degrade to"))
        self.spin = QSpinBox(self)
        self.spin.setRange(0, 100)
        self.spin.setSuffix(" %")
        self.spin.setKeyboardTracking(False)
        self.spin.setAccessibleName(self.tr("Degrade to, per cent"))
        label = QLabel(self.tr("Degrade to"), self)
        label.setBuddy(self.spin)
        tip = self.tr("Leave a part of the rate, clock or capacity; a drag is one undo step.")
        self.slider.setToolTip(tip)
        self.spin.setToolTip(tip)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(label)
        layout.addWidget(self.slider, 1)
        layout.addWidget(self.spin)
        self.show_factor(1.0)
        self.slider.valueChanged.connect(self._slid)
        self.slider.sliderReleased.connect(self.settled)
        self.spin.valueChanged.connect(self._typed)
        self.spin.editingFinished.connect(self.settled)

    @property
    def busy(self) -> bool:
        """Whether the slider is being dragged: then it shows what is wanted, not what is."""
        return self.slider.isSliderDown()

    def show_factor(self, factor: float) -> None:
        """Show a factor; nothing is emitted. 0 and 100 % are nothing and all, not nearly so."""
        percent = round(100 * factor)
        if 0 < factor < 1:
            percent = min(max(percent, 1), 99)
        for control in (self.slider, self.spin):
            with QSignalBlocker(control):
                control.setValue(percent)

    def _slid(self, value: int) -> None:
        with QSignalBlocker(self.spin):
            self.spin.setValue(value)
        self.moved.emit(value / 100)

    def _typed(self, value: int) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(value)
        self.moved.emit(value / 100)
