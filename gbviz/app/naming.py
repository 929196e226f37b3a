"""Names, for screen readers, of the parts that Qt makes inside of boxes."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QLabel, QWidget


def name_inside(root: QWidget) -> None:
    """Give lists and lines inside of choices and number boxes the name of their box.

    A box without a name of its own gets that of its label first.
    """
    words = {label.buddy(): label.text() for label in root.findChildren(QLabel) if label.buddy()}
    boxes: list[QComboBox | QAbstractSpinBox] = [*root.findChildren(QComboBox)]
    for box in [*boxes, *root.findChildren(QAbstractSpinBox)]:
        name = box.accessibleName() or words.get(box, "").replace("&", "")
        box.setAccessibleName(name)
        line = box.lineEdit()
        # Only an editable choice has a line.
        if line is not None:
            line.setAccessibleName(name)
        if isinstance(box, QComboBox):
            box.view().setAccessibleName(name)
