"""The seal of a folder: what it was made from, and that it is whole."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from gbviz import __version__
from gbviz.report.document import to_json
from gbviz.report.outcome import Outcome, from_plain
from gbviz.report.shelf import REPORT, SCENARIO
from gbviz.scenario.document import document
from gbviz.scenario.emit import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gbviz.scenario import Scenario

# Written last: a folder without it is not whole.
SEAL = "made.json"


def seal(files: Mapping[str, bytes], outcome: Outcome, at_s: float | None) -> bytes:
    """The seal of a folder's files.

    Parameters
    ----------
    files
        What is in the folder, by name.
    outcome
        What it adds to a table of many.
    at_s
        The time that was asked for, None for the end.
    """
    made = {
        "gbviz": __version__,
        "at_s": at_s,
        "files": {name: _hash(data) for name, data in files.items()},
        "outcome": outcome.plain(),
        "outcome_sha256": _hash(to_json(outcome.plain()).encode()),
    }
    return f"{to_json(made)}\n".encode()


def kept(folder: Path, scenario: Scenario, at_s: float | None) -> Outcome | None:
    """The outcome in a folder that is whole, and is of this scenario; None where it is not.

    Every file is read and compared with the seal: that it exists proves nothing.
    """
    try:
        made: dict[str, Any] = json.loads((folder / SEAL).read_bytes())
        whole = all(
            _hash((folder / name).read_bytes()) == hash_ for name, hash_ in made["files"].items()
        )
        same = made["files"][SCENARIO] == _hash(text_of(document(scenario)).encode())
        told = made["outcome_sha256"] == _hash(to_json(made["outcome"]).encode())
        if (
            whole
            and same
            and told
            and REPORT in made["files"]
            and made["gbviz"] == __version__
            and made["at_s"] == at_s
        ):
            return from_plain(made["outcome"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return None


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
