"""The `gbviz` command: picks what to load, so that `--version` loads next to nothing."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Run the command line and leave with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from gbviz import __version__

        with suppress(OSError):  # the reader may have left
            os.write(1, f"gbviz {__version__}\n".encode())
        return
    from gbviz.cli.streams import Output

    output = Output()
    try:
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:  # before `run` could say so
        code = 130
    if problem := output.problem():
        sys.stderr.write(f"gbviz: {problem}\n")
        code = max(code, 3)
    sys.exit(code)


# What the command line leaves to the app, imported only where it is used.
_OF_THE_APP = {"paint": "gbviz.app.picture:paint_file"}
_HERE = "Here is the answer in words."
_DEMO = (
    "Here is a demo instead, in words: an Azure-sized cluster with five jobs loses leaf-30.\n"
    "Next: gbviz whatif azure-gb300 --fail spine-3, or gbviz --help."
)
# What the demo breaks where nobody can break anything by hand.
_BROKEN = ("--fail", "leaf-30")
_SUFFIXES = (".yaml", ".yml", ".json")


def _run(args: list[str]) -> int:
    """The app for nothing or for one file, the command line for anything else."""
    from gbviz.cli.main import run

    one_file = len(args) == 1 and args[0].lower().endswith(_SUFFIXES)
    # A shell that asks how to complete a word sends no words of its own.
    if (args and not one_file) or "_GBVIZ_COMPLETE" in os.environ:
        return run(args, _OF_THE_APP)
    file = args[0] if args else None
    from gbviz.app.start import start

    found = start(file)
    if isinstance(found, int):
        return found
    sys.stderr.write(f"gbviz: {found.message}\n{found.hint}\n{_HERE if file else _DEMO}\n\n")
    sys.stderr.flush()
    return _answer_headless(file)


def _answer_headless(file: str | None) -> int:
    """The answer on the screen, with a report and a picture of it in a folder beside."""
    from gbviz.assets import asset_path
    from gbviz.cli.main import run

    target = file or str(asset_path("demo.yaml"))
    name = Path(file).stem if file else "gbviz-demo"
    asked = ["run", "--verbose", target] if file else ["whatif", target, *_BROKEN]
    folder = Path(f"{name}-report")
    why_not = _why_not(folder)
    if why_not or not _readable(target):
        code = run(asked, _OF_THE_APP)
        if why_not and code <= 1:
            sys.stderr.write(f"gbviz: no report is kept: {why_not}; choose where with -o DIR\n")
        return code
    code = run([*asked, "-o", str(folder)], _OF_THE_APP)
    if code <= 1:
        # PNG needs Qt and what that needs of the system; no picture is no reason to fail.
        suffixes = (".png", ".svg") if find_spec("PySide6") is not None else (".svg",)
        broken = () if file else _BROKEN
        for suffix in suffixes:
            picture = str(folder / f"{name}{suffix}")
            if run(["picture", target, "-o", picture, *broken], _OF_THE_APP) == 0:
                break
    return code


def _why_not(folder: Path) -> str:
    """Why nothing is to be written into a folder that nobody asked for, "" where it may be."""
    from gbviz.report.shelf import JUNIT, RESULT

    if os.path.lexists(folder):
        ours = any((folder / name).is_file() for name in (JUNIT, RESULT))
        return "" if ours and os.access(folder, os.W_OK) else f"{folder} is there already"
    return "" if os.access(".", os.W_OK) else "this folder cannot be written to"


def _readable(file: str) -> bool:
    """Whether there will be an answer to keep."""
    from gbviz.errors import GbvizError
    from gbviz.scenario.file import load

    try:
        load(file)
    except GbvizError:
        return False
    return True


if __name__ == "__main__":
    main()
