"""Save a scenario to its file: what the user wrote around the changes stays as it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gbviz.errors import InputError, ScenarioError
from gbviz.scenario.atomic import save_atomic
from gbviz.scenario.document import complete, document, revised
from gbviz.scenario.emit import text_of
from gbviz.scenario.extends import read_chain
from gbviz.scenario.file import unchecked
from gbviz.scenario.patch import patched
from gbviz.scenario.scenario import Scenario
from gbviz.scenario.source import Source, is_json, parsed, read_bytes

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

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
        A scenario, whatever its jobs may contradict, or a file's fields.
    path
        Where to.

    Raises
    ------
    ScenarioError
        Something has a value that no file may have.
    InputError
        The file cannot be written; what was there is unchanged.

    Notes
    -----
    The first save of a file keeps what it held as `name~`. Whether somebody else has changed the
    file since it was read is for the caller to ask.
    """
    target = Path(path)
    as_json = is_json(target)
    try:
        target.resolve()
    except (OSError, ValueError, RuntimeError):
        raise InputError("is not a name that a file can have", where=str(path)) from None
    base, note = _base(what, target, as_json=as_json)
    refused: ScenarioError | None = None
    for new in _candidates(what, base, target):
        old = base.text if base is not None and not as_json else None
        text = None if old is None else patched(old, new)
        if text is None and old is not None and "#" in old:
            note = note or "comments could not be kept"
        text = _fresh(new, as_json=as_json) if text is None else text
        try:
            if _says(what, target, text):
                return _write(target, text, note)
        except ScenarioError as error:
            refused = error
    raise refused or InputError("cannot be saved so that it says the same", where=str(path))


def _candidates(
    what: Scenario | Mapping[str, Any], base: Source | None, target: Path
) -> Iterator[Document]:
    """What the file may hold, from what changes it least to what depends on nothing."""
    if not isinstance(what, Scenario):
        yield _plain(what)
        return
    fresh = document(what)
    after = complete(what)
    whole = {"cluster": after["cluster"]}
    if base is not None:
        before = complete(unchecked(read_chain(target, base.text.encode())))
        new = revised(base.data, before, after, fresh)
        yield new
        yield new | whole
    yield fresh
    yield fresh | whole


def _says(what: Scenario | Mapping[str, Any], target: Path, text: str) -> bool:
    """Whether a file with that text says what is to be saved.

    Raises
    ------
    ScenarioError
        It says nothing that can be read.
    """
    data = text.encode("utf-8", "surrogatepass")
    if not isinstance(what, Scenario):
        return parsed(data, str(target), is_json=is_json(target)).data == _plain(what)
    return document(unchecked(read_chain(target, data))) == document(what)


def _plain(what: Mapping[str, Any]) -> Document:
    """Fields as plain values: lists for tuples, texts for keys."""
    try:
        found: Document = json.loads(json.dumps(dict(what)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be saved: {error}") from None
    return found


def _base(
    what: Scenario | Mapping[str, Any], target: Path, *, as_json: bool
) -> tuple[Source | None, str]:
    """The text to change, what is in the file or what the scenario was read from; and a note."""
    source = what.path if isinstance(what, Scenario) else None
    own = source is None or source.resolve() == target.resolve()
    if own and not target.exists():
        return None, ""
    elsewhere = what.text if isinstance(what, Scenario) and not own else None
    if source is not None and not own and (elsewhere is None or is_json(source) != as_json):
        return None, ""
    try:
        data = read_bytes(target, str(target)) if elsewhere is None else elsewhere.encode()
        found = parsed(data, str(target), is_json=as_json)
        if isinstance(what, Scenario):
            unchecked(read_chain(target, data))
    except ScenarioError as error:
        says = f"comments were not kept, since the file could not be read: {error.faults[0]}"
        return None, says if own else ""
    return found, ""


def _fresh(new: Document, *, as_json: bool) -> str:
    return json.dumps(new, indent=1, ensure_ascii=False) + "\n" if as_json else text_of(new)


def _write(target: Path, text: str, note: str) -> Saved:
    real = target.resolve()
    backup = save_atomic(target, text.encode(), backup=bool(note) or real not in _backed_up)
    _backed_up.add(real)
    if note and backup is not None:
        note += f"; the file as it was is {backup}"
    return Saved(target, text, backup, note)
