"""A text changed in place says what is wanted, and what did not change stays to the letter."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbviz.scenario.emit import text_of
from gbviz.scenario.patch import patched
from gbviz.scenario.yaml_subset import load_yaml
from tests.scenario.samples import refused

EDITED = st.dictionaries(
    st.sampled_from("abcde"),
    st.recursive(
        st.none() | st.integers(0, 9) | st.sampled_from(["x", "no", "- y", "z #"]),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["name", "p", "q"]), inner, max_size=3)
        ),
        max_leaves=12,
    ),
    min_size=1,
    max_size=5,
)


@given(old=EDITED, new=EDITED, ends=st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=300, deadline=None)
def test_a_text_says_what_is_wanted_after_a_change(
    old: dict[str, Any], new: dict[str, Any], ends: str
) -> None:
    text = "# head\n" + text_of(old).replace("\n", "  # note\n") + "# tail\n"
    text = text.replace("\n", ends)
    if refused(lambda: load_yaml(text)):
        return
    found = patched(text, new)
    assert found is None or load_yaml(found) == new
    if found is not None and set(old) & set(new):
        assert found.startswith("# head")
        assert found.rstrip().endswith("# tail")
    assert patched(text, old) == text


@pytest.mark.parametrize(
    ("text", "new", "found"),
    [
        ("a: 1\nb: 2\n", {"b": 2}, "b: 2\n"),
        ("a: 1  # x\nb: 2\n", {"a": 10, "b": 2}, "a: 10 # x\nb: 2\n"),
        ("a: [1,  2] # x\n", {"a": [1, 2, 3]}, "a: [1, 2, 3] # x\n"),
        ("a: [] # x\n", {"a": [{"b": {"c": 1}}]}, "a:\n  - b: {c: 1} # x\n"),
        ("a: # x\n- 1\n- 2\n", {"a": [2]}, "a: # x\n- 2\n"),
        ("a:\n  - 1\n  # x\n", {"a": [1, 2, 3]}, "a:\n  - 1\n  - 2\n  - 3\n  # x\n"),
        ("a:\n  # x\n  - 1\n", {"a": [0, 1]}, "a:\n  # x\n  - 0\n  - 1\n"),
        ("a:\n  - 1\n", {"a": []}, "a: []\n"),
        ("a:\n  b: 1\n", {"a": {"c": 1}}, "a:\n  c: 1\n"),
        ("a:  # x\n  b: 1\n# y\n", {"a": {"b": {"c": 1}}}, "a:  # x\n  b: {c: 1}\n# y\n"),
        ("a:\n  - {b: 1,  c: 2}\n", {"a": [{"b": 1, "c": 3}]}, "a:\n  - {b: 1,  c: 3}\n"),
        ("a:\n  - b: 1\n    c: 2\n", {"a": [{"c": 2}]}, "a:\n  - {c: 2}\n"),
        ("a:\n  - b: 1 # x\n", {"a": [{"b": 1, "c": 2}]}, "a:\n  - b: 1 # x\n    c: 2\n"),
        ("{a: 1, b: 'x'}", {"b": "x", "c": 2}, "{b: 'x', c: 2}"),
        ("a: |\n  x\n\nb: 1\n", {"a": "z", "b": 1}, "a: z\n\nb: 1\n"),
        ("a:\nb: 1", {"a": 5, "b": 1}, "a: 5\nb: 1"),
        ("a: 1", {"a": 1, "b": "c d"}, "a: 1\nb: c d"),
        ("b: 1\n", {"a": 1, "b": 2}, "b: 2\na: 1\n"),
        ("---\na: 1\n...\n", {"a": 2}, "---\na: 2\n...\n"),
        ("? a\n: 1\n", {"a": 2}, "? a\n: 2\n"),
        ("a:\r\n- 1\r\n", {"a": [1, 2]}, "a:\r\n- 1\r\n- 2\r\n"),
        # Nothing is left to stand beside.
        ("a: 1\n", {"b": 1}, None),
    ],
)
def test_changes_by_hand(text: str, new: dict[str, Any], found: str | None) -> None:
    if found is not None:
        assert load_yaml(found) == new
    assert patched(text, new) == found
