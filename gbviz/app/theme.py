"""Qt's palette and style in our two themes; the platform's own colour scheme is not relied on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette

from gbviz.assets import asset_path
from gbviz.display.theme import DARK, LIGHT, Theme, mixed

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

Choice = Literal["system", "dark", "light"]


def theme_of(choice: Choice) -> Theme:
    """The theme that a choice means now; what the system does not say is dark."""
    if choice == "system":
        scheme = QGuiApplication.styleHints().colorScheme()
        return LIGHT if scheme == Qt.ColorScheme.Light else DARK
    return LIGHT if choice == "light" else DARK


def palette_of(theme: Theme) -> QPalette:
    """The palette of all widgets."""
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.panel,
        role.WindowText: theme.text,
        role.Base: theme.ground,
        role.AlternateBase: mixed(theme.ground, theme.raised, 0.45),
        role.Text: theme.text,
        role.PlaceholderText: theme.dim,
        role.Button: theme.raised,
        role.ButtonText: theme.text,
        role.BrightText: theme.failed,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.Highlight: mixed(theme.panel, theme.accent, 0.45),
        role.HighlightedText: theme.focus,
        role.Link: theme.accent,
        role.LinkVisited: theme.accent,
        role.Light: mixed(theme.raised, theme.focus, 0.1),
        role.Midlight: theme.raised,
        role.Mid: theme.line,
        role.Dark: mixed(theme.ground, "#000000", 0.3),
        role.Shadow: "#000000",
        role.Accent: theme.accent,
    }
    found = QPalette()
    for which, colour in colours.items():
        found.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        grey = QColor(mixed(theme.panel, theme.dim, 0.7))
        found.setColor(QPalette.ColorGroup.Disabled, which, grey)
    return found


def dress(app: QApplication, theme: Theme, font_scale: float = 1.0) -> None:
    """Put the application into a theme, with its text larger or smaller."""
    app.setStyle("Fusion")
    app.setPalette(palette_of(theme))
    font = QFont(app.property("plain_font") or app.font())
    if app.property("plain_font") is None:
        app.setProperty("plain_font", QFont(font))
    font.setPointSizeF(max(6.0, font.pointSizeF() * font_scale))
    app.setFont(font)
    app.setStyleSheet(_sheet(theme))


def _icon(name: str, theme: Theme) -> str:
    """The path of an icon that suits a theme, as style sheets want it."""
    return asset_path(f"icons/{name}-{theme.name}.svg").as_posix()


def _sheet(theme: Theme) -> str:
    """What a palette cannot say: tab bars, dock titles and tool tips."""
    return f"""
QMainWindow::separator {{ background: {theme.line}; width: 3px; height: 3px; }}
QDockWidget::title {{ background: {theme.raised}; padding: 4px 8px; }}
QTabBar::tab {{ padding: 5px 12px; background: {theme.panel}; color: {theme.dim};
  border: 1px solid {theme.line}; border-bottom: none; }}
QTabBar::tab:selected {{ background: {theme.ground}; color: {theme.text};
  border-top: 2px solid {theme.accent}; }}
QTabWidget::pane {{ border: 1px solid {theme.line}; }}
QLabel#tool-sign {{ background: {theme.failed}; color: {theme.ground}; font-weight: bold; }}
QToolTip {{ background: {theme.raised}; color: {theme.text}; border: 1px solid {theme.line};
  padding: 4px; }}
QHeaderView::section {{ background: {theme.panel}; color: {theme.dim}; border: none;
  border-bottom: 1px solid {theme.line}; padding: 3px 6px; }}
QLineEdit, QPlainTextEdit {{ border: 1px solid {theme.line}; border-radius: 3px; padding: 2px 4px;
  background: {theme.ground}; }}
QLineEdit:focus, QPlainTextEdit:focus {{ border-color: {theme.accent}; }}
QCheckBox::indicator {{ width: 14px; height: 14px; border: 1px solid {theme.dim};
  border-radius: 2px; background: {theme.ground}; }}
QCheckBox::indicator:focus {{ border-color: {theme.accent}; }}
QCheckBox::indicator:checked {{ image: url({_icon("check", theme)}); }}
QToolBar {{ border: none; border-bottom: 1px solid {theme.line}; spacing: 4px; padding: 3px; }}
QPushButton:checked {{ background: {mixed(theme.panel, theme.accent, 0.4)};
  border: 1px solid {theme.accent}; border-radius: 3px; padding: 3px 10px; color: {theme.text}; }}
QToolButton {{ padding: 3px 8px; }}
QToolButton:checked {{ background: {theme.raised}; border: 1px solid {theme.accent}; }}
"""
