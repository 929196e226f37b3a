"""What is remembered, and what is forgotten first."""

from __future__ import annotations

from gbviz.topology.remembered import Remembered


def test_what_was_asked_longest_ago_is_forgotten() -> None:
    known: Remembered[str] = Remembered(3)
    for key in ("a", "b", "c"):
        known.keep(key, key.upper(), 1)
    assert known.get("a") == "A"
    known.keep("d", "D", 1)
    assert [known.get(key) for key in ("a", "b", "c", "d")] == ["A", None, "C", "D"]


def test_sizes_count() -> None:
    known: Remembered[int] = Remembered(10)
    known.keep("a", 1, 4)
    known.keep("b", 2, 4)
    known.keep("a", 3, 6)
    assert (len(known), known.get("a")) == (2, 3)
    known.keep("large", 4, 100)
    assert (len(known), known.get("large")) == (1, 4)
    known.keep("c", 5, 1)
    assert (len(known), known.get("large"), known.get("c")) == (1, None, 5)
