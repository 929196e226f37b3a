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
from gbviz.app.naming import name_inside
from gbviz.app.table_models import state_colour
from gbviz.errors import InputError
from gbviz.faults.fault import DEGRADABLE
from gbviz.report.answer import sentence
from gbviz.report.explain import Explanation, condition, explain, facts
from gbviz.report.facts import Fact, kind_in, kind_words
from gbviz.report.job_facts import job_facts, job_headline, job_line
from gbviz.report.places import BUSY, FULL, part_named, ways_of
from gbviz.report.text import notes
from gbviz.report.ticket import ticket
from gbviz.report.words import counted, sized

if TYPE_CHECKING:
    from gbviz.app.answer import Answer
    from gbviz.app.live import Live
    from gbviz.app.selection import Selection
    from gbviz.display.theme import Theme
    from gbviz.report.job_lines import JobLine

_MOST_LISTED = 12
# Of more parts nobody asks each for its state.
_MOST_ASKED = 50


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
            self.tr("Copy what the faults cost: figures, jobs, and why the selection is as it is"),
        )
        self.factor = FactorBar(self)
        self._factor_tip = self.factor.slider.toolTip()
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
        name_inside(self)
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
        else:
            parts = [self._job(answer)]
            if len(names) == 1:
                parts.append(self._one(answer, names[0]))
            elif names:
                parts.append(self._several(names))
            shown = [part for part in parts if part] or [self._cluster(answer)]
            self.text.setHtml("<hr>".join(shown))
        self._enable(answer)

    def copy_text(self) -> None:
        """Put what the failure costs into the clipboard, then the job and parts selected."""
        answer = self._live.answer
        if answer is None:
            return
        texts = [ticket(answer.snapshot)]
        line = self._lit(answer)
        if line is not None:
            rows = job_facts(answer.snapshot, answer.base, line)
            about = [f"  {row.label}: {row.value}" for row in rows]
            texts.append("\n".join([f"{line.name}: {job_headline(line)}", *about]))
        said = [self._explained(answer, name) for name in self._selection.names[:_MOST_LISTED]]
        texts += [one.body() for one in said if one is not None]
        if len(texts) == 1:
            texts.append("\n".join([sentence(answer.snapshot), *notes(answer.snapshot)]))
        QGuiApplication.clipboard().setText("\n\n".join(texts))

    def _lit(self, answer: Answer) -> JobLine | None:
        """The job that is selected."""
        name = self._selection.job
        return job_line(answer.snapshot, name) if name else None

    def _job(self, answer: Answer) -> str:
        """The job that is selected: state, figures, what it lost, its limit, where it runs."""
        line = self._lit(answer)
        if line is None:
            return ""
        rows = job_facts(answer.snapshot, answer.base, line)
        table = "".join(self._row(fact) for fact in rows if fact.label != "kind")
        hue = state_colour(self._theme, line.state)
        hue = self._theme.warm if line.hurt and hue == self._theme.good else hue
        return (
            f"<p><b>{escape(line.name)}</b> {self._dim(line.kind)}{self._mark()}</p>"
            f"<p style='color:{hue}'><b>{escape(job_headline(line))}</b></p>"
            f"<table cellspacing='1'>{table}</table>"
        )

    def _dim(self, text: str) -> str:
        return f"<span style='color:{self._theme.dim}'>{escape(text)}</span>"

    def _mark(self) -> str:
        """What says that the figures are old."""
        return f" {self._dim('…')}" if self._live.is_stale else ""

    def _explained(self, answer: Answer, name: str) -> Explanation | None:
        try:
            return explain(answer.snapshot, answer.loads, answer.base, name)
        except InputError:
            return None

    def _enable(self, answer: Answer | None) -> None:
        names = self._selection.names
        states = self._states(answer)
        self._offer(
            self.fail,
            self.tr("Break what is selected (F)"),
            self.tr("It has failed already."),
            able=bool(names) and states != {"failed"},
        )
        self._offer(
            self.repair,
            self.tr("Mend what is selected (R)"),
            self.tr("There is nothing to mend: it is healthy."),
            able=bool(names) and states != {"up"},
        )
        self.copy.setEnabled(answer is not None)
        able = answer is not None and bool(names) and self._degradable()
        self.factor.setEnabled(able)
        kinds = ", ".join(sorted({kind_words(kind_in(name)) for name in names[:_MOST_ASKED]}))
        none = self.tr("Cables, ports, NICs, GPUs and cooling units can be degraded; a {0} cannot.")
        tip = self._factor_tip if able or not names else none.format(kinds)
        for control in (self.factor, self.factor.slider, self.factor.spin):
            control.setToolTip(tip)
        if able and answer is not None and not self.factor.busy:
            self.factor.show_factor(condition(answer.snapshot, names[-1]).factor)

    def _offer(self, button: QPushButton, tip: str, why_not: str, *, able: bool) -> None:
        """Enable a button, or say by its tool tip why it is not."""
        button.setEnabled(able)
        shown = tip if able or not self._selection.names else why_not
        button.setToolTip(shown)
        button.setAccessibleDescription(shown)

    def _states(self, answer: Answer | None) -> set[str]:
        """States of what is selected; unknown where that is much."""
        names = self._selection.names
        if answer is None or len(names) > _MOST_ASKED:
            return {"unknown"}
        try:
            return {condition(answer.snapshot, name).state for name in names}
        except InputError:
            return {"unknown"}

    def _degradable(self) -> bool:
        kinds = {kind_in(name) for name in self._selection.names}
        return kinds <= set(DEGRADABLE)

    def _one(self, answer: Answer, name: str) -> str:
        """The part that is selected: its state, why, and all facts."""
        try:
            rows = facts(answer.snapshot, answer.loads, answer.base, name)
        except InputError as error:
            return f"<p>{escape(str(error))}</p>"
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
        return "".join(parts) + f"<table cellspacing='1'>{table}</table>"

    def _head(self, name: str) -> str:
        answer = self._live.answer
        assert answer is not None
        kind = kind_words(part_named(answer.snapshot.fabric, name).kind)
        return f"<p><b>{escape(name)}</b> {self._dim(kind)}{self._mark()}</p>"

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
        first = len(self._targets)
        self._targets += names[:_MOST_LISTED]
        listed = enumerate(self._targets[first:], first)
        links = [f"<a href='part:{n}'>{escape(t)}</a>" for n, t in listed]
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
