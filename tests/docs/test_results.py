"""docs/results.md: every key of every shipped scenario's result stands there, and no other."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from gbviz.assets import scenario_paths
from gbviz.report.compare import Side, compare
from gbviz.report.document import to_json
from gbviz.report.folder import folder_files
from gbviz.report.seal import SEAL
from gbviz.report.seen import answer_of
from gbviz.report.shelf import INDEX, JUNIT
from gbviz.scenario.file import load
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (ROOT / "docs/results.md").read_text(encoding="utf-8")
# Words in its code that are no keys: values, files, commands.
_OTHER = {"ok", "running", "degraded", "stalled", "aborted", "restarting", "finished", "compute"}
_OTHER |= {"HBM", "NVLink", "InfiniBand", "fail", "degrade", "tokens", "runs", "errors", "error"}
_OTHER |= {"whatif", "job", "compare"}


def keys(value: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """All keys of a document, those aside that are names of jobs, and reasons' own."""
    if isinstance(value, list):
        for one in value:
            yield from keys(one, path)
    elif isinstance(value, dict):
        for key, one in value.items():
            if path[:1] != ("totals",) or len(path) < 2:
                yield key
            if key != "reason":
                yield from keys(one, (*path, key))


@cache
def all_keys() -> frozenset[str]:
    found: set[str] = set()
    sides = []
    for path in scenario_paths():
        scenario = load(path)
        document = json.loads(to_json(answer_of(scenario)[1]))
        found |= set(keys(document))
        sides.append(Side(scenario, document))
    found |= set(keys(compare(sides[0], sides[1])))
    return frozenset(found)


def named() -> set[str]:
    """Words of its code that could be keys, `a.b` as both."""
    said = re.findall(r"`([A-Za-z0-9_.\[\]]+)`", PAGE)
    words = [word for word in said if not word.endswith((".json", ".csv", ".html", ".xml"))]
    return {part.removesuffix("[]") for word in words for part in word.split(".") if part}


def test_every_key_of_a_result_is_explained() -> None:
    assert all_keys() - named() == set()


def test_nothing_else_is_explained() -> None:
    assert named() - all_keys() - _OTHER == set()


def test_every_file_of_a_run_is_there() -> None:
    seen, found = answer_of(load(scenario_paths()[0]))
    rows = set(re.findall(r"^\| `DIR/([^`]+)`", PAGE, re.MULTILINE))
    assert rows == {INDEX, JUNIT} | {f"NAME/{name}" for name in [*folder_files(seen, found), SEAL]}
