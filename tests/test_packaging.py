"""What stands around the code: changelog, desktop entry, what a wheel and an sdist hold."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from configparser import ConfigParser
from pathlib import Path
from xml.etree import ElementTree as ET

import gbviz

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TARGETS = PROJECT["tool"]["hatch"]["build"]["targets"]


def test_the_version_is_the_same_everywhere() -> None:
    assert PROJECT["project"]["version"] == gbviz.__version__
    assert gbviz.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_desktop_entry() -> None:
    path = ROOT / "assets" / "gbviz.desktop"
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # keys have capitals
    parser.read(path, encoding="utf-8")
    entry = parser["Desktop Entry"]
    assert entry["Type"] == "Application"
    command, field = entry["Exec"].split()
    assert command in PROJECT["project"]["scripts"]
    assert field == "%f"
    assert all(entry[key].endswith(";") for key in ("Categories", "MimeType", "Keywords"))
    # The app says by this name which entry it belongs to.
    start = (ROOT / "gbviz" / "app" / "start.py").read_text(encoding="utf-8")
    assert f'setDesktopFileName("{path.stem}")' in start
    if (program := shutil.which("desktop-file-validate")) is not None:
        told = subprocess.run([program, path], capture_output=True, text=True, check=False)
        assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_the_icon_is_a_picture() -> None:
    root = ET.parse(ROOT / "assets" / "icons" / "gbviz.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox") == "0 0 64 64"


def test_what_is_shipped_is_there() -> None:
    shared = TARGETS["wheel"]["shared-data"]
    assert sorted(shared.values()) == [
        "share/applications/gbviz.desktop",
        "share/icons/hicolor/scalable/apps/gbviz.svg",
    ]
    named = [*shared, *TARGETS["wheel"]["force-include"], *TARGETS["sdist"]["include"]]
    assert [one for one in named if not (ROOT / one.lstrip("/")).exists()] == []


def test_the_sdist_holds_all_that_is_tracked() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return
    listed = subprocess.run([git, "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    taken = tuple(one.lstrip("/") for one in TARGETS["sdist"]["include"])
    left = [name for name in listed.stdout.splitlines() if not name.startswith(taken)]
    assert [name for name in left if not re.match(r"\.(ci/|gitignore)", name)] == []
