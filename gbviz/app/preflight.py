"""Whether a window can be opened at all; found out before Qt would abort. Imports no Qt."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import platform
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NEEDED = ("PySide6", "pyqtgraph", "platformdirs")
# Libraries that the wheels of Qt take from the system, and the packages of Debian and Ubuntu that
# hold them: tried on minimal systems of both Debian 12 and 13.
_ALWAYS = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
}
_X11 = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libX11-xcb.so.1": "libx11-xcb1",
}
_WAYLAND = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}
_CALLS = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """Why no window can be opened, and what to do about it."""

    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}"


def preflight() -> Problem | None:
    """What stands in the way of a window; None where nothing does."""
    for find in (no_display, no_packages, no_libraries, no_reference_left):
        problem = find()
        if problem is not None:
            return problem
    return None


def no_display(environ: Mapping[str, str] | None = None) -> Problem | None:
    """A Linux without a display.

    Examples
    --------
    >>> no_display({"DISPLAY": ":0"}) is None
    True
    """
    found = os.environ if environ is None else environ
    shown = any(found.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    if shown or not sys.platform.startswith("linux"):
        return None
    return Problem(
        "there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set)",
        "run it without one: gbviz run FILE, or gbviz picture FILE -o out.png",
    )


def no_packages() -> Problem | None:
    """Python packages of the app that are not installed."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    return Problem(
        f"the window needs {' and '.join(missing)}, which this installation lacks",
        "install the app: pip install 'gbviz[app]'",
    )


def no_libraries(environ: Mapping[str, str] | None = None) -> Problem | None:
    """Libraries of a Linux that Qt needs and that are not there."""
    found = os.environ if environ is None else environ
    if sys.platform.startswith("linux"):
        missing = _missing(_ALWAYS) + _of_platform(found)
        if missing:
            return _lacking(missing)
    try:
        import PySide6.QtWidgets  # noqa: F401
    except ImportError as error:
        hint = "install it again: pip install --force-reinstall PySide6_Essentials"
        return Problem(f"Qt cannot be loaded: {error}", hint)
    return None


def no_reference_left() -> Problem | None:
    """A Qt that takes references away from None, so that Python aborts after some time."""
    from PySide6.QtCore import QObject

    probe = QObject()
    if not loses_references(lambda: probe.setObjectName("x")):
        return None
    version = importlib.metadata.version("PySide6_Essentials")
    return Problem(
        f"PySide6 {version} does not work with Python {platform.python_version()}: it would abort"
        " within minutes",
        "install one that does: pip install 'PySide6_Essentials>=6.11.3,<6.12'",
    )


def loses_references(call: Callable[[], object]) -> bool:
    """Whether each call, which returns None, takes a reference to None away.

    Notes
    -----
    From Python 3.12 on None is immortal, so that nothing can be lost.
    """
    before = sys.getrefcount(None)
    for _ in range(_CALLS):
        call()
    return before - sys.getrefcount(None) > _CALLS // 2


def _of_platform(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """What the platform that Qt will choose lacks; where two would do, the one that lacks less."""
    stated = environ.get("QT_QPA_PLATFORM", "")
    if stated:
        wanted = [name for name in stated.split(";") if name]
    else:
        wanted = ["wayland"] if environ.get("WAYLAND_DISPLAY") else []
        wanted += ["xcb"] if environ.get("DISPLAY") else []
    tables = {"xcb": _X11, "wayland": _WAYLAND}
    each = [_missing(tables.get(name.partition(":")[0], {})) for name in wanted]
    return min(each, key=len, default=[])


def _missing(libraries: Mapping[str, str]) -> list[tuple[str, str]]:
    found = []
    for library, package in libraries.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            found.append((library, package))
    return found


def _lacking(missing: list[tuple[str, str]]) -> Problem:
    names = ", ".join(library for library, _ in missing)
    packages = " ".join(dict.fromkeys(package for _, package in missing))
    return Problem(
        f"this system lacks {'a library' if len(missing) == 1 else 'libraries'} that Qt needs:"
        f" {names}",
        f"on Debian or Ubuntu: sudo apt-get install -y {packages}\n"
        "or run it without a window: gbviz run FILE",
    )
