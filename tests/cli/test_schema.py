"""`gbviz schema`: one JSON Schema on standard output."""

from __future__ import annotations

import json

from gbviz.scenario.schema import schema
from tests.cli import answer


def test_the_schema() -> None:
    assert json.loads(answer("schema")) == schema()
    assert answer("schema", "--json") == answer("schema")
