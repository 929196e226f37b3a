"""What users ask: components, sizes and factors, well and badly written. Traffic: test_traffic."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli import answer, ask, document, refusal, spawn


def quick(*args: str) -> str:
    return answer("whatif", "--quiet", *args)


def refused(*args: str) -> str:
    return refusal("whatif", *args)


def test_help_says_what_its_words_mean() -> None:
    text = answer("whatif", "--help")
    for title in (
        "Options:",
        "Parts that differ",
        "Components",
        "Traffic patterns",
        "Routing modes",
    ):
        assert f"\n{title}" in text
    for word in ("permutation", "random-pairs", "pairs", "ecmp", "full-bandwidth", "leaf-0:73"):
        assert f"\n  {word} " in text
    assert len(max(text.splitlines(), key=len)) <= 100


def test_the_parts_of_a_cluster_are_listed_by_themselves() -> None:
    text = answer("whatif", "--help")
    own, parts = text.index("\nOptions:"), text.index("\nParts that differ")
    for option in ("--fail", "--json", "-h, --help", "--routing"):
        assert own < text.index(f"  {option}") < parts
    for option in ("--racks", "--port-GBps", "--cooling-units"):
        assert parts < text.index(f"  {option}")


def test_several_values_after_one_option() -> None:
    expected = document("whatif", "--fail", "spine-3", "--fail", "leaf-0", "--fail", "hxu-9")
    for args in (
        ("azure-gb300", "--fail", "spine-3", "leaf-0", "hxu-9"),
        ("--fail", "spine-3", "leaf-0", "hxu-9", "azure-gb300"),
        ("--fail", "spine-3", "azure-gb300", "leaf-0", "hxu-9"),
        ("--fail=spine-3", "leaf-0", "hxu-9"),
        ("--fail", "spine-3", "leaf-0", "--fail=hxu-9", "--", "azure-gb300"),
    ):
        assert document("whatif", *args) == expected
    factors = document("whatif", "--degrade", "leaf-0~spine-3=0.5", "leaf-1~spine-3=0.25")
    assert [fault["factor"] for fault in factors["faults"]] == [0.5, 0.25]
    traffic = document("whatif", "gb300-su", "--traffic", "permutation", "shift:1@rack-0")
    assert [job["name"] for job in traffic["jobs"]] == ["permutation", "shift:1@rack-0"]


@pytest.mark.parametrize("option", ["--fail", "--degrade", "--repair", "--traffic"])
@pytest.mark.parametrize("after", [(), ("--json",), ("-h",), ("--fail", "spine-3")])
def test_an_option_without_its_value(option: str, after: tuple[str, ...]) -> None:
    assert f"{option} needs a value, such as " in refused("azure-gb300", option, *after)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("azure-gb30",), "preset: there is no 'azure-gb30'; did you mean 'azure-gb300'?"),
        (("--fail", "spine-3", "azure-gb30"), "did you mean 'azure-gb300'?"),
        (("spine-3",), "'spine-3' is not a preset"),
        (("azure-gb300", "spine-3"), "what fails goes after --fail"),
        (("",), "'' is not a preset"),
        (("azure-gb300", "gb300-su"), "one preset at a time (got azure-gb300, gb300-su)"),
        (("nothing.yaml",), "nothing.yaml: cannot be read"),
        (("--fail", "spine-3", "nothing.json"), "nothing.json: cannot be read"),
        (("--fial", "spine-3"), "--fail"),
        (("--rack", "3"), "--racks"),
        (("--routing", "adaptve"), "did you mean 'adaptive'?"),
        (("--routing", ""), "choose one of: adaptive, spray, ecmp, static"),
        (("--nvlink-policy", "fullbandwidth"), "did you mean 'full-bandwidth'?"),
        (("--seed", "-1"), "seed: must be from 0 to 2^63 - 1 (got -1)"),
        (("--seed", str(2**63)), "seed: must be from 0"),
        (("--seed", "x"), "'x' is not a valid integer"),
    ],
)
def test_misspelt_words_get_a_suggestion(args: tuple[str, ...], says: str) -> None:
    assert says in refused(*args)


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ("spin-3", "did you mean 'spine-3'?"),
        ("spine-36", "spine-0 to spine-35"),
        ("spine-[0-99999999999999999999]", "spine-0 to spine-35"),
        ("spine-03", "no leading zeros"),
        ("spine-[3-1]", "write 1-3"),
        ("spine-[", "not a spine number"),
        ("leaf-0~leaf-1", "no cable runs between"),
        ("leaf-0~spine-3#2", "#0 to #1"),
        ("leaf-0:145", "ports 1 to 144"),
        ("leaf-0~", "two ends"),
        ("~", "two ends"),
        ("azure-gb300", "no such component"),
        ("../../etc/passwd", "no such component"),
        ("[bold]spine-3[/bold]", "no such component"),
        ("x" * 501, "1 to 500 characters"),
        ("a\nb\x1b[31m", "\\x1b"),
        ("\x00", "\\x00"),
    ],
)
def test_components_that_are_none(selector: str, says: str) -> None:
    for option in ("--fail", "--repair"):
        assert says in refused(f"{option}={selector}")
    assert says in refused(f"--degrade={selector}=0.5")


def test_an_empty_selector() -> None:
    for text in ("", "  "):
        assert "1 to 500 characters (got 0)" in refused("--fail", text)
        assert "takes SEL=F" in refused("--degrade", f"{text}=0.5")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40) | st.text("rackleftspin-0123[]*~>#:/,", max_size=20))
def test_any_selector_is_an_answer_or_a_message(text: str) -> None:
    ran = ask("whatif", "--racks", "1", "--quiet", f"--fail={text}")
    assert ran.code in (0, 2)
    assert bool(ran.out) == (ran.code == 0) == (not ran.err)


WORDS = ("--fail", "--degrade", "--repair", "--traffic", "--racks", "--json", "--quiet", "--seed")
VALUES = ("spine-0", "leaf-*", "leaf-0~spine-1=0.5", "rack-0", "gb300-su", "2", "shift:1", "-1", "")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS + VALUES), max_size=7))
def test_any_words_are_an_answer_or_a_message(words: list[str]) -> None:
    ran = ask("whatif", "--radix=144", *words)
    assert ran.code in (0, 2)
    assert bool(ran.out) == (ran.code == 0) == (not ran.err)


@pytest.mark.parametrize(
    "text", ["=nan", "=inf", "=-1", "=-0.001", "=2", "", "=", "=50%", "=1_0", "=½", "=0x1", "=1e-"]
)
def test_factors_that_are_none(text: str) -> None:
    message = refused("--degrade", f"leaf-0~spine-3{text}")
    assert "takes SEL=F with F from 0 to 1" in message
    assert "leaf-0~spine-3=0.5" in message


@pytest.mark.parametrize("text", ["=0.5", " =0.5", "0.5", "="])
def test_a_factor_of_nothing(text: str) -> None:
    assert "takes SEL=F" in refused("--degrade", text)


def test_factors_at_their_ends() -> None:
    cable = "leaf-0~spine-3"
    dead = document("whatif", "--degrade", f"{cable}=0")
    assert dead["post"] == document("whatif", "--fail", cable)["post"]
    assert [(f["kind"], f["factor"]) for f in dead["faults"]] == [("fail", 0)]
    whole = document("whatif", "--degrade", f"{cable}=1")
    assert whole["faults"] == []
    assert whole["post"] == whole["base"]


def test_what_cannot_be_degraded_says_what_can() -> None:
    assert "degrade its cables: 'leaf-*~spine-3'" in refused("--degrade", "spine-3=0.5")
    assert "degrade its GPUs" in refused("--degrade", "rack-3=0.5")


def test_repairs_come_last() -> None:
    whole = document("whatif")
    args = ("whatif", "--repair", "spine-3", "--fail", "spine-3")
    assert document(*args)["post"] == whole["post"]
    half = document("whatif", "--fail", "leaf-0~spine-3", "--repair", "leaf-0~spine-3#0")
    assert [fault["component"] for fault in half["faults"]] == ["leaf-0~spine-3#1"]


def test_repairs_of_what_is_healthy() -> None:
    assert "has no fault to repair; it is healthy" in refused("--repair", "spine-3")
    assert "has no fault" in refused("--fail", "spine-4", "--repair", "spine-3")
    message = refused("--fail", "spine-3", "--repair", "leaf-0~spine-3")
    assert "is down with spine-3: repair that" in message


def test_nvlink_policies() -> None:
    # One of 18 ASICs: the rack's 72 GPUs lose one of 18 links each, or all 64,800 GB/s.
    args = ("whatif", "--fail", "rack-0/nvswitch-3", "--nvlink-policy")
    assert document(*args, "adaptive")["delta"]["nvlink_GBps"] == -72 * 50
    assert document(*args, "full-bandwidth")["delta"]["nvlink_GBps"] == -72 * 900


def test_quiet_and_verbose() -> None:
    assert quick("--fail", "spine-3").count("\n") == 1
    short = answer("whatif", "--fail", "spine-*")
    assert "and 16 more: --verbose or --json lists all" in short
    long = answer("whatif", "--fail", "spine-*", "--verbose")
    assert "more:" not in long
    assert "spine-35" in long
    assert "and 44 more" in answer("whatif", "--fail", "hxu-*").partition("Cooling loops")[2]
    assert json.loads(answer("whatif", "--quiet", "--json"))["faults"] == []


def escapes(*args: str, **env: str) -> int:
    """Escape codes in what a process of its own prints, as if on a screen where `env` says so."""
    return spawn("whatif", "--fail", "spine-3", *args, **env).stdout.count("\x1b")


def test_colours_are_for_screens_only() -> None:
    quiet = {"NO_COLOR": "", "FORCE_COLOR": "", "TTY_COMPATIBLE": ""}
    assert escapes(**quiet) == 0
    assert escapes(**quiet | {"FORCE_COLOR": "1"}) > 0
    assert escapes(**quiet | {"FORCE_COLOR": "1", "NO_COLOR": "1"}) == 0
    assert escapes("--json", **quiet | {"FORCE_COLOR": "1"}) == 0
