"""Files that lead to other files, or are none: each made in a folder, with what is said of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.hostile.making import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# What makes `a.yaml` in a folder whose parent holds `secret.yaml`; "" for what must be right.
Tree = tuple["Callable[[Path], object]", str]


def _extends(name: str, **files: str) -> Callable[[Path], object]:
    """`a.yaml` extends a name; more files by their stems hold some text."""

    def make(folder: Path) -> None:
        (folder / "a.yaml").write_text(f'gbviz: 1\nextends: "{name}"\n')
        (folder / "base.yaml").write_bytes(HEAD)
        for stem, text in files.items():
            (folder / f"{stem}.yaml").write_text(text)

    return make


def _linked(target: str, name: str = "b.yaml") -> Callable[[Path], object]:
    """`a.yaml` extends a symbolic link."""

    def make(folder: Path) -> None:
        _extends("b.yaml")(folder)
        (folder / name).symlink_to(target)

    return make


def _folder(folder: Path) -> None:
    _extends("b.yaml")(folder)
    (folder / "b.yaml").mkdir()


def _pipe(folder: Path) -> None:
    _extends("b.yaml")(folder)
    os.mkfifo(folder / "b.yaml")


def _linked_folder(folder: Path) -> None:
    _extends("out/secret.yaml")(folder)
    (folder / "out").symlink_to("..", target_is_directory=True)


def _hard_link(folder: Path) -> None:
    _extends("b.yaml")(folder)
    os.link(folder / "a.yaml", folder / "b.yaml")


def _chain(length: int) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        _extends("0.yaml")(folder)
        for number in range(length):
            (folder / f"{number}.yaml").write_text(f"gbviz: 1\nextends: {number + 1}.yaml\n")
        (folder / f"{length}.yaml").write_bytes(HEAD)

    return make


def _large(folder: Path) -> None:
    _extends("b.yaml")(folder)
    for name, following in (("b", "extends: c.yaml\n"), ("c", "cluster: {racks: 8}\n")):
        (folder / f"{name}.yaml").write_text(f"gbviz: 1\n{following}#{'x' * 17_000_000}")


def _below(folder: Path) -> None:
    _extends("x/b.yaml")(folder)
    (folder / "x").mkdir()
    (folder / "x" / "b.yaml").write_bytes(HEAD)


def _itself(target: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "a.yaml").symlink_to(target)


_TO_A = "gbviz: 1\nextends: a.yaml\n"

TREES: dict[str, Tree] = {
    "up": (_extends("../secret.yaml"), "is outside the folder of the scenario"),
    "down-and-up": (_extends("x/../../secret.yaml"), "is outside the folder of the scenario"),
    "absolute": (_extends("/etc/passwd"), "is not relative"),
    "absolute-yaml": (_extends("/etc/a.yaml"), "is not relative"),
    "drive": (_extends("C:/a.yaml"), "is not relative"),
    "share": (_extends("\\\\\\\\host\\\\share\\\\a.yaml"), "is not relative"),
    "scheme": (_extends("file:///etc/a.yaml"), "is not relative"),
    "percent": (_extends("..%2fsecret.yaml"), "cannot be read"),
    "dots-alike": (_extends("\u2024\u2024/secret.yaml"), "cannot be read"),
    "home": (_extends("~root/a.yaml"), "cannot be read"),
    "variable": (_extends("${HOME}/a.yaml"), "cannot be read"),
    "glob": (_extends("*.yaml"), "cannot be read"),
    "missing": (_extends("none.yaml"), "No such file"),
    "misspelt": (_extends("bose.yaml"), "did you mean"),
    "other-case": (_extends("BASE.yaml"), "cannot be read"),
    "other-suffix": (_extends("base.txt"), "is not a scenario file"),
    "no-suffix": (_extends("base"), "is not a scenario file"),
    "empty": (_extends(""), "must be the name of a file"),
    "space": (_extends(" "), "must be the name of a file"),
    "dot": (_extends("."), "is not a scenario file"),
    "newline": (_extends("a\\nb.yaml"), "must be the name of a file"),
    "nul": (_extends("base.yaml\\0"), "must be the name of a file"),
    "escape": (_extends("\\e[2J.yaml"), "must be the name of a file"),
    "override": (_extends("\u202elmay.yaml"), "must be the name of a file"),
    "long": (_extends("x" * 300 + ".yaml"), "cannot be"),
    "itself": (_extends("a.yaml"), "a circle"),
    "itself-by-dots": (_extends("./x/../a.yaml"), "a circle"),
    "circle-of-2": (_extends("b.yaml", b=_TO_A), "leads back to a.yaml: a circle"),
    "circle-of-3": (
        _extends("b.yaml", b="gbviz: 1\nextends: c.yaml\n", c=_TO_A),
        "leads back to a.yaml: a circle",
    ),
    "circle-below": (
        _extends("b.yaml", b="gbviz: 1\nextends: b.yaml\n"),
        "leads back to b.yaml: a circle",
    ),
    "hard-link": (_hard_link, "a circle"),
    "chain-of-17": (_chain(17), "is the last of 16 files"),
    "chain-of-10000": (_chain(10_000), "is the last of 16 files"),
    "link-out": (_linked("../secret.yaml"), "is outside the folder of the scenario"),
    "link-to-passwd": (_linked("/etc/passwd"), "is outside the folder of the scenario"),
    "link-to-zero": (_linked("/dev/zero"), "is outside the folder of the scenario"),
    "link-to-memory": (_linked("/proc/self/mem"), "is outside the folder of the scenario"),
    "link-to-itself": (_linked("b.yaml"), "is a link that leads back to itself"),
    "link-to-nothing": (_linked("none.yaml"), "cannot be read: No such file"),
    "linked-folder": (_linked_folder, "is outside the folder of the scenario"),
    "folder": (_folder, "is a folder, not a file"),
    "pipe": (_pipe, "is a pipe or device, not a file"),
    "large": (_large, "makes the files larger than"),
    "base-empty": (_extends("b.yaml", b=""), "the file is empty"),
    "base-list": (_extends("b.yaml", b="- a"), "does not hold fields"),
    "base-anchors": (_extends("b.yaml", b="gbviz: 1\nseed: &a 7\n"), "anchors (&) are not"),
    "base-unknown": (_extends("b.yaml", b="gbviz: 1\nsede: 7\n"), "sede: is not known"),
    "base-newer": (_extends("b.yaml", b="gbviz: 2\n"), "was made by a newer gbviz"),
    "base-no-version": (_extends("b.yaml", b="seed: 7\n"), "gbviz: is missing"),
    "is-zero": (_itself("/dev/zero"), "is a pipe or device, not a file"),
    "is-null": (_itself("/dev/null"), "is a pipe or device, not a file"),
    "is-itself": (_itself("a.yaml"), "is a link that leads back to itself"),
    "is-nothing": (_itself("none.yaml"), "cannot be read: No such file"),
    "is-a-folder": (lambda folder: (folder / "a.yaml").mkdir(), "is a folder, not a file"),
    "is-a-pipe": (lambda folder: os.mkfifo(folder / "a.yaml"), "is a pipe or device, not a file"),
    "is-missing": (lambda _folder: None, "cannot be read: No such file"),
    "right": (_extends("base.yaml"), ""),
    "right-below": (_below, ""),
    "right-link": (_linked("base.yaml"), ""),
    "right-emoji": (_extends("\U0001f525.yaml", **{"\U0001f525": HEAD.decode()}), ""),
    "right-chain": (_chain(14), ""),
}


def planted(name: str, place: Path) -> Path:
    """The file of a case, made in a folder of its own below a place."""
    folder = place / "root"
    folder.mkdir(parents=True)
    (place / "secret.yaml").write_bytes(HEAD)
    TREES[name][0](folder)
    return folder / "a.yaml"
