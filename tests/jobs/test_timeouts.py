from __future__ import annotations

import math
from typing import Any

import pytest

from gbviz.errors import InputError
from gbviz.jobs.timeouts import ib_timeout_s, ib_try_s
from gbviz.topology.catalogue import catalogue
from tests.oracle_cases import agrees, exact


@pytest.mark.parametrize("case", exact("timeouts_routing"), ids=lambda case: case["id"])
def test_oracle(case: dict[str, Any]) -> None:
    exponent, retries = case["inputs"]["IB_TIMEOUT"], case["inputs"]["RETRY_CNT"]
    total = ib_timeout_s(exponent, retries)
    assert agrees(case, {"per_try_s": ib_try_s(exponent), "total_s": total, "doc_rounded_s": total})


def test_the_catalogue_has_the_same() -> None:
    value = catalogue().value
    exponent, retries = value("routing.ib_timeout_exponent"), value("routing.ib_retries")
    assert ib_timeout_s(int(exponent), int(retries)) == pytest.approx(value("routing.ib_timeout_s"))


def test_each_exponent_doubles() -> None:
    for exponent in range(1, 31):
        assert ib_timeout_s(exponent + 1, 7) == 2 * ib_timeout_s(exponent, 7)
    assert ib_timeout_s(0, 1) == math.inf


@pytest.mark.parametrize(("exponent", "retries"), [(-1, 7), (32, 7), (20, 0), (20, 8)])
def test_fields_that_do_not_fit(exponent: int, retries: int) -> None:
    with pytest.raises(InputError, match="must be in"):
        ib_timeout_s(exponent, retries)
