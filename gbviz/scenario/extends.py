"""`extends: other.yaml`: a chain of files, each a variant of the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from gbviz.errors import FileFault, InputError, ScenarioError
from gbviz.scenario.migrate import migrated
from gbviz.scenario.source import CIRCLE, Source, is_json, one_fault, parsed, read_bytes, source
from gbviz.scenario.strict import MOST_BYTES
from gbviz.scenario.strict import Path as Field

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

KEY = "extends"
MOST_FILES = 16
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something wrong with a field, before it is known where the field stands.

    `at_key` is true where the key is wrong rather than the value.
    """

    field: Field
    message: str
    hint: str = ""
    at_key: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """A scenario's files: the one that was asked for, what it extends, what that extends.

    Parameters
    ----------
    sources
        At least one.
    data
        Their fields, merged: mappings key by key, all else from the first file that has it.
    """

    sources: tuple[Source, ...]
    data: dict[str, Any]

    def error(self, complaints: Iterable[Complaint], unlisted: int = 0) -> ScenarioError:
        """Complaints at the places of their fields, in the order of the files."""
        listed = list(complaints)
        at = [self._home(complaint.field) for complaint in listed]
        marks = [
            source.marks(field for number, field in at if number == own)
            if any(number == own for number, _ in at)
            else {}
            for own, source in enumerate(self.sources)
        ]
        placed = []
        for (number, field), complaint in zip(at, listed, strict=True):
            mark = marks[number].get(field)
            exact = len(field) == len(complaint.field)
            line, column = (0, 0)
            if mark is not None:
                line, column = mark.key if complaint.at_key or not exact else mark.value
            fault = FileFault(
                self.sources[number].file,
                line,
                column,
                spelt(complaint.field),
                _short(complaint.message),
                _short(complaint.hint),
            )
            placed.append((number, line, column, fault))
        placed.sort(key=lambda entry: entry[:3])
        return ScenarioError([fault for *_, fault in placed], unlisted)

    def _home(self, field: Field) -> tuple[int, Field]:
        """The file that says what a field is, and as much of the field's path as it has."""
        owners: list[tuple[int, Any]] = [(n, source.data) for n, source in enumerate(self.sources)]
        for length, part in enumerate(field):
            inner: list[tuple[int, Any]] = []
            for number, box in owners:
                if not _has(box, part):
                    continue
                inner.append((number, box[part]))
                # What is no mapping hides all that the files after it say.
                if not isinstance(box[part], dict):
                    break
            if not inner:
                return owners[0][0], field[:length]
            owners = inner if isinstance(inner[0][1], dict) else inner[:1]
        return owners[0][0], field


def _has(box: Any, part: str | int) -> bool:
    if isinstance(part, int):
        return isinstance(box, list) and part < len(box)
    return isinstance(box, dict) and part in box


def spelt(field: Field) -> str:
    """A field's path as people write it.

    Examples
    --------
    >>> spelt(("jobs", 0, "batch", "micro"))
    'jobs[0].batch.micro'
    """
    text = ""
    for part in field:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if len(part) <= 60 else part[:60] + "...")
    return text


def _short(text: str) -> str:
    """A message that stays one where it quotes a megabyte of the file."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def read_chain(path: str | os.PathLike[str], first: bytes | None = None) -> Chain:
    """A file and all that it extends, read and merged.

    Parameters
    ----------
    path
        The file.
    first
        What to take for its contents, None to read them.

    Raises
    ------
    ScenarioError
        A file cannot be read (see `source`), or extends a file outside the folder of the first one,
        itself, or too many.
    """
    asked = Path(path)
    try:
        where = asked.resolve()
    except RuntimeError:
        raise one_fault(str(path), CIRCLE) from None
    except (OSError, ValueError):
        raise one_fault(str(path), "is not a name that a file can have") from None
    as_json = is_json(asked)
    data = read_bytes(asked, str(path)) if first is None else first
    read = [_current(parsed(data, str(path), is_json=as_json))]
    seen = [where]
    while KEY in read[-1].data:
        where, name = _next(read[-1], seen)
        try:
            found = source(where, name)
        except ScenarioError as error:
            if error.faults[0].line:
                raise
            fault = error.faults[0]
            raise _refusal(read[-1], f"{fault.file} {fault.message}", fault.hint) from None
        read.append(_current(found))
        seen.append(where)
        if sum(len(one.text) for one in read) > MOST_BYTES:
            raise _refusal(read[-2], f"makes the files larger than {MOST_BYTES // 2**20} MiB")
    return Chain(tuple(read), _merged([one.data for one in read]))


def _current(found: Source) -> Source:
    """A source in the current format version."""
    try:
        return replace(found, data=migrated(found.data))
    except InputError as error:
        complaint = Complaint((error.where,), error.message, error.hint)
        raise Chain((found,), found.data).error([complaint]) from None


def _next(found: Source, seen: Sequence[Path]) -> tuple[Path, str]:
    """The file that the last file seen extends: where it is, and what to call it."""
    stated = found.data[KEY]
    if not isinstance(stated, str) or not stated.strip() or not stated.isprintable():
        raise _refusal(found, "must be the name of a file beside this one")
    if len(stated) > _LONGEST:
        raise _refusal(found, f"has more than {_LONGEST} characters")
    if PurePosixPath(stated).is_absolute() or set("\\:") & set(stated):
        raise _refusal(found, f"{stated!r} is not relative", "name a file relative to this one")
    if len(seen) >= MOST_FILES:
        raise _refusal(found, f"is the last of {MOST_FILES} files, and more are not read")
    # From the real place of this file, so that no link leads out of the folder unseen.
    try:
        real = (seen[-1].parent / stated).resolve()
    except RuntimeError:
        raise _refusal(found, f"{stated!r} {CIRCLE}") from None
    except OSError:
        raise _refusal(found, f"{stated!r} cannot be followed") from None
    if not real.is_relative_to(seen[0].parent):
        hint = f"keep it in {seen[0].parent}"
        raise _refusal(found, f"{stated!r} is outside the folder of the scenario", hint)
    if real in seen:
        raise _refusal(found, f"{stated!r} leads back to {real.name}: a circle")
    return real, str(Path(found.file).parent / stated)


def _refusal(found: Source, message: str, hint: str = "") -> ScenarioError:
    return Chain((found,), found.data).error([Complaint((KEY,), message, hint)])


def _merged(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Documents over each other, the first on top."""
    found: dict[str, Any] = {}
    for document in reversed(documents):
        found = _over(found, document)
    found.pop(KEY, None)
    return found


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    found = dict(below)
    for key, value in above.items():
        old = found.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            value = _over(old, value)
        found[key] = value
    return found
