"""What a run leaves on disk: a folder for each scenario, with tables and the whole result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from gbviz.engine import loads
from gbviz.errors import InputError
from gbviz.report.cluster_sheets import cable_sheet, job_sheet
from gbviz.report.csv_text import rows_as_csv
from gbviz.report.document import to_json
from gbviz.report.junit import junit
from gbviz.report.timeline import timeline_csv
from gbviz.scenario.atomic import save_atomic
from gbviz.scenario.document import document as fields_of
from gbviz.scenario.emit import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gbviz.engine import Snapshot
    from gbviz.engine.timeline import Timeline
    from gbviz.report.sheets import Sheet

# The scenario that was run, in full; its whole result.
SCENARIO, RESULT = "scenario.yaml", "result.json"
# Bytes that every disk takes for a name, with room for a number behind.
_LONGEST = 100
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def folder_names(paths: Sequence[Path]) -> list[str]:
    """A name for the folder of each file: its own without suffix, numbered where two are alike.

    Examples
    --------
    >>> from pathlib import Path
    >>> folder_names([Path("a/leaf.yaml"), Path("b/LEAF.yaml"), Path("one two?.yaml")])
    ['leaf', 'LEAF-2', 'one-two']
    """
    taken: set[str] = set()
    names = []
    for path in paths:
        stem = re.sub(r"[^\w.-]+", "-", path.stem).strip("-.")
        stem = stem.encode()[:_LONGEST].decode(errors="ignore") or "scenario"
        stem = f"{stem}-" if _RESERVED.fullmatch(stem) else stem
        name, number = stem, 1
        # Disks that take capitals for small letters would put both into one folder.
        while name.lower() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.lower())
        names.append(name)
    return names


def folder_files(
    snapshot: Snapshot, timeline: Timeline | None, found: dict[str, Any]
) -> dict[str, bytes]:
    """All files of a scenario's folder, by name; `result.json` is the last.

    Parameters
    ----------
    snapshot, timeline
        Of the scenario; None for one in which no time passes.
    found
        Their result document.
    """
    scenario = snapshot.scenario
    place = scenario.path.name if scenario.path else scenario.name
    cables = cable_sheet(snapshot, loads(snapshot), loads(snapshot, base=True))
    texts = {
        "jobs.csv": _whole(job_sheet(snapshot)),
        "links.csv": _whole(cables),
        "timeline.csv": timeline_csv(timeline),
        SCENARIO: text_of(fields_of(scenario)),
        "junit.xml": junit(scenario.name, place, found["expect"]),
        RESULT: f"{to_json(found)}\n",
    }
    return {name: text.encode() for name, text in texts.items()}


def _whole(sheet: Sheet) -> str:
    return rows_as_csv(sheet.titles(), sheet.rows(np.arange(sheet.n)))


def make_folder(folder: Path) -> None:
    """Make a folder and those that it is in, where they are not there.

    Raises
    ------
    InputError
        It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            f"cannot be made: {reason}", where=str(folder), hint="choose another folder with -o"
        ) from error


def save_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, each whole or not at all, in their order.

    Raises
    ------
    InputError
        The folder cannot be made, or a file not be written.
    """
    make_folder(folder)
    for name, data in files.items():
        save_atomic(folder / name, data, backup=False)
