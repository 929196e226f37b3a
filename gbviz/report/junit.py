"""Expectations as JUnit XML: what CI servers show, one test each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Sequence

# What XML 1.0 (section 2.2) cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(name: str, place: str, rows: Sequence[dict[str, Any]]) -> str:
    """One suite with a test for each expectation of a result; the same bytes for the same result.

    Parameters
    ----------
    name
        Of the scenario.
    place
        The file that it was read from.
    rows
        `expect` of its result document.

    Examples
    --------
    >>> row = {"expect": "job a: slowdown <= 1.1", "value": 1.25, "passed": False}
    >>> print(junit("A leaf", "leaf.yaml", [row]))
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites tests="1" failures="1">
      <testsuite name="A leaf" tests="1" failures="1">
        <testcase classname="leaf.yaml" name="job a: slowdown &lt;= 1.1">
          <failure message="found 1.25" />
        </testcase>
      </testsuite>
    </testsuites>
    """
    counts = {"tests": str(len(rows)), "failures": str(sum(not row["passed"] for row in rows))}
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": _plain(name), **counts})
    for row in rows:
        about = {"classname": _plain(place), "name": _plain(row["expect"])}
        test = ET.SubElement(suite, "testcase", about)
        if not row["passed"]:
            ET.SubElement(test, "failure", {"message": _plain(found_words(row))})
    ET.indent(root)
    text: bytes = ET.tostring(root, "utf-8", xml_declaration=True)
    return text.decode()


def found_words(row: dict[str, Any]) -> str:
    """What an expectation found, in words.

    Examples
    --------
    >>> found_words({"value": 1.25}), found_words({"value": None, "reason": "it does not run"})
    ('found 1.25', 'found no value: it does not run')
    """
    if row["value"] is None:
        return f"found no value: {row['reason']}" if row.get("reason") else "found no value"
    return f"found {row['value']:g}"


def _plain(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
