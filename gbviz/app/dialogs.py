"""Small dialogs: about, shortcuts, preferences, problems, and what only the user can answer."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from PySide6.QtCore import Qt, Signal, Slot, qVersion
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gbviz import __version__
from gbviz.app.naming import name_inside
from gbviz.app.settings import LARGEST_FONT, SMALLEST_FONT, ThemeChoice
from gbviz.display.theme import Ramp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gbviz.app.settings import Settings

_BUTTONS = QDialogButtonBox.StandardButton
FILES = "Scenarios (*.yaml *.yml *.json)"


def versions() -> str:
    """What a bug report needs to say."""
    import numpy as np
    import PySide6

    rows = (
        ("gbviz", __version__),
        ("Python", platform.python_version()),
        ("Qt", qVersion()),
        ("PySide6", PySide6.__version__),
        ("NumPy", np.__version__),
        ("Platform", f"{platform.platform()}, {QGuiApplication.platformName()}"),
    )
    return "\n".join(f"{name}: {version}" for name, version in rows)


class CopyDialog(QDialog):
    """A sentence, a text of fixed width that can be copied, and Close.

    Parameters
    ----------
    title, sentence, text
        What it shows; the text is folded away behind Details where `folded`.
    folded
        Whether it is.
    parent
        The window.
    """

    def __init__(
        self,
        title: str,
        sentence: str,
        text: str,
        parent: QWidget | None = None,
        *,
        folded: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(80 * self.fontMetrics().averageCharWidth())
        self.sentence = QLabel(sentence)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setWordWrap(True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text = QPlainTextEdit(text)
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName(self.tr("Details"))
        rows = min(max(text.count("\n") + 2, 4), 16)
        self.text.setMinimumHeight(rows * self.text.fontMetrics().lineSpacing() + 8)
        self.text.setVisible(not folded)
        buttons = QDialogButtonBox(_BUTTONS.Close)
        action = QDialogButtonBox.ButtonRole.ActionRole
        says = self.tr("&Copy report") if folded else self.tr("&Copy")
        self.copy: QPushButton = buttons.addButton(says, action)
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(self._copy)
        buttons.rejected.connect(self.reject)
        self.details: QPushButton | None = None
        if folded:
            details: QPushButton = buttons.addButton(self.tr("&Details"), action)
            details.setCheckable(True)
            details.setAutoDefault(False)
            details.toggled.connect(self._fold)
            self.details = details
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        layout.addWidget(self.sentence)
        layout.addWidget(self.text, 1)
        layout.addWidget(buttons)
        buttons.button(_BUTTONS.Close).setDefault(True)
        buttons.button(_BUTTONS.Close).setFocus()

    def report(self) -> str:
        """What Copy puts on the clipboard."""
        return self.text.toPlainText()

    @Slot(bool)
    def _fold(self, shown: bool) -> None:
        self.text.setVisible(shown)
        self.adjustSize()

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report())


class ProblemDialog(CopyDialog):
    """Something has failed: one sentence; all of it behind Details, copied as a report."""

    def __init__(
        self, title: str, sentence: str, details: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(title, sentence, details, parent, folded=True)

    def report(self) -> str:
        """Title, sentence, details and versions."""
        parts = (self.windowTitle(), self.sentence.text(), self.text.toPlainText(), versions())
        return "\n\n".join(parts)


class AboutDialog(CopyDialog):
    """What gbviz is and which versions are at work."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "", versions(), parent)
        self.setWindowTitle(self.tr("About gbviz"))
        self.sentence.setText(
            self.tr("See a GB300 NVL72 supercluster, break it, and read at once what it costs.")
        )


class ShortcutSheet(QDialog):
    """All keys, by group.

    Parameters
    ----------
    rows
        `(group, text, keys)` of each action; a group's rows need not stand together.
    parent
        The window.
    """

    def __init__(self, rows: Sequence[tuple[str, str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        inner = QWidget()
        form = QFormLayout(inner)
        form.setHorizontalSpacing(24)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for group in dict.fromkeys(row[0] for row in rows):
            head = QLabel(group[:1].upper() + group[1:])
            font = head.font()
            font.setBold(True)
            head.setFont(font)
            head.setContentsMargins(0, 8, 0, 2)
            form.addRow(head)
            for own, text, keys in rows:
                if own == group:
                    shown = QLabel(keys)
                    shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                    shown.setWordWrap(True)
                    what = text.replace("&", "")
                    shown.setAccessibleName(f"{what}: {keys}")
                    form.addRow(what, shown)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(self.tr("Keyboard shortcuts"))
        scroll.setWidget(inner)
        buttons = QDialogButtonBox(_BUTTONS.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(scroll, 1)
        layout.addWidget(buttons)
        bar = scroll.verticalScrollBar().sizeHint().width()
        scroll.setMinimumWidth(inner.minimumSizeHint().width() + bar + 2 * scroll.frameWidth())
        self.resize(max(480, inner.sizeHint().width() + bar + 40), 600)


class Preferences(QDialog):
    """What the user can set; every change holds at once.

    Parameters
    ----------
    settings
        As they are.
    parent
        The window.

    Signals
    -------
    changed(object)
        The `Settings` that the user wants now.
    """

    changed = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Preferences"))
        self.settings = self._before = settings
        self.theme = self._choice(get_args(ThemeChoice), settings.theme)
        self.font_scale = QDoubleSpinBox()
        self.font_scale.setRange(100 * SMALLEST_FONT, 100 * LARGEST_FONT)
        self.font_scale.setDecimals(0)
        self.font_scale.setSingleStep(10)
        self.font_scale.setSuffix(" %")
        self.font_scale.setKeyboardTracking(False)
        self.font_scale.setValue(100 * settings.font_scale)
        self.font_scale.valueChanged.connect(self._changed)
        self.ramp = self._choice(get_args(Ramp), settings.ramp)
        self.motion = self._flag(self.tr("&Reduced motion"), settings.reduced_motion)
        self.autosave = self._flag(
            self.tr("&Keep unsaved work for recovery after a crash"), settings.autosave
        )
        form = QFormLayout()
        form.addRow(self.tr("&Theme"), self.theme)
        form.addRow(self.tr("Text &size"), self.font_scale)
        form.addRow(self.tr("&Colours of utilisation"), self.ramp)
        form.addRow("", self.motion)
        form.addRow("", self.autosave)
        buttons = QDialogButtonBox(_BUTTONS.Close | _BUTTONS.Reset)
        buttons.button(_BUTTONS.Reset).setAutoDefault(False)
        buttons.button(_BUTTONS.Reset).clicked.connect(self._reset)
        buttons.button(_BUTTONS.Reset).setToolTip(self.tr("As it was when this window was opened"))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(12)
        layout.addLayout(form)
        layout.addStretch(1)
        layout.addWidget(buttons)
        name_inside(self)

    def _choice(self, words: Sequence[str], now: str) -> QComboBox:
        box = QComboBox()
        for word in words:
            box.addItem(word.capitalize(), word)
        box.setCurrentIndex(list(words).index(now))
        box.currentIndexChanged.connect(self._changed)
        return box

    def _flag(self, text: str, on: bool) -> QCheckBox:
        box = QCheckBox(text)
        box.setChecked(on)
        box.toggled.connect(self._changed)
        return box

    @Slot()
    def _changed(self) -> None:
        fresh = replace(
            self.settings,
            theme=cast("ThemeChoice", self.theme.currentData()),
            font_scale=self.font_scale.value() / 100,
            ramp=cast("Ramp", self.ramp.currentData()),
            reduced_motion=self.motion.isChecked(),
            autosave=self.autosave.isChecked(),
        )
        if fresh != self.settings:
            self.settings = fresh
            self.changed.emit(fresh)

    @Slot()
    def _reset(self) -> None:
        before = self._before
        self.theme.setCurrentIndex(self.theme.findData(before.theme))
        self.font_scale.setValue(100 * before.font_scale)
        self.ramp.setCurrentIndex(self.ramp.findData(before.ramp))
        self.motion.setChecked(before.reduced_motion)
        self.autosave.setChecked(before.autosave)


class Asking:
    """The user's answers by dialogs: the `Questions` of `Documents`.

    Parameters
    ----------
    parent
        The window.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        self._parent = parent

    def unsaved(self, name: str) -> Literal["save", "discard", "cancel"]:
        """What becomes of unsaved work that is about to be closed."""
        box = self._box(_tr("Unsaved changes"), _tr("Save the changes to {}?").format(name))
        box.setInformativeText(_tr("They are lost otherwise."))
        kinds = QMessageBox.StandardButton
        box.setStandardButtons(kinds.Save | kinds.Discard | kinds.Cancel)
        box.setDefaultButton(kinds.Save)
        box.setEscapeButton(kinds.Cancel)
        answer = box.exec()
        box.deleteLater()
        if answer == kinds.Save:
            return "save"
        return "discard" if answer == kinds.Discard else "cancel"

    def where(self, suggested: Path) -> Path | None:
        """Which file to save to; None for none."""
        title = _tr("Save scenario")
        name, _ = QFileDialog.getSaveFileName(self._parent, title, str(suggested), _tr(FILES))
        return Path(name) if name else None

    def changed_on_disk(self, path: Path) -> Literal["overwrite", "elsewhere", "cancel"]:
        """What becomes of a file that somebody else has changed."""
        says = _tr("{} has been changed by somebody else since it was read.").format(path.name)
        box = self._box(_tr("The file has changed"), says)
        box.setInformativeText(_tr("Overwriting it loses what they did."))
        role = QMessageBox.ButtonRole
        elsewhere = box.addButton(_tr("Save &elsewhere..."), role.AcceptRole)
        overwrite = box.addButton(_tr("&Overwrite"), role.DestructiveRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(elsewhere)
        box.setEscapeButton(cancel)
        box.exec()
        clicked = box.clickedButton()
        box.deleteLater()
        if clicked is overwrite:
            return "overwrite"
        return "elsewhere" if clicked is elsewhere else "cancel"

    def open_where(self, folder: Path) -> Path | None:
        """Which file to open; None for none."""
        title = _tr("Open scenario")
        name, _ = QFileDialog.getOpenFileName(self._parent, title, str(folder), _tr(FILES))
        return Path(name) if name else None

    def _box(self, title: str, text: str) -> QMessageBox:
        box = QMessageBox(self._parent)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle(title)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(text)
        return box


def _tr(text: str) -> str:
    return QGuiApplication.translate("Asking", text)
