"""A list of cards: a title over a few words, chosen by a click or Enter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex, QPersistentModelIndex

    Index = QModelIndex | QPersistentModelIndex

_WHAT = Qt.ItemDataRole.UserRole
_SAYS = Qt.ItemDataRole.UserRole + 1
_PAD_X, _PAD_Y, _GAP, _ROUND = 10, 6, 2, 4
_WRAP = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop


class CardDelegate(QStyledItemDelegate):
    """Paints an entry as a card: its title bold, its words dim below, wrapped to the list."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802 Qt's
        """As wide as the list, as high as the words need."""
        view = option.widget
        width = view.viewport().width() if isinstance(view, QListWidget) else 200
        title, words = self._rects(QRect(0, 0, width, 0), option, index)
        return QSize(width, max(title.bottom(), words.bottom()) + 1 + _PAD_Y)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one entry."""
        state: QStyle.StateFlag = option.state
        rect: QRect = option.rect
        palette: QPalette = option.palette
        flags = QStyle.StateFlag
        enabled = bool(state & flags.State_Enabled)
        group = QPalette.ColorGroup.Normal if enabled else QPalette.ColorGroup.Disabled
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = bool(state & flags.State_HasFocus)
        if enabled and state & (flags.State_MouseOver | flags.State_HasFocus):
            painter.setBrush(palette.color(QPalette.ColorRole.Button))
            accent = palette.color(QPalette.ColorRole.Accent)
            painter.setPen(accent if focused else Qt.PenStyle.NoPen)
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), _ROUND, _ROUND)
        title, words = self._rects(rect, option, index)
        painter.setFont(_bold(option))
        painter.setPen(palette.color(group, QPalette.ColorRole.Text))
        painter.drawText(title, _WRAP, index.data(Qt.ItemDataRole.DisplayRole))
        painter.setFont(option.font)
        dim = QPalette.ColorRole.PlaceholderText if enabled else QPalette.ColorRole.Text
        painter.setPen(palette.color(group, dim))
        painter.drawText(words, _WRAP, index.data(_SAYS))
        painter.restore()

    def _rects(
        self, rect: QRect, option: QStyleOptionViewItem, index: Index
    ) -> tuple[QRect, QRect]:
        room = rect.adjusted(_PAD_X, _PAD_Y, -_PAD_X, 0)
        room.setHeight(10_000)
        title = QFontMetrics(_bold(option)).boundingRect(
            room, _WRAP, index.data(Qt.ItemDataRole.DisplayRole)
        )
        room.setTop(title.bottom() + 1 + _GAP)
        font: QFont = option.font
        words = QFontMetrics(font).boundingRect(room, _WRAP, index.data(_SAYS) or "")
        return title, words


class PickList(QListWidget):
    """A list whose entries are chosen by a click or Enter, and that is no higher than they are.

    Parameters
    ----------
    name
        For screen readers.
    parent
        Its owner.

    Signals
    -------
    picked(str)
        What an entry stands for.
    """

    picked = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setItemDelegate(CardDelegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMouseTracking(True)
        self.setMinimumHeight(60)
        self.itemClicked.connect(self._pick)

    def add(self, title: str, says: str, what: str, *, enabled: bool = True) -> None:
        """Add an entry."""
        item = QListWidgetItem(title)
        item.setData(_WHAT, what)
        item.setData(_SAYS, says)
        item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, says)
        if not enabled:
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
        self.addItem(item)
        if self.currentRow() < 0 and enabled:
            self.setCurrentItem(item)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 Qt's
        """Wrap the words anew."""
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()
        if event.size().width() != event.oldSize().width():
            self.fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 Qt's
        """Other letters need other heights."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.fit()

    def fit(self) -> None:
        """Be no higher than the entries are now."""
        self.setMaximumHeight(self.sizeHint().height())
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 Qt's
        """As high as all entries at this width."""
        high = sum(self.sizeHintForRow(row) for row in range(self.count()))
        return QSize(super().sizeHint().width(), max(high + 4, self.minimumHeight()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 Qt's
        """Choose by Enter; activation would come with a double click too, after its first."""
        item = self.currentItem()
        chosen = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if chosen and item is not None:
            self._pick(item)
            return
        super().keyPressEvent(event)

    @Slot(QListWidgetItem)
    def _pick(self, item: QListWidgetItem) -> None:
        # A click on a grey entry is told as well.
        if item.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.picked.emit(item.data(_WHAT))


def _bold(option: QStyleOptionViewItem) -> QFont:
    font = QFont(option.font)
    font.setWeight(QFont.Weight.DemiBold)
    return font
