from __future__ import annotations

import ctypes
import importlib.util
import subprocess
import sys
from typing import Any

import pytest

from gbviz.app import preflight as module
from gbviz.app.preflight import (
    loses_references,
    no_display,
    no_libraries,
    no_packages,
    no_reference_left,
    preflight,
)

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has this")
OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen"}


def test_this_machine_can_open_a_window() -> None:
    assert preflight() is None


def test_the_module_loads_no_qt() -> None:
    code = "import sys, gbviz.app.preflight; print([m for m in sys.modules if 'PySide6' in m])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@LINUX
@pytest.mark.parametrize("environ", [{}, {"DISPLAY": ""}, {"HOME": "/root"}])
def test_no_display_is_said_with_the_way_without_one(environ: dict[str, str]) -> None:
    found = no_display(environ)
    assert found is not None
    assert "no display" in found.message
    assert "gbviz run FILE" in found.hint


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"])
def test_any_display_will_do(name: str) -> None:
    assert no_display({name: "x"}) is None


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def without(name: str) -> Any:
        return None if name in ("PySide6", "pyqtgraph") else real(name)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    found = no_packages()
    assert found is not None
    assert "PySide6 and pyqtgraph" in found.message
    assert "pip install 'gbviz[app]'" in found.hint
    assert preflight() == found, "it is told before Qt is imported"


def _without(monkeypatch: pytest.MonkeyPatch, *gone: str) -> None:
    def load(name: str) -> None:
        if any(part in name for part in gone):
            raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", load)


@LINUX
def test_all_missing_libraries_are_in_one_apt_line(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "libGL.", "xcb-icccm", "xcb-keysyms")
    found = no_libraries({"DISPLAY": ":0"})
    assert found is not None
    assert "libGL.so.1, libxcb-icccm.so.4, libxcb-keysyms.so.1" in found.message
    assert "apt-get install -y libgl1 libxcb-icccm4 libxcb-keysyms1\n" in found.hint


@LINUX
@pytest.mark.parametrize(
    ("environ", "gone", "complains"),
    [
        ({"DISPLAY": ":0"}, "xcb", True),
        (OFFSCREEN, "xcb", False),
        (OFFSCREEN | {"DISPLAY": ":0"}, "xcb", False),
        ({"QT_QPA_PLATFORM": "xcb"}, "xcb", True),
        ({"QT_QPA_PLATFORM": "vnc:size=1x1"}, "xcb", False),
        ({"QT_QPA_PLATFORM": "wayland;xcb"}, "xcb", False),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "xcb", False),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "wayland", False),
        ({"WAYLAND_DISPLAY": "w"}, "wayland", True),
    ],
)
def test_only_the_platform_that_is_used_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], gone: str, complains: bool
) -> None:
    _without(monkeypatch, gone)
    assert (no_libraries(environ) is not None) is complains


def test_a_qt_that_cannot_be_loaded_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PySide6.QtWidgets", None)
    found = no_libraries(OFFSCREEN)
    assert found is not None
    assert "Qt cannot be loaded" in found.message


def test_this_qt_loses_no_references() -> None:
    assert no_reference_left() is None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal")
def test_a_qt_that_loses_references_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    none = ctypes.py_object(None)

    def lose() -> None:
        ctypes.pythonapi.Py_DecRef(none)

    try:
        assert loses_references(lose)
    finally:
        for _ in range(module._CALLS):
            ctypes.pythonapi.Py_IncRef(none)
    monkeypatch.setattr(module, "loses_references", lambda _: True)
    found = no_reference_left()
    assert found is not None
    assert "does not work with Python" in found.message
    assert "PySide6_Essentials>=6.11.3,<6.12" in str(found)
