"""What is selected: its state, why, what it carries; and to fail, repair or degrade it."""

from __future__ import annotations

from collections import Counter
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QTextBrowser, QVBoxLayout, QWidget

from gbviz.app.factor_bar import FactorBar
from gbviz.errors import InputError
from gbviz.faults.fault import DEGRADABLE
from gbviz.report.explain import Explanation, condition, explain, facts
from gbviz.report.facts import Fact, kind_in, kind_words
from gbviz.report.places import BUSY, FULL, part_named, ways_of
from gbviz.report.text import notes, sentence
from gbviz.report.words import counted, sized

if TYPE_CHECKING:
    from gbviz.app.answer import Answer
    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.theme import Theme

_MOST_LISTED = 12


class InspectorDock(QWidget):
    """Facts and the explanation of what is selected, with names to go on to, and buttons."""

    def __init__(
        self, live: Live, selection: Selection, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._live, self._selection, self._theme = live, selection, theme
        self._targets: list[str] = []
        self._said: Explanation | None = None
        self.text = QTextBrowser(self)
        self.text.setOpenLinks(False)
        self.text.setAccessibleName(self.tr("Inspector"))
        flags = Qt.TextInteractionFlag.TextSelectableByMouse
        flags |= Qt.TextInteractionFlag.LinksAccessibleByMouse
        self.text.setTextInteractionFlags(flags | Qt.TextInteractionFlag.LinksAccessibleByKeyboard)
        self.fail = self._button(self.tr("Fail"), self.tr("Break what is selected (F)"))
        self.repair = self._button(self.tr("Repair"), self.tr("Mend what is selected (R)"))
        self.copy = self._button(
            self.tr("Copy for a ticket"),
            self.tr("Copy the explanation with the numbers, the scenario and its faults"),
        )
        self.factor = FactorBar(self)
        bar = QHBoxLayout()
        for button in (self.fail, self.repair, self.copy):
            bar.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.text, 1)
        below = QVBoxLayout()
        below.setContentsMargins(6, 6, 6, 6)
        below.addWidget(self.factor)
        below.addLayout(bar)
        layout.addLayout(below)
        self.setFocusProxy(self.text)
        order = (self.text, self.factor.slider, self.factor.spin, self.fail, self.repair, self.copy)
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        self.text.anchorClicked.connect(self._go)
        self.fail.clicked.connect(self._fail)
        self.repair.clicked.connect(self._repair)
        self.copy.clicked.connect(self.copy_text)
        self.factor.moved.connect(self._degrade)
        self.factor.settled.connect(self._settle)
        self._live.answered.connect(self.refresh)
        self._live.opened.connect(self.refresh)
        self._live.stale.connect(self._set_stale)
        self._selection.changed.connect(self.refresh)

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        return button

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self.refresh()

    def refresh(self) -> None:
        """Show what is selected as the latest answer has it."""
        answer, names = self._live.answer, self._selection.names
        self._targets, self._said = [], None
        if answer is None:
            self.text.setHtml(f"<p>{escape(self.tr('Computing…'))}</p>")
        elif not names:
            self.text.setHtml(self._cluster(answer))
        elif len(names) == 1:
            self._show_one(answer, names[0])
        else:
            self.text.setHtml(self._several(names))
        self._enable(answer)

    def copy_text(self) -> None:
        """Put the explanation into the clipboard; of several things all of them."""
        answer = self._live.answer
        if answer is None:
            return
        said = [self._explained(answer, name) for name in self._selection.names[:_MOST_LISTED]]
        texts = [one.text() for one in said if one is not None]
        texts = texts or [sentence(answer.snapshot), *notes(answer.snapshot)]
        QGuiApplication.clipboard().setText("\n\n".join(texts))

    def _explained(self, answer: Answer, name: str) -> Explanation | None:
        try:
            return explain(answer.snapshot, answer.loads, answer.base, name)
        except InputError:
            return None

    def _enable(self, answer: Answer | None) -> None:
        names = self._selection.names
        self.fail.setEnabled(bool(names))
        self.repair.setEnabled(bool(names))
        self.copy.setEnabled(answer is not None)
        able = answer is not None and bool(names) and self._degradable()
        self.factor.setEnabled(able)
        if able and answer is not None and not self.factor.busy:
            self.factor.show_factor(condition(answer.snapshot, names[-1]).factor)

    def _degradable(self) -> bool:
        kinds = {kind_in(name) for name in self._selection.names}
        return kinds <= set(DEGRADABLE)

    def _show_one(self, answer: Answer, name: str) -> None:
        try:
            rows = facts(answer.snapshot, answer.loads, answer.base, name)
        except InputError as error:
            self.text.setHtml(f"<p>{escape(str(error))}</p>")
            return
        self._said = self._explained(answer, name)
        said = self._said
        assert said is not None
        parts = [
            self._head(name),
            f"<p style='color:{self._colour(answer, name)}'><b>{escape(said.headline)}</b></p>",
            f"<p>{escape(' '.join(said.sentences))}</p>",
        ]
        if said.arithmetic:  # The numbers once more, as one would check them by hand.
            lines = "<br>".join(escape(line) for line in said.arithmetic)
            parts.append(f"<p style='color:{self._theme.dim}'>{lines}</p>")
        table = "".join(self._row(fact) for fact in rows if fact.label != "kind")
        self.text.setHtml("".join(parts) + f"<table cellspacing='1'>{table}</table>")

    def _head(self, name: str) -> str:
        answer = self._live.answer
        assert answer is not None
        kind = kind_words(part_named(answer.snapshot.fabric, name).kind)
        stale = self._live.is_stale
        mark = f" <span style='color:{self._theme.dim}'>…</span>" if stale else ""
        dim = f"<span style='color:{self._theme.dim}'>{escape(kind)}</span>"
        return f"<p><b>{escape(name)}</b> {dim}{mark}</p>"

    def _row(self, fact: Fact) -> str:
        value = escape(fact.value)
        # The longest first, so that leaf-1 does not become part of leaf-12's link.
        for target in sorted(fact.names, key=len, reverse=True):
            number = len(self._targets)
            self._targets.append(target)
            value = value.replace(escape(target), f"\x00{number}\x01", 1)
        for number, target in enumerate(self._targets):
            link = f"<a href='part:{number}'>{escape(target)}</a>"
            value = value.replace(f"\x00{number}\x01", link)
        label = f"<td style='color:{self._theme.dim}; padding-right:10px'>{escape(fact.label)}</td>"
        return f"<tr>{label}<td>{value}</td></tr>"

    def _colour(self, answer: Answer, name: str) -> str:
        """The hue of a component's state, or of its fullest link."""
        theme, state = self._theme, condition(answer.snapshot, name).state
        if state in ("failed", "down"):
            return theme.failed
        if state != "up":
            return theme.warm
        ways = ways_of(answer.snapshot.fabric, name)
        worst = max((way.worst(answer.loads)[0] for way in ways), default=0.0)
        return theme.over if worst >= FULL else theme.warm if worst >= BUSY else theme.good

    def _cluster(self, answer: Answer) -> str:
        """What there is to say while nothing is selected."""
        snapshot = answer.snapshot
        said = [sentence(snapshot), *notes(snapshot)]
        body = "".join(f"<p>{escape(line)}</p>" for line in said)
        hint = self.tr("Select a rack, a switch or a cable to see what it carries, and why.")
        return (
            f"<p><b>{escape(snapshot.scenario.name)}</b></p><p>{escape(sized(snapshot.fabric))}</p>"
            f"{body}<p style='color:{self._theme.dim}'>{escape(hint)}</p>"
        )

    def _several(self, names: tuple[str, ...]) -> str:
        """How many things are selected, of which kinds, and the first of them to go to."""
        kinds = Counter(kind_words(kind_in(name)) for name in names)
        said = [counted(count, kind) for kind, count in kinds.most_common()]
        title = self.tr("{0:,} selected").format(len(names))
        self._targets = list(names[:_MOST_LISTED])
        links = [f"<a href='part:{n}'>{escape(t)}</a>" for n, t in enumerate(self._targets)]
        more = len(names) - _MOST_LISTED
        tail = f"<br>{escape(self.tr('and {0:,} more').format(more))}" if more > 0 else ""
        return f"<p><b>{title}</b></p><p>{escape(', '.join(said))}</p>{'<br>'.join(links)}{tail}"

    def _go(self, url: QUrl) -> None:
        number = int(url.path())
        if number < len(self._targets):
            self._selection.select([self._targets[number]], reveal=True)

    def _fail(self) -> None:
        self._live.fail(self._selection.names)

    def _repair(self) -> None:
        self._live.repair(self._selection.names)

    def _degrade(self, factor: float) -> None:
        if self._selection.names:
            self._live.degrade(self._selection.names, factor)

    def _settle(self) -> None:
        self._live.session.close_merge()

    def _set_stale(self, stale: bool) -> None:
        if stale and not self.factor.busy:
            self.refresh()
