from __future__ import annotations

import pytest

from gbviz.errors import FabricError, GbvizError, InputError, did_you_mean, nearest


@pytest.mark.parametrize(
    ("where", "hint", "text"),
    [
        ("", "", "is wrong"),
        ("racks", "", "racks: is wrong"),
        ("", "write 3", "is wrong; write 3"),
        ("racks", "write 3", "racks: is wrong; write 3"),
    ],
)
def test_an_input_error_says_where_and_what_to_do(where: str, hint: str, text: str) -> None:
    error = InputError("is wrong", where=where, hint=hint)
    assert str(error) == text
    assert (error.message, error.where, error.hint) == ("is wrong", where, hint)


def test_there_is_one_family() -> None:
    for kind in (InputError, FabricError):
        assert issubclass(kind, GbvizError)
    assert not issubclass(InputError, ValueError)


@pytest.mark.parametrize(
    ("word", "found"),
    [("adaptve", "adaptive"), ("ADAPTIVE", None), ("", None), ("spry", "spray"), ("zzz", None)],
)
def test_the_nearest_choice(word: str, found: str | None) -> None:
    assert nearest(word, ["adaptive", "spray", "ecmp"]) == found


def test_how_near_is_near() -> None:
    assert nearest("abcd", ["abxx"]) == "abxx"
    assert nearest("abcd", ["abxx"], cutoff=0.6) is None
    assert nearest("abcd", []) is None


def test_a_suggestion_or_all_there_is() -> None:
    choices = iter(["adaptive", "spray"])  # read once only
    assert did_you_mean("zzz", choices) == "choose one of: adaptive, spray"
    assert did_you_mean("adaptiv", iter(["adaptive"])) == "did you mean 'adaptive'?"
