from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from PySide6.QtGui import QImage

from gbviz.__main__ import _OF_THE_APP
from gbviz.app.fabric_view import FabricView
from gbviz.app.matrix_view import MatrixView
from gbviz.app.rack_view import RackView
from gbviz.app.selection import Selection
from gbviz.cli.main import run
from gbviz.display.shades import Look
from gbviz.display.theme import LIGHT
from gbviz.scenario import preset
from tests.app.busy import opened

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gbviz.app.live import Live

pytestmark = pytest.mark.usefixtures("nothing_left")
SMALL = ("--size", "420x320")


def picture(*words: str) -> int:
    return run(["picture", *words], _OF_THE_APP)


def image(path: Path) -> QImage:
    return QImage(str(path)).convertToFormat(QImage.Format.Format_RGB32)


def in_a_process(*words: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(root)}
    return subprocess.run(
        [sys.executable, "-m", "gbviz", "picture", *words],
        capture_output=True, text=True, timeout=60, env=environment, check=False,
    )  # fmt: skip


def test_a_picture_from_the_command_line_is_the_apps(
    qtbot: QtBot, live: Live, tmp_path: Path
) -> None:
    out = tmp_path / "map.png"
    done = in_a_process("gb300-su", "--fail", "spine-1", "-o", str(out), "--size", "700x500")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr == f"{out}: 700 x 500\n"
    view = FabricView(live, Selection())
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.set_look(Look(LIGHT))
    view.show()
    opened(qtbot, live, preset("gb300-su").with_faults("spine-1"))
    view.repaint()
    assert view._picture == image(out)


def test_errors_of_a_process_are_a_sentence_and_2(tmp_path: Path) -> None:
    out = tmp_path / "map.png"
    done = in_a_process("gb300-su", "--view", "rack-99", "-o", str(out))
    assert done.returncode == 2
    assert done.stderr.startswith("gbviz: view: there is no view 'rack-99'")
    assert "Traceback" not in done.stderr
    assert not out.exists()


@pytest.mark.parametrize("shown", ["fabric", "bundles", "matrix", "rack-3"])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_every_view_of_the_app_is_the_picture_of_its_size(
    qtbot: QtBot, live: Live, tmp_path: Path, shown: str, scale: float
) -> None:
    class OnScreen:
        """A screen of as many device pixels a logical one as the picture has."""

        def devicePixelRatioF(self) -> float:  # noqa: N802 Qt's name
            return scale

    kind = {"matrix": MatrixView, "rack-3": RackView}.get(shown, FabricView)
    view = type("Scaled", (OnScreen, kind), {})(live, Selection())
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.set_look(Look(LIGHT, colour_by="health"))
    view.show()
    opened(qtbot, live, preset("gb300-su").with_faults("leaf-2"))
    links = "bundles" if shown == "bundles" else "matrix"
    if isinstance(view, RackView):
        view.show_rack(3)
    else:
        view.set_links(links)
    view.repaint()
    out = tmp_path / "x.png"
    asked = "fabric" if shown == "bundles" else shown
    words = ("--view", asked, "--links", links, "--colour-by", "health", "--scale", str(scale))
    assert picture("gb300-su", "--fail", "leaf-2", "-o", str(out), "--size", "700x500", *words) == 0
    found = view._picture.copy()
    found.setDevicePixelRatio(1)
    assert found == image(out)


def test_a_file_and_svg(qtbot: QtBot, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "mine.yaml"
    scenario.write_text("gbviz: 1\ncluster:\n  preset: gb300-su\n", encoding="utf-8")
    out = tmp_path / "mine.svg"
    code = picture(str(scenario), "-o", str(out), *SMALL)
    said = capsys.readouterr()
    assert code == 0, said.err
    assert said.err == f"{out}: 420 x 320\n"
    root = ET.fromstring(out.read_text(encoding="utf-8"))
    assert root.attrib["viewBox"] == "0 0 420 320"


def test_size_and_scale(qtbot: QtBot, tmp_path: Path) -> None:
    out = tmp_path / "x.png"
    assert picture("gb300-su", "-o", str(out), "--size", "300X200", "--scale", "1.5") == 0
    assert (image(out).width(), image(out).height()) == (450, 300)


def test_what_there_was_is_kept_beside_it(qtbot: QtBot, tmp_path: Path) -> None:
    out = tmp_path / "x.png"
    assert picture("gb300-su", "-o", str(out), *SMALL) == 0
    first = out.read_bytes()
    assert picture("gb300-su", "-o", str(out), "--theme", "dark", *SMALL) == 0
    assert out.read_bytes() != first


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("gb300-sue",), "did you mean 'gb300-su'?"),
        (("gone.yaml",), "gone.yaml"),
        (("gb300-su", "--view", "rck-1"), "view"),
        (("gb300-su", "--view", "rack-²"), "rack-0 to rack-7"),
        (("gb300-su", "--view", "pod-3"), "pod-0"),
        (("gb300-su", "--theme", "drk"), "'dark'"),
        (("gb300-su", "--colour-by", "temp"), "colour-by"),
        (("gb300-su", "--links", "bundels"), "'bundles'"),
        (("gb300-su", "--size", "400"), "WxH"),
        (("gb300-su", "--size", "axb"), "WxH"),
        (("gb300-su", "--size", "-400x300"), "WxH"),
        (("gb300-su", "--size", "100x100"), "200 x 150"),
        (("gb300-su", "--size", "99999x300"), "16384"),
        (("gb300-su", "--scale", "nan"), "scale"),
        (("gb300-su", "--scale", "inf"), "scale"),
        (("gb300-su", "--scale", "0"), "scale"),
        (("gb300-su", "--scale", "x"), "scale"),
        (("gb300-su", "--fail", "spine-99"), "spine"),
        (("gb300-su", "--at", "later"), "--at"),
        (("gb300-su", "--at", "-5s"), "--at"),
        (("gb300-su", "--at", "nan"), "--at"),
    ],
)
def test_mistakes_are_a_sentence_2_and_no_file(
    qtbot: QtBot,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    says: str,
) -> None:
    out = tmp_path / "x.png"
    out.write_bytes(b"as it was")
    assert picture(*words, "-o", str(out)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("gbviz: ")
    assert says in said.err
    assert "internal error" not in said.err
    assert out.read_bytes() == b"as it was"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("name", ["x.jpg", "x", "no/x.png", ""])
def test_where_it_cannot_go(
    qtbot: QtBot, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert picture("gb300-su", "-o", str(tmp_path / name), *SMALL) == 2
    assert capsys.readouterr().err.startswith("gbviz: ")
    assert list(tmp_path.iterdir()) == []
