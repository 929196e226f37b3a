"""Whatever a file holds: a scenario, or a refusal; never anything else."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.scenario.emit import text_of
from tests.scenario.samples import EXAMPLE, documents, faults, places

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_ODD: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-(10**28), 10**28)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS
    | st.sampled_from(
        ["1e308d", "-5s", "rack-*", "rack-[0-9]", "*", "~", "a>b", "0", "[", "leaf-0~spine-0"]
    )
    | st.sampled_from([[], {}, [[]], [{}], [None], {"": None}, [0], [""]])
)
_VALUES = st.recursive(
    _ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)


def _changed(document: dict[str, Any], path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    found = copy.deepcopy(document)
    box: Any = found
    for part in path[:-1]:
        box = box[part]
    box[path[-1]] = value
    return found


@given(document=documents(), data=st.data())
@settings(max_examples=400, deadline=None)
def test_any_value_anywhere(document: dict[str, Any], data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(document)[1:]))
        document = _changed(document, path, data.draw(_VALUES))
    one = faults(text_of(document))
    other = faults(json.dumps(document), "case.json")
    assert {(f.path, f.message, f.hint) for f in one} == {
        (f.path, f.message, f.hint) for f in other
    }
    assert all(fault.line > 0 for fault in one)


@given(value=_VALUES)
@settings(max_examples=100, deadline=None)
def test_any_value_at_the_top(value: Any) -> None:
    assert faults(json.dumps(value), "case.json")


@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, len(EXAMPLE)),
            st.integers(0, 9),
            st.text(max_size=3) | st.sampled_from("{}[]:,-#&*!|>'\"\n\t "),
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=400, deadline=None)
def test_a_right_file_with_damage(edits: list[tuple[int, int, str]]) -> None:
    text = EXAMPLE
    for at, length, new in edits:
        text = text[:at] + new + text[at + length :]
    text = text.encode("utf-8", "replace").decode()
    assert all(map(str, faults(text)))
