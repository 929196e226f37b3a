"""The strict readers of YAML and JSON: what they take, what they refuse and where."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gbviz.errors import ScenarioError
from gbviz.scenario import json_strict, strict, yaml_subset
from gbviz.scenario.emit import inline, text_of
from gbviz.scenario.json_strict import load_json, locate_json
from gbviz.scenario.strict import decoded
from gbviz.scenario.yaml_subset import PARSER, PureParser, load_yaml, locate_yaml
from tests.scenario.samples import places, refused

if TYPE_CHECKING:
    from collections.abc import Callable

PARSERS = pytest.mark.parametrize("parser", [PARSER, PureParser], ids=["libyaml", "pure"])

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**28), 10**28)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.sampled_from(
        ["no", "on", "Yes", "null", "~", "1e3", "0x1F", "-", "- a", "a: b", "#", "<<"]
    )
    | st.sampled_from(["a #b", "a#b", " a", "a ", "...", "---", "%x", "@", "!a", "&a", "*a", "|"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
DOCUMENTS = st.dictionaries(TEXTS, VALUES, max_size=6)


def use(parser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_subset, "PARSER", parser)


def refusal(load: Callable[[str], Any], text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(text)
    return str(caught.value)


@PARSERS
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", "a"),
        ("010", 10),
        ("-7", -7),
        ("+7", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-400", 0.0),
        ("12:30:45", "12:30:45"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("~", None),
        ("NULL", None),
        ("True", True),
        ("FALSE", False),
        ("SE", "SE"),
        ("truE", "truE"),
        ("'no'", "no"),
        ('"10"', "10"),
        ('"\\u00e9\\U0001F600"', "é😀"),
        ("10min", "10min"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("leaf-0~spine-3#1", "leaf-0~spine-3#1"),
        ("leaf-0:73", "leaf-0:73"),
        ("spine-*", "spine-*"),
        ("[a, [b, {c: d}], ]", ["a", ["b", {"c": "d"}]]),
        ("{a: , b}", {"a": None, "b": None}),
        ("a:\n- 1\n- b: 2\n  c: 3\n", {"a": [1, {"b": 2, "c": 3}]}),
        ("a: |\n  x\n   y\nb: >\n  x\n  y\n", {"a": "x\n y\n", "b": "x y\n"}),
        ("--- # start\na: 1\n...\n", {"a": 1}),
        ("{'': 1}", {"": 1}),
        ("'<<': 1", {"<<": 1}),
    ],
)
def test_what_is_read(text: str, value: Any, parser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    use(parser, monkeypatch)
    found = load_yaml(text)
    assert found == value
    assert type(found) is type(value)


@PARSERS
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &x 1", "1:4: anchors (&) are not allowed"),
        ("a: 1\nb: *a", "2:4: aliases (*) are not allowed"),
        ("a: !!int 1", "1:4: tags (!) are not allowed"),
        ("! a", "1:1: tags (!) are not allowed"),
        ("<<: {a: 1}", "1:1: merge keys (<<) are not allowed"),
        ("a: 1\na: 2", "2:1: duplicate key 'a'"),
        ("{a: 1, 'a': 2}", "1:8: duplicate key 'a'"),
        ("1: a", '1:1: keys are text, quote it: "1"'),
        ("null: a", "1:1: keys are text"),
        ("? [a]\n: b", "1:3: keys are text, not lists or mappings"),
        (
            "yes: 1",
            "1:1: an unquoted yes is a truth value to some readers and text to others, write",
        ),
        ("a: Off", 'write false, or "Off" for the text'),
        ("a: .nan", "1:4: .nan is not a finite number"),
        ("a: -.INF", "1:4: -.INF is not a finite number"),
        ("a: 1e400", "1:4: 1e400 is too large"),
        ("a: " + "9" * 5000, "1:4: an integer of more than 30 digits is too long"),
        ("a: 0x" + "f" * 5000, "1:4: an integer of more than 30 digits is too long"),
        ("a: 1." + "0" * 5000, "1:4: a number of more than 100 digits is too long"),
        ("a: 1\n--- \nb: 1", "2:1: a second document is not allowed"),
        ("%YAML 1.2\n---\na: 1", "1:1: directives (%) are not allowed"),
        ("a:\n\tb: 1", "indent with spaces, not tabs"),
        ("a\x00b", "1:2: the character U+0000 is not allowed"),
        ("a: '\x1b[31m'", "1:5: the character U+001B is not allowed"),
        ("a: b: c", "1:5: cannot be read as YAML"),
        ("[a", "cannot be read as YAML"),
        ("a: 'x", "cannot be read as YAML"),
        ('a: "\\q"', "cannot be read as YAML"),
        ('a: "\\ud83d"', ":1:"),
        ('a: "\\U00110000"', ":1:"),
        ("", "1:1: the file is empty"),
        ("# nothing\n", "1:1: the file is empty"),
        ("- " * 33 + "a", ":1:65: is nested more than 32 deep"),
        ("@a", "1:1: cannot be read as YAML"),
        ("{fail: cdu-[0-1]}", 'put it in quotes: "cdu-[0-1]"'),
        ("{at: 1min, fail: *, for: 5min}", 'put it in quotes: "*"'),
        ("fail: *", 'put it in quotes: "*"'),
    ],
)
def test_what_is_refused(
    text: str, says: str, parser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(parser, monkeypatch)
    assert says in refusal(load_yaml, text)


def test_all_that_is_refused_is_told_at_once() -> None:
    found = refusal(load_yaml, "a: no\nb: &x 1\na: .nan\n").splitlines()
    assert [line.split(":")[1] for line in found] == ["1", "2", "3", "3"]
    with pytest.raises(ScenarioError) as caught:
        load_yaml("\n".join(["- no"] * 1000))
    assert len(caught.value.faults) == strict.MOST_REFUSALS
    assert str(caught.value).endswith("and 80 more faults")


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_yaml("[" * 32 + "]" * 32)
    assert load_json("[" * 32 + "]" * 32)
    for load in (load_yaml, load_json):
        assert ":1:33: is nested more than 32 deep" in refusal(load, "[" * 33 + "]" * 33)
        assert "nest" in refusal(load, "[" * 200_000)
    for module in (yaml_subset, json_strict):
        monkeypatch.setattr(module, "MOST_VALUES", 10)
    assert load_yaml("[1, 2, 3, 4, 5, 6, 7, 8, 9]") == load_json("[1, 2, 3, 4, 5, 6, 7, 8, 9]")
    for load in (load_yaml, load_json):
        assert "holds more than 10 values" in refusal(load, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]")
    monkeypatch.setattr(strict, "MOST_BYTES", 10)
    assert "is larger than 0 MiB" in refusal(lambda text: decoded(text.encode(), "f"), "a" * 11)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ScenarioError, match=r"^f:2:3: byte 0xff is not UTF-8"):
        decoded(b"a: 1\nb:\xff", "f")
    with pytest.raises(ScenarioError, match=r"^f:1:1: byte 0xff is not UTF-8"):
        decoded("a: 1".encode("utf-16"), "f")
    assert decoded(b"\xef\xbb\xbfa: 1", "f") == "a: 1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1, "a": 2}', "1:10: duplicate key 'a'"),
        ('{"b": {"\\u0061": 1,\n"a": 2}}', "2:1: duplicate key 'a'"),
        ('{"a": NaN, "b": [-Infinity]}', "1:7: NaN is not a finite number"),
        ('{"a": 1e400}', "1:7: 1e400 is too large"),
        ("[" + "9" * 5000 + "]", "1:2: an integer of more than 30 digits is too long"),
        ("[0." + "9" * 5000 + "]", "1:2: a number of more than 100 digits is too long"),
        ('["\\ud83d"]', "1:2: text holds half of a surrogate pair"),
        ('{"\\ude00": 1}', "1:2: text holds half of a surrogate pair"),
        ('{"a": 1,}', "no comma may stand before a closing bracket"),
        ("{'a': 1}", "JSON has no comments and no single quotes"),
        ("# a\n{}", "1:1: cannot be read as JSON"),
        ("", "1:1: the file is empty"),
        ("{} {}", "1:4: cannot be read as JSON"),
        ('{"a": "\x00"}', "1:8: cannot be read as JSON"),
        ("[" * 5000 + "]" * 5000, "1:33: is nested more than 32 deep"),
    ],
)
def test_what_json_is_refused(text: str, says: str) -> None:
    assert says in refusal(load_json, text)


def test_json_faults_are_told_at_once() -> None:
    found = refusal(load_json, '{"a": NaN,\n "b": 1e999, "a": {"c": 1, "c": 2}}').splitlines()
    assert [line.split(":")[1] for line in found] == ["1", "2", "2", "2"]


@PARSERS
@given(text=st.text(max_size=60) | st.text("{}[]:,-?&*!|>'\"%@`#~ \n\tabyn01.e\\u", max_size=60))
@settings(max_examples=400, deadline=None)
@example("\x00")
@example("? - :")
@example("\ufeff")
@example("a: \ufeff")
@example("!<")
@example('"\\x')
def test_no_text_gets_anything_but_a_refusal(parser: Any, text: str) -> None:
    before = yaml_subset.PARSER
    yaml_subset.PARSER = parser
    try:
        for load in (load_yaml, load_json):
            found = refused(partial(load, text))
            assert all(fault.line > 0 and fault.column > 0 for fault in found)
    finally:
        yaml_subset.PARSER = before


@given(data=st.binary(max_size=60))
def test_no_bytes_get_anything_but_a_refusal(data: bytes) -> None:
    for load in (load_yaml, load_json):
        assert all(map(str, refused(partial(_load_bytes, load, data))))


def _load_bytes(load: Callable[[str], Any], data: bytes) -> None:
    load(decoded(data, "f"))


@PARSERS
@given(document=DOCUMENTS)
@settings(max_examples=200, deadline=None)
def test_what_is_written_is_read(parser: Any, document: dict[str, Any]) -> None:
    before = yaml_subset.PARSER
    yaml_subset.PARSER = parser
    try:
        found = load_yaml(text_of(document))
    finally:
        yaml_subset.PARSER = before
    assert found == document
    assert repr(found) == repr(document)


@given(value=VALUES)
@settings(deadline=None)
def test_json_that_is_written_is_read(value: Any) -> None:
    for ascii_only in (False, True):
        assert load_json(json.dumps(value, ensure_ascii=ascii_only)) == value


@given(document=st.dictionaries(TEXTS, VALUES, max_size=3))
@settings(max_examples=100, deadline=None)
def test_another_reader_of_yaml_reads_the_same(document: dict[str, Any]) -> None:
    assert YAML(typ="safe", pure=True).load(text_of(document)) == document


@given(document=DOCUMENTS, data=st.data())
@settings(max_examples=200, deadline=None)
def test_fields_are_found_where_they_stand(document: dict[str, Any], data: st.DataObject) -> None:
    paths = places(document)
    path = data.draw(st.sampled_from(paths))
    value: Any = document
    for part in path:
        value = value[part]
    for text, marks in (
        (text_of(document), locate_yaml(text_of(document), [path])),
        (json.dumps(document, indent=1), locate_json(json.dumps(document, indent=1), [path])),
    ):
        mark = marks[path]
        if path and not isinstance(value, dict | list):
            # Lines as the readers count them: neither breaks them at form feeds and the like.
            line = text.split("\n")[mark.value[0] - 1]
            rest = line[mark.value[1] - 1 :]
            is_json = text.startswith("{\n")
            assert rest.startswith(json.dumps(value) if is_json else inline(value))


def test_fields_that_are_not_there_have_no_place() -> None:
    assert locate_yaml("a: 1", [("b",), ("a", 0)]).keys() == {(), ("a",)}
    assert locate_json('{"a": 1}', [("b",), ("a", 0)]).keys() == {(), ("a",)}


def test_keys_and_values_have_places_of_their_own() -> None:
    mark = locate_yaml("x: 1\njobs:\n  - name: a\n", [("jobs", 0, "name")])[("jobs", 0, "name")]
    assert (mark.key, mark.value) == ((3, 5), (3, 11))


def test_floats_stay_floats() -> None:
    assert math.copysign(1, load_yaml("-0.0")) == -1
    assert isinstance(load_yaml("1.0"), float)
