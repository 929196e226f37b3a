"""The oracle files beside the tests, and how a result is compared with a case."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ORACLES = Path(__file__).parent / "oracles"


def cases(file: str) -> list[dict[str, Any]]:
    """All cases of a file."""
    found: list[dict[str, Any]] = json.loads((ORACLES / f"{file}.json").read_text())["cases"]
    return found


def exact(file: str, *starts: str) -> list[dict[str, Any]]:
    """The exact cases whose names start with one of some words; all exact ones without words."""
    return [
        case
        for case in cases(file)
        if case["kind"] == "exact" and case["id"].startswith(starts or ("",))
    ]


def agrees(case: Mapping[str, Any], got: float | Mapping[str, float]) -> bool:
    """True where every expected number is met within the case's tolerance."""
    expected = case["expected"]
    wanted = expected if isinstance(expected, Mapping) else {"": expected}
    found = got if isinstance(got, Mapping) else {"": got}
    assert found.keys() == wanted.keys()
    by = 0.0 if case["tol_type"] == "rel" else case["tolerance"]
    share = case["tolerance"] if case["tol_type"] == "rel" else 0.0
    return all(
        math.isclose(found[name], value, rel_tol=0, abs_tol=max(by, share * abs(value)))
        for name, value in wanted.items()
    )
