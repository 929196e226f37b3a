"""Expectations as JUnit XML: what CI servers show, one test each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Sequence

# What XML 1.0 (section 2.2) cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Limit(NamedTuple):
    """An expectation in words, whether it holds, and what was found."""

    expect: str
    passed: bool
    found: str


class Suite(NamedTuple):
    """The expectations of one scenario.

    Parameters
    ----------
    name
        Of the scenario.
    place
        The file that it was read from.
    limits
        Its expectations.
    error
        Why it could not be run, "" where it could.
    """

    name: str
    place: str
    limits: tuple[Limit, ...]
    error: str = ""


def limits_of(rows: Sequence[dict[str, Any]]) -> tuple[Limit, ...]:
    """The expectations of a result document."""
    return tuple(Limit(row["expect"], row["passed"], found_words(row)) for row in rows)


def junit(suites: Sequence[Suite]) -> str:
    """A suite for each scenario, a test for each expectation; the same bytes for the same result.

    Examples
    --------
    >>> test = Limit("job a: slowdown <= 1.1", False, "found 1.25")
    >>> print(junit([Suite("A leaf", "leaf.yaml", (test,))]))
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites tests="1" failures="1">
      <testsuite name="A leaf" tests="1" failures="1">
        <testcase classname="leaf.yaml" name="job a: slowdown &lt;= 1.1">
          <failure message="found 1.25" />
        </testcase>
      </testsuite>
    </testsuites>
    """
    root = ET.Element("testsuites", _counts(suites))
    for one in suites:
        about = {"name": _plain(one.name), **_counts([one])}
        suite = ET.SubElement(root, "testsuite", about)
        for test in one.limits:
            case = {"classname": _plain(one.place), "name": _plain(test.expect)}
            element = ET.SubElement(suite, "testcase", case)
            if not test.passed:
                ET.SubElement(element, "failure", {"message": _plain(test.found)})
        if one.error:
            case = {"classname": _plain(one.place), "name": "the file can be run"}
            element = ET.SubElement(suite, "testcase", case)
            ET.SubElement(element, "error", {"message": _plain(one.error)})
    ET.indent(root)
    text: bytes = ET.tostring(root, "utf-8", xml_declaration=True)
    return text.decode()


def _counts(suites: Sequence[Suite]) -> dict[str, str]:
    errors = sum(bool(one.error) for one in suites)
    failures = sum(not test.passed for one in suites for test in one.limits)
    tests = sum(len(one.limits) for one in suites) + errors
    found = {"tests": str(tests), "failures": str(failures)}
    return found | ({"errors": str(errors)} if errors else {})


def found_words(row: dict[str, Any]) -> str:
    """What an expectation found, in words.

    Examples
    --------
    >>> found_words({"value": 1.25}), found_words({"value": None, "reason": "it does not run"})
    ('found 1.25', 'found no value: it does not run')
    >>> found_words({"value": 4 / 3}), found_words({"value": 0.9999999})  # not 1: that may fail
    ('found 1.33333', 'found 0.9999999')
    """
    if row["value"] is None:
        return f"found no value: {row['reason']}" if row.get("reason") else "found no value"
    value = row["value"]
    told = f"{value:g}"
    return f"found {told if float(told) != round(value) else f'{value:.12g}'}"


def _plain(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
