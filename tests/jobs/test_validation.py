from __future__ import annotations

import pytest

from tests.oracle_cases import cases
from tests.validation import main, report
from tests.validation_collectives import collective_lines
from tests.validation_lines import Line, machines, worst
from tests.validation_training import (
    FIRST_ROWS,
    efficiency_of,
    line_of,
    ratio_error,
    rows,
    scaled_from,
    training_lines,
)

FILES = (
    "training_step_rows",
    "training_step_more",
    "collectives_measured",
    "collectives_more",
)
NAMES = [case["id"] for file in FILES for case in cases(file)]


def test_every_published_row_is_in_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0
    text = capsys.readouterr().out
    printed = [line.split()[0] for line in text.splitlines() if line.strip()]
    for name in NAMES:
        assert name in printed
    assert "outside: none" in text


def test_no_row_stands_twice() -> None:
    assert len(NAMES) == len(set(NAMES))


def test_the_promises_hold() -> None:
    """13 % absolute, 3 % where only GPUs and microbatches change, 10 % for collectives."""
    lines = training_lines()
    for line in lines:
        if line.judged:
            assert abs(line.error or 0.0) <= (0.03 if line.row in scaled_from() else 0.13)
    furthest = worst(lines, "out")
    assert furthest is not None
    assert furthest.row == "korthikanti_t5_1T_full"
    for line in collective_lines():
        if line.judged and line.row != "gb300_azure_rack_16G":
            assert abs(line.error or 0.0) <= 0.10


def test_rows_without_a_promise_give_a_reason() -> None:
    lines = [*training_lines(), *collective_lines()]
    for line in lines:
        if not line.judged:
            assert line.why
    assert sum(line.ours is None for line in lines) == 5
    assert sum(line.judged for line in lines) > 70


def test_ratios_of_the_same_run_on_more_gpus() -> None:
    errors = {name: ratio_error(name, other) for name, other in scaled_from().items()}
    assert errors["mlperf51_nebius_h200_1024"] == pytest.approx(-0.003, abs=0.001)
    assert errors["sc21_t2_530B_2240"] == pytest.approx(0.039, abs=0.001)
    assert sorted(map(abs, errors.values()))[-2] < 0.013


def test_first_rows_are_met_exactly() -> None:
    for machine, recipe in FIRST_ROWS:
        if machine != "h100" or recipe != "fp8":
            line = line_of(rows()[FIRST_ROWS[machine, recipe]])
            assert line.error == pytest.approx(0, abs=1e-9)
            assert line.sample == "in"
        assert 0.2 < efficiency_of(machine, recipe) < 0.75
    assert efficiency_of("a100", "bf16") == machines().value("a100.efficiency_bf16")


def test_a_row_outside_fails_and_is_named() -> None:
    line = Line("x", "inputs", "step_time_s", 10.0, 12.0, 0.13, "out")
    assert (line.verdict, line.passed, line.judged) == ("OUTSIDE", False, True)
    shown = Line("y", "inputs", "busbw", 10.0, 12.0, 0.13, "out", "small", promised=False)
    assert (shown.verdict, shown.passed) == ("outside, not judged: small", True)
    none = Line("z", "inputs", "busbw", 10.0, None, None, "-", "no size")
    assert (none.verdict, none.error, none.passed) == ("not predicted: no size", None, True)
    text = report([*training_lines(), line])
    assert text.endswith("outside: x")
    assert "Worst out of sample: x +20.0 %" in text
