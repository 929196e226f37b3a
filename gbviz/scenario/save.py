"""Save a scenario to its file: what the user wrote around the changes stays as it is."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gbviz.errors import InputError, ScenarioError
from gbviz.scenario.atomic import save_atomic
from gbviz.scenario.document import document, revised, whole_cluster
from gbviz.scenario.emit import text_of
from gbviz.scenario.extends import KEY as EXTENDS
from gbviz.scenario.extends import read_chain
from gbviz.scenario.file import unchecked
from gbviz.scenario.patch import patched
from gbviz.scenario.scenario import Scenario
from gbviz.scenario.source import Source, is_json, parsed, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Document = dict[str, Any]

# Files of which this process has made a backup: one `name~` holds what was there before it began.
_backed_up: set[Path] = set()


@dataclass(frozen=True, slots=True)
class Saved:
    """What saving did.

    Parameters
    ----------
    path
        The file.
    text
        What it holds now.
    backup
        What it held before, None where nothing was there or a backup was made earlier.
    note
        What the user should know, "" if nothing: comments were lost, and where they still are.
    """

    path: Path
    text: str
    backup: Path | None
    note: str = ""


def save(what: Scenario | Mapping[str, Any], path: str | os.PathLike[str]) -> Saved:
    """Save a scenario, or the fields of a file, as YAML or JSON by the file's suffix.

    Over a file that is there only what differs is changed: comments, order, units, presets and
    what it `extends` stay. A scenario that was read from another file is saved with that file's
    comments.

    Parameters
    ----------
    what
        A scenario, whatever may be wrong with its jobs, or a file's fields.
    path
        Where to.

    Raises
    ------
    ScenarioError
        The scenario has a value that no file may have.
    InputError
        The file cannot be written; what was there is unchanged.

    Notes
    -----
    The first save of a file keeps what it held as `name~`. Whether somebody else has changed the
    file since it was read is for the caller to ask.
    """
    target = Path(path)
    as_json = is_json(target)
    base, why = _base(what, target, as_json=as_json)
    old = base.text if base is not None else None
    for number, new in enumerate(_candidates(what, base, target)):
        text = _json(new) if as_json else _yaml(new, old)
        says = _fault(what, new, target, text.encode())
        if says is None:
            lost = old is not None and not as_json and (number > 1 or text == text_of(new))
            return _write(target, text, why or ("comments could not be kept" if lost else ""))
        last = says
    raise last


def _candidates(
    what: Scenario | Mapping[str, Any], base: Source | None, target: Path
) -> Iterator[Document]:
    """What the file may hold, from what changes it least to what depends on nothing."""
    if not isinstance(what, Scenario):
        yield dict(what)
        return
    fresh = document(what)
    if base is not None:
        before = document(unchecked(read_chain(target, base.text.encode())))
        new = revised(base.data, before, fresh)
        yield new
        yield {**new, "cluster": whole_cluster(what.cluster)}
    yield fresh
    yield {**fresh, "cluster": whole_cluster(what.cluster)}


def _fault(
    what: Scenario | Mapping[str, Any], new: Document, target: Path, data: bytes
) -> ScenarioError | None:
    """Why a text does not say what is to be saved, None if it does."""
    try:
        if not isinstance(what, Scenario):
            parsed(data, str(target), is_json=is_json(target))
            return None
        same = document(unchecked(read_chain(target, data))) == document(what)
    except ScenarioError as error:
        return error
    return None if same else ScenarioError([])


def _base(
    what: Scenario | Mapping[str, Any], target: Path, *, as_json: bool
) -> tuple[Source | None, str]:
    """The text to change: what is in the file, or the one that the scenario comes from."""
    own = not isinstance(what, Scenario) or what.path is None or _one_file(what.path, target)
    try:
        if own:
            if not target.exists():
                return None, ""
            text = read_bytes(target, str(target))
        else:
            assert isinstance(what, Scenario)
            assert what.path is not None
            if what.text is None or is_json(what.path) != as_json:
                return None, ""
            text = what.text.encode()
        found = parsed(text, str(target), is_json=as_json)
        if isinstance(what, Scenario):
            unchecked(read_chain(target, text))
    except ScenarioError as error:
        if own:
            return None, f"comments were not kept, since the file could not be read: {error}"
        return None, ""
    return found, ""


def _one_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _yaml(new: Document, old: str | None) -> str:
    return (patched(old, new) if old is not None else None) or text_of(new)


def _json(new: Document) -> str:
    return json.dumps(new, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _write(target: Path, text: str, note: str) -> Saved:
    real = target.resolve()
    backup = save_atomic(target, text.encode(), backup=bool(note) or real not in _backed_up)
    _backed_up.add(real)
    if note and backup is not None:
        note += f"; the file as it was is {backup}"
    return Saved(target, text, backup, note)
