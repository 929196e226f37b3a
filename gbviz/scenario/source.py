"""One file of a scenario: opened with care, read by its suffix, its fields found again."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gbviz.errors import FileFault, ScenarioError, nearest
from gbviz.scenario.json_strict import load_json, locate_json
from gbviz.scenario.strict import MOST_BYTES, Mark, decoded
from gbviz.scenario.strict import Path as Field
from gbviz.scenario.yaml_subset import load_yaml, locate_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIXES = (".yaml", ".yml", ".json")
CIRCLE = "is a link that leads back to itself"
_MOST_SIBLINGS = 2000


@dataclass(frozen=True, slots=True)
class Source:
    """One text and what it says.

    Parameters
    ----------
    file
        What the user calls it.
    text
        All of it.
    data
        Its values: a dict.
    is_json
        Which of the two forms it has.
    """

    file: str
    text: str
    data: dict[str, Any]
    is_json: bool

    def marks(self, fields: Iterable[Field]) -> dict[Field, Mark]:
        """Where fields stand. Reads the text once more: for when something is wrong with it."""
        return (locate_json if self.is_json else locate_yaml)(self.text, fields)


def source(path: Path, file: str | None = None) -> Source:
    """The values of a file, which nothing but its suffix tells YAML or JSON.

    Parameters
    ----------
    path
        Where it is.
    file
        What to call it in messages; None = the path.

    Raises
    ------
    ScenarioError
        It cannot be opened, is no regular file, too large, no UTF-8, neither YAML nor JSON, or
        holds no mapping.
    """
    name = str(path) if file is None else file
    as_json = is_json(path, name)
    return parsed(read_bytes(path, name), name, is_json=as_json)


def is_json(path: Path, file: str | None = None) -> bool:
    """Whether a file's suffix says JSON; no suffix of ours is refused.

    Raises
    ------
    ScenarioError
        The suffix says neither YAML nor JSON.

    Examples
    --------
    >>> is_json(Path("a.json")), is_json(Path("a.yml"))
    (True, False)
    """
    if path.suffix.lower() not in SUFFIXES:
        file = str(path) if file is None else file
        raise one_fault(file, "is not a scenario file", f"name it {', '.join(SUFFIXES)}")
    return path.suffix.lower() == ".json"


def parsed(data: bytes, file: str, *, is_json: bool) -> Source:
    """The values of a file's bytes.

    Raises
    ------
    ScenarioError
        As `source`.

    Examples
    --------
    >>> parsed(b"gbviz: 1", "a.yaml", is_json=False).data
    {'gbviz': 1}
    """
    text = decoded(data, file)
    found = (load_json if is_json else load_yaml)(text, file)
    if not isinstance(found, dict):
        form = '{"gbviz": 1, ...}' if is_json else "gbviz: 1"
        fault = FileFault(file, 1, 1, "", "does not hold fields", f"start with {form}")
        raise ScenarioError([fault])
    return Source(file, text, found, is_json)


def read_bytes(path: Path, file: str) -> bytes:
    """What a regular file holds, up to the largest size that is read.

    A pipe or device is refused before anything is read from it, so that none can block.

    Raises
    ------
    ScenarioError
        It cannot be opened or read, is no regular file or too large.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise one_fault(file, CIRCLE) from None
        hint = _sibling(path) if error.errno == errno.ENOENT else ""
        raise one_fault(file, f"cannot be read: {error.strerror}", hint) from None
    except ValueError:
        raise one_fault(file, "is not a name that a file can have") from None
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            kind = "folder" if stat.S_ISDIR(info.st_mode) else "pipe or device"
            raise one_fault(file, f"is a {kind}, not a file")
        if info.st_size > MOST_BYTES:
            raise one_fault(file, f"is larger than {MOST_BYTES // 2**20} MiB")
        with os.fdopen(handle, "rb", closefd=False) as stream:
            return stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise one_fault(file, f"cannot be read: {error.strerror}") from None
    finally:
        os.close(handle)


def one_fault(file: str, message: str, hint: str = "") -> ScenarioError:
    """The error of a file that is wrong as a whole."""
    return ScenarioError([FileFault(file, 0, 0, "", message, hint)])


def _sibling(path: Path) -> str:
    """The file beside it that has nearly this name."""
    try:
        names = islice((other.name for other in path.parent.iterdir()), _MOST_SIBLINGS)
        stems = {Path(name).stem: name for name in names if name.lower().endswith(SUFFIXES)}
    except (OSError, ValueError):
        return ""
    found = nearest(path.stem, stems, cutoff=0.7)
    return f"did you mean {str(path.with_name(stems[found]))!r}?" if found else ""
