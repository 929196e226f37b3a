"""Format versions: older files become newer ones, newer ones are refused."""

from __future__ import annotations

from typing import Any

import pytest

from gbviz.errors import InputError
from gbviz.scenario.migrate import CURRENT, MIGRATIONS, migrated
from tests.scenario.samples import EXAMPLE, scenario, told


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "gbviz: 2",
            "1:8: gbviz: was made by a newer gbviz: it has format version 2, and this one reads up"
            " to 1, install a newer gbviz",
        ),
        ("gbviz: 0", "1:8: gbviz: there is no format version 0, write 'gbviz: 1'"),
        ("gbviz: -1", "1:8: gbviz: there is no format version -1"),
        (
            "seed: 1",
            "1:1: gbviz: is missing: a file says which format version it has, write 'gbviz: 1'",
        ),
        ("gbviz: '1'", "1:8: gbviz: must be the format version, a whole number (got '1')"),
        ("gbviz: 1.0", "1:8: gbviz: must be the format version"),
        ("gbviz: true", "1:8: gbviz: must be the format version"),
        ("gbviz:", "1:7: gbviz: must be the format version"),
    ],
)
def test_versions_that_are_not_read(text: str, says: str) -> None:
    (line,) = told(text + "\nanything: is not looked at\n")
    assert says in line


def test_the_current_version_is_read_as_it_is() -> None:
    assert scenario(EXAMPLE).seed == 7
    document = {"gbviz": CURRENT, "seed": 1}
    assert migrated(document) is document


def test_there_is_a_step_from_every_older_version() -> None:
    assert set(MIGRATIONS) == set(range(1, CURRENT))


def test_older_versions_go_step_by_step() -> None:
    def first(document: dict[str, Any]) -> dict[str, Any]:
        document["sead"] = document.pop("seat")
        return document

    def second(document: dict[str, Any]) -> dict[str, Any]:
        document["seed"] = document.pop("sead") + 1
        return document

    old = {"gbviz": 1, "seat": 6}
    assert migrated(old, 3, {1: first, 2: second}) == {"gbviz": 3, "seed": 7}
    assert migrated({"gbviz": 2, "sead": 6}, 3, {1: first, 2: second})["seed"] == 7
    assert old == {"gbviz": 1, "seat": 6}
    with pytest.raises(InputError, match="format version 4, and this one reads up to 3"):
        migrated({"gbviz": 4}, 3, {})
