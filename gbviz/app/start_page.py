"""What to begin with: presets, example scenarios, files opened last, and hints what to try."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gbviz.app.pick_list import PickList
from gbviz.assets import scenario_paths
from gbviz.errors import ScenarioError, printable
from gbviz.scenario.source import source
from gbviz.topology.presets import presets
from gbviz.topology.spec import cluster_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

# What to try on the demo first; each is true of it.
HINTS = (
    ("spine", "Click spine-3 and press F: one spine of 36 is gone, and no job is slower."),
    ("leaf", "Select leaf-45 and press F: 72 NICs go, and two jobs pay for it."),
    (
        "cooling",
        "Press Enter on rack-9 and hold W over its hxu-9: what losing it would cost one rack.",
    ),
)
_LOOK = "look at:"


class StartPage(QWidget):
    """Presets, example scenarios and recent files.

    Parameters
    ----------
    recent
        Files opened last, the latest first.
    parent
        Its owner.

    Signals
    -------
    preset_chosen(str)
        A preset's name.
    example_chosen(str)
        An example scenario: open it without its file.
    file_chosen(str)
        A file of the user's.
    open_wanted()
        The user wants to look for a file.
    demo_wanted()
        The user wants the cluster of the first start.
    """

    preset_chosen = Signal(str)
    example_chosen = Signal(str)
    file_chosen = Signal(str)
    open_wanted = Signal()
    demo_wanted = Signal()

    def __init__(self, recent: Sequence[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.presets = PickList(self.tr("New from a preset"))
        for one in presets().values():
            spec = cluster_spec(one.name)
            size = self.tr("{} racks").format(f"{spec.racks:,}")
            self.presets.add(f"{one.title} ({size})", one.description, one.name)
        self.examples = PickList(self.tr("Examples"))
        for path in scenario_paths():
            name, says = about(path)
            self.examples.add(name, says, str(path))
        self.recent = PickList(self.tr("Recent files"))
        self.presets.picked.connect(self.preset_chosen)
        self.examples.picked.connect(self.example_chosen)
        self.recent.picked.connect(self.file_chosen)
        self.demo_button = QPushButton(self.tr("&A cluster at work"))
        self.demo_button.setToolTip(self.tr("The Azure-sized cluster with five jobs"))
        self.demo_button.clicked.connect(self.demo_wanted)
        self.open_button = QPushButton(self.tr("&Open..."))
        self.open_button.clicked.connect(self.open_wanted)
        self.set_recent(recent)
        self._build()

    def set_recent(self, files: Sequence[str]) -> None:
        """Show these recent files; those that are missing are grey."""
        self.recent.clear()
        for file in files:
            path = Path(file)
            there = _is_file(path)
            missing = "" if there else self.tr(" (missing)")
            name, folder = printable(path.name), printable(str(path.parent))
            self.recent.add(f"{name}{missing}", folder, file, enabled=there)
        if not files:
            says = self.tr("Files that you open or save stand here.")
            self.recent.add(self.tr("None yet"), says, "", enabled=False)
        self.recent.fit()

    def _build(self) -> None:
        hints = QVBoxLayout()
        for number, (_, text) in enumerate(HINTS, 1):
            hint = QLabel(f"{number}.  {text}")
            hint.setWordWrap(True)
            hints.addWidget(hint)
        left, middle, right = QVBoxLayout(), QVBoxLayout(), QVBoxLayout()
        left.addWidget(_heading(self.tr("New cluster")))
        left.addWidget(self.presets)
        left.addSpacing(14)
        left.addWidget(_heading(self.tr("What to try")))
        left.addLayout(hints)
        left.addWidget(self.demo_button, 0, Qt.AlignmentFlag.AlignLeft)
        middle.addWidget(_heading(self.tr("Examples")))
        middle.addWidget(self.examples)
        right.addWidget(_heading(self.tr("Recent files")))
        right.addWidget(self.recent)
        right.addWidget(self.open_button, 0, Qt.AlignmentFlag.AlignLeft)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(24, 16, 24, 16)
        layout.setSpacing(28)
        for column, stretch in ((left, 5), (middle, 5), (right, 4)):
            column.setSpacing(8)
            column.addStretch(1)
            layout.addLayout(column, stretch)
        order = (
            self.presets,
            self.demo_button,
            self.examples,
            self.recent,
            self.open_button,
        )
        for first, second in pairwise(order):
            QWidget.setTabOrder(first, second)
        self.setFocusProxy(self.presets)


def about(path: Path) -> tuple[str, str]:
    """A scenario's name, and what to look at or its description; of a broken file its own name.

    Examples
    --------
    >>> path = next(path for path in scenario_paths() if path.stem == "one-nvlink")
    >>> about(path)[0]
    'One NVLink of one GPU lost'
    """
    try:
        found = source(path)
    except ScenarioError:
        return path.stem, ""
    comments = []
    for line in found.text.splitlines():
        if not line.startswith("#"):
            break
        comments.append(line.lstrip("# ").strip())
    text = " ".join(comments)
    at = text.lower().find(_LOOK)
    says = text[at + len(_LOOK) :] if at >= 0 else str(found.data.get("description", "")) or text
    says = printable(says.strip().replace("`", ""))
    if says.partition(" ")[0].isalpha():
        says = says[:1].upper() + says[1:]
    return printable(str(found.data.get("name", path.stem))), says


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _heading(text: str) -> QLabel:
    found = QLabel(text)
    font = found.font()
    font.setBold(True)
    font.setPointSizeF(font.pointSizeF() * 1.15)
    found.setFont(font)
    return found
